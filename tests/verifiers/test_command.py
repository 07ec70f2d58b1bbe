"""A user's own program as a verifier: whatever it does, every claim has exactly one outcome, and
nothing waits longer than the time limit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deepfact.errors import ConfigError, IntegrityError
from deepfact.executors.local import run_verifier
from deepfact.records import Claim, FailureReason, Label, Outcome, Source, Verdict
from deepfact.run_records import VerifierSpec
from deepfact.store.sources import SourceStore
from deepfact.verifiers.base import Context, build_verifier
from deepfact.verifiers.command import CommandVerifier

SOURCE = Source.create(title="Mühlen", text="Die Mühle schloss 1931. " * 4000)
CLAIMS = [Claim(id=f"c{n}", text=f"Die Mühle schloss {n}.", cites=(SOURCE.id,)) for n in range(5)]
ECHO = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"claim_id": asked["claim_id"], "label": "supported",
                      "rationale": asked["claim"] + asked["sources"][0]["title"]}), flush=True)
"""
START = "import json, sys, time\nids = [json.loads(line)['claim_id'] for line in sys.stdin]\n"
"""Reads everything first."""

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def ask(program: str, timeout: float = 20.0, claims: list[Claim] = CLAIMS) -> dict[str, Outcome]:
    return ask_command([sys.executable, "-c", program], timeout, claims)


def ask_command(
    command: list[str], timeout: float = 20.0, claims: list[Claim] = CLAIMS
) -> dict[str, Outcome]:
    verifier = CommandVerifier(command, timeout)
    context = Context(sources={SOURCE.id: SOURCE})
    outcomes = list(run_verifier(verifier, claims, context, name="mine"))
    assert sorted(outcome.claim_id for outcome in outcomes) == [claim.id for claim in claims]
    return {outcome.claim_id: outcome for outcome in outcomes}


def verdicts(outcomes: dict[str, Outcome]) -> dict[str, Label]:
    return {o.claim_id: o.label for o in outcomes.values() if isinstance(o, Verdict)}


def details(outcomes: dict[str, Outcome]) -> set[str]:
    return {o.detail for o in outcomes.values() if not isinstance(o, Verdict)}


def test_claims_go_out_and_verdicts_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    outcomes = ask(ECHO)
    assert verdicts(outcomes) == dict.fromkeys((claim.id for claim in CLAIMS), "supported")
    assert outcomes["c3"].rationale == "Die Mühle schloss 3.Mühlen"
    assert {outcome.verifier for outcome in outcomes.values()} == {"mine"}


def test_a_program_is_told_no_label_and_no_key() -> None:
    import json

    from deepfact.verifiers.command import question

    told = json.loads(question(CLAIMS[0], Context(sources={SOURCE.id: SOURCE})))
    assert set(told) == {"claim_id", "claim", "context", "sources"}
    assert set(told["sources"][0]) == {"id", "title", "url", "text"}


def test_answers_in_another_order_twice_or_about_nothing_asked() -> None:
    program = START + (
        "for i in reversed(ids + ['c99']):\n"
        "    for label in ('supported', 'contradictory'):\n"
        "        print(json.dumps({'claim_id': i, 'label': label}))\n"
    )
    assert verdicts(ask(program)) == dict.fromkeys((claim.id for claim in CLAIMS), "supported")


def test_a_claim_left_out_fails_alone() -> None:
    program = START + (
        "for i in ids[1:]:\n    print(json.dumps({'claim_id': i, 'label': 'inconclusive'}))\n"
        "print('I could not do c0', file=sys.stderr)\nsys.exit(3)\n"
    )
    outcomes = ask(program)
    assert set(verdicts(outcomes)) == {"c1", "c2", "c3", "c4"}
    assert outcomes["c0"].reason is FailureReason.NO_ANSWER
    assert "ended with code 3" in outcomes["c0"].detail
    assert "I could not do c0" in outcomes["c0"].detail


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{'claim_id': 'c0', 'label': 'Supported'}", "label"),
        ("{'claim_id': 'c0', 'label': 'supported', 'confidence': 1}", "confidence"),
        ("{'claim_id': 'c0'}", "label"),
        ("['c0']", "could not be read"),
        ("{'claim_id': 'c0', 'reason': 'tired'}", "reason"),
    ],
)
def test_a_line_that_cannot_be_read_is_never_a_label(line: str, said: str) -> None:
    program = START + (
        f"print(json.dumps({line}))\nprint('not JSON')\nprint(json.dumps({line}))\n"
        "for i in ids[1:]:\n    print(json.dumps({'claim_id': i, 'label': 'supported'}))\n"
    )
    outcomes = ask(program)
    assert set(verdicts(outcomes)) == {"c1", "c2", "c3", "c4"}
    assert "could not be read" in outcomes["c0"].detail and said in outcomes["c0"].detail


