"""The response store: every answer that was paid for, under the key of what was asked.

One SQLite file in WAL mode, safe with several processes. The first answer stored under a key
stays; whoever asks later gets that one. A stored answer never changes: there is no update
here, only put, get, import and prune. No key or token of a provider is ever stored: answers
are scrubbed before they come here, and requests hold none.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Self, Sequence

from pydantic import Field

from deepfact.errors import InputError, IntegrityError, NewerSchemaError
from deepfact.providers.base import Completion, Request, SubmittedBatch
from deepfact.records import FileRecord, Hash, canonical_json
from deepfact.store.files import jsonl, parse_record, read_jsonl, write_text

APPLICATION_ID = 0x64663031  # "df01": tells a response store from any other SQLite file
SCHEMA = 1
BUSY_SECONDS = 30.0
"""How long to wait for another process's write before giving up."""

_TABLES = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, vote INTEGER NOT NULL, model TEXT NOT NULL,
    request TEXT NOT NULL, completion TEXT NOT NULL, stored_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, keys TEXT NOT NULL, submitted_at TEXT NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """An answer and what it answers."""

    key: str
    vote: int
    request: Request
    completion: Completion


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
    stop_reasons: dict[str, int]
    input_tokens: int
    output_tokens: int
    open_batches: int
    oldest: str = ""
    newest: str = ""


