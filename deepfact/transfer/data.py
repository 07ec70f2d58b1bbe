"""The data sets of a transfer run: read, sampled, and put together as one benchmark for auditors.

Each data set keeps its own sources: what verifiers read of one never comes from another. Auditors
decide cases of all of them, so these are cases of one benchmark, in the run's folder, that holds
the sampled claims under ids with their data set's name before them. Data sets are only read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from deepfact.core.state import Entry
from deepfact.core.transfer import combined_id, names_itself, sampled
from deepfact.errors import BenchmarkError
from deepfact.importers import importer
from deepfact.records import (
    Annotation,
    Claim,
    KeyEntry,
    Label,
    Revision,
    RevisionKind,
    Source,
    canonical_json,
    sha256_of,
)
from deepfact.retrievers.citing import citing
from deepfact.retrievers.registry import RetrieverSpec, build_retriever
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.files import jsonl, write_text
from deepfact.store.locate import load_version
from deepfact.transfer_records import DataSetRef, DataSetSpec, TransferSpec
from deepfact.verifiers.base import Context

BENCHMARK = "transfer"
"""What the benchmark in a run's folder is called."""
WHO = "transfer"


@dataclass(frozen=True)
class DataSet:
    """A data set, with the claims of it that are in the run."""

    spec: DataSetSpec
    ref: DataSetRef
    entries: tuple[Entry, ...]
    """The sampled claims with their annotations, under the data set's own ids."""
    sources: Mapping[str, Source]
    answers: Mapping[str, KeyEntry]
    """The author's key, where a benchmark has one; for simulated auditors alone."""

    @cached_property
    def asked(self) -> tuple[Claim, ...]:
        """The claims as verifiers get them: with what a retriever found, where the spec says so."""
        claims = [entry.claim for entry in self.entries]
        evidence = self.spec.evidence
        if not evidence.retriever:
            return tuple(claims)
        named = RetrieverSpec(kind=evidence.retriever, options=evidence.options)
        return tuple(citing(claims, build_retriever(named, self.sources), evidence.documents))

    @cached_property
    def context(self) -> Context:
        """What verifiers may read: this data set's sources and no other's."""
        return Context(self.sources)

    @property
    def key(self) -> dict[str, Label]:
        """The data set's labels, by claim id."""
        return {e.claim.id: e.annotation.label for e in self.entries if e.annotation}

    @property
    def reports(self) -> dict[str, str]:
        """The report of each claim, by which intervals are clustered."""
        return {entry.claim.id: entry.claim.report for entry in self.entries}

    def id_of(self, claim_id: str) -> str:
        """A claim's id in the run's benchmark."""
        return combined_id(self.spec.name, claim_id)


def read_data_sets(
    spec: TransferSpec, when: datetime, root: Path | None = None
) -> tuple[DataSet, ...]:
    """The data sets that a spec names.

    Args:
        spec: of the run.
        when: the date of imported annotations.
        root: folder that holds benchmarks.

    Raises:
        InputError: there is none, its files do not fit, or not one claim of it has a label.
    """
    return tuple(_read(one, spec, when, root) for one in spec.data_sets)


def _read(one: DataSetSpec, spec: TransferSpec, when: datetime, root: Path | None) -> DataSet:
    skipped, notes, answers = 0, tuple[str, ...](), dict[str, KeyEntry]()
    if one.benchmark:
        version = load_version(one.benchmark, root)
        entries = [Entry(entry.claim, entry.annotation) for entry in version.state
                   if not entry.retired]  # fmt: skip
        sources: Mapping[str, Source] = version.sources
        of, answers = str(version), version.store.key("author")
    else:
        imported = importer(one.format)(Path(one.path), when=when, **one.options)
        entries = [Entry(claim, annotation) for claim, annotation in imported.claims]
        sources = {source.id: source for source in imported.sources}
        of = f"{one.format}, {Path(one.path).name}"
        skipped, notes = len(imported.skipped), tuple(imported.notes)
    labelled = {entry.claim.id: entry for entry in entries if entry.annotation}
    if not labelled:
        raise BenchmarkError("not one claim has a label", where=f"data set {one.name!r}")
    chosen = sampled(list(labelled), one.sample or spec.sample, seed=spec.seed, name=one.name)
    kept = tuple(labelled[claim_id] for claim_id in chosen)
    ref = DataSetRef(
        name=one.name,
        of=of,
        claims=len(entries),
        labelled=len(labelled),
        sampled=len(kept),
        sources=len(sources),
        skipped=skipped,
        notes=notes,
        fingerprint=_fingerprint(kept, sources),
    )
    return DataSet(one, ref, kept, sources, answers)


def _fingerprint(entries: Sequence[Entry], sources: Mapping[str, Source]) -> str:
    held = [
        [entry.claim.canonical(), entry.annotation and entry.annotation.canonical()]
        for entry in entries
    ]
    return sha256_of(canonical_json([held, sorted(sources)]))


# --- one benchmark of all ----------------------------------------------------------------


def withheld(data_set: DataSet, annotation: Annotation) -> bool:
    """Whether auditors do not see an annotation's reason, since it names its data set."""
    names = (data_set.spec.name, data_set.spec.format)
    return names_itself(annotation.rationale, filter(None, names))


def put_together(data_sets: Sequence[DataSet], folder: Path, when: datetime) -> BenchmarkVersion:
    """The sampled claims of all data sets as a new benchmark in ``folder``, with the answers that
    are known; where a reason is withheld, without it."""
    revisions = [
        Revision(
            kind=RevisionKind.ADD,
            claim_id=one.id_of(entry.claim.id),
            who=WHO,
            when=when,
            why=f"a claim of {one.spec.name}",
            claim=_claim(one, entry.claim),
            annotation=_annotation(one, entry.annotation),
        )
        for one in data_sets
        for entry in one.entries
    ]
    store = BenchmarkStore.create(
        folder, card="# transfer\n\nClaims of several data sets, for the auditors of this run.\n"
    )
    answers = [
        answer.model_copy(update={"claim_id": one.id_of(entry.claim.id)})
        for one in data_sets
        for entry in one.entries
        if (answer := one.answers.get(entry.claim.id))
    ]
    if answers:
        write_text(store.keys / "author.jsonl", jsonl(answer.canonical() for answer in answers))
    return store.commit(
        revisions,
        parent=None,
        author=WHO,
        date=when,
        note=f"{len(revisions)} claims of {len(data_sets)} data sets",
        sources={i: one.sources[i] for one in data_sets for i in one.sources}.values(),
    )


def _claim(one: DataSet, claim: Claim) -> Claim:
    """The claim under its id in the run; its report too, so that reports stay apart."""
    origin = claim.origin
    if origin is not None:
        origin = origin.model_copy(update={"report": one.id_of(origin.report)})
    return claim.model_copy(update={"id": one.id_of(claim.id), "origin": origin})


def _annotation(one: DataSet, annotation: Annotation | None) -> Annotation | None:
    if annotation is None or not withheld(one, annotation):
        return annotation
    return annotation.model_copy(update={"rationale": ""})
