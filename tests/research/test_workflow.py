"""A research run: its stages on disk, killed anywhere and resumed, with the same ledger."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import UTC, datetime

import pytest

from deepfact.errors import InputError, ResultsExistError
from deepfact.research import workflow
from deepfact.research.workflow import STAGES, ResearchSpec, run_research
from deepfact.store.ledger import LedgerStore, read_ledger, read_lines
from deepfact.store.sources import SourceStore
from deepfact.verifiers.local import LocalVerifier

QUESTION = "What is the median latency of each indexer, and when was it released?"
WHEN = datetime(2026, 11, 1, tzinfo=UTC)


def spec(folder, **more) -> ResearchSpec:
    given = {"role": "primary", "trust": "high", "date": WHEN, **more}
    return ResearchSpec(question=QUESTION, sources=str(folder), **given)


def stage(run, name: str) -> dict:
    number = STAGES.index(name) + 1
    return json.loads((run / "stages" / f"{number}-{name}.json").read_text(encoding="utf-8"))


def test_a_run_leaves_every_stage_and_a_report(notes, tmp_path):
    report = run_research(spec(notes(6)), tmp_path / "run")
    assert report.status == "complete"
    assert report.counts.source_cards == 6 and report.counts.confirmed == 18
    for name in STAGES:
        assert set(stage(tmp_path / "run", name)) >= {"stage", "input", "output"}
    for name in ("report.md", "report.html", "report.json", "junit.xml", "ledger.jsonl"):
        assert (tmp_path / "run" / name).is_file()
    final = stage(tmp_path / "run", "synthesize")["input"]
    assert final["refuted"] == [] and len(final["confirmed"]) == 18
    assert set(final["confirmed"][0]) >= {"claim", "vote", "source", "reasons"}


def test_a_source_that_gives_orders_changes_nothing_but_a_flag(notes, tmp_path):
    report = run_research(spec(notes(6)), tmp_path / "run")
    flagged = [f for f in report.skeptic.findings if f.code == "source_contains_instructions"]
    assert len(flagged) == 1 and flagged[0].severity == "info"
    assert stage(tmp_path / "run", "fetch")["output"]["flagged"] == {"note-003.txt": ["instructs"]}
    assert report.counts.refuted == 0 and report.status == "complete"


class Stop(KeyboardInterrupt):
    """Stands for a kill: nothing of ours catches it."""


def stop_at(monkeypatch, count: int) -> None:
    """Let ``count`` durable writes through, and end the process's work at the next one."""
    left = [count]

    def counted(write):
        def wrapper(*args, **kwargs):
            if left[0] == 0:
                raise Stop
            left[0] -= 1
            return write(*args, **kwargs)

        return wrapper

    monkeypatch.setattr(workflow, "write_text", counted(workflow.write_text))
    monkeypatch.setattr(LedgerStore, "add", counted(LedgerStore.add))
    monkeypatch.setattr(SourceStore, "add", counted(SourceStore.add))


def test_killed_at_every_write_and_resumed_it_ends_with_the_same_ledger(notes, tmp_path):
    folder = notes(5)
    whole = run_research(spec(folder), tmp_path / "whole")
    for count in range(200):
        run = tmp_path / f"run-{count}"
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, count)
            try:
                run_research(spec(folder), run)
                break
            except Stop:
                pass
        report = run_research(spec(folder), run)
        assert report.ledger_hash == whole.ledger_hash
        assert read_ledger(run).content_hash() == whole.ledger_hash
    assert count > 15, "it was killed in every stage"


def test_two_hundred_files_killed_at_each_stage_give_the_same_ledger(notes, tmp_path):
    folder = notes(200)
    whole = run_research(spec(folder), tmp_path / "whole")
    assert whole.counts.source_cards == 200
    run = tmp_path / "run"
    killed = []
    for name in STAGES:
        with pytest.MonkeyPatch.context() as patch:
            write = workflow.write_text

            def guarded(path, text, name=name, write=write):
                if path.name.endswith(f"-{name}.json"):
                    raise Stop
                write(path, text)

            patch.setattr(workflow, "write_text", guarded)
            with pytest.raises(Stop):
                run_research(spec(folder), run)
            killed.append(name)
    assert killed == list(STAGES)
    assert run_research(spec(folder), run).ledger_hash == whole.ledger_hash


def test_killed_while_it_verifies_nothing_is_asked_twice(notes, tmp_path, monkeypatch):
    folder = notes(60)
    whole = run_research(spec(folder), tmp_path / "whole")
    asked: list[str] = []
    verify = LocalVerifier.verify

    def counting(self, claim, context):
        asked.append(claim.id)
        if len(asked) == 110:
            raise Stop
        return verify(self, claim, context)

    monkeypatch.setattr(LocalVerifier, "verify", counting)
    with pytest.raises(Stop):
        run_research(spec(folder), tmp_path / "run")
    report = run_research(spec(folder), tmp_path / "run")
    assert report.ledger_hash == whole.ledger_hash
    assert len(asked) == len(set(asked)) + 1, "only the one that was under way"


