"""Figures of comparisons: against hand calculations, textbook values and simulation."""

from __future__ import annotations

import math
import random

import pytest

from deepfact.core import compare
from deepfact.core.compare import (
    ALL,
    NO_VARIATION,
    ONE_REPORT,
    agreement,
    detectable_difference,
    fewest_significant,
    groups_of,
    mcnemar,
    outcome_of,
    outcome_rates,
    paired_difference,
)
from deepfact.experiment_records import AskedClaim
from deepfact.records import (
    Abstention,
    Claim,
    FailureReason,
    Label,
    Origin,
    Outcome,
    PanelOutcome,
    Verdict,
    VerificationFailure,
    Vote,
)


def asked(
    number: int, label: Label | None = None, qualified: bool = False, report: str = ""
) -> AskedClaim:
    origin = Origin(report=report) if report else None
    claim = Claim(id=f"c{number}", text=f"Claim {number}.", origin=origin)
    return AskedClaim(claim=claim, label=label, qualified=qualified)


def panel(number: int, word: str, votes: str = "", lost: int = 0) -> Outcome:
    """An outcome with votes written as ``++-``: for, for, against."""
    cast = tuple(
        Vote(
            index=n,
            label=Label.SUPPORTED if mark == "+" else Label.CONTRADICTORY,
            refutes=mark == "-",
            grounds="contradiction" if mark == "-" else "none",
        )
        for n, mark in enumerate(votes)
    )
    gone = tuple(Abstention(index=9, reason=FailureReason.TIMEOUT) for _ in range(lost))
    if word == "unverified":
        return VerificationFailure(
            claim_id=f"c{number}", reason=FailureReason.TOO_FEW_VOTES,
            panel=PanelOutcome.UNVERIFIED, votes=cast, abstentions=gone,
        )  # fmt: skip
    label = Label.SUPPORTED if word == "confirmed" else Label.CONTRADICTORY
    return Verdict(
        claim_id=f"c{number}", label=label, panel=PanelOutcome(word), votes=cast, abstentions=gone
    )


def found(words: str, votes: str = "") -> dict[str, Outcome]:
    """Outcomes of claims c0, c1, ... written as ``cru``: confirmed, refuted, unverified."""
    names = {"c": "confirmed", "r": "refuted", "u": "unverified"}
    return {f"c{n}": panel(n, names[word], votes) for n, word in enumerate(words)}


def claims(count: int, **fields: object) -> list[AskedClaim]:
    return [asked(n, **fields) for n in range(count)]  # type: ignore[arg-type]


# --- what an outcome is ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "expected"),
    [("supported", "confirmed"), ("contradictory", "refuted"), ("inconclusive", "refuted")],
)
def test_a_verifier_without_votes_is_mapped_as_the_split_prompt_counts(label, expected) -> None:
    assert outcome_of(Verdict(claim_id="c", label=Label(label))) == expected


def test_a_failure_and_no_outcome_are_unverified_and_never_refuted() -> None:
    for reason in FailureReason:
        assert outcome_of(VerificationFailure(claim_id="c", reason=reason)) == "unverified"
    assert outcome_of(None) == "unverified"


def test_the_panels_word_wins_over_the_label() -> None:
    verdict = Verdict(claim_id="c", label=Label.INCONCLUSIVE, panel=PanelOutcome.CONFIRMED)
    assert outcome_of(verdict) is PanelOutcome.CONFIRMED


# --- counts ------------------------------------------------------------------------------


def test_counts_add_up_and_a_claim_without_an_outcome_is_unverified() -> None:
    rates = outcome_rates(ALL, claims(6), found("ccrru"))
    assert (rates.confirmed.k, rates.refuted.k, rates.unverified.k, rates.n) == (2, 2, 2, 6)
    assert rates.confirmed.unverified == rates.refuted.unverified == 2


def test_a_record_whose_counts_do_not_add_up_is_refused() -> None:
    rates = outcome_rates(ALL, claims(3), found("ccr"))
    with pytest.raises(ValueError, match="do not add up"):
        type(rates).model_validate({**rates.model_dump(), "n": 4})


