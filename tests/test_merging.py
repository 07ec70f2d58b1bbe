"""Merges end to end: at once, through people, from a run's copy; nothing is marked or lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepfact.core.undo import Signed
from deepfact.errors import BenchmarkError, InputError, ResultsExistError, RunIncomplete
from deepfact.merge_audit import FILE, finish_merge, put_before_people, spec_of
from deepfact.merging import Merge, commit_merge, is_ahead, open_merge, take_over
from deepfact.records import Adjudication, Decision, Label
from deepfact.review import Receipt, hand_in, open_desk
from deepfact.run_records import CaseOpened, PolicyRule, VersionCommitted
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import read_record, write_text
from deepfact.store.integrity import verify
from deepfact.store.journal import read_events


def commit(make: Any, store: BenchmarkStore, parent: int, *revisions: Any, **more: Any) -> Any:
    given = {"author": "tester", "date": make.WHEN, "note": "a note", **more}
    return store.commit(list(revisions), parent=parent, **given)


def by(who: str, revision: Any) -> Any:
    return revision.model_copy(update={"who": who})


@pytest.fixture
def store(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BenchmarkStore:
    """1, with 2 and 3 made from it: they agree on c3, disagree on c1 and c2."""
    monkeypatch.chdir(tmp_path)
    store = make.store(tmp_path / "benchmarks" / "mill", 1)
    source = make.source("A register that only the second side read.")
    noted = make.annotation("inconclusive", evidence=(make.evidence(source, "register"),))
    commit(make, store, 1, by("ann", make.relabel("c1")), by("ann", make.relabel("c2")),
           by("ann", make.relabel("c3")))  # fmt: skip
    commit(make, store, 1, by("bob", make.revision("relabel", "c1", annotation=noted)),
           by("bob", make.revision("retire", "c2", why="not checkable")),
           by("bob", make.relabel("c3")), by("bob", make.add("c5", cites=(source.id,))),
           sources=[source])  # fmt: skip
    return store


@pytest.fixture
def signed(make: Any) -> Signed:
    return Signed(who="lead", when=make.WHEN, why="")


def opened(store: BenchmarkStore, ours: int = 2, theirs: int = 3, **options: Any) -> Merge:
    return open_merge(store.load(ours), store.load(theirs), **options)


def begin(
    merge: Merge, signed: Signed, auditors: tuple[str, ...] = ("zoë",),
    rule: PolicyRule = PolicyRule.SINGLE, folder: str = "results/m",
) -> Path:  # fmt: skip
    spec = spec_of(merge, ("mill@2", "mill@3"), signed, auditors, rule, "")
    put_before_people(merge, Path(folder), spec)
    return Path(folder)


def decide(folder: Path, auditor: str, side: dict[str, str]) -> None:
    """Everything on an auditor's desk, by what a position says."""
    for case in open_desk(folder, auditor).waiting:
        wanted = side[case.claim.id]
        chosen = next(
            letter for letter, position in (("a", case.a), ("b", case.b))
            if wanted in (position.label, position.rationale.partition(" ")[0])
        )  # fmt: skip
        made = Adjudication(
            case_id=case.id, auditor=auditor, decision=Decision(chosen),
            rationale=f"{auditor}: {wanted} it is",
        )  # fmt: skip
        assert hand_in(folder, 1, made) is Receipt.KEPT


# --- at once ---------------------------------------------------------------------------------


def test_what_does_not_conflict_is_merged_at_once(
    make: Any, store: BenchmarkStore, signed: Signed
) -> None:
    commit(make, store, 1, by("cy", make.relabel("c2")), by("cy", make.add("c6")))
    merge = opened(store, 4, 3, leave=["c2"])
    made = commit_merge(merge, signed)
    assert (made.manifest.version, made.manifest.parent, made.manifest.merged) == (5, 4, 3)
    assert made.manifest.note.startswith("Merge of 3 into 4: 3 claims taken over, 0 conflicts")
    state = made.state.entries
    assert state["c1"].label == Label.INCONCLUSIVE and not state["c2"].retired
    assert {"c5", "c6"} <= set(state)
    assert len(made.sources) == 2
    history = store.history("c1", 5)
    assert [(n, r.who) for n, r in history] == [(1, "annotator"), (3, "bob")]
    assert commit_merge(merge, signed).manifest == made.manifest
    assert verify(store) == []
    with pytest.raises(BenchmarkError, match="nothing to merge: mill@5 comes from mill@3 already"):
        opened(store, 5, 3)


