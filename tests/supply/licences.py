"""The licences of everything in the lock files: writes docs/licences.md.

    python tests/supply/licences.py [--check]

Licences are read from the metadata of the installed distributions: the SPDX expression where one is
given, else the classifiers, else the free text. It knows nothing that the metadata do not say,
but for `STATED`, which names where each was read instead.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

HOME = Path(__file__).parents[2]
PAGE = HOME / "docs" / "licences.md"

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "HPND",
    "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-1.1", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unicode-3.0",
    "Unlicense", "Zlib",
}  # fmt: skip
"""Licences under which a dependency may be used beside MIT code without conditions on that code.
A copyleft licence of the whole work (GPL, AGPL) is not among them."""

STATED = {
    "axe-playwright-python": ("MIT", "its LICENSE file"),
    "mlcroissant": ("Apache-2.0", "the LICENSE of mlcommons/croissant"),
}
"""Distributions whose metadata name no licence: the licence, and where it was read."""

SPELLINGS = {
    "apache": "Apache-2.0", "apache 2": "Apache-2.0", "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0", "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0", "apache-2.0 license": "Apache-2.0",
    "apache software license 2.0": "Apache-2.0", "apache license version 2.0": "Apache-2.0",
    "bsd license": "BSD", "bsd 3-clause": "BSD-3-Clause", "new bsd": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause", "3-clause bsd license": "BSD-3-Clause",
    "bsd-2-clause license": "BSD-2-Clause", "isc license (iscl)": "ISC", "isc license": "ISC",
    "mit license": "MIT", "the mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0", "psf": "PSF-2.0", "psfl": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense", "zope public license": "ZPL-2.1",
}  # fmt: skip


def locked(path: Path) -> list[str]:
    """Names of the distributions in a lock file whose markers hold here."""
    return sorted(wanted.name.lower() for wanted in _wanted(path))


def is_installed(path: Path) -> bool:
    """Whether what a lock file names is what is installed here."""
    try:
        return all(one.specifier.contains(metadata.version(one.name)) for one in _wanted(path))
    except metadata.PackageNotFoundError:
        return False


def _wanted(path: Path) -> list[Requirement]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#", "-")):
            wanted = Requirement(line.rstrip("\\ "))
            if wanted.marker is None or wanted.marker.evaluate():
                found.append(wanted)
    return found


def licence_of(name: str) -> str:
    """The licence that a distribution states, as an SPDX expression where it can be told; empty
    when it states none."""
    if name in STATED:
        return STATED[name][0]
    about = metadata.metadata(name)
    if expression := about.get("License-Expression"):
        return str(expression)
    classified = [
        line.rpartition(" :: ")[2]
        for line in about.get_all("Classifier") or ()
        if line.startswith("License ::") and not line.endswith("OSI Approved")
    ]
    if classified:
        return " AND ".join(sorted({SPELLINGS.get(one.lower(), one) for one in classified}))
    text = (about.get("License") or "").strip().splitlines()
    return SPELLINGS.get(text[0].lower(), text[0]) if text else ""


def permitted(expression: str) -> bool:
    """Whether a licence, or one of its alternatives, is allowed in every part."""
    alternatives = re.split(r"\s+OR\s+", expression.replace("(", "").replace(")", ""))
    return any(
        all(
            re.split(r"\s+WITH\s+", part)[0] in ALLOWED
            for part in re.split(r"\s+AND\s+", alternative)
        )
        for alternative in alternatives
    )


def page() -> str:
    """The text of docs/licences.md."""
    core = set(locked(HOME / "requirements.lock"))
    lines = [
        "# Licences of the dependencies",
        "",
        "deepfact itself is MIT. These are the licences of what it installs, as each states them:",
        "`core` comes with `pip install deepfact`, others with an extra or for development only.",
        "Made by `python tests/supply/licences.py` from the lock files on Linux with Python 3.11;",
        "compared by a test.",
        "",
        "| distribution | for | licence |",
        "|---|---|---|",
    ]
    for name in locked(HOME / "requirements-dev.lock"):
        what = "core" if name in core else "extras, development"
        lines.append(f"| {name} | {what} | {licence_of(name).replace('|', '/')} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page, or with ``--check`` say whether it is what would be written."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    made, bad = page(), []
    for name in locked(HOME / "requirements-dev.lock"):
        if not permitted(licence_of(name)):
            bad.append(f"{name}: {licence_of(name) or 'states no licence'}")
    if bad:
        print("not allowed:", *bad, sep="\n  ", file=sys.stderr)
    if parser.parse_args().check:
        same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made
        return 0 if same and not bad else 1
    PAGE.write_text(made, encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
