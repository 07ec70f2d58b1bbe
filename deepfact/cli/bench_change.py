"""``deepfact bench revert`` and ``merge``: new versions that undo, or bring two together.

Only the shell: what is undone is worked out in `deepfact.core.undo`, merges are in
`deepfact.merging`. No version is ever edited.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.branches import note_branches
from deepfact.cli.options import Date, Json, Reference, Root, date_of
from deepfact.cli.output import note, print_json, say

if TYPE_CHECKING:
    from deepfact.core.undo import Signed, Undoing
    from deepfact.merging import Merge
    from deepfact.run_records import MergeSpec
    from deepfact.store.benchmark import BenchmarkVersion

REVERT_EXAMPLES = (
    "Examples:\n\n"
    'deepfact bench revert my-bench --to 2 --author ada --why "round 3 had the wrong sources"\n\n'
    'deepfact bench revert my-bench --version 3 --author ada --why "withdrawn"\n\n'
    'deepfact bench revert my-bench --claim c12 --author ada --why "the survey was retracted"'
)
MERGE_EXAMPLES = (
    "Examples:\n\ndeepfact bench merge my-bench@2 3 --author ada\n\n"
    "deepfact bench merge my-bench@2 results/trial/benchmarks/my-bench@2 --author ada "
    "--auditor bea\n\n"
    "deepfact bench merge --go-on results/merge-my-bench-2-3"
)

Author = Annotated[str, typer.Option(help="Who does it; stands in the history.")]


def revert(
    reference: Reference,
    to: Annotated[int, typer.Option(help="Back to how everything was in this version.")] = 0,
    version: Annotated[int, typer.Option(help="Take back what this one version changed.")] = 0,
    claim: Annotated[
        list[str] | None,
        typer.Option(help="Only this claim; alone, its last change. May be repeated."),
    ] = None,
    leave: Annotated[
        list[str] | None, typer.Option(help="Leave this claim as it is. May be repeated.")
    ] = None,
    author: Author = "",
    why: Annotated[str, typer.Option(help="The reason; stands in every revision.")] = "",
    date: Date = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change, write nothing.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Undo changes with a new version; the old ones stay.

    Claims that were added are retired. Where something cannot be undone, because the claim has
    changed again since or had no label before, nothing is done and the claims are named.
    """
    from deepfact.core.undo import Signed
    from deepfact.errors import InputError
    from deepfact.store.locate import load_version

    if bool(to) + bool(version) + bool(claim and not to and not version) != 1:
        raise InputError(
            "say what to undo", fix="either --to VERSION, or --version VERSION, or --claim ID"
        )
    if not author.strip() or not why.strip():
        raise InputError("say who undoes it and why", fix="with --author and --why")
    head = load_version(reference, root)
    signed = Signed(who=author, when=date_of(date), why=why)
    undoing, what = _undoing(head, to, version, claim or [], leave or [], signed)
    if undoing.obstacles:
        lines = "".join(f"\n  {claim_id}: {reason}" for claim_id, reason in undoing.obstacles)
        raise InputError(
            f"not everything can be undone, so nothing was:{lines}",
            where=str(head),
            fix="leave each of them as it is with --leave ID, or undo the later change first",
        )
    if not undoing.revisions:
        raise InputError(f"there is nothing to undo: {what} differs in nothing", where=str(head))
    rows = [{"claim_id": r.claim_id, "kind": str(r.kind)} for r in undoing.revisions]
    made = None if dry_run else _commit(head, undoing, f"Revert: {what}", signed)
    if as_json:
        print_json({"version": made and made.manifest.version, "revisions": rows})
        return
    for row in rows:
        say(f"{row['claim_id']}  {row['kind']}")
    if made is None:
        say(f"dry run: nothing was done; {len(rows)} revisions would undo {what}")
    else:
        say(f"made {made} from {head}: {len(rows)} revisions undo {what}")
        note_branches(head.store)


