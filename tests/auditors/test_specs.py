"""How auditors are declared: panels with their members, and whose model is whose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from deepfact.auditors.specs import (
    barred,
    check_names,
    everybody,
    in_words,
    is_simulated,
    judges_itself,
    models_of,
    panel_of,
    people,
    read_auditors,
)
from deepfact.errors import ConfigError
from deepfact.run_records import AuditorSpec, VerifierSpec

SHIPPED = Path(__file__).parents[2] / "auditors"


def spec(name: str, kind: str, **options: Any) -> AuditorSpec:
    return AuditorSpec(name=name, kind=kind, options=options)


JUDGE = spec("judge", "agent", model="m-1", provider={"kind": "anthropic"})
EVIDENCE, ADA, BEN = spec("local", "evidence"), spec("ada", "human"), spec("ben", "human")


def panel(*members: AuditorSpec, to: tuple[AuditorSpec, ...] = (), name: str = "p") -> AuditorSpec:
    return spec(name, "panel", members=[m.model_dump() for m in members],
                escalate_to=[m.model_dump() for m in to])  # fmt: skip


# --- files --------------------------------------------------------------------------------


def test_the_shipped_panel_holds_its_members() -> None:
    (mixed,) = read_auditors(["mixed-panel"], SHIPPED)
    found = panel_of(mixed)
    assert [member.kind for member in found.members] == ["agent", "evidence"]
    assert [person.name for person in found.escalate_to] == ["person"]
    assert found.members[0] == read_auditors(["agent-judge"], SHIPPED)[0]
    assert in_words(mixed) == (
        "mixed-panel (unanimous of agent-judge (agent), evidence-judge (evidence); else person)"
    )
    assert in_words(EVIDENCE) == "local (evidence)"
    assert AuditorSpec.model_validate_json(mixed.model_dump_json()) == mixed


def write(folder: Path, **options: Any) -> Path:
    for auditor in (JUDGE, EVIDENCE, ADA, panel(JUDGE, EVIDENCE, name="other")):
        path = folder / f"{auditor.name}.yaml"
        path.write_text(yaml.safe_dump(auditor.model_dump(mode="json")), encoding="utf-8")
    path = folder / "p.yaml"
    path.write_text(yaml.safe_dump({"name": "p", "kind": "panel", "options": options}))
    return path


def test_members_are_named_by_file_or_written_out(tmp_path: Path) -> None:
    inline = {"name": "inline", "kind": "policy"}
    path = write(tmp_path, members=["judge", inline], escalate_to=["ada"])
    (found,) = read_auditors([str(path)], Path("nowhere"))
    assert [one.name for one in everybody([found])] == ["judge", "inline", "ada"]
    assert is_simulated(found) and [one.name for one in people([found])] == ["ada"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"members": ["judge", "locla"]}, "did you mean 'local'"),
        ({"members": ["judge"]}, "at least 2 items"),
        ({"members": "judge"}, "a list of auditors is needed"),
        ({"members": ["judge", 7]}, "members"),
        ({"members": ["judge", {"name": "x"}]}, "kind"),
        ({"members": ["judge", "local"], "rule": "most"}, "rule"),
        ({"members": ["judge", "local"], "escalate": ["ada"]}, "escalate"),
        ({"members": ["judge", "local"], "escalate_to": ["judge"]}, "'judge' is no person"),
        ({"members": ["judge", "other"]}, "'other' is a panel itself"),
        ({"members": ["judge", "ada"], "escalate_to": ["ada"]}, "'ada' sits on it twice"),
        ({}, "members"),
    ],
)
def test_a_panel_that_cannot_be_is_refused_with_its_file(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    path = write(tmp_path, **options)
    with pytest.raises(ConfigError) as error:
        read_auditors([str(path)], tmp_path)
    assert words in str(error.value) and str(tmp_path) in str(error.value)


def test_nobody_has_two_seats_in_a_round() -> None:
    check_names([panel(JUDGE, EVIDENCE, to=(ADA,)), BEN])
    for auditors in (
        [panel(JUDGE, EVIDENCE, to=(ADA,)), ADA],
        [panel(JUDGE, EVIDENCE), panel(JUDGE, BEN, name="q")],
    ):
        with pytest.raises(ConfigError, match="has two seats"):
            check_names(auditors)


def test_whoever_wrote_the_label_is_barred_on_panels_too() -> None:
    auditors = [panel(JUDGE, BEN, to=(ADA,))]
    assert barred(auditors, "p + ada") == ("ada",)
    assert barred(auditors, "judge + adam") == ()


# --- whose model is whose -----------------------------------------------------------------

CHALLENGER = VerifierSpec(kind="panel", options={"model": "claude-sonnet-4-5"})


@pytest.mark.parametrize(
    ("auditor", "challenger"),
    [
        (spec("a", "agent", model="claude-sonnet-4-5"), CHALLENGER),
        (spec("a", "agent", model="anthropic/claude-sonnet-4.5"), CHALLENGER),
        (spec("a", "agent", model="gateway/anthropic/claude-sonnet-4-5-20250929"), CHALLENGER),
        (spec("a", "agent", model="us.anthropic.claude-sonnet-4-5-20250929-v1:0"), CHALLENGER),
        (spec("a", "agent", models=["x", "claude-sonnet-4-5"]), CHALLENGER),
        (JUDGE, VerifierSpec(kind="panel", options={"model": "x", "models": ["y", "vendor/m-1"]})),
        (JUDGE, VerifierSpec(kind="theirs", options={"models": "m-1"})),
        (JUDGE, VerifierSpec(kind="t", options={"provider": {"options": {"model": "m-1"}}})),
        (panel(EVIDENCE, JUDGE), VerifierSpec(kind="panel", options={"model": "m-1"})),
        (spec("a", "house"), VerifierSpec(kind="house")),
        (panel(EVIDENCE, spec("a", "local")), VerifierSpec(kind="local")),
    ],
)
def test_who_judges_itself(auditor: AuditorSpec, challenger: VerifierSpec) -> None:
    assert judges_itself(auditor, challenger)


@pytest.mark.parametrize(
    ("auditor", "challenger"),
    [
        (spec("a", "agent", model="claude-opus-4-5"), CHALLENGER),
        (panel(JUDGE, EVIDENCE, to=(ADA,)), CHALLENGER),
        (EVIDENCE, VerifierSpec(kind="local")),
        (JUDGE, VerifierSpec(kind="agent")),
        (ADA, CHALLENGER),
    ],
)
def test_who_does_not(auditor: AuditorSpec, challenger: VerifierSpec) -> None:
    assert not judges_itself(auditor, challenger)


def test_models_are_listed_once_as_written() -> None:
    options = {"model": "a", "models": ["a", "b"], "provider": {"kind": "x", "options": None}}
    assert models_of(VerifierSpec(kind="panel", options=options)) == ("a", "b")
