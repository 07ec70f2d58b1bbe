"""The Audit-then-Score loop, run as a user runs it: it resumes, it never asks twice, it loses
nothing when it is killed, and it refuses what does not fit before it writes anything."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.auditors import base as auditing
from deepfact.auditors import read_auditors
from deepfact.core.revise import decided_label
from deepfact.errors import ConfigError, ResultsExistError
from deepfact.records import Label, VerificationFailure
from deepfact.round import resume, run_rounds
from deepfact.run_records import (
    Answered,
    AuditorSpec,
    CaseOpened,
    RoundSpec,
    RunRecord,
    RunStatus,
    VerifierSpec,
    VersionCommitted,
)
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.integrity import verify as problems_of
from deepfact.store.journal import Journal, read_events

DAY = datetime(2026, 1, 5, tzinfo=UTC)
EXPERT = AuditorSpec(name="expert", kind="policy", options={"accuracy": 0.9, "seed": 3})
PERSON = AuditorSpec(name="person", kind="human")
QUOTING = VerifierSpec(kind="quoting")
SPEC = RoundSpec(
    name="trial", benchmark="small@1", challenger=QUOTING, auditors=("expert",), seed=5,
    commit_to="run", date=DAY, scored=(VerifierSpec(kind="overlap"),),
)  # fmt: skip


def spec(**changes: Any) -> RoundSpec:
    return RoundSpec.model_validate({**SPEC.model_dump(), **changes})


def run(
    what: RoundSpec = SPEC, folder: str = "run", auditors: tuple[AuditorSpec, ...] = (EXPERT,)
) -> RunRecord:
    return run_rounds(what, Path(folder), auditors=auditors)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file but locks, which say nothing."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def outcome_ids(folder: Path) -> Counter[tuple[str, str]]:
    events = read_events(folder / "journal.jsonl")
    return Counter((e.verifier, e.outcome.claim_id) for e in events if isinstance(e, Answered))


# --- what a run is ------------------------------------------------------------------------


def test_a_round_changes_labels_and_scores_before_and_after(desk: Path) -> None:
    record = run()

    (done,) = record.rounds
    assert record.status is RunStatus.COMPLETE and record.simulated
    assert len(done.outcomes) == len({o.claim_id for o in done.outcomes}) == 60
    assert done.challenges > 10 and 0 < done.accepted < done.challenges
    assert {key.kind for key in done.keys} == {"challenge", "control"}
    assert done.base.version == 1 and done.result.version == 2
    relabelled = {revision.claim_id: revision.annotation for revision in done.revisions}
    after = BenchmarkStore(desk / "run/benchmarks/small").load(2)
    for claim_id, annotation in relabelled.items():
        assert after.state.entries[claim_id].annotation == annotation
    own = [sheet for sheet in done.scores if sheet.verifier == "quoting"]
    assert [sheet.on for sheet in own] == [
        "version 1", "version 2", "version 2 without own accepted challenges",
    ]  # fmt: skip
    assert [sheet.n for sheet in own] == [60, 60, 60 - done.accepted]
    beside = [sheet.on for sheet in done.scores if sheet.verifier == "overlap"]
    assert beside == ["version 1", "version 2"]
    assert [gold.of for gold in record.microgold] == ["version 1", "version 2"]


def test_revisions_carry_the_pinned_date_the_case_and_the_stored_reason(desk: Path) -> None:
    (done,) = run().rounds
    reasons = {made.case_id: made.rationale for made in done.adjudications}
    assert done.revisions
    for revision in done.revisions:
        assert revision.when == DAY and revision.run == "trial"
        assert revision.why.endswith(f": {reasons[revision.case]}")


def test_running_again_asks_nobody_and_changes_nothing(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    before = tree(desk / "run")

    def nobody(*_: object, **__: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr("house_judges.Quoting.verify", nobody)
    monkeypatch.setattr("deepfact.verifiers.trivial.OverlapVerifier.verify", nobody)
    monkeypatch.setattr("deepfact.auditors.policy.PolicyAuditor.adjudicate", nobody)
    run()
    resume(Path("run"))
    assert tree(desk / "run") == before


def test_a_second_round_does_not_put_the_same_argument_again(desk: Path) -> None:
    record = run(spec(rounds=[{}, {}]))
    first, second = record.rounds
    assert second.base == first.result
    settled = {key.claim_id for key in first.keys if key.kind == "challenge"}
    again = {key.claim_id for key in second.keys if key.kind == "challenge"}
    assert not settled & again
    says = {outcome.claim_id: outcome for outcome in first.outcomes}
    still_disagrees = sum(
        ruling.label is not None and ruling.label != says[ruling.claim_id].label
        for ruling in first.rulings
    )
    assert second.repeated == still_disagrees > 0
    assert set(outcome_ids(desk / "run").values()) == {1}


# --- resuming -----------------------------------------------------------------------------


def test_every_prefix_of_a_journal_leads_to_the_same_record(desk: Path) -> None:
    run()
    whole, expected = Path("run/journal.jsonl").read_bytes(), Path("run/record.json").read_bytes()
    ends = [index for index, byte in enumerate(whole) if byte == 10]
    cuts = random.Random(4).sample(range(len(whole)), 4)  # most of them in the middle of a line
    cuts += [0, ends[0] + 1, ends[-1] + 1, ends[-2] + 1]
    for number, cut in enumerate(cuts):
        folder = Path(f"cut-{number}")
        folder.mkdir()
        shutil.copy("run/spec.json", folder)
        (folder / "journal.jsonl").write_bytes(whole[:cut])
        resume(folder)
        assert (folder / "record.json").read_bytes() == expected, f"cut at byte {cut}"
        assert set(outcome_ids(folder).values()) == {1}


def test_a_commit_that_died_before_its_journal_line_is_not_doubled(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = spec(commit_to="benchmark")
    append = Journal.append

    def dies(journal: Journal, event: Any) -> None:
        if isinstance(event, VersionCommitted):
            raise KeyboardInterrupt
        append(journal, event)

    monkeypatch.setattr(Journal, "append", dies)
    with pytest.raises(KeyboardInterrupt):
        run(what)
    monkeypatch.setattr(Journal, "append", append)
    store = BenchmarkStore(desk / "benchmarks/small")
    assert store.versions() == [1, 2]

    record = run(what)
    assert record.rounds[0].result.version == 2 and store.versions() == [1, 2]
    committed = [
        event
        for event in read_events(Path("run/journal.jsonl"))
        if isinstance(event, VersionCommitted)
    ]
    assert [event.version for event in committed] == [2]
    assert problems_of(store) == []


def test_a_run_of_the_newest_version_goes_on_from_the_version_it_began_on(desk: Path) -> None:
    what = spec(benchmark="small", commit_to="benchmark", rounds=[{}, {"controls": {"agreed": 1}}])
    first = run(what)
    assert run(what) == first
    assert first.rounds[0].base.version == 1


def test_a_folder_in_which_a_run_only_just_began_can_be_used_again(desk: Path) -> None:
    """A kill right after the folder was made leaves a lock and an empty journal."""
    Path("run").mkdir()
    Path("run/.lock").touch()
    Path("run/journal.jsonl").touch()
    Path("run/.spec.json.k3jf.part").touch()
    assert run().status is RunStatus.COMPLETE


# --- what is refused, before anything is written -------------------------------------------


def test_another_spec_in_the_same_folder_is_refused(desk: Path) -> None:
    run()
    before = tree(desk)
    with pytest.raises(ResultsExistError, match="another spec"):
        run(spec(seed=6))
    with pytest.raises(ResultsExistError, match="another spec"):
        run(auditors=(EXPERT.model_copy(update={"about": "somebody else"}),))
    assert tree(desk) == before


def test_a_spec_changed_by_hand_under_its_journal_is_refused(desk: Path) -> None:
    run()
    saved = Path("run/spec.json").read_text("utf-8")
    assert '"seed": 5' in saved or '"seed":5' in saved
    Path("run/spec.json").write_text(saved.replace('"seed":5', '"seed":6').replace(
        '"seed": 5', '"seed": 6'), "utf-8")  # fmt: skip
    before = tree(desk)
    with pytest.raises(ResultsExistError, match="begun with another spec"):
        resume(Path("run"))
    assert tree(desk) == before


def test_a_folder_that_another_run_took_meanwhile_is_refused(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the folder and its lock another process may begin and end."""
    enter = Journal.__enter__

    def late(journal: Journal) -> Journal:
        monkeypatch.setattr(Journal, "__enter__", enter)
        run(spec(seed=6))
        return enter(journal)

    monkeypatch.setattr(Journal, "__enter__", late)
    with pytest.raises(ResultsExistError, match="another spec"):
        run()
    assert run(spec(seed=6)).spec.seed == 6


