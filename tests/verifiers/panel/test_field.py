"""What the field ran into: each row that concerns votes and panels, as a test."""

from __future__ import annotations

import json

import pytest
from panel_kit import (
    CLAIM,
    CONTEXT,
    GAAP,
    SOURCE,
    Engine,
    contradictory,
    failure,
    inconclusive,
    run,
    supported,
    verdict,
)

from deepfact.core.challenge import why_inadmissible
from deepfact.model_records import Completion
from deepfact.providers.base import CallFailed
from deepfact.records import (
    FailureReason,
    Grounds,
    Label,
    PanelOutcome,
    QualificationKind,
    Source,
    VerificationFailure,
)
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel import PanelVerifier


def test_a_qualification_refutes_nothing_and_stays_with_the_claim() -> None:
    """FIELD: anthropics/claude-code #83325 (accurate claims with a caveat fell 0-3)."""
    quote = "reflects a new revenue standard adopted this year"
    caveat = {
        "kind": "method_change",
        "text": "A new revenue standard applies.",
        "source": "S1",
        "quote": quote,
    }
    out = verdict(supported(qualifications=[caveat]))
    assert (out.panel, out.label) == (PanelOutcome.CONFIRMED, Label.SUPPORTED)
    assert [(q.kind, q.source, q.quote) for q in out.qualifications] == [
        (QualificationKind.METHOD_CHANGE, SOURCE.id, quote)
    ]


def test_the_reasons_of_a_refutation_travel_word_for_word() -> None:
    """FIELD: anthropics/claude-code #83325, vibrantlabsai/ragas #2566 (reasons were lost)."""
    reasons = ["The source gives $1.61.", "A different figure stands there."]
    out = verdict(
        supported(), contradictory(rationale=reasons[0]), contradictory(rationale=reasons[1])
    )
    assert (out.panel, out.rationale) == (PanelOutcome.REFUTED, reasons[0])
    assert [vote.rationale for vote in out.votes if vote.refutes] == reasons
    assert out.contradictions[0].disputed == "$1.24"
    assert why_inadmissible(CLAIM, out, CONTEXT.sources) == ""


@pytest.mark.parametrize("reason", list(FailureReason))
def test_a_panel_without_votes_is_unverified_and_keeps_why(reason: FailureReason) -> None:
    """FIELD: anthropics/claude-code #71870, #72383 (0-0 was reported as all refuted)."""
    out = failure(CallFailed(reason, "the server said no"))
    assert (out.panel, out.reason) == (PanelOutcome.UNVERIFIED, FailureReason.TOO_FEW_VOTES)
    assert [(one.reason, one.detail) for one in out.abstentions] == [
        (reason, "the server said no")
    ] * 3
    assert f"3 {reason}" in out.detail


def test_one_valid_refutation_among_failures_is_unverified() -> None:
    """FIELD: anthropics/claude-code #71870."""
    lost = CallFailed(FailureReason.RATE_LIMITED, "429")
    out = failure(contradictory(), lost, lost)
    assert out.panel is PanelOutcome.UNVERIFIED
    assert len(out.votes) == 1
    assert len(out.abstentions) == 2


def test_an_answer_about_another_claim_is_an_abstention() -> None:
    """FIELD: coder/xum #3491 (answered about a slightly different claim)."""
    out = verdict(supported(), supported(), contradictory(claim=GAAP.replace("1.24", "1.25")))
    assert out.abstentions[0].reason is FailureReason.WRONG_CLAIM
    assert len(out.votes) == 2


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString", "__class__"])
def test_odd_claim_ids_do_no_harm(name: str) -> None:
    """FIELD: coder/xum #3491 (claims with object-prototype names collided)."""
    out = run(Engine(supported()), claim=CLAIM.model_copy(update={"id": name}))
    assert (out.claim_id, out.panel) == (name, PanelOutcome.CONFIRMED)


def test_the_same_claim_twice_is_the_same_request() -> None:
    """FIELD: coder/xum #3491 (the same claim used up the budget twice)."""
    panel = PanelVerifier("m")
    twin = CLAIM.model_copy(update={"id": "fin-2-duplicate"})
    keys = [
        [request.key(vote) for request, vote in panel.requests(one, CONTEXT)]
        for one in (CLAIM, twin)
    ]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3
    assert "fin-1" not in panel.requests(CLAIM, CONTEXT)[0][0].canonical()


