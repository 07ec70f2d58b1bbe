"""Every stored verifier on every version of a benchmark, and what changed labels do to the order.

Asks no verifier anything: verdicts are those of runs and files that are there. A verdict on a
claim whose words a version has changed is no answer there. Text formats are in
`deepfact.leaderboard_formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from deepfact.core import metrics
from deepfact.core.compare import mean_change
from deepfact.core.metrics import answer_of
from deepfact.errors import DeepFactError, InputError
from deepfact.importers.stored import Stored, StoredVerdicts, Subject, add, scan
from deepfact.leaderboard_records import (
    By,
    Cause,
    ChallengerScores,
    Leaderboard,
    Overtaking,
    RankChange,
    Row,
    Standing,
)
from deepfact.records import Label, Outcome
from deepfact.run_records import RoundRecord, RunRecord, ScoreSheet
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.locate import run_copy


def leaderboard(
    store: BenchmarkStore,
    *,
    results: Path | None = None,
    verdicts: Sequence[Path] = (),
    labels: str = "deepfact",
    by: By = "accuracy",
    watch: Callable[[int, int], None] = lambda _done, _total: None,
) -> Leaderboard:
    """Score everything that is stored on every version.

    Args:
        store: the benchmark.
        results: folder whose runs are scored.
        verdicts: further runs and files of verdicts.
        labels: whose label words the files use.
        by: the score that ranks.
        watch: is told how many of how many scores are worked out.

    Raises:
        InputError: the benchmark has no version, a file cannot be read, or there is no verdict.
    """
    versions = [store.load(number) for number in store.versions()]
    if not versions:
        raise InputError("the benchmark has no versions yet", where=str(store.folder))
    stored = read_stored(versions, results=results, verdicts=verdicts, labels=labels)
    rows, found = _rows(stored.verdicts)
    standings: list[Standing] = []
    total = len(rows) * len(versions)
    for version in versions:
        scored = []
        for place, one in enumerate(found):
            scored.append(_scored(one, version, place))
            watch(len(standings) + len(scored), total)
        standings += _ranked(scored, by)
    board = Leaderboard(
        benchmark=store.name,
        by=by,
        versions=tuple(version.manifest.version for version in versions),
        parents={version.manifest.version: version.manifest.parent for version in versions},
        rows=tuple(rows),
        standings=tuple(standings),
        changes=(),
        overtakings=(),
        challengers=tuple(_challengers(stored, store, versions)),
        notes=tuple(stored.notes),
    )
    return board.model_copy(
        update={
            "changes": tuple(_changes(board)),
            "overtakings": tuple(_overtakings(board, versions, found)),
        }
    )


def read_stored(
    versions: Sequence[BenchmarkVersion],
    *,
    results: Path | None = None,
    verdicts: Sequence[Path] = (),
    labels: str = "deepfact",
) -> Stored:
    """The stored verdicts on a benchmark.

    Args:
        versions: of it, at least one.
        results: folder whose runs are looked through.
        verdicts: further runs and files; unlike in ``results``, each must have verdicts on it.
        labels: whose label words the files use.

    Raises:
        InputError: a file cannot be read, or there is no verdict at all.
    """
    subject = Subject.of(versions)
    stored = scan(results, subject) if results else Stored()
    for path in verdicts:
        if str(path) not in {one.where for one in stored.verdicts}:
            add(stored, path, subject, labels=labels)
    if not stored.verdicts:
        seen = "".join(f"\n  {note}" for note in stored.notes)
        raise InputError(
            f"there are no stored verdicts on {subject.name}{seen}",
            where=str(results or ""),
            fix=f"make some with: deepfact verify {subject.name} --out verdicts.jsonl",
        )
    return stored


def labels_of(version: BenchmarkVersion) -> dict[str, Label]:
    """The label of each live claim that has one."""
    return {one.claim_id: one.label for one in version.state.outlines() if one.label}


def reports_of(version: BenchmarkVersion) -> dict[str, str]:
    """The report of each live claim."""
    return {one.claim_id: one.report for one in version.state.outlines()}


def _rows(verdicts: Sequence[StoredVerdicts]) -> tuple[list[Row], list[StoredVerdicts]]:
    """A row for each verifier, once where several runs hold the same verdicts of it."""
    places: dict[tuple[str, frozenset[tuple[str, str | None]]], int] = {}
    rows: list[Row] = []
    found: list[StoredVerdicts] = []
    for one in verdicts:
        answers = frozenset((name, answer_of(out)) for name, out in one.outcomes.items())
        place = places.setdefault((one.verifier, answers), len(rows))
        if place < len(rows):
            where = tuple(dict.fromkeys((*rows[place].where, one.where)))
            rows[place] = rows[place].model_copy(update={"where": where})
            continue
        rows.append(Row(verifier=one.verifier, where=(one.where,), verdicts=len(one.outcomes)))
        found.append(one)
    return rows, found


def _scored(one: StoredVerdicts, version: BenchmarkVersion, place: int) -> Standing:
    answered, reworded = one.on(version.claims)
    sheet = metrics.score(
        labels_of(version), answered, verifier=one.verifier, on=str(version),
        reports=reports_of(version),
    )  # fmt: skip
    number = version.manifest.version
    return Standing(row=place, version=number, rank=0, score=sheet, reworded=tuple(reworded))


def value_of(sheet: ScoreSheet, by: By) -> float:
    """The score that ranks; 0 where there is no claim to be right about."""
    value = {
        "accuracy": sheet.accuracy.value,
        "binary": sheet.binary.value,
        "macro-f1": sheet.macro_f1.value,
    }[by]
    return value or 0.0


def _ranked(scored: Sequence[Standing], by: By) -> list[Standing]:
    values = [value_of(one.score, by) for one in scored]
    return [
        one.model_copy(update={"rank": 1 + sum(other > value for other in values)})
        for one, value in zip(scored, values, strict=True)
    ]


def _steps(board: Leaderboard) -> list[tuple[int, int]]:
    """Each version with its parent: parent, version."""
    return [(parent, number) for number, parent in board.parents.items() if parent is not None]


def _changes(board: Leaderboard) -> list[RankChange]:
    found = []
    for before, after in _steps(board):
        for place in range(len(board.rows)):
            was, now = (board.standing(place, number).rank for number in (before, after))
            if was != now:
                found.append(
                    RankChange(
                        row=place, before=before, after=after, rank_before=was, rank_after=now
                    )
                )
    return found


# --- why the order changed -----------------------------------------------------------------


def _overtakings(
    board: Leaderboard, versions: Sequence[BenchmarkVersion], found: Sequence[StoredVerdicts]
) -> list[Overtaking]:
    by_number = {version.manifest.version: version for version in versions}
    overtakings = []
    for before, after in _steps(board):
        for pair in combinations(range(len(found)), 2):
            leads = [
                value_of(board.standing(pair[0], number).score, board.by)
                - value_of(board.standing(pair[1], number).score, board.by)
                for number in (before, after)
            ]
            if _sign(leads[0]) == _sign(leads[1]):
                continue
            first, other = pair if leads[1] > leads[0] else pair[::-1]
            overtakings.append(
                _overtaking(board.by, by_number[before], by_number[after], first, other, found)
            )
    return overtakings


def _sign(lead: float) -> int:
    return (lead > 1e-12) - (lead < -1e-12)


def _overtaking(
    by: By,
    before: BenchmarkVersion,
    after: BenchmarkVersion,
    first: int,
    other: int,
    found: Sequence[StoredVerdicts],
) -> Overtaking:
    leads = [_lead(by, version, found[first], found[other]) for version in (before, after)]
    labels = [labels_of(version) for version in (before, after)]
    causes = []
    for claim_id in {**labels[0], **labels[1]}:
        moved = leads[1].get(claim_id, 0) - leads[0].get(claim_id, 0)
        was, now = (known.get(claim_id) for known in labels)
        if moved and was != now:
            causes.append(Cause(claim_id=claim_id, before=was, after=now, first=moved))
    estimates = []
    for version, lead in zip((before, after), leads, strict=True):
        reports = reports_of(version)
        estimates.append(mean_change([(reports[name], one) for name, one in lead.items()], 0))
    return Overtaking(
        before=before.manifest.version,
        after=after.manifest.version,
        first=first,
        other=other,
        lead_before=estimates[0],
        lead_after=estimates[1],
        causes=tuple(causes),
    )


def _lead(
    by: By, version: BenchmarkVersion, first: StoredVerdicts, other: StoredVerdicts
) -> dict[str, int]:
    """By claim: 1 where only the first one is right, -1 where only the other one is. For macro-F1,
    which is no mean over claims, by accuracy."""
    labels = labels_of(version)
    right = []
    for one in (first, other):
        answered, _ = one.on(version.claims)
        right.append({name: _right(by, answered.get(name), labels[name]) for name in labels})
    return {name: right[0][name] - right[1][name] for name in labels}


def _right(by: By, outcome: Outcome | None, label: Label) -> bool:
    answer = answer_of(outcome)
    if by == "binary":
        return answer is not None and (answer is Label.SUPPORTED) == (label is Label.SUPPORTED)
    return answer == label


# --- the three scores of a challenger --------------------------------------------------------


def _challengers(
    stored: Stored, store: BenchmarkStore, versions: Sequence[BenchmarkVersion]
) -> list[ChallengerScores]:
    known = {version.manifest.state_hash: version for version in versions}
    found = []
    for folder, run in stored.rounds.items():
        for done in run.rounds:
            sides = [
                known.get(ref.state_hash)
                or _of_copy(folder, store.name, ref.version, ref.state_hash)
                for ref in (done.base, done.result)
            ]
            if sides[0] is None or sides[1] is None:
                which = done.base if sides[0] is None else done.result
                words = f"version {which.version} of round {done.round} is neither here nor there"
                stored.notes.append(f"{folder}: {words}, so its challenger has no three scores")
                continue
            found.append(_three_scores(folder, run, done, sides[0], sides[1]))
    return found


def _of_copy(folder: str, name: str, number: int, state_hash: str) -> BenchmarkVersion | None:
    """A version of the copy of the benchmark that a run worked on; None when there is none."""
    copy = run_copy(Path(folder), name)
    if not (copy / "versions").is_dir():
        return None
    try:
        version = BenchmarkStore(copy).load(number)
    except DeepFactError:
        return None
    return version if version.manifest.state_hash == state_hash else None


def _three_scores(
    folder: str,
    run: RunRecord,
    done: RoundRecord,
    before: BenchmarkVersion,
    after: BenchmarkVersion,
) -> ChallengerScores:
    outcomes = {outcome.claim_id: outcome for outcome in done.outcomes}
    own = tuple(ruling.claim_id for ruling in done.rulings if ruling.accepts_challenge)
    reports = reports_of(before)
    later = labels_of(after)

    def scored(labels: Mapping[str, Label], on: str) -> ScoreSheet:
        return metrics.score(
            labels, outcomes, verifier=done.challenger, on=on, reports=reports, seed=run.spec.seed
        )

    rest = {name: label for name, label in later.items() if name not in own}
    return ChallengerScores(
        run=folder,
        round=done.round,
        verifier=done.challenger,
        before=scored(labels_of(before), str(before)),
        after=scored(later, str(after)),
        without_own=scored(rest, f"{after} without own accepted challenges"),
        own=own,
    )
