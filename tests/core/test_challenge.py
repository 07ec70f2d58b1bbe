"""Admissibility: a challenge argues for itself, with quotes that are where it says they are.

Public reports: pulumi/docs #20349 (quotes that were never on the page), wafflebase #785 (true
citations beside the point), MCKRUZ/microsoft-agentic-harness #335 (a cited rule that does not
exist).
"""

from __future__ import annotations

from typing import Any

import pytest

from deepfact.core.challenge import why_inadmissible, why_not_evidence
from deepfact.records import Contradiction, Evidence, Qualification, SourceRole, Stance


def test_a_refutation_that_argues_for_itself_may_stand(make: Any) -> None:
    source = make.source()
    claim = make.claim(text="The mill was built in 1899.")
    assert why_inadmissible(claim, make.refutation(source), {source.id: source}) == ""


def test_a_refutation_names_the_part_that_is_wrong(make: Any) -> None:
    source = make.source()
    bare = make.refutation(source, contradictions=())
    assert "must name the part" in why_inadmissible(make.claim(), bare, {source.id: source})


def test_the_disputed_words_are_those_of_the_claim(make: Any) -> None:
    """coder/xum #3491: an answer about a slightly different claim than was asked."""
    source = make.source()
    claim = make.claim(text="The mill was built in 1897.")
    why = why_inadmissible(claim, make.refutation(source), {source.id: source})
    assert why == "the disputed words are not in the claim: 'in 1899'"


@pytest.mark.parametrize("quote", ["The mill was built in 1902.", " ", "\u200b"])
def test_a_refutation_quotes_what_the_source_says(make: Any, quote: str) -> None:
    source = make.source()
    claim = make.claim(text="The mill was built in 1899.")
    wrong = Contradiction(disputed="in 1899", source=source.id, quote=quote)
    why = why_inadmissible(
        claim, make.refutation(source, contradictions=(wrong,)), {source.id: source}
    )
    assert why.startswith("the quote is not in 'Mill history'")


def test_every_contradiction_is_checked_not_just_one(make: Any) -> None:
    source = make.source()
    claim = make.claim(text="The mill was built in 1899.")
    good = make.refutation(source).contradictions[0]
    bad = Contradiction(disputed="the bakery", source=source.id, quote=good.quote)
    verdict = make.refutation(source, contradictions=(good, bad))
    assert "'the bakery'" in why_inadmissible(claim, verdict, {source.id: source})


@pytest.mark.parametrize("role", [SourceRole.GENERATED, SourceRole.MODEL_ANSWER])
def test_generated_text_is_never_evidence(make: Any, role: SourceRole) -> None:
    source = make.source(role=role)
    verdict = make.verdict(evidence=(make.evidence(source, "built in 1898"),))
    why = why_inadmissible(make.claim(), verdict, {source.id: source})
    assert why == "it quotes generated text: 'Mill history'"


def test_a_source_that_is_not_there_is_no_evidence(make: Any) -> None:
    source = make.source()
    assert source.id in why_not_evidence(source.id, "built in 1898", {})


@pytest.mark.parametrize("label", ["supported", "contradictory", "inconclusive"])
def test_one_bad_quote_spoils_any_challenge(make: Any, label: str) -> None:
    source = make.source()
    evidence = Evidence(source=source.id, quote="never said", stance=Stance.SUPPORTS)
    verdict = make.verdict(label=label, rationale="because", evidence=(evidence,))
    assert "never said" in why_inadmissible(make.claim(), verdict, {source.id: source})


def test_supported_needs_evidence(make: Any) -> None:
    source = make.source()
    sources = {source.id: source}
    bare = make.verdict(rationale="I know it")
    quoted = make.verdict(evidence=(make.evidence(source, "built in 1898"),))
    assert why_inadmissible(make.claim(), bare, sources) == "no evidence for calling it supported"
    assert why_inadmissible(make.claim(), quoted, sources) == ""


@pytest.mark.parametrize(("rationale", "admissible"), [("no source dates it", True), (" ", False)])
def test_inconclusive_needs_a_rationale(make: Any, rationale: str, admissible: bool) -> None:
    verdict = make.verdict(label="inconclusive", rationale=rationale)
    assert (why_inadmissible(make.claim(), verdict, {}) == "") is admissible


def test_a_qualification_may_not_name_a_source_that_is_not_there(make: Any) -> None:
    """Accepted, it would go into the next version, which can name held sources only."""
    source = make.source()
    nowhere = Qualification(kind="scope", text="of the old mill", source=make.source("x").id)
    here = Qualification(kind="scope", text="of the old mill", source=source.id)
    free = Qualification(kind="hedge", text="by one account")
    for qualification, admissible in ((nowhere, False), (here, True), (free, True)):
        verdict = make.verdict(
            label="inconclusive", rationale="unclear", qualifications=(qualification,)
        )
        why = why_inadmissible(make.claim(), verdict, {source.id: source})
        assert (why == "") is admissible
