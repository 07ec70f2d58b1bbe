"""Who sits over a case, who is to decide it now, and what a panel of auditors comes to. Pure.

A panel's adjudication is one decision with its members' inside. It is worked out anew from what
stands whenever somebody asks, so a member who takes a decision back changes it until the round is
closed. Members that come to no label never make one: a person is asked, or the panel cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from deepfact.core.deciding import Together, named_kind, together
from deepfact.core.policy import due
from deepfact.core.revise import decided_label
from deepfact.core.standing import escalations, standing_adjudications
from deepfact.records import Adjudication, Case, Decision, Deliberation, Usage
from deepfact.run_records import AuditorSpec, CaseOpened, JournalEvent, PanelSpec, PolicySpec

Made = Mapping[str, Adjudication]
"""Standing decisions on one case, by auditor."""


def seated(panel: PanelSpec, barred: Collection[str]) -> tuple[AuditorSpec, ...]:
    """The members who may decide a case: all but people who wrote the label in question."""
    return tuple(member for member in panel.members if member.name not in barred)


def awaited(
    panel: PanelSpec, made: Made, *, escalated_to: str = "", barred: Collection[str] = ()
) -> tuple[str, ...]:
    """Names of those whose decision a panel still waits for."""
    names = [member.name for member in seated(panel, barred)]
    names += [escalated_to] if escalated_to else []
    return tuple(name for name in names if name not in made)


def heard(panel: PanelSpec, case: Case, made: Made, barred: Collection[str] = ()) -> Together:
    """What the members' decisions come to under the panel's rule."""
    labels = [
        decided_label(case, made[member.name])
        for member in seated(panel, barred)
        if member.name in made
    ]
    return together(labels, rule=panel.rule)


def next_person(panel: PanelSpec, position: int, barred: Collection[str] = ()) -> str:
    """Who is asked about the case at ``position`` of its round when the members come to no
    label: one of the panel's people, in turn; empty when there is nobody."""
    people = [spec.name for spec in panel.escalate_to]
    start = position % len(people) if people else 0
    turn = [*people[start:], *people[:start]]
    return next((name for name in turn if name not in barred), "")


def conclude(
    name: str,
    panel: PanelSpec,
    case: Case,
    made: Made,
    *,
    position: int,
    escalated_to: str = "",
    barred: Collection[str] = (),
) -> Adjudication | None:
    """The panel's decision; None while somebody is awaited, or is still to be asked.

    Args:
        name: of the panel.
        position: of the case in its round.
        escalated_to: who was asked because the members came to no label.
        barred: people who wrote the label in question.
    """
    if awaited(panel, made, escalated_to=escalated_to, barred=barred):
        return None
    members = [made[member.name] for member in seated(panel, barred)]
    found = heard(panel, case, made, barred)
    if escalated_to:
        final = made[escalated_to]
        return _adjudication(name, panel, final, [final], [*members, final], found, escalated_to)
    if found.label is None:
        if next_person(panel, position, barred):
            return None
        undecided = Adjudication(
            case_id=case.id,
            auditor=name,
            decision=Decision.CANNOT_TELL,
            rationale=f"the members come to no label: {found.words}",
        )
        return _adjudication(name, panel, undecided, [], members, found)
    agreeing = [one for one in members if decided_label(case, one) is found.label]
    return _adjudication(name, panel, agreeing[0], agreeing, members, found)


