"""Gates hold, fail, and fail when there is nothing to measure."""

from __future__ import annotations

import pytest

from deepfact.core.compare import compare, groups_of, outcome_rates
from deepfact.core.gates import check_gates
from deepfact.experiment_records import ArmRecord, AskedClaim, GateSpec
from deepfact.records import (
    Claim,
    FailureReason,
    Label,
    Outcome,
    Usage,
    Verdict,
    VerificationFailure,
)
from deepfact.run_records import VerifierSpec

LABELS = [Label.SUPPORTED] * 8 + [Label.CONTRADICTORY] * 4
CLAIMS = [
    AskedClaim(claim=Claim(id=f"c{n}", text="x"), label=label) for n, label in enumerate(LABELS)
]
UNLABELLED = [AskedClaim(claim=one.claim) for one in CLAIMS]


def found(words: str) -> dict[str, Outcome]:
    made: dict[str, Outcome] = {}
    for n, word in enumerate(words):
        if word == "u":
            made[f"c{n}"] = VerificationFailure(claim_id=f"c{n}", reason=FailureReason.ERROR)
        else:
            label = Label.SUPPORTED if word == "c" else Label.CONTRADICTORY
            made[f"c{n}"] = Verdict(claim_id=f"c{n}", label=label)
    return made


def check(first: str, other: str, claims: list[AskedClaim] = CLAIMS, **limits: float):
    arms = [
        ArmRecord(
            arm=name, verifier=VerifierSpec(kind="x"), usage=Usage(), outcomes=(),
            rates=tuple(outcome_rates(g, m, found(words)) for g, m in groups_of(claims).items()),
        )
        for name, words in (("a", first), ("b", other))
    ]  # fmt: skip
    comparison = compare(("a", "b"), claims, [found(first)], [found(other)])
    labelled = claims is CLAIMS
    return check_gates(GateSpec(**limits), arms, [comparison], labelled=labelled)


def holds(*args: str, **limits: float) -> bool:
    return all(result.holds for result in check(*args, **limits))


HALF, BETTER = "ccccrrrr" + "rrrr", "ccccccrr" + "rrrr"
LAX = "cccccccc" + "ccrr"


@pytest.mark.parametrize(
    ("limits", "first", "other", "expected"),
    [
        ({"max_new_false_confirmations": 0}, HALF, BETTER, True),
        ({"max_new_false_confirmations": 1}, HALF, LAX, False),
        ({"max_new_false_confirmations": 2}, HALF, LAX, True),
        ({"max_loosening": 0.0}, HALF, BETTER, True),
        ({"max_loosening": 0.4}, HALF, LAX, False),
        ({"max_loosening_upper": 0.4}, HALF, BETTER, False),  # 0 of 4 proves little
        ({"max_loosening_upper": 0.6}, HALF, BETTER, True),
        ({"max_lost": 0}, HALF, BETTER, True),
        ({"max_lost": 1}, BETTER, HALF, False),
        ({"min_confirmed_gain": 0.25}, HALF, BETTER, True),
        ({"min_confirmed_gain": 0.26}, HALF, BETTER, False),
        ({"max_p_value": 0.05}, HALF, BETTER, False),
        ({"max_unverified_rate": 0.1}, HALF, "uu" + BETTER[2:], False),
        ({"max_unverified_rate": 0.2}, HALF, "uu" + BETTER[2:], True),
    ],
)
def test_a_gate_holds_or_not(limits, first, other, expected) -> None:
    assert holds(first, other, **limits) is expected


def test_the_gain_is_that_of_supported_claims_when_labels_are_there() -> None:
    """Two contradictory claims more are no gain."""
    lax = HALF[:8] + "ccrr"
    assert not holds(HALF, lax, min_confirmed_gain=0.1)
    assert all(g.holds for g in check(HALF, lax, UNLABELLED, min_confirmed_gain=0.1))


def test_an_unverified_claim_that_was_confirmed_is_lost() -> None:
    (result,) = check(HALF, "u" + HALF[1:], max_lost=0)
    assert (result.value, result.holds) == (1, False)


def test_what_was_not_measured_was_not_passed() -> None:
    supported = [one for one in CLAIMS if one.label is Label.SUPPORTED]
    comparison = compare(("a", "b"), supported, [found(HALF)], [found(BETTER)])
    (result,) = check_gates(GateSpec(max_loosening=0.5), [], [comparison], labelled=True)
    assert (result.value, result.holds) == (None, False)
    assert "nothing to measure" in result.words


def test_no_gate_no_result() -> None:
    assert check(HALF, LAX) == ()
