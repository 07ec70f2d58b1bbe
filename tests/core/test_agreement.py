"""Agreement: published worked examples, what libraries say, and what is not defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from deepfact.core.agreement import Unit, agreement, units_of
from deepfact.records import Adjudication, Case, Decision, Deliberation, Label, Position

S, C, I = Label  # noqa: E741 - the three labels, in their order


def units(rows: list[str], *, cluster: str = "", domain: str = "") -> list[Unit]:
    """Cases from rows such as ``SC-I``: one column an auditor, ``-`` for no decision, ``?`` for
    cannot tell."""
    letters = {"S": S, "C": C, "I": I}
    return [
        Unit(
            cluster or f"report-{number}",
            domain,
            {f"a{at}": letters[x] for at, x in enumerate(row) if x in letters},
            row.count("?"),
        )
        for number, row in enumerate(rows)
    ]


def whole(rows: list[str], **more: str):
    found = agreement(units(rows, **more), seed=1)
    assert found is not None
    return found.groups[0]


def test_fleiss_kappa_of_a_worked_example() -> None:
    """Worked out by hand: three cases, three auditors. P = (1 + 1/3 + 1/3) / 3 = 5/9;
    p = (5, 3, 1) / 9, so by chance 35/81; kappa = (45 - 35) / (81 - 35)."""
    group = whole(["SSS", "SSC", "CCI"])
    assert group.fleiss.value == pytest.approx(10 / 46)
    assert (group.raters, group.cases) == (3, 3)


def test_fleiss_kappa_takes_the_cases_with_the_most_frequent_number_of_labels() -> None:
    group = whole(["SSS", "SSC", "CCI", "SC-", "?CC"])
    assert (group.raters, group.fleiss.n, group.cases) == (3, 3, 5)
    assert group.fleiss.value == pytest.approx(10 / 46)


def test_krippendorffs_alpha_of_the_published_example() -> None:
    """Krippendorff's nominal example with two observers, ten units, binary data: alpha 0.095
    (Computing Krippendorff's Alpha-Reliability, 2011, section A)."""
    one, other = "0100000000", "1110010100"
    rows = [x + y for x, y in zip(one, other, strict=True)]
    rows = [row.replace("0", "S").replace("1", "C") for row in rows]
    assert whole(rows).alpha.value == pytest.approx(0.095, abs=0.0005)


def test_cohens_kappa_of_a_worked_example() -> None:
    """20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: kappa = (0.7 - 0.5) / (1 - 0.5) = 0.4."""
    found = agreement(units(["SS"] * 20 + ["SC"] * 5 + ["CS"] * 10 + ["CC"] * 15))
    assert found is not None
    (pair,) = found.pairs
    assert pair.kappa.value == pytest.approx(0.4)
    assert (pair.same.k, pair.same.n) == (35, 50)
    assert pair.kappa.low < 0.4 < pair.kappa.high
    assert pair.kappa.method == "bootstrap by case"


@given(
    st.lists(
        st.lists(st.sampled_from("SCI-"), min_size=3, max_size=3).map("".join),
        min_size=2,
        max_size=12,
    )
)
def test_what_is_drawn_for_intervals_is_what_the_libraries_work_out(rows: list[str]) -> None:
    from deepfact.core import agreement as here

    shared = [unit for unit in units(rows) if len(unit.labels) > 1]
    found = agreement(shared)
    if found is None:
        assert not shared
        return
    for pair in found.pairs:
        if pair.kappa.value is None:
            continue
        both = [u.labels for u in shared if pair.a in u.labels and pair.b in u.labels]
        first, second = ([str(labels[name]) for labels in both] for name in (pair.a, pair.b))
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(first, second))
        table = np.zeros((1, 3, 3))
        for x, y in zip(first, second, strict=True):
            table[0, list(Label).index(Label(x)), list(Label).index(Label(y))] += 1
        assert here._cohen(table)[0] == pytest.approx(pair.kappa.value)


def test_one_label_throughout_is_agreement_and_no_kappa() -> None:
    found = agreement(units(["SS", "SS", "SS"]))
    assert found is not None
    group, pair = found.groups[0], found.pairs[0]
    assert (group.same.k, group.same.n) == (3, 3)
    for estimate in (group.fleiss, group.alpha, pair.kappa):
        assert (estimate.value, estimate.low, estimate.n) == (None, None, 3)


