"""A list of published figures, and whether ours are the same to the digits that it shows.

Reads the list (JSON: id, files, recomputed, published, published_source); computes nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from deepfact.core.schemes import SchemeScore
from deepfact.errors import InputError
from deepfact.reproduce.figures import Family
from deepfact.store.files import explain, read_text

Result = Literal["same", "differs", "differs as listed", "no figure"]

ROUNDING = 1e-9
"""What a float may be off at the edge of a rounding step, or where a figure shows all digits."""

RECOMPUTED = 1e-6
"""How near ours must be to a recomputed value that shows more digits than that."""


class Listed(BaseModel):
    """A figure of the list."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    id: str
    files: list[str] = []
    formula: str = ""
    recomputed: Any = None
    published: Any = None
    published_source: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """One number of a figure, ours beside the listed ones; None where the list has none."""

    figure: str
    name: str
    ours: float | None
    low: float | None
    high: float | None
    published: Decimal | None
    recomputed: Decimal | None
    result: Result


def read_list(path: Path) -> list[Listed]:
    """The figures of a list.

    Raises:
        InputError: unreadable, not a list of figures, an id twice, or a file outside the folder.
    """
    try:
        data = json.loads(read_text(path), parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from None
    if not isinstance(data, list):
        raise InputError("a list of figures is needed", where=str(path))
    figures: dict[str, Listed] = {}
    for number, item in enumerate(data, start=1):
        where = f"{path}, figure {number}"
        try:
            figure = Listed.model_validate(item)
        except ValidationError as error:
            raise InputError(f"not a figure: {explain(error)}", where=where) from None
        if figure.id in figures:
            raise InputError(f"{figure.id!r} is listed twice", where=where)
        for name in figure.files:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise InputError(f"{name!r} is outside the folder of the data", where=where)
        figures[figure.id] = figure
    return list(figures.values())


def compare(listed: Listed, family: Family, score: SchemeScore) -> list[Value]:
    """Every number that the list has of a figure, beside ours.

    A published number is the same when ours, rounded to its digits, is it. A recomputed one is
    the same within 1e-6, or when ours, rounded to fewer digits, is it. Where the list itself says
    that recomputing does not give the published number, and ours is what it recomputed, the
    difference is "as listed": shown, and no failure.

    Raises:
        InputError: the list names a value that the figure does not have.
    """
    published = _numbers(listed.published, family, listed.id)
    recomputed = _numbers(listed.recomputed, family, listed.id)
    if not published and not recomputed:
        return unlisted(listed.id, family, score)
    values = []
    for name in dict.fromkeys([*published, *recomputed]):
        ours = _ours(name, family, score, listed.id)
        result: Result = "same"
        if not _same(ours, recomputed.get(name), RECOMPUTED):
            result = "differs"
        elif not _same(ours, published.get(name), ROUNDING):
            stated = recomputed.get(name)
            result = (
                "differs as listed"
                if stated is not None and not _same(float(stated[0]), published.get(name), ROUNDING)
                else "differs"
            )
        low, high = _interval(name, family, score)
        values.append(
            Value(
                figure=listed.id,
                name=name,
                ours=ours,
                low=low,
                high=high,
                published=published[name][0] if name in published else None,
                recomputed=recomputed[name][0] if name in recomputed else None,
                result=result,
            )
        )
    return values


def unlisted(figure: str, family: Family, score: SchemeScore) -> list[Value]:
    """Ours alone: the values that the family's tables show."""
    if family.also:
        names = list(family.also)
    else:
        names = list(family.order if len(family.order) > 1 else score.values)
    values = []
    for name in names:
        low, high = _interval(name, family, score)
        ours = _ours(name, family, score, figure)
        values.append(Value(figure, name, ours, low, high, None, None, "no figure"))
    return values


Number = tuple[Decimal, int]
"""A number and how many decimals it is given to."""


def _numbers(shown: Any, family: Family, figure: str) -> dict[str, Number]:
    """The numbers of one side by name."""
    if shown is None:
        return {}
    if isinstance(shown, Mapping):
        found: dict[str, Number] = {}
        for name, value in shown.items():
            if name == "values" and isinstance(value, list):
                found |= _numbers(value, family, figure)
            else:
                found[name] = _number(value, figure)
        return found
    if isinstance(shown, list):
        if len(shown) != len(family.order):
            raise InputError(
                f"{len(shown)} values, the figure has {len(family.order)}",
                where=figure,
                fix=f"in this order: {', '.join(family.order)}",
            )
        numbers = [_number(value, figure) for value in shown]
        # One table, one number of decimals: JSON drops a trailing zero.
        decimals = max(number[1] for number in numbers)
        return {
            name: (number[0], decimals) for name, number in zip(family.order, numbers, strict=True)
        }
    return {_scalar(family): _number(shown, figure)}


def _scalar(family: Family) -> str:
    """The name of a single number: as the recomputed values of the family call it."""
    if not family.order:
        raise InputError("a single number, and the figure has several values", where=family.pattern)
    wanted = family.order[0]
    return next((name for name, ours in family.also.items() if ours == wanted), wanted)


def _number(value: Any, figure: str) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InputError(f"{value!r} is no number", where=figure)
    number = Decimal(value)
    exponent = number.as_tuple().exponent
    return number, max(0, -exponent) if isinstance(exponent, int) else 0


def _same(ours: float | None, listed: Number | None, near: float) -> bool:
    if listed is None:
        return True
    if ours is None:
        return False
    number, decimals = listed
    return abs(ours - float(number)) <= max(0.5 * 10.0**-decimals + ROUNDING, near)


def _source(name: str, family: Family, score: SchemeScore) -> tuple[str, float] | None:
    """The value of the scheme that a name of the list stands for, and its unit."""
    inner = family.also.get(name, name)
    if inner in score.values:
        return inner, 1.0
    base = inner.removesuffix("_pct")
    return (base, 100.0) if base != inner and base in score.values else None


def _ours(name: str, family: Family, score: SchemeScore, figure: str) -> float | None:
    if name == "n":
        return float(score.n)
    found = _source(name, family, score)
    if found is None:
        raise InputError(
            f"the figure has no value {name!r}",
            where=figure,
            fix=f"it has: n, {', '.join([*family.also, *score.values])}",
        )
    value = score.values[found[0]]
    return None if value is None else found[1] * value


def _interval(name: str, family: Family, score: SchemeScore) -> tuple[float | None, float | None]:
    found = _source(name, family, score)
    if found is None or found[0] not in score.intervals:
        return None, None
    low, high = score.intervals[found[0]]
    return found[1] * low, found[1] * high
