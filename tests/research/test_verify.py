"""Asking a verifier: one outcome a claim, no generated or withdrawn text, texts side by side."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from deepfact.errors import InputError
from deepfact.records import Contradiction, Label, Source, SourceRole, Stance, Verdict
from deepfact.research.gate import compile_report
from deepfact.research.stages import verify_stage
from deepfact.research.verify import cross_readings, verifier_of, verify_claims
from deepfact.research_records import (
    Ledger,
    Link,
    Method,
    ResearchClaim,
    Resolution,
    SourceCard,
)
from deepfact.store.ledger import LedgerStore
from deepfact.store.ledger_records import ClaimAdded

WHEN = datetime(2026, 6, 1, tzinfo=UTC)


def card(title: str, text: str, role: SourceRole = SourceRole.PRIMARY) -> SourceCard:
    return SourceCard(source=Source.create(title=title, text=text, role=role))


BLUE = card("blue", "The tower of X is painted blue, says the town.")
GREEN = card("green", "The tower of X is painted green, says the county.")
MODEL = card("model", "The tower is red.", SourceRole.MODEL_ANSWER)


def claim(name: str, of: SourceCard, text: str) -> ResearchClaim:
    return ResearchClaim(id=name, text=text, subject="tower of X", card=of.source.id)


LEDGER = Ledger(
    cards=(BLUE, GREEN, MODEL),
    claims=(
        claim("c1", BLUE, "The tower of X is painted blue."),
        claim("c2", GREEN, "The tower of X is painted green."),
        claim("c3", MODEL, "The tower is red."),
    ),
    links=(
        Link(claim="c1", card=GREEN.source.id, stance=Stance.CONTRADICTS),
        Link(claim="c2", card=BLUE.source.id, stance=Stance.CONTEXT),
    ),
)


class Reader:
    """Sees what it is given; says contradictory when the cited text has another colour."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, tuple[str, ...], frozenset[str]]] = []

    def verify(self, claim, context):
        titles = tuple(source.title for source in context.cited(claim))
        held = frozenset(source.title for source in context.sources.values())
        self.seen.append((claim.text, titles, held))
        colour = claim.text.split()[-1].rstrip(".")
        for source in context.cited(claim):
            if colour not in source.text:
                against = Contradiction(disputed=colour, source=source.id, quote=source.text[:40])
                return Verdict(
                    claim_id=claim.id, label=Label.CONTRADICTORY, contradictions=(against,)
                )
        return Verdict(claim_id=claim.id, label=Label.SUPPORTED)


def test_claims_cite_their_card_and_what_is_linked_for_or_against():
    reader = Reader()
    outcomes = list(verify_claims(LEDGER, reader, name="reader"))
    assert [one.claim_id for one in outcomes] == ["c1", "c2", "c3"]
    assert all(one.verifier == "reader" for one in outcomes)
    assert [titles for _, titles, _ in reader.seen] == [("blue", "green"), ("green",), ()]
    assert all(held == {"blue", "green"} for _, _, held in reader.seen), "no generated text"


def test_withdrawn_cards_are_not_read_and_their_claims_not_asked():
    gone = Resolution(
        contradiction="x", method=Method.SOURCE_WITHDRAWN, who="a", when=WHEN, why="w",
        withdrawn=GREEN.source.id,
    )  # fmt: skip
    reader = Reader()
    made = LEDGER.model_copy(update={"resolutions": (gone,)})
    assert [o.claim_id for o in verify_claims(made, reader, name="r")] == ["c1", "c3"]
    assert all("green" not in held for _, _, held in reader.seen)


def test_texts_that_conflict_are_found_side_by_side():
    readings = list(cross_readings(LEDGER, Reader(), name="reader"))
    assert [(one.claim, one.card) for one in readings] == [
        ("c1", GREEN.source.id), ("c2", BLUE.source.id),
    ]  # fmt: skip
    assert all(one.outcome.claim_id == one.claim for one in readings)
    report = compile_report(LEDGER.model_copy(update={"readings": tuple(readings)}))
    (found,) = report.skeptic.contradictions
    assert found.kind == "text" and found.claims == ("c1", "c2")
    assert report.status == "incomplete"


def test_the_stage_keeps_what_it_has_when_it_breaks_off(tmp_path):
    class Breaks(Reader):
        def verify(self, claim, context):
            if claim.id == "c2":
                raise KeyboardInterrupt
            return super().verify(claim, context)

    with LedgerStore(tmp_path) as store:
        store.add_cards(LEDGER.cards, who="a", when=WHEN)
        store.add([ClaimAdded(claim=one) for one in LEDGER.claims], who="a", when=WHEN)
        with pytest.raises(KeyboardInterrupt):
            verify_stage(store, Breaks, name="r", when=WHEN)
        assert [one.claim_id for one in store.ledger.outcomes] == ["c1"]
        reader = Reader()
        assert verify_stage(store, lambda: reader, name="r", when=WHEN, texts=True) == 0
        assert len(reader.seen) == 4, "two claims left, and two readings"
        assert len(store.ledger.readings) == 2
        assert verify_stage(store, lambda: reader, name="r", when=WHEN, again=True) == 0
        assert len(reader.seen) == 7


def test_readings_have_a_bound_and_say_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("deepfact.research.verify.READINGS", 1)
    with LedgerStore(tmp_path) as store:
        store.add_cards(LEDGER.cards, who="a", when=WHEN)
        store.add([ClaimAdded(claim=one) for one in LEDGER.claims], who="a", when=WHEN)
        assert verify_stage(store, Reader, name="r", when=WHEN, texts=True) == 1
        assert verify_stage(store, Reader, name="r", when=WHEN, texts=True) == 0


def test_verifiers_go_by_kind_or_by_file(tmp_path):
    assert verifier_of("local")[0] == "local"
    path = tmp_path / "mine.yaml"
    path.write_text("kind: overlap\nname: words\n", encoding="utf-8")
    assert verifier_of(str(path))[0] == "words"
    with pytest.raises(InputError, match="unknown kind"):
        verifier_of("locul")