@dataclass(frozen=True, slots=True)
class Sitting:
    """A case of a round, with everybody who may decide it and what they decided so far."""

    case: Case
    position: int
    """In the order of the docket."""
    names: tuple[str, ...]
    """Auditors of the round who may decide it."""
    barred: tuple[str, ...]
    """People who wrote the label in question."""
    panels: Mapping[str, PanelSpec]
    """Those of the round, by name."""
    made: dict[str, Adjudication]
    """What stands, by person or other single auditor; members of panels too."""
    escalated: dict[str, str]
    """Who was asked by which panel because its members came to no label."""

    def standing(self) -> dict[str, Adjudication]:
        """What stands of the round's auditors, the decisions of panels worked out."""
        found = {}
        for name in self.names:
            made = self._concluded(name) if name in self.panels else self.made.get(name)
            if made is not None:
                found[name] = made
        return found

    def due(self, policy: PolicySpec) -> tuple[str, ...]:
        """Auditors of the round who are yet to decide the case; empty when it can be ruled on."""
        return due(self.case, self.standing(), self.names, policy)

    def asked(self, policy: PolicySpec) -> tuple[str, ...]:
        """As `due`, each panel as those of its people and members whom it waits for."""
        found: list[str] = []
        for name in self.due(policy):
            found += self._awaited(name) if name in self.panels else [name]
        return tuple(found)

    def seats(self, name: str) -> bool:
        """Whether the case is before a person or other single auditor at all."""
        return name in self.names or any(
            name == self.escalated.get(panel)
            or name in [member.name for member in seated(self.panels[panel], self.barred)]
            for panel in self.names
            if panel in self.panels
        )

    def to_escalate(self, policy: PolicySpec) -> list[tuple[str, str, str]]:
        """Panels whose members came to no label, whom they ask, and what they came to in words."""
        return [
            (name, person, heard(self.panels[name], self.case, self.made, self.barred).words)
            for name in self.due(policy)
            if name in self.panels and not self._awaited(name) and name not in self.escalated
            if (person := next_person(self.panels[name], self.position, self.barred))
        ]

    def _awaited(self, panel: str) -> tuple[str, ...]:
        return awaited(
            self.panels[panel],
            self.made,
            escalated_to=self.escalated.get(panel, ""),
            barred=self.barred,
        )

    def _concluded(self, panel: str) -> Adjudication | None:
        return conclude(
            panel,
            self.panels[panel],
            self.case,
            self.made,
            position=self.position,
            escalated_to=self.escalated.get(panel, ""),
            barred=self.barred,
        )


def sittings(
    events: Iterable[JournalEvent],
    number: int,
    panels: Mapping[str, PanelSpec],
    who_decides: Callable[[CaseOpened, int], tuple[str, ...]],
) -> list[Sitting]:
    """Every case of a round, as a journal has it, in the order of the docket.

    Args:
        number: of the round.
        panels: those of the round, by name.
        who_decides: names of the round's auditors who may decide the case at a position.
    """
    events = list(events)
    made: dict[str, dict[str, Adjudication]] = {}
    for (round_number, case_id, name), adjudication in standing_adjudications(events).items():
        if round_number == number:
            made.setdefault(case_id, {})[name] = adjudication
    asked: dict[str, dict[str, str]] = {}
    for (round_number, case_id, panel), person in escalations(events).items():
        if round_number == number:
            asked.setdefault(case_id, {})[panel] = person
    opened = [one for one in events if isinstance(one, CaseOpened) and one.round == number]
    return [
        Sitting(
            case=event.case,
            position=position,
            names=who_decides(event, position),
            barred=event.barred,
            panels=panels,
            made=made.get(event.case.id, {}),
            escalated=asked.get(event.case.id, {}),
        )
        for position, event in enumerate(opened)
    ]


def _adjudication(
    name: str,
    panel: PanelSpec,
    final: Adjudication,
    deciding: Sequence[Adjudication],
    members: Sequence[Adjudication],
    found: Together,
    escalated_to: str = "",
) -> Adjudication:
    """The panel's decision: the reasons of whoever decided first, word for word, and the evidence
    of all who decided."""
    usages = [made.deliberation.usage for made in members if made.deliberation is not None]
    known = all(usage.usd is not None for usage in usages if usage.calls)
    asked = f"; {escalated_to} was asked" if escalated_to else ""
    return Adjudication(
        case_id=final.case_id,
        auditor=name,
        decision=final.decision,
        label=final.label,
        rationale=final.rationale,
        evidence=tuple(dict.fromkeys(one for made in deciding for one in made.evidence)),
        contradictions=tuple(
            dict.fromkeys(one for made in deciding for one in made.contradictions)
        ),
        notes=f"panel ({panel.rule}): {found.words}{asked}",
        divergence=named_kind([made.divergence for made in deciding or members]),
        deliberation=Deliberation(
            rule=panel.rule,
            count=found.words,
            split=found.split,
            decided_by=tuple(made.auditor for made in deciding),
            members=tuple(members),
            escalated_to=escalated_to,
            usage=Usage(
                calls=sum(usage.calls for usage in usages),
                input_tokens=sum(usage.input_tokens for usage in usages),
                output_tokens=sum(usage.output_tokens for usage in usages),
                usd=sum(usage.usd or 0.0 for usage in usages) if usages and known else None,
            ),
        ),
    )
