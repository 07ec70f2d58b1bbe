"""``deepfact audit review``: a person at a terminal, played by piped answers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deepfact.records import Adjudication
from deepfact.run_records import Adjudicated, CaseOpened
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.journal import read_events

Run = Callable[..., subprocess.CompletedProcess[str]]

SPEC = """
name: trial
benchmark: small@1
challenger: {kind: quoting, name: challenger-of-note}
auditors: [AUDITORS]
controls: {agreed: 0, microgold: 1}
commit_to: run
date: 2026-01-05T00:00:00Z
"""
JOURNAL = Path("results/trial/journal.jsonl")


@pytest.fixture
def waiting(desk: Path, deepfact: Run) -> list[str]:
    """A run that waits for a person; the ids of its cases."""
    Path("trial.yaml").write_text(SPEC.replace("AUDITORS", "person"), "utf-8")
    assert deepfact("round", "run", "trial.yaml").returncode == 3
    return [event.case.id for event in read_events(JOURNAL) if isinstance(event, CaseOpened)]


def decisions() -> list[Adjudication]:
    return [e.adjudication for e in read_events(JOURNAL) if isinstance(e, Adjudicated)]


def test_decisions_are_kept_one_by_one_and_the_round_completes(
    waiting: list[str], deepfact: Run
) -> None:
    answers = [
        "x", "a", "", "   ", "A quotes the passage",  # a blank reason is asked again
        "s",  # later
        "n", "", "maybe", "inc", "neither side reads the table",  # an own label, by its beginning
        "c", "cannot be seen from here — naïve", "q",
    ]  # fmt: skip
    done = deepfact("audit", "review", "trial.yaml", said="\n".join(answers) + "\n")
    assert done.returncode == 0, done.stderr
    assert "'x' is none of a, b, n, c, t, s, q" in done.stdout
    assert done.stdout.count("why (a reason is needed)") == 5
    assert "'maybe' is none of supported, contradictory, inconclusive" in done.stdout
    assert f"3 decided, {len(waiting) - 3} left" in done.stdout
    made = decisions()
    assert [m.case_id for m in made] == [waiting[0], waiting[2], waiting[3]]
    assert [m.decision for m in made] == ["a", "neither", "cannot_tell"]
    assert [m.label for m in made] == [None, "inconclusive", None]
    assert made[0].rationale == "A quotes the passage"
    assert made[2].rationale == "cannot be seen from here — naïve"
    assert all(m.auditor == "person" and m.when and m.seconds is not None for m in made)
    assert deepfact("round", "resume", "results/trial").returncode == 3

    rest = len(waiting) - 3
    done = deepfact("audit", "review", "results/trial", said="b\nB is better\n" * rest)
    assert done.returncode == 0
    assert done.stdout.startswith(f"person: {rest} of {len(waiting)} cases of round 1")
    assert f"{rest} decided, 0 left" in done.stdout
    assert "deepfact round resume" in done.stderr
    assert decisions()[3].case_id == waiting[1]  # the one that was skipped

    status = json.loads(deepfact("round", "status", "results/trial", "--json").stdout)
    assert status["decided"] == len(waiting) and not status["complete"]
    assert deepfact("round", "resume", "results/trial").returncode == 0
    assert deepfact("round", "status", "results/trial").returncode == 0
    nothing = deepfact("audit", "review", "results/trial", said="")
    assert nothing.returncode == 0 and "0 decided, 0 left" in nothing.stdout


@pytest.mark.parametrize("said", ["", "a\n", "n\n", "n\nsup\n", "q\n", "t\n", "s\n"])
def test_leaving_in_the_middle_keeps_no_half_decision(
    waiting: list[str], deepfact: Run, said: str
) -> None:
    before = JOURNAL.read_bytes()
    done = deepfact("audit", "review", "results/trial", said=said)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert f"0 decided, {len(waiting)} left" in done.stdout
    assert JOURNAL.read_bytes() == before


def test_a_case_decided_meanwhile_elsewhere_is_refused_not_overwritten(
    waiting: list[str], deepfact: Run, deepfact_command: str
) -> None:
    slow = subprocess.Popen(
        [deepfact_command, "audit", "review", "results/trial"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    assert slow.stdin and slow.stdout
    while "CLAIM" not in slow.stdout.readline():
        pass
    assert deepfact("audit", "review", "results/trial", said="a\nquick\nq\n").returncode == 0
    _, said = slow.communicate("b\nslow\n", timeout=20)
    assert slow.returncode == 2 and f"has decided case {waiting[0]} already" in said
    assert [made.rationale for made in decisions()] == ["quick"]


def test_what_is_shown_gives_nothing_away(waiting: list[str], deepfact: Run) -> None:
    """Neither whose position is whose, nor what is micro-gold, nor the answers."""
    skipped = "s\n" * len(waiting)
    shown = deepfact("audit", "review", "results/trial", said=skipped)
    text = shown.stdout + shown.stderr
    assert text.count("CLAIM") == len(waiting)
    assert "challenger-of-note" not in text and "quoting" not in text
    store = BenchmarkStore(Path("benchmarks/small"))
    for which in ("author", "microgold"):
        assert which not in text
        for entry in store.key(which).values():
            version = store.load(1).state.entries[entry.claim_id].annotation
            assert entry.rationale not in text or entry.rationale == version.rationale
    assert "disputes" not in text  # as a rule only a challenger's side could say so
    # The frame that deepfact puts around a case holds none of these words; what claims, sources
    # and people say may.
    cases = [e.case for e in read_events(JOURNAL) if isinstance(e, CaseOpened)]
    for case in cases:
        for said in (case.claim.text, case.claim.context, case.a.rationale, case.b.rationale):
            text = text.replace(said, "") if said else text
        for side in (case.a, case.b):
            for quote in (*side.evidence, *side.contradictions):
                text = text.replace(quote.quote, "")
        for source in case.claim.cites:
            card = store.sources[source]
            text = text.replace(card.title, "").replace(card.url, "")
    for word in ("benchmark", "challenge", "micro", "gold", "control", "incumbent", "verifier"):
        assert word not in text.lower(), word


def test_source_text_is_shown_as_it_is(waiting: list[str], deepfact: Run) -> None:
    shown = deepfact("audit", "review", "results/trial", said="t\nq\n").stdout
    case = next(e.case for e in read_events(JOURNAL) if isinstance(e, CaseOpened))
    store = BenchmarkStore(Path("benchmarks/small"))
    for source in case.claim.cites:
        assert store.sources[source].text in shown


def test_escape_sequences_in_data_do_not_reach_the_terminal(
    desk: Path, deepfact: Run, tmp_path: Path
) -> None:
    row = {"id": "c1", "text": "The mill \x1b[2J\x1b]0;owned\x07 closed in 1931.",
           "label": "contradictory", "rationale": "an \x1b[31mearlier\x1b[0m closure",
           "cites": ["s1"]}  # fmt: skip
    source = {"id": "s1", "title": "Notes \x1b[8mhidden", "text": "It closed\x1b[1A in 1931."}
    Path("claims.jsonl").write_text(json.dumps(row), "utf-8")
    Path("sources.jsonl").write_text(json.dumps(source), "utf-8")
    made = deepfact("bench", "import", "jsonl", "claims.jsonl", "--name", "small2",
                    "--sources", "sources.jsonl")  # fmt: skip
    assert made.returncode == 0, made.stderr
    shown = deepfact("bench", "show", "small2", "c1").stdout
    Path("t.yaml").write_text(
        SPEC.replace("AUDITORS", "person").replace("small@1", "small2").replace("trial", "esc")
        .replace("{agreed: 0, microgold: 1}", "{agreed: 1}"), "utf-8"
    )  # fmt: skip
    assert deepfact("round", "run", "t.yaml").returncode == 3
    shown += deepfact("audit", "review", "results/esc", said="t\nq\n").stdout
    assert "owned" in shown and "\x1b" not in shown and "\x07" not in shown


def test_several_people_say_who_they_are(desk: Path, deepfact: Run) -> None:
    for name in ("ada", "ben"):
        Path(f"auditors/{name}.yaml").write_text(f"name: {name}\nkind: human\n", "utf-8")
    Path("trial.yaml").write_text(SPEC.replace("AUDITORS", "ada, ben"), "utf-8")
    assert deepfact("round", "run", "trial.yaml").returncode == 3
    unsaid = deepfact("audit", "review", "results/trial", said="")
    assert unsaid.returncode == 2 and "--auditor: ada, ben" in unsaid.stderr
    wrong = deepfact("audit", "review", "results/trial", "--auditor", "bem", said="")
    assert wrong.returncode == 2 and "did you mean 'ben'" in wrong.stderr
    ben = deepfact("audit", "review", "results/trial", "--auditor", "ben", said="a\nyes\nq\n")
    assert ben.stdout.startswith("ben: ")
    assert [made.auditor for made in decisions()] == ["ben"]


def test_a_run_without_people_has_nothing_to_review(desk: Path, deepfact: Run) -> None:
    Path("trial.yaml").write_text(SPEC.replace("AUDITORS", "simulated-expert"), "utf-8")
    assert deepfact("round", "run", "trial.yaml").returncode == 0
    done = deepfact("audit", "review", "results/trial", said="")
    assert done.returncode == 2 and "no person audits this round" in done.stderr
