"""Puts micro-gold into a benchmark: the claims as a new version, the answers into the key.

The version says nothing of which claims these are or what is true of them: new claims come in one
shuffled lot, with cover claims where there are any, under ids like those that are there, with
labels assumed alike for all. The key, ``keys/microgold.jsonl``, is written first and taken back if
the version cannot be made, so that no claim ever lies there whose answer is lost.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from deepfact.errors import InputError
from deepfact.importers.base import Imported
from deepfact.microgold.drafts import Draft, Origin
from deepfact.microgold.in_report import with_edit
from deepfact.records import (
    Annotation,
    Claim,
    Edit,
    KeyEntry,
    Label,
    Provenance,
    Revision,
    RevisionKind,
    Source,
    Stance,
)
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.files import jsonl, write_text

KEY = "keys/microgold.jsonl"
Labels = Literal["assumed", "none"]


@dataclass
class Addition:
    """What is to be added, worked out whole before anything is written."""

    entries: list[KeyEntry] = field(default_factory=list)
    claims: list[tuple[Claim, Annotation | None]] = field(default_factory=list)
    """New claims, those of the key and cover claims, in the order in which they come in."""
    withdrawn: list[str] = field(default_factory=list)
    """Live claims that edited ones were made of."""
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Known answers by kind of edit, or by label."""
        return dict(Counter(kind_of(entry) for entry in self.entries))


def kind_of(entry: KeyEntry) -> str:
    """What a known answer is counted as: its label, and the kind of edit where there was one."""
    return f"{entry.label}, {entry.edit.kind}" if entry.edit else str(entry.label)


def plan_addition(
    version: BenchmarkVersion,
    drafts: Sequence[Draft],
    origins: Mapping[str, Origin],
    sources: Mapping[str, Source],
    *,
    author: str,
    when: datetime,
    imported: Imported | None = None,
    cover: Imported | None = None,
    labels: Labels = "assumed",
    keep_originals: bool = False,
    seed: int = 0,
) -> Addition:
    """What adding drafts and imported claims would do.

    Args:
        version: the newest.
        drafts: see `deepfact.microgold.drafts`.
        origins: what they are of.
        sources: by id: the version's, and those of the origins.
        author: who answers for them; also of the assumed labels.
        when: the date that the version and the labels carry.
        imported: further claims, whose labels in the file are the known answers.
        cover: ordinary claims that come in with them, so that being new tells nothing.
        labels: what new claims carry in the version: ``assumed`` is supported for all, ``none``
            leaves them unlabelled, and out of rounds until somebody labels them.
        keep_originals: leave the claims that edits were made of in the benchmark, beside them.
        seed: of the order of the new claims.

    Raises:
        InputError: an imported claim has no label, or an id that is taken.
    """
    out = Addition(sources=[*(imported.sources if imported else ())])
    ids = _Ids(version.state.entries)
    provenance = Provenance(who=author, when=when)
    for made in drafts:
        origin = origins[made.claim_id]
        if made.kind is None and origin.live:
            out.entries.append(_known(made.claim_id, origin.annotation))
            continue
        fresh = ids.after(made.claim_id) if made.kind or origin.live else ids.own(made.claim_id)
        place, report = with_edit(origin.claim.origin, origin.claim, made.text, sources)
        out.sources += [report] if report and report.id not in sources else []
        claim = origin.claim.model_copy(update={"id": fresh, "text": made.text, "origin": place})
        assumed = _assumed(origin.annotation, made, provenance) if labels == "assumed" else None
        out.claims.append((claim, assumed))
        out.entries.append(_answer(fresh, made, origin.annotation, assumed is not None))
        if made.kind and origin.live and not keep_originals:
            out.withdrawn.append(made.claim_id)
    _bring_in(out, ids, imported, cover, provenance if labels == "assumed" else None)
    out.sources += cover.sources if cover else ()
    random.Random(f"{seed}:order").shuffle(out.claims)  # noqa: S311 - no secret
    out.notes += _what_history_tells(out, cover)
    return out


def _bring_in(
    out: Addition,
    ids: _Ids,
    imported: Imported | None,
    cover: Imported | None,
    assumed_by: Provenance | None,
) -> None:
    """Add the claims of files: those whose answer is known, and those that cover them."""
    for claim, annotation in imported.claims if imported else ():
        if annotation is None:
            raise InputError(
                f"claim {claim.id!r} has no label, so its answer is not known", where="--file"
            )
        entry = _known(ids.own(claim.id), annotation)
        assumed = _supported_by(annotation, assumed_by) if assumed_by else None
        out.claims.append((claim, assumed))
        out.entries.append(entry.model_copy(update={"assumed": assumed is not None}))
    for claim, annotation in cover.claims if cover else ():
        ids.own(claim.id)
        out.claims.append((claim, annotation if assumed_by else None))


def _known(claim_id: str, annotation: Annotation) -> KeyEntry:
    """The answer to a claim whose label is right as it stands."""
    return KeyEntry(
        claim_id=claim_id,
        label=annotation.label,
        rationale=annotation.rationale,
        evidence=annotation.evidence,
        qualifications=annotation.qualifications,
    )


