"""The nli verifier: what is read, what is concluded, and what a verdict holds."""

from __future__ import annotations

import json

import pytest

from deepfact.core.challenge import why_inadmissible
from deepfact.errors import ConfigError
from deepfact.executors.local import run_verifier
from deepfact.records import FailureReason, Label, SourceRole, Stance, Verdict
from deepfact.run_records import VerifierSpec
from deepfact.verifiers import Context, build_verifier

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741

FILLER = "The town has a mill and a river and a road that leads to the next town. " * 6


def built(model, **options):
    return build_verifier(VerifierSpec(kind="nli", options={"model": str(model), **options}))


def asked(make, verifier, text, *, claim="The mill closed in 1931.", **fields):
    """The outcome on a claim that cites one source of the given text."""
    source = make.source(text)
    one = make.claim("c1", text=claim, cites=(source.id,), **fields)
    return verifier.verify(one, Context(sources={source.id: source})), source, one


@pytest.mark.parametrize(
    ("text", "label", "stance"),
    [
        ("The town confirms that.", S, Stance.SUPPORTS),
        ("The town denies that.", C, Stance.CONTRADICTS),
        ("The town is silent.", I, Stance.CONTEXT),
    ],
)
def test_a_verdict_argues_for_itself_and_keeps_its_scores(make, tiny, text, label, stance):
    found, source, claim = asked(make, built(tiny), text)
    assert isinstance(found, Verdict) and found.label is label
    assert sum(found.scores.values()) == pytest.approx(1, abs=1e-3)
    assert max(found.scores, key=found.scores.get) is label
    (evidence,) = found.evidence
    assert evidence.stance is stance and source.text[evidence.span.start :] == evidence.quote
    if label is not I:
        assert why_inadmissible(claim, found, {source.id: source}) == ""
    assert "tiny gives supported 0." in found.rationale
    assert "entailment is supported" in found.rule and "sha256" in found.rule


def test_a_refutation_quotes_the_windows_best_sentence(make, tiny):
    text = FILLER + "A clerk denies that. " + "It was a quiet town in those days."
    found, *_ = asked(make, built(tiny), text)
    assert found.label is C
    (disputed,) = found.contradictions
    assert disputed.quote == "A clerk denies that."
    assert disputed.disputed == "The mill closed in 1931."
    assert found.flags == ("disputed part: the model names none, so the whole claim stands for it",)


def test_a_refutation_names_the_words_where_close_reading_finds_them(make, tiny):
    text = "The mill closed in 1947, a clerk writes, and denies the older date."
    found, *_ = asked(make, built(tiny), text)
    assert found.contradictions[0].disputed == "1931" and not found.flags


def test_long_sources_are_read_to_the_end_in_windows(make, tiny):
    text = FILLER * 3 + "At last a clerk confirms that."
    found, *_ = asked(make, built(tiny), text)
    assert found.label is S and found.evidence[0].quote == "At last a clerk confirms that."
    assert (
        "window 14 of 14" in found.rationale or "of 1" not in found.rationale.split("window")[1][:9]
    )


def test_the_rule_decides_between_windows(make, tiny):
    text = "He confirms that. " + FILLER + "She denies denies that."
    assert asked(make, built(tiny), text)[0].label is C
    assert asked(make, built(tiny, rule="support"), text)[0].label is S
    assert asked(make, built(tiny, rule="mean"), text)[0].label is not S


def test_the_best_sentences_may_be_read_together(make, tiny):
    text = FILLER + "The mill, he confirms, closed in 1931. " + "She denies a flood."
    verifier = built(tiny, read="sentences", sentences=1)
    found, *_ = asked(make, verifier, text)
    assert found.label is S and found.evidence[0].quote.startswith("The mill, he confirms")
    assert "the 1 best sentences" in found.rule
    found, *_ = asked(make, built(tiny, read="sentences"), "Nothing shared here.", claim="Xyz.")
    assert found.label is I  # the first sentences are read all the same


def test_supported_only_above_the_threshold(make, tiny):
    text = "The town confirms that."
    plain = asked(make, built(tiny), text)[0]
    assert plain.label is S
    high = asked(make, built(tiny, threshold=0.99), text)[0]
    assert high.label is I and high.scores == plain.scores
    assert "supported above 0.99" in high.rule


def test_without_text_there_is_no_verdict(make, tiny):
    verifier = built(tiny)
    found, *_ = asked(make, verifier, "   ")
    assert found.reason is FailureReason.NO_SOURCE
    source = make.source("He confirms that.", role=SourceRole.GENERATED)
    claim = make.claim("c1", cites=(source.id,))
    assert verifier.verify(claim, Context({source.id: source})).reason is FailureReason.NO_SOURCE
    uncited = make.claim("c2")
    assert verifier.verify(uncited, Context({source.id: source})).reason is FailureReason.NO_SOURCE


def test_a_claim_that_cites_nothing_is_looked_up(make, tiny):
    sources = [
        make.source("The mill closed in 1931, a clerk confirms."),
        make.source("The bridge opened in 1866. Nothing else is known of it."),
    ]
    context = Context({source.id: source for source in sources})
    found = built(tiny).verify(make.claim("c1", text="The mill closed in 1931."), context)
    assert found.label is S and found.evidence[0].source == sources[0].id


def test_a_claim_too_long_for_the_model_is_not_cut(make, tiny):
    found, *_ = asked(make, built(tiny), "He confirms that.", claim="word " * 80)
    assert found.reason is FailureReason.TRUNCATED and "80 tokens" in found.detail


