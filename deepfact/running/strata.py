"""The strata of a version's claims, for tables of scores. Imports little: a score needs it."""

from __future__ import annotations

from deepfact.store.benchmark import BenchmarkVersion


def strata_of(version: BenchmarkVersion) -> list[tuple[str, ...]]:
    """The strata of each live claim, in order: its domain, and what the author's key says of it."""
    columns = version.state.columns
    named: dict[str, tuple[str, ...]] = {
        name: (f"domain: {name}",) if name else () for name in set(columns.domains)
    }
    found = [named[domain] for domain in columns.domains]
    if key := version.store.key("author"):
        for place, claim_id in enumerate(columns.claim_ids):
            if claim_id in key and (stratum := key[claim_id].stratum):
                found[place] += (f"stratum: {stratum}",)
    return found
