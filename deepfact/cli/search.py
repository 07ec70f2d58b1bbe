"""``deepfact search``: the passages that a retriever finds, with where each is from.

To see what a verifier would be given, and to try a search config before a run pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, say

if TYPE_CHECKING:
    from deepfact.records import Claim, Source
    from deepfact.retrievers.base import Passage, Retriever
    from deepfact.retrievers.registry import RetrieverSpec
    from deepfact.retrievers.web.records import SearchPlan
    from deepfact.retrievers.web.retriever import SearchRetriever

EXAMPLES = (
    "Examples:\n\ndeepfact search 'tram line opened' --in deepfact-mini\n\n"
    "deepfact search --in deepfact-mini --claim ctl-1-01 --retriever hybrid\n\n"
    "deepfact search 'tram line opened' --retriever search.yaml --dry-run"
)

WORKSPACE = "results"

In = Annotated[
    str, typer.Option("--in", metavar="NAME[@VERSION]", help="A benchmark, or a folder of texts.")
]
Kind = Annotated[
    str, typer.Option(help="A kind of retriever (bm25, dense, hybrid), or a YAML file with one.")
]


def search(
    query: Annotated[str, typer.Argument(help="Plain words.  [default: the claim's text]")] = "",
    within: In = "",
    retriever: Kind = "bm25",
    claim: Annotated[
        str, typer.Option(metavar="ID", help="Look first in what this claim cites.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most passages.")] = 10,
    replay: Annotated[
        bool, typer.Option("--replay", help="Ask nobody for what is stored.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what a search would ask for, and stop.")
    ] = False,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Find the passages that bear on a query: in a benchmark, in a folder, or by a search."""
    from deepfact.errors import InputError
    from deepfact.retrievers.registry import build_retriever

    spec = spec_of(retriever, replay=replay)
    sources, asked = corpus_of(within, claim, root)
    words = query.strip() or (asked.text if asked else "")
    if not words:
        raise InputError("a query is needed", where="QUERY", fix="or name a claim with --claim")
    if not sources and spec.kind in ("bm25", "dense", "hybrid", "ordered"):
        raise InputError(
            "there is nothing to search in", where="--in", fix="name a benchmark or a folder"
        )
    built = build_retriever(spec, sources, workspace=Path(WORKSPACE))
    if dry_run:
        show_plan(plan_of(built, words), as_json=as_json)
        return
    found = _for(built, asked, sources).search(words, limit=limit)
    told = {**sources, **getattr(built, "sources", {})}
    searching = _searching(built)
    left_out = searching.left_out if searching else {}
    if searching and (spent := searching.web.spent.words()):
        note(spent)
    if as_json:
        print_json(
            {
                "query": words,
                "passages": [_as_json(one, told) for one in found],
                "left_out": left_out,
            }
        )
        return
    for number, passage in enumerate(found, 1):
        _show(number, passage, told)
    if not found:
        note("no passage")
    for url, why in left_out.items():
        note(f"not read: {url}: {why}")


def spec_of(retriever: str, *, replay: bool = False) -> RetrieverSpec:
    """The retriever that an option names: a kind, or a YAML file.

    Raises:
        InputError: no such file, or it is of another shape.
    """
    from deepfact.errors import InputError
    from deepfact.retrievers.registry import RetrieverSpec
    from deepfact.store.specs import read_yaml

    if not retriever.endswith((".yaml", ".yml")):
        spec = RetrieverSpec(kind=retriever)
    else:
        spec = read_yaml(Path(retriever), RetrieverSpec)
    if not replay:
        return spec
    options: dict[str, Any] = dict(spec.options)
    if spec.kind == "search":
        options["replay"] = True
    elif spec.kind == "ordered" and isinstance(options.get("search"), Mapping):
        inner = dict(options["search"])
        inner["options"] = {**(inner.get("options") or {}), "replay": True}
        options["search"] = inner
    else:
        raise InputError("only a search can be replayed", where="--replay")
    return spec.model_copy(update={"options": options})


