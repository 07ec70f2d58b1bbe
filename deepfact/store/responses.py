"""The response store: every answer that was paid for, under the key of what was asked.

One SQLite file in WAL mode, safe with several processes. The first answer stored under a key
stays; whoever asks later gets that one. A stored answer never changes: there is no update
here, only get, put and delete. No key or token of a provider is ever stored: answers are
scrubbed before they come here, and a request that holds one is left out. Exports are the
business of `deepfact.store.response_exports`.
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
from typing import Callable, Iterable, Iterator, Self, Sequence

from pydantic import ValidationError

from deepfact.errors import InputError, IntegrityError, NewerSchemaError
from deepfact.model_records import Completion, Request, SubmittedBatch
from deepfact.records import canonical_json
from deepfact.store.files import parse_record
from deepfact.store.secrets import known_secrets

APPLICATION_ID = 0x64663031  # "df01": tells a response store from any other SQLite file
SCHEMA = 1
BUSY_SECONDS = 30.0
"""How long to wait for another process's write before giving up."""

# The request comes last: it is long, and a look-up need not read past the answer.
_TABLES = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, vote INTEGER NOT NULL, model TEXT NOT NULL, stored_at TEXT NOT NULL,
    completion TEXT NOT NULL, request TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS batches (
    id TEXT PRIMARY KEY, account TEXT NOT NULL, keys TEXT NOT NULL, submitted_at TEXT NOT NULL
);
"""

_INSERT = (
    "INSERT OR IGNORE INTO responses (key, vote, model, request, completion, stored_at) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """An answer and what it answers."""

    key: str
    vote: int
    request: Request
    completion: Completion


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """An answer as it lies in the store."""

    key: str
    vote: int
    model: str
    """The model that was asked."""
    request: str
    """What was asked, as canonical JSON; empty when it was imported without it, or holds a key."""
    completion: Completion
    stored_at: str
    """ISO 8601, UTC."""


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
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

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
        secrets = known_secrets()

        def asked(request: Request) -> str:
            # A request that holds a key is left out: masked it would not have its own hash.
            text = request.canonical()
            return "" if secrets.search(text) else text

        rows = [
            (
                one.key, one.vote, one.request.model,
                asked(one.request), one.completion.canonical(), now,
            )
            for one in responses
        ]  # fmt: skip
        lost: dict[str, str] = {}
        with self._write() as database:
            for row in rows:
                done = database.execute(_INSERT, row)
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

    def rows(self) -> Iterator[ResponseRow]:
        """Every answer, in order of key.

        Raises:
            IntegrityError: an answer is damaged.
        """
        with self._named_errors():
            cursor = self._reader.execute(
                "SELECT key, vote, model, request, completion, stored_at FROM responses "
                "ORDER BY key"
            )
            for key, vote, model, request, completion, at in cursor:
                yield ResponseRow(key, vote, model, request, self._completion(key, completion), at)

    def add_rows(self, rows: Iterable[ResponseRow]) -> int:
        """Take over answers, in one transaction. Those whose key is taken are left out.

        Returns:
            How many were new.
        """
        values = [
            (one.key, one.vote, one.model, one.request, one.completion.canonical(), one.stored_at)
            for one in rows
        ]
        with self._write() as database:
            before = database.total_changes
            database.executemany(
                "INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?, ?, ?)", values
            )
            return database.total_changes - before

    def delete(self, keys: Iterable[str]) -> None:
        """Delete answers and give their space back."""
        with self._write() as database:
            database.executemany("DELETE FROM responses WHERE key = ?", [(key,) for key in keys])
        with self._named_errors(), self._lock:
            self._writer.execute("VACUUM")

    def check(self) -> None:
        """Read every page of the file.

        Raises:
            IntegrityError: part of it is damaged.
        """
        with self._named_errors():
            problem = self._reader.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise self._damaged(problem)

    def count_batches(self) -> int:
        """Batches that are submitted and not closed, of any account."""
        with self._named_errors():
            return int(self._reader.execute("SELECT count(*) FROM batches").fetchone()[0])

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
        database.execute("BEGIN")  # one look: another process may be making the store right now
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        tables = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        database.execute("COMMIT")
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
                self._writer.execute("COMMIT")
            except BaseException:
                # On a full disk SQLite has rolled back by itself; again would be an error.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

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
            return Completion.model_validate_json(text)
        except ValidationError:
            pass  # say what is wrong with it
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
