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
from deepfact.auditors.specs import barred, panels_of
from deepfact.core.audit import Docket, argument, open_docket
from deepfact.core.policy import rule_all
from deepfact.core.revise import revise, sides
from deepfact.core.sitting import sittings
from deepfact.core.standing import audit_closed
from deepfact.errors import BenchmarkError
from deepfact.executors.base import Executor
from deepfact.records import Adjudication, Outcome, Revision, Ruling, RulingKind
from deepfact.run_records import (
    Answered,
    AuditClosed,
    AuditorSpec,
    AuditorWeight,
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
from deepfact.running.asking import ask_claims
from deepfact.running.hearing import Hearing
from deepfact.running.round_record import RoundDone, finish, round_record
from deepfact.running.run_state import Progress, Run, Stage, Tally, Watcher, open_run
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_record
from deepfact.store.journal import now
from deepfact.telemetry import scope
from deepfact.verifiers.base import build_verifier


def run_rounds(
    spec: RoundSpec,
    folder: Path,
    *,
    auditors: Sequence[AuditorSpec],
    root: Path | None = None,
    watch: Watcher = lambda _: None,
    executor: Executor | None = None,
) -> RunRecord:
    """Run the rounds of a spec, or go on with them.

    Args:
        spec: what to run.
        folder: the run's results folder; it is made, or holds an earlier start of this run.
        auditors: the auditors that the spec names.
        root: the folder that holds benchmarks.
        watch: is told of progress.
        executor: where verifiers are asked; in this process when left out. Auditors always are.

    Returns:
        The record, which is also in ``record.json`` with its reports: complete, or pending
        when people have yet to decide.

    Raises:
        InputError: spec, benchmark or folder do not fit; nothing was changed.
    """
    with (
        open_run(spec, folder, auditors, root, watch) as run,
        scope("run", spec.name, loop="round"),
    ):
        version, rounds = run.base, list[RoundRecord]()
        for number, stage in enumerate(run.stages, 1):
            with scope("round", str(number)):
                outcomes = _ask(run, stage.challenger, version, executor)
                docket = _docket(run, number, stage, version, outcomes, rounds)
                adjudications, waiting = _audit(run, number, stage)
                if waiting:
                    return finish(run, rounds, waiting)
                rulings, weights, revisions = _revise(
                    run, number, stage, version, docket, adjudications, rounds
                )
                after = _commit(run, number, version, revisions)
                others = {one.label: _ask(run, one, version, executor) for one in run.spec.scored}
                done = RoundDone(
                    number, stage, version, after, docket, adjudications, rulings, revisions,
                    outcomes={**others, stage.challenger.label: outcomes}, weights=weights,
                )  # fmt: skip
                rounds.append(round_record(run, done))
                version = after
        return finish(run, rounds)


def resume(
    folder: Path,
    *,
    root: Path | None = None,
    watch: Watcher = lambda _: None,
    executor: Executor | None = None,
) -> RunRecord:
    """Go on with the run in ``folder``; as `run_rounds`.

    Raises:
        InputError: there is no run there.
    """
    saved = read_record(folder / "spec.json", SavedSpec)
    return run_rounds(
        saved.spec, folder, auditors=saved.auditors, root=root, watch=watch, executor=executor
    )


def _ask(
    run: Run, spec: VerifierSpec, version: BenchmarkVersion, executor: Executor | None
) -> dict[str, Outcome]:
    """A verifier's outcome on each claim; those in the journal are not asked for again."""
    known = run.outcomes.setdefault(spec.label, {})
    claims = version.claims
    open_claims = [claim for claim in claims if claim.id not in known]
    done, tally = len(claims) - len(open_claims), Tally()
    step = f"verify: {spec.label}"
    run.watch(Progress(step, done, len(claims)))
    verifier = build_verifier(spec, workspace=run.journal.folder)

    def take(outcome: Outcome) -> None:
        nonlocal done
        run.journal.append(Answered(at=now(), verifier=spec.label, outcome=outcome))
        known[outcome.claim_id] = outcome
        tally.take(outcome)
        done += 1
        run.watch(tally.progress(step, done, len(claims)))

    with scope("verifier", spec.label):
        if open_claims:
            ask_claims(
                verifier, spec, open_claims, run.context, take,
                among=claims, workspace=run.journal.folder, executor=executor,
            )  # fmt: skip
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
    begun = run.journal.find(CaseOpened, lambda event: event.round == number)
    opened = {event.case.id: event.case.claim.id for event in begun}
    if opened != {case.id: case.claim.id for case in docket.cases[: len(opened)]}:
        raise BenchmarkError(
            f"round {number} would have other cases now than those that are before its auditors",
            where=str(run.journal.folder),
            fix="the micro-gold key was changed since they were opened: put it back as it was",
        )
    for position, case in enumerate(docket.cases):
        if case.id not in opened:
            annotation = version.state.entries[case.claim.id].annotation
            wrote = annotation.provenance.who if annotation else ""
            may = assigned(stage.auditors, stage.policy, position, wrote)
            run.journal.append(
                CaseOpened(
                    at=now(),
                    round=number,
                    case=case,
                    auditors=tuple(spec.name for spec in may),
                    barred=barred(stage.auditors, wrote),
                )
            )
    return docket


def _audit(run: Run, number: int, stage: Stage) -> tuple[dict[str, list[Adjudication]], list[str]]:
    """Adjudications by case, in the order of the auditors; and the cases that wait for people."""
    panels = panels_of(stage.auditors)
    events = run.journal.events
    heard = sittings(events, number, panels, lambda event, at: who_decides(event, at, stage))
    hearing = Hearing(run, number, stage, heard)
    waiting = hearing.hold()
    if not waiting and not audit_closed(events, number):
        hearing.close()
        run.journal.append(AuditClosed(at=now(), round=number))
    run.watch(Progress(f"audit: round {number}", len(heard) - len(waiting), len(heard)))
    decided = {one.case.id: list(one.standing().values()) for one in heard}
    return decided, waiting


def assigned(
    auditors: Sequence[AuditorSpec], policy: PolicySpec, position: int, wrote: str = ""
) -> list[AuditorSpec]:
    """Who may decide the case at ``position`` of the docket: one auditor in turn under the rule
    ``single`` (everybody when they share a queue), else as many as the policy says, in turn, or
    all of them, and whoever breaks ties; never a person who wrote the label. If nobody is left,
    the label stands.

    Args:
        wrote: who wrote the current label, as its annotation has it; several joined by `` + ``.
    """
    writers = wrote.split(" + ")
    may = [spec for spec in auditors if spec.kind != auditing.HUMAN or spec.name not in writers]
    if policy.queue == "shared":
        return may
    voters = [spec for spec in auditors if spec.name != policy.tie_breaker]
    count = 1 if policy.rule is PolicyRule.SINGLE else policy.per_case or len(voters)
    start = position * count % len(voters)
    turn = [spec for spec in (*voters[start:], *voters[:start]) if spec in may][:count]
    return [spec for spec in may if spec in turn or spec.name == policy.tie_breaker]


def who_decides(event: CaseOpened, position: int, stage: Stage) -> tuple[str, ...]:
    """Names of those who may decide an open case, the one at ``position`` of its round."""
    if event.auditors is not None:
        return event.auditors
    return tuple(spec.name for spec in assigned(stage.auditors, stage.policy, position))


def _revise(
    run: Run,
    number: int,
    stage: Stage,
    version: BenchmarkVersion,
    docket: Docket,
    adjudications: dict[str, list[Adjudication]],
    rounds: Sequence[RoundRecord],
) -> tuple[list[Ruling], tuple[AuditorWeight, ...], list[Revision]]:
    """What policy makes of the adjudications."""
    rulings, weights = rule_all(
        number,
        docket.cases,
        docket.keys,
        adjudications,
        stage.policy,
        [spec.name for spec in stage.auditors],
        microgold=run.microgold_labels,
        earlier=rounds,
    )
    revisions = revise(
        docket.cases,
        docket.keys,
        rulings,
        adjudications,
        version.state.entries,
        run=run.spec.name,
        when=run.date,
    )
    return rulings, weights, revisions


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
