"""Published tables, recomputed from the stored predictions of others.

Every figure goes through the importers and scoring schemes that users have: there is no second
way to read or to count. Reads files; writes none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Iterable

from deepfact.core.schemes import SchemeScore
from deepfact.errors import InputError
from deepfact.reproduce.figures import FAMILIES, Data, family
from deepfact.reproduce.listed import Listed, Value, compare, read_list, unlisted

LIST = "expected_numbers.json"
"""The list that lies in the folder of the data."""


@dataclass(frozen=True, slots=True)
class Reproduced:
    """One figure, recomputed."""

    figure: str
    score: SchemeScore
    values: list[Value]
    published_source: str = ""
    licence: str = ""

    @property
    def differs(self) -> bool:
        """Whether a value is not what the list says."""
        return any(value.result == "differs" for value in self.values)


@dataclass(slots=True)
class Reproduction:
    """What came of a list of figures."""

    figures: list[Reproduced] = field(default_factory=list)
    failed: dict[str, InputError] = field(default_factory=dict)
    """Figures that could not be computed: a file is missing or broken, or the id is unknown."""


def reproduce(
    data: Path,
    *,
    expected: Path | None = None,
    only: Iterable[str] = (),
    everything: bool = False,
) -> Reproduction:
    """Recompute the figures of a list, and compare.

    Args:
        data: the folder of the data sets.
        expected: the list; ``expected_numbers.json`` in the folder when None.
        only: glob patterns of ids; all figures when empty.
        everything: also figures that the list does not name but whose files are there.

    Raises:
        InputError: no such folder, a list that is none, or a pattern that no figure matches.
    """
    if not data.is_dir():
        raise InputError("no such folder", where=str(data), fix="name the folder of the data sets")
    listed = read_list(expected or data / LIST)
    shared = Data(data)
    if everything:
        named = {figure.id for figure in listed}
        more = [name for found in FAMILIES for name in found.known(shared)]
        listed += [Listed(id=name) for name in more if name not in named]
    wanted = _wanted(listed, list(only), everything)
    result = Reproduction()
    for figure in wanted:
        try:
            result.figures.append(_one(shared, figure))
        except InputError as error:
            result.failed[figure.id] = error
    return result


def _wanted(listed: list[Listed], only: list[str], everything: bool) -> list[Listed]:
    """The figures that the patterns ask for; an id that no list has is taken as it is."""
    if not only:
        return listed
    found: dict[str, Listed] = {}
    for pattern in only:
        matched = [figure for figure in listed if fnmatchcase(figure.id, pattern)]
        if not matched and not any(sign in pattern for sign in "*?["):
            matched = [Listed(id=pattern)]
        if not matched:
            raise InputError(
                f"no figure matches {pattern!r}",
                fix="" if everything else "--all adds the figures that the list does not name",
            )
        found |= {figure.id: figure for figure in matched}
    return list(found.values())


def _one(data: Data, figure: Listed) -> Reproduced:
    kind, parts = family(figure.id)
    for name in figure.files:
        data.file(name)
    score = kind.compute(data, *parts)
    has_numbers = figure.published is not None or figure.recomputed is not None
    values = compare(figure, kind, score) if has_numbers else unlisted(figure.id, kind, score)
    return Reproduced(figure.id, score, values, figure.published_source, kind.licence)
