"""Rounds that agents audit, over real HTTP on loopback: blind, paid for once, never a guess."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "servers"))

from http_judge import cannot_tell, inside, longer_claims_are_unclear, takes, user_text
from messages_server import Faults, MessagesServer

from deepfact.api import run_round
from deepfact.auditors import read_auditors
from deepfact.errors import ConfigError, RunIncomplete
from deepfact.plan import plan_round
from deepfact.providers.base import ProviderRefused
from deepfact.records import CaseKind, Decision, RulingKind
from deepfact.review import open_desk
from deepfact.run_records import Adjudicated, Escalated, RoundSpec, RunRecord, RunStatus
from deepfact.store.journal import read_events
from deepfact.store.specs import read_yaml

MARKERS = (
    "microgold", "micro-gold", "benchmark", "incumbent", "challeng", "r1-0", "adjudicat",
    "quoting", "annotat", "small@", "ctl-",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none-is-needed-here")


def declare(url: str, name: str = "judge", **options: Any) -> None:
    """An agent that asks the server at ``url``."""
    whole = {
        "provider": {"kind": "anthropic", "options": {"base_url": url}},
        "model": "stand-in",
        "votes": 1,
        "search": 0,
        "limits": {"concurrency": 4, "attempts": 2, "backoff": 0.01},
        **options,
    }
    spec = {"name": name, "kind": "agent", "options": whole}
    Path(f"auditors/{name}.yaml").write_text(yaml.safe_dump(spec), "utf-8")


def panel(*members: str, rule: str = "unanimous", to: tuple[str, ...] = ("person",)) -> None:
    options = {"members": list(members), "rule": rule, "escalate_to": list(to)}
    spec = {"name": "jury-of-two", "kind": "panel", "options": options}
    Path("auditors/jury-of-two.yaml").write_text(yaml.safe_dump(spec), "utf-8")


def config(*auditors: str, **changes: Any) -> Path:
    spec = {
        "name": "trial", "benchmark": "small@1", "challenger": {"kind": "quoting"},
        "auditors": list(auditors), "seed": 5, "commit_to": "run",
        "date": "2026-01-05T00:00:00Z", **changes,
    }  # fmt: skip
    path = Path("trial.yaml")
    path.write_text(yaml.safe_dump(spec), "utf-8")
    return path


def went(record: RunRecord) -> Any:
    assert record.status is RunStatus.COMPLETE
    return record.rounds[0]


# --- a whole round ------------------------------------------------------------------------


def test_an_agent_audits_a_round_blind(desk: Path) -> None:
    with MessagesServer(takes("a")) as server:
        declare(server.url)
        done = went(run_round(config("judge"), out="run"))
    cases, keys = done.cases, {key.case_id: key for key in done.keys}
    assert len(cases) == server.calls == len(done.adjudications) > 20
    for made in done.adjudications:
        assert made.decision is Decision.A and made.auditor == "judge"
        assert made.deliberation is not None and len(made.deliberation.votes) == 1
    sides = Counter(key.incumbent for key in keys.values())
    assert min(sides.values()) > len(cases) / 4, "the order of the sides is drawn by lot"
    accepted = {r.claim_id for r in done.rulings if r.accepts_challenge}
    taken = {k.claim_id for k in done.keys if k.kind is CaseKind.CHALLENGE and k.incumbent == "b"}
    assert accepted == taken
    ids = {case.claim.id for case in cases}
    for body in server.bodies:
        # The words of claims, sides and sources are what they are; everything else is ours.
        ours = user_text(body)
        for tag in ("claim", "context", "side_a", "side_b", "sources"):
            ours = ours.replace(inside(ours, tag), "")
        text = json.dumps(body | {"messages": ours}).lower()
        sides_shown = inside(user_text(body), "side_a") + inside(user_text(body), "side_b")
        assert not [one for one in ids if one in sides_shown]
        assert not [marker for marker in MARKERS if marker in text]
        assert not [one for one in ids if re.search(rf"\b{re.escape(one)}\b", text)]


def test_the_same_seed_asks_the_same_and_pays_nothing_again(desk: Path) -> None:
    with MessagesServer(takes("b")) as server:
        declare(server.url, votes=3, responses="shared.sqlite")
        first = went(run_round(config("judge"), out="one"))
        calls = server.calls
        second = went(run_round(config("judge"), out="two"))
        assert server.calls == calls == 3 * len(first.cases)
        assert second.adjudications == first.adjudications
        run_round(config("judge", seed=6), out="three")
        assert server.calls > calls  # other sides, other requests


def test_answers_that_fail_are_no_decisions_and_change_nothing(desk: Path) -> None:
    with MessagesServer(lambda _: "Side A is right, surely.") as server:
        declare(server.url, votes=2, reask=0)
        done = went(run_round(config("judge"), out="run"))
    assert {made.decision for made in done.adjudications} == {Decision.CANNOT_TELL}
    assert {ruling.kind for ruling in done.rulings} == {RulingKind.UNRESOLVED}
    assert done.revisions == () and done.result.version == done.base.version
    assert all("2 unreadable" in made.rationale for made in done.adjudications)
    (score,) = done.auditors
    assert score.cannot_tell == score.cases == len(done.cases)


def test_a_refused_key_stops_the_run_and_what_was_paid_for_is_kept(desk: Path) -> None:
    faults = Faults(script=[""] * 7 + ["401"] * 50)
    with MessagesServer(takes("a"), faults=faults) as server:
        declare(server.url)
        with pytest.raises(ProviderRefused):
            run_round(config("judge"), out="run")
        kept = [e for e in read_events(Path("run/journal.jsonl")) if isinstance(e, Adjudicated)]
        assert 0 < len(kept) <= 7
        faults.script.clear()
        before = len(server.bodies)
        done = went(run_round(Path("trial.yaml"), out="run"))
    asked = [user_text(body) for body in server.bodies]
    assert len(done.adjudications) == len(done.cases)
    assert not set(asked[:7]) & set(asked[before:]), "an answer was paid for twice"


def test_a_budget_stops_it_and_it_can_be_resumed(desk: Path, deepfact: Any) -> None:
    with MessagesServer(takes("a")) as server:
        declare(server.url, budget={"calls": 10})
        config("judge")
        env = {"ANTHROPIC_API_KEY": "none-is-needed-here"}
        stopped = deepfact("round", "run", "trial.yaml", "--out", "run", env=env)
        assert stopped.returncode == 3 and "Traceback" not in stopped.stderr
        assert server.calls == 10
        again = deepfact("round", "resume", "run", env=env)
        assert server.calls == 20 and again.returncode == 3


def test_killed_and_resumed_it_pays_for_nothing_twice(desk: Path, deepfact_command: str) -> None:
    with MessagesServer(takes("a"), latency=0.05) as server:
        declare(server.url, limits={"concurrency": 2})
        words = [deepfact_command, "round", "run", str(config("judge")), "--out", "run"]
        kills = 0
        for stop_at in (5, 14):
            process = subprocess.Popen(
                words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
            )
            deadline = time.monotonic() + 60
            while server.calls < stop_at and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait()
        done = went(run_round(Path("trial.yaml"), out="run"))
    asked = Counter(user_text(body) for body in server.bodies)
    twice = sum(count - 1 for count in asked.values())
    assert kills == 2 and len(asked) == len(done.cases)
    assert twice <= 2 * kills, "only what was on the wire when it was killed is asked again"
    decided = [e for e in read_events(Path("run/journal.jsonl")) if isinstance(e, Adjudicated)]
    assert len({e.adjudication.case_id for e in decided}) == len(decided) == len(done.cases)


# --- nobody judges itself -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"challenger": {"kind": "quoting", "options": {"model": "vendor/Stand-In"}}},
         "auditor 'judge' would judge the challenges of its own model"),
        ({"scored": [{"kind": "quoting", "name": "x", "options": {"model": "stand-in:free"}}]},
         "its own model, 'x', is scored on"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("alone", [True, False])
def test_self_judging_is_refused_before_any_call(
    desk: Path, deepfact: Any, changes: dict[str, Any], words: str, alone: bool
) -> None:
    with MessagesServer(takes("a")) as server:
        declare(server.url)
        panel("judge", "evidence-judge")
        path = config("judge" if alone else "jury-of-two", **changes)
        for command in (["round", "run"], ["plan"]):
            refused = deepfact(*command, path, "--out", "run")
            assert refused.returncode == 2 and words in refused.stderr
        assert server.calls == 0 and not Path("run").exists()


def test_self_judging_that_the_policy_allows_is_on_the_record(desk: Path) -> None:
    with MessagesServer(takes("a")) as server:
        declare(server.url)
        own = {"kind": "quoting", "options": {"model": "stand-in"}}
        path = config("judge", challenger=own, policy={"allow_self_judging": True})
        done = went(run_round(path, out="run"))
    assert [score.own_model for score in done.auditors] == [True]
    assert all("allowed by the policy" in made.notes for made in done.adjudications)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"provider": {"kind": "anthropik"}}, "anthropik"),
        ({"limits": {"concurency": 4}}, "option 'limits'"),
        ({"votes": "many"}, "votes"),
        ({"vote": 3}, "did you mean 'votes'"),
    ],
)
def test_a_wrong_option_is_found_before_the_challenger_runs(
    desk: Path, options: dict[str, Any], words: str
) -> None:
    declare("http://127.0.0.1:9", **options)
    with pytest.raises(ConfigError) as error:
        run_round(config("judge"), out="run")
    assert words in str(error.value) and not Path("run").exists()


# --- panels and escalation ----------------------------------------------------------------


def test_a_panel_escalates_what_it_cannot_settle_to_a_person_through_the_command_line(
    desk: Path, deepfact: Any
) -> None:
    with MessagesServer(longer_claims_are_unclear) as server:
        declare(server.url)
        declare(server.url, "zweiter", votes=2, model="another")
        panel("judge", "zweiter")
        config("jury-of-two")
        env = {"ANTHROPIC_API_KEY": "none-is-needed-here"}
        first = deepfact("round", "run", "trial.yaml", "--out", "run", env=env)
        assert first.returncode == 3, first.stderr
        calls = server.calls
        events = read_events(Path("run/journal.jsonl"))
        asked = [event.case_id for event in events if isinstance(event, Escalated)]
        assert asked and f"{len(asked)} cases wait for people" in first.stderr
        assert {event.to for event in events if isinstance(event, Escalated)} == {"person"}

        waiting = open_desk(Path("run"), "person").waiting
        assert [case.id for case in waiting] == asked
        assert deepfact("audit", "export", "run", "--out", "cases.csv").returncode == 0
        sheet = Path("cases.csv").read_text("utf-8-sig")
        rows = list(csv.DictReader(sheet.splitlines()))
        assert [row["case"] for row in rows] == asked
        for told in ("jury-of-two", "zweiter", "escalat", "The first source says"):
            assert told not in sheet

        half = len(asked) // 2
        shown = deepfact("audit", "review", "run", said="b\nit is so\n" * half + "q\n")
        assert shown.returncode == 0 and "jury-of-two" not in shown.stdout
        assert deepfact("round", "resume", "run", env=env).returncode == 3
        deepfact("audit", "review", "run", said="b\nit is so\n" * len(asked))
        last = deepfact("round", "resume", "run", env=env)
        assert last.returncode == 0, last.stderr
        assert server.calls == calls, "resuming asks nobody again"

    done = went(RunRecord.model_validate_json(Path("run/record.json").read_text("utf-8")))
    by_case = {made.case_id: made for made in done.adjudications}
    assert {made.auditor for made in by_case.values()} == {"jury-of-two"}
    assert set(by_case) == {case.id for case in done.cases} and len(by_case) > len(asked)
    for case_id, made in by_case.items():
        told = made.deliberation
        assert told is not None and [one.auditor for one in told.members[:2]] == [
            "judge",
            "zweiter",
        ]
        if case_id in asked:
            assert (told.escalated_to, told.decided_by) == ("person", ("person",))
            assert (made.decision, made.rationale) == (Decision.B, "it is so")
        else:
            assert told.decided_by == ("judge", "zweiter") and made.decision is Decision.A
    assert [(score.auditor, score.panel) for score in done.auditors] == [
        ("jury-of-two", ""), ("judge", "jury-of-two"), ("zweiter", "jury-of-two"),
        ("person", "jury-of-two"),
    ]  # fmt: skip
    assert done.auditors[3].cases == len(asked)
    changed = {revision.case: revision.who for revision in done.revisions}
    assert {changed[case] for case in changed if case in asked} == {"jury-of-two + person"}


def test_a_panel_without_people_cannot_tell(desk: Path) -> None:
    with MessagesServer(cannot_tell) as server:
        declare(server.url)
        panel("judge", "evidence-judge", to=())
        done = went(run_round(config("jury-of-two"), out="run"))
    assert {made.decision for made in done.adjudications} == {Decision.CANNOT_TELL}
    assert done.revisions == ()


def test_a_person_on_a_panel_sees_every_case_and_may_think_again(desk: Path) -> None:
    from deepfact.records import Adjudication
    from deepfact.review import Receipt, hand_in, withdraw

    def decide(case_id: str, choice: Decision) -> None:
        made = Adjudication(case_id=case_id, auditor="person", decision=choice, rationale="so")
        assert hand_in(Path("run"), 1, made) is Receipt.KEPT

    with MessagesServer(takes("a")) as server:
        declare(server.url)
        panel("judge", "person", to=("ada",))
        Path("auditors/ada.yaml").write_text("name: ada\nkind: human\n", "utf-8")
        path = config("jury-of-two")
        record = run_round(path, out="run")
        ids = [case.id for case in open_desk(Path("run"), "person").waiting]
        assert tuple(ids) == record.waiting
        assert open_desk(Path("run"), "ada").cases == ()
        decide(ids[0], Decision.CANNOT_TELL)
        for case_id in ids[1:]:
            decide(case_id, Decision.A)
        assert run_round(path, out="run").waiting == (ids[0],)
        assert [case.id for case in open_desk(Path("run"), "ada").waiting] == [ids[0]]
        # The member thinks again; the person who was asked still decides.
        assert withdraw(Path("run"), 1, ids[1], "person", why="oh", after=1) is Receipt.KEPT
        assert set(run_round(path, out="run").waiting) == {ids[0], ids[1]}
        decide(ids[1], Decision.A)
        last = Adjudication(case_id=ids[0], auditor="ada", decision="b", rationale="B quotes it")
        assert hand_in(Path("run"), 1, last) is Receipt.KEPT
        done = went(run_round(path, out="run"))
    by_case = {made.case_id: made for made in done.adjudications}
    assert by_case[ids[0]].rationale == "B quotes it"
    assert by_case[ids[1]].deliberation.decided_by == ("judge", "person")
    assert server.calls == len(done.cases)


@pytest.mark.parametrize("together", [True, False])
def test_one_judge_does_not_count_twice(desk: Path, together: bool) -> None:
    declare("http://127.0.0.1:9")
    declare("http://127.0.0.1:9", "zweiter", votes=5)
    panel("judge", "zweiter")
    names = ["jury-of-two"] if together else ["judge", "zweiter"]
    policy = {"rule": "single" if together else "majority"}
    with pytest.raises(ConfigError, match="one judge would count twice"):
        run_round(config(*names, policy=policy), out="run")
    assert not Path("run").exists()


# --- plans --------------------------------------------------------------------------------


def planned(**options: Any) -> Any:
    spec = read_yaml(Path("trial.yaml"), RoundSpec)
    auditors = read_auditors(list(spec.auditors), Path("auditors"))
    return plan_round(spec, auditors=auditors, folder=Path("run"), **options)


def test_a_plan_counts_agents_at_most_and_exactly_once_cases_are_open(
    desk: Path, deepfact: Any
) -> None:
    prices = {"stand-in": {"input": 2.0, "output": 10.0}}
    with MessagesServer(takes("a")) as server:
        declare(server.url, votes=2, searches=0, prices=prices)
        panel("judge", "person", to=())
        path = config("jury-of-two")
        before = planned()
        agent = before.arms[-1]
        assert agent.arm == "jury-of-two / judge" and agent.at_most and agent.calls == 60 * 2
        assert agent.usd is not None and agent.usd > 0 and server.calls == 0
        shown = deepfact("plan", path, "--out", "run")
        assert "at most 120" in shown.stdout and "every labelled claim" in shown.stderr
        faults = server.faults
        faults.script = ["401"] * 9
        with pytest.raises(ProviderRefused):
            run_round(path, out="run")
        stored = planned().arms[-1]
        assert not stored.at_most
        faults.script = []
        calls = server.calls
        record = run_round(path, out="run")
        assert stored.calls == server.calls - calls == 2 * len(record.waiting)
        after = planned().arms[-1]
        assert after.calls == 0 and after.votes == 0
        declare(server.url, votes=2, searches=2, prices=prices)
    assert planned_searching().calls == 60 * 2 * 3


def planned_searching() -> Any:
    spec = read_yaml(Path("trial.yaml"), RoundSpec)
    auditors = read_auditors(list(spec.auditors), Path("auditors"))
    return plan_round(spec, auditors=auditors).arms[-1]


def test_an_answer_that_a_replay_lacks_leaves_the_run_to_be_resumed(desk: Path) -> None:
    declare("http://127.0.0.1:9", replay=True)
    with pytest.raises(RunIncomplete, match="decisions of agents are not there yet"):
        run_round(config("judge"), out="run")


# --- other providers ----------------------------------------------------------------------


def searches_first(body: dict[str, Any]) -> str:
    """A judge that searches once, then takes side A."""
    if "searched for" in user_text(body):
        return takes("a")(body)
    plain = {"evidence": [], "contradiction": None, "label": None}
    asks = {"decision": "search", "queries": ["annual report"]}
    return json.dumps(json.loads(takes("a")(body)) | plain | asks)


def test_with_batches_each_search_is_one_more_pass(desk: Path) -> None:
    with MessagesServer(searches_first, batch_polls=2) as server:
        options = {"base_url": server.url, "wait": False, "gather_seconds": 0.2}
        batches = {"kind": "batches", "options": options}
        declare(server.url, provider=batches, searches=1)
        path, passes = config("judge"), 0
        while True:
            passes += 1
            assert passes < 9
            try:
                done = went(run_round(path, out="run"))
                break
            except RunIncomplete as error:
                assert "decisions of agents are not there yet" in str(error)
        asked = [one for batch in server.batches.values() for one in batch["requests"]]
    assert passes >= 3 and len(asked) == 2 * len(done.cases)
    for made in done.adjudications:
        assert made.deliberation is not None
        (vote,) = made.deliberation.votes
        assert vote.queries == ("annual report",) and made.decision is Decision.A


def test_chat_completions_are_asked_the_same(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed-here")

    def answer(body: dict[str, Any]) -> str:
        users = [one for one in body["messages"] if one["role"] == "user"]
        return takes("b")(body | {"messages": users})

    with MessagesServer(answer) as server:
        chat = {"kind": "openai", "options": {"base_url": f"{server.url}/v1"}}
        declare(server.url, provider=chat)
        done = went(run_round(config("judge"), out="run"))
        schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert {made.decision for made in done.adjudications} == {Decision.B}
    assert "queries" in schema["properties"]
