"""Readers of folders: benchmarks, runs, exchanged cases, ledgers, indexes."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from mutations import COMMON
from reader import Files, Reader, one_file, used

WHEN = datetime(2026, 1, 5, tzinfo=UTC)


def readers() -> Iterator[Reader]:
    """All of them."""
    yield from _benchmarks()
    yield from _runs()
    yield from _exchanged()
    yield from _ledgers()
    yield from _drafts()
    yield from _kept()
    yield _model_folder()


def files_of(folder: Path) -> Files:
    """Everything in a folder but locks."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


# --- benchmarks --------------------------------------------------------------------------


@cache
def benchmark() -> Files:
    """``benchmarks/small``: two versions of four claims, with a key."""
    from deepfact.records import (
        Annotation,
        Claim,
        KeyEntry,
        Label,
        Provenance,
        Revision,
        RevisionKind,
        Source,
    )  # fmt: skip
    from deepfact.store import seal
    from deepfact.store.benchmark import BenchmarkStore
    from deepfact.store.files import jsonl, write_text

    made = Provenance(who="tester", when=WHEN)
    source = Source.create(title="Mills", text="The mill was built in 1898. It closed in 1931.")

    def revision(kind: RevisionKind, number: int, label: Label | None, **more: Any) -> Revision:
        note = Annotation(label=label, rationale="it says so", provenance=made) if label else None
        return Revision(kind=kind, claim_id=f"c{number}", who="tester", when=WHEN, why="so",
                        annotation=note, **more)  # fmt: skip

    adds = [
        revision(
            RevisionKind.ADD, number, label,
            claim=Claim(id=f"c{number}", text=f"The mill had {number} wheels.", cites=(source.id,)),
        )
        for number, label in enumerate((*Label, Label.SUPPORTED), 1)
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "benchmarks" / "small"
        store = BenchmarkStore.create(folder, card="# small\n")
        store.commit(adds, parent=None, author="t", date=WHEN, note="first", sources=[source])
        later = [revision(RevisionKind.RELABEL, 1, Label.CONTRADICTORY),
                 revision(RevisionKind.RETIRE, 2, None)]  # fmt: skip
        store.commit(later, parent=1, author="t", date=WHEN, note="second")
        entries = [KeyEntry(claim_id=f"c{n}", label=Label.SUPPORTED) for n in (1, 3)]
        for which in ("author", "microgold"):
            path = folder / "keys" / f"{which}.jsonl"
            write_text(path, jsonl(entry.canonical() for entry in entries))
        seal.record(folder, who="t", why="made")
        return files_of(Path(name))


def _read_benchmark(folder: Path) -> object:
    """Open, load every version, read the keys; what is wrong is raised, or told by verify."""
    from deepfact.errors import IntegrityError
    from deepfact.store.benchmark import BenchmarkStore
    from deepfact.store.integrity import verify

    store = BenchmarkStore(folder / "benchmarks/small")
    problems = list(verify(store))
    store.heads()
    for number in store.versions():
        version = store.load(number)
        used(version.claims)
        used([version.sources[one] for one in version.sources])
        store.history("c1", number)
    for which in ("author", "microgold"):
        used(store.key(which))
    if problems:
        raise IntegrityError(str(problems[0]))
    return store


def _forge_manifest(folder: Path) -> None:
    """Make the manifest of the newest version name the file that is there."""
    from deepfact.records import sha256_of

    version = folder / "benchmarks/small/versions/2"
    if not (version / "manifest.json").is_file():
        return
    manifest = json.loads((version / "manifest.json").read_text("utf-8"))
    manifest["revisions_hash"] = sha256_of((version / "revisions.jsonl").read_bytes())
    text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
    (version / "manifest.json").write_text(text, encoding="utf-8")


def _benchmarks() -> Iterator[Reader]:
    files = benchmark()
    yield Reader("benchmark folder", lambda: files, _read_benchmark)
    yield Reader(
        "revisions, hashes forged",
        lambda: files,
        _read_benchmark,
        targets=("benchmarks/small/versions/2/revisions.jsonl",),
        mend=_forge_manifest,
    )


# --- runs --------------------------------------------------------------------------------


@cache
def run(auditor: str = "human") -> Files:
    """A run with the benchmark: one that waits for a person, or is complete with an auditor of
    another kind."""
    from deepfact.round import run_rounds
    from deepfact.run_records import AuditorSpec, RoundSpec, VerifierSpec

    spec = RoundSpec(
        name="trial", benchmark="small@2", challenger=VerifierSpec(kind="overlap"),
        auditors=("ada",), commit_to="run", date=WHEN, seed=1,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        put(home, benchmark())
        run_rounds(
            spec, home / "run", auditors=(AuditorSpec(name="ada", kind=auditor),),
            root=home / "benchmarks",
        )  # fmt: skip
        return {name: data for name, data in files_of(home).items() if not name.endswith(".html")}


def put(folder: Path, files: Files) -> None:
    """Write files into a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _read_run(folder: Path) -> object:
    """As status, ``run show``, the audit page and statistics read a run."""
    from deepfact.review import open_desk
    from deepfact.run_facts.reading import read_run_facts
    from deepfact.running.audit_stats import read_stats
    from deepfact.running.run_state import run_status

    home, root = folder / "run", folder / "benchmarks"
    run_status(home).lines()
    used(read_run_facts(home))
    desk = open_desk(home)
    used(list(desk.cases))
    return read_stats(home, root)


def _read_more_of_run(folder: Path) -> object:
    """As leaderboard, replay, cross-audit and micro-gold scores read it."""
    from deepfact.crossaudit.stored import read_stored
    from deepfact.leaderboard import leaderboard
    from deepfact.microgold.scoring import score
    from deepfact.replay import replay_run
    from deepfact.store.benchmark import BenchmarkStore

    home, root = folder / "run", folder / "benchmarks"
    store = BenchmarkStore(root / "small")
    score(store, folder)
    leaderboard(store, verdicts=[home])
    read_stored([home], root)
    return replay_run(home, None, root=root)


def _read_journal(folder: Path) -> object:
    from deepfact.store.journal import Journal, read_events

    used(read_events(folder / "run/journal.jsonl"))
    with Journal(folder / "run") as journal:
        return journal.events


def _go_on(folder: Path) -> object:
    """As ``deepfact round resume``."""
    from deepfact.round import resume

    return resume(folder / "run", root=folder / "benchmarks")


def _runs() -> Iterator[Reader]:
    files, done = run(), run("evidence")
    journal = {name: data for name, data in files.items() if name == "run/journal.jsonl"}
    parts = ("run/spec.json", "run/journal.jsonl", "run/record.json")
    targets = tuple(name for name in parts if name in files)
    yield Reader("journal", lambda: journal, _read_journal)
    yield Reader("run: status, desk, statistics", lambda: files, _read_run, targets=targets)
    yield Reader(
        "run: stored verdicts, replay",
        lambda: done,
        _read_more_of_run,
        targets=tuple(name for name in parts if name in done),
    )
    yield Reader("run: resume", lambda: files, _go_on, targets=targets, weight=0.5)


# --- cases out, decisions in -------------------------------------------------------------


def _exchanged() -> Iterator[Reader]:
    from deepfact.exchange import export_cases, import_decisions
    from deepfact.exchange_formats import Format

    for kind in (Format.CSV, Format.JSONL, Format.LABEL_STUDIO, Format.ARGILLA):
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            put(home, run())
            export_cases(home / "run", home / "cases", kind, root=home / "benchmarks")
            filled = _filled((home / "cases").read_bytes(), kind.value)
        files = {**run(), "cases": filled}

        def read(folder: Path, kind: Format = kind) -> object:
            from deepfact.errors import DeepFactError

            made = import_decisions(
                folder / "run", folder / "cases", kind, root=folder / "benchmarks", dry_run=True
            )
            for problem in made.problems:
                if not isinstance(problem, DeepFactError):
                    raise problem
            if made.problems:
                raise made.problems[0]
            return made

        yield Reader(f"decisions {kind.value}", lambda files=files: files, read, targets=("cases",))


def _filled(data: bytes, kind: str) -> bytes:
    """An exported file as a person would hand it back."""
    said = {"decision": "a", "label": "", "rationale": "it says so", "notes": "", "evidence": ""}
    text = data.decode("utf-8-sig")
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, **said} for row in rows)
        return out.getvalue().encode("utf-8")
    if kind == "jsonl":
        return "".join(
            json.dumps({**json.loads(line), **said}) + "\n" for line in text.splitlines()
        ).encode("utf-8")
    items = json.loads(text)
    for item in items:
        if kind == "argilla":
            item["responses"] = {
                name: [{"user_id": "u", "value": word}] for name, word in said.items() if word
            }
        else:
            result = [
                {"from_name": name, "to_name": "claim", "type": "choices",
                 "value": {"choices": [word]}}
                for name, word in said.items() if word
            ]  # fmt: skip
            item["annotations"] = [{"completed_by": 7, "result": result}]
    return json.dumps(items).encode("utf-8")


# --- research ----------------------------------------------------------------------------

_DOCUMENT = {
    "question": "When did the mill close?", "as_of": "2026-01-05T00:00:00Z",
    "cards": [{"name": "a", "title": "Mills", "text": "The mill closed in 1931.", "type": "note",
               "url": "https://a.b"},
              {"name": "b", "title": "Dams", "text": "The mill closed in 1932."}],
    "claims": [{"id": "c1", "text": "The mill closed in 1931.", "card": "a", "subject": "mill",
                "predicate": "closed", "object": "1931"},
               {"id": "c2", "text": "The mill closed in 1932.", "card": "b", "subject": "mill",
                "predicate": "closed", "object": "1932"}],
    "links": [{"claim": "c1", "card": "b", "stance": "contradicts"}],
    "outcomes": [{"kind": "verdict", "claim_id": "c1", "label": "supported", "rationale": "so"},
                 {"kind": "failure", "claim_id": "c2", "reason": "timeout"}],
    "aliases": {"M": "mill"},
}  # fmt: skip


def _ledgers() -> Iterator[Reader]:
    from deepfact.core.skeptic import examine
    from deepfact.importers import importer
    from deepfact.research.ledgers import load_ledger

    text = json.dumps(_DOCUMENT)
    golden = Path(__file__).parents[1] / "golden" / "ledger"
    files = files_of(golden)

    def check(path: Path) -> object:
        ledger = load_ledger(path)
        used(examine(ledger))
        return used(ledger)

    def hold(folder: Path) -> object:
        from deepfact.store.ledger import LedgerStore

        check(folder)
        importer("research")(folder, when=WHEN)
        with LedgerStore(folder) as store:
            return store.ledger

    yield Reader("research document", one_file("l.json", text), lambda f: check(f / "l.json"))
    yield Reader("research ledger", lambda: files, hold)


# --- drafts, indexes, pages --------------------------------------------------------------


def _drafts() -> Iterator[Reader]:
    from deepfact.microgold.adding import plan_addition
    from deepfact.microgold.drafts import draft, read_drafts, supported_origins, write_drafts
    from deepfact.store.benchmark import BenchmarkStore

    shipped = BenchmarkStore(Path(__file__).parents[2] / "benchmarks/deepfact-mini").load()
    origins = supported_origins(shipped)
    found = draft(origins, shipped.sources, supported=1, unsupported=4, seed=1)
    with tempfile.TemporaryDirectory() as name:
        write_drafts(found.drafts, Path(name) / "d.jsonl")
        data = (Path(name) / "d.jsonl").read_bytes()

    def read(folder: Path) -> object:
        kept = read_drafts(folder / "d.jsonl", origins)
        made = plan_addition(shipped, kept, origins, shipped.sources, author="a", when=WHEN)
        return used([claim for claim, _ in made.claims])

    yield Reader("micro-gold drafts", one_file("d.jsonl", data), read)


def _model_folder() -> Reader:
    from deepfact.verifiers.nli.folder import open_folder

    config = {"architectures": ["BertForSequenceClassification"], "model_type": "bert",
              "id2label": {"0": "entailment", "1": "neutral", "2": "contradiction"},
              "max_position_embeddings": 512, "pad_token_id": 0}  # fmt: skip

    def read(folder: Path) -> object:
        found = open_folder(str(folder), file="", revision="", download=False)
        return found.config.names, found.most_tokens()

    return Reader(
        "model folder",
        lambda: {
            "config.json": json.dumps(config).encode(), "model.onnx": b"x",
            "tokenizer_config.json": b'{"model_max_length": 512}',
        },
        read,
        targets=("config.json", "tokenizer_config.json"),
        weight=0.5,
    )  # fmt: skip


def _kept() -> Iterator[Reader]:
    from deepfact.models.registry import INDEX, list_models
    from deepfact.records import Source, SourceRole, Trust
    from deepfact.retrievers.folder import folder_sources
    from deepfact.retrievers.index_files import IndexStore

    models = {"models": [{"name": "m", "file": "m.gguf", "sha256": "sha256:" + "0" * 64,
                          "bytes": 5}], "schema_version": 1}  # fmt: skip
    yield Reader(
        "models.json",
        one_file(INDEX, json.dumps(models)),
        lambda folder: used(list(list_models(folder))),
        weight=0.5,
    )
    yield Reader(
        "folder of sources",
        lambda: {"a.md": b"# Mills\nThe mill closed in 1931.\n", "b.txt": b"The dam is gone.\n"},
        lambda folder: used(folder_sources(folder, role=SourceRole.SECONDARY, trust=Trust.UNKNOWN)),
        weight=0.5,
    )
    made = Source.create(title="Mills", text="The mill was built in 1898. It closed in 1931.")
    with tempfile.TemporaryDirectory() as name:
        IndexStore(Path(name), say=lambda _: None).open({made.id: made})
        files = files_of(Path(name))

    def search(folder: Path) -> object:
        store = IndexStore(folder, say=lambda _: None)
        store.stats()
        return store.open({made.id: made})

    yield Reader("stored index", lambda: files, search, mutations=COMMON, weight=0.5)
