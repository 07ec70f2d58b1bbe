"""Cases that wait for people: who sees which, that a decision is kept and never overwritten, and
that nothing of a run that is open gives the answers away."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from deepfact.errors import ConfigError, InputError, ResultsExistError
from deepfact.records import Adjudication, Decision, KeyEntry
from deepfact.review import Receipt, decide, hand_in, hand_in_all, open_desk, withdraw
from deepfact.round import resume, run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, RunRecord, RunStatus, VerifierSpec
from deepfact.running.run_state import run_status
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, read_jsonl, write_text
from deepfact.store.journal import Journal

RUN = Path("run")
CANARY = "KANARIENVOGEL"


def begin(*names: str, rule: str = "single", commit_to: str = "run") -> RunRecord:
    """A run that waits for the people named."""
    spec = RoundSpec(
        name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"), auditors=names,
        policy={"rule": rule}, date=datetime(2026, 1, 5, tzinfo=UTC), commit_to=commit_to,
    )  # fmt: skip
    people = tuple(AuditorSpec(name=name, kind="human") for name in names)
    return run_rounds(spec, RUN, auditors=people)


def decision(case_id: str, auditor: str = "ada") -> Adjudication:
    return Adjudication(
        case_id=case_id, auditor=auditor, decision=Decision.A, rationale="A quotes the source"
    )


def test_one_person_sees_every_case_and_leaves_none(desk: Path) -> None:
    record = begin("ada")
    before = open_desk(RUN)
    assert [case.id for case in before.waiting] == list(record.waiting) and before.decided == 0
    for case in before.waiting:
        decide(RUN, before.round, decision(case.id))
    after = open_desk(RUN)
    assert after.waiting == () and after.decided == len(before.waiting)
    done = resume(RUN)
    assert done.status is RunStatus.COMPLETE
    assert all(made.when is not None for made in done.rounds[0].adjudications)
    assert {made.rationale for made in done.rounds[0].adjudications} == {"A quotes the source"}


def test_two_people_take_turns_or_all_decide(desk: Path) -> None:
    record = begin("ada", "ben")
    ada, ben = open_desk(RUN, "ada"), open_desk(RUN, "ben")
    ids = list(record.waiting)
    assert [case.id for case in ada.waiting] == ids[::2]
    assert [case.id for case in ben.waiting] == ids[1::2]


def test_a_majority_waits_for_everybody(desk: Path) -> None:
    record = begin("ada", "ben", "cyd", rule="majority")
    for name in ("ada", "ben"):
        for case in open_desk(RUN, name).waiting:
            decide(RUN, 1, decision(case.id, name))
    assert open_desk(RUN, "ben").waiting == ()
    assert [case.id for case in open_desk(RUN, "cyd").waiting] == list(record.waiting)
    assert resume(RUN).waiting == record.waiting
    for case in open_desk(RUN, "cyd").waiting:
        decide(RUN, 1, decision(case.id, "cyd"))
    assert resume(RUN).status is RunStatus.COMPLETE


def test_who_one_is_must_be_said_and_be_known(desk: Path) -> None:
    begin("ada", "ben")
    with pytest.raises(InputError, match="ada, ben"):
        open_desk(RUN)
    with pytest.raises(InputError, match="did you mean 'ben'"):
        open_desk(RUN, "benn")


def test_a_case_is_decided_once(desk: Path) -> None:
    record = begin("ada")
    decide(RUN, 1, decision(record.waiting[0]))
    before = (RUN / "journal.jsonl").read_bytes()
    with pytest.raises(InputError, match="already"):
        decide(RUN, 1, decision(record.waiting[0]))
    assert (RUN / "journal.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("case_id", "auditor", "message"),
    [("r1-9999", "ada", "no case 'r1-9999'"), ("", "eve", "no person of this round")],
)
def test_a_decision_that_nobody_waits_for_is_refused(
    desk: Path, case_id: str, auditor: str, message: str
) -> None:
    record = begin("ada")
    before = (RUN / "journal.jsonl").read_bytes()
    with pytest.raises(InputError, match=message):
        decide(RUN, 1, decision(case_id or record.waiting[0], auditor))
    assert (RUN / "journal.jsonl").read_bytes() == before


def test_a_decision_waits_for_a_run_that_is_writing(desk: Path) -> None:
    record = begin("ada")
    with Journal(RUN), pytest.raises(ResultsExistError, match="in use"):
        decide(RUN, 1, decision(record.waiting[0]))


def test_a_decision_being_written_right_now_does_not_stop_a_look(desk: Path) -> None:
    begin("ada")
    with (RUN / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"adjudication":{"auditor":"a')
    assert open_desk(RUN).decided == 0
    assert not run_status(RUN).complete


# --- blindness ----------------------------------------------------------------------------


def plant(benchmarks: Path) -> None:
    """A word in every rationale of every key that stands nowhere else."""
    for path in (benchmarks / "small/keys").glob("*.jsonl"):
        entries = [
            entry.model_copy(update={"rationale": f"{CANARY} {entry.claim_id}"})
            for entry in read_jsonl(path, KeyEntry)
        ]
        write_text(path, jsonl(entry.canonical() for entry in entries))


@pytest.mark.parametrize("commit_to", ["run", "benchmark"])
def test_no_file_of_an_open_run_holds_the_answers(desk: Path, commit_to: str) -> None:
    plant(desk / "benchmarks")
    record = begin("ada", commit_to=commit_to)
    assert record.status is RunStatus.PENDING
    files = [path for path in RUN.rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert [str(path) for path in files if CANARY.encode() in path.read_bytes()] == []


def test_an_open_run_in_its_second_round_with_a_simulated_first_holds_no_answers(
    desk: Path,
) -> None:
    plant(desk / "benchmarks")
    spec = RoundSpec(
        name="trial", benchmark="small@1", auditors=("ada",), commit_to="run",
        challenger=VerifierSpec(kind="quoting"),
        rounds=[{"auditors": ["expert"]},
                {"challenger": {"kind": "quoting", "name": "other", "options": {"turn": "2"}}}],
    )  # fmt: skip
    auditors = (
        AuditorSpec(name="ada", kind="human"),
        AuditorSpec(name="expert", kind="policy"),
    )
    record = run_rounds(spec, RUN, auditors=auditors)
    assert record.status is RunStatus.PENDING and len(record.rounds) == 1
    files = [path for path in RUN.rglob("*") if path.is_file()]
    assert [str(path) for path in files if CANARY.encode() in path.read_bytes()] == []


def test_the_answers_come_to_the_copy_when_the_run_is_complete(desk: Path) -> None:
    record = begin("ada")
    copy = BenchmarkStore(RUN / "benchmarks/small")
    assert copy.key("microgold") == {}
    for case_id in record.waiting:
        decide(RUN, 1, decision(case_id))
    resume(RUN)
    assert copy.key("microgold") == BenchmarkStore(desk / "benchmarks/small").key("microgold")


def test_a_case_is_the_same_kind_of_thing_whatever_it_is_for(desk: Path) -> None:
    """Nothing of a case depends on whether its claim is micro-gold: not its id, not its place,
    not its fields."""
    record = begin("ada")
    waiting = open_desk(RUN).waiting
    gold = set(BenchmarkStore(desk / "benchmarks/small").key("microgold"))
    marked = [case for case in waiting if case.claim.id in gold]
    assert marked and len(marked) < len(waiting)
    assert [case.id for case in waiting] == [f"r1-{n:04d}" for n in range(1, len(waiting) + 1)]
    fields = {frozenset(case.model_dump(mode="json")) for case in waiting}
    assert len(fields) == 1
    for case in waiting:
        text = case.canonical()
        for word in ("quoting", "microgold", "incumbent", "challenger"):
            assert word not in text, (word, case.id)
    assert record.rounds == ()  # keys are written when the round is over, not before


def test_the_benchmarks_side_is_a_as_often_as_b(desk: Path) -> None:
    begin("ada")
    version = BenchmarkStore(desk / "benchmarks/small").load(1)
    incumbent_first = [
        case.a.rationale == version.state.entries[case.claim.id].annotation.rationale
        for case in open_desk(RUN).waiting
    ]
    assert 0.3 < sum(incumbent_first) / len(incumbent_first) < 0.7


# --- taking back, and sharing a queue -----------------------------------------------------


def test_a_decision_is_withdrawn_and_made_again_until_the_round_goes_on(desk: Path) -> None:
    record = begin("ada")
    case_id = record.waiting[0]
    assert hand_in(RUN, 1, decision(case_id), after=0) is Receipt.KEPT
    assert hand_in(RUN, 1, decision(case_id)) is Receipt.AGAIN
    assert withdraw(RUN, 1, case_id, "ada", why="a slip", after=0) is Receipt.STALE
    assert withdraw(RUN, 1, case_id, "ada", why=" ", after=1) is Receipt.KEPT
    assert withdraw(RUN, 1, case_id, "ada", why="", after=2) is Receipt.STALE
    assert open_desk(RUN).decided == 0 and run_status(RUN).decided == 0
    assert case_id in resume(RUN).waiting
    assert hand_in(RUN, 1, decision(case_id), after=0) is Receipt.STALE
    assert hand_in(RUN, 1, decision(case_id), after=2) is Receipt.KEPT
    assert hand_in(RUN, 2, decision(case_id)) is Receipt.NOT_YOURS
    rest = [decision(each) for each in record.waiting[1:]]
    assert set(hand_in_all(RUN, 1, rest)) == {Receipt.KEPT}
    done = resume(RUN)
    assert done.status is RunStatus.COMPLETE
    assert len(done.rounds[0].adjudications) == len(record.waiting)
    before = (RUN / "journal.jsonl").read_bytes()
    assert withdraw(RUN, 1, case_id, "ada", why="too late", after=3) is Receipt.CLOSED
    assert hand_in(RUN, 1, decision(case_id)) is Receipt.CLOSED
    assert (RUN / "journal.jsonl").read_bytes() == before
    with pytest.raises(InputError, match="gone on"):
        decide(RUN, 1, decision(case_id))


def shared(*auditors: AuditorSpec, rule: str = "single") -> RunRecord:
    spec = RoundSpec(
        name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"),
        auditors=[each.name for each in auditors], policy={"rule": rule, "queue": "shared"},
        date=datetime(2026, 1, 5, tzinfo=UTC), commit_to="run",
    )  # fmt: skip
    return run_rounds(spec, RUN, auditors=auditors)


def test_a_case_of_a_shared_queue_is_decided_by_whoever_comes_first(desk: Path) -> None:
    ada, ben = (AuditorSpec(name=name, kind="human") for name in ("ada", "ben"))
    record = shared(ada, ben)
    assert len(open_desk(RUN, "ada").waiting) == len(open_desk(RUN, "ben").waiting)
    first, *rest = record.waiting
    decide(RUN, 1, decision(first, "ben"))
    assert hand_in(RUN, 1, decision(first, "ada")) is Receipt.TAKEN
    assert first not in {case.id for case in open_desk(RUN, "ada").cases}
    for case_id in rest:
        decide(RUN, 1, decision(case_id, "ada"))
    made = resume(RUN).rounds[0].adjudications
    assert [each.auditor for each in made].count("ben") == 1
    assert len(made) == len(record.waiting)


def test_only_people_share_a_queue_and_one_decision_is_enough_there(desk: Path) -> None:
    ada = AuditorSpec(name="ada", kind="human")
    with pytest.raises(ConfigError, match="only people share"):
        shared(ada, AuditorSpec(name="judge", kind="evidence"))
    with pytest.raises(ConfigError, match="one auditor"):
        shared(ada, rule="majority")
    assert not RUN.exists()


def test_some_of_the_auditors_decide_each_case_in_turn(desk: Path) -> None:
    names = ["ada", "ben", "cyd", "dan"]
    people = tuple(AuditorSpec(name=name, kind="human") for name in names)

    def start(**policy: object) -> RunRecord:
        spec = RoundSpec(
            name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"),
            auditors=names, policy=policy, date=datetime(2026, 1, 5, tzinfo=UTC), commit_to="run",
        )  # fmt: skip
        return run_rounds(spec, RUN, auditors=people)

    with pytest.raises(ConfigError, match="the round has 4"):
        start(rule="majority", per_case=5)
    with pytest.raises(ConfigError, match="one auditor decides"):
        start(rule="single", per_case=2)
    record = start(rule="majority", per_case=3)
    desks = {name: open_desk(RUN, name) for name in names}
    counts = [len(desk.cases) for desk in desks.values()]
    assert sum(counts) == 3 * len(record.waiting) and max(counts) - min(counts) <= 1
    for name, desk_of_one in desks.items():
        for case in desk_of_one.waiting:
            decide(RUN, 1, decision(case.id, name))
    done = resume(RUN)
    assert done.status is RunStatus.COMPLETE
    assert {len(ruling.auditors) for ruling in done.rounds[0].rulings} == {3}
