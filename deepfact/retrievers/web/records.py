"""What a search is asked with, and what is kept of it. Records only; no I/O."""

from __future__ import annotations

import ipaddress
from typing import Any

from pydantic import AwareDatetime, Field, field_validator, model_validator

from deepfact.records import FileRecord, Hash, Record, SourceRole, Trust
from deepfact.retrievers.registry import RetrieverSpec

TYPES = (
    "text/html",
    "application/xhtml+xml",
    "text/plain",
    "text/markdown",
    "application/pdf",
)
"""Content types that are read."""


class FetchLimits(Record):
    """What a fetcher may do."""

    max_bytes: int = Field(default=10 * 1024 * 1024, ge=1)
    """Of one page, as sent and, again, once it is unpacked."""
    seconds: float = Field(default=30.0, gt=0)
    """For one page, redirects included, from the first connection to the last byte."""
    redirects: int = Field(default=5, ge=0)
    types: tuple[str, ...] = TYPES
    robots: bool = True
    """Keep to what a site's robots.txt says to ``deepfact``."""
    allow_addresses: tuple[str, ...] = ()
    """Networks that are not public and may be read all the same, such as ``10.1.0.0/16``."""
    user_agent: str = ""
    """Sent to sites; names deepfact when empty."""

    @field_validator("allow_addresses")
    @classmethod
    def _are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            ipaddress.ip_network(one, strict=False)
        return value

    @field_validator("types")
    @classmethod
    def _can_be_read(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if one not in TYPES:
                raise ValueError(f"{one!r} cannot be read; known: {', '.join(TYPES)}")
        return value


class EngineSpec(Record):
    """Which search engine, with which options."""

    kind: str = Field(min_length=1)
    options: dict[str, Any] = {}


class SearchBudget(Record):
    """The most that one run may ask for. What is stored costs nothing."""

    searches: int | None = Field(default=None, ge=0)
    """As the engine bills them, retries included."""
    pages: int | None = Field(default=None, ge=0)
    """Pages fetched."""


class DomainFields(Record):
    """What whoever runs a search says of the sources of one domain."""

    role: SourceRole = SourceRole.SECONDARY
    trust: Trust = Trust.UNKNOWN
    type: str = ""


class SearchSpec(FileRecord):
    """How to search: the options of retriever kind ``search``, and the file that ``deepfact
    research run --search-config`` names."""

    engine: EngineSpec
    fetch: FetchLimits = FetchLimits()
    results: int = Field(default=10, ge=1, le=20)
    """Of one query; each is a page to fetch."""
    queries: tuple[str, ...] = ()
    """For a research run: asked besides the question itself."""
    ranking: RetrieverSpec = RetrieverSpec()
    """How the sentences of what was read are ranked: ``bm25``, ``dense`` or ``hybrid``."""
    snippets: bool = False
    """Take the words of a page that an engine repeats, where the page itself cannot be read."""
    domains: dict[str, DomainFields] = {}
    """Role and trust by domain; subdomains included, the longest name counts; ``*`` is all
    others."""
    at_once: int = Field(default=4, ge=1, le=64)
    """Pages fetched at the same time."""
    budget: SearchBudget = SearchBudget()
    attempts: int = Field(default=3, ge=1, le=10)
    """For one search, before it is given up."""
    pause: float = Field(default=1.0, ge=0)
    """Seconds before the second attempt; twice as long before each further one."""
    store: str = ""
    """Folder that keeps results and pages; the run's own when empty."""
    replay: bool = False
    """Ask nobody: what is not stored is listed as missing."""

    @model_validator(mode="after")
    def _ranks(self) -> SearchSpec:
        if self.ranking.kind not in ("bm25", "dense", "hybrid"):
            raise ValueError("ranking is one of bm25, dense, hybrid")
        return self

    def asked(self) -> dict[str, Any]:
        """What decides which sources are found: everything but limits of cost and pace."""
        return self.model_dump(
            mode="json", exclude={"budget", "replay", "at_once", "attempts", "pause", "store"}
        )


class Hit(Record):
    """One result of a search."""

    url: str
    """Without fragment and without anything that looks like a secret."""
    title: str = ""
    snippets: tuple[str, ...] = ()
    """Words of the page that the engine repeats; empty where an engine writes summaries."""
    published: str = ""


class Found(Record):
    """What an engine answers to one query."""

    hits: tuple[Hit, ...] = ()
    searches: int = Field(default=1, ge=0)
    """As the engine bills them."""
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)


class StoredResults(FileRecord):
    """``results/<hash>.json``: a query and what was answered."""

    engine: str
    settings: dict[str, Any]
    query: str
    limit: int
    at: AwareDatetime
    found: Found


class StoredPage(FileRecord):
    """``pages/<hash>.json``: what came of fetching one address."""

    url: str
    at: AwareDatetime
    source: Hash | None = None
    """Of the source that was made of it; None when there is a ``failure``."""
    final_url: str = ""
    redirects: tuple[str, ...] = ()
    content_type: str = ""
    body: Hash | None = None
    """Of the bytes that were sent, unpacked. The bytes themselves are not kept."""
    failure: str = ""
    """A word for why it was not read, such as ``status``, and what was seen."""
    detail: str = ""
    passing: bool = False
    """The failure may be over by now: it is tried again unless this is a replay."""


class SearchPlan(Record):
    """What a search would ask for, worked out before anything is asked."""

    engine: str
    queries: int
    stored: int
    """Queries whose answers are here already."""
    searches: int
    """Most searches that would be billed, without retries."""
    usd: float | None
    """For them, at the price in the engine's options; tokens of a model not counted; None where
    no price is given."""
    pages: int
    """Most pages that would be fetched."""
    missing: tuple[str, ...] = ()
    """With replay: queries without a stored answer."""