def _commit(
    head: BenchmarkVersion, undoing: Undoing, words: str, signed: Signed
) -> BenchmarkVersion:
    return head.store.commit(
        undoing.revisions,
        parent=head.manifest.version,
        author=signed.who,
        date=signed.when,
        note=f"{words}: {signed.why}",
    )


def _undoing(
    head: BenchmarkVersion, to: int, version: int, only: list[str], leave: list[str], signed: Signed
) -> tuple[Undoing, str]:
    """What undoing takes, and what is undone in words."""
    from dataclasses import replace

    from deepfact.core.state import EMPTY
    from deepfact.core.undo import Undoing, undo_change, undo_to
    from deepfact.errors import BenchmarkError, did_you_mean

    store = head.store
    entries = head.state.entries
    for claim_id in (*only, *leave):
        if claim_id not in entries:
            raise BenchmarkError(
                f"{head} has no claim {claim_id!r}", fix=did_you_mean(claim_id, entries)
            )
    line = {manifest.version: manifest for manifest in store.lineage(head.manifest.version)}
    for number in filter(None, (to, version)):
        if number not in line:
            store.manifest(number)  # it must be there at all
            raise BenchmarkError(f"{head} does not come from version {number}")
    others = {*leave, *(claim_id for claim_id in entries if only and claim_id not in only)}
    if to:
        what = f"what came after {store.name}@{to}"
        signed = replace(signed, why=f"back to {store.name}@{to}: {signed.why}")
        return undo_to(head.state, store.load(to).state, signed, others), what

    def change(number: int, left: set[str]) -> Undoing:
        parent = line[number].parent
        before = store.load(parent).state if parent is not None else EMPTY
        said = replace(signed, why=f"{store.name}@{number} is undone: {signed.why}")
        return undo_change(head.state, before, store.load(number).state, said, left)

    if version:
        return change(version, others), f"{store.name}@{version}"
    found = Undoing((), ())
    for claim_id in only:
        last = [number for number, _ in store.history(claim_id, head.manifest.version)
                if number in line][-1]  # fmt: skip
        one = change(last, set(entries) - {claim_id})
        found = Undoing(found.revisions + one.revisions, found.obstacles + one.obstacles)
    return found, f"the last change of {', '.join(only)}"


