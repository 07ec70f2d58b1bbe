"""Micro-gold in a benchmark: drafts, review, what a version and its key then say, and what is
refused or put back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import BenchmarkError, InputError, RecordError
from deepfact.importers.base import Imported
from deepfact.microgold.adding import KEY, Addition, add, plan_addition
from deepfact.microgold.checking import check
from deepfact.microgold.drafts import (
    Draft,
    Origin,
    draft,
    read_drafts,
    supported_origins,
    write_drafts,
)
from deepfact.microgold.in_report import with_edit
from deepfact.records import EditKind, KeyEntry, Label, Span, Stance
from deepfact.records import Origin as Place
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, write_text
from deepfact.store.integrity import verify as problems_of

DAY = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture
def store(desk: Path) -> BenchmarkStore:
    found = BenchmarkStore(desk / "benchmarks/small")
    for path in (found.folder / "keys").glob("*.jsonl"):
        seal.record(found.folder, who="fixture", why="keys", only=[f"keys/{path.name}"])
    return found


def planned(store: BenchmarkStore, seed: int = 1, **more: Any) -> Addition:
    version = store.load()
    origins = supported_origins(version)
    found = draft(origins, version.sources, supported=2, unsupported=8, seed=seed)
    return plan_addition(
        version, found.drafts, origins, version.sources, author="ada", when=DAY, seed=seed, **more
    )


def added(store: BenchmarkStore, **more: Any) -> Any:
    return add(store, store.load(), planned(store, **more), author="ada", when=DAY)


# --- drafts ---------------------------------------------------------------------------------


def test_drafts_are_seeded_spread_over_kinds_and_of_different_claims(store: BenchmarkStore) -> None:
    version = store.load()
    origins = supported_origins(version)
    found = draft(origins, version.sources, supported=3, unsupported=8, seed=1)
    assert found == draft(origins, version.sources, supported=3, unsupported=8, seed=1)
    assert (
        found.drafts != draft(origins, version.sources, supported=3, unsupported=8, seed=2).drafts
    )
    assert len({one.claim_id for one in found.drafts}) == 11
    kinds = [one.kind for one in found.drafts if one.kind]
    assert len(kinds) == 8 and len(set(kinds)) >= 5
    gold, author = store.key("microgold"), store.key("author")
    for one in found.drafts:
        assert one.claim_id not in gold and author[one.claim_id].label is Label.SUPPORTED
        assert (one.text == one.original) == (one.kind is None)


def test_asking_for_more_than_there_is_says_so(store: BenchmarkStore) -> None:
    version = store.load()
    origins = supported_origins(version)
    found = draft(
        origins, version.sources, supported=99, unsupported=99, kinds=[EditKind.SCOPE], seed=1
    )
    assert "99 edits were asked for" in found.notes[0] and "scope" in found.notes[0]
    assert "supported claims were asked for" in found.notes[1]
    assert sum(found.refused.values()) and all("scope: " in why for why in found.refused)
    with pytest.raises(InputError, match="cannot be taken"):
        draft(origins, version.sources, chosen=[next(iter(store.key("microgold")))])


def test_reviewed_drafts_are_taken_as_a_person_left_them(store: BenchmarkStore) -> None:
    version = store.load()
    origins = supported_origins(version)
    drafts = draft(origins, version.sources, supported=1, unsupported=3, seed=1).drafts
    path = Path("drafts.jsonl")
    write_drafts(drafts, path)
    assert read_drafts(path, origins) == drafts
    with pytest.raises(InputError, match="exists"):
        write_drafts(drafts, path)
    changed = [
        drafts[0],
        drafts[1].model_copy(update={"keep": False}),
        drafts[2].model_copy(update={"text": drafts[2].original.replace(" ", " surely ", 1)}),
    ]
    write_text(path, jsonl(one.model_dump_json() for one in changed))
    kept = read_drafts(path, origins)
    assert kept[0] == drafts[0] and len(kept) == 2
    assert (kept[1].before, kept[1].after, kept[1].seed) == ("", "surely", None)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"claim_id": "nobody"}, "not there"),
        ({"text": " "}, "no text"),
        ({"kind": "number"}, "a kind of edit is named"),
        ({"text": "Other words."}, "no kind of edit says how"),
        ({"kind": "colour"}, "kind"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_row_of_a_reviewed_file_is_named(
    store: BenchmarkStore, changes: dict[str, Any], what: str
) -> None:
    origins = supported_origins(store.load())
    name, origin = next(iter(origins.items()))
    text = origin.claim.text
    row = {**Draft(claim_id=name, original=text, text=text).model_dump(mode="json"), **changes}
    write_text(Path("d.jsonl"), json.dumps(row) + "\n")
    with pytest.raises(RecordError, match=what) as caught:
        read_drafts(Path("d.jsonl"), origins)
    assert "d.jsonl" in caught.value.where
    del row["claim_id"]
    write_text(Path("d.jsonl"), '{"claim_id": "' + name + '"' + "\n")
    with pytest.raises(RecordError, match="not JSON"):
        read_drafts(Path("d.jsonl"), origins)


def test_a_claim_drafted_twice_is_refused(store: BenchmarkStore) -> None:
    origins = supported_origins(store.load())
    name, origin = next(iter(origins.items()))
    row = Draft(claim_id=name, original=origin.claim.text, text=origin.claim.text)
    write_text(Path("d.jsonl"), jsonl([row.model_dump_json()] * 2))
    with pytest.raises(RecordError, match="two drafts"):
        read_drafts(Path("d.jsonl"), origins)


# --- a version and its key ------------------------------------------------------------------


def test_a_version_gets_the_claims_and_the_key_the_answers(store: BenchmarkStore) -> None:
    before = store.key("microgold")
    version = added(store)
    assert version.manifest.version == 2
    assert version.manifest.counts.claims == 60 and version.manifest.counts.retired == 8
    gold = store.key("microgold")
    new = {name: entry for name, entry in gold.items() if name not in before}
    assert len(new) == 10 and before.items() <= gold.items()
    edited = {name: entry for name, entry in new.items() if entry.edit}
    assert len(edited) == 8
    for name, entry in edited.items():
        claim = version.state.entries[name]
        assert entry.label is Label.CONTRADICTORY and entry.assumed
        assert claim.label is Label.SUPPORTED, "the version does not tell the answer"
        assert claim.annotation.provenance.who == "ada"
        original = version.state.entries[entry.edit.original_id]
        assert original.retired and original.claim.text == entry.edit.original
        assert all(quote.stance is Stance.CONTRADICTS for quote in entry.evidence)
        (said,) = [one.canonical() for one in store.revisions(2) if one.claim_id == name]
        assert entry.edit.original not in said and f'"{entry.edit.original_id}"' not in said
        assert entry.rationale not in said and "contradict" not in said
    chosen = [entry for entry in new.values() if entry.edit is None]
    assert {entry.label for entry in chosen} == {Label.SUPPORTED}
    assert not any(entry.assumed for entry in chosen)
    assert problems_of(store) == []
    assert check(version).problems == []


def test_adding_the_same_again_finds_other_claims(store: BenchmarkStore) -> None:
    first = added(store)
    second = added(store)
    assert second.manifest.version == 3
    assert len(store.key("microgold")) == len(set(store.key("microgold")))
    names = {r.claim_id for r in store.revisions(2)} & {r.claim_id for r in store.revisions(3)}
    assert not names and first.manifest.parent == 1


def test_unlabelled_and_kept_originals(store: BenchmarkStore) -> None:
    version = added(store, labels="none", keep_originals=True)
    assert version.manifest.counts.unlabelled == 8 and version.manifest.counts.retired == 0
    found = check(version)
    assert found.problems == [] and sum("stands beside" in text for text in found.remarks) == 8


def test_a_commit_that_fails_leaves_the_key_as_it_was(
    store: BenchmarkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(store)
    before = (store.folder / KEY).read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise BenchmarkError("the disk is full")

    monkeypatch.setattr(store, "commit", full)
    with pytest.raises(BenchmarkError, match="full"):
        add(store, store.load(), plan, author="ada", when=DAY)
    assert (store.folder / KEY).read_bytes() == before and store.versions() == [1]


def test_what_a_kill_left_in_the_key_is_written_over(store: BenchmarkStore) -> None:
    plan = planned(store)
    known = store.key("microgold")
    stray = plan.entries[-1].model_copy(update={"rationale": "left by a kill"})
    assert stray.claim_id not in store.load().state.entries
    entries = [*known.values(), stray]
    write_text(store.folder / KEY, jsonl(one.canonical() for one in entries))
    add(store, store.load(), plan, author="ada", when=DAY)
    assert store.key("microgold")[stray.claim_id] == plan.entries[-1]


def test_a_claim_is_not_made_micro_gold_twice(store: BenchmarkStore) -> None:
    entry = next(iter(store.key("microgold").values()))
    with pytest.raises(InputError, match="already"):
        add(store, store.load(), Addition(entries=[entry]), author="ada", when=DAY)


def test_typed_claims_come_in_with_the_label_of_everybody(store: BenchmarkStore, make: Any) -> None:
    version = store.load()
    rows = [(make.claim("own-1"), make.annotation("contradictory", rationale="it says 1899"))]
    cover = Imported(claims=[(make.claim("own-2", text="Other."), make.annotation())])
    plan = plan_addition(
        version, [], {}, version.sources, author="ada", when=DAY, cover=cover,
        imported=Imported(claims=rows),
    )  # fmt: skip
    assert plan.notes == [] and plan.counts() == {"contradictory": 1}
    after = add(store, version, plan, author="ada", when=DAY)
    assert after.state.entries["own-1"].label is Label.SUPPORTED
    assert after.state.entries["own-1"].annotation.rationale == ""
    assert store.key("microgold")["own-1"].rationale == "it says 1899"
    assert "own-2" not in store.key("microgold")
    with pytest.raises(InputError, match="duplicate claim id 'own-1'"):
        plan_addition(
            after, [], {}, version.sources, author="ada", when=DAY, imported=Imported(claims=rows)
        )
    with pytest.raises(InputError, match="answer is not known"):
        plan_addition(
            after, [], {}, version.sources, author="ada", when=DAY,
            imported=Imported(claims=[(make.claim("own-3"), None)]),
        )  # fmt: skip


def test_edits_of_claims_that_were_never_in_it_withdraw_nothing(
    store: BenchmarkStore, make: Any
) -> None:
    version, source = store.load(), make.source()
    claim = make.claim("mill", text="The mill was built in 1898.", cites=(source.id,))
    annotation = make.annotation(evidence=(make.evidence(source, "built in 1898"),))
    origins = {"mill": Origin(claim, annotation, live=False)}
    sources = {**version.sources, source.id: source}
    found = draft(origins, sources, unsupported=1, kinds=[EditKind.DATE], seed=1)
    plan = plan_addition(version, found.drafts, origins, sources, author="ada", when=DAY)
    assert plan.withdrawn == [] and [c.id for c, _ in plan.claims] == ["mill-1"]
    assert any("are micro-gold" in note for note in plan.notes)
    plan.sources.append(source)
    after = add(store, version, plan, author="ada", when=DAY)
    assert after.state.entries["mill-1"].claim.text != claim.text
    assert "mill" not in after.state.entries


# --- the report that a claim stands in -------------------------------------------------------


def test_the_report_has_the_edit_too(make: Any) -> None:
    claim = make.claim(text="The mill was built in 1898.")
    report = make.source("Long ago. The mill was built in 1898. It burnt.", role="generated")
    place = Place(report="r", document=report.id, sentence=1, span=Span(start=10, end=37))
    assert report.text[10:37] == claim.text
    moved, changed = with_edit(place, claim, "The mill was built in 12.", {report.id: report})
    assert changed.text == "Long ago. The mill was built in 12. It burnt."
    assert changed.role == "generated" and changed.title == report.title
    assert moved.document == changed.id and moved.span == Span(start=10, end=35)
    elsewhere = make.claim(text="Something else.")
    lost, none = with_edit(place, elsewhere, "x", {report.id: report})
    assert none is None and lost == Place(report="r", sentence=1)
    assert with_edit(None, claim, "x", {}) == (None, None)


# --- checking --------------------------------------------------------------------------------


def test_check_names_answers_that_do_not_fit(store: BenchmarkStore) -> None:
    version = added(store)
    gold = store.key("microgold")
    name = next(n for n, entry in gold.items() if entry.edit)
    quoted = next(n for n, entry in gold.items() if entry.evidence and n != name)
    bad = gold[quoted].evidence[0].model_copy(update={"quote": "never said by anybody"})
    broken: list[KeyEntry] = [
        KeyEntry(claim_id="nobody", label=Label.SUPPORTED),
        gold[name].model_copy(
            update={
                "label": Label.SUPPORTED,
                "edit": gold[name].edit.model_copy(update={"after": "other words"}),
            }
        ),
        gold[quoted].model_copy(update={"evidence": (bad,)}),
    ]
    write_text(store.folder / KEY, jsonl(entry.canonical() for entry in broken))
    found = check(version)
    said = "\n".join(f"{claim}: {what}" for claim, what in found.problems)
    assert "nobody: small@2 has no such claim" in said
    assert f"{name}: the claim is not the original with the documented edit" in said
    assert f"{name}: it was edited, and the key says that it is supported" in said
    assert f"{quoted}: the key's evidence does not count" in said
    assert "only 0 unsupported claims: intervals will be wide" in found.remarks


def test_check_tells_what_history_gives_away(store: BenchmarkStore) -> None:
    found = check(added(store))
    assert any("version 2 adds 8 claims, all of them micro-gold" in one for one in found.remarks)
