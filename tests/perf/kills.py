"""Kill -9 at random moments of a panel run over real HTTP, resumed each time.

    python tests/perf/kills.py [--kills 20]

300 claims (deepfact-mini and part of deepfact-practice), three votes each, asked of a loopback
server that speaks the Messages protocol and answers like the rule-following stand-in. Prints the
number of calls beside the bound (claims x votes, and what may have been in flight at each kill) and
whether the record equals that of an undisturbed run; exits 1 when one does not hold.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "servers"), str(ROOT / "tests" / "judges")]

from messages_server import MessagesServer  # noqa: E402
from rule_following import RuleFollowingJudge, passages_of  # noqa: E402

import deepfact  # noqa: E402
from deepfact.model_records import Message, Request  # noqa: E402
from deepfact.records import Revision, RevisionKind  # noqa: E402
from deepfact.store.benchmark import BenchmarkStore  # noqa: E402
from deepfact.store.files import write_text  # noqa: E402

CLAIMS, VOTES, CONCURRENCY = 300, 3, 8
SPEC = """
name: kills
benchmark: three-hundred@1
date: 2026-01-01T00:00:00Z
commit_to: run
auditors: [evidence-judge]
challenger:
  kind: panel
  options:
    provider: {kind: anthropic, options: {base_url: "URL"}}
    model: stand-in
    votes: 3
    limits: {concurrency: 8}
"""


def made_benchmark(folder: Path) -> RuleFollowingJudge:
    """A benchmark of 300 claims in ``folder``, and a judge that can read its sources."""
    store = BenchmarkStore.create(folder / "three-hundred", card="# three-hundred\n")
    revisions, sources, passages = [], {}, []
    for name in ("deepfact-mini@1", "deepfact-practice@1"):
        version = deepfact.load(name, root=ROOT / "benchmarks")
        passages += passages_of(version.claims, version.store.key("author"))
        sources |= dict(version.sources)
        for entry in version.state:
            revisions.append(
                Revision(
                    kind=RevisionKind.ADD,
                    claim_id=entry.claim.id,
                    who="kills",
                    when=version.manifest.date,
                    why="taken over",
                    claim=entry.claim,
                    annotation=entry.annotation,
                )
            )
    store.commit(
        revisions[:CLAIMS],
        parent=None,
        author="kills",
        date=revisions[0].when,
        note="For killing",
        sources=sources.values(),
    )
    return RuleFollowingJudge(passages)


def answer_with(judge: RuleFollowingJudge) -> Any:
    """The judge as the server's way to answer a Messages body."""

    def answer(body: dict[str, Any]) -> str:
        system = "".join(block["text"] for block in body["system"])
        messages = tuple(Message(role="user", content=m["content"]) for m in body["messages"])
        return judge.answer(Request(model=body["model"], system=system, messages=messages))

    return answer


def run(out: Path, work: Path) -> subprocess.Popen[bytes]:
    """``deepfact round run`` in a process of its own."""
    command = [str(Path(sys.executable).parent / "deepfact"), "round", "run", str(work / "s.yaml")]
    command += ["--out", str(out), "--root", str(work), "--auditors", str(ROOT / "auditors")]
    environment = {**os.environ, "ANTHROPIC_API_KEY": "none-is-needed-here"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        server = MessagesServer(answer_with(made_benchmark(work)), latency=0.05, keep=False)
        with server:
            write_text(work / "s.yaml", SPEC.replace("URL", server.url))
            began = time.monotonic()
            assert run(work / "undisturbed", work).wait() == 0
            took, undisturbed = time.monotonic() - began, server.calls
            kills = 0
            while kills < options.kills:
                process = run(work / "killed", work)
                try:
                    process.wait(draw.uniform(0.5, max(1.0, took / 6)))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    kills += 1
                else:
                    break  # it was through
            assert run(work / "killed", work).wait() == 0
            calls = server.calls - undisturbed
        same = (work / "killed" / "record.json").read_bytes() == (
            work / "undisturbed" / "record.json"
        ).read_bytes()
    bound = CLAIMS * VOTES + kills * CONCURRENCY
    print(f"undisturbed: {undisturbed} calls in {took:.1f} s")
    print(f"{kills} kills: {calls} calls, at most {bound} allowed; records equal: {same}")
    return 0 if same and calls <= bound else 1


if __name__ == "__main__":
    sys.exit(main())
