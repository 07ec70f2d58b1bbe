"""Exports of a response store: to look at, to commit beside a baseline, to take to another machine.

An export is canonical JSON Lines sorted by key, without times: the same answers give the same
bytes, so that a diff shows which answers changed. It holds no key or token of a provider.
Stored answers are read here, added and deleted, never changed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Iterable

from pydantic import Field, ValidationError

from deepfact.errors import InputError, IntegrityError
from deepfact.model_records import Completion, Request
from deepfact.records import FileRecord, Hash
from deepfact.store.files import explain, jsonl, parse_record, read_jsonl, write_text
from deepfact.store.responses import ResponseRow, ResponseStore
from deepfact.store.secrets import scrub_known


class ExportedResponse(FileRecord):
    """One line of an export."""

    key: Hash
    vote: int = Field(ge=0)
    model: str
    completion: Completion
    request: Request | None = None
    """Left out unless asked for: it is long, and the key is its hash."""


class StoreStats(FileRecord):
    """What a response store holds."""

    path: str
    responses: int
    bytes: int
    models: dict[str, int]
    """Answers by the model that was asked."""
    stop_reasons: dict[str, int]
    input_tokens: int
    output_tokens: int
    open_batches: int
    oldest: str = ""
    newest: str = ""


def store_stats(store: ResponseStore) -> StoreStats:
    """What a store holds; every page and every answer is read and checked.

    Raises:
        IntegrityError: part of the store is damaged.
    """
    store.check()
    models: dict[str, int] = {}
    stops: dict[str, int] = {}
    count, tokens_in, tokens_out = 0, 0, 0
    oldest = newest = ""
    for row in store.rows():
        count += 1
        models[row.model] = models.get(row.model, 0) + 1
        stop = row.completion.stop_reason or "none given"
        stops[stop] = stops.get(stop, 0) + 1
        tokens_in += row.completion.input_tokens
        tokens_out += row.completion.output_tokens
        oldest = min(oldest or row.stored_at, row.stored_at)
        newest = max(newest, row.stored_at)
    return StoreStats(
        path=str(store.path),
        responses=count,
        bytes=store.path.stat().st_size,
        models=dict(sorted(models.items())),
        stop_reasons=dict(sorted(stops.items())),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        open_batches=store.count_batches(),
        oldest=oldest,
        newest=newest,
    )


def export_responses(
    store: ResponseStore,
    path: Path,
    *,
    keys: Iterable[str] | None = None,
    requests: bool = False,
) -> int:
    """Write answers to a file.

    Args:
        store: where they are.
        path: the file to write, replaced if it is there.
        keys: only these; all when None.
        requests: include what was asked, where it is known.

    Returns:
        How many were written.
    """
    wanted = None if keys is None else set(keys)
    lines = []
    for row in store.rows():
        if wanted is not None and row.key not in wanted:
            continue
        asked = None
        if requests and row.request:
            asked = parse_record(row.request, Request, where=f"{store.path}, answer {row.key}")
        try:
            exported = ExportedResponse(
                key=row.key, vote=row.vote, model=row.model, completion=row.completion,
                request=asked,
            )  # fmt: skip
        except ValidationError as error:
            what = f"answer {row.key!r} is damaged: {explain(error)}"
            raise IntegrityError(what, where=str(store.path)) from None
        # Scrubbed when they were stored; once more for a key that is in use only now.
        lines.append(scrub_known(exported.canonical()))
    write_text(path, jsonl(lines))
    return len(lines)


def import_responses(store: ResponseStore, path: Path) -> tuple[int, int]:
    """Take over the answers of an export; those under a key that is there already are left.

    Returns:
        How many were new, and how many were there already.

    Raises:
        RecordError: the file is not an export.
        IntegrityError: a request does not have the key that its line gives it.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    rows = []
    for number, one in enumerate(read_jsonl(path, ExportedResponse), start=1):
        if one.request is not None and one.request.key(one.vote) != one.key:
            raise IntegrityError(
                f"the request is not the one that key {one.key} names",
                where=f"{path}, answer {number}",
                fix="export the answers again; nothing was imported",
            )
        asked = one.request.canonical() if one.request else ""
        rows.append(ResponseRow(one.key, one.vote, one.model, asked, one.completion, now))
    new = store.add_rows(rows)
    return new, len(rows) - new


def prune_responses(
    store: ResponseStore,
    *,
    model: str | None = None,
    before: datetime | None = None,
    keep: Iterable[str] | None = None,
    dry_run: bool = False,
) -> int:
    """Delete answers that fit every condition given.

    Args:
        store: where they are.
        model: asked of this model.
        before: stored before this time.
        keep: their key is not among these.
        dry_run: only count them.

    Returns:
        How many were deleted, or would be.

    Raises:
        InputError: no condition was given.
    """
    if model is None and before is None and keep is None:
        raise InputError("nothing says which answers to delete", fix="give a condition")
    cutoff = None if before is None else before.astimezone(UTC).isoformat(timespec="seconds")
    kept = None if keep is None else set(keep)
    doomed = [
        row.key
        for row in store.rows()
        if (model is None or row.model == model)
        and (cutoff is None or row.stored_at < cutoff)
        and (kept is None or row.key not in kept)
    ]
    if doomed and not dry_run:
        store.delete(doomed)
    return len(doomed)
