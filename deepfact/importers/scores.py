"""Probabilities in a file of verdicts: ours by label, or anybody's probability of support.

A row has ``scores`` (an object with a probability for each label, as deepfact writes it) or
``score`` (a number from 0 to 1: how probable it is that the claim is supported). Rows without
either are passed over. Nothing is rescaled: what is no probability is an error.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from math import isclose
from pathlib import Path
from typing import Any

from deepfact.errors import InputError, did_you_mean
from deepfact.importers.rows import BadRow, Row, block_lines, csv_rows, json_row, json_rows
from deepfact.records import Label
from deepfact.store.files import decode, read_blocks

CLOSE = 1e-3
"""How far a sum of rounded probabilities may be from 1."""


def read_scores(
    path: Path, claims: Collection[str], *, encoding: str = "utf-8"
) -> dict[str, dict[Label, float]]:
    """The probabilities of a file of verdicts by claim id: all three labels, or supported and
    inconclusive, which then stands for the rest. Empty where the file has none.

    Args:
        path: ``.csv``, else JSON Lines.
        claims: ids of the claims in question; other rows are passed over.
        encoding: of the file.

    Raises:
        InputError: unreadable; what is no probability; a claim with two different ones.
    """
    wanted = set(claims)
    found: dict[str, dict[Label, float]] = {}
    for row in _rows(path, encoding):
        claim_id = str(row.cells.get("claim_id", row.cells.get("id", "")))
        if claim_id not in wanted:
            continue
        scores = _scores(row)
        if scores is None:
            continue
        if found.get(claim_id, scores) != scores:
            raise InputError(
                f"the claim {claim_id!r} has probabilities twice, and they differ", where=row.where
            )
        found[claim_id] = scores
    return found


def _rows(path: Path, encoding: str) -> Iterator[Row]:
    """The rows that may have probabilities."""
    if path.suffix.lower() == ".csv":
        for row in csv_rows(path, encoding=encoding):
            if isinstance(row, BadRow):
                raise row.error
            if "score" not in row.cells and "scores" not in row.cells:
                return
            yield row
    elif encoding.lower().replace("_", "-") == "utf-8":
        for first, block in read_blocks(path):
            if b'"score' not in block:
                continue  # a million verdicts without any are passed over at once
            for where, line in block_lines(path, first, block):
                if b'"score' in line:
                    yield json_row(decode(line, where=where), where)
    else:
        for row in json_rows(path, encoding=encoding):
            if isinstance(row, BadRow):
                raise row.error
            yield row


def _scores(row: Row) -> dict[Label, float] | None:
    """The probabilities of a row; None where it has none."""
    by_label, one = row.cells.get("scores"), row.cells.get("score")
    if by_label not in (None, ""):
        return _by_label(by_label, row.where)
    if one in (None, ""):
        return None
    supported = _probability(one, "score", row.where)
    return {Label.SUPPORTED: supported, Label.INCONCLUSIVE: 1 - supported}


def _by_label(value: Any, where: str) -> dict[Label, float]:
    if isinstance(value, str):  # a cell of a CSV file
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        raise InputError(
            "scores is an object with a probability for each label", where=where,
            fix='such as {"supported": 0.7, "contradictory": 0.1, "inconclusive": 0.2}',
        )  # fmt: skip
    for word in value:
        if word not in set(Label):
            raise InputError(
                f"scores: unknown label {word!r}", where=where, fix=did_you_mean(word, list(Label))
            )
    found = {
        Label(word): _probability(one, f"scores, {word}", where) for word, one in value.items()
    }
    if Label.SUPPORTED not in found or len(found) < 2:
        raise InputError("scores: supported and another label are needed", where=where)
    if not isclose(sum(found.values()), 1.0, abs_tol=CLOSE):
        raise InputError(
            f"scores: the probabilities sum to {sum(found.values()):.4f}, not to 1",
            where=where,
            fix="write probabilities, not logits or percentages",
        )
    return found


def _probability(value: Any, what: str, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise InputError(
            f"{what}: {value!r} is no probability from 0 to 1",
            where=where,
            fix="write probabilities, not logits or percentages",
        )
    return number
