"""Bring your own verifier: any program that reads claims and writes verdicts as JSON Lines.

The program gets one JSON object a line on standard input (claim and the text of the sources
it cites) and writes one verdict a line on standard output, in any order, matched by
``claim_id``. What it writes on standard error is shown when a claim is left without an
answer. The program is run as it is given, without a shell; deepfact sends it no labels.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from queue import Empty, Queue
from typing import IO, Annotated

from pydantic import Field, TypeAdapter, ValidationError

from deepfact.errors import ConfigError
from deepfact.records import (
    Claim,
    FailureReason,
    Outcome,
    VerificationFailure,
    canonical_json,
)
from deepfact.store.files import explain
from deepfact.verifiers.base import Context

_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)
_TAIL = 2000
"""Characters of standard error that are shown."""


class CommandVerifier:
    """Runs a program once and lets it answer all claims."""

    def __init__(
        self,
        command: Annotated[list[str], Field(min_length=1)],
        timeout: Annotated[float, Field(gt=0)] = 600.0,
    ) -> None:
        """
        Args:
            command: program and arguments.
            timeout: seconds that the program may take in all; then it is ended, and claims
                without an answer fail with the reason ``timeout``.
        """
        self.command, self.timeout = command, timeout

    def verify(self, claim: Claim, context: Context) -> Outcome:
        """The answer to one claim; starts the program for it."""
        return next(self.verify_all([claim], context))

    def verify_all(self, claims: Sequence[Claim], context: Context) -> Iterator[Outcome]:
        """The answers to many claims, in the order in which the program gives them; a failure
        for each claim that it leaves out.

        Raises:
            ConfigError: the program cannot be started.
        """
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(  # noqa: S603 - the user's own program, no shell
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env={**os.environ, "PYTHONIOENCODING": "utf-8"},
                )
            except OSError as error:
                raise ConfigError(
                    f"the program cannot be started: {error.strerror}", where=self.command[0]
                ) from None
            with process:
                try:
                    yield from self._exchange(process, claims, context, errors)
                finally:
                    process.kill()

    def _exchange(
        self,
        process: subprocess.Popen[bytes],
        claims: Sequence[Claim],
        context: Context,
        errors: IO[bytes],
    ) -> Iterator[Outcome]:
        assert process.stdin and process.stdout  # noqa: S101 - both are pipes
        lines: Queue[bytes | None] = Queue()
        for work in (
            lambda: _send(process.stdin, claims, context),
            lambda: _receive(process.stdout, lines),
        ):
            threading.Thread(target=work, daemon=True).start()
        left = {claim.id: claim for claim in claims}
        deadline = time.monotonic() + self.timeout
        timed_out = False
        unread = ""
        while left:
            try:
                line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                timed_out = True
                process.kill()
                break
            if line is None:
                break
            outcome = _parse(line)
            if isinstance(outcome, str):
                unread = outcome
            elif left.pop(outcome.claim_id, None):
                yield outcome
        if not left:
            return
        if not timed_out:
            process.wait()
        why = self._why(process, timed_out, unread, errors)
        reason = FailureReason.TIMEOUT if timed_out else FailureReason.NO_ANSWER
        for claim_id in left:
            yield VerificationFailure(claim_id=claim_id, reason=reason, detail=why)

    def _why(
        self, process: subprocess.Popen[bytes], timed_out: bool, unread: str, errors: IO[bytes]
    ) -> str:
        """What is known about a program that left claims without an answer."""
        if timed_out:
            parts = [f"no answer within {self.timeout:g} s"]
        else:
            parts = [f"the program ended with code {process.returncode} without an answer"]
        if unread:
            parts.append(f"a line it wrote could not be read: {unread}")
        errors.seek(0)
        if said := errors.read().decode("utf-8", errors="replace").strip():
            parts.append(f"its errors end with: {said[-_TAIL:]}")
        return "; ".join(parts)


def _send(pipe: IO[bytes] | None, claims: Sequence[Claim], context: Context) -> None:
    assert pipe  # noqa: S101
    try:
        with pipe:
            for claim in claims:
                pipe.write(question(claim, context).encode("utf-8") + b"\n")
                pipe.flush()
    except OSError:
        return  # the program has ended; its missing answers tell


def _receive(pipe: IO[bytes] | None, lines: Queue[bytes | None]) -> None:
    assert pipe  # noqa: S101
    for line in pipe:
        if line.strip():
            lines.put(line)
    lines.put(None)


def question(claim: Claim, context: Context) -> str:
    """What a program is told of a claim: one line of JSON with ``claim_id``, ``claim``,
    ``context`` and ``sources``, the cited ones, each with ``id``, ``title``, ``url``, ``text``."""
    return canonical_json(
        {
            "claim_id": claim.id,
            "claim": claim.text,
            "context": claim.context,
            "sources": [
                {"id": source.id, "title": source.title, "url": source.url, "text": source.text}
                for source in context.cited(claim)
            ],
        }
    )


def _parse(line: bytes) -> Outcome | str:
    """The outcome that a line holds (a verdict, unless it says otherwise), or what is wrong."""
    try:
        data = json.loads(line)
        if isinstance(data, dict):
            data.setdefault("kind", "failure" if "reason" in data else "verdict")
        return _OUTCOME.validate_python(data)
    except ValidationError as error:
        return explain(error)
    except ValueError as error:
        return f"not JSON: {error}"
