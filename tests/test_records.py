"""Records: golden files of schema 1, canonical JSON, and what each record refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from deepfact import records, run_records
from deepfact.errors import NewerSchemaError
from deepfact.records import (
    Adjudication,
    Claim,
    FileRecord,
    Manifest,
    Outcome,
    Revision,
    RevisionKind,
    Source,
    Span,
    TaggedRecord,
    VerificationFailure,
    canonical_json,
    parse_when,
)
from deepfact.run_records import JournalEvent, JournalRecord, Rate, RoundSpec, VerifierSpec
from deepfact.store.files import parse_record

GOLDEN = Path(__file__).parent / "golden" / "records"
FILES = sorted(GOLDEN.glob("*.json"))
CLASSES = {
    name: thing
    for module in (records, run_records)
    for name, thing in vars(module).items()
    if isinstance(thing, type)
    and issubclass(thing, FileRecord)
    and thing not in (FileRecord, TaggedRecord, JournalRecord)
}


def class_of(path: Path) -> type[FileRecord]:
    return CLASSES[path.stem.partition("-")[0]]


# --- golden files ------------------------------------------------------------------------


def test_every_record_that_is_a_file_has_a_golden() -> None:
    assert {path.stem.partition("-")[0] for path in FILES} == set(CLASSES)


def test_every_kind_of_revision_has_a_golden() -> None:
    kinds = {json.loads(path.read_text("utf-8"))["kind"] for path in GOLDEN.glob("Revision*")}
    assert kinds == set(RevisionKind)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_parses_and_is_written_again_byte_for_byte(path: Path) -> None:
    """A change here breaks the hash of every published version: add a schema, not an edit."""
    stored = path.read_bytes()
    record = parse_record(stored, class_of(path), where=path.name)
    assert (record.canonical() + "\n").encode("utf-8") == stored


@pytest.mark.parametrize("name", sorted({path.stem for path in FILES} & set(CLASSES)))
def test_the_full_goldens_leave_no_field_out(name: str) -> None:
    path = GOLDEN / f"{name}.json"
    stored = json.loads(path.read_text("utf-8"))
    left_out = set(class_of(path).model_fields) - set(stored)
    assert left_out <= ({"label"} if path.stem == "Adjudication" else set())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_newer_schema_is_refused_and_says_to_upgrade(path: Path) -> None:
    data = {**json.loads(path.read_text("utf-8")), "schema_version": 2, "shape": "unknown"}
    with pytest.raises(NewerSchemaError) as caught:
        parse_record(json.dumps(data), class_of(path), where="some.json")
    assert "schema version 2 is newer" in str(caught.value)
    assert "pip install --upgrade deepfact" in str(caught.value)
    assert caught.value.where == "some.json"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_unknown_keys_are_refused_and_nothing_can_be_changed(path: Path) -> None:
    data = json.loads(path.read_text("utf-8"))
    with pytest.raises(ValidationError, match="Extra inputs"):
        class_of(path).model_validate({**data, "labels": 1})
    record = class_of(path).model_validate(data)
    with pytest.raises(ValidationError, match="frozen"):
        record.schema_version = 1  # type: ignore[misc]


@pytest.mark.parametrize("union", [Outcome, JournalEvent])
def test_records_of_a_union_are_told_apart_by_their_tag(union: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(union)
    found = 0
    for path in FILES:
        tagged = issubclass(class_of(path), TaggedRecord)
        if tagged and issubclass(class_of(path), JournalRecord) == (union is JournalEvent):
            found += 1
            assert type(adapter.validate_json(path.read_bytes())) is class_of(path)
    assert found >= 2


# --- hashes ------------------------------------------------------------------------------


def test_the_id_of_a_source_covers_the_whole_card(make: Any) -> None:
    source = make.source()
    assert source.id == source.content_hash()
    assert source.id == "sha256:06518e6e0ead666b73250e5e473a8629d6271eb63570f5c28294e666f96abe44"
    for change in ({"text": "Other."}, {"title": "Other"}, {"role": "primary"}, {"url": "x:y"}):
        assert make.source(**change).id != source.id
    assert Source.create(title=source.title, text=source.text, trust="unknown").id == source.id


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(json_values)
def test_canonical_json_is_one_line_and_loses_nothing(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert "\n" not in text
    assert canonical_json(json.loads(text)) == text


@given(st.dictionaries(st.text(), st.integers()))
def test_canonical_json_does_not_depend_on_the_order_of_keys(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


@given(
    text=st.text(st.characters(codec="utf-8"), min_size=1),
    context=st.text(st.characters(codec="utf-8")),
)
def test_any_text_survives_being_stored(text: str, context: str) -> None:
    claim = Claim(id="c1", text=text, context=context)
    assert parse_record(claim.canonical().encode("utf-8"), Claim, where="x") == claim


# --- what is refused ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim_id", ["", "a b", "a/b", "a\\b", "a\nb", "a\n", "\x00", "a\u00a0b", "x" * 201]
)
def test_ids_without_paths_or_white_space(claim_id: str) -> None:
    with pytest.raises(ValidationError):
        Claim(id=claim_id, text="A mill.")


@pytest.mark.parametrize("claim_id", ["c1", "__proto__", "constructor", "Mühle-1.b_c:d", "水"])
def test_ids_that_are_fine(claim_id: str) -> None:
    """coder/xum #3491: names of object prototypes are ids like any other."""
    assert Claim(id=claim_id, text="A mill.").id == claim_id


