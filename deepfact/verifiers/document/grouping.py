"""Which claims go together in a group. Pure, and the same for the same claims.

Claims of one report share its subject and mostly its sources, so they go together in the order in
which they stand there. Claims that stand alone, or are left over, go together when they cite the
same sources or use the same rare words. A group never holds the same words twice, since answers
are matched by an id that is made of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from deepfact.records import Claim
from deepfact.retrievers.words import stems

BY = ("report", "similar")
RARE = 50
"""A word in more claims than this says little about which belong together."""


def groups_of(
    claims: Sequence[Claim], size: int, by: str, name: Callable[[Claim], str]
) -> list[list[Claim]]:
    """The claims in groups of at most ``size``; every claim is in exactly one.

    Args:
        claims: in any order; it decides between equals.
        size: of the largest group.
        by: ``report``, or ``similar`` for likeness alone.
        name: the id under which a claim is asked about.
    """
    groups: list[list[Claim]] = []
    rest: list[Claim] = []
    if by == "report":
        reports: dict[str, list[Claim]] = {}
        for claim in claims:
            reports.setdefault(claim.report, []).append(claim)
        for some in reports.values():
            if len(some) == 1:
                rest += some
                continue
            some.sort(key=lambda claim: (claim.origin.sentence or 0) if claim.origin else 0)
            # Ten claims in groups of at most six are two groups of five.
            count = -(-len(some) // size)
            at = [round(n * len(some) / count) for n in range(count + 1)]
            groups += [some[a:b] for a, b in pairwise(at)]
    else:
        rest = list(claims)
    groups += _alike(rest, size)
    return [group for some in groups for group in _without_twins(some, name)]


def _alike(claims: Sequence[Claim], size: int) -> list[list[Claim]]:
    """Each claim that is left with those most like it."""
    marks = [_marks(claim) for claim in claims]
    counted = Counter(mark for some in marks for mark in some)
    by_mark: dict[str, list[int]] = {}
    for at, some in enumerate(marks):
        for mark in some:
            if counted[mark] <= RARE:
                by_mark.setdefault(mark, []).append(at)
    left = dict.fromkeys(range(len(claims)))
    groups, alone = [], list[Claim]()
    while left:
        first = next(iter(left))
        del left[first]
        shared = Counter(
            other for mark in marks[first] for other in by_mark.get(mark, ()) if other in left
        )
        near = sorted(shared, key=lambda at: (-shared[at], at))[: size - 1]
        if not near:
            alone.append(claims[first])
            continue
        for at in near:
            del left[at]
        groups.append([claims[first], *(claims[at] for at in near)])
    # What is like nothing else shares no documents, so a group would gain it nothing.
    return groups + [[claim] for claim in alone]


def _marks(claim: Claim) -> frozenset[str]:
    """What a claim can have in common with another: the sources it cites, and its words."""
    return frozenset((*claim.cites, *stems(claim.text)))


def _without_twins(group: list[Claim], name: Callable[[Claim], str]) -> list[list[Claim]]:
    """The group, and further ones for claims that would have the id of another in it."""
    groups: list[dict[str, Claim]] = []
    for claim in group:
        place = next((one for one in groups if name(claim) not in one), None)
        if place is None:
            place = {}
            groups.append(place)
        place[name(claim)] = claim
    return [list(one.values()) for one in groups]
