"""The Audit-then-Score loop: verify, challenge, audit, revise, score, again.

`run_rounds` is the loop; what stands below it are its steps. Each outcome and each decision is
in the journal before the loop goes on, so a killed run goes on where it stopped and ends with
the same record, and a run that waits for people is `pending` until their decisions are in.
This module decides nothing itself: cases, rulings and scores are made in `deepfact.core`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deepfact.auditors import base as auditing
from deepfact.core.audit import Docket, argument, open_docket
from deepfact.core.challenge import why_not_evidence
from deepfact.core.revise import revise, rule, sides
from deepfact.core.standing import audit_closed, standing_adjudications
from deepfact.errors import DeepFactError
from deepfact.executors.local import run_verifier
from deepfact.records import Adjudication, Case, Outcome, Revision, Ruling, RulingKind
from deepfact.run_records import (
    Adjudicated,
    Answered,
    AuditClosed,
    AuditorSpec,
    CaseOpened,
    PolicyRule,
    PolicySpec,
    RoundRecord,
    RoundSpec,
    RunRecord,
    SavedSpec,
    VerifierSpec,
    VersionCommitted,
)
from deepfact.running.round_record import RoundDone, finish, round_record
from deepfact.running.run_state import Progress, Run, Stage, Tally, Watcher, open_run
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_record
from deepfact.store.journal import now
from deepfact.verifiers.base import build_verifier


def run_rounds(
    spec: RoundSpec,
    folder: Path,
    *,
    auditors: Sequence[AuditorSpec],
    root: Path | None = None,
    watch: Watcher = lambda _: None,
) -> RunRecord:
    """Run the rounds of a spec, or go on with them.

    Args:
        spec: what to run.
        folder: the run's results folder; it is made, or holds an earlier start of this run.
        auditors: the auditors that the spec names.
        root: the folder that holds benchmarks.
        watch: is told of progress.

    Returns:
        The record, which is also in ``record.json`` with its reports: complete, or pending
        when people have yet to decide.

    Raises:
        InputError: spec, benchmark or folder do not fit; nothing was changed.
    """
    with open_run(spec, folder, auditors, root, watch) as run:
        version, rounds = run.base, list[RoundRecord]()
        for number, stage in enumerate(run.stages, 1):
            outcomes = _ask(run, stage.challenger, version)
            docket = _docket(run, number, stage, version, outcomes, rounds)
            adjudications, waiting = _audit(run, number, stage, docket)
            if waiting:
                return finish(run, rounds, waiting)
            rulings, revisions = _revise(run, stage, version, docket, adjudications)
            after = _commit(run, number, version, revisions)
            others = {spec.label: _ask(run, spec, version) for spec in run.spec.scored}
            done = RoundDone(
                number, stage, version, after, docket, adjudications, rulings, revisions,
                outcomes={**others, stage.challenger.label: outcomes},
            )  # fmt: skip
            rounds.append(round_record(run, done))
            version = after
        return finish(run, rounds)


def resume(folder: Path, *, root: Path | None = None, watch: Watcher = lambda _: None) -> RunRecord:
    """Go on with the run in ``folder``; as `run_rounds`.

    Raises:
        InputError: there is no run there.
    """
    saved = read_record(folder / "spec.json", SavedSpec)
    return run_rounds(saved.spec, folder, auditors=saved.auditors, root=root, watch=watch)


def _ask(run: Run, spec: VerifierSpec, version: BenchmarkVersion) -> dict[str, Outcome]:
    """A verifier's outcome on each claim; those in the journal are not asked for again."""
    known = run.outcomes.setdefault(spec.label, {})
    claims = version.claims
    open_claims = [claim for claim in claims if claim.id not in known]
    done, tally = len(claims) - len(open_claims), Tally()
    step = f"verify: {spec.label}"
    run.watch(Progress(step, done, len(claims)))
    verifier = build_verifier(spec, workspace=run.journal.folder)
    asked = run_verifier(verifier, open_claims, run.context, name=spec.label)
    for outcome in asked if open_claims else ():
        run.journal.append(Answered(at=now(), verifier=spec.label, outcome=outcome))
        known[outcome.claim_id] = outcome
        done += 1
        tally.take(outcome)
        run.watch(tally.progress(step, done, len(claims)))
    return {claim.id: known[claim.id] for claim in claims}


def _docket(
    run: Run,
    number: int,
    stage: Stage,
    version: BenchmarkVersion,
    outcomes: dict[str, Outcome],
    rounds: Sequence[RoundRecord],
) -> Docket:
    """The round's cases, in the journal before anybody sees one."""
    settled = {
        (key.claim_id, argument(sides(case, key)[1]))
        for earlier in rounds
        for case, key, ruling in zip(earlier.cases, earlier.keys, earlier.rulings, strict=True)
        if ruling.kind is not RulingKind.UNRESOLVED
    }
    docket = open_docket(
        list(version.state),
        outcomes,
        run.base.sources,
        challenger=stage.challenger.label,
        round_number=number,
        controls=stage.controls,
        microgold=run.microgold.keys(),
        settled=settled,
        seed=run.spec.seed,
    )
    opened = {event.case.id for event in run.journal.find(CaseOpened, lambda e: e.round == number)}
    for position, case in enumerate(docket.cases):
        if case.id not in opened:
            annotation = version.state.entries[case.claim.id].annotation
            wrote = annotation.provenance.who if annotation else ""
            may = assigned(stage.auditors, stage.policy, position, wrote)
            names = tuple(spec.name for spec in may)
            run.journal.append(CaseOpened(at=now(), round=number, case=case, auditors=names))
    return docket


