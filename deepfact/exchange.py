"""Audits by file: cases out, decisions back in.

An export holds one person's blind cases. On import each row stands for itself: the right ones are
kept in the journal like any decision, the wrong ones are listed with their place and reason, and
what is decided already is never overwritten. Formats are in `deepfact.exchange_formats`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deepfact.core.quotes import find_quote
from deepfact.core.transfer import ANSWERS, QUESTION, kind_of
from deepfact.errors import InputError, did_you_mean
from deepfact.exchange_formats import KIND, Answer, Format, label_studio_config, read, sheet, write
from deepfact.records import (
    Adjudication,
    Case,
    Decision,
    DivergenceKind,
    Evidence,
    Label,
    Source,
    SourceRole,
    Stance,
)
from deepfact.review import Desk, Receipt, hand_in_all, open_desk, patiently, source_ids, why_not
from deepfact.run_records import SavedSpec
from deepfact.store.files import read_record, write_bytes
from deepfact.store.locate import run_benchmark

PATIENCE = 30.0
"""Seconds to wait for another program to be done with the journal."""

SAID = {
    Decision.A: ("a", "a stronger", "a is stronger", "position a"),
    Decision.B: ("b", "b stronger", "b is stronger", "position b"),
    Decision.NEITHER: ("neither", "neither side", "none"),
    Decision.CANNOT_TELL: ("cannot tell", "cannot_tell", "can't tell", "can not tell"),
}
"""How people write a decision, in lower case."""

_EVIDENCE = re.compile(r"(\w+)\s*\[\s*S?\s*(\d{1,6})\s*\]\s*:?\s*(.+)", re.IGNORECASE)
"""``supports [1]: words of the source``."""

_MARKS = "\"'“”‘’„«»"


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote."""

    cases: int
    decided: int
    """Of them, with the decision filled in."""
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import."""

    kept: int
    again: int
    """Rows that say what stands already, or what another row says."""
    undecided: int
    """Rows without an answer."""
    problems: tuple[InputError, ...]
    """One for each row that was not accepted, in the order of the file."""


def export_cases(
    folder: Path,
    out: Path,
    kind: Format,
    *,
    auditor: str = "",
    decided: bool = False,
    root: Path | None = None,
) -> Exported:
    """Write a person's cases to a file.

    Args:
        folder: the run's.
        out: the file; for Label Studio its interface is written beside it.
        kind: the format.
        auditor: whose cases; may be left out when only one person audits.
        decided: also those that are decided, with the decision filled in.
        root: folder that holds benchmarks.

    Raises:
        InputError: no run there, no such person, or the file exists.
    """
    files = [out]
    if kind is Format.LABEL_STUDIO:
        files.append(out.with_name(f"{out.stem}.interface.xml"))
    for path in files:
        if path.exists():
            raise InputError(
                "this file exists, and may hold answers", where=str(path), fix="give another --out"
            )
    desk = open_desk(folder, auditor)
    sources = _sources(folder, root)
    cases = desk.cases if decided else desk.waiting
    sheets = [
        sheet(
            case,
            desk.auditor.name,
            numbered(case, sources),
            desk.made.get(case.id),
            asks_kind=desk.asks_kind,
        )
        for case in cases
    ]
    write_bytes(out, write(sheets, kind))
    if kind is Format.LABEL_STUDIO:
        interface = label_studio_config(asks_kind=desk.asks_kind)
        write_bytes(files[1], interface.encode("utf-8"))
    filled = sum(case.id in desk.made for case in cases)
    return Exported(len(cases), filled, tuple(files))


def import_decisions(
    folder: Path,
    path: Path,
    kind: Format,
    *,
    auditor: str = "",
    encoding: str = "utf-8-sig",
    dry_run: bool = False,
    root: Path | None = None,
) -> Imported:
    """Read a person's decisions from a file and keep those that are right.

    Args:
        folder: the run's.
        path: the file.
        kind: its format.
        auditor: whose decisions they are; may be left out when only one person audits.
        encoding: of the file.
        dry_run: say what would be done, and keep nothing.
        root: folder that holds benchmarks.

    Raises:
        InputError: no run there, no such person, or the file as a whole cannot be read.
        ResultsExistError: another process is writing to the run right now.
    """
    desk = open_desk(folder, auditor)
    sources = _sources(folder, root)
    problems: list[tuple[int, InputError]] = []
    read_rows: list[tuple[int, Answer, Adjudication]] = []
    undecided = 0
    for position, row in enumerate(read(path, kind, encoding=encoding)):
        try:
            if isinstance(row, InputError):
                raise row
            if not any(row.fields.values()):
                undecided += 1
                continue
            read_rows.append((position, row, _checked(row, desk, sources)))
        except InputError as problem:
            problems.append((position, problem))
    single, again = _merged(read_rows, problems)
    decisions = [made for _, _, made in single]
    receipts = (
        [_foreseen(desk, made) for made in decisions]
        if dry_run
        else patiently(partial(hand_in_all, folder, desk.round, decisions), PATIENCE)
    )
    for (position, row, made), receipt in zip(single, receipts, strict=True):
        if receipt not in (Receipt.KEPT, Receipt.AGAIN):
            said = why_not(receipt, made.auditor, made.case_id)
            fix = "take it back on the audit page first" if receipt is Receipt.STALE else ""
            problems.append((position, InputError(said, where=row.where, fix=fix)))
    return Imported(
        kept=receipts.count(Receipt.KEPT),
        again=again + receipts.count(Receipt.AGAIN),
        undecided=undecided,
        problems=tuple(problem for _, problem in sorted(problems, key=lambda item: item[0])),
    )


def numbered(case: Case, sources: Mapping[str, Source]) -> list[tuple[int, str, Source | None]]:
    """Number, id and card of each source of a case."""
    ids = enumerate(source_ids(case), 1)
    return [(number, source_id, sources.get(source_id)) for number, source_id in ids]


def _sources(folder: Path, root: Path | None) -> Mapping[str, Source]:
    spec = read_record(folder / "spec.json", SavedSpec).spec
    return run_benchmark(spec, folder, root).sources


def _merged(
    rows: Sequence[tuple[int, Answer, Adjudication]], problems: list[tuple[int, InputError]]
) -> tuple[list[tuple[int, Answer, Adjudication]], int]:
    """One row a case, and how many repeated it; rows that contradict each other are problems,
    all of them."""
    by_case: dict[str, list[tuple[int, Answer, Adjudication]]] = {}
    for item in rows:
        by_case.setdefault(item[2].case_id, []).append(item)
    single, again = [], 0
    for case_id, items in by_case.items():
        if all(made == items[0][2] for _, _, made in items):
            single.append(items[0])
            again += len(items) - 1
            continue
        for position, row, _ in items:
            error = InputError(
                f"case {case_id} stands {len(items)} times, with different answers",
                where=row.where, fix="leave the right row and take the others out",
            )  # fmt: skip
            problems.append((position, error))
    return single, again


def _foreseen(desk: Desk, made: Adjudication) -> Receipt:
    """What `hand_in_all` would say."""
    if desk.closed:
        return Receipt.CLOSED
    stands = desk.made.get(made.case_id)
    if stands is None:
        return Receipt.KEPT
    same = stands.model_copy(update={"when": None, "seconds": None}) == made
    return Receipt.AGAIN if same else Receipt.STALE


# --- one row ------------------------------------------------------------------------------


def _checked(row: Answer, desk: Desk, sources: Mapping[str, Source]) -> Adjudication:
    """The decision that a row holds.

    Raises:
        InputError: what is wrong with it, where, and what to do.
    """
    name = desk.auditor.name
    if row.auditor and row.auditor != name:
        raise InputError(
            f"this row belongs to {row.auditor!r}, not to {name!r}", where=row.where,
            fix=f"import it with --auditor {row.auditor}",
        )  # fmt: skip
    case = next((case for case in desk.cases if case.id == row.case), None)
    if case is None:
        raise InputError(
            f"no case {row.case!r} is before {name}", where=row.where,
            fix="ids must stay as they were exported, such as r1-0001",
        )  # fmt: skip
    decision = _decision(row)
    if not row.fields["rationale"]:
        raise InputError("there is no rationale", where=row.where, fix="a decision needs a reason")
    return Adjudication(
        case_id=case.id,
        auditor=name,
        decision=decision,
        label=_label(row, decision),
        rationale=row.fields["rationale"],
        evidence=tuple(_evidence(row, case, sources)),
        notes=row.fields["notes"],
        divergence=_kind(row) if desk.asks_kind else None,
    )


def _plain(text: str) -> str:
    """A short answer as it was meant: without quotation marks, odd spaces and capitals."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'")
    return " ".join(folded.split()).strip(_MARKS + " .").casefold()


