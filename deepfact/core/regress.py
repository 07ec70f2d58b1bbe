"""Whether outcomes are worse than those of a baseline: same claims, pins, gates. Pure.

Only claims that stand word for word in both are compared; the others are named apart. A gate
that cannot be measured is not passed silently: it is refused, or said to be missing.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from deepfact.core.compare import Found, outcome_of
from deepfact.experiment_records import AskedClaim, Flip, GateResult, PairedDifference
from deepfact.records import FailureReason, Label, Outcome, Usage, sha256_of
from deepfact.regression_records import (
    Asking,
    BaselineClaim,
    FlippedClaim,
    Pin,
    PinResult,
    RegressGates,
    UnpairedClaims,
)
from deepfact.run_records import Rate

LOST_ON_THE_WAY = frozenset(
    {
        FailureReason.ERROR,
        FailureReason.TIMEOUT,
        FailureReason.RATE_LIMITED,
        FailureReason.EXPIRED,
        FailureReason.BUDGET,
    }
)
"""Reasons that say something of the way to the model, and nothing of what it would answer."""

ARM = "now"
"""What gates call the outcomes that are checked."""


def lost_on_the_way(outcome: Outcome) -> list[str]:
    """Why an outcome does not rest on all of its answers, one reason for each that never came;
    empty when it does.

    One lost vote is enough: another time it may turn the outcome, and it is not in the response
    store, so that nobody could replay it. An answer that came and cannot be used (a refusal, one
    that cannot be read or is empty) is an answer.
    """
    lost = [
        str(one.reason)
        for one in outcome.abstentions
        if one.reason in LOST_ON_THE_WAY
        or (one.reason is FailureReason.NO_ANSWER and not _came(one.usage))
    ]
    if outcome.kind == "failure" and not outcome.votes and not outcome.abstentions:
        never = outcome.reason is FailureReason.NO_ANSWER and not _came(outcome.usage)
        if outcome.reason in LOST_ON_THE_WAY or never:
            lost.append(str(outcome.reason))
    return lost


def _came(usage: Usage) -> bool:
    """Whether an answer was given at all: one that was has tokens."""
    return bool(usage.input_tokens or usage.output_tokens)


def claim_hash(asked: AskedClaim) -> str:
    """The hash by which a claim is known to be the one that the baseline asked about."""
    return sha256_of(asked.claim.canonical())


def pair(
    claims: Sequence[AskedClaim], baseline: Mapping[str, BaselineClaim]
) -> tuple[list[AskedClaim], UnpairedClaims]:
    """The claims that are the same in both, and those that are not."""
    same = [
        one
        for one in claims
        if one.claim.id in baseline and baseline[one.claim.id].claim_hash == claim_hash(one)
    ]
    now, paired = {one.claim.id for one in claims}, {one.claim.id for one in same}
    return same, UnpairedClaims(
        only_now=tuple(one.claim.id for one in claims if one.claim.id not in baseline),
        only_baseline=tuple(name for name in baseline if name not in now),
        changed=tuple(name for name in baseline if name in now - paired),
    )


def flipped(
    flips: Sequence[Flip], claims: Sequence[AskedClaim], before: Found, now: Found
) -> tuple[FlippedClaim, ...]:
    """The flips with both outcomes."""
    by_id = {one.claim.id: one.claim for one in claims}
    return tuple(
        FlippedClaim(
            flip=flip,
            claim=by_id[flip.claim_id],
            before=before[flip.claim_id],
            now=now[flip.claim_id],
        )
        for flip in flips
    )


def check_pins(
    pins: Sequence[Pin], claims: Sequence[AskedClaim], before: Found, now: Found
) -> tuple[PinResult, ...]:
    """What became of each pinned claim. All of them are among ``claims``; ``now`` holds only
    outcomes that rest on all of their answers."""
    by_id = {one.claim.id: one.claim for one in claims}
    return tuple(
        PinResult(
            pin=pin,
            claim=by_id[pin.claim],
            before=before.get(pin.claim),
            now=now.get(pin.claim),
            found=outcome_of(now[pin.claim]) if pin.claim in now else None,
        )
        for pin in pins
    )


# --- gates -------------------------------------------------------------------------------


def loss_group(claims: Sequence[AskedClaim]) -> tuple[str, list[AskedClaim]]:
    """The claims on which not being confirmed any more is a loss, and what they are called:
    those that no label calls contradictory or inconclusive."""
    if all(one.label is None for one in claims):
        return "all", list(claims)
    members = [one for one in claims if one.label in (Label.SUPPORTED, None)]
    mixed = any(one.label is None for one in members)
    return ("supported or unlabelled" if mixed else str(Label.SUPPORTED)), members


def needs_what(gate: str, same: Sequence[AskedClaim]) -> str:
    """What a gate lacks to be measured on these claims; empty when it lacks nothing."""
    if gate == "max_new_false_confirmations":
        known = any(one.label is Label.CONTRADICTORY for one in same)
        return "" if known else "claims labelled contradictory that the baseline knows too"
    if gate in ("significance", "max_loss", "max_lost"):
        return "" if loss_group(same)[1] else "accurate claims that the baseline knows too"
    return ""


def check_gates(
    gates: RegressGates,
    same: Sequence[AskedClaim],
    difference: PairedDifference,
    flips: Sequence[Flip],
    unverified: Rate,
) -> tuple[GateResult, ...]:
    """What every gate finds that is set and can be measured.

    Args:
        gates: the limits.
        same: the claims that are in both.
        difference: on their loss group.
        flips: of the same claims.
        unverified: of all claims now.
    """
    results = [
        result
        for result in (
            *_losses(gates, difference),
            *_confirmations(gates, same, flips),
        )
        if not needs_what(result.gate, same)
    ]
    if gates.max_unverified_rate is not None:
        share = unverified.value or 0.0
        words = (
            f"{unverified.k} of {unverified.n} claims are unverified, {share:.1%} "
            f"[{unverified.low:.1%}, {unverified.high:.1%}]"
        )
        limit = gates.max_unverified_rate
        results.append(_result("max_unverified_rate", limit, share, words, percent=True))
    return tuple(results)


def _losses(gates: RegressGates, found: PairedDifference) -> list[GateResult]:
    lost, gained, n = found.only_first, found.only_other, found.n
    counts = f"{lost} lost, {gained} gained, of {n} ({found.group})"
    results = []
    if gates.significance is not None:
        p, alpha = found.p_value, gates.significance
        bound = f"more lost than gained at p of at most {alpha:g} is a regression"
        results.append(
            GateResult(
                gate="significance",
                arm=ARM,
                limit=alpha,
                value=p,
                holds=not (lost > gained and p <= alpha),
                words=f"{counts}: McNemar's exact p = {p:.3g}; {bound}",
            )
        )
    if gates.max_loss is not None and n:
        share = (lost - gained) / n
        low, high = found.difference.low, found.difference.high
        spread = "no interval" if low is None or high is None else f"[{low:+.1%}, {high:+.1%}]"
        words = f"the confirmed rate changed by {(gained - lost) / n:+.1%} {spread}; {counts}"
        results.append(_result("max_loss", gates.max_loss, share, words, percent=True))
    if gates.max_lost is not None:
        results.append(_result("max_lost", gates.max_lost, lost, counts))
    return results


def _confirmations(
    gates: RegressGates, same: Sequence[AskedClaim], flips: Sequence[Flip]
) -> list[GateResult]:
    if gates.max_new_false_confirmations is None:
        return []
    names = [flip.claim_id for flip in flips if flip.false_confirmation]
    n = sum(one.label is Label.CONTRADICTORY for one in same)
    which = f" ({', '.join(names)})" if names else ""
    words = f"{len(names)} of {n} contradictory claims newly confirmed{which}"
    limit = gates.max_new_false_confirmations
    return [_result("max_new_false_confirmations", limit, len(names), words)]


def _result(
    gate: str, limit: float, value: float, words: str, *, percent: bool = False
) -> GateResult:
    allowed = f"{limit:.1%}" if percent else f"{limit:g}"
    return GateResult(
        gate=gate,
        arm=ARM,
        limit=limit,
        value=value,
        holds=value <= limit,
        words=f"{words}; at most {allowed} is allowed",
    )


# --- what changed ------------------------------------------------------------------------


def changes(before: Asking, now: Asking) -> tuple[str, ...]:
    """In what two ways of asking differ, in words."""
    found = []
    if before.kind != now.kind:
        found.append(f"verifier: {before.kind} -> {now.kind}")
    if before.prompt != now.prompt:
        found.append(f"prompt: {prompt_words(before)} -> {prompt_words(now)}")
    if now.models and before.models != now.models:
        found.append(f"model: {', '.join(before.models)} -> {', '.join(now.models)}")
    if now.rule and before.rule != now.rule:
        found.append(f"rule: {before.rule} -> {now.rule}")
    for name in sorted({*before.options, *now.options} - {"prompt", "model", "models", "rule"}):
        a, b = before.options.get(name), now.options.get(name)
        if a != b:
            found.append(f"option {name}: {_shown(a)} -> {_shown(b)}")
    return tuple(found)


def prompt_words(asking: Asking) -> str:
    """A prompt by name, version and the start of its hash."""
    if asking.prompt is None:
        return "none"
    return f"{asking.prompt.name}/v{asking.prompt.version} ({asking.prompt.hash[:15]})"


def _shown(value: Any) -> str:
    return "default" if value is None else str(value)
