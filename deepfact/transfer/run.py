"""The transfer loop: verify, compare with public labels, audit what disagrees, say whose error.

`run_transfer` is the loop. Every answer and decision is in the journal before it counts, so a
killed run goes on where it stopped, and one that waits for people is pending. Cases are put before
the auditors of rounds, by the same pages and files; nobody's labels are changed. What a decision
comes to is worked out in `deepfact.core.transfer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deepfact.auditors.specs import barred, panels_of
from deepfact.core.sitting import sittings
from deepfact.core.standing import audit_closed
from deepfact.core.transfer import TransferDocket, open_disagreements
from deepfact.errors import BenchmarkError
from deepfact.executors.local import run_verifier
from deepfact.records import Adjudication, Outcome
from deepfact.reports.transfer_report import write_reports
from deepfact.round import assigned
from deepfact.run_records import Answered, AuditClosed, AuditorSpec, CaseOpened, VerifierSpec
from deepfact.running.hearing import Hearing
from deepfact.running.run_state import Progress, Tally, Watcher
from deepfact.store.journal import now
from deepfact.telemetry import scope
from deepfact.transfer.concluding import concluded
from deepfact.transfer.data import DataSet
from deepfact.transfer.opening import Transfer, open_transfer
from deepfact.transfer_records import TransferRecord, TransferSpec
from deepfact.verifiers.base import build_verifier


def run_transfer(
    spec: TransferSpec,
    folder: Path,
    *,
    auditors: Sequence[AuditorSpec],
    root: Path | None = None,
    watch: Watcher = lambda _: None,
) -> TransferRecord:
    """Run a transfer, or go on with it.

    Args:
        spec: which verifiers, on which data sets, and who decides.
        folder: its results folder; it is made, or holds an earlier start of this run.
        auditors: those that the spec names.
        root: the folder that holds benchmarks.
        watch: is told of progress.

    Returns:
        The record, which is also in ``record.json`` with its reports: complete, or pending when
        people have yet to decide.

    Raises:
        InputError: something does not fit; nobody was asked.
        RunIncomplete: answers of a model are missing; running it again goes on.
    """
    with (
        open_transfer(spec, folder, auditors, root, watch) as transfer,
        scope("run", spec.name, loop="transfer"),
    ):
        for data_set in transfer.data_sets:
            for verifier in spec.verifiers:
                with scope("verifier", f"{verifier.label} on {data_set.spec.name}"):
                    _ask(transfer, data_set, verifier)
        docket = _docket(transfer)
        adjudications, waiting = _audit(transfer)
        record = concluded(transfer, docket, adjudications, waiting)
        write_reports(record, folder)
        return record


def _ask(transfer: Transfer, data_set: DataSet, verifier: VerifierSpec) -> None:
    """A verifier's outcome on each claim of a data set; what the journal has is not asked for."""
    run, name = transfer.run, f"{verifier.label} on {data_set.spec.name}"
    known = {
        event.outcome.claim_id: event.outcome
        for event in run.journal.find(Answered, lambda event: event.verifier == name)
    }
    ids = [entry.claim.id for entry in data_set.entries]
    done, tally = len(known), Tally()
    run.watch(Progress(f"verify: {name}", done, len(ids)))
    if done < len(ids):
        claims = data_set.asked
        missing = [claim for claim in claims if claim.id not in known]
        built = build_verifier(verifier, workspace=run.journal.folder)
        for outcome in run_verifier(
            built, missing, data_set.context, name=verifier.label, among=claims
        ):
            run.journal.append(Answered(at=now(), verifier=name, outcome=outcome))
            known[outcome.claim_id] = outcome
            done += 1
            tally.take(outcome)
            run.watch(tally.progress(f"verify: {name}", done, len(ids)))
    transfer.outcomes[data_set.spec.name, verifier.label] = {i: known[i] for i in ids}


def _combined(transfer: Transfer) -> dict[str, dict[str, Outcome]]:
    """All outcomes by verifier, then by the claim's id in the run's benchmark."""
    found: dict[str, dict[str, Outcome]] = {}
    for data_set in transfer.data_sets:
        for verifier in transfer.saved.spec.verifiers:
            given = transfer.outcomes[data_set.spec.name, verifier.label]
            found.setdefault(verifier.label, {}).update(
                {data_set.id_of(claim_id): outcome for claim_id, outcome in given.items()}
            )
    return found


def _docket(transfer: Transfer) -> TransferDocket:
    """The run's cases, in the journal before anybody sees one."""
    run, spec = transfer.run, transfer.saved.spec
    docket = open_disagreements(list(run.base.state), _combined(transfer), seed=spec.seed)
    opened = [event.case for event in run.journal.find(CaseOpened)]
    if opened != list(docket.cases[: len(opened)]):
        raise BenchmarkError(
            "the cases in this folder are not those of its answers", where=str(run.journal.folder)
        )
    for position, case in enumerate(docket.cases[len(opened) :], len(opened)):
        annotation = run.base.state.entries[case.claim.id].annotation
        wrote = annotation.provenance.who if annotation else ""
        may = assigned(run.auditors, spec.policy, position, wrote)
        run.journal.append(
            CaseOpened(
                at=now(),
                round=1,
                case=case,
                auditors=tuple(auditor.name for auditor in may),
                barred=barred(run.auditors, wrote),
            )
        )
    return docket


def _audit(transfer: Transfer) -> tuple[dict[str, list[Adjudication]], list[str]]:
    """Adjudications by case, and the cases that wait for people."""
    run = transfer.run
    heard = sittings(
        run.journal.events, 1, panels_of(run.auditors), lambda event, _: event.auditors or ()
    )
    hearing = Hearing(run, 1, run.stages[0], heard)
    waiting = hearing.hold()
    if not waiting and not audit_closed(run.journal.events, 1):
        hearing.close()
        run.journal.append(AuditClosed(at=now(), round=1))
    run.watch(Progress("audit", len(heard) - len(waiting), len(heard)))
    return {one.case.id: list(one.standing().values()) for one in heard}, waiting
