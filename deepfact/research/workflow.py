"""``deepfact research run``: Scope, Search, Fetch, Extract, Verify, Synthesize, each resumable.

    <run>/spec.json                what was asked for
    <run>/stages/N-<stage>.json    a stage's input and output, written when it is done
    <run>/ledger.jsonl, sources/   the ledger
    <run>/report.*, junit.xml      what the gate decided

A stage whose file is there, made of the same input, is not done again; one that was killed half
way is, and adds nothing twice. So a run that was killed anywhere ends with the ledger of one
that was not. Every fan-out has a bound, and what it leaves out is listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import AwareDatetime, Field

from deepfact.errors import InputError, ResultsExistError, RunIncomplete
from deepfact.records import FileRecord, Source, SourceRole, Trust, canonical_json, sha256_of
from deepfact.research.asking import ModelSpec
from deepfact.research.extract import extract_claims
from deepfact.research.folder import CardFields, read_cards, source_of
from deepfact.research.gate import compile_report
from deepfact.research.ledgers import make_card
from deepfact.research.model_extract import Extracted, extract_by_model
from deepfact.research.report_files import record_report
from deepfact.research.stages import verify_stage
from deepfact.research.verify import verifier_of
from deepfact.research.writer import with_prose
from deepfact.research_records import (
    ClaimStanding,
    ResearchReport,
    SourceCard,
    Standing,
    Thresholds,
)
from deepfact.retrievers.folder import FoundFile, read_folder
from deepfact.retrievers.words import stems
from deepfact.running.run_state import Progress, Watcher
from deepfact.store.files import read_record, write_text
from deepfact.store.ledger import LedgerStore
from deepfact.store.ledger_records import ClaimAdded, QuestionSet
from deepfact.store.specs import read_yaml
from deepfact.telemetry import scope as told_of

if TYPE_CHECKING:
    from deepfact.retrievers.web.searching import WebSearch

WHO = "deepfact research run"
SEARCH = "search"
"""What ``sources`` says when they are searched for."""
STAGES = ("scope", "search", "fetch", "extract", "verify", "synthesize")


class ResearchSpec(FileRecord):
    """``spec.json``: what a research run was asked for."""

    question: str = Field(min_length=1)
    sources: str = Field(min_length=1)
    """A folder of text files; or ``search``."""
    search: str = ""
    """With ``search``: the YAML file that says whom to ask."""
    cards: str = ""
    """A YAML file that says what the sources are."""
    role: SourceRole = SourceRole.SECONDARY
    """Of sources of which the file of cards says nothing."""
    trust: Trust = Trust.UNKNOWN
    max_sources: int = Field(default=500, ge=1)
    """Most sources that are fetched; the rest are listed."""
    claims_per_source: int = Field(default=5, ge=1)
    """Most claims from one source; those that share most words with the question."""
    verifier: str = "local"
    """A kind, or a YAML file."""
    extractor: str = ""
    """A YAML file that names the model that extracts claims; by rules when empty."""
    writer: str = ""
    """A YAML file that names the model that writes prose; none when empty."""
    texts: bool = False
    """Also read claims beside the other cards of their subject."""
    thresholds: Thresholds = Thresholds(require_verification=True)
    date: AwareDatetime
    """What the run is as of: retrieval dates, and what is stale."""


class StageRecord(FileRecord):
    """``stages/N-<stage>.json``: what a stage was given and what it made."""

    stage: str
    input: dict[str, Any]
    output: dict[str, Any]


@dataclass
class _Run:
    """What the stages share."""

    spec: ResearchSpec
    folder: Path
    store: LedgerStore
    watch: Watcher

    def path(self, name: str) -> Path:
        """The file of a stage."""
        return self.folder / "stages" / f"{STAGES.index(name) + 1}-{name}.json"

    def stage(
        self, name: str, given: dict[str, Any], work: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """The output of a stage: from its file when that was made of the same input."""
        path = self.path(name)
        if path.is_file():
            done = read_record(path, StageRecord)
            if canonical_json(done.input) == canonical_json(given):
                return done.output
        self.watch(Progress(name, 0, 1))
        record = StageRecord(stage=name, input=given, output=work())
        write_text(path, record.model_dump_json(indent=1) + "\n")
        self.watch(Progress(name, 1, 1))
        return record.output


def run_research(
    spec: ResearchSpec, folder: Path, *, replay: bool = False, watch: Watcher = lambda _: None
) -> ResearchReport:
    """Run a research run, or go on with it.

    Args:
        spec: what is asked for.
        folder: the run's folder; it is made, or holds an earlier start of this run.
        replay: with a search: take results and pages from its store only.
        watch: is told of progress.

    Returns:
        The report, which is also in the folder.

    Raises:
        InputError: sources, cards, verifier or folder do not fit.
        RunIncomplete: a search or a model owes answers; the same command goes on.
    """
    name, verifier = verifier_of(spec.verifier, folder)
    check_folder(spec, folder)
    web = _opened(spec, folder, replay)
    with LedgerStore(folder) as store, told_of("run", folder.name, loop="research"):
        write_text(folder / "spec.json", spec.model_dump_json(indent=1) + "\n")
        run = _Run(spec, folder, store, watch)
        about = QuestionSet(question=spec.question, as_of=spec.date)
        store.add([about], who=WHO, when=spec.date)
        scope = run.stage("scope", {"question": spec.question}, lambda: _scope(spec))
        fetched = _from_web(run, web) if web else _from_folder(run, scope["terms"])
        given = {"cards": fetched["cards"], "claims_per_source": spec.claims_per_source}
        run.stage("extract", given, lambda: _extract(run, fetched["cards"]))
        # Claims that somebody added by hand since are verified like those extracted here.
        claims = sorted(claim.id for claim in store.ledger.claims)
        run.stage(
            "verify",
            {"claims": claims, "verifier": name, "texts": spec.texts},
            lambda: _verify(run, name, verifier),
        )
        return _synthesize(run)


def started_spec(folder: Path) -> ResearchSpec | None:
    """The spec of the run in a folder; None when there is none."""
    path = folder / "spec.json"
    return read_record(path, ResearchSpec) if path.is_file() else None


def check_folder(spec: ResearchSpec, folder: Path) -> None:
    """Refuse a folder that holds another run.

    Raises:
        ResultsExistError: it does.
    """
    there = started_spec(folder)
    ours = ("ledger.jsonl", ".ledger.lock")
    if there is None and folder.is_dir() and not (folder / ours[0]).is_file():
        foreign = [path.name for path in folder.iterdir() if path.name not in ours]
        if foreign:
            raise ResultsExistError(
                f"this folder holds no research run, but {foreign[0]!r}",
                where=str(folder),
                fix="give another folder with --out",
            )
    if there is not None and there.canonical() != spec.canonical():
        raise ResultsExistError(
            "this folder holds a research run of another question, folder or option",
            where=str(folder),
            fix="give another folder with --out",
        )


# --- stages ------------------------------------------------------------------------------


def _from_folder(run: _Run, terms: list[str]) -> dict[str, Any]:
    """Search and Fetch in a folder of text files."""
    files = {file.name: file for file in read_folder(Path(run.spec.sources))}
    given = {"terms": terms, "files": _inventory(run, files)}
    search = run.stage("search", given, lambda: _search(run, terms, files))
    return run.stage("fetch", {"chosen": search["chosen"]}, lambda: _fetch(run, files, search))


def _opened(spec: ResearchSpec, folder: Path, replay: bool) -> WebSearch | None:
    """The search that the sources come from; None when they are in a folder."""
    if spec.sources != SEARCH and not spec.search and not replay:
        return None
    from deepfact.research.searched import opened_search

    return opened_search(spec, folder, replay=replay)


def _from_web(run: _Run, web: WebSearch) -> dict[str, Any]:
    """Search and Fetch by a search engine.

    Raises:
        InputError: the search's config was changed since the run began.
    """
    from deepfact.research.searched import fetch_all, queries_of, search_all

    queries = queries_of(run.spec.question, web.spec)
    given = {"queries": queries, "search": web.spec.asked(), "max_sources": run.spec.max_sources}
    path = run.path("search")
    if path.is_file() and canonical_json(read_record(path, StageRecord).input) != canonical_json(
        given
    ):
        raise InputError(
            "the search config was changed since this run began",
            where=run.spec.search,
            fix="start a new run with --out; what is fetched must be what was searched for",
        )
    search = run.stage(
        "search", given, lambda: search_all(web, queries, run.spec.max_sources, run.watch)
    )

    def fetch() -> dict[str, Any]:
        cards, rest = fetch_all(web, search["chosen"], run.watch)
        run.store.add_cards(list(cards.values()), who=WHO, when=run.spec.date)
        flagged = {url: list(card.flags) for url, card in cards.items() if card.flags}
        ids = {url: card.source.id for url, card in cards.items()}
        return {"cards": ids, "flagged": flagged, **rest}

    return run.stage("fetch", {"chosen": search["chosen"]}, fetch)


def _scope(spec: ResearchSpec) -> dict[str, Any]:
    """The words that sources and claims are looked for by."""
    terms = list(dict.fromkeys(stems(spec.question)))
    if not terms:
        raise InputError("the question has no word to look for", where=repr(spec.question))
    return {"terms": terms}


def _inventory(run: _Run, files: dict[str, FoundFile]) -> dict[str, str]:
    """The files and the hashes of their texts; what was fetched already stays as it was.

    Raises:
        InputError: a file that was searched is gone or was changed since.
    """
    now = {name: sha256_of(file.text) for name, file in files.items() if not file.why_not}
    path = run.path("search")
    if path.is_file():
        before: dict[str, str] = read_record(path, StageRecord).input["files"]
        for name in sorted(set(before) | set(now)):
            if before.get(name) != now.get(name):
                raise InputError(
                    f"the source {name!r} was added, changed or removed since this run began",
                    where=run.spec.sources,
                    fix="start a new run with --out; what is fetched must be what was searched",
                )
    return now


def _search(run: _Run, terms: list[str], files: dict[str, FoundFile]) -> dict[str, Any]:
    """The files that share most with the question, by BM25 over their best sentence."""
    from deepfact.retrievers.bm25 import BM25Retriever

    readable = [file for file in files.values() if not file.why_not]
    drafts = {Source.create(title=file.name, text=file.text).id: file.name for file in readable}
    retriever = BM25Retriever(Source.create(title=file.name, text=file.text) for file in readable)
    best: dict[str, float] = {}
    for passage in retriever.search(run.spec.question, limit=len(retriever.passages)):
        best.setdefault(drafts[passage.source], round(passage.score, 6))
    ranked = sorted(best, key=lambda name: (-best[name], name))
    chosen = ranked[: run.spec.max_sources]
    return {
        "terms": terms,
        "chosen": chosen,
        "beyond_bound": ranked[run.spec.max_sources :],
        "no_word_in_common": sorted(file.name for file in readable if file.name not in best),
        "left_out": {f.name: f.why_not for f in files.values() if f.why_not},
    }


def _fetch(run: _Run, files: dict[str, FoundFile], search: dict[str, Any]) -> dict[str, Any]:
    """A source card for each chosen file."""
    spec = run.spec
    told = read_cards(Path(spec.cards) if spec.cards else None, list(files))
    cards, ids = [], {}
    for name in search["chosen"]:
        fields = told.get(name, CardFields())
        source = source_of(
            files[name], fields, role=spec.role, trust=spec.trust, retrieved=spec.date
        )
        cards.append(make_card(source, type=fields.type, excerpt=fields.excerpt))
        ids[name] = source.id
    run.store.add_cards(cards, who=WHO, when=spec.date)
    flagged = {card.source.title: list(card.flags) for card in cards if card.flags}
    return {"cards": ids, "flagged": flagged}


def _extract(run: _Run, cards: dict[str, str]) -> dict[str, Any]:
    """Claims of each card, by rules or by a model.

    Raises:
        RunIncomplete: a model gave no answer on some cards; what it gave on others is kept.
    """
    held = {card.source.id: card for card in run.store.ledger.cards}
    told = {name: held[card] for name, card in cards.items()}
    made = _by_model(run, told) if run.spec.extractor else _by_rules(run, told)
    entries = [ClaimAdded(claim=claim) for one in made.values() for claim in one.claims]
    run.store.add(entries, who=WHO, when=run.spec.date)
    failed = {name: one.failed for name, one in made.items() if one.failed}
    if failed:
        name, why = next(iter(failed.items()))
        raise RunIncomplete(
            f"no claims were extracted from {len(failed)} sources; first, {name}: {why}",
            fix="run the same command again; answers that are there are not paid for again",
        )
    return {
        "claims": [entry.claim.id for entry in entries],
        "without_claims": sorted(name for name, one in made.items() if not one.claims),
        "rejected": {name: one.rejected for name, one in made.items() if one.rejected},
        "cut": sorted(name for name, one in made.items() if one.cut),
    }


def _by_rules(run: _Run, cards: dict[str, SourceCard]) -> dict[str, Extracted]:
    limit = run.spec.claims_per_source
    return {
        name: Extracted(extract_claims(card, run.spec.question, name=name, limit=limit))
        for name, card in cards.items()
    }


def _by_model(run: _Run, cards: dict[str, SourceCard]) -> dict[str, Extracted]:
    spec = read_yaml(Path(run.spec.extractor), ModelSpec)
    made = extract_by_model(
        spec, list(cards.values()), run.spec.question, limit=run.spec.claims_per_source
    )
    return dict(zip(cards, made, strict=True))


def _verify(run: _Run, name: str, verifier: Any) -> dict[str, Any]:
    unread = verify_stage(
        run.store,
        verifier,
        name=name,
        when=run.spec.date,
        texts=run.spec.texts,
        watch=run.watch,
    )
    ledger = run.store.ledger
    return {"outcomes": len(ledger.outcomes), "readings": len(ledger.readings), "unread": unread}


def _synthesize(run: _Run) -> ResearchReport:
    """The report, from the ledger alone. Done anew each time: decisions may have come since."""
    report = compile_report(run.store.ledger, run.spec.thresholds)
    if run.spec.writer:
        report = with_prose(read_yaml(Path(run.spec.writer), ModelSpec), run.store.ledger, report)
    given = {
        "ledger": report.ledger_hash,
        "writer": run.spec.writer,
        **{str(kind): [_told(one, run) for one in report.of(kind)] for kind in ClaimStanding},
    }
    record_report(run.store, report, run.spec.date)
    output = {
        "status": str(report.status),
        "findings": [f.line() for f in report.skeptic.findings],
        "prose": [sentence.model_dump(mode="json") for sentence in report.written],
    }
    run.stage("synthesize", given, lambda: output)
    return report


def _told(one: Standing, run: _Run) -> dict[str, Any]:
    """A claim as synthesis and the final output are given it: with vote, source and reasons."""
    source = run.store.sources[one.claim.card]
    return {
        "id": one.claim.id,
        "claim": one.claim.text,
        "vote": one.vote,
        "source": {"id": source.id, "title": source.title, "url": source.url},
        "reasons": list(one.reasons),
        "qualifications": [q.text for q in one.qualifications],
        "disputed": list(one.disputed),
    }
