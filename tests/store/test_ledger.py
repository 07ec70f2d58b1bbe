"""The ledger's file: append-only, chained, and equal to its document."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from deepfact.errors import InputError, IntegrityError, ResultsExistError
from deepfact.records import FailureReason, Source, Stance, VerificationFailure
from deepfact.research_records import (
    CrossReading,
    Link,
    Method,
    ResearchClaim,
    Resolution,
    SourceCard,
)
from deepfact.store.files import read_record, write_text
from deepfact.store.ledger import (
    LedgerStore,
    document_entries,
    document_of,
    ledger_of,
    read_ledger,
    read_lines,
)
from deepfact.store.ledger_records import (
    CardEntry,
    ClaimAdded,
    ClaimEntry,
    LedgerDocument,
    LinkAdded,
    LinkEntry,
    OutcomeAdded,
    QuestionSet,
    ReadingAdded,
    Reported,
    ResolutionAdded,
)

WHEN = datetime(2026, 6, 1, tzinfo=UTC)
CARD = SourceCard(source=Source.create(title="Mill", text="The mill is large."), type="note")
OTHER = SourceCard(
    source=Source.create(title="Dam", text="The dam is small."), flags=("instructs",)
)
CLAIM = ResearchClaim(id="c1", text="The mill is large.", card=CARD.source.id)
FAILED = VerificationFailure(claim_id="c1", reason=FailureReason.TIMEOUT)
DECIDED = Resolution(
    contradiction="x-1", method=Method.DIFFERENT_DATE, who="ada", when=WHEN, why="two years"
)
ENTRIES = [
    QuestionSet(question="How large is the mill?", as_of=WHEN, aliases={"M": "Mill"}),
    ClaimAdded(claim=CLAIM),
    LinkAdded(link=Link(claim="c1", card=OTHER.source.id, stance=Stance.CONTEXT)),
    OutcomeAdded(outcome=FAILED),
    ReadingAdded(reading=CrossReading(claim="c1", card=OTHER.source.id, outcome=FAILED)),
    ResolutionAdded(resolution=DECIDED),
]


def fill(folder) -> None:
    with LedgerStore(folder) as store:
        assert store.add_cards([CARD, OTHER], who="ada", when=WHEN) == 2
        assert store.add(ENTRIES, who="ada", when=WHEN) == len(ENTRIES)


def test_what_was_added_is_read_again(tmp_path):
    fill(tmp_path)
    ledger = read_ledger(tmp_path)
    assert ledger.cards == (CARD, OTHER) and ledger.claims == (CLAIM,)
    assert ledger.outcomes == (FAILED,) and ledger.resolutions == (DECIDED,)
    assert ledger.links[0].card == OTHER.source.id and ledger.readings[0].claim == "c1"
    assert ledger.question == "How large is the mill?" and ledger.as_of == WHEN
    assert [line.number for line in read_lines(tmp_path)] == list(range(1, 9))


def test_adding_again_adds_nothing_but_newer_outcomes(tmp_path):
    fill(tmp_path)
    with LedgerStore(tmp_path) as store:
        before = store.ledger.content_hash()
        assert store.add_cards([CARD], who="bob", when=WHEN) == 0
        again = [one for one in ENTRIES if not isinstance(one, OutcomeAdded | ReadingAdded)]
        assert store.add(again, who="bob", when=WHEN) == 0
        assert store.ledger.content_hash() == before
        newer = FAILED.model_copy(update={"detail": "again"})
        assert store.add([OutcomeAdded(outcome=newer)], who="bob", when=WHEN) == 1
    assert read_ledger(tmp_path).outcomes == (newer,)
    told = [line.entry for line in read_lines(tmp_path) if line.entry.entry == "outcome_added"]
    assert [entry.outcome.detail for entry in told] == ["", "again"], "the older one stays"


def test_notes_of_reports_change_nothing(tmp_path):
    fill(tmp_path)
    with LedgerStore(tmp_path) as store:
        ledger = store.ledger
        note = Reported(ledger=ledger.content_hash(), status="complete", markdown=CARD.source.id)
        assert store.add([note], who="ada", when=WHEN) == 1
        assert store.ledger == ledger


def test_the_hash_is_of_the_content_and_not_of_order_or_time(tmp_path):
    fill(tmp_path / "one")
    with LedgerStore(tmp_path / "two") as store:
        store.add_cards([OTHER], who="bob", when=datetime(2027, 1, 1, tzinfo=UTC))
        store.add_cards([CARD], who="bob", when=WHEN)
        store.add([ENTRIES[1], ENTRIES[0], *ENTRIES[2:]], who="bob", when=WHEN)
    one, two = read_ledger(tmp_path / "one"), read_ledger(tmp_path / "two")
    assert one.content_hash() == two.content_hash()


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (ClaimAdded(claim=CLAIM.model_copy(update={"card": "sha256:" + "0" * 64})), "no card"),
        (ClaimAdded(claim=CLAIM.model_copy(update={"text": "Other."})), "another claim of the id"),
        (OutcomeAdded(outcome=FAILED.model_copy(update={"claim_id": "c2"})), "no claim 'c2'"),
        (
            ResolutionAdded(
                resolution=DECIDED.model_copy(
                    update={"withdrawn": "sha256:" + "0" * 64, "method": Method.SOURCE_WITHDRAWN}
                )
            ),
            "no card",
        ),
    ],
)
def test_what_does_not_fit_is_refused_whole(tmp_path, entry, says):
    fill(tmp_path)
    before = (tmp_path / "ledger.jsonl").read_bytes()
    good = ClaimAdded(claim=CLAIM.model_copy(update={"id": "c9"}))
    with LedgerStore(tmp_path) as store, pytest.raises(InputError, match=says):
        store.add([good, entry], who="ada", when=WHEN)
    assert (tmp_path / "ledger.jsonl").read_bytes() == before


def test_a_half_line_is_cut_off_and_the_rest_stays(tmp_path):
    fill(tmp_path)
    path = tmp_path / "ledger.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"entry":{"entry":"claim_ad')
    assert read_ledger(tmp_path).claims == (CLAIM,), "a reader leaves it out"
    with LedgerStore(tmp_path) as store:
        store.add([ClaimAdded(claim=CLAIM.model_copy(update={"id": "c2"}))], who="a", when=WHEN)
    assert path.read_bytes().startswith(whole)
    assert [one.id for one in read_ledger(tmp_path).claims] == ["c1", "c2"]


def change(path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def test_an_edited_line_is_found(tmp_path):
    fill(tmp_path)
    change(tmp_path / "ledger.jsonl", b"The mill is large", b"The mill is small")
    with pytest.raises(IntegrityError, match="does not follow"):
        read_ledger(tmp_path)
    with pytest.raises(IntegrityError), LedgerStore(tmp_path):
        pytest.fail("it must not open")


def test_an_edited_last_line_is_found(tmp_path):
    fill(tmp_path)
    change(tmp_path / "ledger.jsonl", b"two years", b"ten years")
    with pytest.raises(IntegrityError, match="does not end as"):
        read_ledger(tmp_path)


def test_lines_cut_off_are_missed(tmp_path):
    fill(tmp_path)
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:3]) + b"\n")
    with pytest.raises(IntegrityError, match="does not end as"):
        read_ledger(tmp_path)


def test_an_edited_text_is_found(tmp_path):
    fill(tmp_path)
    (path,) = [p for p in (tmp_path / "sources").rglob("*.json") if b"mill" in p.read_bytes()]
    change(path, b"is large", b"is small")
    with pytest.raises(IntegrityError, match="does not match its hash"):
        read_ledger(tmp_path)
    path.unlink()
    with pytest.raises(IntegrityError, match="text of this card is missing"):
        read_ledger(tmp_path)


def test_no_ledger_and_no_folder(tmp_path):
    with pytest.raises(InputError, match="no ledger in this folder"):
        read_ledger(tmp_path)
    assert read_lines(tmp_path) == []
    write_text(tmp_path / "file", "x")
    with pytest.raises(InputError, match="a folder is needed"), LedgerStore(tmp_path / "file"):
        pytest.fail("it must not open")


def test_one_process_at_a_time(tmp_path):
    with LedgerStore(tmp_path), pytest.raises(ResultsExistError), LedgerStore(tmp_path):
        pytest.fail("it must not open")


def test_a_ledger_of_schema_1_is_read_as_it_was_written():
    """The golden ledger: whatever changes, released files are read, and hash, as before."""
    ledger = read_ledger(Path(__file__).parent.parent / "golden" / "ledger")
    assert ledger.claims == (CLAIM,) and ledger.resolutions == (DECIDED,)
    expected = "sha256:4cd5a2efc9a6d5467ac0216719d30df09d0a178e38fdb5b4b675e75c0feaffad"
    assert ledger.content_hash() == expected


# --- the document ------------------------------------------------------------------------


def test_a_document_gives_the_same_ledger_again(tmp_path):
    fill(tmp_path)
    ledger = read_ledger(tmp_path)
    path = tmp_path / "ledger.json"
    write_text(path, document_of(ledger).model_dump_json(exclude_defaults=True))
    flags = {OTHER.source.text: ("instructs",)}
    again = ledger_of(
        read_record(path, LedgerDocument), where="x", flags=lambda text: flags.get(text, ())
    )
    assert again == ledger and again.content_hash() == ledger.content_hash()


def test_cards_may_go_by_names():
    document = LedgerDocument(
        cards=(CardEntry(name="mill", title="Mill", text="The mill is large."),),
        claims=(ClaimEntry(id="c1", text="The mill is large.", card="mill"),),
        links=(LinkEntry(claim="c1", card="mill", stance=Stance.SUPPORTS),),
    )
    ledger = ledger_of(document, where="x", flags=lambda _: ())
    assert ledger.claims[0].card == ledger.cards[0].source.id == ledger.links[0].card


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (LedgerDocument(claims=(ClaimEntry(id="c", text="t", card="mill"),)), "names no card"),
        (
            LedgerDocument(
                cards=(CardEntry(name="mill", title="a"),),
                claims=(ClaimEntry(id="c", text="t", card="mil"),),
            ),
            "did you mean 'mill'",
        ),
        (
            LedgerDocument(cards=(CardEntry(name="a", title="a"), CardEntry(name="a", title="b"))),
            "two cards are called 'a'",
        ),
        (LedgerDocument(cards=(CardEntry(id="sha256:" + "0" * 64, title="a"),)), "not the hash"),
    ],
)
def test_documents_that_do_not_fit(document, says):
    with pytest.raises(InputError, match=says):
        document_entries(document, where="ledger.json", flags=lambda _: ())
