"""The cross-audit: each agent alone, then each agent's challenges before each auditor.

A pair is an ordinary round (`deepfact.round`) in a folder of its own, on the claims of the key: so
cases are blind, quotes are checked, decisions are durable, and a killed cross-audit goes on where
it stopped. Verdicts are asked for once per agent and handed to all its pairs; what earlier runs
hold is not asked for at all. An auditor's own model is left out unless the spec allows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deepfact.auditors.specs import is_simulated, judges_itself, people
from deepfact.core import metrics
from deepfact.core.audit import open_docket
from deepfact.core.compare import mean_change
from deepfact.core.revise import decided_label
from deepfact.core.standing import standing_adjudications
from deepfact.crossaudit.claims import cut_down
from deepfact.crossaudit.stored import Stored, read_stored
from deepfact.crossaudit_records import (
    CrossAuditRecord,
    CrossAuditSpec,
    PairScore,
    SavedCrossAudit,
    SoloScore,
)
from deepfact.errors import ConfigError, ResultsExistError
from deepfact.executors.local import run_verifier
from deepfact.measure_records import Rate
from deepfact.records import KeyEntry, Label, Outcome, Verdict
from deepfact.round import run_rounds
from deepfact.run_records import (
    Adjudicated,
    Answered,
    AuditorSpec,
    ControlSpec,
    PolicySpec,
    RoundRecord,
    RoundSpec,
    RunRecord,
    RunStatus,
    VerifierSpec,
)
from deepfact.running.run_state import Progress, Run, Tally, Watcher, open_run
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_record, write_text
from deepfact.store.journal import Journal, now
from deepfact.store.locate import load_version
from deepfact.verifiers.base import Context, build_verifier
from deepfact.version import VERSION

NO_CONTROLS = ControlSpec(agreed=0, microgold=0)


@dataclass
class CrossAudit:
    """A cross-audit in progress."""

    spec: CrossAuditSpec
    auditors: tuple[AuditorSpec, ...]
    folder: Path
    version: BenchmarkVersion
    """Cut down to the claims of the key."""
    stored: Stored
    watch: Watcher
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    """By agent and claim id."""
    key: dict[str, KeyEntry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.key = self.version.store.key(self.spec.key)


def run_crossaudit(
    spec: CrossAuditSpec,
    folder: Path,
    *,
    auditors: Sequence[AuditorSpec],
    root: Path | None = None,
    watch: Watcher = lambda _: None,
) -> CrossAuditRecord:
    """Run a cross-audit, or go on with it.

    Args:
        spec: who audits whom.
        folder: its results folder; it is made, or holds an earlier start of this cross-audit.
        auditors: those that the spec names.
        root: the folder that holds benchmarks.
        watch: is told of progress.

    Raises:
        InputError: something does not fit; nobody was asked.
        RunIncomplete: answers of a model are missing; running it again goes on.
    """
    check(spec, auditors)
    original = load_version(spec.benchmark, root)
    stored = read_stored([Path(one) for one in spec.stored], root)
    saved = SavedCrossAudit(spec=spec, auditors=tuple(auditors))
    check_folder(folder, saved)
    with Journal(folder) as journal:
        check_folder(folder, saved)
        if not (folder / "spec.json").is_file():
            write_text(folder / "spec.json", saved.model_dump_json(indent=1) + "\n")
        version = cut_down(original, spec, benchmark_folder(folder, original))
        run = CrossAudit(spec, tuple(auditors), folder, version, stored, watch)
        for agent in spec.agents:
            run.outcomes[agent.label] = _verdicts(run, journal, agent)
        pairs = [_pair(run, auditor, agent) for agent in spec.agents for auditor in run.auditors]
    labels = {entry.claim.id: entry.label for entry in version.state}
    right = sum(label == run.key[claim_id].label for claim_id, label in labels.items())
    return CrossAuditRecord(
        name=spec.name,
        deepfact=VERSION,
        spec=spec,
        auditors=run.auditors,
        benchmark=original.ref,
        claims=len(labels),
        labels=metrics.rate(right, len(labels)),
        solo=tuple(_solo(run, agent) for agent in spec.agents),
        pairs=tuple(pairs),
        simulated=any(is_simulated(auditor) for auditor in run.auditors),
    )


def benchmark_folder(folder: Path, version: BenchmarkVersion) -> Path:
    """Where a cross-audit keeps the claims of the key."""
    return folder / "benchmarks" / version.store.name


def check(spec: CrossAuditSpec, auditors: Sequence[AuditorSpec]) -> None:
    """Refuse what cannot be carried out, before anything is written.

    Raises:
        ConfigError: a person among the auditors, or a verifier that cannot be built.
    """
    for auditor in auditors:
        if waiting := people([auditor]):
            raise ConfigError(
                f"{waiting[0].name!r} is a person, whom a cross-audit cannot ask",
                fix="run a round with them, and name models or other programs here",
            )
    for agent in spec.agents:
        build_verifier(agent)


def check_folder(folder: Path, saved: SavedCrossAudit) -> None:
    """Refuse a results folder that is not free and not this cross-audit's.

    Raises:
        ResultsExistError: it holds something else.
    """
    if folder.exists() and not folder.is_dir():
        raise ResultsExistError("this is a file, not a folder", where=str(folder))
    path = folder / "spec.json"
    if path.is_file():
        same = False
        if b'"agents"' in path.read_bytes():
            same = read_record(path, SavedCrossAudit).canonical() == saved.canonical()
        if not same:
            raise ResultsExistError(
                "this results folder holds another run, or one of another spec",
                where=str(folder),
                fix="give another folder with --out, or rename the cross-audit in its spec",
            )
    elif folder.is_dir() and {one.name for one in folder.iterdir()} - {".lock", "journal.jsonl"}:
        raise ResultsExistError(
            "this folder exists and holds no cross-audit",
            where=str(folder),
            fix="give another folder with --out",
        )


# --- agents alone ---------------------------------------------------------------------------


def _verdicts(run: CrossAudit, journal: Journal, agent: VerifierSpec) -> dict[str, Outcome]:
    """An agent's outcome on each claim: from its journal, from earlier runs, else asked for."""
    claims = run.version.claims
    known = {
        event.outcome.claim_id: event.outcome
        for event in journal.find(Answered, lambda event: event.verifier == agent.label)
    }
    for claim in claims:
        there = run.stored.verdict(agent, claim.canonical())
        if there is not None and claim.id not in known:
            journal.append(Answered(at=now(), verifier=agent.label, outcome=there))
            known[claim.id] = there
    missing = [claim for claim in claims if claim.id not in known]
    step, tally = f"verify: {agent.label}", Tally()
    run.watch(Progress(step, len(known), len(claims)))
    if missing:
        verifier = build_verifier(agent, workspace=run.folder)
        context = Context(run.version.sources)
        for outcome in run_verifier(verifier, missing, context, name=agent.label, among=claims):
            journal.append(Answered(at=now(), verifier=agent.label, outcome=outcome))
            known[outcome.claim_id] = outcome
            tally.take(outcome)
            run.watch(tally.progress(step, len(known), len(claims)))
    return {claim.id: known[claim.id] for claim in claims}