def _decision(row: Answer) -> Decision:
    said = _plain(row.fields["decision"])
    for decision, ways in SAID.items():
        if said in ways:
            return decision
    if not said:
        raise InputError(
            "there is no decision", where=row.where, fix="write a, b, neither or cannot tell"
        )
    known = [ways[0] for ways in SAID.values()]
    raise InputError(
        f"{row.fields['decision']!r} is no decision", where=row.where, fix=did_you_mean(said, known)
    )


def _label(row: Answer, decision: Decision) -> Label | None:
    said = _plain(row.fields["label"])
    if decision is not Decision.NEITHER:
        if said:
            raise InputError(
                f"a label goes with 'neither', not with {str(decision)!r}", where=row.where,
                fix="empty the label, or decide for neither",
            )  # fmt: skip
        return None
    if said not in set(Label):
        raise InputError(
            f"{said!r} is no label" if said else "with 'neither' a label is needed",
            where=row.where, fix=did_you_mean(said, Label),
        )  # fmt: skip
    return Label(said)


def _kind(row: Answer) -> DivergenceKind | None:
    """What ails the side decided against, by its name or in the words that people are shown."""
    said = _plain(row.fields[KIND])
    for name, words in ANSWERS.items():
        if said in (name, name.replace("_", " "), _plain(words)):
            return kind_of(name)
    raise InputError(
        f"{row.fields[KIND]!r} is no answer to: {QUESTION}" if said else f"there is no {KIND}",
        where=row.where, fix=did_you_mean(said, ANSWERS),
    )  # fmt: skip


