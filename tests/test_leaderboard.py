"""Stored verdicts on every version: no call, nothing dropped, causes that add up."""

from __future__ import annotations

import csv
import io
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError
from deepfact.importers.stored import Stored, Subject, add, scan
from deepfact.leaderboard import leaderboard, read_stored
from deepfact.leaderboard_formats import as_csv, as_markdown, change_lines
from deepfact.records import Label
from deepfact.round import run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, RunRecord, VerifierSpec
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, write_text

DAY = datetime(2026, 1, 5, tzinfo=UTC)
EXPERT = AuditorSpec(name="expert", kind="policy", options={"accuracy": 0.9, "seed": 3})
SPEC = RoundSpec(
    name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"),
    auditors=("expert",), seed=5, date=DAY, scored=(VerifierSpec(kind="overlap"),),
)  # fmt: skip


def run(desk: Path, **changes: Any) -> RunRecord:
    spec = RoundSpec.model_validate({**SPEC.model_dump(), **changes})
    return run_rounds(spec, desk / "results" / spec.name, auditors=(EXPERT,))


def forbid_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise AssertionError("a verifier was asked")

    monkeypatch.setattr("house_judges.Quoting.verify", nobody)
    monkeypatch.setattr("deepfact.verifiers.trivial.OverlapVerifier.verify", nobody)


def small(desk: Path) -> BenchmarkStore:
    return BenchmarkStore(desk / "benchmarks" / "small")


# --- a round's verifiers -----------------------------------------------------------------------