def test_a_hash_names_its_algorithm() -> None:
    for wrong in ("0" * 64, "md5:" + "0" * 32, "sha256:" + "G" * 64, f"sha256:{'0' * 64}\n"):
        with pytest.raises(ValidationError):
            Claim(id="c", text="t", cites=(wrong,))


def test_a_span_is_in_order() -> None:
    with pytest.raises(ValidationError, match="end 2 is before start 3"):
        Span(start=3, end=2)
    assert Span(start=3, end=3).end == 3


def test_the_report_of_a_claim_that_stands_alone_is_itself(make: Any) -> None:
    assert make.claim("c1").report == "c1"
    assert make.claim("c1", origin={"report": "r1"}).report == "r1"


@pytest.mark.parametrize(
    ("kind", "fields", "problem"),
    [
        ("add", {}, "a claim belongs to an add"),
        ("retire", {"claim": "c1"}, "a claim belongs to an add"),
        ("add", {"claim": "other"}, "is not the claim's id"),
        ("relabel", {}, "a relabel needs an annotation"),
        ("re-rationale", {}, "a re-rationale needs an annotation"),
        ("retire", {"annotation": True}, "a retire takes no annotation"),
        ("restore", {"annotation": True}, "a restore takes no annotation"),
        ("add", {"claim": "c1", "why": ""}, "why"),
    ],
)
def test_a_revision_is_complete(make: Any, kind: str, fields: Any, problem: str) -> None:
    given_fields = dict(fields)
    if "claim" in fields:
        given_fields["claim"] = make.claim(fields["claim"])
    if "annotation" in fields:
        given_fields["annotation"] = make.annotation()
    with pytest.raises(ValidationError, match=problem):
        make.revision(kind, "c1", **given_fields)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"parent": None}, "go together"),
        ({"parent_manifest": None}, "go together"),
        ({"parent": 4}, "parent 4 is not before version 4"),
        ({"merged_manifest": None}, "a merged version and the hash of its manifest go together"),
        ({"merged": 2}, "version 2 cannot be the second parent"),
        ({"merged": 4}, "version 4 cannot be the second parent"),
        ({"parent": None, "parent_manifest": None}, "version 3 cannot be the second parent"),
        ({"date": "2026-01-02T00:00:00"}, "timezone"),
        ({"note": ""}, "note"),
    ],
)
def test_a_manifest_is_part_of_a_chain(change: dict[str, Any], problem: str) -> None:
    data = json.loads((GOLDEN / "Manifest.json").read_text("utf-8"))
    with pytest.raises(ValidationError, match=problem):
        Manifest.model_validate({**data, **change})


@pytest.mark.parametrize(
    ("decision", "label", "rationale", "problem"),
    [
        ("neither", None, "why", "goes with 'neither'"),
        ("a", "supported", "why", "goes with 'neither'"),
        ("a", None, " \n", "needs a rationale"),
        ("a", None, "", "rationale"),
        ("maybe", None, "why", "decision"),
    ],
)
def test_an_adjudication_decides_and_says_why(
    decision: str, label: str | None, rationale: str, problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        Adjudication.model_validate(
            {
                "case_id": "r1-0001",
                "auditor": "ann",
                "decision": decision,
                "label": label,
                "rationale": rationale,
            }
        )


def test_no_failure_reason_is_a_label() -> None:
    """claude-code #71870 and #72383: a burst of rate limits was reported as refutations."""
    labels = {str(label) for label in records.Label}
    assert labels.isdisjoint(map(str, records.FailureReason))
    assert "label" not in VerificationFailure.model_fields


def test_a_date_without_a_time_of_its_own_is_utc() -> None:
    assert parse_when("2026-01-02") == datetime(2026, 1, 2, tzinfo=UTC)
    assert parse_when("2026-01-02T03:04:05+02:00").utcoffset() is not None
    with pytest.raises(ValueError, match="Invalid isoformat"):
        parse_when("tomorrow")


def test_names_and_shares_that_are_worked_out() -> None:
    assert VerifierSpec(kind="local").label == "local"
    assert VerifierSpec(kind="local", name="mine").label == "mine"
    assert Rate(k=1, n=4, low=0, high=1, method="wilson").value == 0.25
    assert Rate(k=0, n=0, low=0, high=1, method="wilson").value is None


def test_a_round_counts_its_challenges_and_those_accepted() -> None:
    record = run_records.RunRecord.model_validate_json((GOLDEN / "RunRecord.json").read_bytes())
    assert (record.rounds[0].challenges, record.rounds[0].accepted) == (1, 1)


def test_a_run_needs_auditors_and_rounds() -> None:
    with pytest.raises(ValidationError, match="auditors"):
        RoundSpec(name="r", benchmark="b", auditors=())
    with pytest.raises(ValidationError, match="rounds"):
        RoundSpec(name="r", benchmark="b", auditors=("a",), rounds=())


def test_a_revision_read_back_is_the_same(make: Any) -> None:
    for revision in (make.add(), make.add("c2", None), make.relabel(), make.revision("retire")):
        assert Revision.model_validate_json(revision.canonical()) == revision


def test_a_verdict_read_back_is_written_as_before() -> None:
    scores = {"supported": 0.5, "contradictory": 0.3, "inconclusive": 0.2}
    verdict = records.Verdict(claim_id="c1", label="supported", scores=scores)
    again = records.Verdict.model_validate_json(verdict.canonical())
    assert again.model_dump_json() == verdict.model_dump_json()
