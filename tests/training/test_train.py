"""Training: the changes are what they say, and the same seed gives the same cases and fit."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from deepfact.reading.elements import elements
from deepfact.records import Label
from deepfact.training import perturb
from deepfact.training.measured import read_sets
from deepfact.training.sets import examples, practice_cases
from deepfact.training.train import (
    CANDIDATES,
    LABELS,
    PRACTICE,
    PRIOR,
    Table,
    case_weights,
    fit,
    guesses,
    table_of,
    train,
)
from deepfact.verifiers.local.features import NAMES, SENSE
from deepfact.verifiers.local.model import shipped_weights

TRUE = "Revenue at Halden Optics was 12.4 percent higher in March 2031, and it may rise again."
AROUND = [elements("Brandt Glass said revenue was 9.1 percent lower.")]


@pytest.mark.parametrize("kind", sorted(perturb.CHANGES))
def test_every_change_changes_its_element(kind: str) -> None:
    changed = perturb.CHANGES[kind](TRUE, AROUND, random.Random(1))
    assert changed is not None and changed != TRUE
    before, after = elements(TRUE), elements(changed)
    same = {
        "number": re.findall(r"\d+\.\d", TRUE) == re.findall(r"\d+\.\d", changed),
        "unit": [q.dimension for q in before.quantities] == [q.dimension for q in after.quantities],
        "date": [d.parts for d in before.dates] == [d.parts for d in after.dates],
        "name": [n.text for n in before.names] == [n.text for n in after.names],
        "direction": [d.sign for d in before.directions] == [d.sign for d in after.directions],
        "negation": len(before.negations) == len(after.negations),
    }
    assert [name for name, unchanged in same.items() if not unchanged] == [kind]


def test_rewording_keeps_numbers_names_and_directions() -> None:
    text = f"In its yearly letter the owner wrote: {TRUE}"
    changed = perturb.reworded(text, ["zebra"], 1.0, random.Random(1))
    assert "zebra" in changed and "letter" not in changed
    for kept in ("Halden Optics", "12.4 percent", "higher", "March 2031"):
        assert kept in changed


def test_a_hedge_can_be_dropped() -> None:
    changed = perturb.unhedged(TRUE, AROUND, random.Random(1))
    assert changed is not None and " may " not in changed


def small_table() -> Table:
    cases = practice_cases(PRACTICE)
    assert Counter(case.label for case in cases) == {
        Label.SUPPORTED: 38, Label.CONTRADICTORY: 26, Label.INCONCLUSIVE: 16
    }  # fmt: skip
    return table_of(cases)


def test_the_same_cases_give_the_same_weights_held_to_their_sense() -> None:
    fits = [fit(t, t.fitted, CANDIDATES[0]) for t in (small_table(), small_table())]
    assert fits[0] == fits[1]
    for at, name in enumerate(NAMES):
        for sense, row in zip(SENSE[name], fits[0].coefficients, strict=True):
            assert sense * row[at] >= 0


def test_shares_of_sets_and_labels() -> None:
    table = small_table()
    weights = case_weights(table, table.fitted, 0.5)
    total = weights.sum()
    for number, label in enumerate(LABELS):
        share = weights[table.target == number].sum() / total
        assert share == pytest.approx(PRIOR[label])
    assert not weights[~table.fitted].any()


def test_a_report_is_judged_by_a_fit_without_it() -> None:
    """On deepfact-practice alone; its sentences were read while the rules were made, so this is
    no estimate of anything: it shows that the model finds in one report what it learnt in
    others, and fails when a rule that it needs breaks."""
    table = small_table()
    right = 0
    for report in sorted(set(table.group)):
        held_out = table.group == report
        model = fit(table, ~held_out & table.fitted, CANDIDATES[-1])
        right += sum(guesses(model, table, held_out) == table.target[held_out])
    assert right >= 60


@pytest.mark.data
def test_cases_are_the_same_for_a_seed_and_hold_nothing_measured(data_dir: Path) -> None:
    first, second = (examples(data_dir, PRACTICE, random.Random(7)) for _ in range(2))
    assert first == second
    assert {case.label for case in first} == set(Label)
    held_out = [each for each in read_sets(data_dir) if "not held out" not in each.name]
    measured = {claim.text for each in held_out for claim in each.claims}
    assert not measured & {case.claim.text for case in first}


def test_what_ships_is_what_the_script_writes(data_dir: Path) -> None:
    """Else the figures would be of a verifier that nobody can make again. Another machine may
    differ in the last digits that are kept."""
    made, shipped = train(data_dir), shipped_weights()
    assert (made.about, made.features, made.training) == (
        shipped.about, shipped.features, shipped.training,
    )  # fmt: skip
    assert (made.prior, made.temperature) == (shipped.prior, shipped.temperature)
    for ours, theirs in (
        (made.model.mean, shipped.model.mean),
        (made.model.scale, shipped.model.scale),
        (made.model.intercept, shipped.model.intercept),
        *zip(made.model.coefficients, shipped.model.coefficients, strict=True),
    ):
        assert ours == pytest.approx(theirs, abs=0.01)
