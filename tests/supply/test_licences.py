"""Every locked dependency has a licence that MIT code may be shipped with, and is listed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import licences

LOCKED = pytest.mark.skipif(
    not licences.is_installed(licences.HOME / "requirements-dev.lock"),
    reason="other versions are installed than the lock file names",
)


@LOCKED
@pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info[:2] != (3, 11),
    reason="elsewhere other distributions are installed than the page lists",
)
def test_the_page_lists_what_the_lock_files_hold() -> None:
    assert licences.PAGE.read_text(encoding="utf-8") == licences.page(), (
        "run: python tests/supply/licences.py"
    )


@LOCKED
def test_every_licence_is_permitted() -> None:
    every = licences.locked(licences.HOME / "requirements-dev.lock")
    found = {name: licences.licence_of(name) for name in every}
    assert len(found) > 50
    assert {name: one for name, one in found.items() if not licences.permitted(one)} == {}


@pytest.mark.parametrize(
    ("expression", "permitted"),
    [
        ("MIT", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        ("GPL-3.0-or-later OR MIT", True),
        ("BSD-3-Clause AND (MIT OR Apache-2.0)", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-3.0-or-later", False),
        ("MIT AND GPL-3.0-or-later", False),
        ("AGPL-3.0-only", False),
        ("", False),
        ("Proprietary", False),
    ],
)
def test_what_is_permitted(expression: str, permitted: bool) -> None:
    assert licences.permitted(expression) is permitted