def test_a_quote_from_a_neighbouring_page_costs_the_vote() -> None:
    """FIELD: pulumi/docs #20349 (17 of 22 contradictions were against another page)."""
    quote = "Marrow Ltd closed its plant"
    wrong = contradictory(contradiction={"disputed": "$1.24", "source": "S1", "quote": quote})
    out = verdict(supported(), supported(), wrong)
    assert out.abstentions[0].reason is FailureReason.BAD_QUOTE
    assert quote in out.abstentions[0].detail


def test_a_refutation_from_an_uncited_source_carries_a_flag() -> None:
    """FIELD: pulumi/docs #20349 (a wrong-target check)."""
    rival = Source.create(title="A blog on EPS", text="Second-quarter EPS was $1.30 under GAAP.")
    context = Context({SOURCE.id: SOURCE, rival.id: rival})
    quote = {"source": "S2", "quote": "EPS was $1.30"}
    answer = contradictory(
        contradiction={"disputed": "$1.24"} | quote, evidence=[quote | {"stance": "contradicts"}]
    )
    out = verdict(answer, context=context)
    assert out.panel is PanelOutcome.REFUTED
    assert all(vote.flags == ("target: refuted by S2, which the claim does not cite",)
               for vote in out.votes)  # fmt: skip
    strict = run(Engine(answer), context=context, checks={"target": "abstain"})
    assert strict.panel is PanelOutcome.UNVERIFIED


def test_a_bare_no_does_not_outvote_an_argued_yes() -> None:
    """FIELD: wafflebase/wafflebase #785."""
    bare = contradictory(contradiction=None, evidence=[])
    out = failure(supported(), bare, bare)
    assert [one.reason for one in out.abstentions] == [FailureReason.SELF_CONTRADICTION] * 2
    assert out.panel is PanelOutcome.UNVERIFIED


def test_a_split_panel_is_visible() -> None:
    """FIELD: wafflebase/wafflebase #785."""
    assert "split_panel:2-1" in verdict(supported(), contradictory(), supported()).flags
    assert "split_panel:1-2" in verdict(supported(), contradictory(), contradictory()).flags
    assert verdict(supported()).flags == ()


def test_grounds_of_refutations_are_typed_and_kept_apart() -> None:
    """FIELD: wafflebase/wafflebase #587."""
    out = verdict(contradictory(), inconclusive(), inconclusive(grounds="outdated"))
    assert [vote.grounds for vote in out.votes] == [
        Grounds.CONTRADICTION,
        Grounds.NOT_SUPPORTED_BY_QUOTE,
        Grounds.OUTDATED,
    ]
    assert (out.panel, out.label) == (PanelOutcome.REFUTED, Label.INCONCLUSIVE)
    assert out.contradictions == ()


def test_inconclusive_abstained_and_failed_are_three_things() -> None:
    """FIELD: MCKRUZ/microsoft-agentic-harness #335."""
    settled = verdict(inconclusive())
    assert (settled.label, settled.abstentions) == (Label.INCONCLUSIVE, ())
    partly = verdict(inconclusive(), inconclusive(), "not json")
    assert (partly.label, len(partly.abstentions)) == (Label.INCONCLUSIVE, 1)
    assert failure("not json").reason is FailureReason.TOO_FEW_VOTES


def test_a_reference_that_does_not_resolve_costs_the_vote() -> None:
    """FIELD: MCKRUZ/microsoft-agentic-harness #335 (a rule that did not exist)."""
    made_up = [{"source": "Rule 9", "quote": "EPS must be audited", "stance": "context"}]
    answer = supported(evidence=supported()["evidence"] + made_up)
    out = failure(answer)
    assert {one.reason for one in out.abstentions} == {FailureReason.BAD_QUOTE}
    assert "Rule 9" in out.abstentions[0].detail


def test_a_verdict_against_its_own_critique_is_an_abstention() -> None:
    """FIELD: seangalliher/ProbOS #1237."""
    answer = supported(contradiction=contradictory()["contradiction"])
    out = failure(answer)
    assert {one.reason for one in out.abstentions} == {FailureReason.SELF_CONTRADICTION}


def test_could_not_confirm_is_not_a_yes() -> None:
    """FIELD: seangalliher/ProbOS #1237 (could not confirm collapsed into yes)."""
    out = verdict(inconclusive())
    assert out.panel is not PanelOutcome.CONFIRMED
    assert out.label is Label.INCONCLUSIVE