def test_what_cannot_be_merged_is_refused(
    make: Any, store: BenchmarkStore, signed: Signed, tmp_path: Path
) -> None:
    with pytest.raises(BenchmarkError, match="nothing to leave out of claim 'c3'"):
        opened(store, leave=["c3"])
    other = BenchmarkStore.create(tmp_path / "other", card="x")
    other.commit([make.add("z")], parent=None, author="x", date=make.WHEN, note="n")
    with pytest.raises(BenchmarkError, match="come from no common version"):
        open_merge(store.load(2), other.load())
    twin = commit(make, store, 3, by("x", make.add("c9", text="One thing.")))
    mine = commit(make, store, 2, by("y", make.add("c9", text="Another.")))
    with pytest.raises(BenchmarkError, match="c9: both sides added a claim of this id"):
        open_merge(mine, twin)
    alike = commit(make, store, 1, by("cy", make.relabel("c3")))
    with pytest.raises(BenchmarkError, match="mill@6 says nothing that mill@2 does not"):
        commit_merge(open_merge(store.load(2), alike), signed)


def test_a_version_that_is_only_ahead_is_taken_over(
    make: Any, store: BenchmarkStore, tmp_path: Path
) -> None:
    ahead = commit(make, store, 3, make.relabel("c5"))
    merge = open_merge(store.load(3), ahead)
    assert is_ahead(merge)
    with pytest.raises(BenchmarkError, match="nothing to merge: mill@4 was made from mill@3"):
        take_over(merge)
    copy = store.fork(tmp_path / "results" / "mill")
    made = commit(make, copy, 4, make.relabel("c3", "inconclusive"), author="round x")
    merge = open_merge(store.load(4), made)
    assert is_ahead(merge) and not is_ahead(opened(store))
    assert take_over(merge).manifest == made.manifest
    assert verify(store) == []


# --- through people --------------------------------------------------------------------------


def test_conflicts_are_decided_blind_and_make_the_version(
    make: Any, store: BenchmarkStore, signed: Signed
) -> None:
    merge = opened(store)
    before = sorted(store.versions())
    folder = begin(merge, signed)
    cases = [e.case for e in read_events(folder / "journal.jsonl") if isinstance(e, CaseOpened)]
    assert sorted(case.claim.id for case in cases) == ["c1", "c2"]
    for case in cases:
        text = case.canonical()
        assert not [word for word in ("ann\"", "bob", "mill", "merge") if word in text.replace(
            "The mill was built", "")]  # fmt: skip
    with pytest.raises(RunIncomplete, match="2 of 2 conflicts wait for people"):
        finish_merge(folder)
    assert store.versions() == before
    copy = BenchmarkStore(folder / "benchmarks" / "mill")
    assert verify(copy) == [] and len(copy.sources) == 2

    decide(folder, "zoë", {"c1": "inconclusive", "c2": "contradictory"})
    done = finish_merge(folder)
    version = done.version
    assert (version.manifest.version, version.manifest.parent, version.manifest.merged) == (4, 2, 3)
    state = version.state.entries
    assert state["c1"].annotation == store.load(3).state.entries["c1"].annotation
    assert state["c2"].label == Label.CONTRADICTORY and not state["c2"].retired
    assert "c5" in state and len(version.sources) == 2
    told = [(n, r.who, str(r.kind), r.case) for n, r in store.history("c2", 4)]
    assert [one[:3] for one in told] == [
        (1, "annotator", "add"), (2, "ann", "relabel"), (3, "bob", "retire"),
        (4, "zoë", "re-rationale"),
    ]  # fmt: skip
    last = store.history("c2", 4)[-1][1]
    assert last.run == "m" and last.case in {case.id for case in cases}
    assert last.why == (
        "mill@2 says contradictory, mill@3 that it is to be taken out; mill@2 stands: "
        "zoë: contradictory it is"
    )
    assert verify(store) == []
    again = finish_merge(folder)
    assert (again.rulings, again.version.ref) == (done.rulings, version.ref)
    assert store.versions() == [1, 2, 3, 4]
    events = read_events(folder / "journal.jsonl")
    assert sum(isinstance(event, VersionCommitted) for event in events) == 1
    with pytest.raises(InputError):  # the audit is closed
        from deepfact.review import decide as late

        late(folder, 1, Adjudication(case_id=cases[0].id, auditor="zoë", decision=Decision("a"),
                                     rationale="late"))  # fmt: skip


def test_two_people_under_a_majority(store: BenchmarkStore, signed: Signed) -> None:
    folder = begin(opened(store), signed, ("zoë", "yan"), PolicyRule.MAJORITY)
    decide(folder, "zoë", {"c1": "inconclusive", "c2": "Take"})
    with pytest.raises(RunIncomplete, match="2 of 2"):
        finish_merge(folder)
    decide(folder, "yan", {"c1": "contradictory", "c2": "Take"})
    done = finish_merge(folder)
    assert {r.claim_id: str(r.kind) for r in done.rulings} == {"c1": "unresolved", "c2": "revise"}
    assert done.version.state.entries["c1"].label == Label.CONTRADICTORY  # ours stands
    assert done.version.state.entries["c2"].retired
    why = store.history("c1", 4)[-1][1].why
    assert why.endswith("undecided, so mill@2 stands: the auditors disagree")


