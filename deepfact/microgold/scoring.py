"""Accuracy on micro-gold after the fact: of annotators, auditors and versions, over runs.

Runs that are still open are left out and named: nothing of the key may be told while somebody has
to decide. Every rate has its n and interval; what a simulated auditor had a part in is marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepfact.core import metrics
from deepfact.core.state import State
from deepfact.errors import DeepFactError
from deepfact.records import KeyEntry, Label, Record
from deepfact.run_records import AuditorScore, Rate, RunRecord, RunStatus
from deepfact.running.annotators import annotator_scores
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_record
from deepfact.store.locate import split_reference


class VersionScore(Record):
    """A version's labels on micro-gold."""

    version: int
    run: str = ""
    """With a version that lies in a run's own copy of the benchmark."""
    simulated: bool = False
    accuracy: Rate
    """All three labels."""
    binary: Rate
    """Supported against the rest: DeepFact's rule, and the one that edits are sure of."""


class LabellerScore(Record):
    """An annotator's labels on micro-gold, as a version has them."""

    version: int
    annotator: str
    accuracy: Rate


class AuditorInRound(Record):
    """An auditor's decisions in one round of a run, on cases whose claim is micro-gold."""

    run: str
    round: int
    auditor: str
    simulated: bool
    cannot_tell: int
    accuracy: Rate


class AuditorPooled(Record):
    """The same over all rounds and runs."""

    auditor: str
    simulated: bool
    rounds: int
    accuracy: Rate


class MicroGoldReport(Record):
    """What micro-gold says of a benchmark and those who worked on it."""

    benchmark: str
    claims: int
    """Live micro-gold claims of the newest version."""
    versions: tuple[VersionScore, ...]
    annotators: tuple[LabellerScore, ...]
    auditors: tuple[AuditorInRound, ...]
    pooled: tuple[AuditorPooled, ...]
    open_runs: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run of the benchmark, and where it lies."""

    folder: Path
    record: RunRecord


def score(store: BenchmarkStore, results: Path | None) -> MicroGoldReport:
    """Measure everything that is stored.

    Args:
        store: the benchmark.
        results: folder with runs, such as ``results``; those of other benchmarks are passed over.

    Raises:
        BenchmarkError: the benchmark cannot be read.
    """
    gold = store.key("microgold")
    runs: list[FoundRun] = []
    waiting: list[str] = []
    unreadable: list[str] = []
    for folder in _run_folders(results):
        try:
            record = read_record(folder / "record.json", RunRecord)
        except DeepFactError as error:
            unreadable.append(f"{folder.name}: {error.what}")
            continue
        if Path(split_reference(record.spec.benchmark)[0]).name != store.name:
            continue
        if record.status is not RunStatus.COMPLETE:
            waiting.append(folder.name)
            continue
        runs.append(FoundRun(folder, record))
    numbers = store.versions()
    newest = store.load(numbers[-1]).state if numbers else State({})
    live = {claim.id for claim in newest.claims}
    auditors = [one for run in runs for one in _auditors(run)]
    return MicroGoldReport(
        benchmark=store.name,
        claims=len(live & set(gold)),
        versions=tuple(_versions(store, numbers, gold, runs)),
        annotators=tuple(_annotators(store, numbers, gold)),
        auditors=tuple(auditors),
        pooled=tuple(_pooled(auditors)),
        open_runs=tuple(waiting),
        unreadable=tuple(unreadable),
    )


def _run_folders(results: Path | None) -> list[Path]:
    if results is None or not results.is_dir():
        return []
    return sorted(path.parent for path in results.glob("*/record.json") if _is_round(path.parent))


def _is_round(folder: Path) -> bool:
    """An A/B run has arms and no auditors; only rounds are told by their spec."""
    spec = folder / "spec.json"
    return spec.is_file() and b'"auditors"' in spec.read_bytes()


def _versions(
    store: BenchmarkStore,
    numbers: Sequence[int],
    gold: Mapping[str, KeyEntry],
    runs: list[FoundRun],
) -> Iterator[VersionScore]:
    for number in numbers:
        yield _version(store.load(number).state, gold, number, "", simulated=False)
    for run in runs:
        if run.record.spec.commit_to != "run":
            continue
        copy = run.folder / "benchmarks" / store.name
        if not (copy / "versions").is_dir():
            continue
        made = BenchmarkStore(copy)
        for round_ in run.record.rounds:
            if round_.result != round_.base:
                number = round_.result.version
                state = made.load(number).state
                yield _version(state, gold, number, run.record.name, run.record.simulated)


def _version(
    state: State, gold: Mapping[str, KeyEntry], number: int, run: str, simulated: bool
) -> VersionScore:
    labels = {entry.claim.id: entry.label for entry in state if entry.claim.id in gold}
    unlabelled = sum(label is None for label in labels.values())
    right = sum(label == gold[claim_id].label for claim_id, label in labels.items())
    binary = sum(
        label is not None
        and (label is Label.SUPPORTED) == (gold[claim_id].label is Label.SUPPORTED)
        for claim_id, label in labels.items()
    )
    return VersionScore(
        version=number,
        run=run,
        simulated=simulated,
        accuracy=metrics.rate(right, len(labels), unverified=unlabelled),
        binary=metrics.rate(binary, len(labels), unverified=unlabelled),
    )


def _annotators(
    store: BenchmarkStore, numbers: Sequence[int], gold: Mapping[str, KeyEntry]
) -> Iterator[LabellerScore]:
    for number in numbers:
        for one in annotator_scores(store.load(number).state, gold):
            yield LabellerScore(version=number, annotator=one.of, accuracy=one.accuracy)


def _auditors(run: FoundRun) -> Iterator[AuditorInRound]:
    for round_ in run.record.rounds:
        for one in round_.auditors:
            yield _in_round(run.record.name, round_.round, one)


def _in_round(run: str, number: int, one: AuditorScore) -> AuditorInRound:
    return AuditorInRound(
        run=run,
        round=number,
        auditor=one.auditor,
        simulated=one.simulated,
        cannot_tell=one.cannot_tell,
        accuracy=one.microgold,
    )


def _pooled(found: Sequence[AuditorInRound]) -> Iterator[AuditorPooled]:
    """One row for each auditor, simulated or not: a name may be used by both."""
    for name, simulated in dict.fromkeys((one.auditor, one.simulated) for one in found):
        own = [one for one in found if (one.auditor, one.simulated) == (name, simulated)]
        yield AuditorPooled(
            auditor=name,
            simulated=simulated,
            rounds=len(own),
            accuracy=metrics.rate(
                sum(one.accuracy.k for one in own), sum(one.accuracy.n for one in own)
            ),
        )
