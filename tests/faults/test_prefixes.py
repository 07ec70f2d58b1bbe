"""Power cuts, replayed: every byte prefix of a file that only grows opens to the whole lines in it,
and what is complete but damaged is an error, never repaired."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError, IntegrityError, RecordError
from deepfact.model_records import Completion, Message, Request
from deepfact.research_records import ResearchClaim, SourceCard
from deepfact.run_records import Answered, RunStarted
from deepfact.store.journal import Journal, read_events
from deepfact.store.ledger import FILE, HEAD, LedgerStore, read_ledger, read_lines
from deepfact.store.ledger_records import ClaimAdded
from deepfact.store.response_exports import export_responses, import_responses
from deepfact.store.responses import ResponseStore
from deepfact.trace_records import Trace
from deepfact.verifiers.document.tracing import TraceFile, read_traces

STATE = f"sha256:{0:064x}"


@pytest.fixture
def events(make: Any) -> list[Any]:
    first = RunStarted(
        at=make.WHEN, spec_hash=STATE, date=make.WHEN, base_version=1, base_state=STATE
    )
    # Letters of two and four bytes: a prefix may end inside one.
    verdicts = [make.verdict(f"c{n}", rationale="Mühle 𝕏 1898") for n in (1, 2)]
    return [first, *(Answered(at=make.WHEN, verifier="v", outcome=one) for one in verdicts)]


def test_every_prefix_of_a_journal_is_the_events_that_are_whole_in_it(
    events: list[Any], tmp_path: Path
) -> None:
    with Journal(tmp_path / "whole") as journal:
        for event in events:
            journal.append(event)
    data = journal.path.read_bytes()
    path = tmp_path / "cut" / "journal.jsonl"
    path.parent.mkdir()
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        whole = data[:size].count(b"\n")
        assert read_events(path) == events[:whole]
        with Journal(path.parent) as cut:
            assert cut.events == events[:whole]
            assert cut.repaired == size - (data[:size].rfind(b"\n") + 1)
        assert path.read_bytes() == data[: data[:size].rfind(b"\n") + 1]


def test_a_journal_goes_on_after_every_prefix(events: list[Any], tmp_path: Path) -> None:
    with Journal(tmp_path / "whole") as journal:
        for event in events:
            journal.append(event)
    data = journal.path.read_bytes()
    path = tmp_path / "cut" / "journal.jsonl"
    path.parent.mkdir()
    for size in range(0, len(data) + 1, 37):
        path.write_bytes(data[:size])
        with Journal(path.parent) as cut:
            for event in events[len(cut.events) :]:
                cut.append(event)
        assert path.read_bytes() == data


@pytest.mark.parametrize("damage", [b'{"event":"answered"}', b"\x00" * 40, b'{"event":"answe'])
def test_a_complete_line_that_is_damaged_is_an_error_and_stays(
    events: list[Any], tmp_path: Path, damage: bytes
) -> None:
    with Journal(tmp_path) as journal:
        for event in events:
            journal.append(event)
    before = journal.path.read_bytes() + damage + b"\n"
    journal.path.write_bytes(before)
    with pytest.raises(RecordError) as caught, Journal(tmp_path):
        pass
    assert caught.value.where == f"{journal.path}, line {len(events) + 1}"
    assert journal.path.read_bytes() == before


# --- the ledger ----------------------------------------------------------------------------


def ledger_steps(folder: Path, make: Any) -> list[tuple[bytes, bytes, Any]]:
    """A ledger made step by step: after each its file, its head, and what it says."""
    card = SourceCard(source=make.source())
    steps = [(b"", b"", None)]
    with LedgerStore(folder) as store:
        for number in range(3):
            claim = ResearchClaim(id=f"c{number}", text="Mühle 𝕏", card=card.source.id)
            if number == 0:
                store.add_cards([card], who="a", when=make.WHEN)
            else:
                store.add([ClaimAdded(claim=claim)], who="a", when=make.WHEN)
            head = (folder / HEAD).read_bytes()
            steps.append(((folder / FILE).read_bytes(), head, store.ledger))
    return steps


def test_every_prefix_of_a_ledger_opens_to_what_was_added_before(make: Any, tmp_path: Path) -> None:
    """The file grows before the head is written: a power cut finds the head of the step before,
    and any part of the new lines."""
    steps = ledger_steps(tmp_path, make)
    for (before, head, ledger), (after, _, done) in pairwise(steps):
        for size in range(len(before), len(after) + 1):
            (tmp_path / FILE).write_bytes(after[:size])
            (tmp_path / HEAD).unlink(missing_ok=True)
            if head:
                (tmp_path / HEAD).write_bytes(head)
            with LedgerStore(tmp_path) as store:
                expected = done if size == len(after) else ledger
                assert store.ledger == expected or (expected is None and not store.ledger.cards)
            whole = after if size == len(after) else before
            assert (tmp_path / FILE).read_bytes() == whole


def test_lines_that_the_head_knows_and_the_file_lacks_are_missed(make: Any, tmp_path: Path) -> None:
    """What a disk lost that had said it was written; nothing is guessed and nothing is cut."""
    *_, (data, _, _) = ledger_steps(tmp_path, make)
    shorter = data[: data[:-1].rfind(b"\n") + 1]
    (tmp_path / FILE).write_bytes(shorter)
    with pytest.raises(IntegrityError, match="cut off or changed"), LedgerStore(tmp_path):
        pass
    assert (tmp_path / FILE).read_bytes() == shorter


def test_a_complete_line_of_a_ledger_that_is_damaged_is_an_error(make: Any, tmp_path: Path) -> None:
    ledger_steps(tmp_path, make)
    before = (tmp_path / FILE).read_bytes() + b'{"entry":\n'
    (tmp_path / FILE).write_bytes(before)
    for read in (read_ledger, read_lines):
        with pytest.raises(InputError, match="line 4"):
            read(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_ledger_says_how_much_it_cut_off(make: Any, tmp_path: Path) -> None:
    ledger_steps(tmp_path, make)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"entry":')
    with LedgerStore(tmp_path) as store:
        assert store.repaired == 9
    with LedgerStore(tmp_path) as store:
        assert store.repaired == 0


# --- traces, exports -------------------------------------------------------------------------


def test_every_prefix_of_traces_gives_those_that_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    traces = [Trace(claim_id=f"c{n}", verifier="document", notes=("Mühle {𝕏}",)) for n in range(3)]
    TraceFile(path).keep(traces)
    data = path.read_bytes()
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        whole = data[: size + 1].count(b"\n")  # without its line end a line may be whole as well
        assert list(read_traces(path).values()) == traces[:whole], size
        TraceFile(path).keep([traces[-1]])
        assert list(read_traces(path)) == [*dict.fromkeys([*(f"c{n}" for n in range(whole)), "c2"])]


def test_an_export_that_is_cut_off_is_refused_whole(tmp_path: Path) -> None:
    """An export is written in one piece; a half one came from somewhere else."""
    export = tmp_path / "e.jsonl"
    with ResponseStore(tmp_path / "a.sqlite") as store:
        for number in range(3):
            asked = Request(model="m", messages=(Message(role="user", content=f"{number}"),))
            store.put(asked, 0, Completion(text=f"answer {number}", model="m"))
        export_responses(store, export)
    data = export.read_bytes()
    for size in range(0, len(data), 23):
        if data[:size].endswith((b"\n", b"}")) or not size:
            continue
        export.write_bytes(data[:size])
        number = data[:size].count(b"\n") + 1
        with ResponseStore(tmp_path / "b.sqlite") as other:
            with pytest.raises(RecordError, match=f"line {number}"):
                import_responses(other, export)
            assert len(other) == 0, "nothing of it was taken over"
