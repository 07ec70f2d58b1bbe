"""An audit that finds something fails, and so does one that asked nobody."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from audit import verdict

FINE = {"name": "mill", "version": "1.0", "vulns": []}
HOLED = {
    "name": "weir",
    "version": "2.0",
    "vulns": [{"id": "CVE-2031-1", "fix_versions": ["2.1"]}],
}
UNKNOWN = {"name": "sluice", "skip_reason": "not found"}


def test_a_vulnerability_fails_whatever_is_allowed() -> None:
    for allowed in (True, False):
        code, lines = verdict([FINE, HOLED, UNKNOWN], allow_unreached=allowed)
        assert code == 1
        assert lines[0] == "weir 2.0: CVE-2031-1, fixed in 2.1"


def test_asking_nobody_fails_unless_allowed_and_is_said() -> None:
    for dependencies in ([UNKNOWN, FINE], []):
        assert verdict(dependencies, allow_unreached=False)[0] == 1
        code, lines = verdict(dependencies, allow_unreached=True)
        assert code == 0 and lines[-1].startswith("NOT AUDITED")


def test_all_audited_and_fine() -> None:
    assert verdict([FINE], allow_unreached=False) == (0, ["1 dependencies audited"])
