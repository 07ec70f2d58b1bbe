"""Who sits over a case, whom a panel waits for, and what it comes to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from deepfact.core.sitting import Sitting, sittings
from deepfact.records import (
    Adjudication,
    Case,
    Claim,
    Decision,
    Deliberation,
    Evidence,
    Label,
    Position,
    Stance,
    Usage,
)
from deepfact.run_records import (
    Adjudicated,
    AuditorSpec,
    CaseOpened,
    Escalated,
    PanelSpec,
    PolicySpec,
    Withdrawn,
)

WHEN = datetime(2026, 1, 5, tzinfo=UTC)
CASE = Case(
    id="r1-0001",
    claim=Claim(id="c", text="The mill was built in 1899."),
    a=Position(label=Label.SUPPORTED),
    b=Position(label=Label.CONTRADICTORY),
)
SINGLE = PolicySpec()


def auditor(name: str, kind: str = "agent") -> AuditorSpec:
    return AuditorSpec(name=name, kind=kind)


def panel(*people: str, rule: str = "majority", human: bool = False) -> PanelSpec:
    members = (auditor("one"), auditor("two"), auditor("three", "human" if human else "agent"))
    asked = tuple(auditor(name, "human") for name in people)
    return PanelSpec(members=members, rule=rule, escalate_to=asked)


def said(name: str, decision: str, label: str | None = None, **fields: object) -> Adjudication:
    return Adjudication(
        case_id=CASE.id, auditor=name, decision=Decision(decision), label=label,
        rationale=f"{name} says {decision}", **fields,
    )  # fmt: skip


def sitting(
    spec: PanelSpec,
    *made: Adjudication,
    escalated: str = "",
    barred: tuple[str, ...] = (),
    position: int = 0,
) -> Sitting:
    return Sitting(
        CASE, position, ("bench",), barred, {"bench": spec}, {one.auditor: one for one in made},
        {"bench": escalated} if escalated else {},
    )  # fmt: skip


def decided(one: Sitting) -> Adjudication:
    return one.standing()["bench"]


def test_a_panel_waits_for_all_its_members() -> None:
    one = sitting(panel(), said("one", "a"), said("two", "a"))
    assert one.standing() == {} and one.due(SINGLE) == ("bench",)
    assert one.asked(SINGLE) == ("three",)
    assert one.to_escalate(SINGLE) == []
    assert one.seats("three") and not one.seats("stranger")


def test_a_majority_of_the_members_decides_in_their_words() -> None:
    quote = Evidence(source=f"sha256:{'0' * 64}", quote="in 1898", stance=Stance.CONTRADICTS)
    made = decided(
        sitting(
            panel(),
            said("one", "a"),
            said("two", "b", evidence=(quote,)),
            said("three", "neither", "contradictory", evidence=(quote,)),
        )
    )
    assert (made.auditor, made.decision, made.label) == ("bench", Decision.B, None)
    assert made.rationale == "two says b" and made.evidence == (quote,)
    assert made.deliberation is not None
    assert made.deliberation.decided_by == ("two", "three") and made.deliberation.split
    assert [member.auditor for member in made.deliberation.members] == ["one", "two", "three"]
    assert made.notes == "panel (majority): 1 of 3 for supported, 2 of 3 for contradictory"


def test_a_third_label_stays_one() -> None:
    third = [said(name, "neither", "inconclusive") for name in ("one", "two", "three")]
    made = decided(sitting(panel(rule="unanimous"), *third))
    assert (made.decision, made.label) == (Decision.NEITHER, Label.INCONCLUSIVE)


SPLIT = (said("one", "a"), said("two", "b"), said("three", "cannot_tell"))


def test_members_that_come_to_no_label_decide_nothing() -> None:
    made = decided(sitting(panel(), *SPLIT))
    assert made.decision is Decision.CANNOT_TELL
    assert "1 of 3 for supported, 1 of 3 for contradictory, 1 of 3 cannot tell" in made.rationale
    assert made.deliberation is not None and made.deliberation.decided_by == ()


def test_a_person_is_asked_and_decides_alone() -> None:
    before = sitting(panel("ada"), *SPLIT)
    assert before.standing() == {} and before.asked(SINGLE) == ()
    ((name, person, why),) = before.to_escalate(SINGLE)
    assert (name, person) == ("bench", "ada") and "cannot tell" in why
    assert not before.seats("ada")
    waiting = sitting(panel("ada"), *SPLIT, escalated="ada")
    assert waiting.asked(SINGLE) == ("ada",) and waiting.to_escalate(SINGLE) == []
    assert waiting.seats("ada")
    after = sitting(panel("ada"), *SPLIT, said("ada", "b"), escalated="ada")
    made = decided(after)
    assert (made.decision, made.rationale) == (Decision.B, "ada says b")
    assert made.deliberation is not None
    assert made.deliberation.escalated_to == "ada" and made.deliberation.decided_by == ("ada",)
    assert len(made.deliberation.members) == 4 and made.notes.endswith("; ada was asked")


def test_people_are_asked_in_turn_and_never_about_their_own_label() -> None:
    def asked(position: int, *barred: str) -> list[str]:
        one = sitting(panel("ada", "ben"), *SPLIT, position=position, barred=barred)
        return [person for _, person, _ in one.to_escalate(SINGLE)]

    assert [asked(n) for n in range(3)] == [["ada"], ["ben"], ["ada"]]
    assert asked(0, "ada") == ["ben"]
    assert asked(0, "ada", "ben") == []
    nobody = sitting(panel("ada"), *SPLIT, barred=("ada",))
    assert decided(nobody).decision is Decision.CANNOT_TELL


def test_a_member_who_wrote_the_label_does_not_sit() -> None:
    one = sitting(panel(human=True), said("one", "a"), said("two", "a"), barred=("three",))
    assert not one.seats("three")
    made = decided(one)
    assert made.deliberation is not None and len(made.deliberation.members) == 2


@pytest.mark.parametrize(("price", "total"), [(0.5, 1.0), (None, None)])
def test_what_members_cost_is_added_up_or_unknown(price: float | None, total: float | None) -> None:
    def cost(usd: float | None) -> Deliberation:
        usage = Usage(calls=3, input_tokens=10, output_tokens=2, usd=usd)
        return Deliberation(rule="majority", count="", usage=usage)

    made = decided(
        sitting(
            panel(),
            said("one", "a", deliberation=cost(0.5)),
            said("two", "a", deliberation=cost(price)),
            said("three", "a"),
        )
    )
    assert made.deliberation is not None
    assert made.deliberation.usage == Usage(calls=6, input_tokens=20, output_tokens=4, usd=total)


def test_single_auditors_sit_as_they_are() -> None:
    one = Sitting(CASE, 0, ("ada",), (), {}, {}, {})
    assert one.asked(SINGLE) == ("ada",) and one.seats("ada") and not one.seats("ben")
    assert one.standing() == {}


def test_sittings_are_read_from_a_journal() -> None:
    def decided_in(number: int, made: Adjudication) -> Adjudicated:
        return Adjudicated(at=WHEN, round=number, adjudication=made)

    other = CASE.model_copy(update={"id": "r1-0002"})
    events = [
        CaseOpened(at=WHEN, round=1, case=CASE, auditors=("bench",), barred=("eve",)),
        CaseOpened(at=WHEN, round=1, case=other, auditors=("bench",)),
        CaseOpened(at=WHEN, round=2, case=CASE, auditors=("bench",)),
        decided_in(1, said("one", "a")),
        decided_in(1, said("two", "a")),
        Withdrawn(at=WHEN, round=1, case_id=CASE.id, auditor="two"),
        decided_in(2, said("three", "a")),
        Escalated(at=WHEN, round=1, case_id=other.id, panel="bench", to="ada", why="split"),
        Escalated(at=WHEN, round=2, case_id=CASE.id, panel="bench", to="ada", why="split"),
    ]
    first, second = sittings(
        events, 1, {"bench": panel("ada")}, lambda event, at: event.auditors or (str(at),)
    )
    assert (first.position, first.barred, list(first.made)) == (0, ("eve",), ["one"])
    assert first.escalated == {} and second.escalated == {"bench": "ada"}
    assert second.position == 1 and second.made == {}
