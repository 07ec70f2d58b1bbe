"""What `deepfact leaderboard` finds: standings, changes of rank with their causes, three scores.

Records alone; no I/O and nothing is worked out here.
"""

from __future__ import annotations

from typing import Literal

from deepfact.records import Label, Record
from deepfact.run_records import Estimate, ScoreSheet

By = Literal["accuracy", "binary", "macro-f1"]
"""The score that ranks."""


class Standing(Record):
    """One verifier on one version."""

    row: int
    """Which verifier: the place in `Leaderboard.rows`."""
    version: int
    rank: int
    """From 1; equal scores share a rank."""
    score: ScoreSheet
    reworded: tuple[str, ...] = ()
    """Claims whose stored verdict is on other words than this version's; they count as missing."""


class Row(Record):
    """One verifier's stored verdicts."""

    verifier: str
    where: tuple[str, ...]
    """The runs or files that hold them; several when they hold the same."""
    verdicts: int


class Cause(Record):
    """A claim that moved two verifiers against each other."""

    claim_id: str
    before: Label | None
    """Its label in the earlier version; None when it had none, or was not there."""
    after: Label | None
    first: int
    """What it did to the first verifier's score less the other's, in claims: from -2 to 2."""


class Overtaking(Record):
    """Two verifiers whose order differs between a version and its parent."""

    before: int
    after: int
    """The versions."""
    first: int
    other: int
    """Rows; the first one is the one that did better by the change."""
    lead_before: Estimate
    lead_after: Estimate
    """The first one's score less the other's on either version, paired."""
    causes: tuple[Cause, ...]


class RankChange(Record):
    """A verifier whose rank differs between a version and its parent."""

    row: int
    before: int
    after: int
    rank_before: int
    rank_after: int


class ChallengerScores(Record):
    """A challenger on the version it challenged, on the one that came of it, and on that one
    without the claims whose label it changed itself."""

    run: str
    round: int
    verifier: str
    before: ScoreSheet
    after: ScoreSheet
    without_own: ScoreSheet
    own: tuple[str, ...]
    """Claims whose challenge was accepted."""


class Leaderboard(Record):
    """What `deepfact leaderboard` shows."""

    benchmark: str
    by: By
    versions: tuple[int, ...]
    parents: dict[int, int | None]
    rows: tuple[Row, ...]
    standings: tuple[Standing, ...]
    changes: tuple[RankChange, ...]
    overtakings: tuple[Overtaking, ...]
    challengers: tuple[ChallengerScores, ...]
    notes: tuple[str, ...]
    """What was left out, or is not known."""

    def standing(self, row: int, version: int) -> Standing:
        """A verifier's standing on a version. They stand version by version, row by row."""
        return self.standings[self.versions.index(version) * len(self.rows) + row]
