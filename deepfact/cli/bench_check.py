"""``deepfact bench verify`` and ``seal``: check every file's hash, and answer for edited ones.

Only the shell: the checks are in `deepfact.store.integrity`, the record in `deepfact.store.seal`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from deepfact.cli.options import Date, Json, Root, date_of
from deepfact.cli.output import print_json, say

VERIFY_EXAMPLES = "Examples:\n\ndeepfact bench verify deepfact-mini"
SEAL_EXAMPLES = (
    "Examples:\n\n"
    'deepfact bench seal my-bench --author ada --why "the licence was missing"\n\n'
    'deepfact bench seal my-bench README.md --author ada --why "a typo"'
)


def verify(
    name: Annotated[str, typer.Argument(help="The benchmark.")],
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Re-derive every hash, and name each file that was changed, added, cut or lost.

    Exit code 1 when there is a problem.
    """
    from deepfact.store.integrity import verify as check
    from deepfact.store.locate import open_benchmark

    store = open_benchmark(name, root)
    problems = check(store)
    if as_json:
        print_json([{"where": problem.where, "what": problem.what} for problem in problems])
    else:
        for problem in problems:
            say(f"{problem.where}: {problem.what}")
        good = f"{len(store.versions())} versions, {len(store.sources)} sources: every hash holds"
        say(f"{len(problems)} problems" if problems else f"{store.name}: {good}")
    if problems:
        raise typer.Exit(1)


def seal(
    name: Annotated[str, typer.Argument(help="The benchmark.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="These files alone; all that differ by default.")
    ] = None,
    author: Annotated[
        str, typer.Option(help="Who answers for the files; stands in the record.")
    ] = "",
    why: Annotated[str, typer.Option(help="Why they are as they are; stands in the record.")] = "",
    date: Date = "",
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Record card, keys, licence and the like as they are now, with who changed them and why.

    Manifests cover claims, labels and sources, which no edit can change. Everything else in the
    folder is free to be edited, and `bench verify` complains until somebody answers for it.
    """
    from deepfact.errors import InputError
    from deepfact.store import commits
    from deepfact.store.locate import open_benchmark
    from deepfact.store.seal import differences, record

    store = open_benchmark(name, root)
    changed = ", ".join(f"{one.path} ({one.kind})" for one in differences(store.folder))
    if changed and not (author.strip() and why.strip()):
        raise InputError(
            f"to be recorded: {changed}",
            where=str(store.folder),
            fix="say who answers for it and why, with --author and --why",
        )
    with commits.locked(store):
        found = record(store.folder, who=author, why=why, when=date_of(date), only=files or ())
    if as_json:
        print_json([{"path": one.path, "kind": one.kind, "hash": one.now} for one in found])
        return
    for one in found:
        say(f"recorded: {one.path} ({one.kind})")
    if not found:
        say(f"{store.name}: nothing has changed since it was recorded")
