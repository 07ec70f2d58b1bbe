"""Rounds with simulated auditors of a stated accuracy, many times over, in memory.

The steps are those of `deepfact.round` (the same dockets, simulated auditors, rulings and
revisions, see the test that compares the two); what is left out is the disk, since nothing here
needs to survive a kill. Challengers are real and are asked once: they do not see labels. The
auditors know the key, so this shows how the loop behaves with auditors of some accuracy, and
nothing of anybody's accuracy. There are no controls: only telling the stronger argument is
simulated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from deepfact.auditors.policy import PolicyAuditor
from deepfact.core.audit import argument, open_docket
from deepfact.core.challenge import why_inadmissible
from deepfact.core.compare import mean_change
from deepfact.core.revise import revise, rule, sides
from deepfact.core.state import Entry, State, apply
from deepfact.errors import BenchmarkError, InputError, ResultsExistError
from deepfact.executors.local import run_verifier
from deepfact.measure_records import Estimate
from deepfact.records import (
    Annotation,
    Claim,
    KeyEntry,
    Label,
    Outcome,
    Provenance,
    RulingKind,
    Source,
    Verdict,
)
from deepfact.run_records import ControlSpec, PolicySpec
from deepfact.running.run_state import Progress
from deepfact.simulation_records import (
    Cell,
    Scenario,
    SimulatedRound,
    SimulationRecord,
    SimulationSpec,
)
from deepfact.store.files import read_record
from deepfact.store.locate import load_version
from deepfact.verifiers.base import Context, build_verifier
from deepfact.version import VERSION

NO_CONTROLS = ControlSpec(agreed=0, microgold=0)
WHEN = datetime(2000, 1, 1, tzinfo=UTC)
"""The date of simulated revisions: they belong to no history."""

Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Material:
    """What all simulations of a spec share."""

    entries: tuple[Entry, ...]
    """Those that the key has an answer to."""
    key: Mapping[str, KeyEntry]
    sources: Mapping[str, Source]
    outcomes: tuple[Mapping[str, Outcome], ...]
    """Of the challenger of each round; challenges that may not stand are left out."""


@dataclass
class RoundTally:
    """What one round did, over all seeds so far."""

    cases: int = 0
    accepted: int = 0
    disputed: list[tuple[str, int]] = field(default_factory=list)
    """Report, and whether the challenged label was right."""
    right: list[tuple[str, int]] = field(default_factory=list)
    """Report, and whether the label was right after the round, for each claim."""


def simulate(
    spec: SimulationSpec, *, root: Path | None = None, watch: Watch = lambda _: None
) -> SimulationRecord:
    """Run every scenario with auditors of every accuracy, over all seeds.

    Args:
        spec: what to simulate.
        root: folder that holds benchmarks.
        watch: is told of progress.

    Raises:
        InputError: benchmark, key or verifier do not fit.
    """
    version = load_version(spec.benchmark, root)
    key = version.store.key(spec.key)
    entries = tuple(entry for entry in version.state if entry.claim.id in key and entry.annotation)
    if not entries:
        raise BenchmarkError(
            f"{version} has no labelled claim that its key {spec.key!r} has an answer to",
            fix="name a key that lies in the benchmark's folder keys/",
        )
    context = Context(version.sources)
    claims = [entry.claim for entry in entries]
    numbers = range(len(spec.rounds))
    asked = [ask_challenger(spec, number, claims, context, watch) for number in numbers]
    material = Material(entries, key, context.sources, tuple(asked))
    cells: list[Cell] = []
    for scenario in spec.scenarios:
        for accuracy in spec.accuracies:
            watch(Progress("simulate", len(cells), len(spec.scenarios) * len(spec.accuracies)))
            cells.append(_cell(spec, scenario, accuracy, material))
    watch(Progress("simulate", len(cells), len(cells)))
    return SimulationRecord(
        name=spec.name, deepfact=VERSION, spec=spec, benchmark=version.ref,
        claims=len(entries), cells=tuple(cells),
    )  # fmt: skip


def check_out(folder: Path) -> None:
    """Refuse a folder that holds something other than a simulation; one is done again in place.

    Raises:
        ResultsExistError: it does.
    """
    if not folder.exists():
        return
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {""}
    ours = names <= {"record.json", "report.html", "report.md"}
    if not ours or ("record.json" in names and not _is_simulation(folder / "record.json")):
        raise ResultsExistError(
            "this folder holds something else than a simulation",
            where=str(folder),
            fix="give another folder with --out",
        )


def _is_simulation(path: Path) -> bool:
    try:
        read_record(path, SimulationRecord)
    except InputError:
        return False
    return True


def ask_challenger(
    spec: SimulationSpec, number: int, claims: Sequence[Claim], context: Context, watch: Watch
) -> dict[str, Outcome]:
    """The challenger's admissible verdicts. Whether one may stand does not depend on labels, so
    it is looked at once, and not again for every draw."""
    challenger = spec.rounds[number]
    found: dict[str, Outcome] = {}
    by_id = {claim.id: claim for claim in claims}
    for done, outcome in enumerate(
        run_verifier(build_verifier(challenger), claims, context, name=challenger.label), 1
    ):
        watch(Progress(f"verify: {challenger.label}", done, len(claims)))
        if isinstance(outcome, Verdict) and not why_inadmissible(
            by_id[outcome.claim_id], outcome, context.sources
        ):
            found[outcome.claim_id] = outcome
    return found


def _cell(spec: SimulationSpec, scenario: Scenario, accuracy: float, material: Material) -> Cell:
    before: list[tuple[str, int]] = []
    tallies = [RoundTally() for _ in spec.rounds]
    for seed in range(spec.seed, spec.seed + spec.seeds):
        state = starting_state(material, scenario, seed)
        before += _rightness(state, material.key)
        run_once(spec, scenario, accuracy, material, state, seed, tallies)
    reports = [report for report, _ in before]
    last = [right for _, right in tallies[-1].right]
    changes = [
        (report, after - was) for report, after, (_, was) in zip(reports, last, before, strict=True)
    ]
    n = len(material.entries)
    return Cell(
        scenario=scenario.name,
        auditor=accuracy,
        before=_mean(before, n, spec),
        after=_mean(tallies[-1].right, n, spec),
        change=_mean(changes, n, spec),
        rounds=tuple(
            SimulatedRound(
                round=number,
                challenger=challenger.label,
                cases=tally.cases / spec.seeds,
                accepted=tally.accepted / spec.seeds,
                label_right=_mean(tally.disputed, round(len(tally.disputed) / spec.seeds), spec),
                accuracy=_mean(tally.right, n, spec),
            )
            for number, (challenger, tally) in enumerate(zip(spec.rounds, tallies, strict=True), 1)
        ),
    )


def _mean(values: Sequence[tuple[str, int]], n: int, spec: SimulationSpec) -> Estimate:
    """A mean over claims and seeds. Its interval draws whole reports with all their seeds: more
    seeds make the auditors' luck smaller, never the doubt about the claims."""
    found = mean_change(values, spec.seed)
    return found.model_copy(
        update={"n": n, "method": f"{found.method}, {spec.seeds} seeds averaged"}
    )


