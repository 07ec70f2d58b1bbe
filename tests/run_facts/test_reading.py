"""Reading a run's folder: every kind of run, one in progress, and folders that are none."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock

from deepfact.auditors import read_auditors
from deepfact.errors import InputError, NewerSchemaError, RecordError
from deepfact.experiment import run_experiment
from deepfact.experiment_records import AbSpec
from deepfact.round import run_rounds
from deepfact.run_facts.reading import read_run_facts
from deepfact.run_records import RoundSpec, VerifierSpec
from deepfact.version import VERSION


def a_round(folder: Path, challenger: str = "quoting", **fields: Any) -> None:
    spec = RoundSpec(
        name="small-round",
        benchmark="small@1",
        challenger=VerifierSpec(kind=challenger),
        auditors=("simulated-expert",),
        commit_to="run",
        **fields,
    )
    run_rounds(spec, folder, auditors=read_auditors(["simulated-expert"], Path("auditors")))


def an_ab(folder: Path, **fields: Any) -> AbSpec:
    arms = [
        {"name": name, "verifier": {"kind": kind}}
        for name, kind in (("words", "overlap"), ("broken", "failing"))
    ]
    spec = AbSpec.model_validate({"name": "two", "benchmark": "small@1", "arms": arms, **fields})
    run_experiment(spec, folder)
    return spec


def test_a_round(desk: Path) -> None:
    a_round(Path("run"), scored=(VerifierSpec(kind="failing", name="fire"),))
    facts = read_run_facts(Path("run"))
    assert (facts.kind, facts.name, facts.state) == ("round", "small-round", "complete")
    assert facts.spec["challenger"] == "quoting" and facts.spec["scored beside"] == "fire (failing)"
    assert facts.spec["auditors"] == "simulated-expert (policy)"
    assert facts.written_by == VERSION and facts.started.code.deepfact == VERSION
    by_name = {one.name: one for one in facts.asked}
    assert [by_name[name].outcomes for name in ("quoting", "fire")] == [60, 60]
    assert by_name["fire"].failures == 60 and by_name["simulated-expert"].role == "auditor"
    (row,) = [row for row in facts.failures if row.name == "fire"]
    assert (row.reason, row.count) == ("error", 60) and "on fire" in row.detail
    assert facts.timing.per_second > 0 and facts.timing.pauses == 0
    assert any("call latency" in words for words in facts.missing)


def test_an_ab_run(desk: Path) -> None:
    an_ab(Path("run"), repeat=2, select={"limit": 5})
    facts = read_run_facts(Path("run"))
    assert (facts.kind, facts.state) == ("ab", "complete")
    assert facts.spec["arms"] == "words (overlap); broken (failing)"
    assert (facts.spec["claims"], facts.spec["selected"]) == ("small@1", "the first 5")
    assert sorted((a.name, a.role, a.outcomes, a.failures) for a in facts.asked) == [
        ("broken", "arm", 10, 10),
        ("words", "arm", 10, 0),
    ]
    assert facts.missing == ()


def _hold(folder: str, held: Any, done: Any) -> None:
    with FileLock(Path(folder) / ".lock"):
        held.set()
        done.wait(30)


def test_a_run_in_progress_is_read_without_its_lock_and_without_the_line_being_written(
    desk: Path,
) -> None:
    an_ab(Path("run"), select={"limit": 3})
    (Path("run") / "record.json").unlink()
    journal = Path("run") / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-40])
    kept = [path for path in Path("run").iterdir() if path.name != ".lock"]  # the holder's
    before = {path: path.stat().st_mtime_ns for path in kept}
    spawn = multiprocessing.get_context("spawn")
    held, done = spawn.Event(), spawn.Event()
    holder = spawn.Process(target=_hold, args=("run", held, done))
    holder.start()
    try:
        assert held.wait(30)
        facts = read_run_facts(Path("run"))
    finally:
        done.set()
        holder.join()
    assert facts.state == "not complete"
    assert sum(one.outcomes for one in facts.asked) == 5
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_resumed_run_says_so_and_has_the_same_record(desk: Path) -> None:
    spec = an_ab(Path("whole"), select={"limit": 4})
    an_ab(Path("run"), select={"limit": 4})
    journal = Path("run") / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:4]))
    run_experiment(spec, Path("run"))
    run_experiment(spec, Path("run"))  # nothing to do: no trace
    facts = read_run_facts(Path("run"))
    assert len(facts.resumed) == 1 and facts.resumed[0].code.deepfact == VERSION
    assert sum(one.outcomes for one in facts.asked) == 8
    records = [json.loads(Path(n, "record.json").read_text("utf-8")) for n in ("run", "whole")]
    assert records[0] == records[1]


def test_a_run_that_has_not_begun(desk: Path) -> None:
    an_ab(Path("run"), select={"limit": 1})
    for name in ("journal.jsonl", "record.json"):
        (Path("run") / name).unlink()
    facts = read_run_facts(Path("run"))
    assert (facts.state, facts.timing, facts.started, facts.asked) == ("not begun", None, None, ())


def test_a_journal_from_before_versions_were_kept(desk: Path) -> None:
    an_ab(Path("run"), select={"limit": 1})
    journal = Path("run") / "journal.jsonl"
    first, *rest = journal.read_text("utf-8").splitlines()
    begun = json.loads(first)
    del begun["code"]
    journal.write_text("\n".join([json.dumps(begun), *rest]) + "\n", "utf-8")
    facts = read_run_facts(Path("run"))
    assert facts.started.code is None
    assert any("kept neither" in words for words in facts.missing)


def test_a_regression_check(desk: Path, deepfact: Any) -> None:
    spec = {
        "name": "check", "benchmark": "small@1", "key": "author",
        "verifier": {"kind": "overlap"}, "baseline": "baseline.jsonl",
    }  # fmt: skip
    Path("check.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    done = deepfact("regress", "check.yaml", "--update-baseline")
    assert done.returncode == 0, done.stderr
    facts = read_run_facts(Path("results/check"))
    assert (facts.kind, facts.state, facts.timing) == ("regress", "passed", None)
    assert "of 60 claims" in facts.spec["confirmed"]
    assert any("keeps no journal" in words for words in facts.missing)
    Path("results/check/record.json").unlink()
    assert read_run_facts(Path("results/check")).state == "not complete"


def test_a_research_run(desk: Path, deepfact: Any) -> None:
    Path("texts").mkdir()
    Path("texts/mill.txt").write_text("The mill was built in 1898. It closed in 1931.\n")
    done = deepfact(
        "research", "run", "When was the mill built?", "--sources", "texts", "--out", "r"
    )
    assert done.returncode in (0, 1), done.stderr
    facts = read_run_facts(Path("r"))
    assert facts.kind == "research" and facts.state.startswith("complete: ")
    assert facts.spec["question"] == "When was the mill built?"
    assert "synthesize" in facts.spec["stages done"]
    assert sum(one.outcomes for one in facts.asked) >= 1
    Path("r/report.json").unlink()
    assert read_run_facts(Path("r")).state == "not complete"


# --- what is no run, or a broken one -----------------------------------------------------


def test_folders_that_hold_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name, what in (("nowhere", "no such folder"), ("file", "a file"), ("empty", "no run in")):
        with pytest.raises(InputError, match=what):
            read_run_facts(tmp_path / name)


@pytest.mark.parametrize(
    ("spec", "error", "what"),
    [
        ("{", RecordError, "not JSON"),
        ("[" * 100_000, RecordError, "not JSON"),
        ("[]", InputError, "no run that deepfact makes"),
        ('{"name": "x"}', InputError, "no run that deepfact makes"),
        ('{"name": "x", "arms": []}', RecordError, "arms"),
        ('{"spec": {}, "auditors": [], "schema_version": 9}', NewerSchemaError, "newer"),
    ],
)
def test_broken_and_foreign_specs(
    spec: str, error: type[InputError], what: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.json").write_text(spec)
    with pytest.raises(error, match=what) as raised:
        read_run_facts(tmp_path)
    assert "spec.json" in raised.value.where


@pytest.mark.parametrize(
    ("change", "what", "where"),
    [
        (lambda lines: [*lines[:2], b"{broken\n", *lines[2:]], "not JSON", "line 3"),
        (lambda lines: lines[1:], "instead of 'run_started'", "line 1"),
        (lambda lines: [*lines, b'{"event": "unheard_of"}\n'], "unheard_of", "line 5"),
    ],
)
def test_broken_journals(change: Any, what: str, where: str, desk: Path) -> None:
    an_ab(Path("run"), select={"limit": 2}, gates={})
    journal = Path("run") / "journal.jsonl"
    journal.write_bytes(b"".join(change(journal.read_bytes().splitlines(keepends=True)[:4])))
    with pytest.raises(RecordError, match=what) as error:
        read_run_facts(Path("run"))
    assert where in error.value.where


def test_a_broken_record(desk: Path) -> None:
    an_ab(Path("run"), select={"limit": 1})
    (Path("run") / "record.json").write_text("{}")
    with pytest.raises(RecordError, match=r"record\.json"):
        read_run_facts(Path("run"))
