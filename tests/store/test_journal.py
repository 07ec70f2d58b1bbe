"""The journal: only grows, durable before it counts, held by one, repaired when half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import NewerSchemaError, RecordError, ResultsExistError
from deepfact.records import sha256_of
from deepfact.run_records import Answered, RunStarted, VersionCommitted
from deepfact.store.files import write_text
from deepfact.store.journal import Journal, now, read_events


def started(make: Any) -> RunStarted:
    state = sha256_of("state")
    return RunStarted(
        at=make.WHEN, spec_hash=state, date=make.WHEN, base_version=1, base_state=state
    )


def answered(make: Any, claim_id: str, verifier: str = "local") -> Answered:
    verdict = make.verdict(claim_id, rationale="Mühle\u2028\n1898")
    return Answered(at=make.WHEN, verifier=verifier, outcome=verdict)


def filled(make: Any, folder: Path, claims: int = 3) -> list[Any]:
    events = [started(make), *(answered(make, f"c{n}") for n in range(claims))]
    with Journal(folder) as journal:
        for event in events:
            journal.append(event)
    return events


def test_events_come_back_in_the_order_in_which_they_were_added(make: Any, tmp_path: Path) -> None:
    events = filled(make, tmp_path / "run")
    with Journal(tmp_path / "run") as journal:
        assert journal.events == events
        assert journal.repaired == 0
        journal.append(answered(make, "c9"))
        assert journal.events == [*events, answered(make, "c9")]
    assert read_events(tmp_path / "run" / "journal.jsonl") == [*events, answered(make, "c9")]


def test_what_goes_before_the_first_event_is_added_once_and_only_then(
    make: Any, tmp_path: Path
) -> None:
    events = filled(make, tmp_path)
    with Journal(tmp_path) as journal:
        journal.before = lambda: answered(make, "before")
    assert read_events(tmp_path / "journal.jsonl") == events
    with Journal(tmp_path) as journal:
        journal.before = lambda: answered(make, "before")
        journal.append(answered(make, "c8"))
        journal.append(answered(make, "c9"))
    added = [answered(make, name) for name in ("before", "c8", "c9")]
    assert read_events(tmp_path / "journal.jsonl") == [*events, *added]


def test_a_new_run_has_an_empty_journal(tmp_path: Path) -> None:
    assert read_events(tmp_path / "journal.jsonl") == []
    with Journal(tmp_path / "a" / "b") as journal:
        assert journal.events == []


def test_the_journal_only_grows(make: Any, tmp_path: Path) -> None:
    filled(make, tmp_path)
    before = (tmp_path / "journal.jsonl").read_bytes()
    with Journal(tmp_path) as journal:
        journal.append(answered(make, "c0"))
    assert (tmp_path / "journal.jsonl").read_bytes().startswith(before)


def test_events_are_found_by_kind_and_condition(make: Any, tmp_path: Path) -> None:
    filled(make, tmp_path)
    with Journal(tmp_path) as journal:
        journal.append(answered(make, "c1", verifier="panel"))
        assert len(journal.find(Answered)) == 4
        found = journal.find(Answered, lambda event: event.outcome.claim_id == "c1")
        assert [event.verifier for event in found] == ["local", "panel"]
        assert journal.find(VersionCommitted) == []


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_half_written_last_line_is_cut_and_said_so(make: Any, tmp_path: Path, cut: int) -> None:
    events = filled(make, tmp_path)
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    path.write_bytes(whole[:-cut])
    assert read_events(path) == events[:-1]  # somebody who only looks
    with Journal(tmp_path) as journal:
        assert journal.repaired == last - cut
        assert journal.events == events[:-1]
        journal.append(events[-1])
    assert path.read_bytes() == whole


def test_a_line_of_nothing_but_zeros_is_cut_too(make: Any, tmp_path: Path) -> None:
    events = filled(make, tmp_path)
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b"\x00" * 512)
    with Journal(tmp_path) as journal:
        assert (journal.events, journal.repaired) == (events, 512)


def test_a_journal_whose_only_line_is_half_written(make: Any, tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(b'{"event":"run_st')
    with Journal(tmp_path) as journal:
        assert (journal.events, journal.repaired) == ([], 16)


@pytest.mark.parametrize(
    "line", ["{oops", '{"event":"unheard_of"}', '{"event":"answered","at":"x"}', "[]", "\x00\x00"]
)
def test_a_broken_line_in_the_middle_is_named_and_nothing_is_touched(
    make: Any, tmp_path: Path, line: str
) -> None:
    filled(make, tmp_path)
    path = tmp_path / "journal.jsonl"
    lines = path.read_text("utf-8").split("\n")
    lines[1] = line
    path.write_bytes("\n".join(lines).encode())
    before = path.read_bytes()
    for _ in range(2):  # the lock is free again after the first time
        with pytest.raises(RecordError) as caught, Journal(tmp_path):
            pass
        assert caught.value.where == f"{path}, line 2"
    assert path.read_bytes() == before


def test_a_line_of_a_newer_deepfact_says_to_upgrade(make: Any, tmp_path: Path) -> None:
    filled(make, tmp_path)
    with (tmp_path / "journal.jsonl").open("ab") as file:
        newer = {**json.loads(answered(make, "c1").canonical()), "schema_version": 2}
        file.write(json.dumps(newer).encode() + b"\n")
    with pytest.raises(NewerSchemaError, match="upgrade deepfact"), Journal(tmp_path):
        pass


def test_a_second_holder_is_refused(make: Any, tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        with pytest.raises(ResultsExistError, match="in use by another process") as caught:
            Journal(tmp_path).__enter__()
        assert caught.value.where == str(tmp_path)
        script = "import sys; from pathlib import Path; from deepfact.store.journal import Journal"
        script += "\nwith Journal(Path(sys.argv[1])): pass"
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True
        )
        assert "ResultsExistError" in done.stderr
        journal.append(started(make))
    with Journal(tmp_path) as journal:
        assert journal.events == [started(make)]


def test_a_failed_run_lets_go_of_its_journal(make: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="out of luck"), Journal(tmp_path) as journal:
        journal.append(started(make))
        raise RuntimeError("out of luck")
    with Journal(tmp_path) as journal:
        assert journal.events == [started(make)]


def test_a_line_is_on_disk_before_anything_acts_on_it(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    with Journal(tmp_path) as journal:
        real = os.fsync

        def fsync(handle: int) -> None:
            synced.append(journal.path.read_bytes())
            assert len(journal.events) == len(synced) - 1
            real(handle)

        monkeypatch.setattr(os, "fsync", fsync)
        for n in range(3):
            journal.append(answered(make, f"c{n}"))
    assert [data.count(b"\n") for data in synced] == [1, 2, 3]


def test_what_a_killed_writer_left_is_cleared(make: Any, tmp_path: Path) -> None:
    write_text(tmp_path / ".record.json.abc.part", "half")
    with Journal(tmp_path):
        assert list(tmp_path.glob("*.part")) == []


def test_a_killed_run_keeps_every_line_it_had_added(tmp_path: Path) -> None:
    """SIGKILL right after the third append: all three are there."""
    script = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from deepfact.run_records import VersionCommitted
from deepfact.store.journal import Journal
with Journal(Path(sys.argv[1])) as journal:
    for number in range(1, 4):
        journal.append(VersionCommitted(at=datetime.now(UTC), round=number, version=number,
                                        state_hash="sha256:" + "0" * 64))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], timeout=60, check=False)
    with Journal(tmp_path) as journal:
        assert [event.version for event in journal.find(VersionCommitted)] == [1, 2, 3]


def test_the_clock_has_a_zone() -> None:
    assert now().utcoffset() is not None
