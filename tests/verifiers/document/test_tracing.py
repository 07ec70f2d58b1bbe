"""The file of traces: one line each, the last one counts, a torn line harms no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from document_kit import ask, document

from deepfact.errors import NewerSchemaError, RecordError
from deepfact.store.files import parse_record
from deepfact.trace_records import Trace
from deepfact.verifiers.document.tracing import TraceFile, read_traces

GOLDEN = Path(__file__).parents[2] / "golden" / "traces" / "Trace.jsonl"


def test_the_golden_traces_parse_and_are_written_again_byte_for_byte() -> None:
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    assert len(lines) >= 2
    seen: set[str] = set()
    for line in lines:
        trace = parse_record(line, Trace, where="golden")
        assert (trace.canonical() + "\n").encode("utf-8") == line
        seen |= trace.model_fields_set
    assert seen == set(Trace.model_fields)


def test_a_newer_schema_and_an_unknown_key_are_refused() -> None:
    line = GOLDEN.read_text("utf-8").splitlines()[0]
    with pytest.raises(NewerSchemaError):
        parse_record(line.replace('"schema_version":1', '"schema_version":2'), Trace, where="x")
    with pytest.raises(RecordError):
        parse_record(line.replace('"claim_id"', '"claim"'), Trace, where="x")


def test_the_last_trace_of_a_claim_counts(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "traces.jsonl"
    TraceFile(file).keep([Trace(claim_id="c", verifier="v", failure="first")])
    TraceFile(file).keep([Trace(claim_id="c", verifier="v"), Trace(claim_id="d", verifier="v")])
    assert {name: one.failure for name, one in read_traces(file).items()} == {"c": "", "d": ""}
    assert len(file.read_text("utf-8").splitlines()) == 3


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_line_that_a_kill_cut_off_harms_no_other(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "traces.jsonl"
    TraceFile(file).keep([Trace(claim_id="a", verifier="v")])
    TraceFile(file).keep([Trace(claim_id="b", verifier="v")])
    file.write_bytes(file.read_bytes()[:-cut])
    TraceFile(file).keep([Trace(claim_id="c", verifier="v")])
    found = set(read_traces(file))
    assert {"a", "c"} <= found
    assert ("b" in found) == (cut == 1)  # with its end alone missing, the line is whole


def test_a_broken_line_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text('{"claim_id":"a"}\n', "utf-8")
    with pytest.raises(RecordError, match="line 1"):
        read_traces(file)
    assert read_traces(tmp_path / "none.jsonl") == {}


def test_without_a_folder_none_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ask(document())
    assert list(tmp_path.iterdir()) == []
