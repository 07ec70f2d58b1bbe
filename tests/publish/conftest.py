"""A benchmark with all three labels, private claims, reports, and micro-gold, to publish."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepfact import records
from deepfact.publish.build import Options, Snapshot, build
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, write_text

CARD = (
    "---\nlicense: cc-by-4.0\nlanguage: en\nauthors: [Ada Mill]\n---\n\n# Mills\n\nAbout mills.\n"
)

SECRET = "CANARY-SECRET"
"""Stands in everything that must not be published."""


@pytest.fixture
def write_keys() -> Callable[..., None]:
    """Puts known answers into a benchmark and has them recorded."""

    def write(store: BenchmarkStore, which: str = "microgold", **answers: str) -> None:
        entries = [
            records.KeyEntry(
                claim_id=claim_id,
                label=records.Label(label),
                stratum=f"{SECRET}-stratum",
                rationale=f"{SECRET}-rationale",
                disputed=f"{SECRET}-disputed",
            )
            for claim_id, label in answers.items()
        ]
        write_text(store.keys / f"{which}.jsonl", jsonl(entry.canonical() for entry in entries))
        seal.record(store.folder, who="tester", why="test")

    return write


@pytest.fixture
def mills(tmp_path: Path, make: Any, write_keys: Callable[..., None]) -> BenchmarkStore:
    """Five public claims, two private ones and a retired one, over seven sources."""
    shared = make.source("The mill was built in 1898.", title="Shared")
    public = make.source("It closed in 1931.", title="Public")
    hidden = make.source(f"{SECRET} a letter that only a private claim cites.", title="Hidden")
    unused = make.source("Nobody cites this.", title="Unused")
    mixed = make.source(
        f"The mill closed in 1931. {SECRET} was its owner.", title="Mixed", role="generated"
    )
    open_report = make.source("It had two wheels.", title="Open report", role="generated")
    aside = make.source("The count includes a later wheel.", title="Aside")
    kinds = records.QualificationKind
    steps = [
        make.add("m-2", "supported", cites=(shared.id,), domain="history", kind="date"),
        make.add("m-3", "contradictory", cites=(public.id,), domain="history"),
        make.add("m-1", "inconclusive", domain="trade"),
        make.add("m-4", None, domain="trade"),
        make.add("m-9", "supported", text=f"{SECRET} owned the mill.", private=True,
                 cites=(hidden.id, shared.id),
                 origin=records.Origin(report="r-1", document=mixed.id)),
        make.add("m-8", "contradictory", text=f"{SECRET} sold it.", private=True),
        make.add("m-7", "supported", text="It burnt down."),
    ]  # fmt: skip
    steps[0] = steps[0].model_copy(
        update={
            "claim": steps[0].claim.model_copy(
                update={
                    "origin": records.Origin(
                        report="r-1", document=mixed.id, sentence=3,
                        span=records.Span(start=0, end=4),
                    )
                }
            ),
            "annotation": make.annotation(
                "supported",
                rationale="It says 1898.",
                evidence=(
                    records.Evidence(
                        source=shared.id, quote="built in 1898", stance=records.Stance.SUPPORTS,
                        span=records.Span(start=13, end=26),
                    ),
                ),
                qualifications=(
                    records.Qualification(kind=kinds.SCOPE, text="Old mill", source=aside.id),
                ),
                original_label="TRUE",
            ),
        }
    )  # fmt: skip
    steps[1] = steps[1].model_copy(
        update={
            "claim": steps[1].claim.model_copy(
                update={
                    "origin": records.Origin(
                        report="r-2", document=open_report.id, span=records.Span(start=1, end=5)
                    )
                }
            ),
            "annotation": make.annotation(
                "contradictory",
                contradictions=(
                    records.Contradiction(
                        disputed="1932", source=public.id, quote="closed in 1931"
                    ),
                ),
            ),
        }
    )
    store = BenchmarkStore.create(tmp_path / "benchmarks" / "mills", card=CARD)
    everything = [shared, public, hidden, unused, mixed, open_report, aside]
    store.commit(
        steps, parent=None, author="ada", date=make.WHEN, note="the first", sources=everything
    )
    store.commit(
        [make.revision("retire", "m-7"), make.add("m-5", "supported", domain="trade")],
        parent=1, author="ben", date=make.WHEN, note="a wheel more",
    )  # fmt: skip
    write_keys(store, **{"m-1": "supported", "m-2": "supported", "m-9": "supported"})
    write_keys(store, "author", **{"m-1": "inconclusive"})
    return store


@pytest.fixture
def snapshot(mills: BenchmarkStore) -> Snapshot:
    """The newest version of `mills`, as it is published."""
    return build(mills.load(), Options())


@pytest.fixture
def put(tmp_path: Path) -> Callable[[Snapshot], Path]:
    """Writes a snapshot into a folder."""
    from deepfact.publish.folder import write_snapshot

    def write(snapshot: Snapshot) -> Path:
        write_snapshot(tmp_path / "out", snapshot.files)
        return tmp_path / "out"

    return write
