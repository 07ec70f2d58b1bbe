"""Ask the advisory service whether a locked dependency has a known vulnerability.

    python tests/supply/audit.py [--allow-unreached]

Exit 1 when one has. Exit 1 too when the service could not be asked about any of them, unless that
is allowed: then it is said, with how many, since an audit that asked nobody found nothing out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")


def ask(lock: str) -> list[dict[str, Any]]:
    """What pip-audit says of each dependency of a lock file."""
    command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip"]
    done = subprocess.run(
        [*command, "--progress-spinner", "off", "-f", "json", "-r", str(HOME / lock)],
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1) or not done.stdout.strip():
        print(done.stderr[-2000:], file=sys.stderr)
        return []
    found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    return found


def verdict(dependencies: list[dict[str, Any]], *, allow_unreached: bool) -> tuple[int, list[str]]:
    """The exit code and what to print for the dependencies of one lock file."""
    lines = [
        f"{one['name']} {one['version']}: {vulnerability['id']}, fixed in "
        f"{', '.join(vulnerability['fix_versions']) or 'no version yet'}"
        for one in dependencies
        for vulnerability in one.get("vulns", ())
    ]
    unreached = [one["name"] for one in dependencies if "skip_reason" in one]
    code = 1 if lines else 0
    if unreached or not dependencies:
        count = f"{len(unreached)} of {len(dependencies)}" if dependencies else "all"
        lines.append(f"NOT AUDITED: {count} dependencies; the advisory service did not know them")
        code = code if allow_unreached else 1
    else:
        lines.append(f"{len(dependencies)} dependencies audited")
    return code, lines


def main() -> int:
    """Audit each lock file."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--allow-unreached", action="store_true")
    allow, worst = parser.parse_args().allow_unreached, 0
    for lock in LOCKS:
        code, lines = verdict(ask(lock), allow_unreached=allow)
        worst = max(worst, code)
        print(f"{lock}:", *lines, sep="\n  ")
    return worst


if __name__ == "__main__":
    sys.exit(main())
