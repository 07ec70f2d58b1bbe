"""Files: whole or not at all, UTF-8 whatever the locale, and errors that say what and where."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from deepfact.errors import InputError, NewerSchemaError, RecordError
from deepfact.records import Claim, KeyEntry
from deepfact.run_records import JournalEvent
from deepfact.store import files
from deepfact.store.files import (
    decode,
    jsonl,
    parse_record,
    read_blocks,
    read_jsonl,
    read_lines,
    read_raw_lines,
    read_record,
    read_text,
    write_bytes,
    write_many,
    write_text,
)

CLAIM = '{"id":"c1","text":"A mill."}'


# --- reading -----------------------------------------------------------------------------


def test_line_ends_are_kept(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("a\r\nb\rü".encode())
    assert read_text(tmp_path / "f") == "a\r\nb\rü"


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file") as caught:
        read_text(tmp_path / "f")
    assert caught.value.where == str(tmp_path / "f")
    with pytest.raises(InputError, match="no such file"):
        list(read_lines(tmp_path / "f"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    for reader in (read_text, lambda path: list(read_lines(path))):
        with pytest.raises(InputError, match="this is a folder"):
            reader(tmp_path)


def test_an_unreadable_file_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read_text(tmp_path / "f")


def test_a_file_that_vanishes_between_two_looks_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(b"x")

    def denied(*_: object, **__: object) -> object:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(files, "read_text", lambda path: "")
    with pytest.raises(OSError, match="Too many open files"):
        list(read_lines(tmp_path / "f"))


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"\xef\xbb\xbfname: x", "utf-8-sig"),
        (b"\xff\xfen\x00", "utf-16"),
        (b"\xfe\xff\x00n", "utf-16"),
    ],
)
def test_a_byte_order_mark_is_refused_and_the_encoding_that_reads_it_named(
    data: bytes, encoding: str
) -> None:
    for name in ("utf-8", "UTF_8", "utf8"):
        with pytest.raises(InputError, match="byte-order mark") as caught:
            decode(data, where="f.yaml", encoding=name)
    assert caught.value.fix.endswith(f"--encoding {encoding}")
    assert decode(data, where="f.yaml", encoding=encoding)[0] == "n"


def test_another_encoding_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not utf-8 \\(byte 0xfc\\)") as caught:
        decode("a\nb\nMühle".encode("cp1252"), where="f.csv")
    assert caught.value.where == "f.csv, line 3"
    assert "--encoding cp1252" in caught.value.fix
    (tmp_path / "f").write_bytes("a\nb\nMühle\n".encode("cp1252"))
    with pytest.raises(InputError) as caught:
        list(read_lines(tmp_path / "f"))
    assert caught.value.where == f"{tmp_path / 'f'}, line 3"
    assert [line for _, line in read_lines(tmp_path / "f", encoding="cp1252")][2] == "Mühle"


def test_an_unknown_encoding() -> None:
    with pytest.raises(InputError, match="unknown encoding 'latin-9000'"):
        decode(b"x", where="f", encoding="latin-9000")


def test_lines_are_split_on_lf_alone_and_blank_ones_left_out(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("a\u2028b\x85c\rd\r\n\n \t\nlast".encode())
    assert list(read_lines(tmp_path / "f")) == [(1, "a\u2028b\x85c\rd"), (4, "last")]


def test_a_line_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 10)
    (tmp_path / "f").write_bytes(b"short\n" + b"x" * 9 + b"\n" + b"y" * 11)
    lines = read_lines(tmp_path / "f")
    assert [next(lines)[0], next(lines)[0]] == [1, 2]
    with pytest.raises(InputError, match="the line is longer than") as caught:
        next(lines)
    assert caught.value.where.endswith("line 3")


# --- records -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ("", "not JSON"),
        ("[1]", "a JSON object is needed"),
        ('"x"', "a JSON object is needed"),
        ('{"id":"c1"}', "text: Field required"),
        ('{"id":"c 1","text":""}', "id: String should match"),
        ('{"id":"c1","text":"x","colour":"red"}', "colour: Extra inputs are not permitted"),
        ('{"id":"c1","text":"x","cites":["no hash"]}', "cites.0: String should match"),
        ('{"schema_version":0,"id":"c1","text":"x"}', "schema_version: Input should be 1"),
        ('{"schema_version":"9","id":"c1","text":"x"}', "schema_version: Input should be 1"),
        ("[" * 200_000, "nested too deeply"),
        ('{"id":' * 200_000, "nested too deeply"),
    ],
)
def test_a_broken_record_says_what_and_where(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "f.json").write_bytes(text.encode())
    with pytest.raises(RecordError) as caught:
        read_record(tmp_path / "f.json", Claim)
    assert problem in caught.value.what
    assert caught.value.where == str(tmp_path / "f.json")


def test_of_many_problems_three_are_told_and_the_rest_counted() -> None:
    text = '{"a":1,"b":2,"c":3,"id":"c1","text":"x","d":4,"e":5}'
    with pytest.raises(RecordError, match="; and 2 more"):
        parse_record(text, Claim, where="f")


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(f"{CLAIM}\n\n{{oops\n{CLAIM}\n", encoding="utf-8")
    records = read_jsonl(tmp_path / "f", Claim)
    assert next(records).id == "c1"
    with pytest.raises(RecordError, match="not JSON") as caught:
        next(records)
    assert caught.value.where == f"{tmp_path / 'f'}, line 3"


# --- migrations --------------------------------------------------------------------------


def split_statement(old: dict[str, Any]) -> dict[str, Any]:
    """A step from an imagined schema 0, in which a claim's text was its ``statement``."""
    data = {**old, "text": old["statement"], "schema_version": 1}
    del data["statement"]
    return data


