"""The claims of an experiment: from a benchmark version or from plain files, with what is known.

Labels and qualifications are kept apart from the claims, since verifiers must not see them.
Only reads; asks nobody anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Mapping, Sequence

from deepfact.errors import BenchmarkError, ConfigError, did_you_mean
from deepfact.experiment_records import AskedClaim, ClaimsSpec, LabelsFrom, SelectSpec
from deepfact.records import Claim, Label, Source, canonical_json, sha256_of
from deepfact.store.locate import load_version
from deepfact.verifiers.base import Context


@dataclass(frozen=True)
class ClaimSet:
    """Claims to ask about, their sources, and what is known of them."""

    name: str
    """As reports call it, such as ``deepfact-mini@1``."""
    state_hash: str
    """Of the benchmark's state, or of the claims and labels that files gave."""
    claims: tuple[Claim, ...]
    labels: Mapping[str, Label]
    """By claim id; claims without a label are not in it."""
    qualified: frozenset[str]
    """Ids of claims whose annotation or key entry carries a qualification."""
    sources: Mapping[str, Source]
    labels_from: LabelsFrom
    version: int = 0
    """Of the benchmark; 0 for files."""

    @cached_property
    def context(self) -> Context:
        """What verifiers may read: the sources, and nothing that is known of the claims."""
        return Context(sources=self.sources)

    @property
    def reports(self) -> dict[str, str]:
        """The report of each claim."""
        return {claim.id: claim.report for claim in self.claims}

    def asked(self) -> tuple[AskedClaim, ...]:
        """The claims with what is known of them, for records."""
        return tuple(
            AskedClaim(
                claim=claim, label=self.labels.get(claim.id), qualified=claim.id in self.qualified
            )
            for claim in self.claims
        )


def load_claims(spec: ClaimsSpec, root: Path | None = None) -> ClaimSet:
    """The claims that a spec selects.

    Args:
        spec: any spec that says where its claims come from; paths are those of the working
            folder.
        root: folder that holds benchmarks.

    Raises:
        InputError: no such benchmark, version, key or file, a file that does not fit, or a
            selection that leaves no claim.
    """
    return _of_benchmark(spec, root) if spec.benchmark else _of_files(spec)


def _of_benchmark(spec: ClaimsSpec, root: Path | None) -> ClaimSet:
    version = load_version(spec.benchmark, root)
    claims = _selected(version.claims, spec.select, str(version))
    kept = {claim.id for claim in claims}
    annotations = {
        entry.claim.id: entry.annotation
        for entry in version.state
        if entry.annotation and entry.claim.id in kept
    }
    known: Mapping[str, tuple[Label, bool]] = {
        name: (one.label, bool(one.qualifications)) for name, one in annotations.items()
    }
    if spec.key:
        key = version.store.key(spec.key)
        if not key:
            raise BenchmarkError(
                f"{version} has no key {spec.key!r}",
                fix="leave `key` out to take the labels of the version",
            )
        known = {
            name: (one.label, bool(one.qualifications)) for name, one in key.items() if name in kept
        }
    where = LabelsFrom.KEY if spec.key else LabelsFrom.VERSION
    return ClaimSet(
        name=str(version),
        state_hash=version.manifest.state_hash,
        claims=claims,
        labels={name: label for name, (label, _) in known.items()},
        qualified=frozenset(name for name, (_, qualified) in known.items() if qualified),
        sources=version.sources,
        labels_from=where if known else LabelsFrom.NOWHERE,
        version=version.manifest.version,
    )


def _of_files(spec: ClaimsSpec) -> ClaimSet:
    from deepfact.importers.generic import read_csv, read_jsonl

    path = Path(spec.claims)
    read = read_csv if path.suffix.lower() == ".csv" else read_jsonl
    imported = read(
        path,
        when=datetime(1970, 1, 1, tzinfo=UTC),  # of annotations, whose dates nobody reads here
        mapping=Path(spec.mapping) if spec.mapping else None,
        sources=Path(spec.sources) if spec.sources else None,
    )
    claims = _selected([claim for claim, _ in imported.claims], spec.select, str(path))
    annotations = {claim.id: one for claim, one in imported.claims if one is not None}
    kept = {claim.id: annotations.get(claim.id) for claim in claims}
    labels = {name: one.label for name, one in kept.items() if one}
    state = [[claim.canonical(), labels.get(claim.id)] for claim in claims]
    return ClaimSet(
        name=path.name,
        state_hash=sha256_of(canonical_json(state)),
        claims=claims,
        labels=labels,
        qualified=frozenset(name for name, one in kept.items() if one and one.qualifications),
        sources={source.id: source for source in imported.sources},
        labels_from=LabelsFrom.FILE if labels else LabelsFrom.NOWHERE,
    )


def _selected(claims: Sequence[Claim], select: SelectSpec, where: str) -> tuple[Claim, ...]:
    """The claims that a selection leaves, in their order.

    Raises:
        ConfigError: it names what is not there, or leaves nothing.
    """
    for what, asked, there in (
        ("claim", select.ids, {claim.id for claim in claims}),
        ("domain", select.domains, {claim.domain for claim in claims}),
        ("report", select.reports, {claim.report for claim in claims}),
    ):
        for name in asked:
            if name not in there:
                known = did_you_mean(name, sorted(one for one in there if one)[:50])
                raise ConfigError(
                    f"`select` names a {what} that is not there: {name!r}", where=where, fix=known
                )
    kept = [
        claim
        for claim in claims
        if (not select.ids or claim.id in select.ids)
        and (not select.domains or claim.domain in select.domains)
        and (not select.reports or claim.report in select.reports)
    ]
    if not kept:
        raise ConfigError(
            "no claim is selected" if claims else "there are no claims",
            where=where,
            fix="its parts must fit together: widen `select`" if claims else "",
        )
    return tuple(kept[: select.limit or None])
