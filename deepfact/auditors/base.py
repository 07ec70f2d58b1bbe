"""What an auditor is, and the table of those that ship; `deepfact.auditors.specs` reads them.

An auditor decides a case from the case and the sources alone. Keys (who is the benchmark,
what is micro-gold) are not handed to it; the one exception is the simulated auditor, which
asks for the answers by name and is marked as a simulation wherever it appears.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Awaitable, Callable, Mapping, Protocol

from deepfact import plugins
from deepfact.auditors.specs import HUMAN as HUMAN
from deepfact.auditors.specs import PANEL as PANEL
from deepfact.auditors.specs import SIMULATED as SIMULATED
from deepfact.auditors.specs import judges_itself as judges_itself
from deepfact.records import Adjudication, Case, KeyEntry, Source
from deepfact.run_records import AuditorSpec
from deepfact.verifiers.base import Context

GROUP = "deepfact.auditors"

BUILT_IN = {
    "agent": "deepfact.auditors.agent:AgentAuditor",
    "evidence": "deepfact.auditors.evidence:EvidenceAuditor",
    SIMULATED: "deepfact.auditors.policy:PolicyAuditor",
}

Answers = Callable[[str], Mapping[str, KeyEntry]]
"""``answers("author")``: the known answers by claim id."""


class Auditor(Protocol):
    """Decides blind cases."""

    def adjudicate(self, case: Case) -> Adjudication | Awaitable[Adjudication]:
        """The decision on one case, with a rationale; ``when`` is left to the caller.

        A coroutine is asked about many cases at once. One that asks a model has ``use(engine)``.
        """
        ...


def build_auditor(
    spec: AuditorSpec,
    *,
    sources: Mapping[str, Source],
    answers: Answers,
    context: Context | None = None,
    workspace: Path | None = None,
) -> Auditor:
    """The auditor that a spec describes.

    Args:
        spec: not of a person, nor of a panel: its members are built one by one.
        sources: the benchmark's sources by id.
        answers: for the simulated auditor alone.
        context: the same sources with a search over them; made when left out.
        workspace: a run's folder, for what an auditor keeps (an agent: the answers it paid for).

    Raises:
        ConfigError: unknown kind or option.
    """
    given: dict[str, Any] = {
        "name": spec.name,
        "sources": sources,
        "context": context or Context(sources),
        "workspace": workspace,
    }
    if spec.kind == SIMULATED:
        given["answers"] = answers
    auditor: Auditor = plugins.build(GROUP, BUILT_IN, spec.kind, spec.options, given)
    return auditor
