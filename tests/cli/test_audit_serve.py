"""`deepfact audit serve`: where it listens, over what, and what it says about links."""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from deepfact.errors import InputError
from deepfact.round import run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, VerifierSpec
from deepfact.web.guard import host_name
from deepfact.web.serve import Place, address, check_place, hosts_of, is_loopback, link

RUN = Path("run")
Command = Callable[..., subprocess.CompletedProcess[str]]


def begin(*names: str, kind: str = "human") -> None:
    spec = RoundSpec(
        name="trial", benchmark="small@1", challenger=VerifierSpec(kind="quoting"), auditors=names,
        commit_to="run", date=datetime(2026, 1, 5, tzinfo=UTC),
    )  # fmt: skip
    run_rounds(spec, RUN, auditors=tuple(AuditorSpec(name=name, kind=kind) for name in names))


class Served:
    """The command as a process, up to the line that says it is ready."""

    def __init__(self, command: str, *words: str) -> None:
        self.process = subprocess.Popen(
            [command, "audit", "serve", "run", "--port", "0", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=dict(os.environ),
        )  # fmt: skip
        self.said = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if line.startswith("ready"):
                break
        self.links = dict(
            line.strip().split(": ", 1) for line in self.said.splitlines() if "/enter/" in line
        )

    def stop(self) -> str:
        """Stops it as Ctrl+C does; what it said on standard error."""
        import signal

        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=30)
        return said


def test_links_are_shown_once_and_survive_a_restart(desk: Path, deepfact_command: str) -> None:
    begin("ada", "ben")
    served = Served(deepfact_command)
    assert set(served.links) == {"ada", "ben"}
    with httpx.Client() as http:
        assert "Welcome" in http.get(served.links["ada"]).text
        assert http.get(served.links["ada"] + "x").status_code == 403
        assert "wait for you" in http.get(served.links["ada"].partition("/enter")[0] + "/").text
    said = served.stop()
    assert served.process.returncode == 0 and "deepfact round resume run" in said
    assert "ada signed in" in said and "/enter/" not in said
    assert "Traceback" not in said
    again = Served(deepfact_command)
    assert again.links == {} and "has a link already" in again.said
    again.stop()
    anew = Served(deepfact_command, "--new-links")
    assert set(anew.links) == {"ada", "ben"}
    anew.stop()


def test_it_is_served_over_tls(desk: Path, deepfact_command: str) -> None:
    begin("ada")
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem",
         "-out", "cert.pem"],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl cannot make a certificate here")
    served = Served(
        deepfact_command, "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--name", "localhost"
    )
    assert served.links["ada"].startswith("https://localhost:")
    with httpx.Client(verify=ssl.create_default_context(cafile="cert.pem")) as http:
        answer = http.get(served.links["ada"])
        origin = served.links["ada"].partition("/enter")[0]
        case = http.get(f"{origin}/next", follow_redirects=True)
        form = dict(re.findall(r'hidden" name="(token|steps)" value="([^"]*)"', case.text))
        kept = http.post(
            f"{case.url}/decide", headers={"origin": origin},
            data={**form, "decision": "a", "rationale": "over TLS"},
        )  # fmt: skip
    assert kept.status_code == 303 and "over TLS" in (RUN / "journal.jsonl").read_text("utf-8")
    assert answer.status_code == 200 and "secure" in answer.headers["set-cookie"].lower()
    served.stop()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--host", "0.0.0.0"], "in the clear"),
        (["--host", "192.0.2.7"], "in the clear"),
        (["--tls-cert", "spec.json"], "go together"),
        (["--tls-cert", "none.pem", "--tls-key", "none.pem"], "no such file"),
        (["--tls-cert", "bad.pem", "--tls-key", "bad.pem"], "cannot be used"),
        (["--host", "192.0.2.7", "--insecure"], "cannot listen"),
    ],
)
def test_what_cannot_be_served_is_said_without_a_traceback(
    desk: Path, deepfact: Command, words: list[str], message: str
) -> None:
    begin("ada")
    Path("bad.pem").write_text("no certificate", encoding="utf-8")
    done = deepfact("audit", "serve", RUN, "--port", "0", *words)
    assert done.returncode == 2 and message in done.stderr
    assert "Traceback" not in done.stderr and not (RUN / "links.json").exists()


def test_a_port_in_use_and_a_folder_without_a_run_are_said(desk: Path, deepfact: Command) -> None:
    begin("ada")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = deepfact("audit", "serve", RUN, "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2 and "cannot listen" in done.stderr and "--port" in done.stderr
    done = deepfact("audit", "serve", "nowhere")
    assert done.returncode == 2 and "no run" in done.stderr


def test_a_round_without_people_is_not_served(desk: Path, deepfact: Command) -> None:
    begin("judge", kind="evidence")
    done = deepfact("audit", "serve", RUN, "--port", "0")
    assert done.returncode == 2 and "no person audits" in done.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])
def test_loopback_needs_no_tls(host: str) -> None:
    assert is_loopback(host)
    check_place(Place(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.org", ""])
def test_anything_else_does(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(InputError, match="--insecure"):
        check_place(Place(host=host))
    check_place(Place(host=host, insecure=True))


def test_addresses_and_names() -> None:
    assert address(Place(host="::1"), 80) == "http://[::1]:80"
    assert link(Place(name="audit.example.org"), 8, "a_b") == "http://audit.example.org:8/enter/a_b"
    assert set(hosts_of(Place(name="Audit.example.org"), 8)) >= {"audit.example.org", "127.0.0.1"}
    assert hosts_of(Place(host="10.0.0.1", insecure=True), 8) == ["10.0.0.1", "10.0.0.1"]
    named = ["127.0.0.1:80", "LOCALHOST", "[::1]:443", "[::1]", ""]
    assert [host_name(name) for name in named] == ["127.0.0.1", "localhost", "[::1]", "[::1]", ""]


def test_the_missing_extra_is_named(desk: Path, monkeypatch: Any) -> None:
    import sys

    from deepfact.cli.audit_serve import serve
    from deepfact.errors import MissingExtraError

    begin("ada")
    for name in [name for name in sys.modules if name.startswith("deepfact.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"deepfact\[web\]"):
        serve(RUN)
