"""Other annotators' labels of a benchmark's claims, kept beside it in ``annotators.jsonl``.

They change no label: what the benchmark says is in its versions. The file only grows, and is
covered by ``checksums.json`` as the card is. Nothing from here may reach a verifier or an auditor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deepfact.records import Annotation, FurtherAnnotation
from deepfact.store import seal
from deepfact.store.files import jsonl, read_jsonl, write_text

NAME = "annotators.jsonl"


def read_annotators(folder: Path) -> dict[str, list[Annotation]]:
    """What other annotators say, by claim id, in the order in which it came in; empty when nobody
    else said anything.

    Args:
        folder: the benchmark's.

    Raises:
        RecordError: the file is not what deepfact writes; with the line.
    """
    found: dict[str, list[Annotation]] = {}
    for one in _entries(folder):
        found.setdefault(one.claim_id, []).append(one.annotation)
    return found


def add_annotators(
    folder: Path, further: Mapping[str, Sequence[Annotation]], *, who: str, why: str
) -> int:
    """Keep other annotators' labels. One that is there already, whenever it was imported, is not
    kept twice.

    Args:
        folder: the benchmark's.
        further: annotations by claim id.
        who: who answers for the file in ``checksums.json``.
        why: the reason.

    Returns:
        How many were new.

    Raises:
        InputError: as `read_annotators`; or ``checksums.json`` was changed by others.
    """
    entries = _entries(folder)
    known = {_said(entry) for entry in entries}
    added = []
    for claim_id, said in further.items():
        for annotation in said:
            entry = FurtherAnnotation(claim_id=claim_id, annotation=annotation)
            if _said(entry) not in known:
                known.add(_said(entry))
                added.append(entry)
    if added:
        write_text(folder / NAME, jsonl(entry.canonical() for entry in (*entries, *added)))
        seal.record(folder, who=who, why=why, only=[NAME])
    return len(added)


def _entries(folder: Path) -> list[FurtherAnnotation]:
    path = folder / NAME
    return list(read_jsonl(path, FurtherAnnotation)) if path.is_file() else []


def _said(entry: FurtherAnnotation) -> tuple[str, str, str, str, str]:
    """What makes an annotation the same one when it is imported again on another day."""
    one = entry.annotation
    who = one.provenance.who
    return entry.claim_id, who, one.label, one.original_label, one.rationale
