"""A user's mistakes, one line of the table each: a clear message, exit code 2, no traceback, and
everything left as it was."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

GOOD = '{"id": "c1", "text": "The mill closed.", "label": "supported"}\n'
SOURCE = '{"id": "s1", "title": "Notes", "text": "The mill closed in 1931."}\n'
ROUND = "name: trial\nbenchmark: small@1\nchallenger: {kind: overlap}\nauditors: [person]\n"
VERSION = Path("benchmarks/small/versions")


def write(name: str, content: str | bytes) -> Callable[[], None]:
    """Makes a file."""
    data = content.encode() if isinstance(content, str) else content

    def prepare() -> None:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(data)

    return prepare


def both(*steps: Callable[[], None]) -> Callable[[], None]:
    def prepare() -> None:
        for step in steps:
            step()

    return prepare


def edit(path: Path, old: str, new: str) -> Callable[[], None]:
    def prepare() -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return prepare


def nothing() -> None:
    """The mistake is in the words alone."""


IMPORT = "bench import jsonl claims.jsonl --name mine"
CSV = "bench import csv claims.csv --name mine"
RUN = "round run round.yaml"

TABLE: dict[str, tuple[Callable[[], None], str, tuple[str, ...]]] = {
    # what is wrong: (how to get there, the command, what the message says)
    # --- rows
    "unknown label": (
        write("claims.jsonl", GOOD.replace("supported", "suported")), IMPORT,
        ("claims.jsonl, line 1", "'suported'", "did you mean 'supported'"),
    ),
    "duplicate claim id": (
        write("claims.jsonl", GOOD + GOOD.replace("closed", "burnt")), IMPORT,
        ("claims.jsonl, line 2", "c1", "line 1"),
    ),
    "duplicate claim id of an earlier import": (
        both(write("claims.jsonl", GOOD.replace('"c1"', '"fin-1-01"'))),
        "bench import jsonl claims.jsonl --name small", ("fin-1-01", "another claim of that id"),
    ),
    "claim that cites an unknown source": (
        both(write("claims.jsonl", GOOD.replace("}", ', "cites": ["s1", "s2"]}')),
             write("sources.jsonl", SOURCE)), IMPORT + " --sources sources.jsonl",
        ("claims.jsonl, line 1", "s2"),
    ),
    "evidence from nowhere": (
        write("claims.jsonl", GOOD.replace("}", ', "cites": ["s1"]}')), IMPORT, ("s1",),
    ),
    "empty file": (write("claims.jsonl", ""), IMPORT, ("claims.jsonl", "empty")),
    "empty csv": (write("claims.csv", "\n"), CSV, ("claims.csv", "empty")),
    "csv with a header alone": (write("claims.csv", "id,text,label\n"), CSV, ("no rows",)),
    "no such file": (nothing, IMPORT, ("claims.jsonl", "no such file")),
    "10 MB line": (
        write("claims.jsonl", GOOD + GOOD.replace("closed", "c" * 10_000_000)), IMPORT,
        ("claims.jsonl, line 2", "8 MB"),
    ),
    "10 MB line in a csv": (
        write("claims.csv", "id,text\nc1," + "c" * 10_000_000 + "\n"), CSV,
        ("claims.csv, line 2", "8 MB"),
    ),
    "not JSON": (
        write("claims.jsonl", GOOD + "{'id': 'c2'}\n"), IMPORT, ("claims.jsonl, line 2", "JSON"),
    ),
    "csv in another encoding": (
        write("claims.csv", "id,text,label\nc1,Die Mühle schloss.,supported\n".encode("cp1252")),
        CSV, ("claims.csv, line 2", "not utf-8", "0xfc", "--encoding"),
    ),
    "csv with a byte-order mark and CRLF": (
        write("claims.csv", "\ufeffid,text,label\r\nc1,The mill closed.,supported\r\n"), CSV,
        ("claims.csv", "byte-order mark", "--encoding utf-8-sig"),
    ),
    "csv in UTF-16": (
        write("claims.csv", "id,text,label\r\nc1,The mill closed.,supported\r\n".encode("utf-16")),
        CSV, ("byte-order mark", "--encoding utf-16"),
    ),
    "unknown encoding": (
        write("claims.csv", "id,text\nc1,x\n"), CSV + " --encoding utf-9", ("utf-9",),
    ),
    "unknown format": (
        write("claims.jsonl", GOOD), "bench import jsnl claims.jsonl", ("'jsonl'",),
    ),
    "unknown option of a format": (
        write("claims.jsonl", GOOD), IMPORT + " -o splitt=dev", ("splitt",),
    ),
    # --- the store
    "two versions with one number": (
        lambda: shutil.copytree(VERSION / "1", VERSION / "01"), "bench show small",
        ("two versions have the number 1",),
    ),
    "a version's folder under another number": (
        lambda: shutil.copytree(VERSION / "1", VERSION / "2"), "bench show small",
        ("manifest.json", "version 1", "folder of 2"),
    ),
    "manifest that does not match": (
        edit(VERSION / "1/revisions.jsonl", '"label":"supported"', '"label":"contradictory"'),
        "bench show small", ("revisions.jsonl", "manifest does not match"),
    ),
    "manifest with another state": (
        edit(VERSION / "1/manifest.json", '"state_hash":"sha256:'.replace(":", ": ", 1),
             '"state_hash": "sha256:0'), "verify small --verifier overlap --out v.jsonl",
        ("manifest.json",),
    ),
    "newer schema of a manifest": (
        edit(VERSION / "1/manifest.json", '"schema_version": 1', '"schema_version": 2'),
        "bench show small", ("manifest.json", "newer", "pip install --upgrade"),
    ),
    "newer schema of a key": (
        both(edit(Path("benchmarks/small/keys/author.jsonl"), '"schema_version":1',
                  '"schema_version":9'), write("v.csv", "claim_id,label\nx,supported\n")),
        "score v.csv --benchmark small --key author", ("author.jsonl, line 1", "newer"),
    ),
    "a benchmark name with a path in it, made": (
        nothing, "bench init ../mine", ("'../mine' is no benchmark name", "--root"),
    ),
    "a benchmark name with a path in it, imported": (
        write("claims.jsonl", GOOD), "bench import jsonl claims.jsonl --name ../mine",
        ("'../mine' is no benchmark name", "--root"),
    ),
    "a benchmark name with a folder in it, imported": (
        write("claims.jsonl", GOOD), "bench import jsonl claims.jsonl --name a/mine",
        ("'a/mine' is no benchmark name",),
    ),
    "a benchmark that is not there": (nothing, "bench show smal", ("did you mean 'small'",)),
    "a version that is not there": (nothing, "bench show small@7", ("no version 7", "it has: 1")),
    "a version that is no number": (nothing, "bench show small@x", ("'x' is no version number",)),
    "a claim that is not there": (nothing, "bench show small nope", ("no claim 'nope'",)),
    "a label that is not there": (
        nothing, "bench show small --label suported", ("did you mean 'supported'",),
    ),
    "a name that is taken": (nothing, "bench init small", ("exists and is not empty",)),
    # --- configs
    "invalid YAML": (
        write("round.yaml", "name: trial\nrounds: [1, 2\n"), RUN,
        ("round.yaml, line 3, column 1", "invalid YAML"),
    ),
    "YAML that builds objects": (
        write("round.yaml", "name: !!python/object/apply:os.system [ls]\n"), RUN,
        ("line 1", "invalid YAML"),
    ),
    "YAML with a control character": (
        write("round.yaml", "name: a\x07b\n"), RUN, ("round.yaml", "invalid YAML"),
    ),
    "YAML with a day that is none": (
        write("round.yaml", ROUND + "date: 2026-13-45\n"), RUN,
        ("round.yaml, line 5, column 7", "2026-13-45"),
    ),
    "YAML with a list for a key": (
        write("round.yaml", "? [a, b]\n: c\n"), RUN, ("round.yaml", "line 1"),
    ),
    "YAML that holds itself": (
        write("round.yaml", "name: &a [*a]\n"), RUN, ("round.yaml",),
    ),
    "unknown key": (
        write("round.yaml", ROUND + "auditor: [ada]\n"), RUN,
        ("round.yaml, line 5, column 1", "unknown key 'auditor'", "did you mean 'auditors'"),
    ),
    "unknown key further in": (
        write("round.yaml", ROUND + "controls:\n  agred: 0.2\n"), RUN,
        ("line 6, column 3", "'controls.agred'", "did you mean 'agreed'"),
    ),
    "a key given twice": (
        write("round.yaml", ROUND + "name: other\n"), RUN, ("line 5", "'name' is given twice"),
    ),
    "a value that does not fit": (
        write("round.yaml", ROUND + "controls: {agreed: 7}\n"), RUN,
        ("line 5, column 20", "controls.agreed"),
    ),
    "a date without a zone": (
        write("round.yaml", ROUND + "date: 2026-01-05\n"), RUN, ("line 5", "date"),
    ),
    "config in another encoding": (
        write("round.yaml", "name: Mühle\n".encode("cp1252")), RUN, ("round.yaml, line 1", "0xfc"),
    ),
    "an auditor that is not declared": (
        write("round.yaml", ROUND.replace("person", "persn")), RUN, ("did you mean 'person'",),
    ),
    "an option that an auditor does not have": (
        both(write("round.yaml", ROUND.replace("person", "judge")),
             write("auditors/judge.yaml",
                   "name: judge\nkind: policy\noptions: {acuracy: 1}\n")), RUN,
        ("no option 'acuracy'", "did you mean 'accuracy'"),
    ),
    "a verifier that does not exist": (
        nothing, "verify small --verifier overlapp --out v.jsonl", ("did you mean 'overlap'",),
    ),
    "a verifier without a name": (
        nothing, "verify small --verifier= --out v.jsonl", ("verifier",),
    ),
    "a results folder that exists": (
        both(write("round.yaml", ROUND), write("results/trial/notes.txt", "mine")), RUN,
        ("results/trial", "holds no run", "--out"),
    ),
    "a results folder that is a file": (
        both(write("round.yaml", ROUND), write("results/trial", "mine")), RUN,
        ("results/trial", "not a folder"),
    ),
    "a results folder below a file": (
        both(write("round.yaml", ROUND), write("results", "mine")), RUN, ("results",),
    ),
    "a results folder that exists, in a dry run": (
        both(write("round.yaml", ROUND), write("results/trial/notes.txt", "mine")),
        RUN + " --dry-run", ("holds no run",),
    ),
    "a run that is not there": (nothing, "round status results/none", ("no run in this folder",)),
    "a run of newer deepfact": (
        write("results/trial/spec.json", json.dumps(
            {"schema_version": 2, "spec": {}, "auditors": []})), "round resume results/trial",
        ("spec.json", "newer"),
    ),
    # --- verdicts
    "verdicts that exist": (
        write("v.jsonl", "mine"), "verify small --verifier overlap --out v.jsonl",
        ("v.jsonl", "--force"),
    ),
    "verdicts into a folder": (
        write("v.jsonl/x", "mine"), "verify small --verifier overlap --out v.jsonl --force",
        ("v.jsonl", "folder"),
    ),
    "verdicts below a file": (
        write("v", "mine"), "verify small --verifier overlap --out v/v.jsonl",
        ("v: this is a file, not a folder",),
    ),
    "verdicts with an unknown label": (
        write("v.jsonl", '{"claim_id": "fin-1-01", "label": "true"}\n'),
        "score v.jsonl --benchmark small", ("v.jsonl, line 1", "'true'"),
    ),
    "verdicts without an id": (
        write("v.csv", "claim,label\nx,supported\n"), "score v.csv --benchmark small",
        ("v.csv", "claim_id", "claim, label"),
    ),
    "verdicts with an empty id": (
        write("v.csv", "claim_id,label\n,supported\n"), "score v.csv --benchmark small",
        ("v.csv, line 2", "claim id"),
    ),
    "verdicts scored on a key that is not there": (
        write("v.csv", "claim_id,label\nfin-1-01,supported\n"),
        "score v.csv --benchmark small --key autor", ("no key 'autor'",),
    ),
    "an export that exists": (
        write("x.jsonl", "mine"), "bench export small --to x.jsonl", ("x.jsonl", "--force"),
    ),
    "an export of an unknown kind": (
        nothing, "bench export small --to x.parquet", ("'.parquet'", ".jsonl or .csv"),
    ),
}  # fmt: skip


def tree(folder: Path) -> str:
    """One hash over the names and bytes of everything in a folder."""
    hashed = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        hashed.update(str(path.relative_to(folder)).encode() + b"\0")
        hashed.update(path.read_bytes() if path.is_file() else b"folder")
    return hashed.hexdigest()


@pytest.mark.parametrize("mistake", TABLE)
def test_a_mistake_is_explained_and_changes_nothing(
    mistake: str, desk: Path, deepfact: Callable[..., object]
) -> None:
    prepare, words, parts = TABLE[mistake]
    prepare()
    before = tree(desk.parent)
    done = deepfact(*words.split())
    said = done.stderr
    assert "Traceback" not in said and "error: " in said, said
    assert [part for part in parts if part not in said] == [], said
    assert done.returncode == 2, said
    assert done.stdout == ""
    assert tree(desk.parent) == before