def _answer(claim_id: str, made: Draft, support: Annotation, assumed: bool) -> KeyEntry:
    """The answer to an edited claim, with what was changed."""
    if made.kind is None:
        return _known(claim_id, support).model_copy(update={"assumed": assumed})
    changed = (
        f"{made.before!r} was changed to {made.after!r}"
        if made.before and made.after
        else f"{made.after!r} was put in"
        if made.after
        else f"{made.before!r} was taken out"
    )
    return KeyEntry(
        claim_id=claim_id,
        label=Label.CONTRADICTORY,
        stratum=f"edit: {made.kind}",
        rationale=f"{changed}; the sources support the claim without it. {support.rationale}",
        disputed=made.after,
        evidence=tuple(
            quote.model_copy(update={"stance": Stance.CONTRADICTS}) for quote in support.evidence
        ),
        edit=Edit(
            kind=made.kind,
            before=made.before,
            after=made.after,
            original=made.original,
            original_id=made.claim_id,
            seed=made.seed,
        ),
        assumed=assumed,
    )


def _assumed(support: Annotation, made: Draft, provenance: Provenance) -> Annotation:
    """What somebody would have written who overlooked the edit: the original's argument, with the
    edited words in it."""
    before = re.escape(made.before)
    rationale = support.rationale
    if made.before and made.after:
        rationale = re.sub(rf"(?<![\w.]){before}(?![\w])", lambda _: made.after, rationale)
    return _supported_by(support.model_copy(update={"rationale": rationale}), provenance)


def _supported_by(annotation: Annotation, provenance: Provenance) -> Annotation:
    return Annotation(
        label=Label.SUPPORTED,
        rationale=annotation.rationale if annotation.label is Label.SUPPORTED else "",
        evidence=annotation.evidence if annotation.label is Label.SUPPORTED else (),
        qualifications=annotation.qualifications,
        provenance=provenance,
    )


class _Ids:
    """Ids of new claims, like those that are there: the next number of the same series."""

    def __init__(self, taken: Mapping[str, object]) -> None:
        self._taken = set(taken)

    def own(self, claim_id: str) -> str:
        """An id that a file gives."""
        if claim_id in self._taken:
            raise InputError(
                f"duplicate claim id {claim_id!r}: the benchmark has a claim of that id",
                fix="give the new claim another id",
            )
        self._taken.add(claim_id)
        return claim_id

    def after(self, claim_id: str) -> str:
        """The first free id of the series that ``claim_id`` is in: ``a-11`` after ``a-02``."""
        found = re.fullmatch(r"(.*?)(\d{1,9})", claim_id)
        stem, width = (found[1], len(found[2])) if found else (f"{claim_id}-", 1)
        series = re.compile(rf"{re.escape(stem)}(\d{{1,9}})")
        numbers = [int(match[1]) for one in self._taken if (match := series.fullmatch(one))]
        return self.own(f"{stem}{max(numbers, default=0) + 1:0{width}d}")


def _what_history_tells(addition: Addition, cover: Imported | None) -> Iterator[str]:
    """What a reader of the benchmark's history, whom nobody can stop, could tell."""
    if addition.claims and not (cover and cover.claims):
        yield (
            f"all {len(addition.claims)} claims that the version adds are micro-gold, which who "
            "reads the benchmark's history can tell; add ordinary claims with them by --cover"
        )
    if addition.withdrawn:
        yield (
            f"{len(addition.withdrawn)} claims are withdrawn for edited copies, which who compares "
            "the two versions can tell; edits of claims that were never in it (--originals) cannot"
        )


# --- writing -------------------------------------------------------------------------------


def add(
    store: BenchmarkStore,
    version: BenchmarkVersion,
    addition: Addition,
    *,
    author: str,
    when: datetime,
) -> BenchmarkVersion:
    """Write the key and commit the version; the version as it was when nothing is new in it.

    Raises:
        InputError: something does not fit; nothing was changed.
    """
    revisions = [
        Revision(
            kind=RevisionKind.RETIRE, claim_id=claim_id, who=author, when=when, why="withdrawn"
        )
        for claim_id in sorted(addition.withdrawn)
    ]
    revisions += [
        Revision(
            kind=RevisionKind.ADD, claim_id=claim.id, who=author, when=when, why="added",
            claim=claim, annotation=annotation,
        )
        for claim, annotation in addition.claims
    ]  # fmt: skip
    with _key_extended(store, addition.entries):
        after = version
        if revisions:
            note = f"{len(addition.claims)} claims added"
            if addition.withdrawn:
                note += f", {len(addition.withdrawn)} withdrawn"
            after = store.commit(
                revisions,
                parent=version.manifest.version,
                author=author,
                date=when,
                note=note,
                sources=addition.sources,
            )
    seal.record(store.folder, who=author, when=when, why="the key was extended", only=[KEY])
    return after


@contextmanager
def _key_extended(store: BenchmarkStore, entries: Sequence[KeyEntry]) -> Iterator[None]:
    """The key with further entries; as it was before if what is done with it fails."""
    from filelock import FileLock

    path = store.folder / KEY
    with FileLock(store.folder.parent / f".{store.name}.keys.lock"):
        before = path.read_bytes() if path.is_file() else None
        known = store.key("microgold")
        # Answers to claims that no version has are what a killed addition left behind.
        there = _all_claims(store) if set(known) & {entry.claim_id for entry in entries} else set()
        for entry in entries:
            if entry.claim_id in known and entry.claim_id in there:
                raise InputError(f"claim {entry.claim_id!r} is micro-gold already", where=str(path))
            known[entry.claim_id] = entry
        write_text(path, jsonl(known[claim_id].canonical() for claim_id in sorted(known)))
        try:
            yield
        except BaseException:
            _put_back(path, before)
            raise


def _put_back(path: Path, before: bytes | None) -> None:
    from deepfact.store.files import write_bytes

    if before is None:
        path.unlink(missing_ok=True)
    else:
        write_bytes(path, before)


def _all_claims(store: BenchmarkStore) -> set[str]:
    """Ids of all claims that any version ever had."""
    return {
        revision.claim_id for version in store.versions() for revision in store.revisions(version)
    }
