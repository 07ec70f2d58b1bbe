"""The table of formats, and how options reach an importer."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from deepfact import plugins
from deepfact.errors import InputError
from deepfact.importers import FORMATS, formats, importer

WHEN = "2025-01-01T00:00:00Z"


def test_every_shipped_format_has_its_function() -> None:
    for target in FORMATS.values():
        assert callable(EntryPoint("x", target, "deepfact.importers").load())
    assert set(FORMATS) <= set(formats())


def test_unknown_format() -> None:
    with pytest.raises(InputError, match="did you mean 'scifact'") as caught:
        importer("scifat")
    assert caught.value.exit_code == 2


def test_options_of_a_command_line_are_converted_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "a", "text": "t"}\n{"id": 1.5, "text": "t"}\n', encoding="utf-8")
    read = importer("jsonl")
    assert len(read(file, when=WHEN, skip_bad="true").skipped) == 1
    with pytest.raises(InputError, match="did you mean 'skip_bad'"):
        read(file, when=WHEN, skipbad="true")
    with pytest.raises(InputError, match="when"):
        read(file)


def _third_party(path: Path) -> str:
    return f"read {path.name}"


def test_entry_points_add_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "theirs"

        def load(self) -> object:
            return _third_party

    def points(*, group: str, name: str = "theirs") -> list[Point]:
        return [Point()] if (group, name) == ("deepfact.importers", "theirs") else []

    monkeypatch.setattr(plugins, "entry_points", points)
    assert "theirs" in formats()
    assert importer("theirs")(Path("x.dat")) == "read x.dat"