def merge(
    ours: Annotated[str, typer.Argument(metavar="NAME@VERSION", help="It goes on from.")] = "",
    theirs: Annotated[
        str,
        typer.Argument(
            metavar="VERSION|NAME@VERSION|FOLDER@VERSION", help="Its changes are taken over."
        ),
    ] = "",
    author: Author = "",
    auditor: Annotated[
        list[str] | None,
        typer.Option(help="A person who decides conflicts. May be repeated."),
    ] = None,
    policy: Annotated[
        str, typer.Option(help="How many must agree: single, majority, unanimous.")
    ] = "single",
    leave: Annotated[
        list[str] | None,
        typer.Option(help="Keep ours for this claim, whatever theirs says. May be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the conflicts.  [default: results/merge-...]", show_default=False
        ),
    ] = None,
    go_on: Annotated[
        Path | None, typer.Option(help="Finish the merge in this folder.", metavar="FOLDER")
    ] = None,
    note: Annotated[str, typer.Option(help="Line for the changelog.")] = "",
    date: Date = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, write nothing.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Bring two versions together that went apart; a run's copy may be one of them.

    What one side changed is taken over with who, when and why. What both changed differently
    becomes a blind case; exit code 3 until people have decided them.
    """
    from deepfact.core.undo import Signed
    from deepfact.errors import InputError
    from deepfact.merging import commit_merge, is_ahead, open_merge, take_over
    from deepfact.store.locate import load_version, split_reference

    if go_on is not None:
        finish(go_on, root=root, as_json=as_json)
        return
    if not ours or not theirs:
        raise InputError("two versions are needed, or --go-on FOLDER")
    if not author.strip():
        raise InputError("say who merges", fix="with --author")
    if theirs.isdigit():
        theirs = f"{split_reference(ours)[0]}@{theirs}"
    merge = open_merge(load_version(ours, root), load_version(theirs, root), leave=leave or ())
    if dry_run:
        _show_plan(merge, as_json)
        return
    signed = Signed(who=author, when=date_of(date), why="")
    if is_ahead(merge):
        _made(take_over(merge), merge, "nothing of its own was there to merge with", as_json)
    elif merge.plan.conflicts:
        _open_conflicts(merge, _spec(merge, ours, theirs, signed, auditor, policy, note),
                        out or Path("results") / _folder_name(merge), root, as_json)  # fmt: skip
    else:
        _made(commit_merge(merge, signed, note=note), merge, _taken(merge), as_json)


def finish(folder: Path, *, root: Path | None, as_json: bool) -> None:
    """Make the merged version of a merge whose conflicts are decided.

    Raises:
        RunIncomplete: they are not.
    """
    from deepfact.errors import InputError
    from deepfact.merge_audit import FILE, finish_merge

    if not (folder / FILE).is_file():
        raise InputError("there is no merge in this folder", where=str(folder))
    done = finish_merge(folder, root=root)
    kinds = [str(ruling.kind) for ruling in done.rulings]
    if as_json:
        print_json(
            {
                "version": done.version.manifest.version,
                "rulings": [ruling.model_dump(mode="json") for ruling in done.rulings],
            }
        )
        return
    say(
        f"made {done.version}: {len(kinds)} conflicts decided, {kinds.count('uphold')} for ours, "
        f"{kinds.count('revise')} otherwise, {kinds.count('unresolved')} undecided, so ours stands"
    )
    note_branches(done.version.store)


def _spec(
    merge: Merge, ours: str, theirs: str, signed: Signed, auditors: list[str] | None,
    policy: str, words: str,
) -> MergeSpec:  # fmt: skip
    from deepfact.errors import InputError, did_you_mean
    from deepfact.merge_audit import RULES, spec_of

    if policy not in list(map(str, RULES)):
        raise InputError(
            f"unknown policy {policy!r}",
            where="--policy",
            fix=did_you_mean(policy, map(str, RULES)),
        )
    rule = next(rule for rule in RULES if rule == policy)
    people = tuple(dict.fromkeys(auditors or ["person"]))
    return spec_of(merge, (ours, theirs), signed, people, rule, words)


def _folder_name(merge: Merge) -> str:
    one, other = (side.manifest.version for side in (merge.ours, merge.theirs))
    return f"merge-{merge.ours.store.name}-{one}-{other}"


def _open_conflicts(
    merge: Merge, spec: MergeSpec, folder: Path, root: Path | None, as_json: bool
) -> None:
    from deepfact.merge_audit import put_before_people

    put_before_people(merge, folder, spec)
    if not as_json:
        say(f"{_taken(merge)}; {len(merge.plan.conflicts)} conflicts are cases in {folder}")
    finish(folder, root=root, as_json=as_json)


def _made(made: BenchmarkVersion, merge: Merge, words: str, as_json: bool) -> None:
    if as_json:
        print_json({"version": made.manifest.version, **_counts(merge)})
        return
    say(f"made {made}: {words}")
    note_branches(made.store)


def _counts(merge: Merge) -> dict[str, Any]:
    plan = merge.plan
    return {
        "taken": sorted({revision.claim_id for revision in plan.taken}),
        "alike": list(plan.alike),
        "left": list(plan.left),
        "conflicts": [conflict.claim.id for conflict in plan.conflicts],
    }


def _taken(merge: Merge) -> str:
    counts = {name: len(ids) for name, ids in _counts(merge).items()}
    left = f", {counts['left']} left out" if counts["left"] else ""
    return f"{counts['taken']} claims taken over, {counts['alike']} alike on both sides{left}"


def _show_plan(merge: Merge, as_json: bool) -> None:
    if as_json:
        print_json({"version": None, **_counts(merge)})
        return
    for name, ids in _counts(merge).items():
        if ids:
            say(f"{name}: {', '.join(ids)}")
    say(f"dry run: nothing was done; {merge.names[1]} into {merge.names[0]}")
    if merge.plan.conflicts:
        note(f"{len(merge.plan.conflicts)} conflicts would be put before people")
