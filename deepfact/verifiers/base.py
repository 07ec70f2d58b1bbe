"""What a verifier is, what it is given, and the table of those that ship.

A verifier has one method. It may be a plain function of its arguments or a coroutine; it
must not read labels, keys or the network unless its spec says so. Whoever calls it matches
its answer by claim id and turns an exception into a verification failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Awaitable, Mapping, Protocol, runtime_checkable

from deepfact import plugins
from deepfact.records import Claim, Source, Verdict, VerificationFailure
from deepfact.retrievers.base import Retriever
from deepfact.run_records import VerifierSpec
from deepfact.store.sources import KeptSources, SourceStore

GROUP = "deepfact.verifiers"

BUILT_IN = {
    "document": "deepfact.verifiers.document.verifier:DocumentVerifier",
    "factcheck-gpt": "deepfact.verifiers.document.factcheck_gpt:FactCheckGptVerifier",
    "grouped": "deepfact.verifiers.document.verifier:GroupedVerifier",
    "safe": "deepfact.verifiers.document.safe:SafeVerifier",
    "veriscore": "deepfact.verifiers.document.veriscore:VeriScoreVerifier",
    "local": "deepfact.verifiers.local:LocalVerifier",
    "command": "deepfact.verifiers.command:CommandVerifier",
    "majority": "deepfact.verifiers.trivial:MajorityVerifier",
    "nli": "deepfact.verifiers.nli:NliVerifier",
    "overlap": "deepfact.verifiers.trivial:OverlapVerifier",
    "panel": "deepfact.verifiers.panel:PanelVerifier",
    "retrieval": "deepfact.verifiers.trivial:RetrievalVerifier",
}


@dataclass(frozen=True)
class Context:
    """What a verifier may read: the benchmark's sources, and a way to search them."""

    sources: Mapping[str, Source]
    """Every source of the benchmark by id; those read last are kept in memory."""

    def __post_init__(self) -> None:
        if isinstance(self.sources, SourceStore):
            object.__setattr__(self, "sources", KeptSources(self.sources))

    @cached_property
    def retriever(self) -> Retriever:
        """BM25 over all the benchmark's sources; the index is built on first use."""
        from deepfact.retrievers.bm25 import BM25Retriever

        return BM25Retriever(self.sources.values())

    def cited(self, claim: Claim) -> list[Source]:
        """The sources that the claim cites and the benchmark holds, in citation order."""
        return [self.sources[source] for source in claim.cites if source in self.sources]


@runtime_checkable
class Verifier(Protocol):
    """Reads what bears on one claim and concludes on it."""

    def verify(
        self, claim: Claim, context: Context
    ) -> Verdict | VerificationFailure | Awaitable[Verdict | VerificationFailure]:
        """The verdict on ``claim``, or why there is none. The answer names the claim's id."""
        ...


def build_verifier(spec: VerifierSpec, *, workspace: Path | None = None) -> Verifier:
    """The verifier that a spec describes.

    Args:
        spec: kind and options.
        workspace: a run's folder, for what a verifier keeps (a panel: the answers it paid for).

    Raises:
        ConfigError: unknown kind or option.
    """
    given = {"workspace": workspace}
    verifier: Verifier = plugins.build(GROUP, BUILT_IN, spec.kind, spec.options, given)
    return verifier


def verifier_kinds() -> list[str]:
    """All kinds of verifier that a spec can name."""
    return plugins.kinds(GROUP, BUILT_IN)
