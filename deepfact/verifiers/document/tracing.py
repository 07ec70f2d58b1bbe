"""The trace of a claim, and the file that keeps traces: ``traces.jsonl`` in a run's folder.

A trace is on disk before the outcome that it explains is handed on. Nothing is ever taken out of
the file; a claim that is checked again gets another line, and the last one counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from pydantic_core import from_json

from deepfact.records import Label, Outcome, Verdict
from deepfact.store.files import parse_record
from deepfact.trace_records import Trace, TracedCall
from deepfact.verifiers.document.asking import Account
from deepfact.verifiers.document.items import Item

TRACES = "traces.jsonl"
"""Name of the file in a run's folder."""


def trace_of(
    item: Item, outcome: Outcome, account: Account, group: Sequence[Item], verifier: str
) -> Trace:
    """All that was done for one claim."""
    label: Label | None = outcome.label if isinstance(outcome, Verdict) else None
    return Trace(
        claim_id=item.claim.id,
        verifier=verifier,
        together_with=tuple(one.claim.id for one in group if one is not item),
        elements=item.elements,
        queries=tuple(item.queries),
        documents=tuple(item.documents.values()),
        extracts=tuple(item.extracts),
        judgements=tuple(item.judgements),
        label=label,
        failure="" if isinstance(outcome, Verdict) else f"{outcome.reason}: {outcome.detail}",
        calls=in_order(item.calls or account.calls.get(item.asked.id, ())),
        usage=outcome.usage,
        notes=tuple(item.notes),
    )


def in_order(calls: Sequence[TracedCall]) -> tuple[TracedCall, ...]:
    """Calls as they were asked. Those of one step were asked at once, and are sorted by what they
    were about: which was answered first says nothing, and would differ in a resumed run."""
    ordered: list[TracedCall] = []
    for _, some in groupby(calls, key=lambda call: call.step):
        ordered += sorted(some, key=lambda call: (_numbers(call.about), -call.claims))
    return tuple(ordered)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


class TraceFile:
    """Keeps traces in a file; without one, keeps none.

    Args:
        path: of the file; its folder is made when the first trace comes.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def keep(self, traces: Sequence[Trace]) -> None:
        """Add traces; they are durable on return."""
        if self.path is None or not traces:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"{trace.canonical()}\n" for trace in traces).encode("utf-8")
        with self.path.open("ab+") as file:
            if file.tell() and not _ends_a_line(file.fileno(), file.tell()):
                lines = b"\n" + lines  # a line that a killed run left half-written ends here
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def _ends_a_line(descriptor: int, size: int) -> bool:
    return os.pread(descriptor, 1, size - 1) == b"\n" if hasattr(os, "pread") else True


def _cut_off(line: bytes) -> bool:
    """Whether a line is the beginning of JSON and not all of it. One that is neither is damaged."""
    try:
        from_json(line)
    except ValueError as error:
        return str(error).startswith("EOF while parsing")
    return False


def read_traces(path: Path) -> dict[str, Trace]:
    """The last trace of each claim in a file, by claim id; none without the file.

    A line that was cut off by a kill is passed over when it is the last one, or when another run
    went on after it.

    Raises:
        RecordError: a whole line is not a trace.
    """
    if not path.is_file():
        return {}
    found: dict[str, Trace] = {}
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip() and not _cut_off(line):
            trace = parse_record(line, Trace, where=f"{path}, line {number}")
            found[trace.claim_id] = trace
    return found
