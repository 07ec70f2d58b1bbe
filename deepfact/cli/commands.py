"""The commands of ``deepfact`` by name: where each lives, and what it says of itself.

A command's module is imported when the command is asked for. Its first sentence stands here once
more so that the list of commands needs none of them; a test holds that both say the same.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from deepfact.cli.pages import App


class Listed(NamedTuple):
    """A command, or a group of commands."""

    name: str
    module: str
    """In `deepfact.cli`."""
    says: str
    """The first sentence of its help."""
    examples: str = ""
    """The name of its examples in the module; a group has none of its own."""


COMMANDS = (
    Listed("verify", "score", "Let a verifier conclude on every claim of a version, and keep its "
           "verdicts in a file.", "VERIFY_EXAMPLES"),
    Listed("score", "score", "Score the verdicts of any system.", "SCORE_EXAMPLES"),
    Listed("ab", "ab", "Compare verifiers on the same claims; running it again goes on where it "
           "stopped.", "EXAMPLES"),
    Listed("plan", "plan", "Say how many calls, tokens, dollars and minutes a run would take.",
           "EXAMPLES"),
    Listed("regress", "regress", "Check that a verifier has not become worse than its committed "
           "baseline.", "EXAMPLES"),
    Listed("leaderboard", "leaderboard", "Score every stored verifier on every version, and say "
           "which label changes moved whom.", "EXAMPLES"),
    Listed("crossaudit", "crossaudit", "Accuracy of each agent alone, after each auditor's audit, "
           "and the change.", "EXAMPLES"),
    Listed("reproduce", "reproduce", "Recompute published tables from stored predictions, and "
           "compare digit by digit.", "EXAMPLES"),
    Listed("simulate", "simulate", "Simulate rounds with auditors that know the key and err at a "
           "stated rate.", "EXAMPLES"),
    Listed("transfer", "transfer", "Compare verifiers with the labels of data sets, and audit what "
           "disagrees.", "EXAMPLES"),
    Listed("search", "search", "Find the passages that bear on a query: in a benchmark, in a "
           "folder, or by a search.", "EXAMPLES"),
    Listed("mcp", "mcp", "Serve a ledger to an agent host.", "EXAMPLES"),
    Listed("doctor", "doctor", "Check versions, extras, keys (only whether they are set), write "
           "access, disk and clock.", "EXAMPLES"),
    Listed("bench", "bench", "Make, fill, read and check benchmarks."),
    Listed("round", "round", "Audit-then-Score rounds: run, go on, status, report."),
    Listed("run", "run_show", "A run of any kind, seen from its results folder."),
    Listed("audit", "audit", "People decide blind cases."),
    Listed("microgold", "microgold", "Hidden claims whose answer is known: add, list, check, and "
           "measure by them."),
    Listed("model", "model", "A small language model run on this machine, as an option (extra "
           "'local-llm')."),
    Listed("prompts", "prompts", "The prompts that verifiers and auditors use: versioned, locked "
           "once released."),
    Listed("responses", "responses", "The answers of models that were paid for: stats, export, "
           "import, prune."),
    Listed("research", "research", "The research gate: source cards, claims, a skeptic pass, and a "
           "report that may fail."),
    Listed("report", "report", "Research reports: their sentences, citations and reference lists."),
    Listed("index", "index", "Indexes for retrieval: made once, used again."),
)  # fmt: skip


def put_into(app: App, listed: Listed) -> Any:
    """Import a command and put it into the app, under its name. Returns the group, if it is one."""
    module = import_module(f"deepfact.cli.{listed.module}")
    if not listed.examples:
        app.add_typer(module.app, name=listed.name)
        return module.app
    examples = getattr(module, listed.examples)
    app.command(listed.name, epilog=examples)(getattr(module, listed.name))
    return None


def list_in(app: App, listed: Listed) -> None:
    """Put a command into the app that does nothing, for the list and for hints at its name."""
    if listed.examples:
        app.command(listed.name, help=listed.says)(_nothing)
    else:
        app.add_typer(App(listed.says), name=listed.name)


def _nothing() -> None:
    """Never called."""
