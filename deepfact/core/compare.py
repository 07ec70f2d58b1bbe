"""Comparing arms claim by claim: rates, paired differences, agreement, flips.

Pure. Every claim counts in exactly one of confirmed, refuted and unverified; a claim without
an outcome is unverified. Comparisons are paired: both arms on the same claims. numpy and
scipy do the arithmetic; they are imported when a figure is asked for.
"""

from __future__ import annotations

import math
from collections import Counter
from statistics import NormalDist, stdev
from typing import Any, Callable, Mapping, Sequence, TypeVar

from deepfact.core.alpha import nominal_alpha
from deepfact.core.metrics import RESAMPLES, rate
from deepfact.experiment_records import (
    Agreement,
    AskedClaim,
    Comparison,
    Flip,
    OutcomeRates,
    PairedDifference,
    Spread,
)
from deepfact.records import Label, Outcome, PanelOutcome, VerificationFailure, Vote
from deepfact.run_records import Estimate

T = TypeVar("T")

BOOTSTRAP = "bootstrap by report"
NO_VARIATION = "Wilson's bounds of the gained and lost shares: all reports show the same"
ONE_REPORT = "bootstrap by claim: all are of one report, so how reports differ is not in it"
ALPHA, POWER = 0.05, 0.80
"""Of `detectable_difference`: two-sided level, and the chance of seeing the difference."""

Found = Mapping[str, Outcome]
"""Outcomes by claim id."""


def outcome_of(outcome: Outcome | None) -> PanelOutcome:
    """Confirmed, refuted or unverified, for any verifier.

    A panel has said which. For a verifier that does not vote: ``supported`` is confirmed;
    ``contradictory`` and ``inconclusive`` are refuted, in the panel's sense that the claim does
    not stand as worded (so does the split prompt count them); a failure is unverified, and so
    is no outcome at all.
    """
    if outcome is None:
        return PanelOutcome.UNVERIFIED
    if outcome.panel is not None:
        return outcome.panel
    if isinstance(outcome, VerificationFailure):
        return PanelOutcome.UNVERIFIED
    stands = outcome.label is Label.SUPPORTED
    return PanelOutcome.CONFIRMED if stands else PanelOutcome.REFUTED


def confirms(outcome: Outcome | None) -> bool:
    """Whether a claim comes out confirmed."""
    return outcome_of(outcome) is PanelOutcome.CONFIRMED


# --- groups ------------------------------------------------------------------------------

ALL = "all"


def groups_of(claims: Sequence[AskedClaim]) -> dict[str, list[AskedClaim]]:
    """The groups in which arms are compared, by name, empty ones left out.

    All claims; then, where there are labels, those of each label; and where some of a label's
    claims carry a qualification, those that do and those that do not.
    """
    groups = {ALL: list(claims)}
    for label in Label:
        members = [one for one in claims if one.label is label]
        groups[str(label)] = members
        if any(one.qualified for one in members):
            for qualified in (True, False):
                kept = [one for one in members if one.qualified is qualified]
                groups[qualified_group(label, qualified)] = kept
    return {name: members for name, members in groups.items() if members or name == ALL}


def qualified_group(label: Label, qualified: bool) -> str:
    """The name of the group of a label's claims with, or without, a qualification."""
    return f"{label}, {'qualified' if qualified else 'unqualified'}"


# --- one arm -----------------------------------------------------------------------------


def outcome_rates(group: str, members: Sequence[AskedClaim], found: Found) -> OutcomeRates:
    """How many of a group's claims are confirmed, refuted and unverified, with intervals."""
    counts = Counter(outcome_of(found.get(one.claim.id)) for one in members)
    n, unverified = len(members), counts[PanelOutcome.UNVERIFIED]
    confirmed, refuted, open_ = (
        rate(counts[outcome], n, unverified=unverified) for outcome in PanelOutcome
    )
    return OutcomeRates(group=group, n=n, confirmed=confirmed, refuted=refuted, unverified=open_)


def refuting_grounds(found: Found) -> dict[str, int]:
    """Refuting votes by grounds: a contradiction and a missing support are different findings."""
    votes = (vote for outcome in found.values() for vote in outcome.votes if vote.refutes)
    return dict(sorted(Counter(str(vote.grounds) for vote in votes).items()))


def abstention_reasons(found: Found) -> dict[str, int]:
    """Abstentions by reason; for an outcome without votes, the failure's own reason."""
    reasons: Counter[str] = Counter()
    for outcome in found.values():
        reasons.update(str(one.reason) for one in outcome.abstentions)
        if isinstance(outcome, VerificationFailure) and not outcome.abstentions:
            reasons[str(outcome.reason)] += 1
    return dict(sorted(reasons.items()))