def _label(outcome: Outcome) -> Label | None:
    return outcome.label if isinstance(outcome, Verdict) else None


def _solo(run: CrossAudit, agent: VerifierSpec) -> SoloScore:
    given = {i: _label(outcome) for i, outcome in run.outcomes[agent.label].items()}
    return SoloScore(agent=agent.label, accuracy=_rate(run, given))


def _rate(run: CrossAudit, labels: Mapping[str, Label | None]) -> Rate:
    right = sum(label == run.key[claim_id].label for claim_id, label in labels.items())
    none = sum(label is None for label in labels.values())
    return metrics.rate(right, len(labels), unverified=none)


# --- pairs ------------------------------------------------------------------------------------


def pair_spec(
    spec: CrossAuditSpec, auditor: AuditorSpec, agent: VerifierSpec, version: BenchmarkVersion
) -> RoundSpec:
    """The round in which an auditor audits an agent."""
    return RoundSpec(
        name=f"{auditor.name}--{agent.label}",
        benchmark=f"{version.store.folder}@1",
        challenger=agent,
        auditors=(auditor.name,),
        policy=PolicySpec(allow_self_judging=spec.allow_self_judging),
        controls=NO_CONTROLS,
        seed=spec.seed,
        commit_to="run",
        date=version.manifest.date,
    )