def test_figures_that_are_no_numbers_fail_that_claim_alone(make, tiny, monkeypatch):
    verifier = built(tiny)
    plain = verifier._scorer.scores
    monkeypatch.setattr(
        verifier._scorer,
        "scores",
        lambda pairs: [
            None if "bad" in e else s for (e, _), s in zip(pairs, plain(pairs), strict=True)
        ],
    )
    good, bad = make.source("He confirms that."), make.source("A bad text.")
    claims = [make.claim("c1", cites=(bad.id,)), make.claim("c2", cites=(good.id,))]
    context = Context({one.id: one for one in (good, bad)})
    first, second = run_verifier(verifier, claims, context, name="nli")
    assert first.reason is FailureReason.UNREADABLE and second.label is S


def test_every_claim_gets_one_outcome_whatever_the_company(make, tiny):
    sources = [
        make.source(f"Text {n}. He {('confirms', 'denies', 'knows')[n % 3]} that.")
        for n in range(70)
    ]
    context = Context({source.id: source for source in sources})
    claims = [make.claim(f"c{n}", cites=(source.id,)) for n, source in enumerate(sources)]
    together = list(run_verifier(built(tiny), claims, context, name="nli"))
    assert [one.claim_id for one in together] == [claim.id for claim in claims]
    verifier = built(tiny)
    assert together == [verifier.verify(claim, context) for claim in claims]
    assert {one.label for one in together} == {S, C, I}


def test_two_classes_say_supported_or_not(make, tmp_path, write_model):
    names = {"0": "LABEL_0", "1": "LABEL_1"}
    folder = write_model(tmp_path / "check", classes=(2, 0), id2label=names)
    with pytest.raises(ConfigError, match="nothing says what the model's class"):
        built(folder)
    verifier = built(folder, labels={0: "inconclusive", 1: "supported"})
    found, *_ = asked(make, verifier, "The town confirms that.")
    assert found.label is S and set(found.scores) == {S, I}
    found, *_ = asked(make, verifier, "The town denies that.")
    assert found.label is I and not found.contradictions
    assert "LABEL_0 is inconclusive, LABEL_1 is supported" in found.rule


def test_one_class_is_supported_or_nothing(make, tmp_path, write_model):
    folder = write_model(tmp_path / "one", classes=(0,), id2label={"0": "LABEL_0"})
    found, *_ = asked(make, built(folder, labels={0: "supported"}), "He confirms that.")
    assert found.label is S and found.scores[S] == pytest.approx(0.9526)
    with pytest.raises(ConfigError):
        built(folder, labels={0: "contradictory"})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "best"}, "rule"),
        ({"overlap": 1.0}, "overlap"),
        ({"window": 3}, "window"),
        ({"labels": {0: "true"}}, "labels"),
        ({"modle": "x"}, "no option 'modle'"),
        ({"threshold": 1.5}, "threshold"),
    ],
)
def test_wrong_options_are_told(tiny, options, words):
    with pytest.raises(ConfigError, match=words):
        built(tiny, **options)


def test_it_runs_from_the_command_line_and_is_scored(desk, deepfact, write_model):
    write_model(desk / "tiny", max_position_embeddings=512)
    (desk / "mine.yaml").write_text(
        json.dumps({"kind": "nli", "name": "mine", "options": {"model": "tiny"}})
    )
    done = deepfact(
        "verify", "small", "--verifier", "mine.yaml", "--out", "v.jsonl", "--limit", "9"
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (desk / "v.jsonl").read_text().splitlines()]
    assert len(rows) == 9 and all(row["scores"] for row in rows)
    (desk / "mine.yaml").write_text("{kind: nli, options: {model: ./nowhere}}")
    done = deepfact("verify", "small", "--verifier", "mine.yaml", "--out", "w.jsonl")
    assert done.returncode == 2 and "no such folder" in done.stderr
    assert "Traceback" not in done.stderr and not (desk / "w.jsonl").exists()


# --- the real small model -----------------------------------------------------------------


@pytest.mark.data
def test_pairs_of_the_real_model_are_those_of_its_tokenizer(pilot):
    from tokenizers import Tokenizer

    from deepfact.verifiers.nli.scoring import PairEncoder

    plain = Tokenizer.from_file(str(pilot / "tokenizer.json"))
    plain.no_truncation()
    plain.no_padding()
    ours = PairEncoder(pilot / "tokenizer.json", "evidence-first")
    for pair in [("A cat sat.", "It sat."), ("Ünïcode 文字 😀", "x" * 300), ("a\nb", "")]:
        made = plain.encode(*pair)
        assert ours.pair(*pair) == (made.ids, made.type_ids)


@pytest.mark.data
def test_the_real_model_reads(make, pilot):
    verifier = built(pilot, max_tokens=192)
    told = "The mill was closed in 1931. " + FILLER
    found, *_ = asked(make, verifier, told, claim="The mill closed in 1931.")
    assert found.label is S and found.scores[S] > 0.5
    assert found.evidence[0].quote == "The mill was closed in 1931."
    assert asked(make, verifier, told, claim="The mill never closed.")[0].label is C
    found, *_ = asked(make, verifier, "Aspirin reduces the risk of heart attack.")
    assert found.label is I


@pytest.mark.data
def test_what_the_real_model_says_does_not_depend_on_the_company(make, pilot):
    """Its activations are quantised as it runs, over a whole batch."""
    sources = [make.source(f"In {1900 + n} the mill closed. " * (n + 1)) for n in range(4)]
    context = Context({source.id: source for source in sources})
    claims = [make.claim(f"c{n}", cites=(s.id,)) for n, s in enumerate(sources)]
    verifier = built(pilot, max_tokens=192)
    assert verifier._scorer.batch == 1
    assert (
        list(verifier.verify_all(claims, context))
        == [verifier.verify(claim, context) for claim in reversed(claims)][::-1]
    )