def test_a_folder_that_holds_something_else_is_refused(desk: Path) -> None:
    Path("run").mkdir()
    Path("run/notes.txt").write_text("mine")
    with pytest.raises(ResultsExistError, match="holds no run"):
        run()
    Path("file").write_text("mine")
    with pytest.raises(ResultsExistError, match="not a folder"):
        run(folder="file")
    assert sorted(path.name for path in Path("run").iterdir()) == ["notes.txt"]


def test_a_folder_in_use_is_refused(desk: Path) -> None:
    run()
    before = tree(desk)
    with Journal(Path("run")), pytest.raises(ResultsExistError, match="in use"):
        run()
    assert tree(desk) == before


@pytest.mark.parametrize(
    ("changes", "auditor", "message"),
    [
        ({"challenger": {"kind": "quotin"}}, EXPERT, "did you mean 'quoting'"),
        ({"challenger": {"kind": "quoting", "options": {"paws": 1}}}, EXPERT, "no option 'paws'"),
        ({"challenger": {"kind": "command", "options": {"command": ["no-such-program"]}}}, EXPERT,
         "cannot be started"),
        ({"scored": [{"kind": "overlap", "name": "quoting"}]}, EXPERT, "two different verifiers"),
        ({}, AuditorSpec(name="expert", kind="polizy"), "did you mean 'policy'"),
        ({}, AuditorSpec(name="expert", kind="policy", options={"acuracy": 1}), "no option"),
        ({}, AuditorSpec(name="expert", kind="policy", options={"accuracy": 2}), "accuracy"),
        ({}, AuditorSpec(name="expert", kind="policy", options={"key": "autor"}), "'autor'"),
    ],
)  # fmt: skip
def test_a_spec_that_does_not_fit_leaves_no_folder(
    desk: Path, changes: dict[str, Any], auditor: AuditorSpec, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run(spec(**changes), auditors=(auditor,))
    assert not Path("run").exists()


def test_options_that_yaml_reads_as_dates_do_not_look_like_another_spec(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = DAY.date()
    what = spec(challenger={"kind": "quoting", "options": {"model": day}})
    monkeypatch.setattr("deepfact.plugins._checked", lambda *_: {})
    monkeypatch.setattr("deepfact.running.run_state.check_auditors", lambda *_: None, raising=False)
    monkeypatch.setitem(auditing.BUILT_IN, "policy", "deepfact.auditors.policy:PolicyAuditor")
    run(what)
    assert run(what).status is RunStatus.COMPLETE


def test_an_auditor_does_not_judge_its_own_model_unless_the_policy_says_so(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenger = {"kind": "quoting", "options": {"model": "m-1"}}
    judge = AuditorSpec(name="expert", kind="own-model", options={"model": "m-1"})
    monkeypatch.setitem(auditing.BUILT_IN, "own-model", "house_auditor:Auditor")
    monkeypatch.syspath_prepend(str(desk))
    (desk / "house_auditor.py").write_text(
        "from deepfact.records import Adjudication\n\n\n"
        "class Auditor:\n"
        "    def __init__(self, name, model):\n        self.name = name\n\n"
        "    def adjudicate(self, case):\n"
        "        return Adjudication(\n"
        "            case_id=case.id, auditor='x', decision='a', rationale='first is best'\n"
        "        )\n"
    )
    with pytest.raises(ConfigError, match="its own model"):
        run(spec(challenger=challenger), auditors=(judge,))
    assert not Path("run").exists()

    allowed = spec(challenger=challenger, policy={"allow_self_judging": True})
    record = run(allowed, auditors=(judge,))
    assert record.spec.policy.allow_self_judging
    assert {made.auditor for made in record.rounds[0].adjudications} == {"expert"}


# --- policies, failures, where versions go -------------------------------------------------


@pytest.mark.parametrize("rule", ["majority", "unanimous"])
def test_policies_with_three_auditors(desk: Path, rule: str) -> None:
    panel = tuple(
        AuditorSpec(name=name, kind="policy", options={"accuracy": 0.6, "seed": seed})
        for seed, name in enumerate(("ada", "ben", "cyd"))
    )
    what = spec(auditors=("ada", "ben", "cyd"), policy={"rule": rule})
    (done,) = run(what, auditors=panel).rounds

    made: dict[str, list[Label | None]] = {}
    cases = {case.id: case for case in done.cases}
    for adjudication in done.adjudications:
        case = cases[adjudication.case_id]
        made.setdefault(case.id, []).append(decided_label(case, adjudication))
    assert all(len(labels) == 3 for labels in made.values())
    kinds = Counter(ruling.kind for ruling in done.rulings)
    for ruling in done.rulings:
        label, count = Counter(made[ruling.case_id]).most_common(1)[0]
        enough = count >= (2 if rule == "majority" else 3)
        assert ruling.label == (label if enough else None)
        assert (ruling.kind == "unresolved") == (not enough)
    assert kinds["unresolved"] and kinds["revise"] and kinds["uphold"]
    changed = {r.claim_id for r in done.rulings if r.kind == "revise"}
    assert {revision.claim_id for revision in done.revisions} == changed


def test_single_auditors_take_turns(desk: Path) -> None:
    pair = (EXPERT, EXPERT.model_copy(update={"name": "other"}))
    (done,) = run(spec(auditors=("expert", "other")), auditors=pair).rounds
    by = [made.auditor for made in done.adjudications]
    assert by[:4] == ["expert", "other", "expert", "other"] and len(by) == len(done.cases)


def test_a_verifier_that_fails_on_everything_challenges_nothing(desk: Path) -> None:
    record = run(spec(challenger={"kind": "failing"}))
    (done,) = record.rounds
    assert all(isinstance(outcome, VerificationFailure) for outcome in done.outcomes)
    assert {outcome.detail for outcome in done.outcomes} == {"RuntimeError: the server is on fire"}
    assert done.cases == done.revisions == () and done.challenges == 0
    assert done.result == done.base
    sheet = done.scores[0]
    assert (sheet.n, sheet.unverified, sheet.accuracy.k, sheet.binary.k) == (60, 60, 0, 0)
    assert sheet.accuracy.unverified == 60 and sheet.missing == 0
    assert "60" in Path("run/report.md").read_text(encoding="utf-8")


def test_versions_go_to_the_benchmark_or_to_a_copy_in_the_run(desk: Path) -> None:
    before = tree(desk / "benchmarks")
    run(folder="copied")
    assert tree(desk / "benchmarks") == before
    assert BenchmarkStore(Path("copied/benchmarks/small")).versions() == [1, 2]

    run(spec(commit_to="benchmark"), folder="kept")
    assert not Path("kept/benchmarks").exists()
    store = BenchmarkStore(desk / "benchmarks/small")
    assert store.versions() == [1, 2] and problems_of(store) == []
    assert len(store.expected_changelog().splitlines()) == 6


def test_people_are_waited_for(desk: Path) -> None:
    record = run(auditors=(PERSON.model_copy(update={"name": "expert"}),))
    assert record.status is RunStatus.PENDING and record.rounds == ()
    opened = [e for e in read_events(Path("run/journal.jsonl")) if isinstance(e, CaseOpened)]
    assert list(record.waiting) == [event.case.id for event in opened]
    assert json.loads(Path("run/record.json").read_text("utf-8"))["status"] == "pending"


def test_the_auditors_that_ship_can_be_read(desk: Path) -> None:
    names = sorted(path.stem for path in Path("auditors").glob("*.yaml"))
    assert [auditor.name for auditor in read_auditors(names, Path("auditors"))] == names
    with pytest.raises(ConfigError, match="did you mean 'person'"):
        read_auditors(["persom"], Path("auditors"))
