"""Stored entailment scores of models on WiCE, and the thresholds that were used with them.

https://github.com/ryokamoi/wice. Reads only.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deepfact.errors import InputError, did_you_mean
from deepfact.store.files import read_text


def read_scores(path: Path) -> dict[str, float]:
    """The score of each claim, 0 to 1, by claim id.

    Raises:
        InputError: unreadable, or something that is no score.
    """
    scores = {}
    for name, value in _object(path).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InputError(f"{value!r} is no score from 0 to 1", where=f"{path}, {name}")
        scores[name] = float(value)
    return scores


def read_threshold(path: Path, model: str) -> float:
    """The threshold that the stored evaluation of a model used for F1.

    Raises:
        InputError: unreadable, or the model is not in it.
    """
    data = _object(path)
    if model not in data:
        raise InputError(
            f"no evaluation of {model!r}", where=str(path), fix=did_you_mean(model, data)
        )
    try:
        return float(data[model]["f1"]["threshold"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"no threshold for {model!r}", where=str(path)) from None


def _object(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from None
    if not isinstance(data, dict):
        raise InputError("a JSON object is needed", where=str(path))
    return data
