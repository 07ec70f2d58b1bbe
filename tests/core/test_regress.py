"""Same claims, pins, gates: what counts as worse, and what counts as not known."""

from __future__ import annotations

import pytest

from deepfact.core import regress
from deepfact.core.compare import ALL, flips, outcome_rates, paired_difference
from deepfact.experiment_records import AskedClaim
from deepfact.records import (
    Abstention,
    Claim,
    FailureReason,
    Label,
    PanelOutcome,
    PromptRef,
    Usage,
    Verdict,
    VerificationFailure,
    Vote,
)
from deepfact.regression_records import Asking, BaselineClaim, Pin, RegressGates


def asked(number: int, label: str | None = "supported", text: str = "") -> AskedClaim:
    claim = Claim(id=f"c{number}", text=text or f"claim {number}")
    return AskedClaim(claim=claim, label=Label(label) if label else None)


def outcome(name: str, word: str):
    if word == "unverified":
        return VerificationFailure(
            claim_id=name, reason=FailureReason.TOO_FEW_VOTES, panel=PanelOutcome.UNVERIFIED
        )
    label = Label.SUPPORTED if word == "confirmed" else Label.CONTRADICTORY
    return Verdict(claim_id=name, label=label, panel=PanelOutcome(word))


def found(claims, words: str):
    """Outcomes by first letters: ``ccru``."""
    full = {word[0]: word for word in ("confirmed", "refuted", "unverified")}
    return {
        one.claim.id: outcome(one.claim.id, full[letter])
        for one, letter in zip(claims, words, strict=True)
    }


def gates_of(claims, before: str, now: str, **limits):
    gates = RegressGates(**limits)
    first, other = found(claims, before), found(claims, now)
    group, members = regress.loss_group(claims)
    results = regress.check_gates(
        gates,
        claims,
        paired_difference(group, members, first, other),
        flips(claims, first, other),
        outcome_rates(ALL, claims, other).unverified,
    )
    return {gate.gate: gate for gate in results}


# --- whether an outcome rests on all of its answers --------------------------------------


def lost_vote(reason: str, **fields) -> Abstention:
    return Abstention(index=2, reason=FailureReason(reason), **fields)


@pytest.mark.parametrize("reason", ["error", "timeout", "rate_limited", "expired", "budget"])
def test_one_vote_lost_on_the_way_leaves_a_claim_open_although_it_has_a_verdict(reason):
    verdict = outcome("c1", "confirmed").model_copy(
        update={"votes": (Vote(index=0, label=Label.SUPPORTED),)}
    )
    assert regress.lost_on_the_way(verdict) == []
    one_lost = verdict.model_copy(update={"abstentions": (lost_vote(reason),)})
    assert regress.lost_on_the_way(one_lost) == [reason]


@pytest.mark.parametrize("reason", ["refused", "unreadable", "truncated", "bad_quote"])
def test_an_answer_that_came_and_cannot_be_used_is_an_answer(reason):
    failure = outcome("c1", "unverified").model_copy(
        update={"abstentions": (lost_vote(reason),)}
    )  # fmt: skip
    assert regress.lost_on_the_way(failure) == []


def test_no_answer_is_lost_unless_an_empty_one_came():
    empty = lost_vote("no_answer", usage=Usage(calls=1, input_tokens=10))
    never = lost_vote("no_answer", usage=Usage(calls=1))
    failure = outcome("c1", "unverified")
    assert regress.lost_on_the_way(failure.model_copy(update={"abstentions": (empty,)})) == []
    assert regress.lost_on_the_way(failure.model_copy(update={"abstentions": (never,)}))


def test_a_verifier_without_votes_that_broke_leaves_the_claim_open():
    for reason in ("error", "no_answer"):
        broken = VerificationFailure(claim_id="c1", reason=FailureReason(reason))
        assert regress.lost_on_the_way(broken) == [reason]
    no_source = VerificationFailure(claim_id="c1", reason=FailureReason.NO_SOURCE)
    assert regress.lost_on_the_way(no_source) == []


# --- pairing -----------------------------------------------------------------------------


def test_only_the_same_claims_are_paired():
    """FIELD: b-open-io/prompts #15: a delta compared different sets."""
    claims = [asked(1), asked(2), asked(3)]
    lines = {
        one.claim.id: BaselineClaim(
            claim_id=one.claim.id,
            claim_hash=regress.claim_hash(one),
            outcome=outcome(one.claim.id, "confirmed"),
        )
        for one in (asked(0), asked(1), asked(2, text="another wording"))
    }
    same, unpaired = regress.pair(claims, lines)
    assert [one.claim.id for one in same] == ["c1"]
    assert (unpaired.only_now, unpaired.only_baseline) == (("c3",), ("c0",))
    assert (unpaired.changed, unpaired.count) == (("c2",), 3)


def test_a_baseline_line_is_about_its_claim():
    with pytest.raises(ValueError, match="about 'c2'"):
        BaselineClaim(
            claim_id="c1",
            claim_hash=regress.claim_hash(asked(1)),
            outcome=outcome("c2", "confirmed"),
        )