def test_full_agreement_on_several_labels_is_one() -> None:
    group = whole(["SS", "CC", "II", "SS"])
    assert group.fleiss.value == group.alpha.value == pytest.approx(1)


def test_cannot_tell_is_counted_and_compared_with_nothing() -> None:
    found = agreement(units(["SS?", "CC?", "S?-", "??-"]))
    assert found is not None
    assert (found.decisions, found.cannot_tell) == (10, 5)
    assert found.groups[0].cases == 2 and found.groups[0].raters == 2
    assert [(pair.a, pair.b) for pair in found.pairs] == [("a0", "a1")]


@pytest.mark.parametrize("rows", [[], ["S"], ["S--", "-C-", "?S-"]])
def test_where_nobody_shares_a_case_there_is_no_agreement(rows: list[str]) -> None:
    assert agreement(units(rows)) is None


def test_one_report_gives_no_interval_and_several_are_drawn_whole() -> None:
    rows = ["SS", "SC", "CC", "CI", "SS", "CC"]
    alone = whole(rows, cluster="one").alpha
    assert alone.value is not None and alone.low is None
    twice = [u for name in "ab" for u in units(rows, cluster=name)]
    found = agreement(twice, seed=3)
    assert found is not None
    assert found.groups[0].alpha.method == "bootstrap by report"
    # Two reports that say the same: whichever is drawn, nothing varies but the size.
    alpha = found.groups[0].alpha
    assert alpha.high - alpha.low < 1e-9


def test_domains_and_labels_have_groups_of_their_own() -> None:
    found = agreement(units(["SS", "SC"], domain="law") + units(["CC", "SC"], domain="art"))
    assert found is not None
    names = [group.of for group in found.groups]
    assert names == [
        "all cases", "domain: art", "domain: law", "label: supported", "label: contradictory",
    ]  # fmt: skip
    law = found.groups[2]
    assert (law.cases, law.same.k) == (2, 1)
    # Two labels: each against the rest is the same question.
    assert found.groups[3].alpha.value == found.groups[4].alpha.value


def test_the_seed_alone_moves_the_interval() -> None:
    rows = ["SS", "SC", "CC", "II", "SI", "CC", "SC", "SS"] * 3
    first, again, other = (agreement(units(rows), seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first is not None and other is not None
    assert first.groups[0].alpha.value == other.groups[0].alpha.value
    assert first.groups[0].alpha != other.groups[0].alpha


def test_units_are_read_from_cases_and_decisions(make) -> None:
    case = Case(
        id="r1-0001", claim=make.claim(domain="mills"), a=Position(label=S), b=Position(label=C)
    )
    made = [
        Adjudication(case_id=case.id, auditor="ann", decision=Decision.B, rationale="x"),
        Adjudication(case_id=case.id, auditor="ben", decision=Decision.NEITHER, label=I,
                     rationale="x"),
        Adjudication(case_id=case.id, auditor="cleo", decision=Decision.CANNOT_TELL, rationale="x"),
    ]  # fmt: skip
    assert units_of([case], {case.id: made}) == [Unit("c1", "mills", {"ann": C, "ben": I}, 1)]


def test_a_panel_speaks_with_its_members_voices(make) -> None:
    case = Case(id="r1-0001", claim=make.claim(), a=Position(label=S), b=Position(label=C))
    members = tuple(
        Adjudication(case_id=case.id, auditor=name, decision=decision, rationale="x")
        for name, decision in (("m1", Decision.A), ("m2", Decision.B))
    )
    panel = Adjudication(
        case_id=case.id, auditor="panel", decision=Decision.A, rationale="x",
        deliberation=Deliberation(rule="majority", count="1 to 1", members=members),
    )  # fmt: skip
    alone = Adjudication(
        case_id=case.id, auditor="agent", decision=Decision.A, rationale="x",
        deliberation=Deliberation(rule="majority", count="2 to 0"),
    )  # fmt: skip
    (unit,) = units_of([case], {case.id: [panel, alone]})
    assert unit.labels == {"m1": S, "m2": C, "agent": S}
