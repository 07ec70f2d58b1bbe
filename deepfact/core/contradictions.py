"""Which claims of a ledger cannot all be true, and which only look like it.

Pure. Two structured claims conflict when they are about the same subject and predicate, no
stated condition tells them apart, and their objects exclude each other: yes and no, figures
beyond tolerance once their units are the same, dates that do not overlap, values of which only
one can hold, or one thing asserted and denied. Two opinions never conflict. What a condition
tells apart is a `Difference`, to be told with both claims. Which side is right is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations

from deepfact.core.skeptic_subjects import Topic, bare_name, differing, stems, topics
from deepfact.core.skeptic_values import Period, Quantity, Value, Words, read_value
from deepfact.records import Verdict, canonical_json, sha256_of
from deepfact.research_records import (
    ClaimContradiction,
    ClaimKind,
    ContradictionState,
    Ledger,
    Method,
    ResearchClaim,
    Resolution,
    Severity,
    Thresholds,
)

SUBJECTIVE = frozenset({ClaimKind.OPINION, ClaimKind.FORECAST})
"""Kinds of claim of which two may differ and both be rightly reported."""

EXCLUSIVE = tuple(
    frozenset(words.split("|"))
    for words in (
        "open source|closed source|proprietary",
        "free|paid",
        "alive|dead|deceased",
        "pass|passed|fail|failed",
        "enabled|disabled",
        "on|off",
        "available|unavailable",
        "supported|unsupported",
        "increase|increased|rise|rose|decrease|decreased|fall|fell|unchanged",
        "public|private",
        "positive|negative|neutral",
        "safe|unsafe",
        "legal|illegal",
        "synchronous|asynchronous",
        "single threaded|multi threaded",
        "first|second|third|last",
        "higher|lower|equal",
        "faster|slower",
        "stable|unstable|experimental|deprecated",
    )
)
"""Values of which a thing has one at a time."""
_SAME_VALUE = tuple(
    frozenset(words.split("|"))
    for words in (
        "closed source|proprietary",
        "dead|deceased",
        "pass|passed",
        "fail|failed",
        "increase|increased|rise|rose",
        "decrease|decreased|fall|fell",
    )
)

SINGLE_VALUED = frozenset(
    ("capital", "license", "licence", "ceo", "chief executive", "author", "founder", "developer",
     "latest version", "current version", "default port", "default", "birthplace",
     "headquarter", "winner", "nationality", "owner", "parent company", "status", "result")
)  # fmt: skip
"""Predicates that have one value at a time; `Thresholds.single_valued` adds to them."""


@dataclass(frozen=True)
class Difference:
    """Two claims that say different things of one subject, and why both may be true."""

    claims: tuple[str, str]
    why: str


@dataclass(frozen=True)
class Conflicts:
    """What comparing the claims of a ledger gave."""

    clusters: tuple[tuple[str, ...], ...]
    """Claim ids by normalised subject, in the order of the ledger."""
    contradictions: tuple[ClaimContradiction, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class _Clash:
    """One pair that conflicts."""

    kind: str
    one: ResearchClaim
    other: ResearchClaim
    note: str


def find_conflicts(ledger: Ledger, thresholds: Thresholds) -> Conflicts:
    """The clusters, contradictions and differences among the claims of a ledger.

    Claims of generated cards stay in their clusters and conflict with nothing: generated text
    is no evidence. A contradiction that was settled, by withdrawing a card or otherwise, is kept
    as it was found.
    """
    about = topics(ledger.claims, ledger.aliases)
    clusters: dict[str, list[ResearchClaim]] = {}
    for claim in ledger.claims:
        clusters.setdefault(about[claim.id].subject, []).append(claim)
    cards = {card.source.id: card for card in ledger.cards}
    clashes: list[_Clash] = []
    differences: list[Difference] = []
    for members in clusters.values():
        speaking = [c for c in members if c.card in cards and cards[c.card].is_evidence]
        for one, other in combinations(speaking, 2):
            _compare(one, other, about, thresholds, clashes, differences)
    clashes += _turned_round(ledger, about)
    known = {frozenset((clash.one.id, clash.other.id)) for clash in clashes}
    known |= {frozenset(difference.claims) for difference in differences}
    clashes += _from_readings(ledger, about, known)
    return Conflicts(
        clusters=tuple(tuple(claim.id for claim in members) for members in clusters.values()),
        contradictions=tuple(
            _contradiction(group, ledger, thresholds) for group in _groups(clashes, about)
        ),
        differences=tuple(differences),
    )


def _compare(
    one: ResearchClaim,
    other: ResearchClaim,
    about: Mapping[str, Topic],
    thresholds: Thresholds,
    clashes: list[_Clash],
    differences: list[Difference],
) -> None:
    """Add the pair to the clashes or the differences, when its objects exclude each other."""
    first, second = about[one.id], about[other.id]
    if not first.predicate or first.predicate != second.predicate:
        return
    names = (*SINGLE_VALUED, *thresholds.single_valued)
    single = any(first.predicate == stems(name) for name in names)
    kind = why_exclusive(
        read_value(one.object),
        read_value(other.object),
        opposed=first.negated != second.negated,
        single=single,
        thresholds=thresholds,
    )
    if not kind:
        return
    pair = f"{_says(one)}; {_says(other)}"
    if {one.kind, other.kind} & SUBJECTIVE:
        differences.append(Difference((one.id, other.id), f"opinion or forecast: {pair}"))
    elif kinds := differing(first, second):
        differences.append(Difference((one.id, other.id), f"{', '.join(kinds)}: {pair}"))
    elif kind == "measure":
        differences.append(Difference((one.id, other.id), f"not the same measure: {pair}"))
    else:
        clashes.append(_Clash(kind, one, other, pair))


def _says(claim: ResearchClaim) -> str:
    said = " / ".join(part for part in (claim.subject, claim.predicate, claim.object) if part)
    return f"claim {claim.id} says {said!r}"


# --- objects -----------------------------------------------------------------------------


def why_exclusive(
    one: Value | None,
    other: Value | None,
    *,
    opposed: bool,
    single: bool,
    thresholds: Thresholds,
) -> str:
    """How two objects of one subject and predicate exclude each other; empty when they do not.

    Args:
        one: what the first claim says; None without an object.
        other: what the second says.
        opposed: whether exactly one of the two denies its predicate.
        single: whether the predicate has one value at a time.

    Returns:
        ``truth``, ``quantity``, ``date``, ``exclusive``, ``negation``; or ``measure`` for
        figures that are not of the same thing; or nothing.
    """
    truths = [True if value is None else value for value in (one, other)]
    if isinstance(truths[0], bool) and isinstance(truths[1], bool):
        differs = (truths[0] != truths[1]) != opposed
        return ("negation" if opposed else "truth") if differs else ""
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        if single and _is_number(one) and _is_number(other) and not opposed:
            return "exclusive" if one.low != other.low else ""
        return _quantities(one, other, opposed, thresholds)
    if isinstance(one, Period) and isinstance(other, Period):
        apart = one.last < other.first or other.last < one.first
        if opposed:
            return "negation" if one == other else ""
        return "date" if apart else ""
    if isinstance(one, Words) and isinstance(other, Words):
        return _words(one, other, opposed, single)
    return ""


def _words(one: Words, other: Words, opposed: bool, single: bool) -> str:
    opposed = opposed != (one.negated != other.negated)
    if set(one.words) == set(other.words):
        return "negation" if opposed else ""
    if opposed or one.negated or other.negated:
        return ""
    here, there = " ".join(one.words), " ".join(other.words)
    for values in EXCLUSIVE:
        if {here, there} <= values and not any({here, there} <= same for same in _SAME_VALUE):
            return "exclusive"
    # One name within the other ("MIT", "MIT licence") is the same value, told in full.
    apart = not set(one.words) <= set(other.words) and not set(other.words) <= set(one.words)
    return "exclusive" if single and apart else ""


def _is_number(value: Quantity) -> bool:
    """Whether a value is one whole number without a unit: under a predicate with one value at
    a time, such as a port, it is a name and not a measurement."""
    exact = value.bare and value.low == value.high and not value.approximate
    return exact and value.low.is_integer()


def _quantities(one: Quantity, other: Quantity, opposed: bool, thresholds: Thresholds) -> str:
    one, other = _alike(one, other), _alike(other, one)
    if one.dimension != other.dimension:
        return ""
    approximate = one.approximate or other.approximate
    share = thresholds.approximate_tolerance if approximate else thresholds.relative_tolerance
    # Intervals may be open at one end; what is infinite needs no slack.
    ends = [abs(end) for q in (one, other) for end in (q.low, q.high) if abs(end) != float("inf")]
    slack = share * max(ends, default=0.0)
    apart = one.low > other.high + slack or other.low > one.high + slack
    if opposed:
        return "negation" if (one.low, one.high) == (other.low, other.high) else ""
    if not apart:
        return ""
    return "measure" if one.of and other.of and not one.of & other.of else "quantity"


def _alike(one: Quantity, other: Quantity) -> Quantity:
    """A bare number beside a percentage: up to 1 it is a share, above it is in per cent."""
    if one.bare and other.percent and one.high > 1:
        return Quantity(one.low / 100, one.high / 100, "", one.approximate, True, False, one.of)
    return one


# --- contradictions ----------------------------------------------------------------------


def _turned_round(ledger: Ledger, about: Mapping[str, Topic]) -> list[_Clash]:
    """Comparisons that exclude each other: A is faster than B, and B is faster than A."""
    usable = {card.source.id for card in ledger.cards if card.is_evidence}
    said: list[tuple[ResearchClaim, Topic, str]] = []
    for claim in ledger.claims:
        topic = about[claim.id]
        if "than" in topic.predicate and not topic.negated and claim.card in usable:
            said.append((claim, topic, bare_name(claim.object)))
    return [
        _Clash("exclusive", one, other, f"{_says(one)}; {_says(other)}")
        for (one, first, first_object), (other, second, second_object) in combinations(said, 2)
        if first.predicate == second.predicate
        and first.subject == second_object
        and second.subject == first_object
        and not differing(first, second)
        and not {one.kind, other.kind} & SUBJECTIVE
    ]


def _from_readings(
    ledger: Ledger, about: Mapping[str, Topic], known: Set[frozenset[str]]
) -> list[_Clash]:
    """Texts that conflict: a verifier shown another claim's card alone called a claim
    contradicted, and named the words and the quote.

    Args:
        known: pairs that the structured comparison has explained already.
    """
    claims = {claim.id: claim for claim in ledger.claims}
    clashes = []
    for reading in ledger.readings:
        claim, outcome = claims.get(reading.claim), reading.outcome
        if claim is None or not isinstance(outcome, Verdict) or not outcome.contradictions:
            continue
        beside = [
            other
            for other in ledger.claims
            if other.card == reading.card and about[other.id].subject == about[claim.id].subject
        ]
        if not beside or any(frozenset((claim.id, other.id)) in known for other in beside):
            continue
        named = outcome.contradictions[0]
        note = (
            f"claim {claim.id} says {named.disputed!r}; the card of claim {beside[0].id} "
            f"says {named.quote!r}"
        )
        clashes.append(_Clash("text", claim, beside[0], note))
    return clashes


def _groups(clashes: Sequence[_Clash], about: Mapping[str, Topic]) -> Iterable[list[_Clash]]:
    """Clashes that hang together are one contradiction: three cards that say three things."""
    groups: dict[tuple[str, frozenset[str], bool], list[_Clash]] = {}
    for clash in clashes:
        topic = about[clash.one.id]
        is_text = clash.kind == "text"
        key = (topic.subject, frozenset() if is_text else topic.predicate, is_text)
        groups.setdefault(key, []).append(clash)
    for group in groups.values():
        yield from _connected(group)


def _connected(clashes: Sequence[_Clash]) -> Iterable[list[_Clash]]:
    """Clashes that share claims, directly or by way of others, in the order they were found."""
    parent: dict[str, str] = {}

    def root(claim: str) -> str:
        parent.setdefault(claim, claim)
        while parent[claim] != claim:
            parent[claim] = claim = parent[parent[claim]]
        return claim

    for clash in clashes:
        parent[root(clash.one.id)] = root(clash.other.id)
    parts: dict[str, list[_Clash]] = {}
    for clash in clashes:
        parts.setdefault(root(clash.one.id), []).append(clash)
    return parts.values()


def _contradiction(
    clashes: Sequence[_Clash], ledger: Ledger, thresholds: Thresholds
) -> ClaimContradiction:
    """The contradiction that some clashes make. It stays, whatever was decided about it."""
    sides = {claim.id: claim for clash in clashes for claim in (clash.one, clash.other)}
    ids = tuple(claim.id for claim in ledger.claims if claim.id in sides)
    name = f"x-{sha256_of(canonical_json(sorted(ids)))[7:19]}"
    left = [c for c in clashes if not {c.one.card, c.other.card} & ledger.withdrawn]
    resolution = _decided(name, sides.values(), ledger)
    return ClaimContradiction(
        id=name,
        kind=clashes[0].kind,
        severity=_severity(left or clashes, ledger, thresholds),
        claims=ids,
        cards=tuple(dict.fromkeys(sides[claim].card for claim in ids)),
        notes=tuple(clash.note for clash in clashes),
        state=_state(resolution, still_clash=bool(left)),
        resolution=resolution,
    )


def _decided(name: str, sides: Iterable[ResearchClaim], ledger: Ledger) -> Resolution | None:
    """The newest decision on a contradiction, or else one that withdrew a card of it."""
    cards = {claim.card for claim in sides}
    withdrew = [one for one in ledger.resolutions if one.withdrawn in cards]
    own = [one for one in ledger.resolutions if one.contradiction == name]
    found = own or withdrew
    return found[-1] if found else None


def _state(resolution: Resolution | None, *, still_clash: bool) -> ContradictionState:
    if resolution is None:
        return ContradictionState.OPEN
    if resolution.method is Method.CAVEAT:
        return ContradictionState.CARRIED
    if resolution.method is Method.SOURCE_WITHDRAWN and still_clash:
        return ContradictionState.OPEN  # others still conflict without the withdrawn card
    return ContradictionState.RESOLVED


def _severity(clashes: Sequence[_Clash], ledger: Ledger, thresholds: Thresholds) -> Severity:
    """An error when any pair of credible sides conflicts, else a warning.

    Credible: the card is not of low trust, and the claim was extracted with confidence.
    """
    trust = {card.source.id: card.source.trust for card in ledger.cards}

    def credible(claim: ResearchClaim) -> bool:
        sure = claim.confidence is None or claim.confidence >= thresholds.contradiction_confidence
        return sure and trust.get(claim.card) != "low"

    strong = any(credible(clash.one) and credible(clash.other) for clash in clashes)
    return Severity.ERROR if strong else Severity.WARNING
