"""Bring your own verifier: any program that reads claims and writes verdicts as JSON Lines.

The program gets one JSON object a line on standard input (claim and the text of the sources
it cites) and writes one verdict a line on standard output, in any order, matched by
``claim_id``. What it writes on standard error is shown when a claim is left without an
answer. The program is run as it is given, without a shell; deepfact sends it no labels.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, Queue
from typing import IO, Annotated

from pydantic import Field, TypeAdapter, ValidationError

from deepfact.errors import ConfigError, DeepFactError
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

        Raises:
            ConfigError: there is no such program.
        """
        self.command, self.timeout = command, timeout
        if shutil.which(command[0]) is None:
            raise ConfigError(
                "the program cannot be started: there is none of this name",
                where=command[0],
                fix="give its path, or a name that is on PATH",
            )

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
                    start_new_session=True,  # so that it can be ended with all that it starts
                )
            except OSError as error:
                raise ConfigError(
                    f"the program cannot be started: {error.strerror}", where=self.command[0]
                ) from None
            with process:
                yield from self._exchange(process, claims, context, errors)

    def _exchange(
        self,
        process: subprocess.Popen[bytes],
        claims: Sequence[Claim],
        context: Context,
        errors: IO[bytes],
    ) -> Iterator[Outcome]:
        assert process.stdin and process.stdout  # noqa: S101 - both are pipes
        lines: Queue[bytes | None] = Queue()
        unsent: list[DeepFactError] = []
        threads = [
            threading.Thread(target=_send, args=(process.stdin, claims, context, unsent)),
            threading.Thread(target=_receive, args=(process.stdout, lines)),
        ]
        for thread in threads:
            thread.start()
        try:
            yield from self._answers(process, claims, lines, errors)
        finally:
            _end(process)
            for thread in threads:  # the pipes are theirs until they are done
                thread.join()
        if unsent:
            raise unsent[0]

    def _answers(
        self,
        process: subprocess.Popen[bytes],
        claims: Sequence[Claim],
        lines: Queue[bytes | None],
        errors: IO[bytes],
    ) -> Iterator[Outcome]:
        """What the program says, matched by id; then a failure for each claim left."""
        left = {claim.id: claim for claim in claims}
        deadline = time.monotonic() + self.timeout
        timed_out = False
        unread = ""
        try:
            while left:
                line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
                if line is None:
                    process.wait(timeout=max(0.0, deadline - time.monotonic()))
                    break
                outcome = _parse(line)
                if isinstance(outcome, str):
                    unread = outcome
                elif left.pop(outcome.claim_id, None):
                    yield outcome
        except (Empty, subprocess.TimeoutExpired):
            timed_out = True
        if not left:
            return
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


def _send(
    pipe: IO[bytes], claims: Sequence[Claim], context: Context, unsent: list[DeepFactError]
) -> None:
    try:
        with pipe:
            for claim in claims:
                pipe.write(question(claim, context).encode("utf-8") + b"\n")
                pipe.flush()
    except OSError:
        return  # the program has ended; its missing answers tell
    except DeepFactError as error:  # such as a source that does not match its hash
        unsent.append(error)


def _receive(pipe: IO[bytes], lines: Queue[bytes | None]) -> None:
    for line in pipe:
        if line.strip():
            lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and what it has started: a child that outlives it would hold its pipes."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


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
        return _OUTCOME.validate_json(json.dumps(data))  # half a character is no text in JSON
    except ValidationError as error:
        return explain(error)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
