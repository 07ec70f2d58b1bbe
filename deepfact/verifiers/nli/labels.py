"""What a model's classes mean: its own names for them, and ours. Pure.

| ours          | names that models use, in any case, with `_`, `-` or a space                     |
|---------------|----------------------------------------------------------------------------------|
| supported     | entailment, entailed, entails, support, supports, supported, consistent          |
| contradictory | contradiction, contradicts, contradict, refutes, refute, refuted, contradictory  |
| inconclusive  | neutral, not enough info, not enough information, nei, inconclusive              |
| inconclusive  | not entailment, non entailment, unsupported, not supported, inconsistent         |

The last row is what two-class models call the rest: it says no more than that support is missing,
so it is inconclusive, as in `deepfact.core.labels`. A name that is in no row, such as ``LABEL_0``,
is never guessed at: the spec has to say what it means.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Mapping, Sequence

from deepfact.errors import ConfigError, did_you_mean
from deepfact.records import Label

_ROWS: Mapping[Label, tuple[str, ...]] = MappingProxyType(
    {
        Label.SUPPORTED: (
            "entailment", "entailed", "entails", "support", "supports", "supported", "consistent",
        ),
        Label.CONTRADICTORY: (
            "contradiction", "contradicts", "contradict", "refutes", "refute", "refuted",
            "contradictory",
        ),
        Label.INCONCLUSIVE: (
            "neutral", "not enough info", "not enough information", "nei", "inconclusive",
            "not entailment", "non entailment", "unsupported", "not supported", "inconsistent",
        ),
    }
)  # fmt: skip

NAMES: Mapping[str, Label] = MappingProxyType(
    {name: label for label, names in _ROWS.items() for name in names}
)
"""Their name, in lower case with spaces, and our label."""

Override = Mapping[str | int, Label]


def class_labels(names: Sequence[str], override: Override, *, where: str) -> tuple[Label, ...]:
    """Our label for each class of a model, in the order of its outputs.

    Args:
        names: what the model calls its classes.
        override: our label by the class's name or number; goes before the table.
        where: the model's folder, for errors.

    Raises:
        ConfigError: a class is in neither, the override names a class that is not there, or no
            class means supported, or all do.
    """
    known: dict[str | int, int] = {name: at for at, name in enumerate(names)}
    known |= {at: at for at in range(len(names))} | {str(at): at for at in range(len(names))}
    said: dict[int, Label] = {}
    for key, label in override.items():
        if key not in known:
            raise ConfigError(
                f"labels: the model has no class {key!r}",
                where=where,
                fix=did_you_mean(str(key), names),
            )
        said[known[key]] = label
    found = [said.get(at, NAMES.get(_plain(name))) for at, name in enumerate(names)]
    if unknown := [f"{at} ({names[at]!r})" for at, label in enumerate(found) if label is None]:
        raise ConfigError(
            f"nothing says what the model's class {', '.join(unknown)} means",
            where=where,
            fix="say it in the spec, from the model's card, such as "
            "labels: {0: inconclusive, 1: supported}",
        )
    labels = tuple(label for label in found if label is not None)
    rest_is_there = len(names) == 1 or set(labels) != {Label.SUPPORTED}
    if Label.SUPPORTED not in labels or not rest_is_there:
        raise ConfigError(
            f"the classes mean {', '.join(labels)}; one has to mean supported, and one something "
            "else",
            where=where,
            fix="put it right with labels: in the spec",
        )
    return labels


def _plain(name: str) -> str:
    """A name in lower case, with single spaces for ``_`` and ``-``."""
    return " ".join(re.split(r"[\s_-]+", name.strip().lower()))


def mapping_words(names: Sequence[str], labels: Sequence[Label]) -> str:
    """The mapping in words: ``entailment is supported, neutral is inconclusive``."""
    return ", ".join(f"{name} is {label}" for name, label in zip(names, labels, strict=True))
