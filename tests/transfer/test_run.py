"""Transfer runs end to end: nothing lost, nothing asked twice, people waited for."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepfact.auditors import read_auditors
from deepfact.errors import BenchmarkError, ConfigError, InputError, ResultsExistError
from deepfact.records import Adjudication, Decision, DivergenceKind
from deepfact.review import Receipt, hand_in, open_desk
from deepfact.run_records import Adjudicated, Answered, AuditorSpec, CaseOpened
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_record
from deepfact.store.integrity import verify
from deepfact.store.journal import read_events
from deepfact.transfer import run_transfer
from deepfact.transfer.planning import plan_transfer
from deepfact.transfer_records import Finding, TransferRecord, TransferSpec

RUN = Path("run")
CSV = """id,text,label,rationale,report,cites
q1,The line carried 4.2 million people in 2031.,supported,Shelf says so.,r1,annual
q2,The line carried 4.9 million people in 2031.,supported,The table has it.,r1,annual
q3,The night bus ran until 2040.,contradictory,,r2,annual
q4,Nobody knows the price.,,,r2,annual
"""
SOURCES = """id,title,url,role,text
annual,Annual report,https://a.example/1,primary,"The line carried 4.2 million people in 2031."
other,Other report,https://a.example/2,primary,"The night bus ran until 2040, the council said."
"""


@pytest.fixture
def spec(desk: Path) -> Callable[..., TransferSpec]:
    Path("claims.csv").write_text(CSV, "utf-8")
    Path("sources.csv").write_text(SOURCES, "utf-8")

    def make(**fields: Any) -> TransferSpec:
        shelf = {"name": "shelf", "format": "csv", "path": "claims.csv",
                 "options": {"sources": "sources.csv"}}  # fmt: skip
        given = {
            "name": "trial",
            "data_sets": [{"name": "mini", "benchmark": "small@1", "sample": 12}, shelf],
            "verifiers": [{"kind": "quoting"}, {"kind": "majority"}],
            "auditors": ["person"],
            "date": "2026-01-05T00:00:00Z",
            **fields,
        }
        return TransferSpec.model_validate(given)

    return make


def run(spec: TransferSpec, folder: Path = RUN) -> TransferRecord:
    return run_transfer(spec, folder, auditors=read_auditors(spec.auditors, Path("auditors")))


def decide(case_id: str, decision: str = "a", kind: DivergenceKind | None = None) -> Receipt:
    made = Adjudication(case_id=case_id, auditor="person", decision=Decision(decision),
                        rationale="it stands there", divergence=kind)  # fmt: skip
    return hand_in(RUN, 1, made)


def test_people_are_waited_for_and_their_kinds_come_back(
    spec: Callable[..., TransferSpec],
) -> None:
    pending = run(spec())
    assert pending.status == "pending" and set(pending.waiting) == {c.id for c in pending.cases}
    assert all(
        sum(s.rate.k for s in bar.shares) == bar.n == {"mini": 12, "shelf": 3}[bar.data_set]
        for bar in pending.bars
    )
    answered = sum(isinstance(e, Answered) for e in read_events(RUN / "journal.jsonl"))
    assert answered == 2 * 15
    desk = open_desk(RUN)
    assert desk.asks_kind and len(desk.waiting) == len(pending.cases)
    kind = DivergenceKind.SUBJECTIVE
    for case, key in zip(pending.cases, pending.keys, strict=True):
        other = "b" if key.incumbent == "a" else "a"
        assert decide(case.id, other, kind) is Receipt.KEPT
    done = run(spec())
    assert done.status == "complete" and not done.waiting
    assert {(f.finding, f.kind) for f in done.findings} == {(Finding.DIVERGENCE, kind)}
    assert all(f.decided == f.verdict for f in done.findings)
    events = read_events(RUN / "journal.jsonl")
    assert sum(isinstance(e, Answered) for e in events) == answered  # nothing was asked again
    assert run(spec()) == done == read_record(RUN / "record.json", TransferRecord)


def test_a_run_killed_anywhere_ends_with_the_same_record(
    spec: Callable[..., TransferSpec], tmp_path: Path
) -> None:
    asked = spec(auditors=["simulated-expert"])
    whole = run(asked)
    assert whole.simulated
    lines = (RUN / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for cut in (0, 1, 17, 31, 33, len(lines) - 2, len(lines) - 1):
        folder = tmp_path / f"cut-{cut}"
        shutil.copytree(RUN, folder)
        (folder / "record.json").unlink()
        torn = b"".join(lines[:cut]) + (lines[cut][:9] if cut else b"")
        (folder / "journal.jsonl").write_bytes(torn)
        assert run(asked, folder) == whole
        events = read_events(folder / "journal.jsonl")
        for kind, name in ((Answered, "answers"), (CaseOpened, "cases"), (Adjudicated, "made")):
            ours = sum(isinstance(e, kind) for e in events)
            assert ours == sum(isinstance(e, kind) for e in read_events(RUN / "journal.jsonl")), (
                name
            )


def test_the_simulated_auditor_decides_by_a_benchmarks_key_which_is_never_in_the_folder(
    spec: Callable[..., TransferSpec],
) -> None:
    record = run(spec(auditors=["simulated-expert"]))
    found = Counter((f.data_set, f.finding) for f in record.findings)
    assert found["mini", Finding.MODEL_ERROR] > 0 and found["mini", Finding.UNDECIDED] == 0
    assert {place for place in found if place[0] == "shelf"} == {("shelf", Finding.UNDECIDED)}
    assert not list(RUN.rglob("author.jsonl"))
    verify(BenchmarkStore(RUN / "benchmarks" / "transfer"))


def test_reasons_that_name_the_data_set_are_withheld_and_counted(
    spec: Callable[..., TransferSpec],
) -> None:
    record = run(spec())
    assert record.withheld == 1
    shown = {c.claim.id: {c.a.rationale, c.b.rationale} for c in record.cases}
    assert "Shelf says so." not in json.dumps([c.model_dump(mode="json") for c in record.cases])
    assert any("The table has it." in reasons for reasons in shown.values())


def test_evidence_may_be_found_in_place_of_cited(spec: Callable[..., TransferSpec]) -> None:
    shelf = spec().data_sets[1].model_dump(mode="json")
    found = {**shelf, "name": "found", "evidence": {"retriever": "bm25", "documents": 1}}
    record = run(spec(data_sets=[shelf, found], verifiers=[{"kind": "overlap"}],
                      auditors=["evidence-judge"]))  # fmt: skip
    events = read_events(RUN / "journal.jsonl")
    answers = {(e.verifier, e.outcome.claim_id): e.outcome for e in events
               if isinstance(e, Answered)}  # fmt: skip
    assert answers["overlap on shelf", "q3"].label == "inconclusive"  # what it cites is silent
    assert answers["overlap on found", "q3"].label == "supported"
    assert record.status == "complete"
    assert {case.claim.cites for case in record.cases if case.claim.id == "found:q3"} == {
        next(c.claim.cites for c in record.cases if c.claim.id == "shelf:q3")
    }  # auditors see the claim as the data set has it


def test_a_failure_is_a_part_of_its_own_and_no_case(spec: Callable[..., TransferSpec]) -> None:
    record = run(spec(verifiers=[{"kind": "failing"}]))
    assert not record.cases and record.status == "complete"
    assert len(record.failures) == 15 and record.failures[0].claim_id.startswith("mini:")
    for bar in record.bars:
        parts = {s.finding: s.rate.k for s in bar.shares if s.rate.k}
        assert parts == {Finding.UNVERIFIED: bar.n} and bar.sheet.unverified == bar.n


def test_another_spec_or_a_changed_file_is_refused(spec: Callable[..., TransferSpec]) -> None:
    run(spec())
    with pytest.raises(ResultsExistError, match="another spec"):
        run(spec(seed=1))
    Path("claims.csv").write_text(CSV.replace("4.9", "4.8"), "utf-8")
    for again in (run, planned):
        with pytest.raises(BenchmarkError, match="'shelf' is not what it was"):
            again(spec())


def planned(spec: TransferSpec) -> Any:
    return plan_transfer(spec, RUN, auditors=read_auditors(spec.auditors, Path("auditors")))


def test_a_folder_of_something_else_is_left_alone(
    spec: Callable[..., TransferSpec], desk: Path
) -> None:
    RUN.mkdir()
    (RUN / "thesis.txt").write_text("mine", "utf-8")
    with pytest.raises(ResultsExistError, match="holds no transfer"):
        run(spec())
    assert [one.name for one in RUN.iterdir()] == ["thesis.txt"]
    with pytest.raises(ResultsExistError, match="a file"):
        run(spec(), Path("claims.csv"))


def test_what_cannot_be_carried_out_leaves_nothing(spec: Callable[..., TransferSpec]) -> None:
    Path("empty.csv").write_text("id,text,label,cites\nx,A thing.,,annual\n", "utf-8")
    shelf = spec().data_sets[1].model_dump(mode="json")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"verifiers": [{"kind": "locl"}]}, "locl"),
        ({"data_sets": [{**shelf, "path": "empty.csv"}]}, "not one claim has a label"),
        ({"data_sets": [{**shelf, "format": "cvs"}]}, "unknown format"),
        ({"data_sets": [{"name": "b", "benchmark": "no-such@1"}]}, "no-such"),
        ({"policy": {"rule": "majority", "tie_breaker": "zed"}}, "tie-breaker"),
    ]
    for fields, what in wrong:
        with pytest.raises(InputError, match=re.escape(what)):
            run(spec(**fields))
        assert not RUN.exists()


def test_an_auditor_never_judges_its_own_model(spec: Callable[..., TransferSpec]) -> None:
    asked = spec(verifiers=[{"kind": "quoting", "options": {"model": "m-1"}}])
    own = AuditorSpec(name="person", kind="agent", options={"model": "m-1", "provider": {}})
    with pytest.raises(ConfigError, match="its own model"):
        run_transfer(asked, RUN, auditors=[own])


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"name": "a"}, "a `benchmark`, or a `format`"),
        ({"name": "a", "format": "csv"}, "go together"),
        ({"name": "a", "benchmark": "b@1", "options": {"x": 1}}, "importer's"),
        ({"name": "a b", "benchmark": "b@1"}, "pattern"),
        ({"name": "a", "benchmark": "b@1", "evidence": {"options": {"k": 1}}}, "retriever"),
        ({"name": "a", "benchmark": "b@1", "sample": 0}, "greater than or equal to 1"),
    ],
)
def test_a_wrong_data_set_is_told(fields: dict[str, Any], what: str) -> None:
    base = {"name": "t", "verifiers": [{"kind": "local"}], "auditors": ["person"]}
    with pytest.raises(ValueError, match=what):
        TransferSpec.model_validate({**base, "data_sets": [fields]})


def test_names_stand_for_one_thing_each() -> None:
    one = {"name": "a", "benchmark": "b@1"}
    base = {"name": "t", "data_sets": [one], "verifiers": [{"kind": "local"}], "auditors": ["p"]}
    for field in ("data_sets", "verifiers", "auditors"):
        with pytest.raises(ValueError, match=r"two .* are called|named twice"):
            TransferSpec.model_validate({**base, field: [*base[field], *base[field]]})


def test_a_plan_counts_and_writes_nothing(spec: Callable[..., TransferSpec]) -> None:
    before = planned(spec())
    assert not RUN.exists() and before.cases is None and before.calls == 0
    assert [(p.data_set, p.verifier, p.claims, p.stored) for p in before.pairs] == [
        ("mini", "quoting", 12, 0), ("mini", "majority", 12, 0),
        ("shelf", "quoting", 3, 0), ("shelf", "majority", 3, 0),
    ]  # fmt: skip
    record = run(spec())
    after = planned(spec())
    assert after.cases == len(record.cases) and all(p.stored == p.claims for p in after.pairs)
