"""Every finding of the skeptic: when it is told, how severe it is, and when it is not told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from deepfact.core.skeptic import CHECKS, NEXT_STEPS, examine
from deepfact.core.skeptic_corpus import family
from deepfact.records import (
    FailureReason,
    Label,
    PanelOutcome,
    Qualification,
    QualificationKind,
    Source,
    SourceRole,
    Span,
    Stance,
    Trust,
    Verdict,
    VerificationFailure,
)
from deepfact.research_records import (
    ClaimKind,
    Ledger,
    Link,
    Method,
    ResearchClaim,
    Resolution,
    SourceCard,
    Thresholds,
    standing_of,
)

WHEN = datetime(2026, 6, 1, tzinfo=UTC)


def card(number: int = 1, **fields) -> SourceCard:
    own = {name: fields.pop(name) for name in ("flags", "type", "excerpt") if name in fields}
    given = {
        "title": f"source {number}",
        "text": f"The text of source {number} says that the mill is large.",
        "url": f"https://site{number}.example/page",
        "role": SourceRole.PRIMARY,
        "trust": Trust.HIGH,
        **fields,
    }
    return SourceCard(source=Source.create(**given), **own)


def claim(of: SourceCard, number: int = 1, **fields) -> ResearchClaim:
    given = {"id": f"c{number}", "text": f"Claim {number} is so.", "card": of.source.id, **fields}
    return ResearchClaim(**given)


def ledger(*cards: SourceCard, claims=None, **more) -> Ledger:
    made = [claim(one, at) for at, one in enumerate(cards, 1)] if claims is None else claims
    return Ledger(cards=cards, claims=tuple(made), **more)


def codes(made: Ledger, **limits) -> dict[str, str]:
    """Severity by code; the thin corpus of a small test is not asked about."""
    given = {"linked_sources": 0, "primary_cards": 0, "source_families": 0, **limits}
    found = examine(made, Thresholds(**given)).findings
    return {one.code: str(one.severity) for one in found}


def test_a_clean_ledger_has_no_finding():
    assert codes(ledger(card(1), card(2))) == {}
    assert examine(ledger(card(1)), Thresholds()).ok, "warnings alone do not stop a report"


def test_an_empty_ledger_says_so():
    assert codes(Ledger()) == {"no_source_cards": "error", "no_extracted_claims": "error"}


def test_thin_corpora_are_warnings_with_their_counts():
    found = examine(ledger(card(1), card(2)))
    lines = {one.line() for one in found.findings}
    assert lines == {
        "thin_source_corpus: linked_sources=2",
        "thin_primary_source_coverage: primary_cards=2",
    }
    same_site = examine(
        ledger(card(1), card(1, text="Another text.", url="https://site1.example/b"))
    )
    assert "narrow_source_family_coverage: families=1" in {f.line() for f in same_site.findings}


def test_no_primary_source_is_an_error():
    found = codes(ledger(card(1, role=SourceRole.SECONDARY)))
    assert found == {"missing_primary_source": "error"}


@pytest.mark.parametrize("role", [SourceRole.GENERATED, SourceRole.MODEL_ANSWER])
def test_generated_text_may_be_kept_and_not_linked(role):
    generated = card(2, role=role)
    kept = ledger(card(1), generated, claims=[claim(card(1))])
    assert codes(kept) == {}
    resting = ledger(card(1), generated)
    assert codes(resting) == {"generated_source_card_linked": "error"}
    link = Link(claim="c1", card=generated.source.id, stance=Stance.SUPPORTS)
    linked = ledger(card(1), generated, claims=[claim(card(1))], links=(link,))
    assert codes(linked) == {"generated_source_card_linked": "error"}


def test_quotes_and_spans_must_be_in_the_card():
    one = card(1)
    good = [claim(one, 1, quote="the mill is large"), claim(one, 2, span=Span(start=0, end=3))]
    assert codes(ledger(one, claims=good)) == {}
    assert codes(ledger(one, claims=[claim(one, quote="the mill is small")])) == {
        "quote_not_in_source": "error"
    }
    for span in (Span(start=0, end=9999), Span(start=3, end=3)):
        assert codes(ledger(one, claims=[claim(one, span=span)])) == {
            "span_outside_source": "error"
        }


def test_a_claim_whose_card_is_not_there_has_no_quote():
    one = card(1)
    lost = claim(card(9), 1, quote="the mill is large")
    assert "quote_not_in_source" in codes(ledger(one, claims=[lost]))


def test_measurements_need_an_anchor():
    one = card(1)
    loose = claim(one, kind=ClaimKind.MEASUREMENT)
    assert codes(ledger(one, claims=[loose])) == {
        "measurement_claim_without_document_anchor": "warning"
    }
    anchored = claim(one, kind=ClaimKind.MEASUREMENT, quote="the mill is large")
    assert codes(ledger(one, claims=[anchored])) == {}


@pytest.mark.parametrize(
    ("as_of", "published", "stale"),
    [
        (WHEN, "2020-01-01", True),
        (WHEN, "2026", False),
        (WHEN, "long ago", False),
        (None, "2020", False),
    ],
)
def test_stale_sources(as_of, published, stale):
    found = codes(ledger(card(1, published=published), as_of=as_of))
    assert (found == {"stale_linked_source": "warning"}) is stale


def test_without_a_date_the_newest_retrieval_counts():
    cards = (card(1, published="2020"), card(2, retrieved_at=WHEN))
    assert "stale_linked_source" in codes(ledger(*cards))


def test_low_trust_and_density():
    one = card(1, trust=Trust.LOW)
    assert codes(ledger(one)) == {"low_trust_source_linked": "warning"}
    sparse = ledger(card(1), card(2), card(3), claims=[claim(card(1))])
    found = examine(sparse, Thresholds()).findings
    assert "low_extracted_claim_density: claims_per_card=0.33" in {one.line() for one in found}


def test_one_text_or_one_address_is_one_origin():
    text = card(1), card(2, text=card(1).source.text)
    address = card(1), card(2, url="http://www.site1.example/page/#top")
    for pair in (text, address):
        found = examine(ledger(*pair), Thresholds())
        assert "claims_share_one_origin: cards=2" in {one.line() for one in found.findings}
        assert "thin_source_corpus: linked_sources=1" in {one.line() for one in found.findings}
    empty = card(1, text="", url=""), card(2, text="", url="")
    assert "claims_share_one_origin" not in codes(ledger(*empty))


def test_a_text_that_gives_orders_is_a_flag_and_nothing_more():
    flagged = card(1, flags=("instructs",))
    found = examine(
        ledger(flagged), Thresholds(linked_sources=0, primary_cards=0, source_families=0)
    )
    assert found.ok and [one.line() for one in found.findings] == [
        "source_contains_instructions: instructs"
    ]
    assert found.findings[0].severity == "info"


def test_benchmark_results_need_their_conditions():
    one = card(1)
    for fields in (
        {"kind": ClaimKind.BENCHMARK, "quote": "the mill is large"},
        {"text": "X outperforms Y on the leaderboard."},
    ):
        assert codes(ledger(one, claims=[claim(one, **fields)])) == {
            "benchmark_claim_needs_caveat": "warning"
        }
        for told in ({"caveat": "one machine"}, {"conditions": {"workload": "news"}}):
            assert codes(ledger(one, claims=[claim(one, **fields, **told)])) == {}
    note = Qualification(kind=QualificationKind.SCOPE, text="on one machine")
    outcome = Verdict(claim_id="c1", label=Label.SUPPORTED, qualifications=(note,))
    qualified = ledger(one, claims=[claim(one, text="X outperforms Y.")], outcomes=(outcome,))
    assert codes(qualified) == {}


# --- verification ------------------------------------------------------------------------


def outcomes(*labels: str | None):
    made = []
    for number, label in enumerate(labels, 1):
        if label is None:
            made.append(VerificationFailure(claim_id=f"c{number}", reason=FailureReason.TIMEOUT))
        else:
            made.append(Verdict(claim_id=f"c{number}", label=Label(label)))
    return tuple(made)


def test_failures_are_unverified_and_an_error():
    made = ledger(card(1), card(2), outcomes=outcomes(None, None))
    assert codes(made) == {"claim_unverified": "error"}


def test_a_share_of_unverified_claims_may_be_allowed():
    made = ledger(card(1), card(2), outcomes=outcomes("supported", None))
    assert codes(made) == {"claim_unverified": "error"}
    assert codes(made, unverified_share=0.5) == {"claim_unverified": "warning"}


def test_a_refuted_claim_is_told_and_does_not_stop_the_report():
    made = ledger(card(1), card(2), outcomes=outcomes("supported", "contradictory"))
    assert codes(made) == {"claim_refuted": "warning"}


def test_verification_may_be_required():
    made = ledger(card(1), card(2), outcomes=outcomes("supported"))
    assert codes(made) == {}
    assert codes(made, require_verification=True) == {"claim_not_verified": "error"}


@pytest.mark.parametrize(
    ("label", "panel", "standing"),
    [
        ("supported", None, "confirmed"),
        ("contradictory", None, "refuted"),
        ("inconclusive", None, "unverified"),
        ("supported", PanelOutcome.CONFIRMED, "confirmed"),
        ("inconclusive", PanelOutcome.REFUTED, "refuted"),
        ("inconclusive", PanelOutcome.CONFIRMED, "unverified"),
        ("supported", PanelOutcome.UNVERIFIED, "unverified"),
    ],
)
def test_standing(label, panel, standing):
    assert standing_of(Verdict(claim_id="c", label=Label(label), panel=panel)) == standing


def test_standing_of_a_failure_and_of_nothing():
    assert standing_of(outcomes(None)[0]) == "unverified"
    assert standing_of(None) == "not_asked"


# --- contradictions and decisions --------------------------------------------------------


def disputed(**more) -> Ledger:
    one, other = card(1), card(2)
    said = {"subject": "X", "predicate": "fast"}
    claims = [claim(one, 1, object="yes", **said), claim(other, 2, object="no", **said)]
    return ledger(one, other, claims=claims, **more)


def decide(name: str, **fields) -> Resolution:
    given = {"method": Method.DIFFERENT_DATE, "who": "ada", "when": WHEN, "why": "two years"}
    return Resolution(contradiction=name, **{**given, **fields})


def test_a_contradiction_is_an_error_until_it_is_decided():
    open_ = examine(disputed())
    assert not open_.ok and codes(disputed()) == {"structured_claim_contradiction": "error"}
    name = open_.contradictions[0].id
    settled = disputed(resolutions=(decide(name),))
    assert codes(settled) == {"structured_claim_contradiction": "info"}
    (told,) = [f for f in examine(settled).findings if f.contradiction]
    assert "by ada: two years" in told.message and told.claims == ("c1", "c2")
    carried = disputed(resolutions=(decide(name, method=Method.CAVEAT),))
    assert codes(carried) == {"structured_claim_contradiction": "warning"}


def test_a_decision_about_nothing_is_told():
    made = ledger(card(1), resolutions=(decide("x-gone"),))
    assert codes(made) == {"resolution_without_contradiction": "info"}


def test_withdrawn_cards_are_out_of_every_count():
    base = disputed()
    found = examine(base).contradictions[0]
    gone = decide(found.id, method=Method.SOURCE_WITHDRAWN, withdrawn=found.cards[0])
    after = examine(disputed(resolutions=(gone,)), Thresholds())
    assert after.ok
    assert "thin_source_corpus: linked_sources=1" in {one.line() for one in after.findings}


def test_many_pairs_are_told_in_short():
    cards = [card(number) for number in range(1, 6)]
    claims = [
        claim(one, at, subject="X", predicate="length", object=f"{at} km")
        for at, one in enumerate(cards, 1)
    ]
    (told,) = [f for f in examine(ledger(*cards, claims=claims)).findings if f.contradiction]
    assert told.message.endswith("; and 7 more pairs")


def test_claims_that_a_condition_tells_apart_are_told():
    one, other = card(1), card(2)
    claims = [
        claim(one, 1, subject="X 1.0", predicate="fast", object="yes"),
        claim(other, 2, subject="X 2.0", predicate="fast", object="no"),
    ]
    assert codes(ledger(one, other, claims=claims)) == {"claims_differ_by_condition": "info"}


# --- the whole ---------------------------------------------------------------------------


def test_errors_come_first_and_every_code_says_what_to_do():
    found = examine(disputed()).findings
    assert [one.severity for one in found] == sorted(
        (one.severity for one in found), key=["error", "warning", "info"].index
    )
    assert all(one.todo == NEXT_STEPS[one.code] for one in found)
    assert len(CHECKS) == 10


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.lab.example.org/x", "example.org"),
        ("https://a.b.ac.uk/x", "b.ac.uk"),
        ("https://example.com", "example.com"),
        ("not an address", ""),
        ("http://[broken", ""),
        ("", ""),
    ],
)
def test_family(url, site):
    assert family(url) == site
