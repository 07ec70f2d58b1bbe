"""The evidence auditor: slow to change a label, blind to whose side is whose, and right more often
than wrong when it does change one."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from deepfact.auditors.evidence import EvidenceAuditor
from deepfact.auditors.weighing import numbers, weigh
from deepfact.core.audit import open_docket
from deepfact.core.state import Entry
from deepfact.records import (
    Case,
    Claim,
    Contradiction,
    Decision,
    Evidence,
    Label,
    Position,
    Source,
    Stance,
)
from deepfact.run_records import ControlSpec
from deepfact.store.benchmark import BenchmarkStore
from deepfact.verifiers.base import Context
from deepfact.verifiers.local import LocalVerifier

TEXT = (
    "The Varn ferry carried 48,200 passengers in 2031. Tolls at the Halden bridge were raised in "
    "March. The harbour board did not approve a second pier."
)
SOURCE = Source.create(title="Harbour report", text=TEXT)
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def side(label: Label, quote: str = "", disputed: str = "") -> Position:
    stance = {Label.SUPPORTED: Stance.SUPPORTS, Label.CONTRADICTORY: Stance.CONTRADICTS}
    evidence = Evidence(
        source=SOURCE.id, quote=quote or "-", stance=stance.get(label, Stance.CONTEXT)
    )
    named = Contradiction(disputed=disputed or "-", source=SOURCE.id, quote=quote or "-")
    return Position(
        label=label,
        evidence=(evidence,) if quote else (),
        contradictions=(named,) if disputed else (),
    )


def decide(text: str, a: Position, b: Position, **options: float) -> Decision:
    auditor = EvidenceAuditor("e", {SOURCE.id: SOURCE}, **options)
    claim = Claim(id="c", text=text, cites=(SOURCE.id,))
    one = auditor.adjudicate(Case(id="x", claim=claim, a=a, b=b))
    other = auditor.adjudicate(Case(id="x", claim=claim, a=b, b=a))
    swapped = {Decision.A: Decision.B, Decision.B: Decision.A}
    assert other.decision is swapped.get(one.decision, one.decision), "it looks at the order"
    return one.decision


FERRY = "The Varn ferry carried 48,200 passengers in 2031."
WRONG = "The Varn ferry carried 61,700 passengers in 2031."
SUPPORTED, OPEN = side(Label.SUPPORTED), side(Label.INCONCLUSIVE)
REFUTED = side(Label.CONTRADICTORY, FERRY, "61,700")


def test_a_claim_that_its_source_says_is_supported_though_nobody_quotes_it() -> None:
    assert decide(FERRY, SUPPORTED, OPEN) is Decision.A


def test_a_dispute_that_holds_beats_bare_support() -> None:
    assert decide(WRONG, SUPPORTED, REFUTED) is Decision.B


def test_a_claim_that_no_source_speaks_of_is_open() -> None:
    assert decide("Perch came back to the upper lake.", SUPPORTED, OPEN) is Decision.B


def test_a_quote_that_no_source_has_does_not_count() -> None:
    made_up = side(Label.CONTRADICTORY, "The ferry carried 9 passengers.", "48,200")
    assert decide(FERRY, SUPPORTED, made_up) is Decision.A


def test_a_quote_about_something_else_disputes_nothing() -> None:
    beside = side(Label.CONTRADICTORY, "Tolls at the Halden bridge were raised in March.", "2031")
    assert decide(FERRY, SUPPORTED, beside) is Decision.A


def test_it_cannot_tell_without_a_clear_lead() -> None:
    paraphrase = "Boat traffic on the Varn brought in some travellers."
    quoting = side(Label.SUPPORTED, FERRY)
    assert decide(paraphrase, quoting, OPEN, margin=0.9) is Decision.CANNOT_TELL
    assert decide(WRONG, SUPPORTED, REFUTED, margin=1.0) is Decision.CANNOT_TELL


def test_its_words_do_not_say_whose_side_is_whose() -> None:
    claim = Claim(id="c", text=WRONG, cites=(SOURCE.id,))
    auditor = EvidenceAuditor("e", {SOURCE.id: SOURCE})
    said = auditor.adjudicate(Case(id="x", claim=claim, a=SUPPORTED, b=REFUTED)).rationale.lower()
    assert "number" in said and not any(w in said for w in ("benchmark", "challenge", "verifier"))


@pytest.mark.parametrize("texts", [[], [""], [TEXT]])
def test_weighing_stays_within_bounds(texts: list[str]) -> None:
    found = weigh(FERRY, texts)
    for value in (found.covered, found.numbers_missing, found.at_odds, found.hedged):
        assert 0.0 <= value <= 1.0
    assert numbers("Twelve of 48,200 in 2031") == {"12", "48200", "2031"}


def noisy(entries: list[Entry], key: dict[str, Label], rng: random.Random) -> list[Entry]:
    """The entries with every fifth label replaced by a wrong one, argued as poorly as one-shot
    labels are: with the old quote, or with none."""
    wrong = set(rng.sample(sorted(key), len(key) // 5))
    out = []
    for entry in entries:
        note = entry.annotation
        assert note is not None
        if entry.claim.id in wrong:
            label = rng.choice([each for each in Label if each is not key[entry.claim.id]])
            kept = () if label is Label.INCONCLUSIVE else note.evidence[:1]
            note = note.model_copy(
                update={"label": label, "evidence": kept, "contradictions": (), "rationale": "-"}
            )
        out.append(replace(entry, annotation=note))
    return out


@pytest.mark.parametrize(
    ("name", "at_least", "times"), [("deepfact-practice", 3, 1.0), ("deepfact-drill", 15, 0.65)]
)
def test_of_wrong_labels_it_mends_and_of_right_ones_it_breaks(
    name: str, at_least: int, times: float
) -> None:
    """The constants were chosen on both sets, and the verifier that challenges was fitted on the
    first: this shows the direction of the loop, not how good either is elsewhere. On the second,
    where the challenger is mostly wrong, the auditor still breaks more than it mends."""
    store = BenchmarkStore(BENCHMARKS / name)
    version = store.load()
    key = {claim_id: entry.label for claim_id, entry in store.key("author").items()}
    context = Context(sources=version.sources)
    outcomes = {c.id: LocalVerifier().verify(c, context) for c in version.claims}
    auditor = EvidenceAuditor("e", context.sources)
    counts: Counter[str] = Counter()
    for seed in range(3):
        entries = noisy(list(version.state.entries.values()), key, random.Random(seed))
        docket = open_docket(
            entries, outcomes, context.sources,
            challenger="local", round_number=1, controls=ControlSpec(), seed=seed,
        )  # fmt: skip
        for case, case_key in zip(docket.cases, docket.keys, strict=True):
            decision = auditor.adjudicate(case).decision
            sides = {"a": case.a.label, "b": case.b.label}
            incumbent = sides[case_key.incumbent]
            chosen = sides.get(decision.value, incumbent)
            right = key[case.claim.id]
            if chosen is not incumbent:
                counts[
                    "mended" if chosen is right else "broken" if incumbent is right else "-"
                ] += 1
    assert counts["mended"] >= at_least
    assert counts["mended"] > times * counts["broken"]
