"""A panel's decision as a revision: whoever decided is named, and what they found is kept."""

from __future__ import annotations

from datetime import UTC, datetime

from deepfact.core.revise import revise, rule
from deepfact.core.state import Entry
from deepfact.records import (
    Adjudication,
    Annotation,
    Case,
    CaseKey,
    CaseKind,
    Claim,
    Contradiction,
    Decision,
    Deliberation,
    Label,
    Position,
    Provenance,
)
from deepfact.run_records import PolicySpec

WHEN = datetime(2026, 1, 5, tzinfo=UTC)
CLAIM = Claim(id="c", text="The mill was built in 1899.")
SIDE = Position(label=Label.SUPPORTED)
CASE = Case(id="r1-0001", claim=CLAIM, a=SIDE, b=SIDE)
KEY = CaseKey(case_id="r1-0001", claim_id="c", kind=CaseKind.CONTROL, incumbent="a", challenger="x")
DISPUTED = Contradiction(disputed="in 1899", source=f"sha256:{'0' * 64}", quote="in 1898")


def test_a_third_label_of_a_panel_names_its_people_and_what_is_disputed() -> None:
    made = Adjudication(
        case_id=CASE.id, auditor="bench", decision=Decision.NEITHER, label=Label.CONTRADICTORY,
        rationale="Built in 1898.", contradictions=(DISPUTED,),
        deliberation=Deliberation(rule="majority", count="", decided_by=("ada",)),
    )  # fmt: skip
    label = Annotation(label=Label.SUPPORTED, provenance=Provenance(who="x", when=WHEN))
    (revision,) = revise(
        [CASE], [KEY], [rule(CASE, KEY, [made], PolicySpec())], {CASE.id: [made]},
        {"c": Entry(CLAIM, label)}, run="trial", when=WHEN,
    )  # fmt: skip
    assert revision.who == "bench + ada"
    assert revision.annotation is not None
    assert revision.annotation.contradictions == (DISPUTED,)
    assert revision.annotation.provenance.who == "bench + ada"
