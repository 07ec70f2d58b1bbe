"""Training: the changes are what they say, and the same seed gives the same cases and fit."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from deepfact.reading.elements import elements
from deepfact.records import Label
from deepfact.training import perturb
from deepfact.training.measured import read_sets
from deepfact.training.sets import examples
from deepfact.training.train import LABELS, exported, fit, linear_model, table_of

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


@pytest.mark.data
def test_cases_are_the_same_for_a_seed_and_hold_nothing_measured(data_dir: Path) -> None:
    first, second = (examples(data_dir, random.Random(7)) for _ in range(2))
    assert first == second
    assert {case.label for case in first} == set(Label)
    measured = {claim.text for each in read_sets(data_dir) for claim in each.claims}
    assert not measured & {case.claim.text for case in first}
    a, b = (table_of(cases[::200]) for cases in (first, second))
    assert (a.rows == b.rows).all()
    models = [exported(fit(linear_model(1), t.rows, t.target, t.weights)) for t in (a, b)]
    assert models[0] == models[1]
    assert set(a.target) <= set(range(len(LABELS)))
