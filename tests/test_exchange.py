"""Cases out to files and decisions back in: what is exported can be imported, a spreadsheet's
habits do no harm, and every wrong row is named while the right ones are kept."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact.cli.audit_exchange import FileFormat
from deepfact.errors import InputError
from deepfact.exchange import export_cases, import_decisions
from deepfact.exchange_formats import (
    ANSWER,
    LABEL_STUDIO_CONFIG,
    SHOWN,
    Format,
    guarded,
    unguarded,
)
from deepfact.records import Adjudication, Decision, KeyEntry
from deepfact.review import decide, open_desk
from deepfact.round import resume, run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, RunStatus, VerifierSpec
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, read_jsonl, write_text

RUN = Path("run")
OUT = Path("cases.file")
JOURNAL = RUN / "journal.jsonl"
CANARY = "KANARIENVOGEL"


def begin(*names: str) -> None:
    spec = RoundSpec(
        name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"), auditors=names,
        commit_to="run", date=datetime(2026, 1, 5, tzinfo=UTC),
    )  # fmt: skip
    run_rounds(spec, RUN, auditors=tuple(AuditorSpec(name=name, kind="human") for name in names))


def source_of(case: Any) -> Any:
    return BenchmarkStore(Path("benchmarks/small")).sources[case.claim.cites[0]]


def answers() -> dict[str, dict[str, str]]:
    """A right answer to each case that waits, of all kinds in turn."""
    made = {}
    for number, case in enumerate(open_desk(RUN, "ada").waiting):
        decision = ("a", "b", "neither", "cannot_tell")[number % 4]
        made[case.id] = {
            "decision": decision,
            "label": "inconclusive" if decision == "neither" else "",
            "rationale": f"=because of {case.id},\n“as it says”",
            "evidence": f"supports [1]: {source_of(case).text[5:40]}",
            "notes": "",
        }
    return made


# --- filling in a file, as each program does ------------------------------------------------


def rows(path: Path = OUT) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def save(table: list[dict[str, str]], path: Path = OUT, **style: Any) -> None:
    buffer = io.StringIO(newline="")
    out = csv.DictWriter(buffer, list(table[0]), **style)
    out.writeheader()
    out.writerows(table)
    path.write_bytes(buffer.getvalue().encode("utf-8"))


def fill(kind: Format, made: dict[str, dict[str, str]]) -> None:
    if kind is Format.CSV:
        save([{**row, **made[row["case"]]} for row in rows()])
    elif kind is Format.JSONL:
        lines = [json.loads(line) for line in OUT.read_text("utf-8").splitlines()]
        write_text(OUT, jsonl(json.dumps({**line, **made[line["case"]]}) for line in lines))
    elif kind is Format.LABEL_STUDIO:
        tasks = json.loads(OUT.read_text("utf-8"))
        for number, task in enumerate(tasks, 1):
            said = made[task["data"]["case"]]
            result = [
                {"from_name": name, "to_name": "claim", "type": "choices" if short else "textarea",
                 "value": {"choices": [said[name]]} if short else {"text": [said[name]]}}
                for name in ANSWER
                if said[name] for short in [name in ("decision", "label")]
            ]  # fmt: skip
            skipped = {"completed_by": 7, "was_cancelled": True, "result": []}
            task |= {"id": number, "project": 1, "predictions": []}
            task["annotations"] = [skipped, {"completed_by": 7, "lead_time": 4, "result": result}]
        write_text(OUT, json.dumps(tasks))
    else:
        records = json.loads(OUT.read_text("utf-8"))
        for record in records:
            said = made[record["id"]]
            user = "4b7b7a4e-0f4c-4c1e-9d5a-0d7c1c7d2c11"
            record["responses"] = {
                name: [{"value": said[name], "user_id": user}] for name in ANSWER if said[name]
            }
            record["_server_id"] = "x"
        write_text(OUT, json.dumps(records))


@pytest.mark.parametrize("kind", list(Format))
def test_what_is_exported_comes_back(desk: Path, kind: Format) -> None:
    begin("ada", "ben")
    made = answers()
    done = export_cases(RUN, OUT, kind, auditor="ada")
    assert (done.cases, done.decided) == (len(made), 0) and len(made) > 8
    untouched = import_decisions(RUN, OUT, kind, auditor="ada")
    assert (untouched.kept, untouched.undecided, untouched.problems) == (0, len(made), ())
    fill(kind, made)
    before = JOURNAL.read_bytes()
    foreseen = import_decisions(RUN, OUT, kind, auditor="ada", dry_run=True)
    assert (foreseen.kept, foreseen.problems) == (len(made), ()) and JOURNAL.read_bytes() == before
    assert import_decisions(RUN, OUT, kind, auditor="ada").kept == len(made)
    standing = open_desk(RUN, "ada").made
    cases = {case.id: case for case in open_desk(RUN, "ada").cases}
    for case_id, said in made.items():
        kept = standing[case_id]
        assert (kept.decision, str(kept.label or "")) == (said["decision"], said["label"])
        assert kept.rationale == said["rationale"]
        (piece,) = kept.evidence
        text = source_of(cases[case_id]).text
        assert piece.quote == text[piece.span.start : piece.span.end] == text[5:40].strip()
    assert import_decisions(RUN, OUT, kind, auditor="ada").again == len(made), "twice is once"
    filled = Path("filled.file")
    assert export_cases(RUN, filled, kind, auditor="ada", decided=True).decided == len(made)
    if kind is not Format.ARGILLA:  # its suggestions are nobody's answer yet
        again = import_decisions(RUN, filled, kind, auditor="ada")
        assert (again.again, again.problems) == (len(made), ())
    for case in open_desk(RUN, "ben").waiting:
        decide(
            RUN, 1,
            Adjudication(case_id=case.id, auditor="ben", decision=Decision.A, rationale="seen"),
        )  # fmt: skip
    assert resume(RUN).status is RunStatus.COMPLETE


def test_a_spreadsheets_habits_do_no_harm(desk: Path) -> None:
    """BOM, CRLF, semicolons, other order, more columns, capitals, smart quotes, odd spaces."""
    begin("ada")
    export_cases(RUN, OUT, Format.CSV)
    table = rows()
    assert list(table[0]) == [*SHOWN, *ANSWER]
    case = open_desk(RUN).waiting[0]
    quote = source_of(case).text[5:60].replace('"', "”").replace("'", "’").replace("-", "–")
    said = [
        {"decision": "“A”", "evidence": f"Supports [S1]: “{quote}”\r\n\r\n"},
        {"decision": " B is stronger. "},
        {"decision": "Neither", "label": "Inconclusive\u00a0"},
        {"decision": "Can’t tell"},
    ]
    changed = [
        {"Rationale": "seen — and “quoted”", "mine": "x", "Decision": each["decision"],
         "Case": row["case"] + " ", "LABEL": each.get("label", ""),
         "evidence": each.get("evidence", "")}
        for row, each in zip(table, said, strict=False)
    ]  # fmt: skip
    save(changed, delimiter=";", lineterminator="\r\n")
    OUT.write_bytes(b"\xef\xbb\xbf" + OUT.read_bytes())
    done = import_decisions(RUN, OUT, Format.CSV)
    assert done.problems == () and done.kept == 4
    made = list(open_desk(RUN).made.values())
    assert [str(each.decision) for each in made] == ["a", "b", "neither", "cannot_tell"]
    assert made[0].evidence[0].quote == source_of(case).text[5:60].strip()
    assert made[0].rationale == "seen — and “quoted”"


def test_right_rows_are_kept_and_wrong_ones_listed_by_row(desk: Path) -> None:
    begin("ada")
    export_cases(RUN, OUT, Format.CSV)
    table = rows()[:13]
    good = {"decision": "a", "rationale": "seen"}
    for row in table:
        row |= good
    decided = table[11]["case"]
    decide(
        RUN, 1,
        Adjudication(case_id=decided, auditor="ada", decision=Decision.B, rationale="before"),
    )  # fmt: skip
    wrong: dict[int, tuple[dict[str, str], str]] = {
        2: ({"decision": "benchmark"}, "is no decision"),
        3: ({"decision": ""}, "there is no decision"),
        4: ({"rationale": " "}, "no rationale"),
        5: ({"label": "supported"}, "goes with 'neither'"),
        6: ({"decision": "neither", "label": "true"}, "'true' is no label"),
        7: ({"evidence": "supports [1]: nobody wrote this"}, "not in source [1]"),
        8: ({"evidence": "supports [9]: x"}, "no source [9]"),
        9: ({"evidence": "it says so"}, "cannot be read"),
        10: ({"case": "r1-9999"}, "no case 'r1-9999'"),
        11: ({"auditor": "ben"}, "belongs to 'ben'"),
        12: ({}, "decided case"),
    }
    for number, (change, _) in wrong.items():
        table[number - 1] |= change
    table += [{**table[12], "rationale": "one"}, {**table[12], "rationale": "two"}]
    table += [dict(table[0])]
    save(table)
    before = JOURNAL.read_bytes()
    done = import_decisions(RUN, OUT, Format.CSV)
    kept = open_desk(RUN).made
    assert done.kept == 1 and done.again == 1 and set(kept) == {table[0]["case"], decided}
    assert kept[decided].rationale == "before", "nothing is overwritten"
    assert JOURNAL.read_bytes().startswith(before)
    places = [int(str(each.where).partition("(row ")[2].rstrip(")")) for each in done.problems]
    assert places == [*wrong, 13, 14, 15], "in the order of the file, each with its row"
    for each, (_, message) in zip(done.problems, wrong.values(), strict=False):
        assert message in each.what, each
    assert all("stands 3 times" in each.what for each in done.problems[-3:])


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (Format.CSV, "", "empty"),
        (Format.CSV, "case,decision\nr1-0001,a\n", "no column 'rationale'"),
        (Format.CSV, "case,rational,decision\nr1-0001,x,a\n", "did you mean 'rational'"),
        (Format.CSV, 'case,decision,rationale\n"r1', "not CSV"),
        (Format.LABEL_STUDIO, "{}", "JSON list"),
        (Format.LABEL_STUDIO, "[", "not JSON"),
        (Format.ARGILLA, "null", "JSON list"),
    ],
)
def test_a_file_that_is_none_is_refused(desk: Path, kind: Format, text: str, message: str) -> None:
    begin("ada")
    before = JOURNAL.read_bytes()
    OUT.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        import_decisions(RUN, OUT, kind)
    assert JOURNAL.read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "items", "message"),
    [
        (Format.LABEL_STUDIO, [1, {}, {"data": {}}, {"data": {"case": "x"}, "annotations": 3}],
         "no task"),
        (Format.LABEL_STUDIO, [{"data": {"case": "x"}, "annotations": [{"result": []}] * 2}],
         "2 annotations"),
        (Format.ARGILLA, [None, {}, {"id": "x", "responses": [1]},
                          {"id": "x", "responses": {"decision": [{}]}}], "no record"),
        (Format.ARGILLA, [{"id": "x", "responses": {"decision": [
            {"value": "a", "user_id": "1"}, {"value": "b", "user_id": "2"}]}}], "2 users"),
        (Format.JSONL, [{"case": 5, "decision": "a", "rationale": "x"},
                        {"case": "x", "decision": ["a"], "rationale": "x"}], "is no text"),
    ],
)  # fmt: skip
def test_an_item_that_is_none_is_listed(
    desk: Path, kind: Format, items: list[Any], message: str
) -> None:
    begin("ada")
    lines = jsonl(json.dumps(item) for item in items)
    write_text(OUT, lines if kind is Format.JSONL else json.dumps(items))
    done = import_decisions(RUN, OUT, kind)
    assert done.kept == 0 and len(done.problems) == len(items)
    assert all(message in each.what for each in done.problems)


def test_nothing_that_gives_the_answers_away_is_exported(desk: Path) -> None:
    for path in Path("benchmarks/small/keys").glob("*.jsonl"):
        entries = [
            entry.model_copy(update={"rationale": CANARY}) for entry in read_jsonl(path, KeyEntry)
        ]
        write_text(path, jsonl(entry.canonical() for entry in entries))
    begin("ada")
    claims = [case.claim.id for case in open_desk(RUN).cases]
    for kind in Format:
        path = Path(f"out-{kind}")
        export_cases(RUN, path, kind)
        text = path.read_text("utf-8-sig")
        assert claims and text
        for word in (CANARY, "quoting", "incumbent", "challenger", "microgold", "sha256", *claims):
            assert word not in text, (kind, word)


def test_no_cell_is_a_formula_to_a_spreadsheet(desk: Path) -> None:
    begin("ada")
    decide(
        RUN, 1,
        Adjudication(
            case_id=open_desk(RUN).waiting[0].id, auditor="ada", decision=Decision.A,
            rationale='=HYPERLINK("http://evil.example")',
        ),
    )  # fmt: skip
    export_cases(RUN, OUT, Format.CSV, decided=True)
    cells = [cell for row in rows() for cell in row.values()]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert import_decisions(RUN, OUT, Format.CSV).again == 1


@given(st.text(st.sampled_from("=+-@'\t\ra "), max_size=5))
def test_the_guard_can_be_taken_off(cell: str) -> None:
    assert unguarded(guarded(cell)) == cell


def test_the_interface_has_every_field_that_a_task_needs(desk: Path) -> None:
    begin("ada")
    done = export_cases(RUN, OUT, Format.LABEL_STUDIO)
    view = ElementTree.fromstring(LABEL_STUDIO_CONFIG)
    assert done.files[1].read_text("utf-8") == LABEL_STUDIO_CONFIG
    task = json.loads(OUT.read_text("utf-8"))[0]
    shown = [each.get("value", "")[1:] for each in view.iter("Text")]
    assert set(shown) <= set(task["data"])
    controls = {each.get("name") for each in view.iter() if each.get("toName")}
    assert controls == set(ANSWER)
    choices = {each.get("value") for each in view.iter("Choice")}
    assert choices == {*map(str, Decision), "supported", "contradictory", "inconclusive"}


def test_an_exported_file_is_not_overwritten(desk: Path) -> None:
    begin("ada")
    OUT.write_text("my answers", encoding="utf-8")
    with pytest.raises(InputError, match="exists"):
        export_cases(RUN, OUT, Format.CSV)
    assert OUT.read_text("utf-8") == "my answers"


def test_by_command_line(
    desk: Path, deepfact: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    assert list(FileFormat) == list(Format)
    begin("ada", "ben")
    done = deepfact("audit", "export", RUN, "--out", OUT)
    assert done.returncode == 2 and "--auditor" in done.stderr
    done = deepfact("audit", "export", RUN, "--out", OUT, "--auditor", "ada")
    assert done.returncode == 0 and "written to" in done.stdout
    table = rows()
    table[0] |= {"decision": "a", "rationale": "seen"}
    table[1] |= {"decision": "x", "rationale": "seen"}
    save(table)
    done = deepfact("audit", "import", RUN, OUT, "--auditor", "ada", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1 and (report["kept"], len(report["problems"])) == (1, 1)
    assert "row 2" in report["problems"][0]["where"]
    done = deepfact("audit", "import", RUN, OUT, "--auditor", "ada")
    assert done.returncode == 1 and "1 known already" in done.stdout and "(row 2)" in done.stderr
    OUT.write_bytes("case,decision,rationale\nr1-0001,a,\xe9t\xe9\n".encode("latin-1"))
    done = deepfact("audit", "import", RUN, OUT, "--auditor", "ada")
    assert done.returncode == 2 and "--encoding cp1252" in done.stderr
    assert "Traceback" not in done.stderr
