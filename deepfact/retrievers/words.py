"""Words of a text with their offsets, and the light stemming that retrieval and the local
verifier share.

Deterministic, English only, no dictionaries beyond the lists in this file. Not for display:
a stem is a key, never a word to show to anybody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:[.,'’\-–/][^\W_]+)*%?")
"""A word or number: letters and digits, joined inside by one point, comma, hyphen or slash."""

_STOP_WORDS = """
    a an the and or but nor so yet of in on at to for from by with without into onto over under
    upon about as than then that this these those there here it its it's itself he she they them
    their theirs his her hers we us our ours you your yours i me my mine is are was were be been
    being am do does did done doing has have had having will would shall should can could may might
    must not no nor only also both either neither each every any some such other another own same
    which who whom whose what when where why how if while because since until although though
    during before after between among through against within per via very too just even still
    more most less least much many few all own again further once ever never s t don doesn didn
    isn aren wasn weren hasn haven hadn won wouldn couldn shouldn e.g i.e etc vs however therefore
    thus hence whereas according
"""
STOP = frozenset(_STOP_WORDS.split())
"""Words that say nothing of what a text is about. Negation and quantity words among them are
read by the element checks, not by retrieval."""

_SUFFIXES = (
    ("ational", "at"),
    ("ization", "iz"),
    ("isation", "iz"),
    ("iveness", "iv"),
    ("fulness", "ful"),
    ("ations", "at"),
    ("ation", "at"),
    ("ities", "it"),
    ("ments", ""),
    ("ment", ""),
    ("ising", "iz"),
    ("ised", "iz"),
    ("ises", "iz"),
    ("ions", ""),
    ("ion", ""),
    ("ings", ""),
    ("ing", ""),
    ("ness", ""),
    ("ity", "it"),
    ("ies", "y"),
    ("ied", "y"),
    ("ers", "er"),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
    ("e", ""),
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it stands: ``text[start:end] == word``."""

    text: str
    lower: str
    stem: str
    start: int
    end: int

    @property
    def content(self) -> bool:
        """It says something of what the text is about."""
        return self.lower not in STOP


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[Word, ...]:
    """All words of ``text`` in order. A possessive ``'s`` does not belong to the stem.

    Cached, for the same sentence is indexed, taken apart and searched."""
    found = []
    for match in WORD.finditer(text):
        word = match.group()
        lower = word.lower().replace("’", "'")
        found.append(Word(word, lower, stem(lower), match.start(), match.end()))
    return tuple(found)


@lru_cache(maxsize=65536)
def stem(lower: str) -> str:
    """A crude stem of a lower-case word, so that "measured" and "measures" meet.

    Suffix stripping after the idea of Porter (1980), with far fewer rules; a stem keeps at
    least three letters and words with digits are left alone.
    """
    lower = lower.removesuffix("'s").rstrip("'")
    if len(lower) < 4 or any(char.isdigit() for char in lower):
        return lower
    if lower.endswith(("ss", "us", "is")):
        return lower
    for suffix, put in _SUFFIXES:
        if lower.endswith(suffix) and len(lower) - len(suffix) >= 3:
            root = lower[: -len(suffix)] + put
            if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "aeiouls":
                root = root[:-1]
            return root[:-1] + "i" if root.endswith("y") and len(root) > 3 else root
    return lower[:-1] + "i" if lower.endswith("y") and len(lower) > 3 else lower


def stems(text: str) -> list[str]:
    """Stems of the content words of ``text``, in order; compound words also by their parts."""
    keys = []
    for word in words(text):
        if not word.content:
            continue
        keys.append(word.stem)
        if "-" in word.lower or "/" in word.lower or "–" in word.lower:
            parts = [part for part in re.split(r"[-–/]", word.lower) if len(part) > 2]
            keys.extend(stem(part) for part in parts if part not in STOP)
    return keys
