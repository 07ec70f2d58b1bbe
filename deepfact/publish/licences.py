"""Licences that a benchmark can be published under, as the Hub and SPDX name them.

A snapshot without a licence is not published: nobody could use it. The table says what the
licences are called, not what they allow.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepfact.errors import ConfigError, did_you_mean

SPDX = {
    "afl-3.0": "AFL-3.0",
    "apache-2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "cc-by-2.0": "CC-BY-2.0",
    "cc-by-3.0": "CC-BY-3.0",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-nc-3.0": "CC-BY-NC-3.0",
    "cc-by-nc-4.0": "CC-BY-NC-4.0",
    "cc-by-nc-nd-4.0": "CC-BY-NC-ND-4.0",
    "cc-by-nc-sa-3.0": "CC-BY-NC-SA-3.0",
    "cc-by-nc-sa-4.0": "CC-BY-NC-SA-4.0",
    "cc-by-nd-4.0": "CC-BY-ND-4.0",
    "cc-by-sa-3.0": "CC-BY-SA-3.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc0-1.0": "CC0-1.0",
    "cdla-permissive-2.0": "CDLA-Permissive-2.0",
    "cdla-sharing-1.0": "CDLA-Sharing-1.0",
    "eupl-1.2": "EUPL-1.2",
    "gpl-3.0": "GPL-3.0-only",
    "isc": "ISC",
    "mit": "MIT",
    "mit-0": "MIT-0",
    "mpl-2.0": "MPL-2.0",
    "odbl": "ODbL-1.0",
    "odc-by": "ODC-By-1.0",
    "pddl": "PDDL-1.0",
    "unlicense": "Unlicense",
}
"""The Hub's id of each licence, with SPDX's."""


@dataclass(frozen=True, slots=True)
class Licence:
    """The licence of a benchmark."""

    id: str
    """The Hub's id; ``other`` for one of the author's own."""
    name: str
    """SPDX's id, or the author's name for it."""
    link: str

    @property
    def spdx(self) -> str:
        """SPDX's id; empty for a licence of the author's own."""
        return SPDX.get(self.id, "")

    def notice(self, benchmark: str) -> str:
        """What LICENSE says when the benchmark's folder holds no text of its own."""
        return (
            f"The benchmark {benchmark} is published under the licence {self.name}:\n{self.link}\n"
        )


def find_licence(stated: str, *, name: str, link: str, where: str) -> Licence:
    """The licence with that id.

    Args:
        stated: the Hub's or SPDX's id, in any case; empty when none is stated.
        name: of a licence of the author's own, with ``other``.
        link: of the same.
        where: what states it, for errors.

    Raises:
        ConfigError: none is stated, it is unknown, or ``other`` has no name and link.
    """
    if not stated:
        raise ConfigError(
            "no licence is stated, and without one nobody may use what is published",
            where=where,
            fix="write `license: cc-by-4.0` between two lines `---` at the top of that file, or "
            "give --license cc-by-4.0",
        )
    if stated.lower() == "other":
        if not name or not link.startswith("https://"):
            raise ConfigError(
                "a licence of your own needs a name and an https link",
                where=where,
                fix="write `license_name: ...` and `license_link: https://...` beside it",
            )
        return Licence("other", name, link)
    by_spdx = {spdx.lower(): hub for hub, spdx in SPDX.items()}
    found = stated.lower() if stated.lower() in SPDX else by_spdx.get(stated.lower())
    if found is None:
        raise ConfigError(
            f"unknown licence {stated!r}",
            where=where,
            fix=f"{did_you_mean(stated.lower(), SPDX)}; for one that is not listed write "
            "`license: other` with license_name and license_link",
        )
    return Licence(found, SPDX[found], f"https://spdx.org/licenses/{SPDX[found]}.html")
