"""What the prompts of a pipeline are given and must answer, by step. Pure tables.

A verifier that works in several steps asks one prompt for each. Such a prompt names its step in
its front matter, and carries no table of verdicts: the step's own code reads the answer. Every
answer speaks of claims one by one, each under its id and with its words copied back, so that a
group of claims can be asked about at once and answers are matched by id, never by their order.
Reads no files and asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deepfact.prompts.render import Role

_EACH = frozenset(("claims", "claims.claim_id", "claims.claim"))


@dataclass(frozen=True)
class Step:
    """One step: which variables its prompts use, and which parts of an answer are read."""

    role: Role
    reads: frozenset[str]
    """Every property of the answer, with those above it: ``claims.elements.text``."""


def _step(shown: str, limits: str, parts: str) -> Step:
    """A step.

    Args:
        shown: variables that carry text from outside, beside the claims.
        limits: variables that carry a number of ours.
        parts: of the answer about one claim.
    """
    data = frozenset(("claims", *shown.split()))
    role = Role(required=data, optional=frozenset(limits.split()), data=data)
    return Step(role, _EACH | {f"claims.{part}" for part in parts.split()})


_JUDGED = "label reason disputed evidence evidence.source evidence.quote evidence.stance"

STEPS: Mapping[str, Step] = {
    "document/plan": _step("", "most_queries", "elements elements.text elements.kind queries"),
    "document/choose": _step("candidates", "most_documents", "documents"),
    "document/read": _step(
        "sources", "", "extracts extracts.element extracts.quote extracts.stance extracts.says"
    ),
    "document/follow-up": _step("evidence searches", "most_queries", "queries reason"),
    "document/verdict": _step(
        "evidence",
        "",
        "elements elements.element elements.label elements.reason elements.disputed "
        "elements.evidence elements.evidence.quote elements.evidence.stance "
        "qualifications qualifications.kind qualifications.text qualifications.quote",
    ),
    "baseline/safe-split": _step("", "most_facts", "facts"),
    "baseline/safe-query": _step("sources searches", "", "query enough"),
    "baseline/safe-rate": _step("sources", "", f"relevant {_JUDGED}"),
    "baseline/veriscore-extract": _step("", "most_facts", "facts"),
    "baseline/veriscore-judge": _step("sources", "", _JUDGED),
    "baseline/factcheck-gpt-decompose": _step("", "most_facts", "facts"),
    "baseline/factcheck-gpt-checkworthy": _step("", "", "checkworthy reason"),
    "baseline/factcheck-gpt-query": _step("", "most_queries", "queries"),
    "baseline/factcheck-gpt-stance": _step(
        "sources", "", "passages passages.source passages.quote passages.stance"
    ),
    "baseline/factcheck-gpt-verdict": _step("evidence", "", "label reason disputed evidence"),
}
"""By the name that a prompt's front matter gives under ``step``."""


def parts_of(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, bool]]:
    """Every property of an answer, with those above it, and whether it must be there."""
    for branch in (schema, *schema.get("anyOf", ())):
        required = branch.get("required", ())
        for name, inner in branch.get("properties", {}).items():
            yield f"{above}{name}", name in required
            yield from parts_of(inner, f"{above}{name}.")
    if "items" in schema:
        yield from parts_of(schema["items"], above)