def test_groups_split_by_qualification_only_where_there_is_one() -> None:
    members = [
        asked(0, Label.SUPPORTED, qualified=True), asked(1, Label.SUPPORTED),
        asked(2, Label.CONTRADICTORY), asked(3),
    ]  # fmt: skip
    sizes = {name: len(group) for name, group in groups_of(members).items()}
    assert sizes == {
        "all": 4, "supported": 2, "supported, qualified": 1, "supported, unqualified": 1,
        "contradictory": 1,
    }  # fmt: skip


def test_grounds_reasons_and_flags_are_counted_apart() -> None:
    outcomes = {"c0": panel(0, "refuted", "+--", lost=1), "c1": panel(1, "unverified", "", lost=2)}
    outcomes["c2"] = VerificationFailure(claim_id="c2", reason=FailureReason.NO_SOURCE)
    assert compare.refuting_grounds(outcomes) == {"contradiction": 2}
    assert compare.abstention_reasons(outcomes) == {"no_source": 1, "timeout": 3}
    flagged = Verdict(
        claim_id="c3", label=Label.SUPPORTED, flags=("split_panel:2-1", "split_panel:x")
    )
    assert compare.flag_counts({"c3": flagged}) == {"split_panel": 1}


# --- McNemar, differences ----------------------------------------------------------------


def test_mcnemar_is_the_binomial_tail_counted_by_hand() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(0, 8) == pytest.approx(2 * 0.5**8)
    by_hand = 2 * sum(math.comb(11, k) for k in range(3)) / 2**11
    assert mcnemar(2, 9) == pytest.approx(by_hand) == mcnemar(9, 2)


def test_the_founding_figures() -> None:
    """15 of 25 to 23 of 25, nothing lost: eight claims, all in one direction."""
    first, other = found("c" * 15 + "r" * 10), found("c" * 23 + "r" * 2)
    result = paired_difference(ALL, claims(25, report="one"), first, other)
    assert (result.both, result.only_first, result.only_other, result.neither) == (15, 0, 8, 2)
    assert result.difference.value == pytest.approx(0.32)
    assert result.p_value == pytest.approx(0.0078125)
    assert result.difference.method == ONE_REPORT
    assert 0.1 < result.difference.low < 0.2 < 0.45 < result.difference.high < 0.6
    assert result.detectable is not None
    assert result.detectable < 0.5


def test_unverified_counts_as_not_confirmed_and_is_said() -> None:
    result = paired_difference(ALL, claims(4), found("ccuu"), found("curc"))
    assert (result.both, result.only_first, result.only_other, result.neither) == (1, 1, 1, 1)
    assert result.unverified == 3


def test_the_bootstrap_draws_whole_reports() -> None:
    """Claims of one report change together: fewer independent pieces, a wider interval."""
    words = ("r" * 40, "c" * 20 + "r" * 20)
    together = [asked(n, report=f"r{n // 10}") for n in range(40)]
    alone = claims(40)
    wide = paired_difference(ALL, together, found(words[0]), found(words[1])).difference
    narrow = paired_difference(ALL, alone, found(words[0]), found(words[1])).difference
    assert wide.value == narrow.value == 0.5
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_no_variation_is_not_shown_as_certainty() -> None:
    """0 of 78 says that there are few, not that there are none."""
    members = [asked(n, report=f"r{n % 6}") for n in range(78)]
    same = paired_difference(ALL, members, found("r" * 78), found("r" * 78))
    assert same.difference.method == NO_VARIATION
    assert same.difference.low == pytest.approx(-same.gained.high)
    assert 0.04 < same.gained.high < 0.05
    every = paired_difference(ALL, members, found("r" * 78), found("c" * 78)).difference
    assert every.value == 1.0
    assert 0.85 < every.low < 0.95
    assert every.high == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_interval() -> None:
    members = [asked(n, report=f"r{n % 5}") for n in range(30)]
    args = (ALL, members, found("cr" * 15), found("ccr" * 10))
    assert paired_difference(*args, seed=3) == paired_difference(*args, seed=3)


def test_no_claims_make_no_figure() -> None:
    result = paired_difference(ALL, [], {}, {})
    assert (result.n, result.difference.value, result.detectable) == (0, None, None)


