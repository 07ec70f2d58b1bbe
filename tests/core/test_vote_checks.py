"""What a judge says it read must be there, and it must not contradict itself."""

from __future__ import annotations

import dataclasses

import pytest

from deepfact.core.vote_checks import (
    DEFAULT,
    REASONS,
    Answer,
    Asked,
    Disputed,
    Quoted,
    QuotedEvidence,
    QuotedQualification,
    dates_in,
    find_faults,
    identifiers_in,
    numbers_in,
)
from deepfact.records import Grounds, Label, QualificationKind, Stance

CLAIM = "The SX-9 settled in 38 ms on 4 May 2033, at a cost of 1,200 crowns."
TEXT = (
    "On May 4, 2033 the SX-9 drive settled in 38 ms.\nIt cost 1200 crowns. An older drive, the "
    "SX-90, took 117.5 ms, measured with a band of 10 um."
)
ASKED = Asked(
    claim_id="c-1",
    claim=CLAIM,
    texts={"S1": TEXT, "S2": "A later note: the SX-9 settled in 46 ms."},
    cited=frozenset({"S1"}),
    headings={"S1": "Note 77\n2033-06-01", "S2": ""},
)
GOOD = Answer(
    claim_id="c-1",
    claim=CLAIM,
    label=Label.SUPPORTED,
    refutes=False,
    grounds=Grounds.NONE,
    rationale="It says so.",
    evidence=(QuotedEvidence("S1", "the SX-9 drive settled in 38 ms", Stance.SUPPORTS),),
)
AGAINST = dataclasses.replace(
    GOOD,
    label=Label.CONTRADICTORY,
    refutes=True,
    grounds=Grounds.CONTRADICTION,
    contradiction=Disputed("S2", "settled in 46 ms", disputed="38 ms"),
    evidence=(),
)


def faults(answer: Answer, **changes: object) -> list[str]:
    changed = dataclasses.replace(answer, **changes)
    return [fault.check for fault in find_faults(changed, ASKED)]


def test_a_sound_answer_has_no_fault() -> None:
    assert faults(GOOD) == []
    assert faults(GOOD, claim=f"  {CLAIM.replace(' ', chr(10), 3)} ") == []


def test_an_answer_about_another_claim_is_found() -> None:
    """FIELD: coder/xum #3491 (an answer about a slightly different claim)."""
    assert faults(GOOD, claim=CLAIM.replace("38", "39")) == ["claim"]
    assert faults(GOOD, claim=CLAIM + " So it is said.") == ["claim"]
    assert faults(GOOD, claim=CLAIM[:-20]) == ["claim"]
    assert faults(GOOD, claim_id="c-2") == ["claim"]
    assert faults(GOOD, claim_id="constructor") == ["claim"]
    assert faults(GOOD, claim="") == ["claim"]


def test_a_quote_must_be_in_the_source_it_names() -> None:
    """FIELD: pulumi/docs #20349, utsavk1993/vellum #9, MCKRUZ/microsoft-agentic-harness #335."""
    made_up = QuotedEvidence("S1", "settled in 12 ms", Stance.SUPPORTS)
    assert faults(GOOD, evidence=(*GOOD.evidence, made_up)) == ["quote"]
    neighbour = QuotedEvidence("S2", "the SX-9 drive settled in 38 ms", Stance.SUPPORTS)
    assert faults(GOOD, evidence=(neighbour,)) == ["quote"]
    nowhere = QuotedEvidence("Rule 7", "settled in 38 ms", Stance.SUPPORTS)
    assert faults(GOOD, evidence=(*GOOD.evidence, nowhere)) == ["quote"]
    loose = QuotedQualification("S1", "not there", QualificationKind.SCOPE, "Only so.")
    assert faults(GOOD, qualifications=(loose,)) == ["quote"]
    wrong = dataclasses.replace(AGAINST.contradiction, quote="settled in 47 ms")
    assert "quote" in faults(AGAINST, contradiction=wrong)


def test_a_quote_across_lines_with_other_quotation_marks_counts() -> None:
    folded = QuotedEvidence("S1", "settled in 38 ms. It cost\u00a01200", Stance.SUPPORTS)
    assert faults(GOOD, evidence=(folded,)) == []


def test_qualifications_need_no_quote() -> None:
    bare = QuotedQualification("", "", QualificationKind.SCOPE, "One bench only.")
    assert faults(GOOD, qualifications=(bare,)) == []