def test_a_killed_process_goes_on(notes, tmp_path, deepfact_command):
    folder = notes(120)
    whole = run_research(spec(folder), tmp_path / "whole")
    run = tmp_path / "run"
    command = [
        deepfact_command, "research", "run", QUESTION, "--sources", str(folder), "--out", str(run),
        "--role", "primary", "--trust", "high", "--date", "2026-11-01",
    ]  # fmt: skip
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while time.monotonic() < end and not (run / "stages" / "3-fetch.json").is_file():
        time.sleep(0.01)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    again = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert again.returncode in (0, 1), again.stderr
    assert read_ledger(run).content_hash() == whole.ledger_hash


def test_running_again_adds_nothing(notes, tmp_path):
    folder = notes(4)
    run_research(spec(folder), tmp_path / "run")
    before = read_lines(tmp_path / "run")
    run_research(spec(folder), tmp_path / "run")
    assert read_lines(tmp_path / "run") == before


def test_bounds_list_what_they_leave_out(notes, tmp_path):
    folder = notes(6)
    (folder / "page.html").write_text("<p>latency</p>", encoding="utf-8")
    (folder / "cooking.txt").write_text("Soup wants salt.", encoding="utf-8")
    (folder / "empty.txt").write_text(" ", encoding="utf-8")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "link.txt").symlink_to(folder / "note-000.txt")
    (folder / ".hidden.txt").write_text("latency", encoding="utf-8")
    run_research(spec(folder, max_sources=2, claims_per_source=1), tmp_path / "run")
    found = stage(tmp_path / "run", "search")["output"]
    assert len(found["chosen"]) == 2 and len(found["beyond_bound"]) == 4
    assert found["no_word_in_common"] == ["cooking.txt"]
    assert set(found["left_out"]) == {"page.html", "empty.txt", "bytes.txt", "link.txt"}
    assert len(stage(tmp_path / "run", "extract")["output"]["claims"]) == 2


def test_cards_say_what_the_sources_are_and_sources_do_not(notes, tmp_path):
    folder = notes(3)
    cards = tmp_path / "cards.yaml"
    cards.write_text(
        "sources:\n  note-001.txt:\n    title: A study\n    role: primary\n    trust: high\n"
        "    url: https://example.org/study\n    published: '2026-01-02'\n    type: paper\n",
        encoding="utf-8",
    )
    run_research(spec(folder, cards=str(cards), role="secondary"), tmp_path / "run")
    held = {card.source.title: card for card in read_ledger(tmp_path / "run").cards}
    assert held["A study"].source.role == "primary" and held["A study"].type == "paper"
    assert held["note-000.txt"].source.role == "secondary"
    cards.write_text("sources: {note-01.txt: {role: primary}}", encoding="utf-8")
    with pytest.raises(InputError, match=r"did you mean 'note-001\.txt'"):
        run_research(spec(folder, cards=str(cards)), tmp_path / "other")


def test_sources_may_not_change_under_a_run(notes, tmp_path):
    folder = notes(3)
    run_research(spec(folder), tmp_path / "run")
    (folder / "note-001.txt").write_text("Another latency.", encoding="utf-8")
    with pytest.raises(InputError, match=r"note-001.txt.*changed"):
        run_research(spec(folder), tmp_path / "run")


def test_a_folder_holds_one_run(notes, tmp_path):
    folder = notes(3)
    run_research(spec(folder), tmp_path / "run")
    with pytest.raises(ResultsExistError, match="another question, folder or option"):
        run_research(spec(folder, max_sources=1), tmp_path / "run")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ResultsExistError, match=r"thesis\.txt"):
        run_research(spec(folder), tmp_path / "other")


def test_wrong_input_changes_nothing(notes, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        run_research(spec(tmp_path / "nowhere"), tmp_path / "run")
    with pytest.raises(InputError, match="no word to look for"):
        run_research(spec(notes(2)).model_copy(update={"question": "?"}), tmp_path / "run2")
    with pytest.raises(InputError, match="unknown kind"):
        run_research(spec(tmp_path, verifier="locul"), tmp_path / "run3")
    assert not (tmp_path / "run3").exists()


def test_claims_added_by_hand_are_verified_when_it_goes_on(notes, tmp_path):
    from deepfact.research_records import ResearchClaim
    from deepfact.store.ledger_records import ClaimAdded

    folder = notes(3)
    run_research(spec(folder), tmp_path / "run")
    with LedgerStore(tmp_path / "run") as store:
        card = store.ledger.cards[0].source.id
        claim = ResearchClaim(
            id="mine", text="The median latency of Indexer 0 is 10 ms.", card=card
        )
        store.add([ClaimAdded(claim=claim)], who="ada", when=WHEN)
    report = run_research(spec(folder), tmp_path / "run")
    assert report.counts.not_asked == 0 and report.counts.extracted_claims == 10
