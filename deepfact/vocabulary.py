"""Words that commands offer as choices: plain enumerations, so that `--help` loads no records.

The records use them too, and are where other modules take them from.
"""

from __future__ import annotations

from enum import StrEnum


class SourceRole(StrEnum):
    """Where a source stands towards the facts it tells. Generated text is never evidence."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    TERTIARY = "tertiary"
    GENERATED = "generated"
    MODEL_ANSWER = "model_answer"


class Trust(StrEnum):
    """How far a source is trusted by whoever added it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"


class EditKind(StrEnum):
    """What of a supported claim was changed, so that its sources no longer carry it."""

    NUMBER = "number"
    DATE = "date"
    ENTITY = "entity"
    NEGATION = "negation"
    DIRECTION = "direction"
    ATTRIBUTION = "attribution"
    """Who is said to have said so."""
    SCOPE = "scope"
    """How much, how many or how long it is said of: always widened."""


class ClaimKind(StrEnum):
    """What sort of statement a claim is; some checks are for one sort only."""

    MEASUREMENT = "measurement"
    BENCHMARK = "benchmark"
    """The result of a benchmark, leaderboard or comparison test."""
    EVENT = "event"
    DEFINITION = "definition"
    ATTRIBUTE = "attribute"
    OPINION = "opinion"
    FORECAST = "forecast"
    OTHER = "other"


class Method(StrEnum):
    """How a contradiction was settled."""

    DIFFERENT_WORKLOAD = "different_workload"
    DIFFERENT_DATE = "different_date"
    DIFFERENT_VERSION = "different_version"
    DIFFERENT_MEASUREMENT = "different_measurement_practice"
    DIFFERENT_SCOPE = "different_scope"
    DIFFERENT_DEFINITION = "different_definition"
    SOURCE_WITHDRAWN = "source_withdrawn"
    CAVEAT = "carried_as_caveat"
    """Not settled: both sides are told, side by side."""
