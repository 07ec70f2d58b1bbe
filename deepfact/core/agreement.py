"""How far auditors agree: Cohen's and Fleiss' kappa and Krippendorff's alpha, with intervals.

Pure; draws are seeded. "Cannot tell" is no label: such a decision is counted and compared with
nothing. scikit-learn gives Cohen's kappa (J. Cohen, Educational and Psychological Measurement 20,
1960), `deepfact.core.alpha` Krippendorff's alpha; Fleiss' kappa is worked out here (J. L. Fleiss,
Psychological Bulletin 76, 1971): with m labels a case, ``P`` the mean over cases of
``(sum_j n_j^2 - m) / (m (m - 1))`` and ``p_j`` the share of label j of all labels,
``kappa = (P - sum_j p_j^2) / (1 - sum_j p_j^2)``.

Intervals are percentiles of a bootstrap that draws whole reports, since the claims of one report
are no independent trials; where each case is from a report of its own, that is by case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from deepfact.core.alpha import alpha_of, coincidences, nominal_alpha
from deepfact.core.metrics import LABELS, rate
from deepfact.core.revise import decided_label
from deepfact.core.schemes.intervals import of_counts
from deepfact.measure_records import Agreement, Estimate, GroupAgreement, PairAgreement
from deepfact.records import Adjudication, Case, Label

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Unit:
    """A case as its auditors labelled it."""

    cluster: str
    """The report it is from."""
    domain: str
    labels: Mapping[str, Label]
    """By auditor; those who could not tell are not in it."""
    cannot_tell: int = 0


def units_of(
    cases: Sequence[Case], adjudications: Mapping[str, Sequence[Adjudication]]
) -> list[Unit]:
    """The cases of a round as agreement sees them. A panel speaks with its members' voices.

    Args:
        cases: of the round.
        adjudications: by case id.
    """
    units = []
    for case in cases:
        said = [voice for made in adjudications[case.id] for voice in voices(made)]
        decided = {made.auditor: decided_label(case, made) for made in said}
        labels = {auditor: label for auditor, label in decided.items() if label is not None}
        unsure = len(decided) - len(labels)
        units.append(Unit(case.claim.report, case.claim.domain, labels, unsure))
    return units


def voices(made: Adjudication) -> tuple[Adjudication, ...]:
    """The decisions behind a decision: those of a panel's members, or that one itself."""
    members = made.deliberation.members if made.deliberation else ()
    return members or (made,)


def agreement(units: Sequence[Unit], *, seed: int = 0) -> Agreement | None:
    """How the auditors agree: on all cases, by domain, by label, and each pair of them.

    Args:
        units: the cases; those with fewer than two labels say nothing of agreement.
        seed: of the bootstrap.

    Returns:
        None when no case has two labels.
    """
    shared = [unit for unit in units if len(unit.labels) > 1]
    if not shared:
        return None
    groups = [_group("all cases", shared, LABELS, seed)]
    domains = sorted({unit.domain for unit in shared if unit.domain})
    for domain in domains:
        members = [unit for unit in shared if unit.domain == domain]
        groups.append(_group(f"domain: {domain}", members, LABELS, seed))
    used = {label for unit in shared for label in unit.labels.values()}
    for label in LABELS:
        if label in used:
            groups.append(_group(f"label: {label}", shared, (label,), seed))
    auditors = list(dict.fromkeys(name for unit in shared for name in unit.labels))
    return Agreement(
        decisions=sum(len(unit.labels) + unit.cannot_tell for unit in units),
        cannot_tell=sum(unit.cannot_tell for unit in units),
        groups=tuple(groups),
        pairs=tuple(
            _pair(a, b, both, seed)
            for a, b in combinations(auditors, 2)
            if (both := [u for u in shared if a in u.labels and b in u.labels])
        ),
    )


def _group(of: str, units: Sequence[Unit], labels: Sequence[Label], seed: int) -> GroupAgreement:
    """Agreement on the cases; with one label, on that label against the rest."""
    counts = [_counts(unit, labels) for unit in units]
    sizes = Counter(map(sum, counts))
    raters = min(sizes, key=lambda size: (-sizes[size], -size))
    even = [index for index, row in enumerate(counts) if sum(row) == raters]
    clusters = [unit.cluster for unit in units]
    return GroupAgreement(
        of=of,
        cases=len(units),
        same=rate(sum(max(row) == sum(row) for row in counts), len(units)),
        fleiss=_estimate(
            [_pairs_of(counts[index]) for index in even],
            [clusters[index] for index in even],
            lambda tables: _fleiss(tables, raters),
            seed,
        ),
        raters=raters,
        alpha=_estimate(
            list(map(coincidences, counts)), clusters, alpha_of, seed, value=nominal_alpha(counts)
        ),
    )


