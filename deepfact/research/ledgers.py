"""Opening ledgers, whatever they are: a run's folder, or one JSON document. Reads only."""

from __future__ import annotations

from pathlib import Path

from deepfact.errors import InputError
from deepfact.prompts.fence import suspicions
from deepfact.records import Source
from deepfact.research_records import Ledger, SourceCard
from deepfact.store.files import read_record
from deepfact.store.ledger import ledger_of, read_ledger
from deepfact.store.ledger_records import LedgerDocument


def load_ledger(path: Path) -> Ledger:
    """The ledger in a run's folder, or in a JSON document.

    Raises:
        InputError: there is none, it is not of the right shape, or it does not fit together.
    """
    if path.is_dir():
        return read_ledger(path)
    if not path.exists():
        raise InputError(
            "no such file or folder",
            where=str(path),
            fix="give a ledger's JSON document, or the folder of a research run",
        )
    return ledger_of(read_record(path, LedgerDocument), where=str(path), flags=suspicions)


def make_card(source: Source, *, type: str = "", excerpt: bool = False) -> SourceCard:
    """A card of a source, flagged when its text looks like an attempt to steer a reader."""
    return SourceCard(source=source, type=type, excerpt=excerpt, flags=suspicions(source.text))
