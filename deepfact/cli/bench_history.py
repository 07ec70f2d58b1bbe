"""``deepfact bench log``, ``diff`` and ``blame``: what changed, when, by whom and why.

Only the shell; changes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.branches import note_branches
from deepfact.cli.options import Json, Reference, Root
from deepfact.cli.output import note, print_json, print_table, say, show_rate

if TYPE_CHECKING:
    from deepfact.core.rescoring import Rescored
    from deepfact.core.state import Change, Entry
    from deepfact.records import Outcome
    from deepfact.run_records import Estimate, ScoreSheet
    from deepfact.store.benchmark import BenchmarkVersion

LOG_EXAMPLES = "Examples:\n\ndeepfact bench log deepfact-mini"
DIFF_EXAMPLES = (
    "Examples:\n\ndeepfact bench diff deepfact-mini@1 deepfact-mini@2\n\n"
    "deepfact bench diff deepfact-mini@1 2 --verdicts verdicts.jsonl --verdicts results/demo\n\n"
    "deepfact bench diff deepfact-mini@1 2 --json"
)
BLAME_EXAMPLES = (
    "Examples:\n\ndeepfact bench blame deepfact-mini fin-1-01\n\n"
    "deepfact bench blame deepfact-mini@2 fin-1-01 --json"
)


def log(
    name: Annotated[str, typer.Argument(help="The benchmark.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """List a benchmark's versions, newest first: who made them, when, and what changed.

    Versions that nobody went on from are marked when there are several.
    """
    from deepfact.store.locate import open_benchmark

    store = open_benchmark(name, root)
    manifests = [store.manifest(version) for version in reversed(store.versions())]
    if as_json:
        print_json([manifest.model_dump(mode="json") for manifest in manifests])
        return
    heads = store.heads()
    for manifest in manifests:
        parent = f" from {manifest.parent}" if manifest.parent else ""
        parent += f" and {manifest.merged}" if manifest.merged else ""
        mark = "  (an end)" if manifest.version in heads and len(heads) > 1 else ""
        say(f"{store.name}@{manifest.version}{parent}  {manifest.state_hash[:19]}{mark}")
        say(f"  {manifest.date:%Y-%m-%d}  {manifest.author}: {manifest.note}")
        say(f"  {manifest.revisions} revisions, {manifest.counts.claims} claims")
    note_branches(store)


def diff(
    before: Annotated[str, typer.Argument(metavar="NAME@VERSION")],
    after: Annotated[str, typer.Argument(metavar="NAME@VERSION|VERSION")],
    verdicts: Annotated[
        list[Path] | None,
        typer.Option(help="Score the verdicts of this run or file on both. May be repeated."),
    ] = None,
    labels: Annotated[
        str, typer.Option(help="Whose label words files of verdicts use, such as scifact.")
    ] = "deepfact",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Show what differs between two versions: labels, reasons, claims added, retired, restored.

    With --verdicts also what that does to the scores of verifiers, without asking any of them.
    """
    from collections import Counter

    from deepfact.core.state import diff as differences
    from deepfact.store.locate import load_version, split_reference

    if after.isdigit():
        after = f"{split_reference(before)[0]}@{after}"
    old, new = load_version(before, root), load_version(after, root)
    changes = differences(old.state, new.state)
    kinds = Counter(change.kind for change in changes)
    rescored, notes = _rescored(old, new, verdicts or [], labels) if verdicts else ([], [])
    if as_json:
        print_json(
            {
                "before": old.ref.model_dump(mode="json"),
                "after": new.ref.model_dump(mode="json"),
                "counts": dict(kinds),
                "changes": [_change(change) for change in changes],
                "scores": [one.model_dump(mode="json") for one in rescored],
                "notes": notes,
            }
        )
        return
    for change in changes:
        say(_change_line(change))
    known = len({*old.state.entries, *new.state.entries})
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    say(
        f"{len(changes)} of {known} claims differ between {old} and {new}"
        + (f": {said}" if said else "")
    )
    if rescored:
        _print_rescored(rescored)
    for text in notes:
        note(f"note: {text}")


