"""The response store: what is put stays, exports are reproducible, damage is named."""

from __future__ import annotations

import json
import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deepfact.errors import InputError, IntegrityError, NewerSchemaError, RecordError
from deepfact.model_records import Completion, Message, Request, SubmittedBatch
from deepfact.store import responses
from deepfact.store.response_exports import (
    export_responses,
    import_responses,
    prune_responses,
    store_stats,
)
from deepfact.store.responses import ResponseStore


def request(number: int, model: str = "m") -> Request:
    return Request(model=model, messages=(Message(role="user", content=f"Aussage {number} ü"),))


def fill(path: Path, numbers=range(5), model: str = "m") -> ResponseStore:
    store = ResponseStore(path)
    for number in numbers:
        answer = Completion(text=f"yes {number}", stop_reason="end_turn", input_tokens=7)
        store.put(request(number, model), 0, answer)
    return store


def test_what_is_put_is_there_after_reopening(tmp_path):
    fill(tmp_path / "r.sqlite").close()
    with ResponseStore(tmp_path / "r.sqlite", must_exist=True) as store:
        assert store.get(request(3).key()).text == "yes 3"
        assert store.get(request(3).key(1)) is None
        assert len(store) == 5


def test_the_first_answer_stays(tmp_path):
    with fill(tmp_path / "r.sqlite") as store:
        kept = store.put(request(0), 0, Completion(text="no"))
        assert kept.text == "yes 0"
        assert store.get(request(0).key()).text == "yes 0"


def test_the_same_answers_export_to_the_same_bytes(tmp_path):
    with (
        fill(tmp_path / "a.sqlite", range(9)) as one,
        fill(tmp_path / "b.sqlite", reversed(range(9))) as other,
    ):
        export_responses(one, tmp_path / "a.jsonl", requests=True)
        export_responses(other, tmp_path / "b.jsonl", requests=True)
    text = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.jsonl").read_text(encoding="utf-8")
    assert "Aussage 3 ü" in text
    keys = [json.loads(line)["key"] for line in text.splitlines()]
    assert keys == sorted(keys)
    assert len(keys) == 9


def test_an_export_can_be_imported_elsewhere(tmp_path):
    with fill(tmp_path / "a.sqlite") as one:
        assert export_responses(one, tmp_path / "a.jsonl") == 5
    with fill(tmp_path / "b.sqlite", [0, 77]) as other:
        assert import_responses(other, tmp_path / "a.jsonl") == (4, 1)
        assert other.get(request(4).key()).text == "yes 4"
        export_responses(other, tmp_path / "b.jsonl", keys=[request(n).key() for n in range(5)])
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_request_that_was_altered_is_not_imported(tmp_path):
    path = tmp_path / "a.jsonl"
    with fill(tmp_path / "a.sqlite") as store:
        export_responses(store, path, requests=True)
    path.write_text(path.read_text("utf-8").replace("Aussage 2", "Aussage 9"), "utf-8")
    with (
        ResponseStore(tmp_path / "b.sqlite") as other,
        pytest.raises(IntegrityError, match="is not the one that key"),
    ):
        import_responses(other, path)
    with ResponseStore(tmp_path / "b.sqlite") as other:
        assert len(other) == 0


def test_what_is_not_an_export_is_refused_with_its_line(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"key": "k"}\n')
    with (
        ResponseStore(tmp_path / "b.sqlite") as store,
        pytest.raises(RecordError, match="line 1"),
    ):
        import_responses(store, tmp_path / "x.jsonl")


def test_prune_deletes_what_fits_every_condition(tmp_path):
    with fill(tmp_path / "r.sqlite") as store:
        fill(tmp_path / "r.sqlite", range(3), model="old").close()
        later = datetime.now(UTC) + timedelta(days=1)
        kept = request(0, "old").key()
        assert prune_responses(store, model="old", keep=[kept], dry_run=True) == 2
        assert len(store) == 8
        assert prune_responses(store, model="old", keep=[kept], before=later) == 2
        assert prune_responses(store, before=later - timedelta(days=9)) == 0
        assert store.get(kept) is not None
        assert len(store) == 6
        with pytest.raises(InputError, match="which answers"):
            prune_responses(store)