def test_nobody_judges_a_side_they_wrote(store: BenchmarkStore, signed: Signed) -> None:
    with pytest.raises(InputError, match="everybody named wrote a side"):
        begin(opened(store), signed, ("ann", "bob"))
    assert not Path("results").exists()
    folder = begin(opened(store), signed, ("ann", "zoë"), PolicyRule.UNANIMOUS)
    events = read_events(folder / "journal.jsonl")
    assert {e.auditors for e in events if isinstance(e, CaseOpened)} == {("zoë",)}


def test_beginning_again_goes_on_and_another_merge_is_refused(
    store: BenchmarkStore, signed: Signed
) -> None:
    folder = begin(opened(store), signed)
    before = (folder / "journal.jsonl").read_bytes()
    begin(opened(store), Signed("lead", signed.when.replace(year=2027), ""))
    assert (folder / "journal.jsonl").read_bytes() == before
    assert read_record(folder / FILE, type(spec_of(opened(store), ("a", "b"), signed, ("z",),
                       PolicyRule.SINGLE, ""))).date == signed.when  # fmt: skip
    with pytest.raises(ResultsExistError, match="holds another merge"):
        begin(opened(store), signed, ("somebody-else",))
    write_text(Path("results/other/notes.txt"), "x")
    with pytest.raises(ResultsExistError, match="holds no merge"):
        begin(opened(store), signed, folder="results/other")


def test_a_merge_that_was_killed_while_it_began_is_begun_again(
    store: BenchmarkStore, signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deepfact import merge_audit

    for name in (FILE, "spec.json"):
        with monkeypatch.context() as patch:

            def killed(path: Path, text: str, name: str = name) -> None:
                if path.name == name:
                    raise KeyboardInterrupt
                write_text(path, text)

            patch.setattr(merge_audit, "write_text", killed)
            with pytest.raises(KeyboardInterrupt):
                begin(opened(store), signed)
    folder = begin(opened(store), signed)
    assert len(open_desk(folder, "zoë").waiting) == 2


def test_versions_and_cases_must_be_those_it_was_begun_with(
    make: Any, store: BenchmarkStore, signed: Signed
) -> None:
    folder = begin(opened(store), signed)
    path = folder / "journal.jsonl"
    whole = path.read_text("utf-8")
    path.write_text("\n".join(whole.splitlines()[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(BenchmarkError, match="are not those of its merge"):
        finish_merge(folder)
    path.write_text(whole, encoding="utf-8")
    spec = (folder / FILE).read_text("utf-8")
    (folder / FILE).write_text(spec.replace('"mill@3"', '"mill@1"'), encoding="utf-8")
    with pytest.raises(BenchmarkError, match="mill@1 is not the version"):
        finish_merge(folder)


def test_an_auditor_needs_a_name(store: BenchmarkStore, signed: Signed) -> None:
    with pytest.raises(InputError, match="auditors"):
        begin(opened(store), signed, ("two words",))


def test_a_runs_copy_is_merged_from_where_it_lies(
    make: Any, store: BenchmarkStore, signed: Signed, tmp_path: Path
) -> None:
    """As after `commit_to: run`: its version 2 is another one than ours."""
    copy = make.store(tmp_path / "results" / "trial" / "benchmarks" / "mill", 1)
    source = make.source("Only the run has this.")
    noted = make.annotation("supported", evidence=(make.evidence(source, "Only"),))
    theirs = commit(make, copy, 1, by("eve", make.revision("relabel", "c1", annotation=noted)),
                    sources=[source], author="round trial")  # fmt: skip
    merge = open_merge(store.load(2), theirs)
    reference = f"{copy.folder.relative_to(tmp_path).as_posix()}@2"
    spec = spec_of(merge, ("mill", reference), signed, ("zoë",), PolicyRule.SINGLE, "A note")
    assert (spec.ours, spec.theirs) == ("mill@2", "results/trial/benchmarks/mill@2")
    put_before_people(merge, Path("results/m"), spec)
    decide(Path("results/m"), "zoë", {"c1": "supported"})
    done = finish_merge(Path("results/m"))
    assert [m.author for m in store.ancestry(5)] == ["tester", "tester", "round trial", "lead"]
    assert (done.version.manifest.merged, done.version.manifest.note) == (4, "A note")
    assert source.id in done.version.sources
    why = store.history("c1", 5)[-1][1].why
    assert "results/trial/benchmarks/mill@2 supported" in why
    assert [r.who for _, r in store.history("c1", 5)] == ["annotator", "ann", "eve", "zoë"]
    assert verify(store) == []


def test_the_audit_page_opens_a_merge(store: BenchmarkStore, signed: Signed) -> None:
    pytest.importorskip("starlette")
    from deepfact.web.app import build_app

    folder = begin(opened(store), signed)
    assert build_app(folder, hosts=["localhost"], root=None, secure=False) is not None
