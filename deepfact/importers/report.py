"""Imported reports as a benchmark: their verifiable sentences become claims, without labels.

A claim carries what is needed to read it alone (question, section, the sentence before) and what
it cites: source cards where their text is given, and the report's own entries as words in any
case. The report itself comes along as a source card with the role ``generated``, which is never
evidence. Reads records that ``deepfact report import`` wrote; infers no label.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from deepfact.documents.records import Reference, ReportRecord, Sentence
from deepfact.documents.references import same_url
from deepfact.errors import InputError
from deepfact.importers.base import Imported, SkippedRow
from deepfact.importers.documents import Documents
from deepfact.importers.mapping import Constants
from deepfact.importers.published import model_answer, note_repeated
from deepfact.records import Claim, Origin, Source
from deepfact.store.files import read_record

SUFFIX = ".report.json"
BEFORE = 2
"""Sentences before a claim that its context shows."""


def read(
    path: Path,
    *,
    when: datetime,
    ids: Sequence[str] | str = (),
    sources: Path | None = None,
    min_relevance: int = 1,
    encoding: str = "utf-8",
) -> Imported:
    """The verifiable sentences of imported reports as claims.

    Args:
        path: a record, or the folder that ``deepfact report import`` wrote.
        when: date of the import; there are no annotations that would carry it.
        ids: of the reports to take; all when empty. As text, separated by commas.
        sources: a file (``.csv``, else JSON Lines) with ``id``, ``url`` and ``text`` of documents:
            a claim cites those whose URL its sentence cites.
        min_relevance: leave sentences out that are rated lower; unrated ones stay in.
        encoding: of the file of sources.

    Raises:
        InputError: there is no record, one is broken, or the file of sources is.
    """
    del when  # part of what an importer takes; an unlabelled claim has no date
    files = [path] if path.is_file() else sorted(path.glob(f"*{SUFFIX}"))
    wanted = set(ids.split(",")) if isinstance(ids, str) and ids else set(ids)
    records = [read_record(file, ReportRecord) for file in files]
    records = [record for record in records if not wanted or record.id in wanted]
    if not records:
        raise InputError(
            "there is no imported report",
            where=str(path),
            fix="make some with: deepfact report import FILE --out FOLDER",
        )
    cards = _cards(sources, encoding)
    out = Imported()
    used: dict[str, Source] = {}
    for record in records:
        _read_one(out, record, cards, used, min_relevance)
    out.sources += used.values()
    _note(out, records, cards, used)
    return out


def _cards(path: Path | None, encoding: str) -> dict[str, Source]:
    """Source cards by URL."""
    if path is None:
        return {}

    def stop(error: InputError, _: str) -> None:
        raise error

    documents = Documents(Constants())
    documents.read(path, encoding=encoding, bad=stop)
    return {same_url(card.url): card for card in documents.all() if card.url}


def _read_one(
    out: Imported,
    record: ReportRecord,
    cards: dict[str, Source],
    used: dict[str, Source],
    min_relevance: int,
) -> None:
    about = record.question or record.title or record.id
    document = model_answer(f"{record.author or 'Report'}: {about}", record.text)
    out.sources.append(document)
    for sentence in record.sentences:
        where = f"{record.id}, sentence {sentence.index}"
        if not sentence.verifiable:
            out.skipped.append(SkippedRow(where=where, why=f"not verifiable: {sentence.why}"))
            continue
        if sentence.relevance is not None and sentence.relevance < min_relevance:
            why = f"relevance {sentence.relevance} is below {min_relevance}"
            out.skipped.append(SkippedRow(where=where, why=why))
            continue
        cited = [record.references[place] for place in sentence.references]
        found = [cards[key] for one in cited if (key := same_url(one.url)) in cards]
        used.update((card.id, card) for card in found)
        claim = Claim(
            id=f"{record.id}-s{sentence.index + 1:03d}",
            text=sentence.text,
            context=_context(record, sentence, cited),
            origin=Origin(
                report=record.id,
                document=document.id,
                sentence=sentence.index,
                span=sentence.span,
            ),
            cites=tuple(dict.fromkeys(card.id for card in found)),
            kind=f"relevance-{sentence.relevance}" if sentence.relevance else "",
        )
        out.claims.append((claim, None))


def _context(record: ReportRecord, sentence: Sentence, cited: Sequence[Reference]) -> str:
    lines = []
    if record.question or record.title:
        lines.append(f"From a report on: {record.question or record.title}")
    if sentence.section:
        lines.append(f"Section: {' / '.join(sentence.section)}")
    before = [
        one.text
        for one in record.sentences[max(0, sentence.index - BEFORE) : sentence.index]
        if one.section == sentence.section
    ]
    if before:
        lines.append(f"Before it: {' '.join(before)}")
    named = [", ".join(part for part in (one.title, one.url, one.date) if part) for one in cited]
    lines += [f"It cites: {words}" for words in named if words]
    return "\n".join(lines)


def _note(
    out: Imported,
    records: Sequence[ReportRecord],
    cards: dict[str, Source],
    used: dict[str, Source],
) -> None:
    sentences = sum(len(record.sentences) for record in records)
    raters = sorted({s.rated_by for record in records for s in record.sentences})
    out.notes.append(
        f"{len(records)} reports, {sentences} sentences: {len(out.claims)} are claims, unlabelled; "
        f"which ones was rated by: {'; '.join(raters)}."
    )
    if cards:
        out.notes.append(f"{len(used)} of {len(cards)} given documents are cited by URL.")
    open_marks = sum(bool(mark.unresolved) for record in records for mark in record.markers)
    if open_marks:
        out.notes.append(f"{open_marks} citation markers of the reports are unresolved.")
    note_repeated(out)