def test_an_older_record_is_migrated_by_its_named_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(files.MIGRATIONS, ("Claim", 0), split_statement)
    old = '{"schema_version":0,"id":"c1","statement":"A mill."}'
    assert parse_record(old, Claim, where="f") == Claim(id="c1", text="A mill.")
    (tmp_path / "f").write_text(f"{CLAIM}\n{old}\n", encoding="utf-8")
    assert [claim.text for claim in read_jsonl(tmp_path / "f", Claim)] == ["A mill."] * 2


def test_steps_are_chained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(files.MIGRATIONS, ("Claim", 0), split_statement)
    monkeypatch.setitem(
        files.MIGRATIONS,
        ("Claim", -1),
        lambda old: {"schema_version": 0, "id": old["name"], "statement": old["statement"]},
    )
    oldest = '{"schema_version":-1,"name":"c1","statement":"A mill."}'
    assert parse_record(oldest, Claim, where="f") == Claim(id="c1", text="A mill.")


def test_a_migrated_record_that_does_not_fit_is_an_error_like_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(files.MIGRATIONS, ("Claim", 0), split_statement)
    with pytest.raises(RecordError, match="id: Field required") as caught:
        parse_record('{"schema_version":0,"statement":"A mill."}', Claim, where="f, line 2")
    assert caught.value.where == "f, line 2"


def test_a_step_is_for_its_own_record_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(files.MIGRATIONS, ("Claim", 0), split_statement)
    with pytest.raises(RecordError, match="schema_version: Input should be 1"):
        parse_record('{"schema_version":0,"claim_id":"c","label":"supported"}', KeyEntry, where="f")


def test_a_record_of_a_union_is_migrated_by_its_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        files.MIGRATIONS,
        ("version_committed", 0),
        lambda old: {**old, "schema_version": 1, "round": 1},
    )
    old = {
        "event": "version_committed",
        "schema_version": 0,
        "at": "2026-01-02T03:04:05Z",
        "version": 2,
        "state_hash": f"sha256:{'0' * 64}",
    }
    adapter: TypeAdapter[Any] = TypeAdapter(JournalEvent)
    assert parse_record(json.dumps(old), adapter, where="f").round == 1


