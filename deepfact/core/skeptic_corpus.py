"""A ledger as the skeptic's checks look at it: what is linked, from how many origins and sites.

Pure. Counts and groups, and judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from urllib.parse import urlsplit

from deepfact.core.contradictions import Conflicts
from deepfact.core.skeptic_values import plain
from deepfact.research_records import (
    ClaimStanding,
    Ledger,
    ResearchClaim,
    SourceCard,
    Thresholds,
    standing_of,
)

_SECOND_LEVEL = frozenset(("co", "ac", "gov", "org", "com", "net", "edu"))


@dataclass(frozen=True)
class Corpus:
    """A ledger, with what several checks need of it worked out once."""

    ledger: Ledger
    limits: Thresholds
    conflicts: Conflicts

    @cached_property
    def claims(self) -> list[ResearchClaim]:
        """Claims that do not rest on a withdrawn card."""
        gone = self.ledger.withdrawn
        return [claim for claim in self.ledger.claims if claim.card not in gone]

    @cached_property
    def cards(self) -> dict[str, SourceCard]:
        return {card.source.id: card for card in self.ledger.cards}

    @cached_property
    def linked(self) -> list[SourceCard]:
        """Cards that a claim or a link names, withdrawn ones left out."""
        named = {claim.card for claim in self.claims}
        named |= {link.card for link in self.ledger.links}
        return [
            card for card in self.ledger.cards if card.source.id in named - self.ledger.withdrawn
        ]

    @cached_property
    def evidence(self) -> list[SourceCard]:
        return [card for card in self.linked if card.is_evidence]

    @cached_property
    def origins(self) -> dict[str, list[SourceCard]]:
        """Evidence cards by origin: the same text, or the same address, is one origin."""
        found: dict[str, list[SourceCard]] = {}
        by_address: dict[str, str] = {}
        for card in self.evidence:
            text = plain(card.source.text)
            where = address(card.source.url)
            key = by_address.get(where) or text or card.source.id
            if where:
                by_address.setdefault(where, key)
            found.setdefault(key, []).append(card)
        return found

    @cached_property
    def standings(self) -> dict[str, ClaimStanding]:
        outcomes = {outcome.claim_id: outcome for outcome in self.ledger.outcomes}
        return {claim.id: standing_of(outcomes.get(claim.id)) for claim in self.claims}

    @property
    def today(self) -> date | None:
        """The date that sources are fresh or stale against: the ledger's, or when the newest
        card was retrieved."""
        if self.ledger.as_of is not None:
            return self.ledger.as_of.date()
        cards = self.ledger.cards
        return max(
            (c.source.retrieved_at.date() for c in cards if c.source.retrieved_at), default=None
        )


def address(url: str) -> str:
    """A web address without what does not tell documents apart."""
    parts = _split(url)
    if parts is None:
        return ""
    return f"{parts[0].removeprefix('www.')}{parts[1].rstrip('/')}?{parts[2]}"


def family(url: str) -> str:
    """The site that a card is from; all cards without an address are one family."""
    parts = _split(url)
    if parts is None:
        return ""
    labels = parts[0].split(".")
    size = 3 if len(labels) > 2 and labels[-2] in _SECOND_LEVEL and len(labels[-1]) == 2 else 2
    return ".".join(labels[-size:])


def _split(url: str) -> tuple[str, str, str] | None:
    """Host, path and query of a web address; None when it is none."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname
    except ValueError:
        return None
    return (host, parts.path, parts.query) if host else None
