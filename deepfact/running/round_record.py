"""What a round leaves for its record: everybody's scores, measured after the fact.

The only place of a round that reads keys. Nothing here flows back into cases or rulings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepfact.auditors.specs import PANEL, everybody, is_simulated, judges_itself
from deepfact.core import metrics
from deepfact.core.agreement import agreement, units_of
from deepfact.core.audit import Docket
from deepfact.core.bias import biases
from deepfact.core.revise import decided_label, sides
from deepfact.records import Adjudication, CaseKind, Label, Outcome, Revision, Ruling
from deepfact.reports.write import write_reports
from deepfact.run_records import (
    AuditorScore,
    AuditorSpec,
    AuditorWeight,
    MicroGoldScore,
    RoundRecord,
    RunRecord,
    RunStatus,
    ScoreSheet,
)
from deepfact.running.annotators import annotator_scores
from deepfact.running.audit_stats import stats_of
from deepfact.running.run_state import Run, Stage
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_text, write_text
from deepfact.version import VERSION


@dataclass(frozen=True, slots=True)
class RoundDone:
    """What a round did, step by step, before it is measured."""

    number: int
    stage: Stage
    before: BenchmarkVersion
    after: BenchmarkVersion
    docket: Docket
    adjudications: dict[str, list[Adjudication]]
    rulings: list[Ruling]
    revisions: list[Revision]
    outcomes: dict[str, dict[str, Outcome]]
    """By verifier name and claim id: the challenger's and those of the verifiers scored with it."""
    weights: tuple[AuditorWeight, ...] = ()
    """What each auditor's vote weighed, under the rule ``weighted``."""


def round_record(run: Run, done: RoundDone) -> RoundRecord:
    """Everything the round did, with everybody's scores."""
    challenger = done.stage.challenger.label
    own = {ruling.claim_id for ruling in done.rulings if ruling.accepts_challenge}
    scores = _scores(run, challenger, done, own)
    for verifier in done.outcomes:
        if verifier != challenger:
            scores += _scores(run, verifier, done, set())
    adjudications, cases = done.adjudications, done.docket.cases
    auditors = [spec.name for spec in done.stage.auditors]
    return RoundRecord(
        round=done.number,
        base=done.before.ref,
        result=done.after.ref,
        challenger=challenger,
        outcomes=tuple(done.outcomes[challenger].values()),
        inadmissible=done.docket.inadmissible,
        repeated=done.docket.repeated,
        cases=cases,
        keys=done.docket.keys,
        adjudications=tuple(made for case in cases for made in adjudications[case.id]),
        rulings=tuple(done.rulings),
        revisions=tuple(done.revisions),
        scores=tuple(scores),
        auditors=tuple(
            _auditor_score(run, done, auditor, panel)
            for top in done.stage.auditors
            for auditor, panel in _seats(top)
        ),
        policy=done.stage.policy,
        weights=done.weights,
        agreement=agreement(units_of(cases, adjudications), seed=run.spec.seed),
        bias=biases(cases, done.docket.keys, adjudications, run.microgold_labels, auditors),
        annotators=tuple(annotator_scores(done.after.state, run.microgold)),
    )


def finish(run: Run, rounds: Sequence[RoundRecord], waiting: Sequence[str] = ()) -> RunRecord:
    """The record of the run as it stands, written with its reports."""
    record = RunRecord(
        name=run.spec.name,
        status=RunStatus.PENDING if waiting else RunStatus.COMPLETE,
        deepfact=VERSION,
        spec=run.spec,
        auditors=run.auditors,
        date=run.date,
        rounds=tuple(
            round_.model_copy(update={"annotators": ()}) if waiting else round_ for round_ in rounds
        ),
        microgold=tuple(microgold_curve(run, rounds)),
        waiting=tuple(waiting),
        simulated=any(map(is_simulated, run.auditors)),
    )
    write_text(run.journal.folder / "record.json", record.model_dump_json(indent=1) + "\n")
    stats = stats_of(record, run.journal.events, run.microgold_labels)
    write_reports(record, run.journal.folder, run.base.sources, stats)
    if record.status is RunStatus.COMPLETE and run.spec.commit_to == "run":
        for path in sorted(run.store.keys.glob("*.jsonl")):
            write_text(run.store.folder / "keys" / path.name, read_text(path))
            seal.record(
                run.store.folder,
                who=f"round {run.spec.name}",
                when=run.date,
                why="the benchmark's own key, copied when the run was complete",
                only=[f"keys/{path.name}"],
            )
    return record