def test_a_newer_schema_in_the_middle_of_a_file(tmp_path: Path) -> None:
    newer = '{"schema_version":2,"id":"c1","text":"x"}'
    (tmp_path / "f").write_text(f"{CLAIM}\n{newer}\n", encoding="utf-8")
    with pytest.raises(NewerSchemaError, match="upgrade deepfact") as caught:
        list(read_jsonl(tmp_path / "f", Claim))
    assert caught.value.where.endswith("line 2")


# --- writing -----------------------------------------------------------------------------


def test_writing_makes_folders_and_leaves_nothing_else(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "f.txt", "Mühle\n")
    assert (tmp_path / "a" / "b" / "f.txt").read_bytes() == "Mühle\n".encode()
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["f.txt"]


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    path = tmp_path / "f.txt"
    write_text(path, "old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if broken == "fsync" else (Path, "replace")), full)
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("able", [True, False])
def test_many_files_are_synced_at_once_and_before_any_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, able: bool
) -> None:
    """Windows has no `os.sync`."""
    waits: list[tuple[str, int]] = []  # what was called, and how many files were there

    def note(name: str) -> None:
        waits.append((name, len(list(tmp_path.glob("*.txt")))))

    monkeypatch.setattr(files, "MANY", 2)
    monkeypatch.setattr(os, "fsync", lambda _: note("fsync"))
    monkeypatch.setattr(os, "sync", lambda: note("sync"), raising=False)
    if not able:
        monkeypatch.delattr(os, "sync")
    write_many((tmp_path / f"{n}.txt", b"x") for n in range(count))
    first = [("sync", 0)] if able and count > 2 else [("fsync", 0)] * count
    assert waits == [*first, ("fsync", count)]  # last of all their folder


def test_a_folder_that_cannot_be_opened_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows cannot open folders."""
    real = os.open

    def no_folders(path: Any, *rest: Any, **more: Any) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", no_folders)
    write_bytes(tmp_path / "f", b"x")
    assert (tmp_path / "f").read_bytes() == b"x"


def test_lines_end_with_lf() -> None:
    assert jsonl(["a", "b"]) == "a\nb\n"
    assert jsonl([]) == ""


def test_the_locale_does_not_matter(tmp_path: Path) -> None:
    """Under the C locale and without UTF-8 mode, files are read and written as UTF-8."""
    script = """
import sys
from pathlib import Path
from deepfact.records import Claim
from deepfact.store.files import jsonl, read_jsonl, read_text, write_text
folder = Path(sys.argv[1])
claim = Claim(id="c1", text="M\\u00fchle \\u6c34\\u8eca")
write_text(folder / "out.jsonl", jsonl([claim.canonical()]))
assert list(read_jsonl(folder / "out.jsonl", Claim)) == [claim]
assert read_text(folder / "in.txt") == "Gr\\u00fc\\u00dfe"
"""
    (tmp_path / "in.txt").write_bytes("Grüße".encode())
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", "error", "-c", script, str(tmp_path)],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Mühle 水車".encode() in (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nbb\n\nccc", "\n\n", "a" * 50 + "\nb\n"])
def test_blocks_are_the_file_in_whole_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(text.encode())
    blocks = list(read_blocks(path, size=4))
    assert b"".join(block for _, block in blocks) == text.encode()
    assert all(block.endswith(b"\n") for _, block in blocks[:-1])
    for number, block in blocks:
        assert text.encode().split(b"\n")[number - 1] == block.split(b"\n")[0]


@pytest.mark.parametrize("after", [b"", b"\n", b"\nshort\n"])
def test_a_line_that_is_too_long_for_a_block_has_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bytes
) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 40)
    path = tmp_path / "x"
    path.write_bytes(b"one\ntwo\n" + b"a" * 41 + after)
    for read in (lambda: list(read_blocks(path, size=6)), lambda: list(read_raw_lines(path))):
        with pytest.raises(InputError, match="x, line 3"):
            read()
    path.write_bytes(b"one\ntwo\n" + b"a" * 39 + after)
    assert [number for number, _ in read_blocks(path, size=6)]
