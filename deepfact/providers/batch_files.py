"""Provider ``batch-files``: requests out as a file, results in as a file, whoever answers.

``requests.jsonl`` is in the Message Batches format (``custom_id`` and ``params``), sorted by
id. Whoever can answer (an air-gapped engine, a batch job, a person) puts ``results.jsonl``
beside it, in the format of that API's results, in any order and as far as it got; further
files may be called ``results-*.jsonl``. What is not answered yet stays pending, and the next
run takes what is there. No network here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deepfact.errors import InputError
from deepfact.model_records import Completion, Request
from deepfact.providers.base import AnswerPending, BatchLedger
from deepfact.providers.messages import batch_answer, batch_entry, custom_id
from deepfact.records import canonical_json
from deepfact.store.files import jsonl, read_lines, write_text

REQUESTS = "requests.jsonl"
RESULTS = "results*.jsonl"


class BatchFilesProvider:
    """Writes requests to a folder and reads results from it.

    Args:
        folder: where the files are; made when something is written.
        resubmit: ask again for what a result says errored or expired. A succeeded result
            always wins over such a one.
        cache, structured, extra_body: as of the ``anthropic`` provider.
    """

    price_provider = "anthropic"
    telemetry_name = "anthropic"

    def __init__(
        self,
        folder: Path,
        resubmit: bool = False,
        cache: bool = False,
        structured: bool = True,
        extra_body: dict[str, Any] | None = None,
    ) -> None:
        self._folder, self._resubmit = folder, resubmit
        self._options: dict[str, Any] = {
            "cache": cache,
            "structured": structured,
            "extra": extra_body,
        }
        self._results: dict[str, dict[str, Any]] | None = None
        self._wanted: dict[str, str] = {}

    def attach(self, ledger: BatchLedger) -> None:
        """Nothing to keep: the files are the ledger."""

    async def answer(self, request: Request, vote: int) -> Completion:
        """As `deepfact.providers.base.DeferredProvider`.

        Raises:
            InputError: a file of results cannot be read.
        """
        key = request.key(vote)
        if self._results is None:
            self._results = self._read_results()
        result = self._results.get(custom_id(key))
        failed = result is not None and result.get("type") != "succeeded"
        if result is None or (failed and self._resubmit):
            self._wanted[custom_id(key)] = canonical_json(
                batch_entry(request, key, **self._options)
            )
            raise AnswerPending(key, f"no result yet in {self._folder / RESULTS}")
        return batch_answer(result)

    async def aclose(self) -> None:
        """Write what is wanted; when nothing is, take the file of an earlier run away."""
        path = self._folder / REQUESTS
        if self._wanted:
            write_text(path, jsonl(line for _, line in sorted(self._wanted.items())))
        elif self._results is not None:
            path.unlink(missing_ok=True)

    def _read_results(self) -> dict[str, dict[str, Any]]:
        """Results by custom id; of several for one id, the first that succeeded."""
        results: dict[str, dict[str, Any]] = {}
        for path in sorted(self._folder.glob(RESULTS)):
            for number, line in read_lines(path):
                name, result = _result(line, where=f"{path}, line {number}")
                known = results.get(name)
                if known is None or (
                    known.get("type") != "succeeded" and result.get("type") == "succeeded"
                ):
                    results[name] = result
        return results


def _result(line: str, *, where: str) -> tuple[str, dict[str, Any]]:
    """One line of results as its id and what it says."""
    try:
        entry = json.loads(line)
        name, result = entry["custom_id"], entry["result"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name, result = None, None
    if not isinstance(name, str) or not isinstance(result, dict):
        raise InputError(
            "this line is not a result of a batch",
            where=where,
            fix='each line is {"custom_id": ..., "result": {"type": "succeeded", "message": '
            "{...}}}; delete the line if it was cut off, and its request stays pending",
        )
    return name, result
