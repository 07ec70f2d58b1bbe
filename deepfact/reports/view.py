"""What the round report shows, worked out of a run's record once for every format.

Templates read these and decide nothing. Two rules are kept here rather than in templates:
a case that waits for people shows no side and no decision, so that reading the report cannot
unblind whoever still has to decide; and a reason is the stored one or `NO_REASON`.
Pure: no I/O, no markup, no clock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Iterable, Iterator, Mapping

from deepfact.measure_records import AuditStats
from deepfact.records import (
    Adjudication,
    Annotation,
    Case,
    CaseKey,
    CaseKind,
    Claim,
    Decision,
    Label,
    Position,
    Revision,
    Ruling,
    Source,
    Verdict,
    VerificationFailure,
)
from deepfact.reports.audit_view import CrossAudit, cross_audit, policy_of, policy_words
from deepfact.reports.fitting import REASONS, fitted
from deepfact.reports.source_cards import ALL_TEXTS, Note, Quote, SourceCards
from deepfact.reports.summary import keys_of, label_changes
from deepfact.run_records import RoundRecord, RunRecord, RunStatus, ScoreSheet

NO_REASON = "no reason recorded"

OUTCOMES = {
    Label.SUPPORTED: "confirmed",
    Label.CONTRADICTORY: "refuted",
    Label.INCONCLUSIVE: "inconclusive",
}
"""What a verdict of each label is called in the tally; a failure is ``unverified``."""


def texts_of(record: RunRecord, *, bare: bool = False) -> Iterator[str]:
    """Every text that a report cuts when it would grow too long, as often as it is shown.

    Args:
        bare: as for `ReportView`.
    """
    of_sides, of_decisions = (1, 0) if bare else (None, None)
    for done in record.rounds:
        for case in done.cases:
            for side in (case.a, case.b):
                yield side.rationale
                yield from [one.quote for one in side.contradictions][:of_sides]
                yield from [one.quote for one in side.evidence][:of_sides]
        for made in done.adjudications:
            members = made.deliberation.members if made.deliberation else ()
            for voice in (made, *members):
                yield from (voice.rationale, voice.notes)
                yield from [one.quote for one in voice.evidence][:of_decisions]


def reason(text: str) -> str:
    """The stored reason, word for word, or `NO_REASON` when none is stored."""
    return text if text.strip() else NO_REASON


@dataclass(frozen=True, slots=True)
class Side:
    """One position of a case, with its owner's name now that it is unblinded."""

    who: str
    label: str
    rationale: str
    evidence: tuple[Quote, ...]
    contradictions: tuple[Quote, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One auditor's decision, unblinded."""

    auditor: str
    simulated: bool
    words: str
    rationale: str
    """Empty where it is the reason of the ruling, which is told already."""
    evidence: tuple[Quote, ...]
    notes: str
    members: tuple[DecisionView, ...] = ()
    """Those of a panel, where a panel decided."""


@dataclass(frozen=True, slots=True)
class CaseView:
    """A decided case."""

    anchor: str
    id: str
    round: int
    control: bool
    claim: Claim
    benchmark: Side
    challenger: Side
    ruling: str
    accepted: bool
    after: str
    """The label that stands; empty when unresolved."""
    reason: str
    auditors: tuple[str, ...]
    simulated: bool
    decisions: tuple[DecisionView, ...]


@dataclass(frozen=True, slots=True)
class RevisionView:
    """One change that a round made, with the case it came from when it is in the record."""

    anchor: str
    round: int
    revision: Revision
    simulated: bool
    claim: Claim | None
    before: str
    after: str
    why: str
    rationale: str
    """Of the new annotation, where it says something that neither side nor ``why`` says."""
    notes: tuple[Note, ...]
    case: CaseView | None


@dataclass(frozen=True, slots=True)
class RoundView:
    """One round: its counts, its scores by verifier and key, its tally of outcomes."""

    record: RoundRecord
    label_changes: int
    keys: tuple[str, ...]
    """The keys it was scored on, in the order before, after, without own challenges, others."""
    scores: dict[str, dict[str, ScoreSheet]]
    tally: dict[str, int]
    failures: tuple[VerificationFailure, ...]
    failure_counts: tuple[tuple[str, int], ...]
    controls: Counter[str]
    policy: str
    """By which decisions became rulings, in words."""
    waiting: int

    def unscored(self, key: str) -> str:
        """What stands where a verifier has no score on a key."""
        return "no own accepted challenges" if key == keys_of(self.record)[2] else "not scored"

    def column(self, key: str) -> str:
        """A key as a column heading that says what it is."""
        before, after, without = keys_of(self.record)
        if before == after == key:
            return f"{key} (unchanged)"
        names = {
            before: f"Before: {before}",
            after: f"After: {after}",
            without: f"After, without own accepted challenges: {after}",
        }
        return names.get(key, key)


class ReportView:
    """Everything a round report shows."""

    def __init__(
        self,
        record: RunRecord,
        sources: Mapping[str, Source],
        stats: AuditStats | None = None,
        *,
        limit: int | None = None,
        bare: bool = False,
    ) -> None:
        """
        Args:
            record: the run.
            sources: the benchmark's sources by id.
            stats: what its auditors did, where that is known.
            limit: characters of arguments, quotes and decisions to show; all when None.
            bare: show one quote of each side and none of decisions, and cut reasons as well.
        """
        self.record = record
        self.stats = stats
        self.limit, self.bare = limit, bare
        texts = ALL_TEXTS if limit is None else 0 if bare else ALL_TEXTS // 3
        self.sources = SourceCards(sources, short=limit is not None, texts=texts)
        self.simulated = {a.auditor for r in record.rounds for a in r.auditors if a.simulated}
        self.claims = {case.claim.id: case.claim for r in record.rounds for case in r.cases}
        self.cases: list[CaseView] = []
        self.waiting: list[tuple[str, Claim | None]] = []
        self.rounds: list[RoundView] = []
        for round_ in record.rounds:
            self._read_round(round_)
        seen = {case for case, _ in self.waiting}
        self.waiting += [(case, None) for case in record.waiting if case not in seen]
        by_case = {(case.round, case.id): case for case in self.cases}
        self.revisions = [
            self._revision(index, round_.round, revision, by_case)
            for index, (round_, revision) in enumerate(
                ((r, v) for r in record.rounds for v in r.revisions), start=1
            )
        ]
        self.qualified = self._qualified()
        # Last: only now is it known which sources were quoted, and where.
        self.shown_sources = self.sources.shown()

    @cached_property
    def disputes(self) -> list[CaseView]:
        """Decided challenges."""
        return [case for case in self.cases if not case.control]

    @cached_property
    def controls(self) -> list[CaseView]:
        """Decided controls."""
        return [case for case in self.cases if case.control]

    @cached_property
    def crossed(self) -> CrossAudit | None:
        """Auditors by challengers; None when only one challenger challenged."""
        return cross_audit(self.record.rounds)

    @cached_property
    def anchors(self) -> dict[str, str]:
        """Where in the report the change that a case led to is told: case anchor -> anchor."""
        return {v.case.anchor: v.anchor for v in self.revisions if v.case is not None}

    def _read_round(self, round_: RoundRecord) -> None:
        keys = {key.case_id: key for key in round_.keys}
        rulings = {ruling.case_id: ruling for ruling in round_.rulings}
        before, waiting = len(self.cases), 0
        for case in round_.cases:
            key, ruling = keys.get(case.id), rulings.get(case.id)
            if key is None or (ruling is None and self.record.status is RunStatus.PENDING):
                self.waiting.append((case.id, case.claim))
                waiting += 1
            else:
                self.cases.append(self._case(round_, case, key, ruling))
        failures = tuple(o for o in round_.outcomes if isinstance(o, VerificationFailure))
        labels = Counter(o.label for o in round_.outcomes if isinstance(o, Verdict))
        scores: dict[str, dict[str, ScoreSheet]] = {}
        for sheet in round_.scores:
            scores.setdefault(sheet.verifier, {})[sheet.on] = sheet
        on = dict.fromkeys(sheet.on for sheet in round_.scores)
        order = [key for key in dict.fromkeys(keys_of(round_)) if key in on]
        counts = Counter(failure.reason.replace("_", " ") for failure in failures)
        self.rounds.append(
            RoundView(
                record=round_,
                label_changes=label_changes(round_),
                keys=(*order, *(key for key in on if key not in order)),
                scores=scores,
                tally={OUTCOMES[label]: labels[label] for label in Label}
                | {"unverified": len(failures)},
                failures=failures,
                failure_counts=tuple(sorted(counts.items(), key=lambda x: (-x[1], x[0]))),
                controls=Counter(case.ruling for case in self.cases[before:] if case.control),
                policy=policy_words(policy_of(self.record, round_)),
                waiting=waiting,
            )
        )

    def _side(self, who: str, position: Position) -> Side:
        # What is quoted as a contradiction need not be quoted again as evidence.
        told = {(one.source, one.quote) for one in position.contradictions}
        evidence = [one for one in position.evidence if (one.source, one.quote) not in told]
        return Side(
            who,
            str(position.label),
            fitted(reason(position.rationale), self.limit),
            self._fit(map(self.sources.evidence, evidence)),
            self._fit(map(self.sources.contradiction, position.contradictions)),
            tuple(map(self.sources.qualification, position.qualifications)),
        )

    def _fit(self, quotes: Iterable[Quote]) -> tuple[Quote, ...]:
        found = [replace(quote, text=fitted(quote.text, self.limit)) for quote in quotes]
        return tuple(found[:1] if self.bare else found)

    def _reason(self, text: str) -> str:
        return fitted(reason(text), REASONS if self.bare else None)

    def _case(
        self, round_: RoundRecord, case: Case, key: CaseKey, ruling: Ruling | None
    ) -> CaseView:
        first = key.incumbent == "a"
        ours, theirs = (case.a, case.b) if first else (case.b, case.a)
        decisions = tuple(
            self._decision(adjudication, key, ruling.reason if ruling else "")
            for adjudication in round_.adjudications
            if adjudication.case_id == case.id
        )
        auditors = ruling.auditors if ruling else ()
        return CaseView(
            anchor=f"case-{round_.round}-{len(self.cases) + 1}",
            id=case.id,
            round=round_.round,
            control=key.kind is CaseKind.CONTROL,
            claim=case.claim,
            benchmark=self._side(f"Benchmark, version {round_.base.version}", ours),
            challenger=self._side(f"Challenger, {key.challenger}", theirs),
            ruling=str(ruling.kind) if ruling else "no ruling",
            accepted=bool(ruling and ruling.accepts_challenge),
            after=str(ruling.label) if ruling and ruling.label else "",
            reason=self._reason(ruling.reason) if ruling else NO_REASON,
            auditors=auditors,
            simulated=any(name in self.simulated for name in auditors),
            decisions=decisions,
        )

    def _decision(self, adjudication: Adjudication, key: CaseKey, told: str = "") -> DecisionView:
        """A decision; ``told`` is the reason of the ruling, which stands above it."""
        if adjudication.decision is Decision.CANNOT_TELL:
            words = "cannot tell"
        elif adjudication.decision is Decision.NEITHER:
            words = f"neither side: {adjudication.label}"
        elif key.kind is CaseKind.CONTROL:
            words = "the label both sides share"
        else:
            ours = str(adjudication.decision) == key.incumbent
            words = "for the benchmark" if ours else "for the challenger"
        return DecisionView(
            adjudication.auditor,
            adjudication.auditor in self.simulated,
            words,
            ""
            if adjudication.rationale == told
            else fitted(reason(adjudication.rationale), self.limit),
            () if self.bare else self._fit(map(self.sources.evidence, adjudication.evidence)),
            fitted(adjudication.notes, self.limit),
            self._voices(adjudication, key),
        )

    def _voices(self, adjudication: Adjudication, key: CaseKey) -> tuple[DecisionView, ...]:
        members = adjudication.deliberation.members if adjudication.deliberation else ()
        return tuple(self._decision(member, key) for member in members)

    def _revision(
        self,
        index: int,
        number: int,
        revision: Revision,
        cases: Mapping[tuple[int, str], CaseView],
    ) -> RevisionView:
        case = cases.get((number, revision.case))
        annotation: Annotation | None = revision.annotation
        told = {revision.why}
        if case is not None:
            told |= {case.benchmark.rationale, case.challenger.rationale, case.reason}
        notes = annotation.qualifications if annotation else ()
        said = annotation.rationale if annotation and annotation.rationale not in told else ""
        return RevisionView(
            anchor=f"change-{index}",
            round=number,
            revision=revision,
            simulated=any(name in self.simulated for name in revision.who.split(" + ")),
            claim=revision.claim or self.claims.get(revision.claim_id),
            before=case.benchmark.label if case else "",
            after=str(annotation.label) if annotation else "",
            why=self._reason(revision.why),
            rationale=said,
            notes=tuple(map(self.sources.qualification, notes)),
            case=case,
        )

    def _qualified(self) -> list[tuple[int, str, Claim | None, Note]]:
        """Qualifications of verdicts that no decided case shows. Claims of waiting cases are
        left out: what the challenger says of them is not for their auditors to read."""
        told = {(case.round, case.claim.id) for case in self.cases}
        blind = {claim.id for _, claim in self.waiting if claim is not None}
        return [
            (
                round_.round,
                outcome.claim_id,
                self.claims.get(outcome.claim_id),
                self.sources.qualification(qualification),
            )
            for round_ in self.record.rounds
            for outcome in round_.outcomes
            if isinstance(outcome, Verdict)
            and outcome.claim_id not in blind
            and (round_.round, outcome.claim_id) not in told
            for qualification in outcome.qualifications
        ]
