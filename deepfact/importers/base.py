"""What an importer gives: sources, claims with their annotations, and every row it left out.

An importer reads files and nothing else; it writes no benchmark. No row is dropped without a
reason, and a label is mapped by a table in `deepfact.core.labels` or in the mapping file, never
guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from deepfact.records import Annotation, Claim, Source


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that could not be imported, and why."""

    where: str
    """File and line (or claim id)."""
    why: str


@dataclass(slots=True)
class Imported:
    """What came out of the files of a data set."""

    sources: list[Source] = field(default_factory=list)
    claims: list[tuple[Claim, Annotation | None]] = field(default_factory=list)
    skipped: list[SkippedRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader of the dataset card should know: duplicates, label mapping, licence."""
    further: dict[str, list[Annotation]] = field(default_factory=dict)
    """Other annotators' labels by claim id, where a claim has more than one; an agent's too."""
    licence: str = ""
    """Of the data set, in its own words; empty where nobody said."""
    origin: str = ""
    """Where the data set is from: an address, or an id with its revision; empty where nobody
    said."""


def note_repeated_texts(imported: Imported) -> None:
    """Add a note that names the claims whose text occurs more than once, if there are any."""
    ids: dict[str, list[str]] = {}
    for claim, _ in imported.claims:
        ids.setdefault(claim.text, []).append(claim.id)
    repeated = [" = ".join(same) for same in ids.values() if len(same) > 1]
    if repeated:
        imported.notes.append(
            f"{len(repeated)} claim texts occur more than once: {'; '.join(repeated)}."
        )