def _audit(
    run: Run, number: int, stage: Stage, docket: Docket
) -> tuple[dict[str, list[Adjudication]], list[str]]:
    """Adjudications by case, in the order of the auditors; and the cases that wait for people."""
    made = standing_adjudications(run.journal.events)
    opened = run.journal.find(CaseOpened, lambda event: event.round == number)
    by_name = {spec.name: spec for spec in stage.auditors}
    built = {
        spec.name: auditing.build_auditor(spec, sources=run.base.sources, answers=run.store.key)
        for spec in stage.auditors
        if spec.kind != auditing.HUMAN
    }
    decided: dict[str, list[Adjudication]] = {case.id: [] for case in docket.cases}
    waiting: list[str] = []
    for position, event in enumerate(opened):
        run.watch(Progress(f"audit: round {number}", position, len(docket.cases)))
        case = event.case
        names = who_decides(event, position, stage)
        for spec in (by_name[name] for name in names):
            adjudication = made.get((number, case.id, spec.name))
            if adjudication is None and spec.name in built:
                adjudication = _decided(run, built[spec.name], case, spec)
                run.journal.append(Adjudicated(at=now(), round=number, adjudication=adjudication))
            if adjudication is not None:
                decided[case.id].append(adjudication)
        if len(decided[case.id]) < needed(stage.policy, names):
            waiting.append(case.id)
    run.watch(
        Progress(f"audit: round {number}", len(docket.cases) - len(waiting), len(docket.cases))
    )
    if not waiting and not audit_closed(run.journal.events, number):
        run.journal.append(AuditClosed(at=now(), round=number))
    return decided, waiting


def assigned(
    auditors: Sequence[AuditorSpec], policy: PolicySpec, position: int, wrote: str = ""
) -> list[AuditorSpec]:
    """Who may decide the case at ``position`` of the docket: one auditor in turn under the rule
    ``single`` (everybody when they share a queue), else as many as the policy says, in turn, or
    all of them; never a person who wrote the label. If nobody is left, the label stands.

    Args:
        wrote: who wrote the current label, as its annotation has it; several joined by `` + ``.
    """
    writers = wrote.split(" + ")
    may = [spec for spec in auditors if spec.kind != auditing.HUMAN or spec.name not in writers]
    if policy.queue == "shared":
        return may
    count = 1 if policy.rule is PolicyRule.SINGLE else policy.per_case or len(auditors)
    start = position * count % len(auditors)
    turn = [spec for spec in (*auditors[start:], *auditors[:start]) if spec in may][:count]
    return [spec for spec in auditors if spec in turn]


def who_decides(event: CaseOpened, position: int, stage: Stage) -> tuple[str, ...]:
    """Names of those who may decide an open case, the one at ``position`` of its round."""
    if event.auditors is not None:
        return event.auditors
    return tuple(spec.name for spec in assigned(stage.auditors, stage.policy, position))


def needed(policy: PolicySpec, names: Sequence[str]) -> int:
    """How many of those who may decide a case must."""
    return min(1, len(names)) if policy.rule is PolicyRule.SINGLE else len(names)


def _decided(run: Run, auditor: auditing.Auditor, case: Case, spec: AuditorSpec) -> Adjudication:
    """An auditor's answer, about the case it was asked about; quotes that are in no source do
    not count as its evidence, and a note says so.

    Raises:
        DeepFactError: the auditor failed; what was decided is kept, and the run can be resumed.
    """
    try:
        made = auditor.adjudicate(case)
    except DeepFactError:
        raise
    except Exception as error:
        what = f"auditor {spec.name!r} failed: {type(error).__name__}: {error}"
        raise DeepFactError(what, where=f"case {case.id}") from error
    if made.case_id != case.id:
        raise DeepFactError(
            f"auditor {spec.name!r} answered about case {made.case_id!r}", where=case.id
        )
    problems = {
        quote: why_not_evidence(quote.source, quote.quote, run.base.sources)
        for quote in made.evidence
    }
    left_out = [f"left out: {problem}" for problem in problems.values() if problem]
    return made.model_copy(
        update={
            "auditor": spec.name,
            "evidence": tuple(quote for quote, problem in problems.items() if not problem),
            "notes": "\n".join(filter(None, [made.notes, *left_out])),
        }
    )


def _revise(
    run: Run,
    stage: Stage,
    version: BenchmarkVersion,
    docket: Docket,
    adjudications: dict[str, list[Adjudication]],
) -> tuple[list[Ruling], list[Revision]]:
    """What policy makes of the adjudications."""
    rulings = [
        rule(case, key, adjudications[case.id], stage.policy)
        for case, key in zip(docket.cases, docket.keys, strict=True)
    ]
    revisions = revise(
        docket.cases,
        docket.keys,
        rulings,
        adjudications,
        version.state.entries,
        run=run.spec.name,
        when=run.date,
    )
    return rulings, revisions


def _commit(
    run: Run, number: int, version: BenchmarkVersion, revisions: Sequence[Revision]
) -> BenchmarkVersion:
    """The version that the revisions make, or the same one when there are none."""
    if not revisions:
        return version
    after = run.store.commit(
        revisions,
        parent=version.manifest.version,
        author=f"round {run.spec.name}",
        date=run.date,
        note=f"Round {number} of {run.spec.name}: {len(revisions)} labels revised",
    )
    if not run.journal.find(VersionCommitted, lambda event: event.round == number):
        run.journal.append(
            VersionCommitted(
                at=now(),
                round=number,
                version=after.manifest.version,
                state_hash=after.manifest.state_hash,
            )
        )
    return after
