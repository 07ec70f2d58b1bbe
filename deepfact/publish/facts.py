"""What the files of a snapshot say that the claims do not: gathered once, written by several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deepfact.publish.licences import Licence
from deepfact.publish.measured import AuditedRound, MicroGoldRates
from deepfact.publish.metadata import StatedMetadata, listed
from deepfact.records import Manifest


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of a version beside its claims and sources."""

    stated: StatedMetadata
    body: str
    """The benchmark's own card, without its front matter."""
    licence: Licence
    languages: tuple[str, ...]
    lineage: Sequence[Manifest]
    """From the first version to the published one, with what merges brought in."""
    microgold: MicroGoldRates | None
    rounds: Sequence[AuditedRound]
    repo: str
    """``owner/name`` on the Hub; empty for a folder."""

    @property
    def manifest(self) -> Manifest:
        """Of the published version."""
        return self.lineage[-1]

    @property
    def title(self) -> str:
        """What the benchmark is called."""
        return self.stated.pretty_name or self.manifest.benchmark

    @property
    def authors(self) -> list[str]:
        """Whom to name: the authors that the card states, or those who made the versions."""
        return listed(self.stated.authors) or list(dict.fromkeys(m.author for m in self.lineage))

    @property
    def url(self) -> str:
        """Where the snapshot is on the Hub; empty for a folder."""
        return f"https://huggingface.co/datasets/{self.repo}" if self.repo else ""
