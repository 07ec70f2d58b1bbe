"""Labels of the generic importers: by the mapping's table, of one annotator or of several.

A word that is in no table stops the import; then all such words are told at once, so that a file
with three spellings of a label takes one correction and not three. Reads only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from deepfact.core.labels import lookup
from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.importers.documents import string
from deepfact.importers.mapping import Mapping
from deepfact.importers.rows import BadRow, Row
from deepfact.records import Annotation, Label, Provenance

SHOWN = 12
"""Unknown words that are listed."""


class UnknownLabel(InputError):
    """A label that the mapping does not have."""

    def __init__(self, published: str, cause: InputError) -> None:
        self.published = published
        super().__init__(cause.what, where=cause.where, fix=cause.fix)


def label_of(mapping: Mapping, published: str, where: str) -> Label | None:
    """Our label for one of theirs; None where the cell is empty.

    Raises:
        UnknownLabel: the mapping does not have it.
    """
    label = mapping.label_of(published)
    if label is not None or not published.strip():
        return label
    try:
        return lookup(
            mapping.labels,
            published,
            where=where,
            fix=f"add {published!r} to `labels:` in the mapping file",
        )
    except InputError as error:
        raise UnknownLabel(published, error) from None


def all_unknown(first: UnknownLabel, mapping: Mapping, rest: Iterator[Row | BadRow]) -> InputError:
    """The error for the first unknown label, with all others that the file has.

    Args:
        first: what stopped the import.
        mapping: the table.
        rest: the rows after it; they are read to the end.
    """
    counts = Counter([first.published])
    columns = [mapping.fields.label, *(one.label for one in mapping.annotators)]
    for row in rest:
        cells = [row.cells.get(column) for column in columns] if isinstance(row, Row) else []
        words = [word for cell in cells for word in (cell if isinstance(cell, list) else [cell])]
        counts.update(
            str(word)
            for word in words
            if isinstance(word, str | int) and str(word).strip()
            and mapping.label_of(str(word)) is None
        )  # fmt: skip
    loosely = [word for word in counts if mapping.loosely(word) is not None]
    advice = (
        "; or say `spelling: loose` in the mapping file: case, spaces, - and _ then do not matter"
        if mapping.spelling == "exact" and len(loosely) == len(counts)
        else ""
    )
    if len(counts) == 1:
        return InputError(first.what, where=first.where, fix=f"{first.fix}{advice}")
    listed = ", ".join(f"{word!r} ({count})" for word, count in counts.most_common(SHOWN))
    more = f" and {len(counts) - SHOWN} more" if len(counts) > SHOWN else ""
    return InputError(
        f"unknown label {first.published!r}, the first of {len(counts)} words that the table of "
        f"labels does not have: {listed}{more}, each with its rows",
        where=first.where,
        fix=f"labels known here: {', '.join(mapping.labels)}; add theirs to `labels:` in the "
        f"mapping file{advice}",
    )


def further_annotations(row: Row, mapping: Mapping, when: datetime) -> list[Annotation]:
    """What other annotators say of a row's claim, in the order of the mapping.

    Raises:
        UnknownLabel: a label is not in the table.
        InputError: a cell is neither a text nor a list of texts.
    """
    found = []
    for one in mapping.annotators:
        cell = row.cells.get(one.label)
        reasons = row.cells.get(one.rationale) if one.rationale else None
        listed = cell if isinstance(cell, list) else [cell]
        whys = reasons if isinstance(reasons, list) else [reasons] * len(listed)
        if len(whys) != len(listed):
            raise InputError(
                f"{one.label!r} has {len(listed)} labels, and {one.rationale!r} {len(whys)} "
                "rationales",
                where=row.where,
            )
        for number, (word, why) in enumerate(zip(listed, whys, strict=True), start=1):
            published = string(Row(row.where, {one.label: word}), one.label)
            label = label_of(mapping, published, row.where)
            if label is not None:
                who = f"{one.who} {number}" if isinstance(cell, list) else one.who
                found.append(
                    Annotation(
                        label=label,
                        rationale=string(Row(row.where, {one.label: why}), one.label),
                        provenance=Provenance(who=who, when=when),
                        original_label=published,
                    )
                )
    return found


def note_annotators(out: Imported) -> None:
    """Add a note on how other annotators' labels compare with the claims' own, if there are any."""
    if not out.further:
        return
    labels = {claim.id: found.label for claim, found in out.claims if found}
    several = [(labels.get(claim_id), found) for claim_id, found in out.further.items()]
    apart = sum(own is not None and any(one.label is not own for one in f) for own, f in several)
    total = sum(len(found) for _, found in several)
    out.notes.append(
        f"{len(several)} claims have labels of other annotators, {total} in all; on {apart} of "
        "them one differs from the claim's own. They are kept in annotators.jsonl."
    )
