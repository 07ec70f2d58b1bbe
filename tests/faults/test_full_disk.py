"""A disk that fills up: what was kept stays, what was being written is not half there, and the
same command goes on when there is space again."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import DeepFactError, InputError
from deepfact.model_records import Completion, Message, Request
from deepfact.research_records import ResearchClaim, SourceCard
from deepfact.run_records import VersionCommitted
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import write_many, write_text
from deepfact.store.integrity import verify
from deepfact.store.journal import Journal, now, read_events
from deepfact.store.ledger import LedgerStore, read_ledger
from deepfact.store.ledger_records import ClaimAdded
from deepfact.store.responses import ResponseStore

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
SPEC = """
name: trial
benchmark: small@1
challenger: {kind: quoting}
auditors: [simulated-expert]
commit_to: run
date: 2026-01-05T00:00:00Z
"""


def event(number: int) -> VersionCommitted:
    return VersionCommitted(at=now(), round=1, version=number, state_hash=f"sha256:{number:064x}")


def fill_journal(folder: Path, journal: Journal) -> list[Any]:
    """Events until one does not fit any more; those that were added."""
    kept: list[Any] = []
    with pytest.raises(OSError) as caught:
        for number in range(1, 100_000):
            made = event(number)
            journal.append(made)
            kept.append(made)
    assert caught.value.errno == errno.ENOSPC
    assert journal.events == kept, "what is not on disk does not count"
    return kept


def test_a_journal_keeps_every_event_that_it_said_it_had(small_disk: Any) -> None:
    folder = small_disk.folder / "run"
    folder.mkdir()
    small_disk.leave(20_000)
    with Journal(folder) as journal:
        kept = fill_journal(folder, journal)
    assert len(kept) > 20
    assert read_events(folder / "journal.jsonl") == kept
    with Journal(folder) as journal:  # let go of, and cut where the disk was full
        assert journal.events == kept
        small_disk.clear()
        journal.append(event(7))
    assert read_events(folder / "journal.jsonl")[:-1] == kept


def test_events_after_one_that_did_not_fit_are_whole(small_disk: Any) -> None:
    """Somebody who goes on in the same process, as the audit page does."""
    folder = small_disk.folder / "run"
    folder.mkdir()
    small_disk.leave(20_000)
    with Journal(folder) as journal:
        kept = fill_journal(folder, journal)
        small_disk.clear()
        later = event(8)
        journal.append(later)
        assert journal.events == [*kept, later]
    assert read_events(folder / "journal.jsonl") == [*kept, later]


def test_a_round_on_a_full_disk_ends_with_a_message_and_goes_on_later(
    desk: Path, deepfact: RunCommand, small_disk: Any
) -> None:
    Path("round.yaml").write_text(SPEC, "utf-8")
    words = ["round", "run", "round.yaml", "--out"]
    assert deepfact(*words, "calm").returncode == 0
    out = small_disk.folder / "run"
    for room in (0, 30_000, 150_000):
        small_disk.leave(room)
        done = deepfact(*words, out)
        assert done.returncode == 2, done.stdout + done.stderr
        assert "No space left on device" in done.stderr and "Traceback" not in done.stderr
    small_disk.clear()
    done = deepfact(*words, out)
    assert done.returncode == 0, done.stderr
    assert (out / "record.json").read_bytes() == Path("calm/record.json").read_bytes()
    assert [path.name for path in out.rglob("*.part")] == []


def test_a_commit_on_a_full_disk_leaves_the_old_version(small_disk: Any, make: Any) -> None:
    store = make.store(small_disk.folder / "small")
    before = store.load().state.state_hash
    given = {"parent": 1, "author": "a", "date": make.WHEN, "note": "n", "sources": ()}
    many = [make.add(f"d{number}", text="long " * 400) for number in range(200)]
    small_disk.leave(150_000)
    with pytest.raises(OSError, match="No space left"):
        store.commit(many, **given)
    again = BenchmarkStore(small_disk.folder / "small")
    assert again.versions() == [1] and verify(again) == []
    assert again.load().state.state_hash == before
    small_disk.clear()
    again.commit(many, **given)
    assert again.versions() == [1, 2] and verify(again) == []


def test_files_are_the_old_ones_and_nothing_lies_about(small_disk: Any) -> None:
    paths = [small_disk.folder / name for name in ("a.txt", "b.txt")]
    for path in paths:
        write_text(path, "old")
    small_disk.leave(50_000)
    with pytest.raises(OSError, match="No space left"):
        write_many((path, b"new" * 10_000) for path in paths)
    small_disk.clear()
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert sorted(path.name for path in small_disk.folder.iterdir()) == ["a.txt", "b.txt"]


def test_a_ledger_keeps_what_it_had(small_disk: Any, make: Any) -> None:
    folder = small_disk.folder / "run"
    card = SourceCard(source=make.source())
    when = make.WHEN
    with LedgerStore(folder) as store:
        store.add_cards([card], who="a", when=when)
        claims = [
            ClaimAdded(claim=ResearchClaim(id=f"c{n}", text="so " * 500, card=card.source.id))
            for n in range(100)
        ]
        small_disk.leave(40_000)
        with pytest.raises(OSError, match="No space left"):
            store.add(claims, who="a", when=when)
        assert store.ledger == read_ledger(folder), "what is on disk counts, and nothing else"
    assert read_ledger(folder).cards == (card,)
    small_disk.clear()
    with LedgerStore(folder) as store:
        held = len(store.ledger.claims)
        assert store.add(claims, who="a", when=when) == 100 - held
    assert len(read_ledger(folder).claims) == 100


def test_a_response_store_says_that_the_disk_is_full(small_disk: Any) -> None:
    def request(number: int) -> Request:
        return Request(model="m", messages=(Message(role="user", content=f"claim {number}"),))

    path = small_disk.folder / "r.sqlite"
    with ResponseStore(path) as store:
        store.put(request(0), 0, Completion(text="kept", model="m"))
        small_disk.leave(60_000)
        with pytest.raises(InputError, match=r"disk is full|disk I/O error"):
            for number in range(1, 1_000):
                store.put(request(number), 0, Completion(text="x" * 5_000, model="m"))
        count = len(store)
        assert count > 1
    small_disk.clear()
    with ResponseStore(path) as store:
        store.check()
        assert len(store) == count
        found = store.get(request(0).key(0))
        assert found is not None and found.text == "kept"
        store.put(request(5_000), 0, Completion(text="later", model="m"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a limit on the size of files")
def test_a_limit_on_the_size_of_files_is_told_like_a_full_disk(tmp_path: Path) -> None:
    """The same without root: the system refuses the write in the middle of a line."""
    script = """
import resource, signal, sys
from pathlib import Path
from deepfact.run_records import VersionCommitted
from deepfact.store.journal import Journal, now
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
try:
    with Journal(Path(sys.argv[1])) as journal:
        for number in range(1, 100):
            journal.append(VersionCommitted(at=now(), round=1, version=number,
                                            state_hash="sha256:" + "0" * 64))
except OSError as error:
    print(len(journal.events), error.strerror)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    count, _, why = done.stdout.partition(" ")
    assert why.strip() == "File too large", done.stderr
    events = read_events(tmp_path / "journal.jsonl")
    assert len(events) == int(count) > 5
    with Journal(tmp_path) as journal:
        assert journal.events == events
    assert not issubclass(OSError, DeepFactError)
