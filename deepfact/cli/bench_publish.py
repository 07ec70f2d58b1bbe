"""``deepfact bench publish``: a snapshot of a version as a folder, or on the Hub.

Only the shell: `deepfact.publish` makes the files and sends them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, say

if TYPE_CHECKING:
    from deepfact.publish.build import Snapshot

EXAMPLES = (
    "Examples:\n\n"
    "deepfact bench publish deepfact-mini@1 --to snapshots/deepfact-mini-1\n\n"
    "deepfact bench publish mine@2 --to snapshots/mine-2 --license cc-by-4.0 --run results/demo\n\n"
    "deepfact bench publish deepfact-mini@1 --to hub:my-team/deepfact-mini\n\n"
    "deepfact bench publish deepfact-mini@1 --to hub:my-team/deepfact-mini --push"
)


def publish(
    reference: Annotated[
        str, typer.Argument(metavar="NAME@VERSION", help="The newest version when left out.")
    ],
    to: Annotated[str, typer.Option(metavar="FOLDER|hub[:OWNER/REPO]", help="Where to.")],
    licence: Annotated[
        str, typer.Option("--license", help="Such as cc-by-4.0, when the card states none.")
    ] = "",
    licence_file: Annotated[
        Path | None,
        typer.Option("--license-file", help="Its text; the benchmark's LICENSE by default."),
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Such as en, when the card states none.")
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(help="Results of a round that led to the version: what its auditors did."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what a former publish left in FOLDER.")
    ] = False,
    push: Annotated[
        bool, typer.Option("--push", help="With hub: really upload; otherwise only say what.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="With hub: make a new repository a private one.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Publish a version: Parquet, JSON Lines, dataset card, Croissant, licence, citation.

    Private claims are left out and counted; known answers are never in it. A version that fails
    `bench verify` is refused. The Hub's token comes from HF_TOKEN or `hf auth login`.
    """
    from deepfact.publish.build import Options, build
    from deepfact.publish.metadata import check_languages
    from deepfact.store.locate import load_version

    hub = to == "hub" or to.startswith("hub:")
    _check_flags(hub, overwrite=overwrite, push=push, private=private)
    version = load_version(reference, root)
    repo = _repo(to, version.store.name, push=push) if hub else ""
    options = Options(
        licence=licence,
        licence_file=licence_file,
        languages=check_languages(language or []),
        runs=tuple(run or []),
        repo=repo if "/" in repo else "",
    )
    if hub:
        snapshot = build(version, options)
        done = _send(snapshot, repo, push=push, private=private)
    else:
        from deepfact.publish.folder import check_target, write_snapshot

        folder = _folder(to, version.store.folder)
        check_target(folder, version.store.name, overwrite=overwrite)
        snapshot = build(version, options)
        check_target(folder, version.store.name, overwrite=overwrite)  # again: that took a while
        write_snapshot(folder, snapshot.files)
        done = {"to": str(folder), "written": True}
    if as_json:
        print_json({**snapshot.as_dict(), **done})
        return
    for remark in snapshot.remarks:
        note(f"note: {remark}")
    _tell(snapshot, done)


def _check_flags(hub: bool, *, overwrite: bool, push: bool, private: bool) -> None:
    from deepfact.errors import InputError

    if hub and overwrite:
        raise InputError("--overwrite is for folders: on the Hub each upload is a commit")
    if not hub and (push or private):
        raise InputError(
            f"{'--push' if push else '--private'} is for the Hub",
            fix="write --to hub:OWNER/REPO; a folder of the name hub is ./hub",
        )


def _repo(to: str, name: str, *, push: bool) -> str:
    from deepfact.publish.hub import check_repo, full_name

    repo = check_repo(to.removeprefix("hub").removeprefix(":") or name)
    return full_name(repo) if push else repo


def _folder(to: str, benchmark: Path) -> Path:
    """The folder to write; not one inside the benchmark, whose check would find it."""
    from deepfact.errors import InputError

    folder = Path(to)
    if not to.strip() or folder.resolve().is_relative_to(benchmark.resolve()):
        raise InputError(
            "a snapshot does not belong into the benchmark itself" if to.strip() else "no folder",
            where=f"--to {to}",
            fix="give a folder beside it, such as snapshots/NAME-1",
        )
    return folder


def _send(snapshot: Snapshot, repo: str, *, push: bool, private: bool) -> dict[str, Any]:
    from deepfact.publish.hub import endpoint, has_token, push_snapshot

    done: dict[str, Any] = {
        "to": repo, "endpoint": endpoint(), "private": private, "pushed": False,
        "token": has_token(),
    }  # fmt: skip
    if push:
        done |= {"pushed": True, "url": push_snapshot(snapshot, repo, private=private)}
    return done


def _tell(snapshot: Snapshot, done: dict[str, Any]) -> None:
    record = snapshot.record
    said = f"{record.benchmark}@{record.version}: {record.claims} claims, {record.sources} sources"
    say(f"{said}; {record.private_left_out} private claims left out")
    for path, data in snapshot.files.items():
        say(f"  {path}  {len(data):,} bytes")
    if done.get("written"):
        say(f"wrote {done['to']}")
    elif done["pushed"]:
        say(f"pushed to {done['url']}")
    else:
        kind = "private" if done["private"] else "public, unless its owner set another default"
        where = "" if "/" in done["to"] else " in your account"
        say(f"would make the dataset repository {done['to']}{where} on {done['endpoint']} ({kind})")
        say("if it is not there, and commit these files to it; other files in it would stay")
        if not done["token"]:
            say("no token found: set HF_TOKEN, or log in with: hf auth login")
        say("dry run: nothing was sent; send it with --push")