def _evidence(row: Answer, case: Case, sources: Mapping[str, Source]) -> list[Evidence]:
    """The evidence of a row, one line each, cut from the stored sources."""
    cards = {number: card for number, _, card in numbered(case, sources)}
    found = []
    for line in filter(None, (line.strip() for line in row.fields["evidence"].splitlines())):
        match = _EVIDENCE.fullmatch(line)
        if match is None or match[1].casefold() not in set(Stance):
            raise InputError(
                f"evidence {line!r} cannot be read", where=row.where,
                fix="one line each: supports, contradicts or context, the source's number in "
                "brackets, a colon, and its words, such as: supports [1]: It was built in 1898",
            )  # fmt: skip
        card = cards.get(int(match[2]))
        if card is None:
            raise InputError(f"there is no source [{match[2]}]", where=row.where)
        if card.role in (SourceRole.GENERATED, SourceRole.MODEL_ANSWER):
            raise InputError(f"source [{match[2]}] was written by a model", where=row.where,
                             fix="generated text is never evidence")  # fmt: skip
        span = find_quote(match[3], card.text) or find_quote(
            match[3].strip(_MARKS + " "), card.text
        )
        if span is None:
            raise InputError(
                f"these words are not in source [{match[2]}]: {match[3]!r}", where=row.where,
                fix="copy them from it, without changes",
            )  # fmt: skip
        quote = card.text[span.start : span.end]
        stance = Stance(match[1].casefold())
        found.append(Evidence(source=card.id, quote=quote, stance=stance, span=span))
    return found
