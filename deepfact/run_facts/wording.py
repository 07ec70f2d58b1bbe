"""What a run was asked to do, in a few lines. Words only; the whole spec is in ``spec.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deepfact.auditors.specs import in_words
from deepfact.experiment_records import AbSpec, ClaimsSpec
from deepfact.regression_records import RegressSpec
from deepfact.research.workflow import ResearchSpec
from deepfact.run_records import SavedSpec, VerifierSpec


def spec_words(spec: SavedSpec | AbSpec | RegressSpec | ResearchSpec) -> dict[str, str]:
    """The lines of a spec, by what they are about; empty ones are left out."""
    if isinstance(spec, SavedSpec):
        lines = _round(spec)
    elif isinstance(spec, AbSpec):
        arms = "; ".join(map(verifier_words, spec.verifiers().values()))
        lines = {**_claims(spec), "arms": arms, "repeat": str(spec.repeat), "seed": str(spec.seed)}
    elif isinstance(spec, RegressSpec):
        lines = {**_claims(spec), "verifier": verifier_words(spec.verifier)}
        lines["pinned claims"] = str(len(spec.pins))
    else:
        lines = {"question": spec.question, "sources": spec.sources, "verifier": spec.verifier}
        lines |= {"extractor": spec.extractor or "by rules", "writer": spec.writer or "none"}
    return {name: words for name, words in lines.items() if words}


def verifier_words(spec: VerifierSpec) -> str:
    """A verifier by name, kind, model, prompt and votes."""
    told = [spec.kind] if spec.name and spec.name != spec.kind else []
    options: Mapping[str, Any] = spec.options
    for name in ("model", "models", "prompt"):
        if options.get(name):
            told.append(str(options[name]))
    if options.get("votes"):
        told.append(f"{options['votes']} votes")
    return f"{spec.label} ({', '.join(told)})" if told else spec.label


def _round(saved: SavedSpec) -> dict[str, str]:
    spec = saved.spec
    challengers = [stage.challenger or spec.challenger for stage in spec.rounds]
    return {
        "benchmark": spec.benchmark,
        "rounds": str(len(spec.rounds)),
        "challenger": "; ".join(dict.fromkeys(map(verifier_words, challengers))),
        "scored beside": "; ".join(map(verifier_words, spec.scored)),
        "auditors": ", ".join(map(in_words, saved.auditors)),
        "policy": str(spec.policy.rule),
        "seed": str(spec.seed),
    }


def _claims(spec: ClaimsSpec) -> dict[str, str]:
    select = spec.select
    parts = [f"{len(ids)} {name}" for name, ids in _chosen(select) if ids]
    if select.limit:
        parts.append(f"the first {select.limit}")
    return {
        "claims": spec.benchmark or spec.claims,
        "selected": ", ".join(parts),
        "labels from": f"key {spec.key}" if spec.key else "",
    }


def _chosen(select: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [("ids", select.ids), ("reports", select.reports), ("domains", select.domains)]
