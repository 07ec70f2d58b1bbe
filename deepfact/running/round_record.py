"""What a round leaves for its record: everybody's scores, measured after the fact.

The only place of a round that reads keys. Nothing here flows back into cases or rulings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepfact.auditors import base as auditing
from deepfact.core import metrics
from deepfact.core.audit import Docket
from deepfact.core.revise import decided_label, sides
from deepfact.records import Adjudication, CaseKind, Label, Outcome, Revision, Ruling
from deepfact.reports.write import write_reports
from deepfact.run_records import (
    AuditorScore,
    AuditorSpec,
    MicroGoldScore,
    RoundRecord,
    RunRecord,
    RunStatus,
    ScoreSheet,
)
from deepfact.running.run_state import Run, Stage
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


def round_record(run: Run, done: RoundDone) -> RoundRecord:
    """Everything the round did, with everybody's scores."""
    challenger = done.stage.challenger.label
    own = {ruling.claim_id for ruling in done.rulings if ruling.accepts_challenge}
    scores = _scores(run, challenger, done, own)
    for verifier in done.outcomes:
        if verifier != challenger:
            scores += _scores(run, verifier, done, set())
    adjudications, cases = done.adjudications, done.docket.cases
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
            _auditor_score(run, auditor, done.docket, adjudications)
            for auditor in done.stage.auditors
        ),
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
        rounds=tuple(rounds),
        microgold=tuple(microgold_curve(run, rounds)),
        waiting=tuple(waiting),
        simulated=any(auditor.kind == auditing.SIMULATED for auditor in run.auditors),
    )
    write_text(run.journal.folder / "record.json", record.model_dump_json(indent=1) + "\n")
    write_reports(record, run.journal.folder, run.base.sources)
    if record.status is RunStatus.COMPLETE and run.spec.commit_to == "run":
        for path in sorted(run.store.keys.glob("*.jsonl")):
            write_text(run.store.folder / "keys" / path.name, read_text(path))
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


def _auditor_score(
    run: Run, spec: AuditorSpec, docket: Docket, adjudications: dict[str, list[Adjudication]]
) -> AuditorScore:
    """What an auditor did, measured on micro-gold and on controls."""
    cases = cannot_tell = gold = gold_right = controls = upheld = 0
    for case, key in zip(docket.cases, docket.keys, strict=True):
        for adjudication in adjudications[case.id]:
            if adjudication.auditor != spec.name:
                continue
            label = decided_label(case, adjudication)
            cases += 1
            cannot_tell += label is None
            if entry := run.microgold.get(key.claim_id):
                gold += 1
                gold_right += label == entry.label
            if key.kind is CaseKind.CONTROL:
                controls += 1
                upheld += label == sides(case, key)[0].label
    return AuditorScore(
        auditor=spec.name,
        about=spec.about,
        simulated=spec.kind == auditing.SIMULATED,
        cases=cases,
        cannot_tell=cannot_tell,
        microgold=metrics.rate(gold_right, gold),
        controls_upheld=metrics.rate(upheld, controls),
    )
