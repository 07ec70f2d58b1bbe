"""Log lines: JSON that a program reads, words that a person reads, no key and no text in either."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact import telemetry
from deepfact.errors import InputError, RunIncomplete
from deepfact.telemetry import Level
from deepfact.telemetry.logs import LogListener, to_json, to_words

FAILED: dict[str, Any] = {
    "reason": "rate_limited",
    "status": 429,
    "attempt": 2,
    "of": 5,
    "wait": 0.5,
}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def a_run(**fields: Any) -> None:
    with telemetry.scope("run", "demo"), telemetry.scope("arm", "split"):
        with telemetry.scope("claim", "c1"):
            telemetry.event("call_failed", Level.WARNING, **{**FAILED, "model": "m", **fields})
        telemetry.event("claim_done", Level.DEBUG, claim="c1", outcome="verdict")


def test_each_event_is_one_json_object_with_where_it_happened(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    to_json(str(tmp_path / "deep" / "run.log"), Level.DEBUG)
    telemetry.listen(LogListener())
    a_run()
    telemetry.close()
    found = lines(tmp_path / "deep" / "run.log")
    assert [(one["level"], one["event"], one["run"]) for one in found] == [
        ("info", "run_started", "demo"),
        ("info", "arm_started", "demo"),
        ("warning", "call_failed", "demo"),
        ("debug", "claim_done", "demo"),
        ("info", "arm_ended", "demo"),
        ("info", "run_ended", "demo"),
    ]
    failed = found[2]
    assert {name: failed[name] for name in FAILED} == FAILED
    assert (failed["arm"], failed["claim"], failed["model"]) == ("split", "c1", "m")
    at = datetime.fromisoformat(failed["time"])
    assert failed["time"].endswith("Z") and 0 <= (at - before).total_seconds() + 0.001 < 60


def test_the_level_says_what_is_left_out(tmp_path: Path) -> None:
    to_json(str(tmp_path / "run.log"), Level.WARNING)
    telemetry.listen(LogListener())
    a_run()
    telemetry.close()
    assert [one["event"] for one in lines(tmp_path / "run.log")] == ["call_failed"]


def test_a_log_is_added_to(tmp_path: Path) -> None:
    for _ in range(2):
        to_json(str(tmp_path / "run.log"), Level.WARNING)
        telemetry.listen(LogListener())
        a_run()
        telemetry.close()
    assert len(lines(tmp_path / "run.log")) == 2


def test_details_only_when_asked_for_and_never_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-5b1c0e9d7a")
    detail = "Über 'The mill was built in 1898.': you sent planted-key-5b1c0e9d7a"
    for name, details in (("without", False), ("with", True)):
        to_json(str(tmp_path / name), Level.DEBUG)
        telemetry.listen(LogListener(details=details))
        a_run(detail=detail, model="sk-abcdefghijklmnopqrstuvwx")
        telemetry.close()
    text = {name: (tmp_path / name).read_text(encoding="utf-8") for name in ("without", "with")}
    assert "mill" not in text["without"]
    assert "Über 'The mill was built in 1898.': you sent [secret]" in text["with"]
    for one in text.values():
        assert "planted-key" not in one and "sk-abc" not in one


def test_how_a_run_broke_off_is_said_with_its_class_alone(tmp_path: Path) -> None:
    to_json(str(tmp_path / "run.log"), Level.INFO)
    telemetry.listen(LogListener())
    with pytest.raises(RunIncomplete), telemetry.scope("run", "demo"):
        raise RunIncomplete("the claim 'The mill was built in 1898.' waits")
    telemetry.close()
    ended = lines(tmp_path / "run.log")[-1]
    assert (ended["event"], ended["level"], ended["error"]) == (
        "run_ended",
        "error",
        "RunIncomplete",
    )
    assert "mill" not in json.dumps(ended) and ended["seconds"] >= 0


def test_words_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    to_words(Level.WARNING)
    telemetry.listen(LogListener(details=True))
    a_run()
    a_run(wait=None, status=None, reason="timeout", attempt=5, detail="no\nanswer\x1b[2J")
    with telemetry.scope("claim", "c2"):
        telemetry.event("call_failed", Level.WARNING, reason="refused", answered=True)
    telemetry.event("call_failed", Level.WARNING, reason="error", attempt=1)
    telemetry.event("listener_dropped", Level.ERROR, listener="X", nothing=None)
    assert capsys.readouterr().err.splitlines() == [
        "warning: call failed: rate_limited (HTTP 429), attempt 2 of 5, again in 0.5 s "
        "(arm split, claim c1, model m)",
        "warning: call failed: timeout, attempt 5 of 5, given up (arm split, claim c1, model m): "
        "no\ufffdanswer\ufffd[2J",
        "warning: call failed: refused, the answer is of no use (claim c2)",
        "warning: call failed: error, attempt 1, given up",
        "error: listener dropped: listener X",
    ]


def test_without_anybody_asking_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    a_run()
    assert capsys.readouterr() == ("", "")


def test_a_log_that_cannot_be_written_is_wrong_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for target in (tmp_path, tmp_path / "file" / "run.log"):
        with pytest.raises(InputError, match="the log cannot be written") as error:
            to_json(str(target), Level.INFO)
        assert str(target) in error.value.where


class Full:
    """A file on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    close = flush = lambda self: None


def test_a_full_disk_is_said_once_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to_json(str(tmp_path / "run.log"), Level.DEBUG)
    (handler,) = logging.getLogger("deepfact").handlers
    handler._file.close()  # type: ignore[attr-defined]
    handler._stream = Full  # type: ignore[attr-defined]
    telemetry.listen(LogListener())
    a_run()
    telemetry.close()
    assert capsys.readouterr().err.count("the run goes on without it") == 1


def test_a_program_may_use_its_own_logging(caplog: pytest.LogCaptureFixture) -> None:
    telemetry.listen(LogListener())
    with caplog.at_level(logging.DEBUG, logger="deepfact"):
        a_run()
    assert "call_failed" in caplog.messages
    (record,) = [one for one in caplog.records if one.getMessage() == "call_failed"]
    assert record.deepfact_fields["claim"] == "c1"  # type: ignore[attr-defined]