def test_flips_name_label_and_false_confirmations() -> None:
    members = [asked(0, Label.CONTRADICTORY), asked(1, Label.SUPPORTED, True), asked(2)]
    result = compare.compare(("a", "b"), members, [found("rru")], [found("ccu")])
    assert [(f.claim_id, f.false_confirmation) for f in result.flips] == [
        ("c0", True),
        ("c1", False),
    ]
    assert result.difference("contradictory").only_other == 1
    assert result.by_repeat == (pytest.approx(2 / 3),)


# --- what could have been detected -------------------------------------------------------


def test_six_claims_in_one_direction_are_the_least() -> None:
    assert fewest_significant() == 6
    assert mcnemar(0, 6) <= 0.05 < mcnemar(0, 5)
    assert detectable_difference(5, 5) is None
    assert detectable_difference(0, 0) is None


def test_detectable_falls_with_n_and_rises_with_disagreement() -> None:
    sizes = [detectable_difference(n, n // 5) for n in (20, 50, 200, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert detectable_difference(200, 10) < detectable_difference(200, 80)


@pytest.mark.parametrize(("n", "share"), [(100, 0.3), (240, 0.2)])
def test_a_difference_of_that_size_is_found_four_times_in_five(n: int, share: float) -> None:
    """Simulated: the exact test is a little more careful than the formula, never bolder."""
    d = detectable_difference(n, round(n * share))
    share = max(share, d)
    draw, hits, runs = random.Random(1), 0, 400
    for _ in range(runs):
        gained = lost = 0
        for _ in range(n):
            x = draw.random()
            gained += x < (share + d) / 2
            lost += (share + d) / 2 <= x < share
        hits += mcnemar(lost, gained) <= 0.05
    assert 0.68 < hits / runs < 0.88


# --- agreement ---------------------------------------------------------------------------


def test_alpha_is_that_of_a_calculation_by_hand() -> None:
    """Nominal data: alpha = 1 - (n - 1) * sum of o_ck / sum of n_c n_k over c != k."""
    tables = ["+++", "++-", "---", "+-"]
    outcomes = {f"c{n}": panel(n, "confirmed", votes) for n, votes in enumerate(tables)}
    plus, minus = 3 + 2 + 0 + 1, 0 + 1 + 3 + 1
    n = plus + minus
    observed = 2 * (2 * 1 / (3 - 1) + 1 * 1 / (2 - 1))
    by_hand = 1 - (n - 1) * observed / (2 * plus * minus)
    result = agreement(claims(4), outcomes)
    assert result.alpha.value == pytest.approx(by_hand)
    assert result.alpha.low <= result.alpha.value <= result.alpha.high
    assert (result.unanimous.k, result.unanimous.n) == (2, 4)


def test_alpha_has_no_value_when_every_vote_says_the_same() -> None:
    result = agreement(claims(5), found("ccccc", "+++"))
    assert result.alpha.value is None
    assert (result.unanimous.k, result.unanimous.n) == (5, 5)


def test_claims_with_fewer_than_two_votes_are_counted_and_left_out() -> None:
    outcomes = {**found("cc", "+-"), "c2": panel(2, "unverified", "+", lost=2)}
    result = agreement(claims(3), outcomes)
    assert (result.unanimous.n, result.unanimous.unverified) == (2, 1)
    assert agreement(claims(2), {}) is None


# --- repeats -----------------------------------------------------------------------------


def test_spread_counts_each_repeat_and_what_stays() -> None:
    result = compare.spread(claims(4), [found("ccrr"), found("crrr"), found("cccr")])
    assert result.confirmed == (2, 1, 3)
    assert result.deviation == pytest.approx(0.25)
    assert (result.stable.k, result.stable.n) == (2, 4)
    assert compare.spread(claims(4), [found("ccrr")]) is None


def test_repeats_do_not_feign_a_larger_n() -> None:
    once = compare.compare(("a", "b"), claims(4), [found("ccrr")], [found("cccr")])
    thrice = compare.compare(("a", "b"), claims(4), [found("ccrr")] * 3, [found("cccr")] * 3)
    assert thrice.differences == once.differences
    assert thrice.by_repeat == (0.25, 0.25, 0.25)