def test_a_rounds_verifiers_on_every_version_without_a_call(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = run(desk)
    forbid_calls(monkeypatch)
    board = leaderboard(small(desk), results=desk / "results")
    assert (board.benchmark, board.versions, board.parents) == ("small", (1, 2), {1: None, 2: 1})
    assert [row.verifier for row in board.rows] == ["quoting", "overlap"]
    assert len(board.standings) == 4 and board.notes == ()
    (done,) = record.rounds
    kept = {(sheet.verifier, sheet.on): sheet for sheet in done.scores}
    for row in (0, 1):
        for version in (1, 2):
            found = board.standing(row, version).score
            there = kept[board.rows[row].verifier, f"version {version}"]
            assert (found.n, found.accuracy, found.binary) == (
                there.n, there.accuracy, there.binary,
            )  # fmt: skip


def test_a_challenger_has_the_three_scores_of_its_record(desk: Path) -> None:
    record = run(desk)
    board = leaderboard(small(desk), results=desk / "results")
    (three,) = board.challengers
    (done,) = record.rounds
    kept = [sheet for sheet in done.scores if sheet.verifier == "quoting"]
    assert len(kept) == 3 and len(three.own) == done.accepted > 0
    for found, there in zip((three.before, three.after, three.without_own), kept, strict=True):
        assert found.accuracy == there.accuracy and found.macro_f1 == there.macro_f1
    assert three.without_own.n == three.after.n - len(three.own)
    assert three.without_own.on == "small@2 without own accepted challenges"


def test_a_run_that_committed_to_its_copy_is_scored_there(desk: Path) -> None:
    record = run(desk, commit_to="run")
    board = leaderboard(small(desk), results=desk / "results")
    assert board.versions == (1,)
    (three,) = board.challengers
    assert (three.before.on, three.after.on) == ("small@1", "small@2")
    kept = [sheet for sheet in record.rounds[0].scores if sheet.verifier == "quoting"]
    assert three.without_own.accuracy == kept[2].accuracy
    copy = BenchmarkStore(desk / "results/trial/benchmarks/small")
    board = leaderboard(copy, results=desk / "results")
    assert board.versions == (1, 2) and board.notes == ()
    shutil.rmtree(copy.folder)
    board = leaderboard(small(desk), results=desk / "results")
    assert board.challengers == ()
    assert "version 2 of round 1 is neither here nor there" in board.notes[0]


def test_a_copy_that_cannot_be_read_is_as_good_as_none(desk: Path) -> None:
    run(desk, commit_to="run")
    manifest = desk / "results/trial/benchmarks/small/versions/2/manifest.json"
    manifest.write_text("{", encoding="utf-8")
    board = leaderboard(small(desk), results=desk / "results")
    assert board.challengers == () and "neither here nor there" in board.notes[0]


def test_without_a_journal_the_verifiers_beside_are_missed_and_said_so(desk: Path) -> None:
    run(desk)
    (desk / "results/trial/journal.jsonl").unlink()
    board = leaderboard(small(desk), results=desk / "results")
    assert [row.verifier for row in board.rows] == ["quoting"]
    assert board.notes == (f"{desk / 'results/trial'}: no journal, so no verdicts of overlap",)


def test_equal_verdicts_of_two_runs_are_one_row(desk: Path) -> None:
    run(desk)
    run(desk, name="again", commit_to="run")
    board = leaderboard(small(desk), results=desk / "results")
    assert [(row.verifier, len(row.where)) for row in board.rows] == [
        ("quoting", 2),
        ("overlap", 2),
    ]
    assert len(board.challengers) == 2


# --- files, ranks and causes -------------------------------------------------------------------


@pytest.fixture
def mill(make: Any, tmp_path: Path) -> BenchmarkStore:
    """Six claims; version 2 makes c1 and c2 contradictory, retires c3, adds c7."""
    store = BenchmarkStore.create(tmp_path / "mill", card="# Mill\n")
    claims = [make.add(f"c{n}", origin={"report": f"r{n % 3}"}) for n in range(1, 7)]
    given = {"author": "x", "date": make.WHEN, "note": "n"}
    store.commit(claims, parent=None, **given)
    store.commit(
        [make.relabel("c1"), make.relabel("c2"), make.revision("retire", "c3"),
         make.add("c7", origin={"report": "r1"})],
        parent=1, **given,
    )  # fmt: skip
    return store


def verdicts(make: Any, folder: Path, name: str, labels: dict[str, str]) -> Path:
    path = folder / f"{name}.jsonl"
    write_text(path, jsonl(make.verdict(i, label).canonical() for i, label in labels.items()))
    return path


@pytest.fixture
def files(make: Any, mill: BenchmarkStore) -> list[Path]:
    """``keen`` follows the new labels, ``old`` the old ones, ``idle`` answers two claims."""
    folder = mill.folder.parent
    old = {f"c{n}": "supported" for n in range(1, 7)}
    keen = {**old, "c1": "contradictory", "c2": "contradictory"}
    return [
        verdicts(make, folder, "old", old),
        verdicts(make, folder, "keen", {**keen, "c4": "inconclusive", "c9": "supported"}),
        verdicts(make, folder, "idle", {"c1": "contradictory", "c5": "supported"}),
    ]


def test_ranks_change_with_labels_and_the_claims_are_named(
    mill: BenchmarkStore, files: list[Path]
) -> None:
    told: list[tuple[int, int]] = []
    board = leaderboard(mill, verdicts=files, watch=lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6) and len(told) == 6
    names = [row.verifier for row in board.rows]
    ranks = {
        version: {names[s.row]: s.rank for s in board.standings if s.version == version}
        for version in (1, 2)
    }
    assert ranks == {1: {"old": 1, "keen": 2, "idle": 3}, 2: {"old": 2, "keen": 1, "idle": 3}}
    assert {(names[c.row], c.rank_before, c.rank_after) for c in board.changes} == {
        ("old", 1, 2), ("keen", 2, 1),
    }  # fmt: skip
    (passed,) = board.overtakings
    assert (names[passed.first], names[passed.other]) == ("keen", "old")
    causes = {c.claim_id: (c.before, c.after, c.first) for c in passed.causes}
    assert causes == {
        "c1": (Label.SUPPORTED, Label.CONTRADICTORY, 2),
        "c2": (Label.SUPPORTED, Label.CONTRADICTORY, 2),
    }
    # What the causes add up to is the change of the lead, in claims.
    leads = [passed.lead_before.value * 6, passed.lead_after.value * 6]
    assert round(leads[1] - leads[0]) == sum(c.first for c in passed.causes) == 4
    sheets = {names[s.row]: s.score for s in board.standings if s.version == 2}
    assert (sheets["idle"].n, sheets["idle"].missing, sheets["idle"].unverified) == (6, 4, 4)
    assert [note for note in board.notes if "keen" in note] == [
        f"{files[1]}: 1 verdicts on claims that no version has: c9"
    ]


@pytest.mark.parametrize("by", ["binary", "macro-f1"])
def test_other_scores_rank_too(mill: BenchmarkStore, files: list[Path], by: Any) -> None:
    board = leaderboard(mill, verdicts=files, by=by)
    assert board.by == by
    for version in (1, 2):
        kept = [s for s in board.standings if s.version == version]
        value = (lambda s: s.score.binary.value) if by == "binary" else (
            lambda s: s.score.macro_f1.value)  # fmt: skip
        assert sorted(kept, key=lambda s: s.rank) == sorted(kept, key=lambda s: (-value(s), s.rank))
    words = " ".join(change_lines(board))
    assert ("accuracy:" in words) == (by == "macro-f1" and bool(board.overtakings))


def test_equal_scores_share_a_rank(make: Any, mill: BenchmarkStore) -> None:
    folder = mill.folder.parent
    one = verdicts(make, folder, "one", {"c1": "supported"})
    other = verdicts(make, folder, "other", {"c2": "supported"})
    none = verdicts(make, folder, "none", {"c4": "contradictory"})
    board = leaderboard(mill, verdicts=[one, other, none])
    assert [board.standing(row, 1).rank for row in range(3)] == [1, 1, 3]


def test_the_same_in_every_format(mill: BenchmarkStore, files: list[Path]) -> None:
    board = leaderboard(mill, verdicts=files)
    rows = list(csv.DictReader(io.StringIO(as_csv(board))))
    assert len(rows) == 6 and [row["rank"] for row in rows] == ["1", "2", "3"] * 2
    first = rows[0]
    assert (first["verifier"], first["n"], first["accuracy"]) == ("old", "6", "1.000000")
    page = as_markdown(board)
    assert "| 2 | 1 | keen" in page and "(4/6, 1 unverified) \\[" in page
    assert "c1 (supported -\\> contradictory, +2)" in page
    assert "Left out or not known" in page and "Challengers" not in page
    assert type(board).model_validate_json(board.model_dump_json()) == board


def test_verifier_names_cannot_break_a_table(make: Any, mill: BenchmarkStore) -> None:
    path = verdicts(make, mill.folder.parent, "a|b<script>", {"c1": "supported"})
    page = as_markdown(leaderboard(mill, verdicts=[path]))
    assert "a\\|b\\<script\\>" in page


def test_challengers_are_on_the_page(desk: Path) -> None:
    run(desk)
    page = as_markdown(leaderboard(small(desk), results=desk / "results"))
    assert "| on B(t+1) without its own |" in page and "small@2:" in page


def test_two_verifiers_of_one_name_are_told_apart(
    make: Any, mill: BenchmarkStore, files: list[Path]
) -> None:
    (mill.folder.parent / "x").mkdir()
    twin = verdicts(make, mill.folder.parent / "x", "old", {"c1": "contradictory",
                    "c2": "contradictory", "c4": "supported", "c5": "supported",
                    "c6": "supported", "c7": "supported"})  # fmt: skip
    lines = change_lines(leaderboard(mill, verdicts=[files[0], twin]))
    assert any(f"old ({twin})" in line and f"old ({files[0]})" in line for line in lines)


def test_a_benchmark_whose_claims_have_no_labels(make: Any, tmp_path: Path) -> None:
    store = BenchmarkStore.create(tmp_path / "bare", card="x")
    store.commit([make.add("c1", None)], parent=None, author="x", date=make.WHEN, note="n")
    path = verdicts(make, tmp_path, "v", {"c1": "supported"})
    board = leaderboard(store, verdicts=[path])
    assert board.standings[0].score.accuracy.value is None
    assert "no claims (n=0)" in as_markdown(board) and ",0,0,0,0,,0.000000" in as_csv(board)


# --- what cannot be scored ---------------------------------------------------------------------


def test_nothing_stored_is_an_error_that_says_what_was_seen(desk: Path) -> None:
    with pytest.raises(InputError, match="there is no results folder"):
        leaderboard(small(desk), results=desk / "results")
    write_text(desk / "results/odd/record.json", '{"name": "odd"}')
    write_text(desk / "results/bad/record.json", "{")
    with pytest.raises(InputError, match="no stored verdicts on small") as caught:
        leaderboard(small(desk), results=desk / "results")
    said = str(caught.value)
    assert "not the record of a round or of an A/B run" in said and "deepfact verify small" in said
    empty = BenchmarkStore.create(desk / "benchmarks" / "empty", card="x")
    with pytest.raises(InputError, match="has no versions yet"):
        leaderboard(empty)


def test_a_run_on_another_benchmark_is_left_out_or_refused(desk: Path, make: Any) -> None:
    run(desk)
    other = BenchmarkStore.create(desk / "benchmarks" / "other", card="x")
    other.commit([make.add("c1")], parent=None, author="x", date=make.WHEN, note="n")
    stored = scan(desk / "results", Subject.of([other.load()]))
    assert stored.verdicts == [] and "a run on small, not on other" in stored.notes[0]
    with pytest.raises(InputError, match="a run on small, not on other"):
        add(Stored(), desk / "results/trial", Subject.of([other.load()]))
    with pytest.raises(InputError, match="no such file"):
        read_stored([other.load()], verdicts=[desk / "results"])


def test_a_run_that_is_named_twice_counts_once(desk: Path) -> None:
    run(desk)
    versions = [small(desk).load()]
    where = desk / "results"
    stored = read_stored(versions, results=where, verdicts=[where / "trial"])
    assert [one.verifier for one in stored.verdicts] == ["quoting", "overlap"]
    again = read_stored(versions, verdicts=[where / "trial" / "record.json"])
    assert [one.verifier for one in again.verdicts] == ["quoting", "overlap"]


def test_verdicts_on_other_words_are_no_answers(desk: Path, make: Any) -> None:
    """A benchmark of the same name and ids, elsewhere, with one claim put otherwise."""
    run(desk, commit_to="run")
    old = small(desk).load(1)
    revisions = []
    for number, entry in enumerate(list(old.state)[:10]):
        claim = entry.claim.model_copy(update={"cites": (), "origin": None})
        if number == 3:
            claim = claim.model_copy(update={"text": "Something else."})
        annotation = entry.annotation.model_copy(update={"evidence": (), "contradictions": (),
                                                         "qualifications": ()})  # fmt: skip
        revisions.append(make.revision("add", claim.id, claim=claim, annotation=annotation))
    other = BenchmarkStore.create(desk / "elsewhere" / "small", card="x")
    other.commit(revisions, parent=None, author="x", date=make.WHEN, note="n")
    board = leaderboard(other, results=desk / "results")
    standing = board.standing(0, 1)
    assert standing.reworded == (list(old.state)[3].claim.id,)
    assert (standing.score.n, standing.score.missing) == (10, 1)
    assert any("50 verdicts of quoting on claims that no version has" in n for n in board.notes)


def test_words_that_nobody_kept_are_said_to_be_unknown(desk: Path, make: Any) -> None:
    run(desk)
    shutil.copytree(desk / "benchmarks" / "small", desk / "kept" / "small")
    other = BenchmarkStore.create(desk / "elsewhere" / "small", card="x")
    other.commit([make.add(small(desk).load().claims[0].id)], parent=None, author="x",
                 date=make.WHEN, note="n")  # fmt: skip
    notes = leaderboard(other, results=desk / "results").notes
    assert any("claims were not kept; taken to be today's" in note for note in notes)


def test_arms_of_an_ab_run_are_verifiers(desk: Path) -> None:
    from deepfact.experiment import run_experiment
    from deepfact.experiment_records import AbSpec

    spec = AbSpec.model_validate(
        {"name": "ab", "benchmark": "small@1", "repeat": 2, "arms": [
            {"name": "quotes", "verifier": {"kind": "quoting"}},
            {"name": "words", "verifier": {"kind": "overlap"}},
        ]}
    )  # fmt: skip
    run_experiment(spec, desk / "results" / "ab")
    board = leaderboard(small(desk), results=desk / "results")
    assert [row.verifier for row in board.rows] == ["quotes", "words"]
    assert any("2 repeats; the first one of each arm is scored" in note for note in board.notes)
    assert board.challengers == ()
    data = json.loads((desk / "results/ab/record.json").read_text("utf-8"))
    data["spec"]["benchmark"], data["spec"]["claims"] = "", "claims.jsonl"
    write_text(desk / "results/ab/record.json", json.dumps(data))
    with pytest.raises(InputError, match="a run on files, not on small"):
        leaderboard(small(desk), verdicts=[desk / "results/ab"])