def microgold_curve(run: Run, rounds: Sequence[RoundRecord]) -> Iterator[MicroGoldScore]:
    """How much of micro-gold each version of the run has right, oldest first."""
    if not run.microgold:
        return
    numbers = [run.base.manifest.version]
    numbers += [r.result.version for r in rounds if r.result.version != r.base.version]
    for number in numbers:
        entries = run.store.load(number).state.entries
        known = [entry for entry in run.microgold.values() if entry.claim_id in entries]
        right = sum(entries[entry.claim_id].label == entry.label for entry in known)
        yield MicroGoldScore(of=f"version {number}", accuracy=metrics.rate(right, len(known)))


def _scores(run: Run, verifier: str, done: RoundDone, own: set[str]) -> list[ScoreSheet]:
    """A verifier on the version before, on the one after, and on the latter without the claims
    whose label it changed itself."""
    before, after = done.before, done.after
    keys = {
        f"version {before.manifest.version}": _labels(before),
        f"version {after.manifest.version}": _labels(after),
    }
    if own:
        name = f"version {after.manifest.version} without own accepted challenges"
        labels = _labels(after)
        keys[name] = {claim_id: labels[claim_id] for claim_id in labels if claim_id not in own}
    reports = {claim.id: claim.report for claim in before.claims}
    return [
        metrics.score(
            key,
            done.outcomes[verifier],
            verifier=verifier,
            on=name,
            reports=reports,
            strata=run.strata,
            seed=run.spec.seed,
        )
        for name, key in keys.items()
    ]


def _labels(version: BenchmarkVersion) -> dict[str, Label]:
    return {entry.claim.id: entry.label for entry in version.state if entry.label}


def _seats(spec: AuditorSpec) -> list[tuple[AuditorSpec, str]]:
    """An auditor of the round, then the members of a panel with its name."""
    members = everybody([spec]) if spec.kind == PANEL else ()
    return [(spec, ""), *((member, spec.name) for member in members)]


def _auditor_score(run: Run, done: RoundDone, spec: AuditorSpec, panel: str) -> AuditorScore:
    """What an auditor did, on its own or on a panel, measured on micro-gold and on controls."""
    cases = cannot_tell = gold = gold_right = controls = upheld = 0
    for case, key in zip(done.docket.cases, done.docket.keys, strict=True):
        for adjudication in _made_by(spec.name, panel, done.adjudications[case.id]):
            label = decided_label(case, adjudication)
            cases += 1
            cannot_tell += label is None
            if entry := run.microgold.get(key.claim_id):
                gold += 1
                gold_right += label == entry.label
            if key.kind is CaseKind.CONTROL:
                controls += 1
                upheld += label == sides(case, key)[0].label
    verifiers = (done.stage.challenger, *run.spec.scored)
    return AuditorScore(
        auditor=spec.name,
        about=spec.about,
        simulated=is_simulated(spec),
        cases=cases,
        cannot_tell=cannot_tell,
        microgold=metrics.rate(gold_right, gold),
        controls_upheld=metrics.rate(upheld, controls),
        panel=panel,
        own_model=any(judges_itself(spec, verifier) for verifier in verifiers),
    )


def _made_by(name: str, panel: str, adjudications: Sequence[Adjudication]) -> list[Adjudication]:
    """An auditor's decisions on a case: of the round, or inside those of its panel."""
    if not panel:
        return [made for made in adjudications if made.auditor == name]
    return [
        member
        for made in adjudications
        if made.auditor == panel and made.deliberation is not None
        for member in made.deliberation.members
        if member.auditor == name
    ]
