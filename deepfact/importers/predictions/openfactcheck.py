"""Outputs of fact-checkers on human-labelled claims, as OpenFactCheck stored and scored them.

https://github.com/yuxiaw/OpenFactCheck: one row a claim, one column a system. What counts as
"true" differs by system, and so does what happens to a claim without an answer: both are a part
of the published scores and stand in `SYSTEMS`. Reads only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Mapping

from deepfact.core.labels import DATA_SETS, lookup, to_binary
from deepfact.core.schemes.classes import Unanswered
from deepfact.errors import InputError, did_you_mean
from deepfact.importers.rows import json_objects

_FACTUALITY = re.compile(r'"factuality"\s*:\s*"?(true|false)\b', re.IGNORECASE)
"""The verdict in a raw generation, which is often no whole JSON: cut, or with text after it."""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """One claim, people's label, and a system's answer; None where it gave none."""

    where: str
    source: str
    """The data set that the claim is from, such as ``felm-wk``."""
    gold: bool
    answer: bool | None


@dataclass(frozen=True, slots=True)
class System:
    """How the stored output of a system is read."""

    column: str
    read: Callable[[Any], bool | None]
    unanswered: Unanswered
    """What the published scores make of a claim without an answer."""


def _one_is_true(value: Any) -> bool | None:
    """1 is true and 0 false; 2 (mixed) and -1 (undecided) are no answer."""
    return {1: True, 0: False}.get(value) if type(value) is int else None


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _exact_word(value: Any) -> bool | None:
    """``True`` or ``False`` and nothing else: a sentence that holds the word is no answer."""
    table = DATA_SETS["openfactcheck"]
    return to_binary(lookup(table, value)) if isinstance(value, str) and value in table else None


def _generation(value: Any) -> bool | None:
    """The field ``factuality`` of a raw generation; no answer where it is missing, or is there
    twice with different values."""
    found = {word.lower() for word in _FACTUALITY.findall(value or "")}
    return found == {"true"} if len(found) == 1 else None


def _free_answer(value: Any) -> bool | None:
    """The verdict in a free answer to "true or false?", by FActScore's rule.

    With only one of the words, that one; with both, true when its first mention comes after the
    first "false"; with neither, true unless a word of doubt (not, cannot, unknown, information)
    is in it. https://github.com/shmsw25/FActScore, ``factscorer.py``. It recomputes
    stored scores; a guess like this is no answer elsewhere in deepfact.
    """
    if not isinstance(value, str):
        return None
    said = value.lower()
    if "true" in said or "false" in said:
        if "true" in said and "false" in said:
            return said.index("true") > said.index("false")
        return "true" in said
    words = re.sub(r"[^\w\s]", "", said).split()
    return not {"not", "cannot", "unknown", "information"} & set(words)


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        "factool_chatgpt": System("factool_chatgpt_label", _one_is_true, "false"),
        "factscore_chatgpt": System("factscore_chatgpt_supported", _boolean, "false"),
        "pplx_sonar": System("pplx_supported", _boolean, "false"),
        "factscore_chatgpt_raw": System("factscore_chatgpt_response", _free_answer, "false"),
        "pplx_sonar_raw": System("pplx_response", _free_answer, "false"),
        "factcheckgpt_langchain": System("factcheckgpt_langchain_output", _exact_word, "left out"),
        "factcheckgpt_langchain_nosearch": System(
            "factcheckgpt_langchain_nosearch_output", _exact_word, "left out"
        ),
        "factool_evidence_llama3": System("factool_evidence_llama3_raw", _generation, "false"),
    }
)
"""By the name that figures use. Those in ``_raw`` read the stored text again."""


def system(name: str) -> System:
    """How a system's output is read.

    Raises:
        InputError: no such system.
    """
    if name not in SYSTEMS:
        raise InputError(f"no system {name!r} here", fix=did_you_mean(name, SYSTEMS))
    return SYSTEMS[name]


def read(path: Path, name: str) -> list[JudgedClaim]:
    """A system's answers to every claim of the file.

    Raises:
        InputError: no such system, or a row without its column, a source or a label.
    """
    found = system(name)
    claims = []
    for row in json_objects(path):
        gold, source = row.cells.get("gold"), row.cells.get("source")
        if not isinstance(gold, bool) or not isinstance(source, str):
            raise InputError("gold (true or false) and source are needed", where=row.where)
        if found.column not in row.cells:
            raise InputError(f"the row has no {found.column!r}", where=row.where)
        answer = found.read(row.cells[found.column])
        claims.append(JudgedClaim(row.where, source, gold, answer))
    return claims
