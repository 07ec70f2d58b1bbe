"""Which claims could become micro-gold: supported ones as they stand, and documented edits of them.

Drawn by a seed: the same version, seed and wishes give the same drafts. A draft is read by a person
(`--review FILE`) or taken as it is; this module adds nothing and writes only the file of drafts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from deepfact.core.state import Entry
from deepfact.errors import InputError, RecordError
from deepfact.reading.edit_checks import Surroundings, difference
from deepfact.reading.edits import propose, speakers_of
from deepfact.records import Annotation, Claim, FileRecord, Id, KeyEntry, Label, Source
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import jsonl, read_jsonl, write_text
from deepfact.vocabulary import EditKind


class Draft(FileRecord):
    """A proposed micro-gold claim, as a line of the file that a person reviews."""

    keep: bool = True
    """Set it to false to leave this one out."""
    claim_id: Id
    """Of the claim that it is, or was made of."""
    kind: EditKind | None = None
    """What was changed; None: the claim is supported as it stands."""
    original: str = Field(min_length=1)
    text: str
    """The claim to add. It may be bettered in review; what was changed is then worked out anew."""
    before: str = ""
    after: str = ""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """A supported claim that an edit may be made of."""

    claim: Claim
    annotation: Annotation
    """What supports it."""
    live: bool
    """It is in the version, where an edited copy beside it would give both away."""


@dataclass
class Drafted:
    """What was proposed, and what could not be."""

    drafts: list[Draft] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    """Why edits were refused, as ``kind: reason``, and how often."""


def supported_origins(version: BenchmarkVersion) -> dict[str, Origin]:
    """The live claims of a version that are known to be supported and are not yet micro-gold.

    Known by the author's key where there is one; else by the version's label, which whoever adds
    them answers for.
    """
    author, gold = version.store.key("author"), version.store.key("microgold")
    found = {}
    for entry in version.state:
        if entry.claim.id in gold:
            continue
        annotation = _support(entry, author)
        if annotation is not None:
            found[entry.claim.id] = Origin(entry.claim, annotation, live=True)
    return found


def _support(entry: Entry, author: Mapping[str, KeyEntry]) -> Annotation | None:
    annotation = entry.annotation
    agrees = annotation is not None and annotation.label is Label.SUPPORTED
    known = author.get(entry.claim.id)
    if known is None:
        return annotation if agrees and not author else None
    if known.label is not Label.SUPPORTED or annotation is None:
        return None
    if agrees:
        return annotation
    return annotation.model_copy(
        update={
            "label": Label.SUPPORTED,
            "rationale": known.rationale,
            "evidence": known.evidence,
            "qualifications": known.qualifications,
            "contradictions": (),
        }
    )


def draft(
    origins: Mapping[str, Origin],
    sources: Mapping[str, Source],
    *,
    chosen: Sequence[str] = (),
    supported: int = 0,
    unsupported: int = 0,
    kinds: Sequence[EditKind] = tuple(EditKind),
    seed: int = 0,
) -> Drafted:
    """Draw micro-gold among supported claims.

    Args:
        origins: by claim id, see `supported_origins`.
        sources: by id.
        chosen: ids of claims to take as they stand.
        supported: how many more to take as they stand.
        unsupported: how many to edit; the kinds get as even a share as the claims allow.
        kinds: of edits.
        seed: of everything drawn.

    Raises:
        InputError: a chosen claim cannot be taken.
    """
    out = Drafted()
    for claim_id in chosen:
        if claim_id not in origins:
            raise InputError(
                f"claim {claim_id!r} cannot be taken as supported micro-gold",
                where="--supported-id",
                fix="it must be a live claim whose label (and the author's key, if any) says "
                "supported, and not be micro-gold already",
            )
    free = [claim_id for claim_id in origins if claim_id not in chosen]
    random.Random(f"{seed}:microgold").shuffle(free)  # noqa: S311 - no secret
    edited = _edits(origins, sources, free, unsupported, kinds, seed, out)
    left = [claim_id for claim_id in free if claim_id not in {made.claim_id for made in edited}]
    kept = [*chosen, *left[:supported]]
    if supported > len(left):
        out.notes.append(f"{supported} supported claims were asked for, {len(left)} were left")
    out.drafts += [
        Draft(claim_id=i, original=origins[i].claim.text, text=origins[i].claim.text) for i in kept
    ]
    out.drafts += edited
    return out


def _edits(
    origins: Mapping[str, Origin],
    sources: Mapping[str, Source],
    free: Sequence[str],
    wanted: int,
    kinds: Sequence[EditKind],
    seed: int,
    out: Drafted,
) -> list[Draft]:
    """Edits of different claims: always of the kind that has the fewest so far."""
    names = speakers_of(sources.values()) if EditKind.ATTRIBUTION in kinds and wanted else ()
    ahead = {kind: list(free) for kind in kinds}
    made: list[Draft] = []
    taken: set[str] = set()
    count: Counter[EditKind] = Counter()
    while len(made) < wanted and any(ahead.values()):
        kind = min((k for k in kinds if ahead[k]), key=lambda k: (count[k], kinds.index(k)))
        claim_id = ahead[kind].pop(0)
        if claim_id in taken:
            continue
        claim = origins[claim_id].claim
        near = Surroundings(tuple(sources[s] for s in claim.cites if s in sources), names)
        rng = random.Random(f"{seed}:{claim_id}:{kind}")  # noqa: S311 - no secret
        proposal, why = propose(kind, claim.text, near, rng)
        if proposal is None:
            out.refused[f"{kind}: {why}"] += 1
            continue
        taken.add(claim_id)
        count[kind] += 1
        made.append(
            Draft(
                claim_id=claim_id, kind=kind, original=claim.text, text=proposal.text,
                before=proposal.before, after=proposal.after, seed=seed,
            )
        )  # fmt: skip
    if len(made) < wanted:
        out.notes.append(
            f"{wanted} edits were asked for, {len(made)} were found: "
            + ", ".join(f"{count[kind]} {kind}" for kind in kinds)
        )
    return made


# --- the file that a person reviews ---------------------------------------------------------


def write_drafts(drafts: Sequence[Draft], path: Path) -> None:
    """Write drafts for review, one JSON object on each line.

    Raises:
        InputError: the file exists.
    """
    if path.exists():
        raise InputError("this file exists", where=str(path), fix="name another with --review")
    write_text(path, jsonl(_full(made) for made in drafts))


def _full(made: Draft) -> str:
    """All fields, so that a person sees what can be changed."""
    return made.model_dump_json()


def read_drafts(path: Path, origins: Collection[str]) -> list[Draft]:
    """The drafts of a reviewed file that are to be kept; what a person changed in a text is worked
    out anew, and then counts as theirs.

    Raises:
        InputError: a row is no draft, is of a claim that cannot be used, stands twice, or its text
            does not fit its kind.
    """
    kept: list[Draft] = []
    seen: set[str] = set()
    for made in read_jsonl(path, Draft):
        where = f"{path}, claim {made.claim_id}"
        if made.claim_id in seen:
            raise RecordError("two drafts are of one claim", where=where, fix="keep one of them")
        seen.add(made.claim_id)
        if not made.keep:
            continue
        if made.claim_id not in origins:
            raise RecordError(
                "the claim is not there, not supported, or micro-gold already", where=where
            )
        if not made.text.strip():
            raise RecordError("the claim has no text", where=where, fix="or set keep to false")
        if (made.kind is None) != (made.text == made.original):
            raise RecordError(
                "the text is the original's, but a kind of edit is named"
                if made.kind
                else "the text was changed, and no kind of edit says how",
                where=where,
                fix=f"kinds are {', '.join(EditKind)}; or set keep to false",
            )
        before, after = difference(made.original, made.text)
        if made.kind and (before, after) != (made.before, made.after):
            made = made.model_copy(update={"before": before, "after": after, "seed": None})
        kept.append(made)
    return kept
