"""Batch files: pending until answered, in any order, as far as the answers go."""

from __future__ import annotations

import asyncio
import json
import random
import re

import pytest
from messages_server import MessagesServer

from deepfact.errors import InputError, RunIncomplete
from deepfact.executors.engine import Engine
from deepfact.model_records import Completion, Message, Request
from deepfact.providers.base import AnswerPending, CallFailed
from deepfact.providers.registry import ProviderSpec, build_provider
from deepfact.records import FailureReason


def request(number: int) -> Request:
    return Request(
        model="m",
        system="judge",
        messages=(Message(role="user", content=f"claim {number}"),),
        output_schema={"type": "object"},
    )


def run(folder, store, numbers, votes=(0,), **options):
    """One run of a panel; its answers and its engine."""
    spec = ProviderSpec(kind="batch-files", options={"folder": str(folder), **options})
    engine = Engine(build_provider(spec), store)

    async def ask():
        async with engine:
            asks = [engine.ask(request(number), vote) for number in numbers for vote in votes]
            return await asyncio.gather(*asks, return_exceptions=True)

    return asyncio.run(ask()), engine


def wanted(folder):
    return [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]


def succeeded(entry):
    message = MessagesServer().message(entry["params"])
    return {"custom_id": entry["custom_id"], "result": {"type": "succeeded", "message": message}}


def write(folder, results, name="results.jsonl"):
    (folder / name).write_text("".join(json.dumps(one) + "\n" for one in results))


def test_a_run_is_pending_until_the_answers_come(tmp_path, store):
    answers, engine = run(tmp_path, store, range(4), votes=(0, 1))
    assert [type(answer) for answer in answers] == [AnswerPending] * 8
    with pytest.raises(RunIncomplete, match="8 answers are pending") as caught:
        engine.raise_if_incomplete()
    assert caught.value.exit_code == 3
    entries = wanted(tmp_path)
    assert len({entry["custom_id"] for entry in entries}) == 8
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", entry["custom_id"]) for entry in entries)
    assert entries[0]["params"]["model"] == "m"
    assert entries[0]["params"]["output_config"]["format"]["type"] == "json_schema"

    # Half of the answers, in another order; then the rest in a second file.
    random.Random(1).shuffle(entries)
    write(tmp_path, map(succeeded, entries[:4]))
    answers, engine = run(tmp_path, store, range(4), votes=(0, 1))
    assert sum(isinstance(answer, Completion) for answer in answers) == 4
    assert len(engine.pending) == 4
    left = {entry["custom_id"] for entry in wanted(tmp_path)}
    assert left == {entry["custom_id"] for entry in entries[4:]}

    write(tmp_path, map(succeeded, entries[4:]), "results-2.jsonl")
    answers, engine = run(tmp_path, store, range(4), votes=(0, 1))
    assert all(isinstance(answer, Completion) for answer in answers)
    engine.raise_if_incomplete()
    assert not (tmp_path / "requests.jsonl").exists()


def test_answers_once_taken_need_no_file(tmp_path, store):
    run(tmp_path, store, range(2))
    write(tmp_path, map(succeeded, wanted(tmp_path)))
    first, _ = run(tmp_path, store, range(2))
    (tmp_path / "results.jsonl").unlink()
    again, engine = run(tmp_path, store, range(2))
    assert again == first
    assert engine.usage.reused == 2


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"type": "expired"}, FailureReason.EXPIRED),
        ({"type": "canceled"}, FailureReason.EXPIRED),
        ({"type": "errored", "error": {"error": {"message": "why"}}}, FailureReason.ERROR),
        ({"type": "succeeded"}, FailureReason.UNREADABLE),
        ({"type": "succeeded", "message": {"type": "message"}}, FailureReason.UNREADABLE),
        ({"type": "unheard of"}, FailureReason.UNREADABLE),
    ],
)
def test_a_failed_result_abstains_and_can_be_resubmitted(tmp_path, store, result, reason):
    run(tmp_path, store, [1])
    (entry,) = wanted(tmp_path)
    write(tmp_path, [{"custom_id": entry["custom_id"], "result": result}])
    (answer,), _ = run(tmp_path, store, [1])
    assert isinstance(answer, CallFailed)
    assert answer.reason is reason
    if result["type"] != "succeeded":
        (answer,), _ = run(tmp_path, store, [1], resubmit=True)
        assert isinstance(answer, AnswerPending)
        assert wanted(tmp_path) == [entry]
        write(tmp_path, [succeeded(entry)], "results-2.jsonl")
        (answer,), _ = run(tmp_path, store, [1], resubmit=True)
        assert isinstance(answer, Completion)


def test_results_for_others_and_duplicates_do_no_harm(tmp_path, store):
    run(tmp_path, store, [1])
    (entry,) = wanted(tmp_path)
    second = succeeded(entry)
    second["result"]["message"]["content"][0]["text"] = "a second opinion"
    write(tmp_path, [succeeded({**entry, "custom_id": "stranger"}), succeeded(entry), second])
    (answer,), _ = run(tmp_path, store, [1])
    assert answer.text == '{"label": "supported"}'
    assert len(store) == 1


@pytest.mark.parametrize("line", ['{"custom_id": "x", "result"', "[]", '{"custom_id": "x"}'])
def test_a_broken_line_is_named(tmp_path, store, line):
    (tmp_path / "results.jsonl").write_text('{"custom_id": "a", "result": {}}\n' + line + "\n")
    (answer,), _ = run(tmp_path, store, [1])
    assert isinstance(answer, InputError)
    assert answer.exit_code == 2
    assert "line 2" in str(answer)