def flag_counts(found: Found) -> dict[str, int]:
    """Claims whose outcome, or a vote of it, carries a flag, by the flag's name."""
    counts: Counter[str] = Counter()
    for outcome in found.values():
        flags = [*outcome.flags, *(flag for vote in outcome.votes for flag in vote.flags)]
        counts.update({flag.partition(":")[0].strip() for flag in flags})
    return dict(sorted(counts.items()))


def agreement(
    claims: Sequence[AskedClaim], found: Found, *, seed: int = 0, resamples: int = 400
) -> Agreement | None:
    """How far valid votes agree on whether each claim stands; None when nobody voted.

    The interval of Krippendorff's alpha (see `deepfact.core.alpha`) is a percentile bootstrap
    that draws whole reports.
    """
    tables = [
        (one.claim.report, _tally(found[one.claim.id].votes))
        for one in claims
        if one.claim.id in found
    ]
    voted = [(report, table) for report, table in tables if sum(table) > 0]
    if not voted:
        return None
    paired = [(report, table) for report, table in voted if sum(table) >= 2]
    few = len(claims) - len(paired)
    unanimous = rate(sum(min(table) == 0 for _, table in paired), len(paired), unverified=few)
    value = nominal_alpha([table for _, table in paired])
    clusters, method = _clustered(paired)
    if value is None:
        return Agreement(
            unanimous=unanimous, alpha=Estimate(value=None, n=len(paired), method=method)
        )
    import numpy as np

    draws = np.random.default_rng(seed).integers(len(clusters), size=(resamples, len(clusters)))
    drawn = [nominal_alpha([table for place in row for table in clusters[place]]) for row in draws]
    known = [one for one in drawn if one is not None]
    low, high = _percentiles(known) if len(clusters) > 1 and known else (None, None)
    return Agreement(
        unanimous=unanimous,
        alpha=Estimate(value=value, n=len(paired), low=low, high=high, method=method),
    )


def _tally(votes: Sequence[Vote]) -> tuple[int, int]:
    """Valid votes that let a claim stand, and that refute it."""
    refuting = sum(vote.refutes for vote in votes)
    return len(votes) - refuting, refuting


def spread(claims: Sequence[AskedClaim], repeats: Sequence[Found]) -> Spread | None:
    """How far repeats of one arm differ; None for a single one."""
    if len(repeats) < 2:
        return None
    counts = [sum(confirms(found.get(one.claim.id)) for one in claims) for found in repeats]
    stable = sum(
        len({outcome_of(found.get(one.claim.id)) for found in repeats}) == 1 for one in claims
    )
    n = len(claims)
    return Spread(
        confirmed=tuple(counts),
        deviation=stdev(count / n for count in counts) if n else None,
        stable=rate(stable, n),
    )


# --- two arms ----------------------------------------------------------------------------


def compare(
    names: tuple[str, str],
    claims: Sequence[AskedClaim],
    first: Sequence[Found],
    other: Sequence[Found],
    *,
    seed: int = 0,
) -> Comparison:
    """An arm against the first one: every group's paired difference, and every flip.

    Args:
        names: of the first arm and of the other.
        claims: those that both were asked about.
        first, other: outcomes by repeat. Tests and intervals are those of the first repeat:
            repeats of a claim are no further claims, and counting them would feign a larger n.
        seed: of the bootstrap.
    """
    n = len(claims)
    return Comparison(
        first=names[0],
        other=names[1],
        differences=tuple(
            paired_difference(group, members, first[0], other[0], seed=seed)
            for group, members in groups_of(claims).items()
        ),
        flips=flips(claims, first[0], other[0]),
        by_repeat=tuple(
            sum(
                confirms(there.get(one.claim.id)) - confirms(here.get(one.claim.id))
                for one in claims
            )
            / n
            for here, there in zip(first, other, strict=True)
        ) if n else (),
    )  # fmt: skip


def flips(claims: Sequence[AskedClaim], first: Found, other: Found) -> tuple[Flip, ...]:
    """The claims whose outcome differs, in the order of the claims."""
    pairs = (
        (one, outcome_of(first.get(one.claim.id)), outcome_of(other.get(one.claim.id)))
        for one in claims
    )
    return tuple(
        Flip(
            claim_id=one.claim.id, first=before, other=after, label=one.label,
            qualified=one.qualified,
        )
        for one, before, after in pairs
        if before is not after
    )  # fmt: skip