@pytest.mark.parametrize("text", ["38 ms", "4 May 2033", "2033-05-04", "1,200", "SX-9", "77"])
def test_elements_that_are_there(text: str) -> None:
    assert faults(GOOD, found=(Quoted("S1", text),)) == []


@pytest.mark.parametrize("text", ["39 ms", "5 May 2033", "17", "117", "17.5", "SX-8", "X-9", " "])
def test_invented_numbers_dates_and_ids_are_found(text: str) -> None:
    """FIELD: dogkeeper886/ollama37 #311 (the judge confirmed invented ids)."""
    assert faults(GOOD, found=(Quoted("S1", text),)) == ["found"]
    assert faults(GOOD, found=(Quoted("S9", "38"),)) == ["found"]


def test_a_number_that_no_source_gives_is_not_covered() -> None:
    """FIELD: denn-gubsky/loomcycle #1007 (a fluent claim that adds a number)."""
    claim = CLAIM.replace("1,200 crowns", "1,250 crowns and NCT0417")
    asked = dataclasses.replace(ASKED, claim=claim)
    found = find_faults(dataclasses.replace(GOOD, claim=claim), asked)
    assert [str(one) for one in found] == ["coverage: in no source shown: 1250, nct0417"]


@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        (GOOD, {"rationale": " \n"}),
        (GOOD, {"evidence": ()}),
        (GOOD, {"contradiction": AGAINST.contradiction}),
        (GOOD, {"grounds": Grounds.OUTDATED}),
        (
            GOOD,
            {"evidence": (*GOOD.evidence, QuotedEvidence("S1", "38 ms", Stance.CONTRADICTS))},
        ),
        (AGAINST, {"grounds": Grounds.OUTDATED}),
        (AGAINST, {"contradiction": None}),
        (AGAINST, {"label": Label.INCONCLUSIVE, "grounds": Grounds.OUTDATED}),
        (AGAINST, {"label": Label.INCONCLUSIVE, "contradiction": None}),
    ],
)
def test_a_self_contradiction_is_found(answer: Answer, changes: dict[str, object]) -> None:
    """FIELD: seangalliher/ProbOS #1237 (a verdict contradicted its own critique)."""
    assert "consistency" in faults(answer, **changes)


def test_a_bare_no_is_not_a_refutation() -> None:
    """FIELD: wafflebase/wafflebase #785 (a refutation names the disputed part)."""
    assert "consistency" in faults(AGAINST, contradiction=None)
    besides = dataclasses.replace(AGAINST.contradiction, disputed="47 volts")
    assert "consistency" in faults(AGAINST, contradiction=besides)
    blank = dataclasses.replace(AGAINST.contradiction, disputed="")
    assert "consistency" in faults(AGAINST, contradiction=blank)


def test_a_prompt_without_a_place_for_contradictions_is_not_blamed_for_it() -> None:
    bundled = {
        "names_contradictions": False,
        "contradiction": None,
        "grounds": Grounds.DISPUTED_OR_QUALIFIED,
    }
    assert faults(AGAINST, **bundled) == []
    assert faults(AGAINST, **{**bundled, "grounds": Grounds.NONE}) == ["consistency"]


def test_a_refutation_from_an_uncited_source_alone_is_marked() -> None:
    """FIELD: pulumi/docs #20349 (checked against a neighbouring link's page)."""
    assert faults(AGAINST) == ["target"]
    cited = QuotedEvidence("S1", "took 117.5 ms", Stance.CONTRADICTS)
    assert faults(AGAINST, evidence=(cited,)) == []


def test_every_check_has_a_level_and_a_reason() -> None:
    assert set(DEFAULT) == set(REASONS)
    assert set(DEFAULT.values()) == {"abstain", "flag"}


def test_numbers_dates_and_identifiers() -> None:
    assert numbers_in("1,200 or 1200.50, v2.1, SX-9; 7.") == {"1200", "1200.5", "9", "7"}
    assert dates_in("4 May 2033; May 5th, 2033; 2033-05-06; 7 Sep. 2033") == {
        "2033-05-04",
        "2033-05-05",
        "2033-05-06",
        "2033-09-07",
    }
    assert identifiers_in("SX-9, NCT0417 and v2 or 17 ms, A/B") == {"sx-9", "nct0417"}
