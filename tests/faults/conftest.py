"""Disks that are full or read-only, as the system itself makes them: small mounts, which need root
on Linux. Where they cannot be made the tests are skipped, and say so; what can be shown without
root is shown without (`test_prefixes.py`, and the limit on file size in `test_full_disk.py`)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ReadOnly = Callable[[Path], None]


def _mount(*words: str) -> bool:
    try:
        done = subprocess.run(["mount", *words], capture_output=True, check=False, timeout=20)
    except OSError:
        return False
    return done.returncode == 0


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False, timeout=20)


class SmallDisk:
    """A mounted disk of one megabyte. What is left on it is set by a file of ballast."""

    SIZE = 1024 * 1024

    def __init__(self, folder: Path) -> None:
        self.folder, self._ballast = folder, folder / "ballast"

    def leave(self, size: int) -> None:
        """Leave about so many bytes free."""
        self._ballast.unlink(missing_ok=True)
        self.folder.mkdir(exist_ok=True)
        import os

        free = os.statvfs(self.folder)
        room = free.f_bavail * free.f_frsize - size
        if room > 0:
            self._ballast.write_bytes(b"\x00" * room)

    def clear(self) -> None:
        """Free the space again."""
        self._ballast.unlink(missing_ok=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A real disk that can be filled up."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux" or not _mount("-t", "tmpfs", "-o", f"size={SmallDisk.SIZE}",
                                             "tmpfs", str(folder)):  # fmt: skip
        pytest.skip("mounting a small disk needs root on Linux")
    try:
        yield SmallDisk(folder)
    finally:
        _unmount(folder)


@pytest.fixture
def read_only() -> Iterator[ReadOnly]:
    """Makes a folder read-only, for root too, by a read-only bind mount of it onto itself."""
    made: list[Path] = []

    def protect(folder: Path) -> None:
        name = str(folder.resolve())
        if sys.platform != "linux" or not _mount("--bind", name, name):
            pytest.skip("a read-only mount needs root on Linux")
        made.append(folder.resolve())
        if not _mount("-o", "remount,ro,bind", name):
            pytest.skip("a read-only mount needs root on Linux")

    yield protect
    for folder in made:
        _unmount(folder)
