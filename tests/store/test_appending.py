"""Files that only grow: a line is added whole or not at all; half a line is cut off and told."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError
from deepfact.store import files
from deepfact.store.files import append, cut_half_line


def test_what_is_added_is_at_the_end_and_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda _handle: synced.append(path.read_bytes()))
    with path.open("ab", buffering=0) as file:
        append(file, b"one\n")
        append(file, "Mühle\n".encode())
    assert synced == [b"one\n", "one\nMühle\n".encode()]


class Narrow:
    """A file on a disk that takes a few bytes at a time, and then no more."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room, self.name = file, room, file.name
        self.fileno, self.truncate = file.fileno, file.truncate

    def write(self, data: memoryview) -> int:
        if not self._room:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = min(3, self._room, len(data))
        self._room -= taken
        return int(self._file.write(data[:taken]))


@pytest.mark.parametrize("room", [0, 1, 3, 7])
def test_a_line_that_does_not_fit_is_not_there_at_all(tmp_path: Path, room: int) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("ab", buffering=0) as file:
        append(file, b"whole\n")
        with pytest.raises(OSError, match="No space left"):
            append(Narrow(file, room), b"too long\n")  # type: ignore[arg-type]
        append(Narrow(file, 100), b"in three parts\n")  # type: ignore[arg-type]
    assert path.read_bytes() == b"whole\nin three parts\n"


def test_a_file_that_was_deleted_or_replaced_takes_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("ab", buffering=0) as file:
        append(file, b"one\n")
        path.unlink()
        with pytest.raises(InputError, match="deleted or replaced") as caught:
            append(file, b"two\n")
        path.write_bytes(b"somebody else's\n")
        with pytest.raises(InputError, match="deleted or replaced"):
            append(file, b"two\n")
    assert caught.value.where == str(path)
    assert path.read_bytes() == b"somebody else's\n"


def test_a_file_system_that_counts_no_names_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fstat

    class Nameless:
        def __init__(self, status: os.stat_result) -> None:
            self.st_nlink, self.st_size = 0, status.st_size
            self.st_ino, self.st_dev = status.st_ino, status.st_dev

    path = tmp_path / "a.jsonl"
    with path.open("ab", buffering=0) as file:
        monkeypatch.setattr(os, "fstat", lambda handle: Nameless(real(handle)))
        append(file, b"one\n")
    monkeypatch.undo()
    assert path.read_bytes() == b"one\n"


@pytest.mark.parametrize(
    ("data", "cut"),
    [(b"", 0), (b"a\n", 0), (b"a\nbc", 2), (b"abc", 3), (b"a\n" + b"b" * 200, 200), (b"\n\x00", 1)],
)
@pytest.mark.parametrize("block", [1, 64, 65536])
def test_half_a_line_is_cut_off_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    data: bytes, cut: int, block: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(files, "BLOCK", block)
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "deepfact.store"):
        assert cut_half_line(path) == cut
    assert path.read_bytes() == data[: len(data) - cut]
    said = [f"{path}: the last line was half-written ({cut} bytes)"] if cut else []
    assert [text.partition(" and is cut off")[0] for text in caplog.messages] == said


def test_no_file_has_no_half_line(tmp_path: Path) -> None:
    assert cut_half_line(tmp_path / "none.jsonl") == 0
