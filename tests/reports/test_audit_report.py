"""What the round report says of auditors: agreement, bias, pace, weights, challengers, and which
cases to look at again, in both formats and with all that a figure may not be shown without."""

from __future__ import annotations

import re

import pytest

from deepfact.records import Adjudication, Deliberation
from deepfact.reports.audit_view import cross_audit, policy_of, policy_words
from deepfact.reports.round_report import render_html, render_markdown
from deepfact.run_records import PolicySpec, StageSpec


@pytest.fixture
def both(factory, with_ben, rendered):
    """The two formats as a reader sees them, of a run of two rounds with two auditors."""
    made = factory()
    record, stats = with_ben(made.record(2))
    html = render_html(record, made.sources, stats)
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    return record, stats, html, plain, rendered(render_markdown(record, made.sources, stats))


def test_agreement_stands_with_interval_and_n(both):
    record, _, html, plain, text = both
    for round_ in record.rounds:
        alpha = round_.agreement.groups[0].alpha
        value, low, high = (
            f"{x:.3f}".replace("-", "−") for x in (alpha.value, alpha.low, alpha.high)
        )
        assert f"{value} 95 % interval [ {low}, {high}]".replace("[ ", "[") in plain
        assert f"{value} (95 % interval {low}, {high}; n = {alpha.n})" in text
        pair = round_.agreement.pairs[0]
        assert f"{pair.a} and {pair.b}" in text and f"{pair.a} and {pair.b}" in plain
    assert 'id="plot-agreement-1-t"' in html and 'id="plot-agreement-2-d"' in html
    assert "bootstrap by report" in plain and "bootstrap by report" in text


def test_bias_weights_and_pace_are_there(both):
    record, stats, _, plain, text = both
    bias = next(b for b in record.rounds[0].bias if b.auditor == "ben")
    for shown in (plain, text):
        assert f"{bias.kept_wrong.k} of {bias.kept_wrong.n}" in shown
        assert "0.85" in shown and "assumed" in shown
        pace = next(p for p in stats.pace if p.auditor == "ben")
        assert f"{pace.median:.1f}" in shown
        assert "weighted: a label whose votes weigh more than half" in shown


def test_cases_for_a_second_look_come_with_every_reason(both):
    _, stats, _, plain, text = both
    assert stats.second_look
    for case in stats.second_look:
        for reason in case.reasons:
            assert reason in text and reason in plain


def test_auditors_by_challengers_are_counted(both):
    record, _, html, _, _ = both
    crossed = cross_audit(record.rounds)
    assert crossed.challengers == ("local-0", "local-1") and crossed.auditors == ("anna", "ben")
    cell = crossed.cells["ben", "local-0"]
    keys = {key.case_id: key for key in record.rounds[0].keys}
    mine = [m for m in record.rounds[0].adjudications
            if m.auditor == "ben" and keys[m.case_id].kind == "challenge"]  # fmt: skip
    believed = sum(str(m.decision) != keys[m.case_id].incumbent for m in mine)
    assert (cell.accepted.k, cell.accepted.n) == (believed, len(mine))
    section = html[html.index('id="crossed"') : html.index('id="second-look"')]
    assert f"{believed} of {len(mine)}" in section
    assert cross_audit(record.rounds[:1]) is None


def test_one_challenger_makes_no_matrix_and_names_the_command(factory):
    made = factory()
    html = render_html(made.record(2), made.sources)
    assert "so there is no matrix" in html and "deepfact crossaudit" in html


def test_a_pending_run_names_no_case_to_look_at_again(factory, with_ben):
    made = factory(pending=True)
    record, stats = with_ben(made.record())
    assert stats.second_look == ()
    for text in (render_html(record, made.sources, stats),
                 render_markdown(record, made.sources, stats)):  # fmt: skip
        assert "Named when the run is complete" in text
        assert "against the known answer" not in text


def test_the_members_of_a_panel_are_heard(factory, rendered):
    made = factory()
    record = made.record()
    round_ = record.rounds[0]
    first = round_.adjudications[0]
    member = Adjudication(
        case_id=first.case_id, auditor="dora", decision="a", rationale="Dora's own reason."
    )
    panel = first.model_copy(
        update={"deliberation": Deliberation(rule="majority", count="1 to 0", members=(member,))}
    )
    changed = round_.model_copy(update={"adjudications": (panel, *round_.adjudications[1:])})
    record = record.model_copy(update={"rounds": (changed,)})
    html = render_html(record, made.sources)
    assert "<strong>Member dora</strong>" in html and "Dora&#39;s own reason." in html
    assert "Member dora: for the" in rendered(render_markdown(record, made.sources))


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({}, "single: one auditor decides each case"),
        ({"queue": "shared"}, "whoever is free takes the next case"),
        ({"rule": "majority", "per_case": 2, "tie_breaker": "zoe"},
         "2 auditors a case, in turn; zoe decides where the others split"),
        ({"rule": "weighted", "weights": {"accuracy": {"ann": 0.9}}}, "accuracy given: ann 0.9"),
        ({"allow_self_judging": True}, "an auditor may judge its own model's challenges"),
    ],
)  # fmt: skip
def test_a_policy_is_told_in_words(policy, words):
    assert words in policy_words(PolicySpec.model_validate(policy))


def test_the_policy_of_a_round_is_the_recorded_one_or_else_the_declared_one(factory):
    record = factory().record(2)
    unanimous, majority = PolicySpec(rule="unanimous"), PolicySpec(rule="majority")
    spec = record.spec.model_copy(update={"rounds": (StageSpec(), StageSpec(policy=majority))})
    record = record.model_copy(update={"spec": spec})
    assert policy_of(record, record.rounds[0]) == PolicySpec()
    assert policy_of(record, record.rounds[1]) == majority
    kept = record.rounds[1].model_copy(update={"policy": unanimous})
    assert policy_of(record, kept) == unanimous


def test_long_lists_can_be_searched_and_are_laid_out_late(factory, with_ben):
    made = factory(claims=400, stride=2)
    record, stats = with_ben(made.record())
    html = render_html(record, made.sources, stats)
    boxes = re.findall(r'data-find="([^"]+)"', html)
    assert set(boxes) >= {
        "#changes .change", "#controls .disputes tbody", "#second-look .plain > li",
        "#sources .sources > li",
    }  # fmt: skip
    assert html.count('<div class="lazy table">') >= 4
    assert "Disputes 51 to 100 of 200" in html
    css = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    assert "content-visibility: auto" in css


def test_a_change_that_a_simulation_had_a_part_in_is_marked(factory):
    record = factory().record()
    round_ = record.rounds[0]
    revisions = tuple(r.model_copy(update={"who": "ben + anna"}) for r in round_.revisions)
    record = record.model_copy(
        update={"rounds": (round_.model_copy(update={"revisions": revisions}),)}
    )
    html = render_html(record, {})
    assert html.count('by ben + anna <strong class="tag sim">simulated</strong>') == len(revisions)
