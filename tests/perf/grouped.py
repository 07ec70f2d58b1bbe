"""Calls and tokens of `grouped` against `document`, with the rule-following stand-in for a model.

    python tests/perf/grouped.py [SIZE]

Counts, no times. The stand-in decides how many documents are chosen and how often it follows up, so
the figures say what grouping does to the calls of these two verifiers, not what a model would cost.
"""

from __future__ import annotations

import sys
from pathlib import Path

HOME = Path(__file__).parents[2]
sys.path.insert(0, str(HOME / "tests" / "judges"))

from document_steps import StepJudge  # noqa: E402
from rule_following import passages_of  # noqa: E402

from deepfact.executors.local import run_verifier  # noqa: E402
from deepfact.records import Verdict  # noqa: E402
from deepfact.store.locate import load_version  # noqa: E402
from deepfact.verifiers.base import Context  # noqa: E402
from deepfact.verifiers.document import DocumentVerifier, GroupedVerifier  # noqa: E402


def main(size: int) -> None:
    """Print both, and how they differ."""
    version = load_version("deepfact-mini@1", HOME / "benchmarks")
    table = passages_of(version.claims, version.store.key("author"))
    count, calls, labels = len(version.claims), [], []
    for name in ("document", "grouped"):
        judge = StepJudge(table)
        verifier = (
            DocumentVerifier("m", engine=judge)
            if name == "document"
            else GroupedVerifier("m", engine=judge, size=size)
        )
        found = list(run_verifier(verifier, version.claims, Context(version.sources), name=name))
        tokens = sum(one.usage.input_tokens for one in found)
        calls.append(judge.calls)
        labels.append({one.claim_id: one.label for one in found if isinstance(one, Verdict)})
        print(
            f"{name}: {count} claims, {len(labels[-1])} verdicts, {judge.calls} calls "
            f"({judge.calls / count:.2f} a claim), {tokens / count:.0f} tokens in a claim"
        )
    differ = sum(labels[0].get(name) != labels[1].get(name) for name in labels[0])
    print(f"grouped at {size}: {calls[1] / calls[0]:.3f} x the calls, {differ} labels differ")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