def test_flips_and_pins_carry_both_outcomes():
    claims = [asked(1), asked(2), asked(3)]
    first, other = found(claims, "ccc"), found(claims, "crc")
    (flip,) = regress.flipped(flips(claims, first, other), claims, first, other)
    assert (flip.claim.id, flip.before, flip.now) == ("c2", first["c2"], other["c2"])
    del other["c3"]
    pins = [Pin(claim=f"c{n}", must="confirmed") for n in (1, 2, 3)]
    results = regress.check_pins(pins, claims, {}, other)
    assert [pin.holds for pin in results] == [True, False, None]
    assert results[1].before is None
    assert regress.check_pins(pins, claims, first, other)[2].before == first["c3"]


# --- gates -------------------------------------------------------------------------------


def test_a_significant_loss_fails_and_as_large_a_gain_does_not():
    claims = [asked(n) for n in range(6)]
    assert not gates_of(claims, "cccccc", "rrrrrr")["significance"].holds
    assert gates_of(claims, "rrrrrr", "cccccc")["significance"].holds
    five = claims[:5]  # two-sided p = 2 / 2**5: five claims cannot show it
    lost = gates_of(five, "ccccc", "rrrrr")
    assert lost["significance"].holds
    assert not lost["max_loss"].holds


def test_a_claim_that_becomes_unverified_is_lost_too():
    claims = [asked(n) for n in range(10)]
    lost = gates_of(claims, "c" * 10, "cccccccccu", max_lost=0, max_unverified_rate=0.1)
    assert not lost["max_lost"].holds
    assert (lost["max_loss"].value, lost["max_loss"].holds) == (0.1, False)
    assert lost["max_unverified_rate"].holds
    assert "1 of 10 claims are unverified, 10.0% [" in lost["max_unverified_rate"].words


def test_no_longer_confirming_a_contradictory_claim_is_no_loss():
    claims = [asked(1), asked(2, "contradictory"), asked(3, "inconclusive")]
    results = gates_of(claims, "ccc", "crr", max_lost=0)
    assert all(gate.holds for gate in results.values())
    assert "of 1 (supported)" in results["max_lost"].words


def test_a_newly_confirmed_contradictory_claim_fails_whatever_was_gained():
    claims = [asked(1), asked(2, "contradictory"), asked(3, "contradictory")]
    results = gates_of(claims, "rrc", "ccc")
    gate = results["max_new_false_confirmations"]
    assert (gate.value, gate.holds) == (1, False)
    assert "1 of 2 contradictory claims newly confirmed (c2)" in gate.words
    assert results["max_loss"].holds
    allowed = gates_of(claims, "rrc", "ccc", max_new_false_confirmations=1)
    assert allowed["max_new_false_confirmations"].holds


def test_gates_can_be_switched_off():
    off = dict.fromkeys(RegressGates.model_fields)
    assert gates_of([asked(1)], "c", "r", **off) == {}


def test_a_gate_without_claims_to_measure_it_on_is_not_passed():
    unlabelled = [asked(1, None), asked(2, None)]
    assert "max_new_false_confirmations" not in gates_of(unlabelled, "cc", "cc")
    assert regress.needs_what("max_new_false_confirmations", unlabelled)
    wrong = [asked(1, "contradictory")]
    assert {"max_new_false_confirmations", "max_unverified_rate"} == set(
        gates_of(wrong, "r", "r", max_lost=0)
    )
    assert regress.needs_what("significance", wrong)
    assert not regress.needs_what("max_unverified_rate", wrong)


def test_which_claims_a_loss_is_counted_on():
    nobody = [asked(1, None), asked(2, None)]
    assert regress.loss_group(nobody) == ("all", nobody)
    mixed = [asked(1), asked(2, None), asked(3, "contradictory")]
    assert regress.loss_group(mixed) == ("supported or unlabelled", mixed[:2])


# --- what changed ------------------------------------------------------------------------


def test_what_changed_is_said_in_words():
    prompt = PromptRef(name="verifier/split", version=1, hash=f"sha256:{'a' * 64}")
    before = Asking(
        kind="panel", prompt=prompt, models=("m1",), rule="default: ...", options={"votes": 3}
    )
    assert regress.changes(before, before) == ()
    now = Asking(
        kind="panel",
        prompt=prompt.model_copy(update={"version": 2, "hash": f"sha256:{'b' * 64}"}),
        models=("m2",),
        rule="single: ...",
        options={"votes": 1, "search": 0, "model": "m2"},
    )
    assert regress.changes(before, now) == (
        "prompt: verifier/split/v1 (sha256:aaaaaaaa) -> verifier/split/v2 (sha256:bbbbbbbb)",
        "model: m1 -> m2",
        "rule: default: ... -> single: ...",
        "option search: default -> 0",
        "option votes: 3 -> 1",
    )
    local = Asking(kind="local")
    assert regress.changes(before, local)[:2] == (
        "verifier: panel -> local",
        "prompt: verifier/split/v1 (sha256:aaaaaaaa) -> none",
    )