def test_stats_count_by_model_and_stop_reason(tmp_path):
    with fill(tmp_path / "r.sqlite") as store:
        store.put(request(1, "n"), 2, Completion(text="", stop_reason="refusal"))
        stats = store_stats(store)
    assert stats.responses == 6
    assert stats.models == {"m": 5, "n": 1}
    assert stats.stop_reasons == {"end_turn": 5, "refusal": 1}
    assert stats.input_tokens == 35


@pytest.mark.parametrize(
    "junk", [b"not a database at all" * 50, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_that_is_no_store_is_named(tmp_path, junk):
    path = tmp_path / "r.sqlite"
    path.write_bytes(junk)
    with pytest.raises(IntegrityError, match=r"r\.sqlite") as caught:
        ResponseStore(path)
    assert caught.value.exit_code == 2
    assert path.read_bytes() == junk


def test_a_damaged_page_is_named(tmp_path):
    path = tmp_path / "r.sqlite"
    with fill(path, range(300)) as store:
        store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    for start in range(4096 * 2, len(data), 4096):
        data[start : start + 200] = b"\xee" * 200
    path.write_bytes(data)

    def read_all() -> None:
        with ResponseStore(path) as damaged:
            for number in range(300):
                damaged.get(request(number).key())
            store_stats(damaged)

    with pytest.raises(IntegrityError, match="damaged") as caught:
        read_all()
    assert "deepfact responses import" in str(caught.value)


def test_a_damaged_answer_is_named_by_its_key(tmp_path):
    path = tmp_path / "r.sqlite"
    fill(path).close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE responses SET completion = '{' WHERE key = ?", (request(2).key(),))
    database.close()
    with ResponseStore(path) as store:
        assert store.get(request(1).key()).text == "yes 1"
        with pytest.raises(IntegrityError, match=request(2).key()):
            store.get(request(2).key())


def test_another_programs_database_is_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    before = path.read_bytes()
    with pytest.raises(IntegrityError, match="something else"):
        ResponseStore(path)
    assert path.read_bytes() == before


def test_a_newer_store_is_refused(tmp_path):
    path = tmp_path / "r.sqlite"
    fill(path).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(NewerSchemaError, match="upgrade"):
        ResponseStore(path)


def test_a_missing_store_is_not_made_when_it_must_exist(tmp_path):
    with pytest.raises(InputError, match="no such response store"):
        ResponseStore(tmp_path / "no.sqlite", must_exist=True)
    assert not (tmp_path / "no.sqlite").exists()


def test_open_batches_are_remembered_until_closed(tmp_path):
    with ResponseStore(tmp_path / "r.sqlite") as store:
        store.record_batch("a", SubmittedBatch("b1", ("k1", "k2")))
        store.record_batch("other", SubmittedBatch("b2", ("k3",)))
    with ResponseStore(tmp_path / "r.sqlite") as store:
        assert store.open_batches("a") == [SubmittedBatch("b1", ("k1", "k2"))]
        store.close_batch("b1")
        assert store.open_batches("a") == []
        assert store.count_batches() == 1


def test_a_request_that_holds_a_key_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "planted-key-in-a-prompt")
    secret = Request(
        model="m", messages=(Message(role="user", content="use planted-key-in-a-prompt"),)
    )
    with ResponseStore(tmp_path / "r.sqlite") as store:
        store.put(secret, 0, Completion(text="ok"))
        assert store.get(secret.key()).text == "ok"
        export_responses(store, tmp_path / "x.jsonl", requests=True)
        for path in tmp_path.iterdir():
            assert b"planted-key" not in path.read_bytes()


def test_threads_may_open_and_fill_one_store_at_once(tmp_path):
    errors: list[Exception] = []

    def work(start: int) -> None:
        try:
            fill(tmp_path / "r.sqlite", range(start, start + 20)).close()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(10 * n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with ResponseStore(tmp_path / "r.sqlite") as store:
        assert len(store) == 70


# --- what goes wrong outside ---------------------------------------------------------------


def test_a_check_reads_pages_that_nobody_asked_for(tmp_path):
    path = tmp_path / "r.sqlite"
    with fill(path, range(60)) as store:
        store.check()
        store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[-4096:-3896] = b"\xee" * 200  # the last page
    path.write_bytes(data)
    with ResponseStore(path) as damaged:
        assert len(damaged) == 60
        with pytest.raises(IntegrityError, match=r"(?is)is damaged \(.*page") as caught:
            damaged.check()
    assert caught.value.where == str(path)


def test_a_full_disk_is_named_and_costs_only_what_was_being_written(tmp_path):
    with fill(tmp_path / "r.sqlite") as store:
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count = {pages}")
        several = [
            responses.StoredResponse(request(n).key(), 0, request(n), Completion(text="x" * 3000))
            for n in range(90, 99)
        ]
        with pytest.raises(InputError, match="disk is full"):
            store.put_many(several)
        assert len(store) == 5, "all of a transaction or none"
        store._writer.execute(f"PRAGMA max_page_count = {pages + 100}")
        store.put_many(several)
        assert len(store) == 14


def test_a_write_that_fails_is_rolled_back_and_the_store_goes_on(tmp_path):
    with fill(tmp_path / "r.sqlite") as store:

        def keys():
            yield request(0).key()
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt), store._write() as database:
            database.executemany("DELETE FROM responses WHERE key = ?", ((k,) for k in keys()))
        assert store.get(request(0).key()).text == "yes 0"
        store.put(request(9), 0, Completion(text="yes 9"))
        assert len(store) == 6


def test_another_process_that_keeps_writing_is_told(tmp_path, monkeypatch):
    path = tmp_path / "r.sqlite"
    monkeypatch.setattr(responses, "BUSY_SECONDS", 0.05)
    with fill(path) as store, fill(path) as other, other._write():
        assert store.get(request(1).key()).text == "yes 1", "reading waits for nobody"
        with pytest.raises(InputError, match=r"has been writing for 0\.05 seconds") as caught:
            store.put(request(9), 0, Completion(text="no"))
        assert "nothing was lost" in caught.value.fix


def test_a_place_where_no_file_can_be_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cannot be used: .*exists"):
        ResponseStore(tmp_path / "file" / "r.sqlite")
    with pytest.raises(InputError, match="cannot be used: unable to open"):
        ResponseStore(tmp_path)


def test_an_answer_of_a_newer_schema_is_not_called_damage(tmp_path):
    path = tmp_path / "r.sqlite"
    fill(path).close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE responses SET completion = '{\"schema_version\": 99}'")
    database.close()
    with ResponseStore(path) as store, pytest.raises(NewerSchemaError, match="99 is newer"):
        store.get(request(2).key())


@pytest.fixture
def holder(tmp_path):
    """Another process about to make the store: SQLite does not wait for it on its own."""
    database = sqlite3.connect(tmp_path / "r.sqlite", isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    yield database
    database.close()


def test_a_store_that_another_process_is_making_is_waited_for(tmp_path, holder, monkeypatch):
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            holder.execute("ROLLBACK")

    monkeypatch.setattr(responses.time, "sleep", wait)
    fill(tmp_path / "r.sqlite").close()
    assert len(waits) == 2


def test_a_store_that_is_never_let_go_is_told(tmp_path, holder, monkeypatch):
    monkeypatch.setattr(responses, "BUSY_SECONDS", 0.05)
    with pytest.raises(InputError, match="another process has been writing"):
        ResponseStore(tmp_path / "r.sqlite")
    holder.execute("ROLLBACK")
    fill(tmp_path / "r.sqlite").close()
