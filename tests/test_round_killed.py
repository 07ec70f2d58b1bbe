"""Killing ``deepfact round run`` at random moments: what is resumed ends as if nothing had been."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

from deepfact.run_records import Adjudicated, Answered, CaseOpened, VersionCommitted
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.integrity import verify as problems_of
from deepfact.store.journal import read_events

SPEC = """
name: trial
benchmark: small@1
auditors: [simulated-expert]
seed: 5
commit_to: {commit_to}
date: 2026-01-05T00:00:00Z
scored: [{{kind: majority}}]
rounds:
  - challenger: {{kind: quoting, options: {{pause: 0.008}}}}
  - challenger: {{kind: quoting, name: other, options: {{pause: 0.008, turn: "2"}}}}
"""


class Undisturbed:
    """A run in a process of its own, and what came of it."""

    def __init__(self, deepfact: str, name: str, commit_to: str) -> None:
        self.deepfact, self.commit_to = deepfact, commit_to
        self.began = time.monotonic()
        process = self.start(name)
        while not Path(f"{name}/spec.json").is_file():
            time.sleep(0.005)
            assert process.poll() is None, "it ended before it began"
        self.spec_after = time.monotonic() - self.began
        assert process.wait() == 0
        self.seconds = time.monotonic() - self.began
        self.record = Path(f"{name}/record.json").read_bytes()
        self.states = self.states_of(name)

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Run it in the folder ``name`` with benchmarks of its own."""
        if not Path(f"{name}-root").is_dir():
            shutil.copytree("benchmarks", f"{name}-root")
        words = ["round", "run", f"{self.commit_to}.yaml", "--out", name, "--root", f"{name}-root"]
        with Path(f"{name}.log").open("ab") as log:
            return subprocess.Popen([self.deepfact, *words], stdout=subprocess.DEVNULL, stderr=log)

    def moment(self, draw: random.Random) -> float:
        """Seconds after which to kill: from just before the folder is there to half of the work,
        so that most runs are killed several times on their way."""
        return 0.9 * self.spec_after + draw.uniform(0, (self.seconds - self.spec_after) / 2)

    def states_of(self, name: str) -> list[str]:
        """State hashes of all versions; every hash of the benchmark must hold."""
        inside = f"{name}/benchmarks" if self.commit_to == "run" else f"{name}-root"
        store = BenchmarkStore(Path(inside) / "small")
        assert problems_of(store) == []
        return [store.manifest(version).state_hash for version in store.versions()]


def test_killed_at_20_random_moments_it_ends_with_the_same_record(
    desk: Path, deepfact_command: str
) -> None:
    for commit_to in ("run", "benchmark"):
        Path(f"{commit_to}.yaml").write_text(SPEC.format(commit_to=commit_to), "utf-8")
    draw = random.Random(20)
    modes = [
        Undisturbed(deepfact_command, f"calm-{commit_to}", commit_to)
        for commit_to in ("run", "benchmark")
    ]
    kills, folders = 0, 0
    while kills < 20:
        calm, name = modes[folders % 2], f"wild-{folders}"
        folders += 1
        while True:
            process = calm.start(name)
            wait = calm.moment(draw) if kills < 20 else 60
            try:
                assert process.wait(wait) == 0, Path(f"{name}.log").read_text("utf-8")
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        assert Path(f"{name}/record.json").read_bytes() == calm.record
        assert calm.states_of(name) == calm.states
        events = read_events(Path(f"{name}/journal.jsonl"))
        answered = Counter(
            (e.verifier, e.outcome.claim_id) for e in events if isinstance(e, Answered)
        )
        assert set(answered.values()) == {1} and len(answered) == 3 * 60
        decided = Counter(e.adjudication.case_id for e in events if isinstance(e, Adjudicated))
        opened = Counter(e.case.id for e in events if isinstance(e, CaseOpened))
        committed = Counter(e.round for e in events if isinstance(e, VersionCommitted))
        assert set(decided.values()) == set(opened.values()) == set(committed.values()) == {1}
        left = [*Path(name).rglob("*.part"), *Path(f"{name}-root").rglob("*.part")]
        assert left == [], "staged files of killed writers"
