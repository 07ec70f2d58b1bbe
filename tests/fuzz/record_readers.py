"""Readers of deepfact's own records: single files, specs in YAML, prompts, exports, stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mutations import BINARY, YAML
from pydantic import BaseModel
from reader import Reader, one_file, used

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
WHEN = datetime(2026, 1, 5, tzinfo=UTC)


def readers() -> Iterator[Reader]:
    """All of them."""
    yield from _golden_records()
    yield from _specs()
    yield from _prompts()
    yield from _small_files()


def _record(name: str, golden: Path, model: Any) -> Reader:
    from deepfact.store.files import read_record

    return Reader(
        name,
        one_file("a.json", golden.read_bytes()),
        lambda folder: used(read_record(folder / "a.json", model)),
        weight=0.5,
    )


def _golden_records() -> Iterator[Reader]:
    from deepfact import records, run_records
    from deepfact.documents.records import ReportRecord
    from deepfact.regression_records import RegressRecord

    for name in ("Source", "Manifest", "Checksums"):
        yield _record(f"record {name}", GOLDEN / f"records/{name}.json", getattr(records, name))
    for name in ("RunRecord", "SavedSpec", "MergeSpec"):
        yield _record(f"record {name}", GOLDEN / f"records/{name}.json", getattr(run_records, name))
    yield _record("record ReportRecord", GOLDEN / "documents/ReportRecord.json", ReportRecord)
    yield _record("record RegressRecord", GOLDEN / "regression/RegressRecord.json", RegressRecord)
    yield _lines("revisions.jsonl", "Revision-*", records.Revision)
    yield _lines("keys/*.jsonl", "KeyEntry*", records.KeyEntry)


def _lines(name: str, pattern: str, model: Any) -> Reader:
    from deepfact.store.files import read_jsonl

    data = b"".join(
        path.read_bytes() for path in sorted((GOLDEN / "records").glob(f"{pattern}.json"))
    )
    return Reader(
        name,
        one_file("a.jsonl", data),
        lambda folder: used(list(read_jsonl(folder / "a.jsonl", model))),
    )


# --- YAML --------------------------------------------------------------------------------

AB = (ROOT / "configs/ab-local-chat.yaml").read_text("utf-8")
MAPPING = """
data_set: my-checks
fields: {id: claim_id, text: statement, label: verdict}
labels: {"TRUE": supported, "FALSE": contradictory, Unproven: inconclusive}
constants: {domain: medicine, role: primary}
sources: {field: evidence, text: passage, url: link}
"""
POLICY = """
rule: weighted
per_case: 2
weights: {accuracy: {ada: 0.9, bob: 0.7}, strength: 5}
"""
VERIFIER = """
kind: local
name: mine
options: {scope: cited, crosscheck: 300, more: [1, two, 2026-01-05]}
"""
TRANSFER = """
name: t
data_sets:
  - {name: mini, benchmark: deepfact-mini@1, sample: 20}
  - {name: scifact, format: scifact, path: data/scifact, options: {split: dev}}
verifiers: [{kind: overlap}, {kind: local, name: mine}]
auditors: [evidence-judge]
seed: 3
"""
SEARCH = """
engine: {kind: brave, options: {}}
queries: [mill 1898, dam]
results: 5
domains: {example.org: {role: primary, trust: high}}
budget: {}
"""
CARDS = """
sources:
  study.txt: {role: primary, url: "https://example.org/a", published: "2026-01-05"}
  notes.md: {role: secondary}
