"""``deepfact index``: indexes that retrievers search, made ahead of a run, listed, deleted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import print_json, print_table, say
from deepfact.cli.pages import App

if TYPE_CHECKING:
    from deepfact.retrievers.index_files import StoredIndex

app = App("Indexes for retrieval: made once, used again.")

Folder = Annotated[
    Path | None,
    typer.Option(
        "--index", help="Folder of indexes.  [default: the user's cache]", show_default=False
    ),
]


@app.command(
    epilog="Examples:\n\ndeepfact index build deepfact-mini\n\n"
    "deepfact index build deepfact-mini --retriever hybrid --index indexes"
)
def build(
    within: Annotated[
        str, typer.Argument(metavar="NAME[@VERSION]", help="A benchmark, or a folder of texts.")
    ],
    retriever: Annotated[
        str, typer.Option(help="bm25, dense or hybrid, or a YAML file with one of them.")
    ] = "bm25",
    folder: Folder = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Make the index of a benchmark's sources, unless it is there. A damaged one is made anew."""
    from deepfact.cli.search import corpus_of, spec_of
    from deepfact.errors import InputError
    from deepfact.retrievers.embedders import WORDLLAMA, build_embedder
    from deepfact.retrievers.index_files import IndexStore, default_folder
    from deepfact.retrievers.registry import Evidence

    spec = spec_of(retriever)
    if spec.kind not in ("bm25", "dense", "hybrid"):
        raise InputError(
            f"retriever {spec.kind!r} has no index of its own",
            where="--retriever",
            fix="known: bm25, dense, hybrid",
        )
    sources, _ = corpus_of(within, "", root)
    model = str(spec.options.get("model", WORDLLAMA))
    download = spec.options.get("download") is True
    embedder = None if spec.kind == "bm25" else build_embedder(model, download=download)
    named = spec.options.get("index")
    store = IndexStore(folder or (Path(str(named)) if named else default_folder()))
    made = store.open(Evidence(sources), embedder)
    path = store.path(made.key)
    if as_json:
        print_json(
            {
                "path": str(path),
                "made": store.made,
                "sources": len(made.ids),
                "passages": len(made),
                "embedder": made.settings.embedder,
            }
        )
        return
    what = "made" if store.made else "there already"
    say(f"{what}: {len(made)} passages of {len(made.ids)} sources: {path}")


@app.command(epilog="Example:\n\ndeepfact index stats --index indexes")
def stats(folder: Folder = None, as_json: Json = False) -> None:
    """List the indexes of a folder, each checked against its hashes. Exit code 1 when one is
    damaged."""
    from deepfact.retrievers.index_files import IndexStore, default_folder

    found = IndexStore(folder or default_folder()).stats()
    if as_json:
        print_json([_as_json(one) for one in found])
    else:
        columns = ("index", "sources", "passages", "vectors by", "MB", "last used", "problem")
        print_table(columns, [_row(one) for one in found])
    if any(one.problem for one in found):
        raise typer.Exit(1)


@app.command(
    epilog="Examples:\n\ndeepfact index prune --unused-days 30\n\ndeepfact index prune --all"
)
def prune(
    folder: Folder = None,
    unused_days: Annotated[
        float, typer.Option(min=0, help="Delete what was not used for so many days.")
    ] = 30.0,
    everything: Annotated[bool, typer.Option("--all", help="Delete every index.")] = False,
    as_json: Json = False,
) -> None:
    """Delete indexes that nobody used for long, and damaged ones. They can be made again."""
    from deepfact.retrievers.index_files import IndexStore, default_folder

    store = IndexStore(folder or default_folder())
    gone = store.prune(unused_days=None if everything else unused_days)
    if as_json:
        print_json({"deleted": [_as_json(one) for one in gone]})
    else:
        say(f"{len(gone)} deleted, {sum(one.bytes for one in gone) / 1e6:.1f} MB")


def _as_json(one: StoredIndex) -> dict[str, object]:
    info = one.info
    return {
        "path": str(one.path),
        "sources": len(info.sources) if info else None,
        "passages": info.passages if info else None,
        "embedder": info.settings.embedder if info else None,
        "bytes": one.bytes,
        "used": datetime.fromtimestamp(one.used, UTC).isoformat(timespec="seconds"),
        "problem": one.problem,
    }


def _row(one: StoredIndex) -> list[str]:
    info = one.info
    return [
        one.path.name[:12],
        str(len(info.sources)) if info else "?",
        str(info.passages) if info else "?",
        (info.settings.embedder or "none") if info else "?",
        f"{one.bytes / 1e6:.1f}",
        datetime.fromtimestamp(one.used, UTC).date().isoformat(),
        one.problem,
    ]
