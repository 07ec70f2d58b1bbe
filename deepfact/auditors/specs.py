"""What auditors' declarations say: who is a person, who sits on a panel, whose model is whose.

Reads ``auditors/*.yaml``. A panel's members are read with it and kept inside its spec, so that a
run can be resumed without the files that declared them. Builds no auditor and asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deepfact.core.model_identity import model_identity
from deepfact.errors import ConfigError, did_you_mean
from deepfact.run_records import AuditorSpec, PanelSpec, VerifierSpec
from deepfact.store.files import explain
from deepfact.store.specs import read_yaml

HUMAN = "human"
"""Kind of an auditor who is a person: cases wait until decisions come in."""

SIMULATED = "policy"
"""Kind of the simulated auditor, which knows the answers."""

PANEL = "panel"
"""Kind of an auditor that is several auditors."""


def read_auditors(names: Sequence[str], folder: Path) -> tuple[AuditorSpec, ...]:
    """The auditors that a run names, in that order.

    Args:
        names: names of files in ``folder`` without ``.yaml``, or paths of files.
        folder: where auditors are declared.

    Raises:
        ConfigError: no such auditor, two with one name, or a spec that does not fit.
    """
    specs: list[AuditorSpec] = []
    for name in names:
        path = _file_of(name, folder)
        spec = _read(path)
        if spec.name in (other.name for other in specs):
            raise ConfigError(f"two auditors have the name {spec.name!r}", where=str(path))
        specs.append(spec)
    return tuple(specs)


def panel_of(spec: AuditorSpec) -> PanelSpec:
    """A panel's members and rule.

    Raises:
        ConfigError: its options do not fit.
    """
    where = f"auditor {spec.name!r}"
    try:
        panel = PanelSpec.model_validate(spec.options)
    except ValidationError as error:
        raise ConfigError(explain(error), where=where) from None
    for member in (*panel.members, *panel.escalate_to):
        if member.kind == PANEL:
            raise ConfigError(
                f"{member.name!r} is a panel itself", where=where, fix="name its members instead"
            )
    for person in panel.escalate_to:
        if person.kind != HUMAN:
            raise ConfigError(
                f"{person.name!r} is no person",
                where=where,
                fix="escalate to auditors of kind human",
            )
    names = [one.name for one in (*panel.members, *panel.escalate_to)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{twice[0]!r} sits on it twice", where=where)
    return panel


def everybody(specs: Iterable[AuditorSpec]) -> tuple[AuditorSpec, ...]:
    """The auditors, each panel as its members and the people whom it escalates to."""
    found: list[AuditorSpec] = []
    for spec in specs:
        if spec.kind == PANEL:
            panel = panel_of(spec)
            found += [*panel.members, *panel.escalate_to]
        else:
            found.append(spec)
    return tuple(found)


def people(specs: Iterable[AuditorSpec]) -> tuple[AuditorSpec, ...]:
    """Those who are persons, on panels too."""
    return tuple(spec for spec in everybody(specs) if spec.kind == HUMAN)


def panels_of(specs: Iterable[AuditorSpec]) -> dict[str, PanelSpec]:
    """The panels among auditors, by name."""
    return {spec.name: panel_of(spec) for spec in specs if spec.kind == PANEL}


def barred(specs: Iterable[AuditorSpec], wrote: str) -> tuple[str, ...]:
    """People who do not decide about a label, on panels neither, since they wrote it.

    Args:
        wrote: who wrote it, as its annotation has it; several joined by `` + ``.
    """
    writers = wrote.split(" + ")
    return tuple(dict.fromkeys(spec.name for spec in people(specs) if spec.name in writers))


def check_names(specs: Sequence[AuditorSpec]) -> None:
    """Each name stands for one seat: a decision must never count twice in a round.

    Raises:
        ConfigError: an auditor of a round also sits on one of its panels, or two panels share one.
    """
    names = [spec.name for spec in specs]
    names += [one.name for spec in specs if spec.kind == PANEL for one in everybody([spec])]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(
            f"auditor {twice[0]!r} has two seats in one round",
            fix="declare it under another name for its second seat, or leave one out",
        )


def in_words(spec: AuditorSpec) -> str:
    """An auditor with its kind, a panel with everybody who sits on it."""
    if spec.kind != PANEL:
        return f"{spec.name} ({spec.kind})"
    panel = panel_of(spec)
    members = ", ".join(f"{member.name} ({member.kind})" for member in panel.members)
    last = " or ".join(person.name for person in panel.escalate_to)
    return f"{spec.name} ({panel.rule} of {members}{f'; else {last}' if last else ''})"


def is_simulated(spec: AuditorSpec) -> bool:
    """Whether somebody in it knows the answers."""
    return any(one.kind == SIMULATED for one in everybody([spec]))


def judges_itself(auditor: AuditorSpec, challenger: VerifierSpec) -> bool:
    """Whether an auditor, or a member of a panel, would judge what its own model says.

    By the ids of their models, however they are written; by their kinds when neither has a model.
    """
    theirs = _identities(challenger)
    return any(_identities(one) & theirs for one in everybody([auditor]))


def _identities(spec: AuditorSpec | VerifierSpec) -> set[str]:
    """The models that a spec asks, or its kind when it asks none."""
    models = {model_identity(model) for model in models_of(spec)} - {""}
    return {f"model {model}" for model in models} or {f"kind {spec.kind}"}


def models_of(spec: AuditorSpec | VerifierSpec) -> tuple[str, ...]:
    """The ids of all models that a spec names, as it writes them."""
    options, found = spec.options, list[str]()
    provider = options.get("provider")
    inner = provider.get("options") if isinstance(provider, Mapping) else None
    for place in (options, inner if isinstance(inner, Mapping) else {}):
        several = place.get("models") or ()
        many = [several] if isinstance(several, str) else list(several)
        found += [str(one) for one in (place.get("model"), *many) if one]
    return tuple(dict.fromkeys(found))


# --- reading files -----------------------------------------------------------------------


def _file_of(name: str, folder: Path) -> Path:
    path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    if not path.is_file():
        known = [file.stem for file in folder.glob("*.yaml")]
        raise ConfigError(
            f"no auditor is declared as {name!r}", where=str(path), fix=did_you_mean(name, known)
        )
    return path


def _read(path: Path) -> AuditorSpec:
    """The auditor that a file declares; a panel with its members, from files beside it."""
    spec = read_yaml(path, AuditorSpec)
    if spec.kind != PANEL:
        return spec
    options = dict(spec.options)
    for seats in ("members", "escalate_to"):
        names = options.get(seats)
        if isinstance(names, str):
            raise ConfigError(f"{seats}: a list of auditors is needed", where=str(path))
        options[seats] = [_member(name, path) for name in names or ()]
    whole = spec.model_copy(update={"options": options})
    try:
        panel_of(whole)
    except ConfigError as error:
        raise ConfigError(error.what, where=str(path), fix=error.fix) from None
    return whole


def _member(name: Any, panel: Path) -> dict[str, Any]:
    """A member's spec: named by its file beside the panel's, or written out in the panel's."""
    if not isinstance(name, str):
        return dict(name) if isinstance(name, Mapping) else {"name": name}
    found = read_yaml(_file_of(name, panel.parent), AuditorSpec)
    return found.model_dump(mode="json", exclude_defaults=True)
