"""What an auditor is, how one is declared, and the table of those that ship.

An auditor decides a case from the case and the sources alone. Keys (who is the benchmark,
what is micro-gold) are not handed to it; the one exception is the simulated auditor, which
asks for the answers by name and is marked as a simulation wherever it appears.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Mapping, Protocol, Sequence

from deepfact import plugins
from deepfact.errors import ConfigError, did_you_mean
from deepfact.records import Adjudication, Case, KeyEntry, Source
from deepfact.run_records import AuditorSpec, VerifierSpec
from deepfact.store.specs import read_yaml

GROUP = "deepfact.auditors"

HUMAN = "human"
"""Kind of an auditor who is a person: cases wait until decisions come in."""

SIMULATED = "policy"
"""Kind of the simulated auditor, which knows the answers."""

BUILT_IN = {
    "evidence": "deepfact.auditors.evidence:EvidenceAuditor",
    SIMULATED: "deepfact.auditors.policy:PolicyAuditor",
}

Answers = Callable[[str], Mapping[str, KeyEntry]]
"""``answers("author")``: the known answers by claim id."""


class Auditor(Protocol):
    """Decides blind cases."""

    def adjudicate(self, case: Case) -> Adjudication:
        """The decision on one case, with a rationale; ``when`` is left to the caller."""
        ...


def build_auditor(spec: AuditorSpec, *, sources: Mapping[str, Source], answers: Answers) -> Auditor:
    """The auditor that a spec describes.

    Args:
        spec: not of a person.
        sources: the benchmark's sources by id.
        answers: for the simulated auditor alone.

    Raises:
        ConfigError: unknown kind or option.
    """
    given: dict[str, Any] = {"name": spec.name, "sources": sources}
    if spec.kind == SIMULATED:
        given["answers"] = answers
    auditor: Auditor = plugins.build(GROUP, BUILT_IN, spec.kind, spec.options, given)
    return auditor


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
        path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
        if not path.is_file():
            known = [file.stem for file in folder.glob("*.yaml")]
            raise ConfigError(
                f"no auditor is declared as {name!r}",
                where=str(path),
                fix=did_you_mean(name, known),
            )
        spec = read_yaml(path, AuditorSpec)
        if spec.name in (other.name for other in specs):
            raise ConfigError(f"two auditors have the name {spec.name!r}", where=str(path))
        specs.append(spec)
    return tuple(specs)


def judges_itself(auditor: AuditorSpec, challenger: VerifierSpec) -> bool:
    """Whether an auditor would judge the challenges of its own model."""

    def identity(spec: AuditorSpec | VerifierSpec) -> str:
        return str(spec.options.get("model", spec.kind))

    return identity(auditor) == identity(challenger)
