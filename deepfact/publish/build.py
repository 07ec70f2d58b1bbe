"""A snapshot as files in memory: what ``deepfact bench publish`` writes or uploads.

The same version, options and runs give the same bytes, whenever and wherever. This module reads
the store and the runs' records, and writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepfact.errors import BenchmarkError, IntegrityError
from deepfact.publish.card import distribution, render_card
from deepfact.publish.citation import render_changelog, render_citation
from deepfact.publish.croissant import render_croissant
from deepfact.publish.facts import Facts
from deepfact.publish.folder import MARKER, SnapshotRecord
from deepfact.publish.measured import MicroGoldRates, audited_round, microgold_rates, read_rounds
from deepfact.publish.metadata import StatedMetadata, licence_of, listed, read_card
from deepfact.publish.selection import Selection, select
from deepfact.publish.tables import COLUMNS, as_jsonl, as_parquet, tables
from deepfact.records import sha256_of
from deepfact.run_records import RunRecord, RunStatus
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_record, read_text
from deepfact.store.integrity import verify
from deepfact.version import VERSION


@dataclass(frozen=True, slots=True)
class Options:
    """What the one who publishes decides."""

    licence: str = ""
    """The Hub's or SPDX's id; what the card states when empty."""
    licence_file: Path | None = None
    """Text of the licence; the benchmark's own LICENSE when None."""
    languages: tuple[str, ...] = ()
    """Codes such as ``en``; what the card states when empty."""
    runs: tuple[Path, ...] = ()
    """Results folders of rounds that led to the version."""
    repo: str = ""
    """``owner/name`` on the Hub; empty for a folder."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a snapshot, and what can be said of it."""

    files: Mapping[str, bytes]
    """By path, slashes between folders, in the order in which they are listed."""
    record: SnapshotRecord
    labels: Mapping[str, int]
    microgold: MicroGoldRates | None
    blank: tuple[str, ...]
    remarks: tuple[str, ...]
    """What the one who publishes should know."""

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        record = self.record
        return {
            "benchmark": record.benchmark,
            "version": record.version,
            "state_hash": record.state_hash,
            "claims": record.claims,
            "private_left_out": record.private_left_out,
            "sources": record.sources,
            "sources_left_out": record.sources_left_out,
            "labels": dict(self.labels),
            "microgold": {
                "labels": self.microgold.labels.model_dump(mode="json"),
                "binary": self.microgold.binary.model_dump(mode="json"),
            }
            if self.microgold
            else None,
            "blank": list(self.blank),
            "files": {path: len(data) for path, data in self.files.items()},
            "remarks": list(self.remarks),
        }


def build(version: BenchmarkVersion, options: Options) -> Snapshot:
    """The snapshot of a version.

    Raises:
        IntegrityError: the benchmark fails `deepfact bench verify`.
        ConfigError: no licence, or a card whose front matter is wrong.
        BenchmarkError: nothing to publish, or micro-gold claims that can be told.
        InputError: a run that cannot be used.
    """
    check(version)
    path = version.store.folder / "README.md"
    stated, body = read_card(path)
    selection = select(version)
    facts = _facts(version, options, stated, body)
    rows = tables(selection)
    claims = rows["claims"]
    parquet = {f"data/{name}.parquet": as_parquet(rows[name], COLUMNS[name]) for name in rows}
    texts = {
        "README.md": render_card(selection, rows, facts),
        "CHANGELOG.md": render_changelog(facts.lineage),
        "CITATION.cff": render_citation(facts),
        "LICENSE": _licence_text(version, options, facts),
        "croissant.json": render_croissant(facts, parquet, len(claims)),
    }
    files = {
        **{name: text.encode("utf-8") for name, text in texts.items()},
        **parquet,
        **{f"jsonl/{name}.jsonl": as_jsonl(found) for name, found in rows.items()},
    }
    record = SnapshotRecord(
        benchmark=version.store.name,
        version=version.manifest.version,
        state_hash=version.manifest.state_hash,
        deepfact=VERSION,
        claims=len(claims),
        private_left_out=selection.private,
        sources=len(selection.sources),
        sources_left_out=selection.sources_left_out,
        files={name: sha256_of(data) for name, data in files.items()},
    )
    files[MARKER] = (record.model_dump_json(indent=1) + "\n").encode("utf-8")
    [(_, counts), *_] = distribution(claims)
    labels = ("supported", "contradictory", "inconclusive", "unlabelled")
    return Snapshot(
        files=files,
        record=record,
        labels=dict(zip(labels, counts, strict=True)),
        microgold=facts.microgold,
        blank=selection.blank,
        remarks=tuple(_remarks(selection, facts)),
    )


def check(version: BenchmarkVersion) -> None:
    """Refuse a benchmark in which any hash does not hold, and the copy of a run that goes on.

    Raises:
        IntegrityError: naming the first file that is off.
        BenchmarkError: an open run's copy, which has no keys: nothing would tell what is secret.
    """
    run = version.store.folder.resolve().parent.parent
    if all((run / name).is_file() for name in ("spec.json", "journal.jsonl")) and not _done(run):
        raise BenchmarkError(
            "this copy belongs to a run that is still open",
            where=str(version.store.folder),
            fix=f"finish the run first: deepfact round resume {run}",
        )
    if problems := verify(version.store):
        more = f" (and {len(problems) - 1} more problems)" if problems[1:] else ""
        raise IntegrityError(
            f"not published, since the benchmark fails its check: {problems[0].what}{more}",
            where=problems[0].where,
            fix=f"see all of it with: deepfact bench verify {version.store.name}",
        )


def _done(run: Path) -> bool:
    path = run / "record.json"
    return path.is_file() and read_record(path, RunRecord).status is RunStatus.COMPLETE


def _facts(version: BenchmarkVersion, options: Options, stated: StatedMetadata, body: str) -> Facts:
    rounds = read_rounds(version, options.runs)
    where = str(version.store.folder / "README.md")
    return Facts(
        stated=stated,
        body=body,
        licence=licence_of(stated, options.licence, where=where),
        languages=options.languages or tuple(listed(stated.language)),
        lineage=version.store.ancestry(version.manifest.version),
        microgold=microgold_rates(version),
        rounds=[audited_round(record, done) for record, done in rounds],
        repo=options.repo,
    )


def _licence_text(version: BenchmarkVersion, options: Options, facts: Facts) -> str:
    own = version.store.folder / "LICENSE"
    if options.licence_file:
        return read_text(options.licence_file)
    return read_text(own) if own.is_file() else facts.licence.notice(version.store.name)


def _remarks(selection: Selection, facts: Facts) -> list[str]:
    """What may have to be put right by hand."""
    said = []
    if not facts.languages:
        said.append(
            "no language is stated: give --language en, or write `language: en` in the card"
        )
    if selection.blank:
        said.append(
            f"left blank, since it would set some claims apart: {', '.join(selection.blank)}"
        )
    words = "\n".join([facts.body, *(f"{m.author} {m.note}" for m in facts.lineage)])
    for claim in (entry.claim for entry in selection.version.state.entries.values()):
        if claim.private and (claim.text in words or _names(words, claim.id)):
            said.append(f"the card or the changelog mentions the private claim {claim.id!r}")
    return said


def _names(words: str, claim_id: str) -> bool:
    """Whether an id stands in a text as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(claim_id)}(?![\w-])", words) is not None