"""
CARD = """---
license: cc-by-4.0
language: [en]
pretty_name: Mills
---
# Mills
About mills.
"""


def _spec(name: str, text: str, model: type[BaseModel]) -> Reader:
    from deepfact.store.specs import read_yaml

    return Reader(
        f"YAML {name}",
        one_file("a.yaml", text),
        lambda folder: used(read_yaml(folder / "a.yaml", model)),
        mutations=YAML,
    )


def _specs() -> Iterator[Reader]:
    from deepfact.auditors.specs import read_auditors
    from deepfact.crossaudit_records import CrossAuditSpec
    from deepfact.experiment_records import AbSpec
    from deepfact.importers.mapping import Mapping
    from deepfact.importers.report_ratings import RaterSpec
    from deepfact.policy_records import PolicySpec
    from deepfact.publish.metadata import read_card
    from deepfact.regression_records import RegressSpec
    from deepfact.research.asking import ModelSpec
    from deepfact.research.folder import read_cards
    from deepfact.research_records import Thresholds
    from deepfact.retrievers.registry import RetrieverSpec
    from deepfact.retrievers.web.records import SearchSpec
    from deepfact.run_records import RoundSpec, VerifierSpec
    from deepfact.simulation_records import SimulationSpec

    def config(name: str) -> str:
        return (ROOT / "configs" / name).read_text("utf-8")

    model = "model: m\nprovider: {kind: scripted, options: {answer: x}}\nresponses: r.sqlite\n"
    yield _spec("round", config("demo.yaml"), RoundSpec)
    yield _spec("ab", AB, AbSpec)
    yield _spec("regress", config("regress-founding.yaml"), RegressSpec)
    yield _spec("crossaudit", config("crossaudit.yaml"), CrossAuditSpec)
    yield _spec("simulation", config("simulation-four-rounds.yaml"), SimulationSpec)
    yield _spec("mapping", MAPPING, Mapping)
    yield _spec("policy", POLICY, PolicySpec)
    yield _spec("verifier", VERIFIER, VerifierSpec)
    yield _spec("model", model, ModelSpec)
    yield _spec("rater", model, RaterSpec)
    yield _spec("retriever", "kind: bm25\noptions: {k1: 1.2, b: 0.75}\n", RetrieverSpec)
    yield _spec("search", SEARCH, SearchSpec)
    yield _spec(
        "gate limits", "linked_sources: 3\nprimary_cards: 1\nrelative_tolerance: 0.05\n", Thresholds
    )
    yield from _transfer()
    auditors = {path.name: path.read_bytes() for path in (ROOT / "auditors").glob("*.yaml")}
    yield Reader(
        "YAML auditors",
        lambda: auditors,
        lambda folder: used(read_auditors([path.stem for path in folder.glob("*.yaml")], folder)),
        mutations=YAML,
    )
    yield Reader(
        "YAML source cards",
        one_file("cards.yaml", CARDS),
        lambda folder: used(dict(read_cards(folder / "cards.yaml", ["study.txt", "notes.md"]))),
        mutations=YAML,
    )
    yield Reader(
        "dataset card",
        one_file("README.md", CARD),
        lambda folder: used(read_card(folder / "README.md")[0]),
        mutations=YAML,
    )


def _transfer() -> Iterator[Reader]:
    """The transfer spec, where its command is there."""
    try:
        from deepfact.transfer_records import TransferSpec
    except ImportError:
        return
    yield _spec("transfer", TRANSFER, TransferSpec)


# --- prompts -----------------------------------------------------------------------------


def _prompts() -> Iterator[Reader]:
    from deepfact.prompts.library import SHIPPED, find_prompts, load_prompt

    paths = ("verifier/split/v1.md", "auditor/judge/v1.md", "document/plan/v1.md")
    files = {name: (SHIPPED / name).read_bytes() for name in paths}

    def read(folder: Path) -> object:
        known = [name for name in find_prompts([folder]) if name.startswith("mine/")]
        return [load_prompt(name, [folder]) for name in known]

    yield Reader(
        "prompts",
        lambda: {f"mine/p{n}/v1.md": data for n, data in enumerate(files.values(), 1)},
        read,
        mutations=YAML,
    )
    lock = "".join(f"sha256:{n:064x} mine/p{n}/v1\n" for n in range(3))
    from deepfact.prompts.library import LOCK, read_lock

    yield Reader("prompts.lock", one_file(LOCK, lock), lambda folder: read_lock(folder), weight=0.5)


# --- further small files -----------------------------------------------------------------


def _small_files() -> Iterator[Reader]:
    from deepfact.providers.scripted import ScriptedRule
    from deepfact.research.workflow import StageRecord
    from deepfact.running.regression_baseline import read_baseline
    from deepfact.store.files import read_jsonl, read_record
    from deepfact.trace_records import Trace
    from deepfact.verifiers.document.tracing import read_traces
    from deepfact.web.links import read_links

    def whole(name: str, text: bytes, file: str, read: Callable[[Path], Any]) -> Reader:
        return Reader(name, one_file(file, text), lambda folder: used(read(folder / file)),
                      weight=0.5)  # fmt: skip

    baseline = (GOLDEN / "regression/baseline.jsonl").read_bytes()
    yield Reader(
        "regression baseline",
        one_file("b.jsonl", baseline),
        lambda folder: read_baseline(folder / "b.jsonl").outcomes,
    )
    script = b'{"when": "mill", "say": "yes"}\n{"say": "no", "stop_reason": "max_tokens"}\n'
    yield whole(
        "provider script", script, "s.jsonl", lambda path: list(read_jsonl(path, ScriptedRule))
    )
    trace = Trace(claim_id="c1", verifier="document", notes=("a", "b")).canonical()
    yield whole(
        "traces", f"{trace}\n{trace}\n".encode(), "t.jsonl",
        lambda path: list(read_traces(path).values()),
    )  # fmt: skip
    links = b'{"schema_version": 1, "hashes": {"ada": "sha256:' + b"0" * 64 + b'"}}\n'
    yield whole("links.json", links, "links.json", lambda path: read_links(path.parent))
    stage = b'{"schema_version": 1, "stage": "sources", "input": {"files": {}}, "output": {"n": 1}}'
    yield whole("stage record", stage, "s.json", lambda path: read_record(path, StageRecord))
    yield _weights()
    yield _gguf()
    yield _figures()
    yield _command_answers()


def _weights() -> Reader:
    from deepfact.verifiers.local.features import NAMES
    from deepfact.verifiers.local.model import parse_weights

    text = (ROOT / "deepfact/verifiers/local/weights.json").read_bytes()
    from deepfact.store.files import read_text

    return Reader(
        "local weights",
        one_file("weights.json", text),
        lambda folder: parse_weights(
            read_text(folder / "weights.json"), where="weights.json", features=NAMES
        ),
        weight=0.5,
    )


def _gguf() -> Reader:
    import struct

    from deepfact.models.gguf import read_header

    def text(word: str) -> bytes:
        return struct.pack("<Q", len(word)) + word.encode()

    pairs = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.name") + struct.pack("<I", 8) + text("small"),
        text("llama.context_length") + struct.pack("<II", 4, 2048),
        text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
    ]
    tensor = text("t") + struct.pack("<IQQIQ", 2, 4, 4, 0, 0)
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs) + tensor
    data += b"\x00" * 256
    return Reader(
        "GGUF header",
        one_file("m.gguf", data),
        lambda folder: read_header(folder / "m.gguf"),
        mutations=BINARY,
    )


def _figures() -> Reader:
    from deepfact.reproduce.listed import read_list

    figure = (
        '[{"id": "a", "files": ["x.json"], "formula": "k/n", "published": 0.5, '
        '"recomputed": {"f1": 0.512, "n": 300}}]'
    )
    return Reader(
        "listed figures",
        one_file("f.json", figure),
        lambda folder: read_list(folder / "f.json"),
        weight=0.5,
    )


def _command_answers() -> Reader:
    from deepfact.verifiers.command import _parse

    line = (
        b'{"claim_id": "c1", "label": "supported", "rationale": "so"}\n'
        b'{"claim_id": "c2", "reason": "timeout"}\n'
    )
    return Reader(
        "answers of a command",
        one_file("a.jsonl", line),
        lambda folder: used(
            [_parse(one) for one in (folder / "a.jsonl").read_bytes().split(b"\n")]
        ),
        weight=0.5,
    )