def test_a_number_the_source_never_gave_is_marked_or_costs_the_vote() -> None:
    """FIELD: denn-gubsky/loomcycle #1007."""
    claim = CLAIM.model_copy(update={"text": GAAP[:-1] + " on 9.7 million shares."})
    out = run(Engine(supported(claim)), claim=claim)
    assert all(vote.flags == ("coverage: in no source shown: 9.7",) for vote in out.votes)
    strict = run(Engine(supported(claim)), claim=claim, checks={"coverage": "abstain"})
    assert strict.panel is PanelOutcome.UNVERIFIED


def test_an_invented_identifier_costs_the_vote() -> None:
    """FIELD: dogkeeper886/ollama37 #311."""
    out = failure(supported(found=[{"text": "NCT04173", "source": "S1"}]))
    assert {one.reason for one in out.abstentions} == {FailureReason.BAD_QUOTE}


@pytest.mark.parametrize(
    "text",
    [
        "The claim is not supported.",
        "SUPPORTED",
        "Verdict: supported\n" + json.dumps(supported()),
        "```json\n" + json.dumps(supported()) + "\n```\nSo it is supported.",
        json.dumps(supported(label="Supported")),
        json.dumps(supported(label="not supported")),
        json.dumps([supported()]),
        json.dumps(supported())[:-5],
        json.dumps(supported() | {"confidence": 0.9}),
        json.dumps(supported()).replace('"rationale"', '"label": "supported", "rationale"', 1),
        "",
    ],
)
def test_an_unreadable_answer_is_never_searched_for_a_verdict(text: str) -> None:
    """FIELD: kkkevinkkkkk/DeepFact (text fallback), UKGovernmentBEIS/inspect_ai #4026
    (another spelling was scored), b-open-io/prompts #15 (a dead grade was published)."""
    out = run(Engine(text, again=text))
    assert isinstance(out, VerificationFailure)
    assert {one.reason for one in out.abstentions} == {FailureReason.UNREADABLE}


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("max_tokens", FailureReason.TRUNCATED),
        ("length", FailureReason.TRUNCATED),
        ("refusal", FailureReason.REFUSED),
        ("content_filter", FailureReason.REFUSED),
    ],
)
def test_a_truncated_or_refused_answer_is_an_abstention_even_if_it_can_be_read(
    stop: str, reason: FailureReason
) -> None:
    """FIELD: promptfoo/promptfoo #9978, vibrantlabsai/ragas #2992 (truncated counted as yes)."""
    text = json.dumps(supported())
    engine = Engine(Completion(text=text, stop_reason=stop, output_tokens=7))
    out = run(engine)
    assert {one.reason for one in out.abstentions} == {reason}
    assert len(engine.asked) == 3  # not asked again: the next answer would end the same way
    assert out.usage.output_tokens == 21


def test_every_claim_has_exactly_one_outcome_and_every_seat_one_ballot() -> None:
    """FIELD: promptfoo/promptfoo #9978 (missing answers shrank the denominator)."""
    answers = [supported(), "nonsense", CallFailed(FailureReason.TIMEOUT, "slow")]
    answers += [contradictory(), contradictory(contradiction=None)]
    out = run(Engine(*answers, again="still nonsense"), votes=5)
    ballots = sorted([v.index for v in out.votes] + [a.index for a in out.abstentions])
    assert ballots == [0, 1, 2, 3, 4]
    assert out.claim_id == CLAIM.id


def test_an_unmatched_quote_is_shown_as_such_when_it_is_let_pass() -> None:
    """FIELD: utsavk1993/vellum #9, stella/stella #1426 (dropped silently)."""
    extra = {"source": "S1", "quote": "EPS was a record", "stance": "context"}
    answer = supported(evidence=[*supported()["evidence"], extra])
    out = verdict(answer, checks={"quote": "flag"})
    vote = out.votes[0]
    assert vote.flags == ("quote: not in S1: 'EPS was a record'",)
    assert [one.span is None for one in vote.evidence] == [False, True]
    assert [one.quote for one in out.evidence] == ["GAAP diluted EPS was $1.24"]


def test_a_refutation_whose_quote_is_not_there_is_no_evidence_even_when_let_pass() -> None:
    """FIELD: pulumi/docs #20349 (a quote that was never on the page)."""
    answer = contradictory(
        contradiction={"disputed": "$1.24", "source": "S1", "quote": "EPS was $9"}, evidence=[]
    )
    out = verdict(answer, checks={"quote": "flag"})
    assert out.panel is PanelOutcome.REFUTED
    assert out.contradictions == ()
    assert "must name the part" in why_inadmissible(CLAIM, out, CONTEXT.sources)
