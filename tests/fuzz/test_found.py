"""What the fuzzer found, each once: files that used to end in a traceback, a hang, or a crash only
when what had been read was written."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deepfact.cli.report_import import import_files
from deepfact.cli.responses import _keys
from deepfact.crossaudit.stored import read_stored
from deepfact.documents.files import Bounds
from deepfact.errors import ConfigError, InputError, IntegrityError
from deepfact.importers import importer
from deepfact.importers.predictions import wice
from deepfact.importers.stored import Stored, Subject, add
from deepfact.model_records import Completion, Message, Request
from deepfact.providers.batch_files import _result
from deepfact.reproduce.listed import read_list
from deepfact.run_records import AuditorSpec, RoundSpec, VerifierSpec
from deepfact.running.run_state import stages_of
from deepfact.store.response_exports import export_responses
from deepfact.store.responses import ResponseStore
from deepfact.store.specs import parse_yaml
from deepfact.trace_records import Trace, TracedElement
from deepfact.verifiers.command import _parse
from deepfact.verifiers.document.tracing import read_traces
from deepfact.verifiers.panel.answers import UnreadableError, parse_object

WHEN = datetime(2026, 1, 5, tzinfo=UTC)
DEEP = "[" * 100_000


def _bomb(levels: int) -> str:
    lists = ["&b0 [x, x, x, x, x, x, x, x, x, x]"]
    lists += [f"&b{n} [{', '.join([f'*b{n - 1}'] * 10)}]" for n in range(1, levels)]
    return f"kind: local\noptions: {{a: [{', '.join(lists)}]}}\n"


@pytest.mark.usefixtures("no_hang")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_bomb(30), "aliases make more than 100,000 values"),
        ("kind: a\noptions: &r {a: *r}\n", "a value holds itself"),
        ("kind: a\noptions: {a: &r [[*r]]}\n", "a value holds itself"),
        (f"kind: a\noptions: {{a: {'[' * 4_000}", "nested too deeply"),
        ('kind: a\nname: "\\ud83d"\n', "half a character"),
        ('kind: a\noptions: {"\\ud83d": 1}\n', "half a character"),
    ],
)
def test_yaml(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        parse_yaml(text, VerifierSpec, where="a.yaml")
    assert caught.value.where.startswith("a.yaml, line 2")


def test_lists_in_lists_without_brackets() -> None:
    with pytest.raises(ConfigError, match="nested too deeply"):
        parse_yaml("- " * 3_000 + "x", VerifierSpec, where="a.yaml")


def test_aliases_that_make_little_are_what_they_are_for() -> None:
    spec = parse_yaml(_bomb(4), VerifierSpec, where="a.yaml")
    assert len(spec.canonical()) > 10_000
    shared = parse_yaml("kind: a\noptions: {x: &s {k: v}, y: *s}\n", VerifierSpec, where="a")
    assert shared.options == {"x": {"k": "v"}, "y": {"k": "v"}}


def test_a_seed_below_zero_is_refused_before_the_run_and_not_when_it_is_scored() -> None:
    with pytest.raises(ConfigError, match="seed: Input should be greater than or equal to 0"):
        parse_yaml("name: a\nauditors: [b]\nbenchmark: c@1\nseed: -1\n", RoundSpec, where="a.yaml")


def test_json_nested_deeper_than_anybody_reads(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(DEEP)
    for read in (wice.read_scores, read_list):
        with pytest.raises(InputError, match="not JSON"):
            read(path)
    with pytest.raises(InputError, match="not a result of a batch"):
        _result('{"custom_id": ' + DEEP, where="results.jsonl, line 1")
    with pytest.raises(InputError, match="not the key of an answer"):
        path.write_text('{"key": ' + DEEP)
        _keys(path)
    assert "not JSON" in str(_parse(DEEP.encode()))
    run = tmp_path / "run"
    run.mkdir()
    (run / "record.json").write_text(DEEP)
    with pytest.raises(InputError, match="not the record of a round"):
        add(Stored(), run, Subject("small", {}))


def test_a_key_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    path.write_text('{"key": ["sha256:0"]}\n')
    with pytest.raises(InputError, match="not the key of an answer"):
        _keys(path)


def test_half_characters_in_data_sets_reports_and_answers(tmp_path: Path) -> None:
    rows = [{"report_id": "r", "sentence_idx": 0, "human_verdict": "supported"}]
    report = {"response": "Ice \ud800.", "sentences": ["Ice."], "model": "m", "topic": "t"}
    (tmp_path / "test.json").write_text(json.dumps(rows))
    (tmp_path / "test_reports.json").write_text(json.dumps({"r": report}))
    with pytest.raises(InputError, match="half a character"):
        importer("deepfact-bench")(tmp_path, when=WHEN)
    path = tmp_path / "reports.json"
    for field in ("id", "prompt", "title", "model"):
        path.write_text(json.dumps({"text": "The mill closed in 1931.", field: "\ud800"}))
        (failed,) = import_files([path], Bounds()).failed
        assert "half a character" in str(failed.error)
    with pytest.raises(UnreadableError, match="half a character"):
        parse_object('{"rationale": "\\ud800"}')
    assert parse_object('{"rationale": "\\ud83d\\ude00"}') == {"rationale": "😀"}
    found = _parse(b'{"claim_id": "c1", "label": "supported", "rationale": "\\ud800"}')
    assert isinstance(found, str), "what is wrong, and no outcome that cannot be written"


def test_a_row_of_wice_with_an_id_that_is_too_long_is_listed(tmp_path: Path) -> None:
    row = {"label": "supported", "supporting_sentences": [[]], "claim": "Ice floats.",
           "meta": {"id": "x"}, "supporting_text": {}}  # fmt: skip
    long = {**row, "meta": {"id": "9" * 5_000}}
    (tmp_path / "claim_test.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(long)}\n")
    out = importer("wice")(tmp_path, when=WHEN)
    assert len(out.claims) == 1 and "meta.id" in out.skipped[0].why


def test_a_store_whose_keys_are_damaged_is_not_exported(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with ResponseStore(path) as store:
        asked = Request(model="m", messages=(Message(role="user", content="claim"),))
        store.put(asked, 0, Completion(text="so", model="m"))
    database = sqlite3.connect(path)
    database.execute("UPDATE responses SET key = 'sha256:zz'")
    database.commit()
    database.close()
    with ResponseStore(path) as store, pytest.raises(IntegrityError, match="'sha256:zz' is damag"):
        export_responses(store, tmp_path / "e.jsonl")
    assert not (tmp_path / "e.jsonl").exists()


def test_a_run_that_has_a_spec_and_no_beginning(tmp_path: Path) -> None:
    golden = Path(__file__).parents[1] / "golden/records/SavedSpec.json"
    (tmp_path / "spec.json").write_bytes(golden.read_bytes())
    with pytest.raises(InputError, match="has not begun"):
        read_stored([tmp_path], None)


def test_a_saved_spec_with_more_auditors_than_it_names() -> None:
    spec = RoundSpec(name="a", benchmark="b@1", auditors=("ada",))
    people = [AuditorSpec(name=name, kind="human") for name in ("ada", "bob")]
    with pytest.raises(InputError, match="names 1 auditors, and 2 are declared"):
        stages_of(spec, people)


def test_traces_cut_off_after_a_bracket_are_passed_over_and_damaged_ones_are_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "traces.jsonl"
    elements = tuple(TracedElement(id=f"E{n}", text="so") for n in (1, 2))
    line = Trace(claim_id="c1", verifier="document", elements=elements).canonical()
    half = line[: line.index("}") + 1]
    path.write_text(f"{half}\n{line}\n{half}")
    assert list(read_traces(path)) == ["c1"]
    path.write_text(f"{line}\n{line.replace('}', ';}', 1)}\n")
    with pytest.raises(InputError, match="line 2"):
        read_traces(path)