def _rightness(state: State, key: Mapping[str, KeyEntry]) -> list[tuple[str, int]]:
    """Report of each claim, and whether its label is right."""
    return [(entry.claim.report, int(entry.label == key[entry.claim.id].label)) for entry in state]


def starting_state(material: Material, scenario: Scenario, seed: int) -> State:
    """The labels that rounds start from: the version's, or simulated one-shot labels."""
    entries = {entry.claim.id: entry for entry in material.entries}
    if scenario.one_shot is None:
        return State(entries)
    return State(
        {
            claim_id: Entry(
                entry.claim,
                _one_shot(claim_id, material.key[claim_id].label, scenario.one_shot, seed),
            )
            for claim_id, entry in entries.items()
        }
    )


def _one_shot(claim_id: str, truth: Label, accuracy: float, seed: int) -> Annotation:
    draw = random.Random(f"{seed}:one-shot:{claim_id}")  # noqa: S311 - no secret
    label = truth
    if draw.random() >= accuracy:
        label = draw.choice([other for other in Label if other != truth])
    return Annotation(
        label=label,
        rationale="[simulated] a one-shot label",
        provenance=Provenance(who="simulated annotator", when=WHEN),
    )


def run_once(
    spec: SimulationSpec,
    scenario: Scenario,
    accuracy: float,
    material: Material,
    state: State,
    seed: int,
    tallies: Sequence[RoundTally],
) -> State:
    """All rounds with the auditors of one seed; returns the labels they end with.

    Args:
        tallies: one for each round; what the rounds do is added to them.
    """
    auditors = [
        PolicyAuditor(
            f"auditor-{number}", lambda _: material.key, accuracy=accuracy, key=spec.key, seed=seed
        )
        for number in range(1, scenario.auditors + 1)
    ]
    policy = PolicySpec(rule=scenario.rule)
    settled: set[tuple[str, str]] = set()
    for number, tally in enumerate(tallies, 1):
        docket = open_docket(
            list(state), material.outcomes[number - 1], material.sources,
            challenger=spec.rounds[number - 1].label, round_number=number, controls=NO_CONTROLS,
            settled=settled, seed=seed,
        )  # fmt: skip
        decided = {case.id: [one.adjudicate(case) for one in auditors] for case in docket.cases}
        rulings = []
        for case, key in zip(docket.cases, docket.keys, strict=True):
            ruling = rule(case, key, decided[case.id], policy)
            rulings.append(ruling)
            incumbent, challenger = sides(case, key)
            right = incumbent.label == material.key[key.claim_id].label
            tally.disputed.append((case.claim.report, int(right)))
            if ruling.kind is not RulingKind.UNRESOLVED:
                settled.add((key.claim_id, argument(challenger)))
        revisions = revise(
            docket.cases, docket.keys, rulings, decided, state.entries, run=spec.name, when=WHEN
        )
        state = apply(state, revisions)
        tally.cases += len(docket.cases)
        tally.accepted += len(revisions)
        tally.right += _rightness(state, material.key)
    return state
