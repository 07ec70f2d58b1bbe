"""Build the wheel, install it in a clean environment of each Python named, and use it there.

    python tests/supply/install_wheel.py [PYTHON...]

Every Python from 3.11 on that is found on the PATH when none is named. What is installed comes from
the lock file, with hashes; then the command is used from an empty folder, as a new user would:
help, the shipped benchmarks, a verifier, a score, a round with its report. Exits 1 when any of it
fails.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HOME = Path(__file__).parents[2]

SUPPORTED = ("3.11", "3.12", "3.13")

ROUND = """
name: trial
benchmark: deepfact-practice@1
challenger: {kind: local}
auditors: [judge.yaml]
commit_to: run
"""

JUDGE = "name: judge\nkind: evidence\n"

USES: tuple[tuple[str, ...], ...] = (
    ("--version",),
    ("--help",),
    ("doctor",),
    ("bench", "list"),
    ("bench", "verify", "deepfact-mini"),
    ("prompts", "list"),
    ("verify", "deepfact-mini@1", "--verifier", "local", "--out", "verdicts.jsonl"),
    ("score", "verdicts.jsonl", "--benchmark", "deepfact-mini@1"),
    ("round", "run", "round.yaml"),
)


def build(folder: Path) -> Path:
    """The wheel of this checkout, built into ``folder`` with the installed build backend."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(HOME)], check=True)
    (wheel,) = folder.glob("deepfact-*.whl")
    return wheel


def pythons() -> list[str]:
    """The supported Pythons on the PATH that start."""
    found = [shutil.which(f"python{version}") for version in SUPPORTED]
    return [python for python in found if python and _starts(python)]


def _starts(python: str) -> bool:
    """Whether it is a Python, and not the stand-in of a version manager for one it does not run."""
    return subprocess.run([python, "--version"], capture_output=True).returncode == 0


def use(python: str, wheel: Path, folder: Path) -> list[str]:
    """Install the wheel with a Python and use it; what failed, in words."""
    subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
    pip = [str(folder / "env" / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    locked = ["--require-hashes", "-r", str(HOME / "requirements.lock")]
    subprocess.run([*pip, *locked], check=True)
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    desk = folder / "desk"
    desk.mkdir()
    (desk / "round.yaml").write_text(ROUND, encoding="utf-8")
    (desk / "judge.yaml").write_text(JUDGE, encoding="utf-8")
    failed = []
    for words in USES:
        command = [str(folder / "env" / "bin" / "deepfact"), *words]
        done = subprocess.run(command, cwd=desk, capture_output=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            failed.append(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    if not (desk / "results" / "trial" / "report.html").is_file():
        failed.append("the round left no report")
    return failed


def main() -> int:
    """Build, install, use; one line for each Python."""
    wanted, bad = sys.argv[1:] or pythons(), 0
    with tempfile.TemporaryDirectory() as place:
        wheel = build(Path(place))
        for number, python in enumerate(wanted):
            folder = Path(place) / str(number)
            folder.mkdir()
            failed = use(python, wheel, folder)
            bad += len(failed)
            told = subprocess.run([python, "--version"], capture_output=True, encoding="utf-8")
            print(told.stdout.strip(), "failed" if failed else f"{len(USES)} commands passed")
            print(*failed, sep="\n", end="")
    return 1 if bad or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