def blame(
    reference: Reference,
    claim: Annotated[str, typer.Argument(help="Claim id.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Show a claim's whole history: who changed what, when, why and out of which case.

    After a merge that is the history of both its parents.
    """
    from deepfact.errors import BenchmarkError
    from deepfact.store.locate import open_benchmark, split_reference

    name, version = split_reference(reference)
    store = open_benchmark(name, root)
    numbers = store.versions()
    if not numbers:
        raise BenchmarkError("the benchmark has no versions yet", where=str(store.folder))
    history = store.history(claim, version or numbers[-1])
    if as_json:
        rows = [{"version": n, "revision": r.model_dump(mode="json")} for n, r in history]
        print_json(rows)
        return
    for number, revision in history:
        label = f" -> {revision.annotation.label}" if revision.annotation else ""
        case = f"  (run {revision.run}, case {revision.case})" if revision.case else ""
        say(
            f"version {number}  {revision.when:%Y-%m-%d}  {revision.who}: "
            f"{revision.kind}{label}{case}"
        )
        say(f"  why: {revision.why}")
        if revision.annotation and revision.annotation.rationale:
            say(f"  rationale: {revision.annotation.rationale}")
        for evidence in revision.annotation.evidence if revision.annotation else ():
            say(f"  {evidence.stance}: “{evidence.quote}”  {evidence.source[:19]}")


# --- scores on both versions --------------------------------------------------------------


def _rescored(
    old: BenchmarkVersion, new: BenchmarkVersion, paths: list[Path], labels: str
) -> tuple[list[Rescored], list[str]]:
    """Every stored verifier on both versions, and what could not be scored."""
    from deepfact.core.rescoring import rescore
    from deepfact.leaderboard import labels_of, read_stored, reports_of

    stored = read_stored([old, new], verdicts=paths, labels=labels)
    found = []
    for one in stored.verdicts:
        answered: dict[str, Outcome] = {}
        other_words: set[str] = set()
        for version in (new, old):
            outcomes, reworded = one.on(version.claims)
            answered |= outcomes
            other_words.update(reworded)
            if reworded:
                words = f"{len(reworded)} verdicts of {one.verifier} are on other words than"
                stored.notes.append(f"{one.where}: {words} {version}: {', '.join(reworded[:5])}")
        for claim_id in other_words:
            answered.pop(claim_id, None)
        where = f"{one.verifier} ({one.where})"
        found.append(
            rescore(
                labels_of(old), labels_of(new), answered, verifier=where,
                names=(str(old), str(new)), reports={**reports_of(new), **reports_of(old)},
            )
        )  # fmt: skip
    return found, stored.notes


def _print_rescored(rescored: list[Rescored]) -> None:
    from deepfact.leaderboard_formats import estimate_words

    for one in rescored:
        print_table(
            ["", one.before.on, one.after.on, f"change on the {one.n} claims both label"],
            [
                ["accuracy", *map(_accuracy, (one.before, one.after)), _points(one.accuracy)],
                ["supported against the rest", show_rate(one.before.binary),
                 show_rate(one.after.binary), _points(one.binary)],
                ["macro-F1", estimate_words(one.before.macro_f1),
                 estimate_words(one.after.macro_f1), _plain(one.macro_f1)],
            ],
            title=one.verifier,
        )  # fmt: skip
        for what, ids in (("now right", one.gained), ("now wrong", one.lost)):
            if ids:
                shown = ", ".join(ids[:10]) + (", ..." if len(ids) > 10 else "")
                say(f"{what}: {len(ids)} ({shown})")
    say("Changes have paired 95 % intervals; scores are on all claims of their version.")


def _accuracy(sheet: ScoreSheet) -> str:
    missing = f", {sheet.missing} of them never asked" if sheet.missing else ""
    return f"{show_rate(sheet.accuracy)}{missing}"


def _points(change: Estimate) -> str:
    if change.value is None or change.low is None or change.high is None:
        return "no claims (n=0)"
    low, high = 100 * change.low, 100 * change.high
    return f"{100 * change.value:+.1f} points [{low:+.1f}, {high:+.1f}]"


def _plain(change: Estimate) -> str:
    if change.value is None:
        return "no claims (n=0)"
    if change.low is None or change.high is None:
        return f"{change.value:+.3f}, no interval: one report"
    return f"{change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}]"


# --- pieces -------------------------------------------------------------------------------


def short(text: str, limit: int = 96) -> str:
    """The beginning of a text, for a line."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def entry_json(entry: Entry) -> dict[str, Any]:
    """A claim with its annotation, for ``--json``."""
    annotation = entry.annotation.model_dump(mode="json") if entry.annotation else None
    return {"claim": entry.claim.model_dump(mode="json"), "annotation": annotation}


def _change(change: Change) -> dict[str, Any]:
    return {
        "claim_id": change.claim_id,
        "kind": change.kind,
        "before": entry_json(change.before) if change.before else None,
        "after": entry_json(change.after) if change.after else None,
    }


def _change_line(change: Change) -> str:
    labels = " -> ".join(
        str(entry.label or "unlabelled") for entry in (change.before, change.after) if entry
    )
    new = change.after or change.before
    reason = new.annotation.rationale if new and new.annotation else ""
    return f"{change.claim_id}  {change.kind}  {labels}\n  {short(reason) or 'no reason recorded'}"