def paired_difference(
    group: str, members: Sequence[AskedClaim], first: Found, other: Found, *, seed: int = 0
) -> PairedDifference:
    """The difference of two arms' confirmed rates on the same claims."""
    pairs = [
        (
            one.claim.report,
            confirms(first.get(one.claim.id)),
            confirms(other.get(one.claim.id)),
        )
        for one in members
    ]
    only_first = sum(a and not b for _, a, b in pairs)
    only_other = sum(b and not a for _, a, b in pairs)
    n = len(pairs)
    both = [found.get(one.claim.id) for one in members for found in (first, other)]
    open_ = sum(
        PanelOutcome.UNVERIFIED in (outcome_of(a), outcome_of(b))
        for a, b in zip(both[::2], both[1::2], strict=True)
    )
    return PairedDifference(
        group=group,
        n=n,
        clusters=len({report for report, _, _ in pairs}),
        both=sum(a and b for _, a, b in pairs),
        only_first=only_first,
        only_other=only_other,
        neither=sum(not a and not b for _, a, b in pairs),
        unverified=open_,
        gained=rate(only_other, n, unverified=open_),
        lost=rate(only_first, n, unverified=open_),
        difference=mean_change([(report, b - a) for report, a, b in pairs], seed),
        p_value=mcnemar(only_first, only_other),
        detectable=detectable_difference(n, only_first + only_other),
    )


def mcnemar(only_first: int, only_other: int) -> float:
    """The exact two-sided p-value of McNemar's test (Q. McNemar, Psychometrika 12, 1947): a
    binomial test of the claims on which two arms differ. 1 when there is none."""
    discordant = only_first + only_other
    if discordant == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(only_first, discordant, 0.5).pvalue)


def mean_change(changes: Sequence[tuple[str, int]], seed: int) -> Estimate:
    """The mean change with a percentile bootstrap interval that draws whole reports.

    Args:
        changes: the report of each claim, and its change: -1, 0 or 1.
        seed: of the bootstrap.
    """
    n = len(changes)
    if n == 0:
        return Estimate(value=None, n=0, method=BOOTSTRAP)
    value = sum(change for _, change in changes) / n
    clusters, method = _clustered(changes)
    low, high = _drawn_means(clusters, seed)
    if high - low < 1e-9:  # all reports alike: drawing them again cannot show any doubt
        gained, lost = (rate(sum(c == one for _, c in changes), n) for one in (1, -1))
        low, high, method = gained.low - lost.high, gained.high - lost.low, NO_VARIATION
    return Estimate(value=value, n=n, low=low, high=high, method=method)


def _drawn_means(clusters: Sequence[Sequence[int]], seed: int) -> tuple[float, float]:
    """The percentile interval of the mean over all members of clusters that are drawn whole."""
    import numpy as np

    k = len(clusters)
    draws = max(200, min(RESAMPLES, 20_000_000 // k))
    weights = np.random.default_rng(seed).multinomial(k, [1 / k] * k, size=draws)
    sums, sizes = np.array([sum(one) for one in clusters]), np.array([len(o) for o in clusters])
    return _percentiles((weights @ sums) / (weights @ sizes))


def _clustered(values: Sequence[tuple[str, T]]) -> tuple[list[list[T]], str]:
    """Values by report, and how to call a bootstrap of them. Where all are of one report, each
    is drawn by itself, and the method says so."""
    clusters: dict[str, list[T]] = {}
    for report, value in values:
        clusters.setdefault(report, []).append(value)
    if len(clusters) > 1:
        return list(clusters.values()), BOOTSTRAP
    return [[value] for _, value in values], ONE_REPORT


def _percentiles(values: Any) -> tuple[float, float]:
    import numpy as np

    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def detectable_difference(n: int, discordant: int) -> float | None:
    """The smallest true difference that McNemar's test would have found on n claims.

    At a two-sided level of 5 % and a power of 80 %, with the share of claims on which the arms
    differ as it was seen (or the difference itself, when that is larger: the least share that
    can bring it about). Solves, for the difference d and the discordant share s,

        n d^2 = (z(0.975) sqrt(s) + z(0.8) sqrt(s - d^2))^2

    (R. J. Connor, Biometrics 43, 1987, 207-211, after O. S. Miettinen, Biometrics 24, 1968).
    Never less than what the exact test can reject at all: six claims, all in one direction.

    Returns:
        A share from 0 to 1, or None where even a difference of 1 could not be found.
    """
    if n == 0:
        return None
    normal = NormalDist()
    level, power = normal.inv_cdf(1 - ALPHA / 2), normal.inv_cdf(POWER)

    def found(d: float) -> bool:
        s = max(discordant / n, d)
        return math.sqrt(n) * d >= level * math.sqrt(s) + power * math.sqrt(s - d * d)

    floor = fewest_significant() / n
    if floor > 1 or not found(1.0):
        return None
    return max(floor, _smallest(found))


def _smallest(found: Callable[[float], bool]) -> float:
    """The smallest d in (0, 1] for which ``found`` holds; it holds for 1, and from d on."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def fewest_significant() -> int:
    """The fewest discordant claims, all in one direction, that the exact test rejects."""
    return next(count for count in range(1, 100) if 2 * 0.5**count <= ALPHA)