def _pair(run: CrossAudit, auditor: AuditorSpec, agent: VerifierSpec) -> PairScore:
    simulated = is_simulated(auditor)
    if judges_itself(auditor, agent) and not run.spec.allow_self_judging:
        return PairScore(
            auditor=auditor.name, agent=agent.label, status="own model", simulated=simulated
        )
    spec = pair_spec(run.spec, auditor, agent, run.version)
    folder = run.folder / "pairs" / spec.name
    with open_run(spec, folder, [auditor], None, run.watch) as opened:
        _hand_over(run, opened, auditor, agent)
    record = run_rounds(spec, folder, auditors=[auditor], watch=run.watch)
    return _scored(run, record, auditor, agent)


def _hand_over(run: CrossAudit, opened: Run, auditor: AuditorSpec, agent: VerifierSpec) -> None:
    """Put what is known into a pair's journal: the agent's verdicts, and stored decisions."""
    known = opened.outcomes.get(agent.label, {})
    for claim_id, outcome in run.outcomes[agent.label].items():
        if claim_id not in known:
            opened.journal.append(Answered(at=now(), verifier=agent.label, outcome=outcome))
    docket = open_docket(
        list(opened.base.state),
        run.outcomes[agent.label],
        opened.base.sources,
        challenger=agent.label,
        round_number=1,
        controls=NO_CONTROLS,
        seed=run.spec.seed,
    )
    made = standing_adjudications(opened.journal.events)
    for case in docket.cases:
        there = run.stored.decision(auditor, case)
        if there is not None and (1, case.id, auditor.name) not in made:
            opened.journal.append(Adjudicated(at=now(), round=1, adjudication=there))


def _scored(
    run: CrossAudit, record: RunRecord, auditor: AuditorSpec, agent: VerifierSpec
) -> PairScore:
    """What the audit made of the labels, against what the agent had right alone."""
    simulated = is_simulated(auditor)
    if record.status is not RunStatus.COMPLETE or not record.rounds:
        return PairScore(
            auditor=auditor.name, agent=agent.label, status="incomplete", simulated=simulated
        )
    round_ = record.rounds[0]
    after = _labels_after(run, round_)
    given = {i: _label(outcome) for i, outcome in run.outcomes[agent.label].items()}
    reports = {claim.id: claim.report for claim in run.version.claims}
    changes = [
        (
            reports[claim_id],
            int(label == run.key[claim_id].label) - int(given[claim_id] == run.key[claim_id].label),
        )
        for claim_id, label in after.items()
    ]
    by_id = {case.id: case for case in round_.cases}
    decided = [
        (by_id[made.case_id].claim.id, decided_label(by_id[made.case_id], made))
        for made in round_.adjudications
    ]
    right = sum(label == run.key[claim_id].label for claim_id, label in decided)
    return PairScore(
        auditor=auditor.name,
        agent=agent.label,
        status="audited",
        simulated=simulated,
        cases=len(round_.cases),
        cannot_tell=sum(label is None for _, label in decided),
        accepted=round_.accepted,
        right=metrics.rate(right, len(round_.cases)),
        audited=_rate(run, after),
        change=mean_change(changes, run.spec.seed),
    )


def _labels_after(run: CrossAudit, round_: RoundRecord) -> dict[str, Label | None]:
    labels = {entry.claim.id: entry.label for entry in run.version.state}
    for revision in round_.revisions:
        if revision.annotation is not None:
            labels[revision.claim_id] = revision.annotation.label
    return labels
