"""The local verifier as it is used: what it reads, what it concludes, and what it may not do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deepfact.core.challenge import why_inadmissible
from deepfact.errors import ConfigError, InputError
from deepfact.records import (
    Claim,
    FailureReason,
    Label,
    Source,
    SourceRole,
    Stance,
    Verdict,
    VerificationFailure,
)
from deepfact.run_records import VerifierSpec
from deepfact.verifiers.base import Context, build_verifier
from deepfact.verifiers.local import LocalVerifier
from deepfact.verifiers.local.features import NAMES, SENSE
from deepfact.verifiers.local.model import (
    Linear,
    parse_weights,
    shipped_weights,
    weights_json,
)
from deepfact.verifiers.local.verifier import concluded, likeliest

REPORT = Source.create(
    title="Halden Optics, second-quarter 2031 results",
    text="Halden Optics reported revenue of $48.2 million for the second quarter of 2031, up from "
    "$41.0 million a year earlier. From this quarter on, the company changed the basis on which "
    "revenue from service contracts is counted. The board did not approve a dividend. Chief "
    "executive Mara Lind said the company may open a plant in Varn next year.",
)
ANSWER = Source.create(
    title="an answer", role=SourceRole.GENERATED, text="Revenue was $99.9 million in Q2 2031."
)
PRACTICE = Path(__file__).parents[2] / "benchmarks" / "deepfact-practice"
CONTEXT = Context(sources={REPORT.id: REPORT, ANSWER.id: ANSWER})


def judge(text: str, *, cites: tuple[str, ...] = (REPORT.id,), **options: object) -> Verdict:
    verifier = LocalVerifier(**options)  # type: ignore[arg-type]
    found = verifier.verify(Claim(id="c", text=text, cites=cites), CONTEXT)
    assert isinstance(found, Verdict)
    return found


def test_supported_with_exact_quotes_and_qualification() -> None:
    verdict = judge("Halden Optics had revenue of $48.2 million in the second quarter of 2031.")
    assert verdict.label is Label.SUPPORTED
    assert "$48.2 million" in verdict.rationale
    assert verdict.contradictions == ()
    for evidence in verdict.evidence:
        assert evidence.stance is Stance.SUPPORTS and evidence.span is not None
        assert REPORT.text[evidence.span.start : evidence.span.end] == evidence.quote
    assert [q.kind for q in verdict.qualifications] == ["method_change"]
    assert verdict.qualifications[0].quote in REPORT.text


@pytest.mark.parametrize(
    ("text", "disputed"),
    [
        ("Halden Optics reported revenue of $52.9 million for the second quarter of 2031.", "52.9"),
        ("Halden Optics reported revenue down from $41.0 million a year earlier.", "down"),
        ("The board did approve a dividend.", "approve"),
    ],
)
def test_contradictory_names_its_words_and_quotes_the_source(text: str, disputed: str) -> None:
    verdict = judge(text)
    assert verdict.label is Label.CONTRADICTORY
    assert disputed in verdict.contradictions[0].disputed
    assert verdict.contradictions[0].disputed in text
    assert verdict.contradictions[0].quote in REPORT.text
    assert any(evidence.stance is Stance.CONTRADICTS for evidence in verdict.evidence)
    claim = Claim(id="c", text=text)
    assert why_inadmissible(claim, verdict, CONTEXT.sources) == ""


def test_what_the_source_does_not_speak_of_is_inconclusive() -> None:
    verdict = judge("The navy awarded a contract for periscopes to a rival from Oslo.")
    assert verdict.label is Label.INCONCLUSIVE
    assert "No passage speaks of" in verdict.rationale


def test_the_same_claim_gets_the_same_verdict() -> None:
    text = "Mara Lind said the company would open a plant in Varn."
    assert judge(text) == judge(text)
    verifier = LocalVerifier(libraries=1)
    claim = Claim(id="c", text=text, cites=(REPORT.id,))
    assert verifier.verify(claim, CONTEXT) == verifier.verify(claim, CONTEXT)


def test_scores_are_probabilities() -> None:
    scores = judge("Revenue was $48.2 million.").scores
    assert scores is not None and set(scores) == set(Label)
    assert sum(scores.values()) == pytest.approx(1.0, abs=1e-5)


def test_generated_text_is_never_evidence() -> None:
    claim = Claim(id="c", text="Revenue was $99.9 million in Q2 2031.", cites=(ANSWER.id,))
    found = LocalVerifier().verify(claim, CONTEXT)
    assert isinstance(found, VerificationFailure)
    assert found.reason is FailureReason.NO_SOURCE and found.claim_id == "c"
    both = judge(claim.text, cites=(ANSWER.id, REPORT.id))
    assert all(evidence.source == REPORT.id for evidence in both.evidence)
    assert both.label is not Label.SUPPORTED


def test_a_claim_without_citations_is_read_against_all_sources() -> None:
    assert judge("Halden Optics had revenue of $48.2 million.", cites=()).evidence


def test_scope_all_reads_beyond_the_citations() -> None:
    other = Source.create(title="news", text="Nitrate in the Varn river fell by 12 percent.")
    context = Context(sources={REPORT.id: REPORT, other.id: other})
    claim = Claim(id="c", text="Nitrate in the Varn river fell by 12 percent.", cites=(REPORT.id,))
    near = LocalVerifier(scope="cited").verify(claim, context)
    far = LocalVerifier(scope="all").verify(claim, context)
    assert isinstance(near, Verdict) and isinstance(far, Verdict)
    assert near.label is Label.INCONCLUSIVE and far.label is Label.SUPPORTED
    assert far.evidence[0].source == other.id


def test_other_sources_show_conflicts_and_wrong_credits_and_support_nothing() -> None:
    audit = Source.create(
        title="Varn Audit Office review", text="By 31 May 2031, 212 licences had been withdrawn."
    )
    wardens = Source.create(
        title="River Wardens statement",
        text="By 31 May 2031, 347 licences had been withdrawn. Perch came back to the upper Varn.",
    )
    context = Context(sources={source.id: source for source in (audit, wardens)})

    def label(text: str, verifier: LocalVerifier) -> Label:
        found = verifier.verify(Claim(id="c", text=text, cites=(audit.id,)), context)
        assert isinstance(found, Verdict)
        for contradiction in found.contradictions:
            assert contradiction.disputed in text and contradiction.quote in wardens.text
        return found.label

    alone, checked = LocalVerifier(), LocalVerifier(crosscheck=300)
    text = "By 31 May 2031, 212 licences had been withdrawn."
    assert label(text, alone) is Label.SUPPORTED
    assert label(text, checked) is Label.INCONCLUSIVE
    credit = "The Varn Audit Office reported that perch came back to the upper Varn."
    assert label(credit, alone) is Label.INCONCLUSIVE
    assert label(credit, checked) is Label.CONTRADICTORY
    assert label("Perch came back to the upper Varn.", checked) is Label.INCONCLUSIVE


def test_all_sources_are_taken_apart_once() -> None:
    built = []
    verifier = LocalVerifier(scope="all")
    for text in ("The navy bought periscopes.", "Revenue was $48.2 million.", "Perch came back."):
        verifier.verify(Claim(id="c", text=text, cites=(REPORT.id,)), CONTEXT)
        built.append(verifier._all(CONTEXT))
    assert built[0] is built[1] is built[2]


def test_an_empty_benchmark_is_a_failure() -> None:
    found = LocalVerifier().verify(Claim(id="c", text="Anything."), Context(sources={}))
    assert isinstance(found, VerificationFailure) and found.reason is FailureReason.NO_SOURCE


@pytest.mark.parametrize("text", ["?", "§", "the of and", "数字は増えた。", "x" * 3000, "[3]"])
def test_odd_claims_get_an_answer(text: str) -> None:
    assert judge(text).label is Label.INCONCLUSIVE


def test_memory_is_bounded() -> None:
    verifier = LocalVerifier(libraries=2)
    for number in range(5):
        source = Source.create(title=str(number), text="A sentence.")
        context = Context(sources={source.id: source})
        verifier.verify(Claim(id="c", text="A claim.", cites=(source.id,)), context)
    assert len(verifier._kept) == 2


def test_no_contradiction_without_words_to_name() -> None:
    sure = {Label.SUPPORTED: 0.05, Label.CONTRADICTORY: 0.9, Label.INCONCLUSIVE: 0.05 + 1e-9}
    assert concluded(sure, nameable=True) is Label.CONTRADICTORY
    assert concluded(sure, nameable=False) is Label.INCONCLUSIVE
    assert likeliest(sure, nameable=False) is Label.INCONCLUSIVE
    close = {Label.SUPPORTED: 0.3, Label.CONTRADICTORY: 0.45, Label.INCONCLUSIVE: 0.25}
    assert concluded(close, nameable=True) is Label.SUPPORTED
    assert likeliest(close, nameable=True) is Label.CONTRADICTORY
    assert likeliest(close, nameable=False) is Label.SUPPORTED


def shares(supported: float, contradictory: float, inconclusive: float) -> dict[Label, float]:
    return dict(zip(Label, (supported, contradictory, inconclusive), strict=True))


def test_label_shares_told_correct_the_probabilities_by_bayes_rule() -> None:
    weights = shipped_weights().model_copy(update={"temperature": 1.0})
    said = shares(0.5, 0.2, 0.3)
    assert weights.told(said, weights.prior) == pytest.approx(said)
    told = weights.model_copy(update={"prior": shares(0.25, 0.25, 0.5)}).told(
        said, shares(0.1, 0.1, 0.8)
    )
    odds = [0.5 / 0.25 * 0.1, 0.2 / 0.25 * 0.1, 0.3 / 0.5 * 0.8]
    assert list(told.values()) == pytest.approx([each / sum(odds) for each in odds])
    tempered = weights.model_copy(update={"temperature": 1e9}).told(said, shares(0.1, 0.1, 0.8))
    assert tempered == pytest.approx(shares(0.1, 0.1, 0.8)), "no evidence leaves the shares"


def test_label_shares_move_a_close_verdict_and_no_unnameable_one() -> None:
    text = "Halden Optics had revenue of $48.2 million in the second quarter of 2031."
    mostly, rarely = shares(0.9, 0.05, 0.05), shares(0.0002, 0.9996, 0.0002)
    assert judge(text, shares=mostly).label is Label.SUPPORTED
    wary = judge(text, shares=rarely)
    assert wary.label is not Label.CONTRADICTORY or wary.contradictions
    untold, told = judge(text).scores, judge(text, shares=mostly).scores
    assert untold is not None and told is not None
    assert told[Label.SUPPORTED] > untold[Label.SUPPORTED]
    assert sum(told.values()) == pytest.approx(1.0, abs=1e-5)
    nothing = judge("The navy awarded a contract for periscopes to a rival.", shares=mostly)
    assert nothing.label in (Label.SUPPORTED, Label.INCONCLUSIVE)
    assert judge("数字は増えた。", shares=mostly).label is Label.INCONCLUSIVE


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {Label.SUPPORTED: 1.0},
        shares(0.5, 0.5, 0.5),
        shares(1.2, -0.1, -0.1),
        shares(0.5, 0.5, 0.0),
        shares(float("nan"), 0.5, 0.5),
    ],
)
def test_shares_that_are_none_are_refused(wrong: dict[Label, float]) -> None:
    with pytest.raises(InputError, match="shares of the three labels"):
        LocalVerifier(shares=wrong)


def test_built_by_its_spec() -> None:
    spec = VerifierSpec(kind="local", options={"scope": "all", "passages": 3})
    verifier = build_verifier(spec)
    assert isinstance(verifier, LocalVerifier) and verifier.passages == 3
    told = {"supported": 0.7, "contradictory": 0.1, "inconclusive": 0.2}
    verifier = build_verifier(VerifierSpec(kind="local", options={"shares": told}))
    assert isinstance(verifier, LocalVerifier) and verifier.shares == shares(0.7, 0.1, 0.2)
    for bad in ({"true": 0.7}, {**told, "supported": "most"}, {**told, "supported": 0.9}):
        with pytest.raises(InputError, match="shares"):
            build_verifier(VerifierSpec(kind="local", options={"shares": bad}))
    with pytest.raises(ConfigError, match="scope"):
        build_verifier(VerifierSpec(kind="local", options={"scope": "everything"}))


def test_the_weights_say_what_they_come_from() -> None:
    weights = shipped_weights()
    assert weights.features == NAMES
    assert {part.licence for part in weights.training} == {"MIT"}
    names = " ".join(part.name for part in weights.training)
    assert not any(held_out in names for held_out in ("scifact", "factcheck", "wice", "-mini"))
    text = weights_json(weights)
    assert parse_weights(text, where="w", features=NAMES) == weights


def test_weights_for_other_features_are_refused() -> None:
    with pytest.raises(InputError, match="other features"):
        parse_weights(weights_json(shipped_weights()), where="w", features=("one",))
    with pytest.raises(InputError, match="w: "):
        parse_weights("{}", where="w", features=NAMES)


def test_the_model_is_a_linear_one() -> None:
    linear = Linear(
        mean=(1.0,), scale=(2.0,), coefficients=((1.0,), (0.0,), (-1.0,)), intercept=(0, 0, 1)
    )
    assert linear.raw([5.0]) == [2.0, 0.0, -1.0]


def test_no_weight_speaks_against_the_sense_of_its_feature() -> None:
    by_label = shipped_weights().model.coefficients
    for at, name in enumerate(NAMES):
        for sense, row in zip(SENSE[name], by_label, strict=True):
            assert sense * row[at] >= 0, name
    hedged = [row[NAMES.index("hedged")] for row in by_label]
    assert hedged[1] <= 0 < hedged[2], "a hedge may leave a claim open, never contradict it"


def test_verdicts_do_not_depend_on_the_order_of_sets() -> None:
    code = (
        "from pathlib import Path; from deepfact.store.benchmark import BenchmarkStore\n"
        "from deepfact.verifiers.base import Context\n"
        "from deepfact.verifiers.local import LocalVerifier\n"
        f"version = BenchmarkStore(Path({str(PRACTICE)!r})).load()\n"
        "verifier, context = LocalVerifier(), Context(version.sources)\n"
        "for claim in version.claims[::8]: print(verifier.verify(claim, context).canonical())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and said.pop().count(b"\n") == 10


def test_no_heavy_library_at_run_time() -> None:
    code = (
        "import sys; from deepfact.records import Claim, Source\n"
        "from deepfact.verifiers.base import Context\n"
        "from deepfact.verifiers.local import LocalVerifier\n"
        "s = Source.create(title='t', text='The sky is blue.')\n"
        "LocalVerifier().verify(Claim(id='c', text='The sky is blue.'), Context({s.id: s}))\n"
        "print([m for m in ('sklearn', 'torch', 'pandas', 'datasets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