def test_a_program_may_say_why_there_is_no_answer() -> None:
    program = START + (
        "for i in ids:\n"
        "    print(json.dumps({'claim_id': i, 'reason': 'refused', 'detail': 'I would not'}))\n"
    )
    outcomes = ask(program)
    assert {o.reason for o in outcomes.values()} == {FailureReason.REFUSED}
    assert details(outcomes) == {"I would not"}


def test_a_program_that_reads_nothing_and_ends() -> None:
    outcomes = ask("import sys; sys.exit('no licence')")
    assert verdicts(outcomes) == {}
    assert all("no licence" in text for text in details(outcomes))


def test_what_was_said_in_time_is_kept() -> None:
    program = START + (
        "print(json.dumps({'claim_id': 'c1', 'label': 'supported'}), flush=True)\ntime.sleep(60)\n"
    )
    began = time.monotonic()
    outcomes = ask(program, timeout=1.0)
    assert time.monotonic() - began < 5
    assert set(verdicts(outcomes)) == {"c1"}
    assert {o.reason for o in outcomes.values() if not isinstance(o, Verdict)} == {
        FailureReason.TIMEOUT
    }
    assert details(outcomes) == {"no answer within 1 s"}


def test_a_program_that_closes_its_output_and_stays_is_ended() -> None:
    began = time.monotonic()
    outcomes = ask("import os, time; os.close(1); time.sleep(60)", timeout=0.5)
    assert time.monotonic() - began < 5
    assert {o.reason for o in outcomes.values()} == {FailureReason.TIMEOUT}


@posix
def test_what_the_program_started_is_ended_with_it(tmp_path: Path) -> None:
    """A shell that is killed leaves its child, which would hold the pipes for a minute."""
    began = time.monotonic()
    script = f"sleep 61.5 & echo $! > {tmp_path}/pid; wait"
    outcomes = ask_command(["sh", "-c", script], timeout=0.5)
    assert time.monotonic() - began < 5
    assert {o.reason for o in outcomes.values()} == {FailureReason.TIMEOUT}
    child = (tmp_path / "pid").read_text().strip()
    for _ in range(50):
        found = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True)
        if not found.stdout.strip() or found.stdout.startswith("Z"):
            return
        time.sleep(0.05)
    pytest.fail("the child lives on")


def test_whoever_stops_listening_ends_the_program() -> None:
    verifier = CommandVerifier([sys.executable, "-c", ECHO + "\nimport time\ntime.sleep(60)"])
    began = time.monotonic()
    answers = verifier.verify_all(CLAIMS, Context(sources={SOURCE.id: SOURCE}))
    next(answers)
    answers.close()
    assert time.monotonic() - began < 5


def test_one_claim_starts_the_program_for_it() -> None:
    verifier = CommandVerifier([sys.executable, "-c", ECHO])
    outcome = verifier.verify(CLAIMS[2], Context(sources={SOURCE.id: SOURCE}))
    assert isinstance(outcome, Verdict) and outcome.claim_id == "c2"


def test_a_source_that_does_not_match_its_hash_stops_everything(tmp_path: Path) -> None:
    store = SourceStore(tmp_path)
    store.add(SOURCE)
    path = store.path(SOURCE.id)
    path.write_text(path.read_text("utf-8").replace("Mühlen", "Muehlen"), "utf-8")
    verifier = CommandVerifier([sys.executable, "-c", ECHO])
    with pytest.raises(IntegrityError, match="does not match"):
        list(run_verifier(verifier, CLAIMS, Context(sources=store), name="mine"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"command": ["no-such-program-anywhere"]}, "cannot be started"),
        ({"command": []}, "option 'command'"),
        ({"command": "years.py"}, "option 'command'"),
        ({"command": ["true"], "timeout": 0}, "option 'timeout'"),
        ({}, "option 'command'"),
        ({"command": ["true"], "time_out": 5}, "did you mean 'timeout'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build_verifier(VerifierSpec(kind="command", options=options))
