"""What a transfer run comes to: its bars and findings, out of answers and decisions. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deepfact.auditors.specs import is_simulated
from deepfact.core.metrics import score
from deepfact.core.policy import rule_all
from deepfact.core.revise import sides
from deepfact.core.transfer import Settled, TransferDocket, bar, settle
from deepfact.records import Adjudication, Ruling, VerificationFailure
from deepfact.run_records import RunStatus
from deepfact.transfer.data import DataSet, withheld
from deepfact.transfer.opening import Transfer
from deepfact.transfer_records import Bar, CaseFinding, TransferRecord
from deepfact.version import VERSION


def concluded(
    transfer: Transfer,
    docket: TransferDocket,
    adjudications: Mapping[str, Sequence[Adjudication]],
    waiting: Sequence[str],
) -> TransferRecord:
    """The record of a run.

    Args:
        transfer: the run.
        docket: its cases.
        adjudications: that stand, by case.
        waiting: ids of the cases that people have yet to decide.
    """
    run, saved = transfer.run, transfer.saved
    decided = [at for at, case in enumerate(docket.cases) if case.id not in waiting]
    rulings, _ = rule_all(
        1,
        [docket.cases[at] for at in decided],
        [docket.keys[at] for at in decided],
        adjudications,
        saved.spec.policy,
        [auditor.name for auditor in run.auditors],
        microgold={},
    )
    by_case = {ruling.case_id: ruling for ruling in rulings}
    settled = [
        settle(case, key, by_case.get(case.id), adjudications[case.id])
        for case, key in zip(docket.cases, docket.keys, strict=True)
    ]
    return TransferRecord(
        name=saved.spec.name,
        status=RunStatus.PENDING if waiting else RunStatus.COMPLETE,
        deepfact=VERSION,
        spec=saved.spec,
        auditors=saved.auditors,
        date=saved.date,
        data_sets=saved.data_sets,
        bars=tuple(
            _bar(transfer, one, verifier.label, docket, settled)
            for one in transfer.data_sets
            for verifier in saved.spec.verifiers
        ),
        findings=_findings(transfer, docket, settled, rulings),
        cases=docket.cases,
        keys=docket.keys,
        adjudications=tuple(made for case in docket.cases for made in adjudications[case.id]),
        rulings=tuple(rulings),
        failures=tuple(
            outcome.model_copy(update={"claim_id": one.id_of(claim_id)})
            for one in transfer.data_sets
            for verifier in saved.spec.verifiers
            for claim_id, outcome in transfer.outcomes[one.spec.name, verifier.label].items()
            if isinstance(outcome, VerificationFailure)
        ),
        withheld=sum(
            withheld(one, entry.annotation)
            for one in transfer.data_sets
            for entry in one.entries
            if entry.annotation
        ),
        waiting=tuple(waiting),
        simulated=any(is_simulated(auditor) for auditor in run.auditors),
    )


def _bar(
    transfer: Transfer,
    one: DataSet,
    verifier: str,
    docket: TransferDocket,
    settled: Sequence[Settled],
) -> Bar:
    """One verifier on one data set."""
    outcomes = transfer.outcomes[one.spec.name, verifier]
    sheet = score(one.key, outcomes, verifier=verifier, on=one.spec.name, reports=one.reports)
    own = {one.id_of(claim_id): claim_id for claim_id in outcomes}
    disagreements = {
        own[case.claim.id]: found
        for case, by, found in zip(docket.cases, docket.verifiers, settled, strict=True)
        if verifier in by and case.claim.id in own
    }
    return bar(one.spec.name, verifier, outcomes, disagreements, sheet)


def _findings(
    transfer: Transfer,
    docket: TransferDocket,
    settled: Sequence[Settled],
    rulings: Sequence[Ruling],
) -> tuple[CaseFinding, ...]:
    place = {
        one.id_of(entry.claim.id): (one.spec.name, entry.claim.id)
        for one in transfer.data_sets
        for entry in one.entries
    }
    decided = {ruling.case_id: ruling.label for ruling in rulings}
    found = []
    for case, key, by, what in zip(
        docket.cases, docket.keys, docket.verifiers, settled, strict=True
    ):
        annotation, verdict = sides(case, key)
        data_set, claim_id = place[case.claim.id]
        found.append(
            CaseFinding(
                case_id=case.id,
                data_set=data_set,
                claim_id=claim_id,
                verifiers=by,
                finding=what.finding,
                kind=what.kind,
                annotation=annotation.label,
                verdict=verdict.label,
                decided=decided.get(case.id),
            )
        )
    return tuple(found)