class ResponseStore:
    """An open response store. May be used from several threads.

    Args:
        path: the file; made when it does not exist, unless ``must_exist``.
        must_exist: refuse to make a new one.

    Raises:
        IntegrityError: the file is damaged or no response store.
        NewerSchemaError: written by a newer deepfact.
        InputError: missing, or it cannot be opened.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        self._lock = threading.Lock()
        if must_exist and not path.is_file():
            raise InputError("no such response store", where=str(path))
        with self._named_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Reads have a connection of their own, so that they never wait for a commit.
            self._reader = self._connect()
            self._writer = self._connect()
            self._prepare()

    def get(self, key: str) -> Completion | None:
        """The answer stored under a key, or None."""
        with self._named_errors():
            row = self._reader.execute(
                "SELECT completion FROM responses WHERE key = ?", (key,)
            ).fetchone()
        return None if row is None else self._completion(key, row[0])

    def put(self, request: Request, vote: int, completion: Completion) -> Completion:
        """Store an answer, durably. Returns the answer that the store holds under its key."""
        response = StoredResponse(request.key(vote), vote, request, completion)
        return self.put_many([response])[0]

    def put_many(self, responses: Sequence[StoredResponse]) -> list[Completion]:
        """Store answers in one commit, durable on return.

        Returns:
            For each, the answer that the store now holds: the earlier one, if there was one.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [
            (
                one.key, one.vote, one.request.model,
                one.request.canonical(), one.completion.canonical(), now,
            )
            for one in responses
        ]  # fmt: skip
        lost: dict[str, str] = {}
        with self._write() as database:
            for row in rows:
                done = database.execute(
                    "INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?, ?, ?)", row
                )
                if done.rowcount == 0:
                    found = database.execute(
                        "SELECT completion FROM responses WHERE key = ?", (row[0],)
                    ).fetchone()
                    lost[row[0]] = found[0]
        return [
            self._completion(one.key, lost[one.key]) if one.key in lost else one.completion
            for one in responses
        ]

    def __len__(self) -> int:
        with self._named_errors():
            return int(self._reader.execute("SELECT count(*) FROM responses").fetchone()[0])

    def stats(self) -> StoreStats:
        """What the store holds; every page and every answer is read and checked.

        Raises:
            IntegrityError: part of the store is damaged.
        """
        models: dict[str, int] = {}
        stops: dict[str, int] = {}
        tokens = [0, 0]
        with self._named_errors():
            problem = self._reader.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise self._damaged(problem)
            oldest, newest = self._reader.execute(
                "SELECT min(stored_at), max(stored_at) FROM responses"
            ).fetchone()
            batches = self._reader.execute("SELECT count(*) FROM batches").fetchone()[0]
            count = 0
            for key, model, text in self._reader.execute(
                "SELECT key, model, completion FROM responses"
            ):
                completion = self._completion(key, text)
                count += 1
                models[model] = models.get(model, 0) + 1
                stop = completion.stop_reason or "none given"
                stops[stop] = stops.get(stop, 0) + 1
                tokens[0] += completion.input_tokens
                tokens[1] += completion.output_tokens
        return StoreStats(
            path=str(self.path),
            responses=count,
            bytes=self.path.stat().st_size,
            models=dict(sorted(models.items())),
            stop_reasons=dict(sorted(stops.items())),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            open_batches=batches,
            oldest=oldest or "",
            newest=newest or "",
        )

    def export(
        self, path: Path, *, keys: Iterable[str] | None = None, requests: bool = False
    ) -> int:
        """Write answers as canonical JSON Lines, sorted by key: the same answers, the same bytes.

        Args:
            path: the file to write.
            keys: only these; all when None.
            requests: include what was asked.

        Returns:
            How many were written.
        """
        wanted = None if keys is None else set(keys)
        lines = []
        with self._named_errors():
            rows = self._reader.execute(
                "SELECT key, vote, model, completion, request FROM responses ORDER BY key"
            )
            for key, vote, model, completion, request in rows:
                if wanted is not None and key not in wanted:
                    continue
                line: dict[str, Any] = {
                    "completion": json.loads(completion),
                    "key": key,
                    "model": model,
                    "schema_version": SCHEMA,
                    "vote": vote,
                }
                if requests:
                    # A request that came without its text has none to give.
                    line |= {"request": json.loads(request)} if request else {}
                lines.append(canonical_json(line))
        write_text(path, jsonl(lines))
        return len(lines)

    def import_(self, path: Path) -> tuple[int, int]:
        """Take over the answers of an export; those under a key that is there already are left.

        Returns:
            How many were new, and how many were there already.

        Raises:
            RecordError: the file is not an export.
            IntegrityError: a request does not have the key that the line gives it.
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
            request = one.request.canonical() if one.request else ""
            rows.append((one.key, one.vote, one.model, request, one.completion.canonical(), now))
        with self._write() as database:
            before = database.total_changes
            database.executemany("INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?, ?, ?)", rows)
            new = database.total_changes - before
        return new, len(rows) - new

    def prune(
        self,
        *,
        model: str | None = None,
        before: datetime | None = None,
        keep: Iterable[str] | None = None,
        dry_run: bool = False,
    ) -> int:
        """Delete answers that fit every condition given.

        Args:
            model: asked of this model.
            before: stored before this time.
            keep: their key is not among these.
            dry_run: only count them.

        Returns:
            How many were deleted.

        Raises:
            InputError: no condition was given.
        """
        if model is None and before is None and keep is None:
            raise InputError("nothing says which answers to delete", fix="give a condition")
        cutoff = None if before is None else before.astimezone(UTC).isoformat(timespec="seconds")
        kept = None if keep is None else set(keep)
        with self._write() as database:
            doomed = [
                (key,)
                for key, of, at in database.execute("SELECT key, model, stored_at FROM responses")
                if (model is None or of == model)
                and (cutoff is None or at < cutoff)
                and (kept is None or key not in kept)
            ]
            if not dry_run:
                database.executemany("DELETE FROM responses WHERE key = ?", doomed)
        if doomed and not dry_run:
            with self._named_errors(), self._lock:
                self._writer.execute("VACUUM")
        return len(doomed)

    # --- batches -------------------------------------------------------------------------

    def open_batches(self, account: str) -> list[SubmittedBatch]:
        """As `deepfact.providers.base.BatchLedger`."""
        with self._named_errors():
            rows = self._reader.execute(
                "SELECT id, keys FROM batches WHERE account = ? ORDER BY submitted_at, id",
                (account,),
            ).fetchall()
        return [SubmittedBatch(id=one, keys=tuple(json.loads(keys))) for one, keys in rows]

    def record_batch(self, account: str, batch: SubmittedBatch) -> None:
        """As `deepfact.providers.base.BatchLedger`."""
        now = datetime.now(UTC).isoformat()
        with self._write() as database:
            database.execute(
                "INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?)",
                (batch.id, account, canonical_json(list(batch.keys)), now),
            )

    def close_batch(self, batch_id: str) -> None:
        """As `deepfact.providers.base.BatchLedger`."""
        with self._write() as database:
            database.execute("DELETE FROM batches WHERE id = ?", (batch_id,))

    # --- the database --------------------------------------------------------------------

    def close(self) -> None:
        """Close the file. Everything is on disk already."""
        with self._lock:
            self._reader.close()
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        # FULL: a commit is on disk when it returns, power cut or not.
        database.execute("PRAGMA synchronous = FULL")
        return database

    def _prepare(self) -> None:
        """Check that this is a response store, or make it one."""
        database = self._writer
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        tables = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if application == APPLICATION_ID and version > SCHEMA:
            raise NewerSchemaError(
                f"schema version {version} is newer than this deepfact knows ({SCHEMA})",
                where=str(self.path),
                fix="upgrade deepfact: pip install --upgrade deepfact",
            )
        if application == APPLICATION_ID and version == SCHEMA:
            return
        if application != APPLICATION_ID and tables:
            raise IntegrityError(
                "this is a database of something else, not a response store",
                where=str(self.path),
                fix="name another file",
            )
        # Several processes may make the store at once: SQLite does not wait on this switch.
        _patiently(lambda: database.execute("PRAGMA journal_mode = WAL"))
        database.execute("BEGIN IMMEDIATE")
        for statement in _TABLES.split(";"):
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {SCHEMA}")
        database.execute("COMMIT")

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on disk afterwards, or none."""
        with self._named_errors(), self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """SQLite's errors as ours: what is wrong, with which file, and what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise InputError(
                    f"another process has been writing for {BUSY_SECONDS:g} seconds",
                    where=str(self.path),
                    fix="wait for it to finish, then run this again; nothing was lost",
                ) from None
            raise InputError(f"cannot be used: {error}", where=str(self.path)) from None
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from None
        except OSError as error:
            raise InputError(f"cannot be used: {error.strerror}", where=str(self.path)) from None

    def _damaged(self, detail: str) -> IntegrityError:
        return IntegrityError(
            f"the response store is damaged ({detail})",
            where=str(self.path),
            fix="move it (with its -wal and -shm files) away and import an export into a new one: "
            "deepfact responses import EXPORT",
        )

    def _completion(self, key: str, text: str) -> Completion:
        try:
            return parse_record(text, Completion, where=f"{self.path}, answer {key}")
        except NewerSchemaError:
            raise
        except InputError as error:
            raise self._damaged(f"answer {key}: {error.what}") from None


def _patiently(action: Callable[[], object]) -> None:
    """Do it, again and again while another process holds the file."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