def corpus_of(
    within: str, claim: str, root: Path | None
) -> tuple[Mapping[str, Source], Claim | None]:
    """What is searched, and the claim that is searched for.

    Raises:
        InputError: there is no such benchmark, folder or claim.
    """
    from deepfact.errors import InputError, did_you_mean
    from deepfact.records import SourceRole, Trust
    from deepfact.retrievers.folder import folder_sources
    from deepfact.store.locate import load_version

    if claim and not within:
        raise InputError("a claim is one of a benchmark", where="--claim", fix="name it with --in")
    if not within:
        return {}, None
    folder = Path(within)
    if folder.is_dir() and not (folder / "versions").is_dir():
        if claim:
            raise InputError("a folder of texts has no claims", where="--claim")
        return folder_sources(folder, role=SourceRole.SECONDARY, trust=Trust.UNKNOWN), None
    version = load_version(within, root)
    if not claim:
        return version.sources, None
    claims = {one.id: one for one in version.claims}
    if claim not in claims:
        hint = did_you_mean(claim, claims)
        raise InputError(
            f"there is no claim {claim!r} in {version}",
            fix=hint if hint.startswith("did") else f"see: deepfact bench show {within}",
        )
    return version.sources, claims[claim]


def plan_of(built: Retriever, query: str) -> SearchPlan:
    """What a query would ask of a search engine.

    Raises:
        InputError: the retriever asks nobody.
    """
    from deepfact.errors import InputError

    searching = _searching(built)
    if searching is None:
        raise InputError("this retriever asks nobody", where="--dry-run")
    return searching.web.plan([query])


def _searching(built: Retriever) -> SearchRetriever | None:
    """The search in a retriever."""
    from deepfact.retrievers.web.retriever import SearchRetriever

    for one in (built, getattr(built, "web", None)):
        if isinstance(one, SearchRetriever):
            return one
    return None


def show_plan(plan: SearchPlan, *, as_json: bool) -> None:
    """Print what a search would ask for."""
    if as_json:
        print_json(plan.model_dump(mode="json"))
        return
    price = "price unknown" if plan.usd is None else f"${plan.usd:.2f}"
    say(f"engine: {plan.engine}")
    say(f"queries: {plan.queries}, {plan.stored} of them stored")
    say(f"searches to pay for: at most {plan.searches} ({price}), retries not counted")
    say(f"pages to fetch: at most {plan.pages}")
    for one in plan.missing:
        say(f"not stored: {one}")


def _for(built: Retriever, claim: Claim | None, sources: Mapping[str, Source]) -> Retriever:
    """The retriever with a claim's own sources first."""
    from deepfact.retrievers.ordered import OrderedRetriever

    if claim is None:
        return built
    ordered = built if isinstance(built, OrderedRetriever) else OrderedRetriever(sources, built)
    return ordered.for_claim(claim)


def _as_json(passage: Passage, told: Mapping[str, Source]) -> dict[str, Any]:
    source = told[passage.source]
    return {
        "text": passage.text,
        "source": passage.source,
        "span": [passage.span.start, passage.span.end],
        "score": passage.score,
        "found_in": passage.found_in,
        "found_by": passage.found_by,
        "title": source.title,
        "url": source.url,
    }


def _show(number: int, passage: Passage, told: Mapping[str, Source]) -> None:
    source = told[passage.source]
    found_in = f"{passage.found_in}, " if passage.found_in else ""
    about = "; ".join(filter(None, (source.title, source.url)))
    say(f"{number:>3}. {' '.join(passage.text.split())}")
    say(f"     {found_in}{passage.found_by} {passage.score:.3f}; {about}")
    place = f"{passage.span.start}-{passage.span.end}"
    say(f"     {passage.source[:19]}..., characters {place}")
