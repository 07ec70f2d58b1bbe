"""A research run as a benchmark: labels only where something was concluded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from deepfact.errors import InputError
from deepfact.importers import importer
from deepfact.records import (
    Contradiction,
    FailureReason,
    Label,
    PanelOutcome,
    Qualification,
    QualificationKind,
    Source,
    SourceRole,
    Verdict,
    VerificationFailure,
)
from deepfact.research_records import Method, ResearchClaim, Resolution, SourceCard
from deepfact.store.files import write_text
from deepfact.store.ledger import LedgerStore, document_of, read_ledger
from deepfact.store.ledger_records import ClaimAdded, OutcomeAdded, ResolutionAdded

WHEN = datetime(2026, 6, 1, tzinfo=UTC)
MILL = SourceCard(source=Source.create(title="Mill", text="The mill was built in 1898."))
DAM = SourceCard(source=Source.create(title="Dam", text="The dam is gone."))
MODEL = SourceCard(
    source=Source.create(title="Answer", text="So it is.", role=SourceRole.MODEL_ANSWER)
)


def claim(name: str, card: SourceCard = MILL) -> ResearchClaim:
    return ResearchClaim(
        id=name, text=f"Claim {name} is so.", card=card.source.id,
        subject="mill", predicate="built", object="1898",
    )  # fmt: skip


@pytest.fixture
def run(tmp_path):
    note = Qualification(kind=QualificationKind.SCOPE, text="the old wing")
    wrong = Contradiction(disputed="so", source=MILL.source.id, quote="built in 1898")
    outcomes = [
        Verdict(claim_id="c1", label=Label.SUPPORTED, verifier="local", rationale="It says so.",
                qualifications=(note,)),
        Verdict(claim_id="c2", label=Label.CONTRADICTORY, contradictions=(wrong,)),
        Verdict(claim_id="c3", label=Label.INCONCLUSIVE),
        VerificationFailure(claim_id="c4", reason=FailureReason.TIMEOUT),
        Verdict(claim_id="c5", label=Label.INCONCLUSIVE, panel=PanelOutcome.REFUTED),
    ]  # fmt: skip
    claims = [*(claim(f"c{n}") for n in range(1, 7)), claim("c7", MODEL), claim("c8", DAM)]
    gone = Resolution(
        contradiction="x", method=Method.SOURCE_WITHDRAWN, who="a", when=WHEN, why="w",
        withdrawn=DAM.source.id,
    )  # fmt: skip
    with LedgerStore(tmp_path / "run") as store:
        store.add_cards([MILL, DAM, MODEL], who="a", when=WHEN)
        store.add([ClaimAdded(claim=one) for one in claims], who="a", when=WHEN)
        store.add([OutcomeAdded(outcome=one) for one in outcomes], who="a", when=WHEN)
        store.add([ResolutionAdded(resolution=gone)], who="a", when=WHEN)
    return tmp_path / "run"


def test_labels_come_from_conclusions_alone(run):
    imported = importer("research")(run, when=WHEN)
    labels = {claim.id: note and str(note.label) for claim, note in imported.claims}
    assert labels == {
        "c1": "supported", "c2": "contradictory", "c3": None, "c4": None, "c5": "inconclusive",
        "c6": None,
    }  # fmt: skip
    first, annotation = imported.claims[0]
    assert annotation.provenance.who == "local" and annotation.rationale == "It says so."
    assert annotation.qualifications[0].text == "the old wing"
    assert first.cites == (MILL.source.id,) and (first.subject, first.object) == ("mill", "1898")


def test_generated_and_withdrawn_cards_bring_nothing(run):
    imported = importer("research")(run, when=WHEN)
    assert [source.title for source in imported.sources] == ["Mill"]
    assert {row.where.rpartition(" ")[2]: row.why for row in imported.skipped} == {
        "c7": "its card is generated text", "c8": "its card was withdrawn",
    }  # fmt: skip
    assert any("3 claims are unlabelled" in note for note in imported.notes)


def test_without_labels_and_from_a_document(run, tmp_path):
    document = tmp_path / "ledger.json"
    write_text(document, document_of(read_ledger(run)).model_dump_json(exclude_defaults=True))
    imported = importer("research")(document, when=WHEN, labels="false")
    assert len(imported.claims) == 6 and all(note is None for _, note in imported.claims)


def test_no_ledger(tmp_path):
    with pytest.raises(InputError, match="no ledger"):
        importer("research")(tmp_path, when=WHEN)


def test_the_whole_way_into_a_benchmark(run, tmp_path):
    from deepfact.cli.bench_import import import_data_set
    from deepfact.store.benchmark import BenchmarkStore

    summary = import_data_set(
        "research", run, folder=tmp_path / "bench", options={}, author="ada", date=WHEN,
        dry_run=False,
    )  # fmt: skip
    assert summary.added == 6 and summary.version == 1
    version = BenchmarkStore(tmp_path / "bench").load(1)
    assert version.manifest.counts.unlabelled == 3 and len(version.sources) == 1
