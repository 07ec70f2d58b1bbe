"""The small model: JSON weights, evaluated in plain Python. Nothing is learnt or unpickled here.

A multinomial logistic regression over standardised features, which gives one probability per
label.
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deepfact.errors import InputError
from deepfact.records import Label
from deepfact.store.files import explain

WEIGHTS = "weights.json"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TrainingSet(_Part):
    """One data set that the weights were fitted on."""

    name: str
    licence: str
    rows: int = Field(ge=0)
    what: str = ""


class Linear(_Part):
    """A multinomial logistic regression: ``softmax(bias + W (x - mean) / scale)``."""

    kind: Literal["linear"] = "linear"
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]
    intercept: tuple[float, ...]

    def raw(self, row: Sequence[float]) -> list[float]:
        """Log-odds per label."""
        z = [(x - m) / s for x, m, s in zip(row, self.mean, self.scale, strict=True)]
        return [
            bias + sum(w * x for w, x in zip(weights, z, strict=True))
            for weights, bias in zip(self.coefficients, self.intercept, strict=True)
        ]


class Weights(_Part):
    """The file that ships: the model, and all that is needed to fit it again."""

    schema_version: Literal[1] = 1
    about: str
    seed: int
    scipy: str
    """Version of scipy that fitted it."""
    features: tuple[str, ...]
    labels: tuple[Label, ...]
    prior: dict[Label, float]
    """The label shares that the fit took for granted."""
    temperature: float = Field(gt=0)
    """What the evidence is divided by where label shares are told; see `told`."""
    training: tuple[TrainingSet, ...]
    cross_validation: dict[str, dict[str, float]] = {}
    """Candidate -> measure -> value, on the training data only."""
    model: Linear

    def probabilities(self, row: Sequence[float]) -> dict[Label, float]:
        """The probability of each label for one row of features."""
        raw = self.model.raw(row)
        top = max(raw)
        odds = [math.exp(value - top) for value in raw]
        return {label: value / sum(odds) for label, value in zip(self.labels, odds, strict=True)}

    def told(
        self, probabilities: Mapping[Label, float], shares: Mapping[Label, float]
    ) -> dict[Label, float]:
        """The probabilities where the labels are known to have other shares than in the fit.

        Bayes' rule, ``p'(y|x) ~ shares(y) (p(y|x) / prior(y)) ** (1 / temperature)``: Saerens,
        Latinne and Decaestecker, Neural Computation 14(1), 2002; Elkan, IJCAI 2001. The
        temperature takes back that the fit trusts its evidence more than it may elsewhere.
        """
        odds = {
            label: shares[label] * (value / self.prior[label]) ** (1 / self.temperature)
            for label, value in probabilities.items()
        }
        return {label: value / sum(odds.values()) for label, value in odds.items()}


def parse_weights(text: str, *, where: str, features: Sequence[str]) -> Weights:
    """The weights in ``text``.

    Raises:
        InputError: not of the shape, or for other features than this version computes.
    """
    try:
        weights = Weights.model_validate_json(text)
    except ValidationError as error:
        raise InputError(
            explain(error), where=where, fix="fit them again: see deepfact.training"
        ) from None
    if weights.features != tuple(features):
        raise InputError(
            "the weights are for other features than this version computes",
            where=where,
            fix="fit them again: python -m deepfact.training.train --data DIR",
        )
    return weights


@lru_cache(maxsize=1)
def shipped_weights() -> Weights:
    """The weights that ship with deepfact, read once."""
    from deepfact.verifiers.local.features import NAMES

    file = files("deepfact.verifiers.local").joinpath(WEIGHTS)
    return parse_weights(file.read_text(encoding="utf-8"), where=WEIGHTS, features=NAMES)


def weights_json(weights: Weights) -> str:
    """The weights as the text of their file, one key a line at the top, stable."""
    data: dict[str, Any] = weights.model_dump(mode="json")
    lines = [
        f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in data.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"
