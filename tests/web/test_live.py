"""The journal as it grows: only whole lines, each once, and another file from its beginning."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from deepfact.errors import RecordError
from deepfact.run_records import AuditClosed
from deepfact.store.journal import Journal
from deepfact.web.live import LiveJournal

AT = datetime(2026, 1, 2, tzinfo=UTC)


def test_events_are_seen_as_soon_as_they_are_whole(tmp_path: Path) -> None:
    live = LiveJournal(tmp_path)
    assert live.events() == ()
    with Journal(tmp_path) as journal:
        for number in (1, 2):
            journal.append(AuditClosed(at=AT, round=number))
            assert [event.round for event in live.events()] == list(range(1, number + 1))
    line = (AuditClosed(at=AT, round=3).canonical() + "\n").encode()
    with live.path.open("ab") as file:
        file.write(line[:20])
        file.flush()
        assert len(live.events()) == 2
        file.write(line[20:])
    assert len(live.events()) == 3


def test_a_half_line_that_is_cut_off_and_written_anew_is_read_right(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append(AuditClosed(at=AT, round=1))
    live = LiveJournal(tmp_path)
    with live.path.open("ab") as file:
        file.write(b'{"at":"20')
    assert len(live.events()) == 1
    with Journal(tmp_path) as journal:
        journal.append(AuditClosed(at=AT, round=7))
    assert [event.round for event in live.events()] == [1, 7]


def test_another_file_in_its_place_is_read_from_the_beginning(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append(AuditClosed(at=AT, round=1))
    live = LiveJournal(tmp_path)
    live.events()
    other = tmp_path / "other"
    other.write_text(AuditClosed(at=AT, round=5).canonical() + "\n" * 3, encoding="utf-8")
    other.replace(live.path)
    assert [event.round for event in live.events()] == [5]


def test_a_line_that_is_no_event_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(RecordError, match=r"journal\.jsonl"):
        LiveJournal(tmp_path).events()