def _pair(a: str, b: str, units: Sequence[Unit], seed: int) -> PairAgreement:
    tables = []
    for unit in units:
        table = [[0] * len(LABELS) for _ in LABELS]
        table[LABELS.index(unit.labels[a])][LABELS.index(unit.labels[b])] = 1
        tables.append(table)
    same = sum(unit.labels[a] == unit.labels[b] for unit in units)
    kappa = _estimate(
        tables, [u.cluster for u in units], _cohen, seed, value=_library_kappa(a, b, units)
    )
    return PairAgreement(a=a, b=b, same=rate(same, len(units)), kappa=kappa)


def _counts(unit: Unit, labels: Sequence[Label]) -> list[int]:
    """How many gave each label; with one label, how many gave it and how many another."""
    given = Counter(unit.labels.values())
    if len(labels) == 1:
        return [given[labels[0]], len(unit.labels) - given[labels[0]]]
    return [given[label] for label in labels]


def _estimate(
    tables: Sequence[Any],
    clusters: Sequence[str],
    statistic: Callable[[Array], Array],
    seed: int,
    *,
    value: float | None = None,
) -> Estimate:
    """A statistic of summed tables, with its interval.

    Args:
        tables: one a case, all of one shape.
        clusters: the report of each.
        statistic: from summed tables, shape ``(draws, ...)``, to ``(draws,)``; NaN where it is
            not defined.
        seed: of the draws.
        value: what a library says it is on all of them; worked out by ``statistic`` when None.
    """
    import numpy as np

    numbers: dict[str, int] = {}
    index = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    summed = np.zeros((len(numbers), *np.shape(tables[0])))
    np.add.at(summed, index, np.asarray(tables, dtype=float))
    whole = float(statistic(summed.sum(axis=0, keepdims=True))[0])
    defined = bool(np.isfinite(whole))
    low, high = of_counts(summed, lambda s: {"it": statistic(s)}, seed=seed).get(
        "it", (None, None)
    ) if defined else (None, None)  # fmt: skip
    method = "bootstrap by case" if len(numbers) == len(tables) else "bootstrap by report"
    return Estimate(
        value=(whole if value is None else value) if defined else None,
        n=len(tables), low=low, high=high, method=method,
    )  # fmt: skip


# --- Cohen --------------------------------------------------------------------------------


def _library_kappa(a: str, b: str, units: Sequence[Unit]) -> float | None:
    """Cohen's kappa by scikit-learn; None where it is not defined."""
    if len({label for unit in units for label in (unit.labels[a], unit.labels[b])}) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    first, second = ([str(unit.labels[name]) for unit in units] for name in (a, b))
    return float(cohen_kappa_score(first, second))


def _cohen(tables: Array) -> Array:
    """Of tables of pairs of labels, shape ``(draws, labels, labels)``."""
    n = tables.sum(axis=(1, 2))
    seen = tables.trace(axis1=1, axis2=2) / n
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
    return _beyond_chance(seen, by_chance)


# --- Fleiss -------------------------------------------------------------------------------


def _pairs_of(row: Sequence[int]) -> list[int]:
    """A case's labels, then 1, then ``sum_j n_j^2``: what Fleiss' kappa adds up."""
    return [*row, 1, sum(count**2 for count in row)]


def _fleiss(sums: Array, raters: int) -> Array:
    """Of sums of `_pairs_of`, shape ``(draws, labels + 2)``."""
    labels, cases, squares = sums[:, :-2], sums[:, -2], sums[:, -1]
    seen = (squares / cases - raters) / (raters * (raters - 1))
    by_chance = ((labels / (cases * raters)[:, None]) ** 2).sum(axis=1)
    return _beyond_chance(seen, by_chance)


def _beyond_chance(seen: Array, by_chance: Array) -> Array:
    """``(seen - by chance) / (1 - by chance)``; NaN where all labels are one and the same."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        room = 1 - by_chance
        result: Array = np.where(room > 1e-12, (seen - by_chance) / room, np.nan)
    return result
