"""A factory of synthetic run records for the report tests. Every figure in them is made up."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Callable

import pytest
from markdown_it import MarkdownIt

from deepfact.core.agreement import agreement, units_of
from deepfact.core.bias import biases
from deepfact.core.policy import by_case
from deepfact.measure_records import AuditorWeight, AuditStats
from deepfact.records import (
    Adjudication,
    Annotation,
    Case,
    CaseKey,
    Claim,
    Contradiction,
    Decision,
    Evidence,
    FailureReason,
    Label,
    Origin,
    Position,
    Provenance,
    Qualification,
    Revision,
    Ruling,
    Source,
    Verdict,
    VerificationFailure,
)
from deepfact.run_records import (
    Adjudicated,
    AuditorScore,
    AuditorSpec,
    ClassScore,
    Estimate,
    MicroGoldScore,
    PolicySpec,
    Rate,
    RoundRecord,
    RoundSpec,
    RunRecord,
    ScoreSheet,
    VerifierSpec,
    VersionRef,
)
from deepfact.running.audit_stats import stats_of

DAY = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> \u202edesrever\u202c "
    "| pipe | `code` [link](javascript:alert(3)) **bold**\n# heading\n</style></script>"
    " {{ 7919 * 7 }} {% raw %} \x1b[31m www.evil.example @everyone"
)


def rate(k: int, n: int, unverified: int = 0) -> Rate:
    """A rate with an invented interval of +- 0.07."""
    value = k / n if n else 0.0
    low, high = max(0.0, value - 0.07), min(1.0, value + 0.07)
    return Rate(k=k, n=n, unverified=unverified, low=low, high=high, method="wilson")


def sheet(verifier: str, on: str, right: int, n: int, unverified: int) -> ScoreSheet:
    """A score sheet whose confusion matrix adds up to ``n``."""
    wrong = n - right - unverified
    thirds = [right - 2 * (right // 4), right // 4, right // 4]
    confusion = [[0, 0, 0, 0] for _ in Label]
    for index, count in enumerate(thirds):
        confusion[index][index] = count
    confusion[0][1], confusion[1][0] = wrong - wrong // 3, wrong // 3
    confusion[2][3] = unverified
    return ScoreSheet(
        verifier=verifier,
        on=on,
        n=n,
        unverified=unverified,
        accuracy=rate(right, n, unverified),
        accuracy_clustered=Estimate(
            value=right / n, n=n, low=right / n - 0.1, high=right / n + 0.09, method="bootstrap"
        ),
        binary=rate(right + wrong // 3, n, unverified),
        macro_f1=Estimate(value=0.612, n=n, low=0.501, high=0.7, method="bootstrap"),
        per_class=tuple(
            ClassScore(label=label, precision=0.5, recall=0.5, f1=0.5, n=n // 3) for label in Label
        ),
        confusion=tuple(map(tuple, confusion)),
        strata={"numbers": rate(right // 2, n // 2, unverified), "dates": rate(0, 0)},
    )


@dataclass
class Factory:
    """Builds runs: ``claims`` of them, of which every ``stride``-th is challenged."""

    claims: int = 24
    stride: int = 3
    hostile: bool = False
    simulated: bool = True
    pending: bool = False
    prose: str = "The annual report gives this figure for the year before, not for the year named."
    sources: dict[str, Source] = field(default_factory=dict)

    def source(self, number: int, **card: Any) -> Source:
        text = (
            f"Annual report {number}. The harbour was opened in 19{number % 90 + 10:02d}.\n\n"
            f"In the second year {number + 40} ships called at it, a third of them under sail. "
        ) + "The committee then turned to other business, which the minutes tell at length. " * 12
        title = HOSTILE if self.hostile else f"Harbour board, annual report {number}"
        url = "javascript:alert(4)" if self.hostile else f"https://example.org/reports/{number}"
        source = Source.create(**{"title": title, "url": url, "text": text} | card)
        self.sources[source.id] = source
        return source

    def words(self, text: str) -> str:
        return f"{text} {HOSTILE}" if self.hostile else text

    def case(self, index: int, control: bool) -> tuple[Case, CaseKey, Revision | None, Ruling]:
        source = self.source(index % 40)
        quote = source.text.split("\n\n")[1][:60]
        claim = Claim(
            id=f"claim-{index:04d}",
            text=self.words(f"In its second year {index + 41} ships called at harbour {index}."),
            origin=Origin(report=f"report-{index % 7}"),
            context=self.words("From a survey of small harbours."),
        )
        benchmark = Position(
            label=Label.SUPPORTED,
            rationale=self.words("The report names the harbour."),
            evidence=(Evidence(source=source.id, quote=quote, stance="supports"),),
            qualifications=(
                Qualification(kind="scope", text=self.words("Counts sailing ships and steamers.")),
            ),
        )
        challenger = (
            benchmark
            if control
            else Position(
                label=Label.CONTRADICTORY if index % 2 else Label.INCONCLUSIVE,
                rationale=self.words(self.prose),
                evidence=(
                    Evidence(
                        source=source.id, quote="words that stand nowhere", stance="contradicts"
                    ),
                ),
                contradictions=(
                    Contradiction(disputed=f"{index + 41} ships", source=source.id, quote=quote),
                ),
            )
        )
        flipped = index % 5 == 0
        case = Case(
            id=f"case-{index:04d}",
            claim=claim,
            a=challenger if flipped else benchmark,
            b=benchmark if flipped else challenger,
        )
        key = CaseKey(
            case_id=case.id,
            claim_id=claim.id,
            kind="control" if control else "challenge",
            incumbent="b" if flipped else "a",
            challenger="local",
        )
        accepted = not control and index % 2 == 1
        why = self.words(f"The report says {index + 40}, so the claim is off by one.")
        ruling = Ruling(
            case_id=case.id,
            claim_id=claim.id,
            kind="revise" if accepted else ("unresolved" if index % 4 == 2 else "uphold"),
            label=challenger.label if accepted else (None if index % 4 == 2 else "supported"),
            accepts_challenge=accepted,
            auditors=("anna",),
            reason=why if accepted or index % 4 else " ",
        )
        return case, key, self._revision(claim, case, challenger, why) if accepted else None, ruling

    def _revision(self, claim: Claim, case: Case, position: Position, why: str) -> Revision:
        annotation = Annotation(
            label=position.label,
            rationale=position.rationale,
            qualifications=(Qualification(kind="definition", text=self.words("Ships over 20 t.")),),
            provenance=Provenance(who="anna", when=DAY),
        )
        return Revision(
            kind="relabel",
            claim_id=claim.id,
            who="anna",
            when=DAY,
            why=why,
            case=case.id,
            annotation=annotation,
        )

    def decision(self, key: CaseKey, ruling: Ruling) -> Adjudication:
        other = "a" if key.incumbent == "b" else "b"
        decided = other if ruling.accepts_challenge else key.incumbent
        return Adjudication(
            case_id=key.case_id,
            auditor="anna",
            decision=Decision.CANNOT_TELL if ruling.kind == "unresolved" else decided,
            rationale=self.words(f"I counted the calls myself for {key.claim_id}."),
        )

    def outcome(self, index: int) -> Verdict | VerificationFailure:
        if index % 11 == 5:
            reason = FailureReason.TIMEOUT if index % 2 else FailureReason.NO_SOURCE
            detail = self.words("no answer within 30 s") if index % 2 else ""
            return VerificationFailure(claim_id=f"claim-{index:04d}", reason=reason, detail=detail)
        qualifications = ()
        if index % 11 == 7:
            text = self.words("The method of counting changed later.")
            qualifications = (Qualification(kind="method_change", text=text),)
        label = list(Label)[index % 3]
        return Verdict(claim_id=f"claim-{index:04d}", label=label, qualifications=qualifications)

    def round(self, number: int = 1) -> RoundRecord:
        made = [self.case(i, False) for i in range(1, self.claims, self.stride)]
        made += [
            self.case(i, True) for i in range(2, self.claims, self.stride * 2) if self.stride > 1
        ]
        rulings = [ruling for *_, ruling in made]
        outcomes = tuple(self.outcome(i) for i in range(self.claims))
        failed = sum(isinstance(outcome, VerificationFailure) for outcome in outcomes)
        before, after = f"version {number}", f"version {number + 1}"
        n = self.claims
        keys = (before, after, f"{after} without own accepted challenges")
        scores = [
            sheet(name, on, int((n - failed) * share), n, failed)
            for name, shares in {"local": (0.6, 0.85, 0.7), "overlap": (0.5, 0.55)}.items()
            for on, share in zip(keys, shares, strict=False)
        ]
        auditor = AuditorScore(
            auditor="anna",
            about=self.words("stand-in for a harbour historian"),
            simulated=self.simulated,
            cases=len(made),
            cannot_tell=2,
            microgold=rate(9, 10),
            controls_upheld=rate(4, 5, 1),
        )
        waiting = 2 if self.pending else 0
        return RoundRecord(
            round=number,
            base=self.ref(number),
            result=self.ref(number if self.pending else number + 1),
            challenger="local",
            outcomes=outcomes,
            cases=tuple(case for case, *_ in made),
            keys=tuple(key for _, key, *_ in made),
            adjudications=tuple(self.decision(key, ruling) for _, key, _, ruling in made),
            rulings=tuple(rulings[waiting:]),
            revisions=() if self.pending else tuple(r for *_, r, _ in made if r),
            scores=() if self.pending else tuple(scores),
            auditors=(auditor,),
        )

    def ref(self, version: int) -> VersionRef:
        return VersionRef(
            benchmark="harbours", version=version, state_hash=f"sha256:{version:064x}"
        )

    def record(self, rounds: int = 1) -> RunRecord:
        made = tuple(self.round(number) for number in range(1, rounds + 1))
        options = {
            "model": "m1",
            "api_key": "sk-do-not-show",
            "base": "https://u:pw@example.org/v1",
        }
        return RunRecord(
            name="harbours-round",
            status="pending" if self.pending else "complete",
            deepfact="0.1.0",
            spec=RoundSpec(
                name="harbours-round",
                benchmark="harbours@1",
                challenger=VerifierSpec(kind="local", options=options),
                auditors=("anna",),
            ),
            auditors=(AuditorSpec(name="anna", kind="policy", about="stand-in"),),
            date=DAY,
            rounds=made,
            microgold=tuple(
                MicroGoldScore(of=f"version {v + 1}", accuracy=rate(min(20, 12 + 3 * v), 20))
                for v in range(1 if self.pending else rounds + 1)
            ),
            waiting=tuple(case.id for case in made[0].cases[:2]) if self.pending else (),
            simulated=self.simulated,
        )


@pytest.fixture
def factory() -> type[Factory]:
    """The class that builds synthetic runs."""
    return Factory


def audited(record: RunRecord, seed: int = 0) -> tuple[RunRecord, AuditStats]:
    """The run with a second auditor, ben, who decides at random, and what both did."""
    draw = random.Random(seed)
    rounds, gold = [], {}
    for at, round_ in enumerate(record.rounds):
        gold |= {key.claim_id: Label.SUPPORTED for key in round_.keys[::3]}
        more = [
            Adjudication(
                case_id=case.id, auditor="ben", decision=draw.choice("ab"), seconds=30 + 7.5 * n,
                rationale=f"Ben on {case.id}: {'it is so. ' * draw.randint(1, 60)}",
            )
            for n, case in enumerate(round_.cases)
        ]  # fmt: skip
        made = by_case(round_.cases, [*round_.adjudications, *more])
        ben = round_.auditors[0].model_copy(update={"auditor": "ben", "about": ""})
        rounds.append(
            round_.model_copy(
                update={
                    "challenger": f"{round_.challenger}-{at}",
                    "adjudications": tuple(one for each in made.values() for one in each),
                    "auditors": (*round_.auditors, ben),
                    "agreement": agreement(units_of(round_.cases, made)),
                    "bias": biases(round_.cases, round_.keys, made, gold, ["anna", "ben"]),
                    "policy": PolicySpec(rule="weighted"),
                    "weights": (AuditorWeight(auditor="anna", weight=0.85, accuracy=0.7,
                                              basis="assumed"),),
                }
            )
        )  # fmt: skip
    record = record.model_copy(update={"rounds": tuple(rounds)})
    events = [
        Adjudicated(at=DAY, round=round_.round, adjudication=made)
        for round_ in rounds
        for made in round_.adjudications
    ]
    return record, stats_of(record, events, gold)


@pytest.fixture
def with_ben() -> Callable[..., tuple[RunRecord, AuditStats]]:
    """Adds a second auditor to a run."""
    return audited


def crowded(factory: type[Factory], claims: int, auditors: int) -> tuple[RunRecord, dict[str, Any]]:
    """A round in which each claim is disputed, has a source of its own, long arguments with two
    quotes a side, and several auditors who write as much: more than a page can hold."""
    made = factory(claims=claims, stride=1)
    record = made.record()
    round_ = record.rounds[0]
    prose = "the committee then turned to the dues of that year and found them lower than before "
    cases, decisions, sources = [], [], {}
    for number, case in enumerate(round_.cases):
        source = made.source(
            number, title=f"Annual report {number}", text=f"No {number}. {prose * 40}"
        )
        sources[source.id] = source
        quotes = tuple(
            Evidence(source=source.id, quote=source.text[at : at + 250], stance="supports")
            for at in (0, 600)
        )
        sides = {
            name: Position(label=side.label, rationale=f"Side {name} of {number}: {prose * 7}",
                           evidence=quotes)
            for name, side in (("a", case.a), ("b", case.b))
        }  # fmt: skip
        cases.append(case.model_copy(update=sides))
        decisions += [
            Adjudication(
                case_id=case.id, auditor=f"auditor-{at}", decision="a", evidence=quotes[:1],
                rationale=f"Auditor {at} on {number}: {prose * 7}",
            )
            for at in range(auditors)
        ]  # fmt: skip
    told = by_case(cases, decisions)
    rulings = tuple(
        ruling.model_copy(update={"reason": told[ruling.case_id][0].rationale})
        for ruling in round_.rulings
    )
    changes = {"cases": tuple(cases), "adjudications": tuple(decisions), "rulings": rulings}
    return record.model_copy(update={"rounds": (round_.model_copy(update=changes),)}), sources


@pytest.fixture
def crowd(factory: type[Factory]) -> Callable[[int, int], tuple[RunRecord, dict[str, Any]]]:
    """Builds rounds with more text than a page can hold."""
    return lambda claims, auditors: crowded(factory, claims, auditors)


@pytest.fixture(params=["plain", "hostile", "pending", "empty", "no rounds"])
def any_made(request, factory):
    """Runs of every kind that a report must stand."""
    return {
        "plain": factory(),
        "hostile": factory(hostile=True),
        "pending": factory(pending=True, hostile=True),
        "empty": factory(claims=1),
        "no rounds": factory(claims=0),
    }[request.param], 0 if request.param == "no rounds" else 2


@pytest.fixture
def rendered() -> Callable[[str], str]:
    """What a reader of some Markdown sees, one line a block."""

    def read(text: str) -> str:
        blocks = MarkdownIt("commonmark").enable("table").parse(text)
        inline = [block.children for block in blocks if block.type == "inline"]
        return "\n".join("".join(child.content for child in children) for children in inline)

    return read
