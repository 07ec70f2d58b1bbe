"""One local model behind HTTP on loopback, in a process of its own.

    with LocalServer(Path("model.gguf")) as server:
        server.url      # http://127.0.0.1:PORT, speaks /v1/messages and /v1/chat/completions

The model runs in llama.cpp (`xllamacpp`), in a child process: ``python -m
deepfact.models.server``. A crash there cannot take the caller down; when the caller goes
away, however it goes, the child's standard input ends and the child stops. Nothing that the
native code prints can reach the caller's standard output.

Answers depend on the request alone: one request at a time, and no prompt cache, because a
cached prefix is computed in other batch sizes than a fresh one and the last bits, hence a
near tie between two tokens, may then fall either way. This module listens on loopback only,
downloads nothing, and knows no folder of models.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from deepfact.errors import DeepFactError, InputError, MissingExtraError

DEFAULT_CONTEXT = 4096
"""Tokens that prompt and answer may have together."""

_LOG_TAIL = 12  # lines shown when the server fails
_STOP_SECONDS = 10.0
_CONTEXT_LIMIT = 1_048_576
_WARNINGS_AND_ERRORS = 2  # llama.cpp's verbosity levels: 1 errors, 2 warnings, 3 information


class LocalServer:
    """A local model, served from entering the ``with`` block to leaving it."""

    def __init__(
        self,
        model: Path,
        *,
        name: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
        context: int = DEFAULT_CONTEXT,
        threads: int | None = None,
        start_timeout: float = 120.0,
    ) -> None:
        """Check the arguments; nothing is started yet.

        Args:
            model: the GGUF file.
            name: the model's name in answers; by default the file's name without ending.
            host: a loopback address.
            port: 0 takes a free one.
            context: tokens that prompt and answer may have together.
            threads: threads of computation; by default what llama.cpp chooses.
            start_timeout: seconds that loading may take.

        Raises:
            InputError: a host that is not loopback, or a number out of its range.
            MissingExtraError: `xllamacpp` is not installed.
        """
        self.host = loopback(host)
        for what, value, least, most in (
            ("port", port, 0, 65535),
            ("context", context, 64, _CONTEXT_LIMIT),
            ("threads", threads if threads is not None else 1, 1, 1024),
        ):
            if not least <= value <= most:
                raise InputError(f"{what} {value} is not between {least} and {most}")
        if find_spec("xllamacpp") is None:
            raise MissingExtraError("serving a local model needs xllamacpp", extra="local-llm")
        self.model, self.name = model, name or model.stem
        self.port, self.context, self.threads = port, context, threads
        self.start_timeout = start_timeout
        self.url = ""
        """Base URL without a final slash, once started."""
        self._process: subprocess.Popen[bytes] | None = None
        self._log: BinaryIO | None = None

    def __enter__(self) -> Self:
        """Start the server and wait until it answers.

        Raises:
            InputError: no such file, the port is taken, or the model does not load; with the
                last lines of the server's log.
            DeepFactError: it did not get ready in time.
        """
        if not self.model.is_file():
            raise InputError("no such file", where=str(self.model))
        self._refuse_taken_port()
        self._log = tempfile.TemporaryFile(prefix="deepfact-model-", suffix=".log")
        try:
            self._start()
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """Process id of the server; None when it was not started."""
        return self._process.pid if self._process else None

    def wait(self) -> None:
        """Block for as long as the server runs.

        Raises:
            DeepFactError: the server ended by itself; with the last lines of its log.
        """
        if self._process is not None:
            # In short waits, because a long one cannot be interrupted on Windows.
            while self._process.poll() is None:
                time.sleep(0.2)
            raise DeepFactError(f"the local model server stopped by itself{self._log_tail()}")

    def stop(self) -> None:
        """End the server: politely, then not. Doing it twice is harmless."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            if not self.url:  # still loading: it would notice only when it is done
                process.kill()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()  # type: ignore[union-attr]
            self.url = ""
        if self._log is not None:
            self._log.close()
            self._log = None

    # --- starting --------------------------------------------------------------------------

    def _refuse_taken_port(self) -> None:
        """A clear word before a model is loaded in vain; the server checks again."""
        if self.port == 0:
            return
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if os.name == "posix":  # a port that was just left is free; elsewhere it is by default
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                raise InputError(
                    f"port {self.port} of {self.host} cannot be used: {error.strerror}",
                    fix="choose another with --port, or --port 0 for any free one",
                ) from None

    def _start(self) -> None:
        options = {
            "--model": str(self.model.absolute()), "--name": self.name, "--host": self.host,
            "--port": str(self.port), "--context": str(self.context),
            "--threads": str(self.threads or 0),
        }  # fmt: skip
        # -P: a module that happens to lie in the current folder is never run.
        command = [sys.executable, "-P", "-m", "deepfact.models.server"]
        self._process = subprocess.Popen(  # noqa: S603
            [*command, *(word for pair in options.items() for word in pair)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONUTF8": "1"},
        )

    def _wait_until_ready(self) -> None:
        process = self._process
        assert process is not None and process.stdout is not None  # noqa: S101
        said: queue.Queue[bytes] = queue.Queue()
        pipe = process.stdout
        threading.Thread(target=lambda: said.put(pipe.readline()), daemon=True).start()
        deadline = time.monotonic() + self.start_timeout
        try:
            line = said.get(timeout=self.start_timeout)
        except queue.Empty:
            raise self._too_slow() from None
        if not line:
            raise InputError(
                f"the model could not be served{self._log_tail()}",
                where=str(self.model),
                fix="is it a whole GGUF file of a kind that this llama.cpp knows, "
                "and is there memory enough for it?",
            )
        self.url = json.loads(line)["url"]
        while not self._healthy():
            if time.monotonic() > deadline:
                raise self._too_slow()
            if process.poll() is not None:
                raise DeepFactError(f"the local model server stopped by itself{self._log_tail()}")
            time.sleep(0.05)

    def _too_slow(self) -> DeepFactError:
        return DeepFactError(
            f"the model was not ready after {self.start_timeout:g} seconds{self._log_tail()}",
            where=str(self.model),
            fix="try a smaller model or a smaller --context",
        )

    def _healthy(self) -> bool:
        # Not urllib or httpx: a proxy set in the environment must not be asked for loopback.
        connection = HTTPConnection(self.host, int(self.url.rsplit(":", 1)[1]), timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    def _log_tail(self) -> str:
        if self._log is None:
            return ""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)  # so that its last words are in the log
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", errors="replace").splitlines()[-_LOG_TAIL:]
        return "".join(f"\n  | {line}" for line in lines)


def loopback(host: str) -> str:
    """The address of this machine that ``host`` means.

    Raises:
        InputError: another machine could reach it there.
    """
    if host.lower() == "localhost":
        return "127.0.0.1"
    try:
        if ipaddress.ip_address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise InputError(
        f"host {host!r} is not loopback; the server has no passwords, so it serves this machine",
        fix="use --host 127.0.0.1, and a tunnel of your own to reach it from elsewhere",
    )


# --- the child process -------------------------------------------------------------------


def serve_here(argv: list[str]) -> int:
    """Load and serve a model in this process until standard input ends. Exit code."""
    parser = argparse.ArgumentParser(prog="python -m deepfact.models.server")
    for option in ("--model", "--name", "--host"):
        parser.add_argument(option, required=True)
    for option in ("--port", "--context", "--threads"):
        parser.add_argument(option, type=int, required=True)
    options = parser.parse_args(argv)
    # Ctrl-C reaches the whole process group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer = os.dup(1)
    os.dup2(2, 1)  # whatever native code prints to standard output is log
    try:
        server = _native_server(options)
    except RuntimeError as error:  # it has told the log why
        sys.stderr.write(f"{error}\n")
        return 2
    os.write(answer, json.dumps({"url": server.listening_address}).encode() + b"\n")  # type: ignore[attr-defined]
    os.close(answer)
    while os.read(0, 4096):
        pass
    del server
    return 0


def _native_server(options: argparse.Namespace) -> object:
    """The running llama.cpp server, listening.

    Raises:
        RuntimeError: it did not load or could not listen.
    """
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = options.model
    parameters.model_alias = {options.name}  # else answers carry the file's path
    parameters.offline = True
    parameters.hostnames = [loopback(options.host)]
    parameters.port = options.port
    parameters.n_ctx = options.context
    if options.threads:
        parameters.cpuparams.n_threads = options.threads
        parameters.cpuparams_batch.n_threads = options.threads
    # The answer to a request must not depend on the requests before or beside it.
    parameters.cache_prompt = False
    parameters.cache_ram_mib = 0
    parameters.cache_idle_slots = False
    parameters.n_parallel = 1
    # No pages of other sites, no user interface, nothing that shows other requests.
    parameters.cors_origins = "localhost"
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.verbosity = _WARNINGS_AND_ERRORS
    return xllamacpp.Server(parameters)


if __name__ == "__main__":
    sys.exit(serve_here(sys.argv[1:]))
