"""Judgements of DeepResearch Bench: verdicts on citations (FACT), scores of reports (RACE).

https://github.com/Ayanami0730/deep_research_bench. Both are a model's. Reads only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deepfact.core.schemes.tasks import CitationVerdict
from deepfact.errors import InputError
from deepfact.importers.rows import Row, json_objects
from deepfact.store.files import explain

T = TypeVar("T", bound=BaseModel)

DIMENSIONS = (
    "comprehensiveness",
    "insight",
    "instruction_following",
    "readability",
    "overall_score",
)


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)
    idx: int
    result: CitationVerdict


class _Page(BaseModel):
    """A URL, the statements that cite it, and a verdict on each, matched by its position."""

    model_config = ConfigDict(strict=True)
    facts: list[str]
    validate_res: list[_Result] | None = None


class _Task(BaseModel):
    model_config = ConfigDict(strict=True)
    citations_deduped: dict[str, _Page]


class _Scores(BaseModel):
    comprehensiveness: Annotated[float, Field(strict=True)]
    insight: Annotated[float, Field(strict=True)]
    instruction_following: Annotated[float, Field(strict=True)]
    readability: Annotated[float, Field(strict=True)]
    overall_score: Annotated[float, Field(strict=True)]


def read_citations(path: Path) -> list[list[CitationVerdict]]:
    """The verdicts of each task, a pair of statement and URL each.

    A pair without a verdict is ``unknown``: it must not vanish.

    Raises:
        InputError: a row is not one, or a verdict belongs to no statement.
    """
    tasks = []
    for row in json_objects(path):
        task: list[CitationVerdict] = []
        for url, page in _checked(_Task, row).citations_deduped.items():
            verdicts: list[CitationVerdict] = ["unknown"] * len(page.facts)
            seen: set[int] = set()
            for result in page.validate_res or ():
                if not 0 <= result.idx < len(verdicts) or result.idx in seen:
                    raise InputError(
                        f"verdict {result.idx} of {url} belongs to no statement of its own",
                        where=row.where,
                    )
                seen.add(result.idx)
                verdicts[result.idx] = result.result
            task += verdicts
        tasks.append(task)
    return tasks


def read_scores(path: Path) -> list[dict[str, float]]:
    """The scores of each task, by dimension.

    Raises:
        InputError: a row lacks a score.
    """
    return [_checked(_Scores, row).model_dump() for row in json_objects(path)]


def _checked(model: type[T], row: Row) -> T:
    try:
        return model.model_validate(row.cells)
    except ValidationError as error:
        raise InputError(f"not a task: {explain(error)}", where=row.where) from None
