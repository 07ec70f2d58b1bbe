"""Readers of other people's files: data sets, predictions, verdicts, training rows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mutations import BINARY, COMMON, YAML
from reader import Files, Reader, used

WHEN = datetime(2026, 1, 5, tzinfo=UTC)

CLAIM = {"id": "c1", "text": "The mill closed.", "label": "supported", "rationale": "it says so",
         "report": "r1", "sentence": 2, "cites": ["s1", "s2"], "domain": "history"}  # fmt: skip
SOURCES = [
    {"id": "s1", "title": "Notes", "text": "The mill closed in 1931.", "url": "https://a.b"},
    {"id": "s2", "title": "Dam", "text": "The dam is gone.", "published": "2020-01-02"},
]


def jsonl(*rows: Any) -> bytes:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")


def readers() -> Iterator[Reader]:
    """All of them."""
    for name, files in DATA_SETS.items():
        yield _imported(name, files)
    yield from _mapped()
    yield from _parquet()
    yield from _verdicts()
    yield from _predictions()
    yield from _reports()


def _imported(format_: str, files: Files) -> Reader:
    from deepfact.importers import importer

    def read(folder: Path) -> object:
        path = folder if len(files) > 1 else folder / next(iter(files))
        return _written(importer(format_)(path, when=WHEN))

    return Reader(f"import {format_}", lambda: files, read)


def _written(out: Any) -> object:
    """What an import writes, as it writes it."""
    used(out.sources)
    used([claim for claim, _ in out.claims])
    used([made for _, made in out.claims if made is not None])
    "".join(f"{skip.where}: {skip.why}" for skip in out.skipped).encode("utf-8", "replace")
    "\n".join(out.notes).encode("utf-8", "replace")
    return out


# --- small files in the shape of each data set ----------------------------------------------

_FACT = {"text": "Ada wrote.", "label": "S"}
_WICE_META = {"id": "test1", "claim_title": "Ice / Snow", "claim_section": "Use.",
              "claim_context": "It is cold."}  # fmt: skip
_RESULTS = (
    "Search result 1\nTitle: Ice\nContent: Ice floats.\nLink: https://a.example/x\n\n"
    "Search result 2\nTitle: Snow: a survey\nLink: https://b.example\nContent: \n"
)
_DOCUMENTS = jsonl(
    {
        "doc_id": 7,
        "title": "Ice",
        "abstract": ["Ice floats.\n", "It is cold."],
        "structured": False,
    },
    {"doc_id": 8, "title": "Iron", "abstract": ["Iron sinks."], "structured": False},
)
_CLAIMS = jsonl(
    {"id": 1, "claim": "Ice floats.", "cited_doc_ids": [7, 8],
     "evidence": {"7": [{"sentences": [1, 0], "label": "SUPPORT"}]}},
    {"id": 2, "claim": "Iron floats.", "cited_doc_ids": [8],
     "evidence": {"8": [{"sentences": [0], "label": "REFUTE"}]}},
    {"id": 3, "claim": "Air floats.", "cited_doc_ids": [7], "evidence": {}},
)  # fmt: skip
_FACTCHECK = {
    "prompt": "Why?", "response": "One. Two.",
    "sentences": {"sentence1": {
        "text": "One.", "claims": ["A claim.", "B claim."],
        "claim_checkworthiness": ["factual", "factual"], "human_evidence": ["NA", "because"],
        "auto_evidence": [["Snippet one.", "Snippet two."], ["Snippet one."]],
        "auto_evidence_url": [["https://a.example/", "https://b.example/"], ["https://a.example/"]],
        "stance_claim_autoEvid": [["completely-support", "irrelevant"], ["refute"]],
        "claims_factuality_label": [True, False], "revised_claims": ["A claim."],
    }},
}  # fmt: skip
_EXPERT_CLAIM = {
    "claim_string": "Ice floats [1].", "support": "Complete", "reason_missing_support": "",
    "evidence": ["[1] https://a.example/x\n\nIce floats on water.", "[2] https://b.example"],
    "informativeness": "Very relevant", "worthiness": "Yes", "correctness": "Probably correct",
    "reliability": "Reliable", "revised_claim": "Ice floats.", "revised_evidence": None,
}  # fmt: skip
_EXPERT = {
    "question": "Does ice float?", "annotator_id": "A001",
    "metadata": {"field": "Physics", "question_type": "a|b"},
    "answers": {"gpt4": {"answer_string": "Ice floats [1].", "claims": [_EXPERT_CLAIM],
                         "annotator_id": "A002"}},
}  # fmt: skip
_AVERITEC = [{
    "claim": "Ice floats.", "label": "Supported", "justification": "Because.",
    "claim_date": "1-9-2020", "speaker": None,
    "questions": [{"question": "Does it?", "answers": [
        {"answer": "Yes", "answer_type": "Boolean", "boolean_explanation": "It is lighter.",
         "source_url": "https://a.example"}]}],
}] * 2  # fmt: skip
_REPORT = {"topic": "Ice", "response": "Ice floats. Iron floats.", "model": "m",
           "sentences": ["Ice floats.", {"sentence": "Iron floats."}]}  # fmt: skip
_INFO = {
    "report_id": "r 1",
    "human_verdict": "Supported",
    "agent_verdict": "contradictory",
    "relevance": "4",
    "human_reason": "looked",
    "agent_rationale": "no page says so",
}

DATA_SETS: dict[str, Files] = {
    "scifact": {"claims_dev.jsonl": _CLAIMS, "corpus.jsonl": _DOCUMENTS},
    "citation-integrity": {"claims_test.jsonl": _CLAIMS, "corpus.jsonl": _DOCUMENTS},
    "factcheck-bench": {"factcheck-GPT-benchmark.jsonl": jsonl(_FACTCHECK)},
    "expertqa": {"a.jsonl": jsonl(_EXPERT, {**_EXPERT, "question": "Does iron?"})},
    "factscore": {"ChatGPT.jsonl": jsonl(
        {"input": "q", "output": "About Ada.", "topic": "Ada", "cat": [], "annotations": [
            {"text": "a sentence", "is-relevant": True, "model-atomic-facts": [{"text": "x"}],
             "human-atomic-facts": [_FACT, {"text": "Ada sang.", "label": "NS"}]}]},
        {"input": "q", "output": "About Bob.", "topic": "Bob", "cat": [], "annotations": None},
    )},
    "wice": {"claim_test.jsonl": jsonl(
        {"label": "supported", "supporting_sentences": [[5], [9, 5]], "claim": "Claim 1.",
         "meta": _WICE_META, "supporting_text": {"5": "Ice floats.", "9": "It is cold."}},
        {"label": "not_supported", "supporting_sentences": [[]], "claim": "Claim 2.",
         "meta": {**_WICE_META, "id": "test2"}, "evidence": ["Menu", "", "Ice floats."]},
    )},
    "veriscore": {"few_shot_examples.jsonl": jsonl(
        {"claim": "A.", "search_result": _RESULTS, "human_label": "Supported."},
        {"claim": "B.", "search_result": _RESULTS, "human_label": "Contradicted."},
    )},
    "averitec": {"dev.json": json.dumps(_AVERITEC).encode()},
    "halueval": {"general_data.json": jsonl(
        {"ID": "1", "user_query": "q", "chatgpt_response": "Answer 1.", "hallucination": "no",
         "hallucination_spans": []},
        {"ID": "2", "user_query": "q", "chatgpt_response": "Answer 2.", "hallucination": "yes",
         "hallucination_spans": ["Answer", "2"]},
    )},
    "deepfact-bench": {
        "test.json": json.dumps([{**_INFO, "sentence_idx": 0}, {**_INFO, "sentence_idx": "1"}])
        .encode(),
        "test_reports.json": json.dumps({"r 1": _REPORT}).encode(),
    },
}  # fmt: skip
"""In the shape of each data set; the words are ours."""


# --- mapped files ------------------------------------------------------------------------

_MAPPING = b"""labels: {supported: supported, "no": contradictory}
fields: {rationale: why}
sources: {field: docs}
"""
_MAPPED = jsonl(
    {**CLAIM, "why": "so", "docs": [{"title": "T", "text": "A text.", "url": "https://c.d"}]},
    {"id": "c2", "text": "It burnt.", "label": "no", "why": "", "docs": ["plain"]},
)
_CSV = (
    'id,text,label,rationale,cites\nc1,The mill closed.,supported,"it, says\nso",s1;s2\n'
    "c2,Die Mühle brannte.,contradictory,,s2\n"
)


def _mapped() -> Iterator[Reader]:
    from deepfact.importers.generic import read_csv, read_jsonl

    sources = jsonl(*SOURCES)
    yield Reader(
        "import jsonl",
        lambda: {"a.jsonl": _MAPPED, "s.jsonl": sources, "m.yaml": _MAPPING},
        lambda folder: _written(read_jsonl(folder / "a.jsonl", when=WHEN,
                                           mapping=folder / "m.yaml", sources=folder / "s.jsonl")),
        targets=("a.jsonl", "s.jsonl"),
    )  # fmt: skip
    yield Reader(
        "import jsonl by mapping",
        lambda: {"a.jsonl": _MAPPED, "s.jsonl": sources, "m.yaml": _MAPPING},
        lambda folder: _written(read_jsonl(folder / "a.jsonl", when=WHEN, skip_bad=True,
                                           mapping=folder / "m.yaml", sources=folder / "s.jsonl")),
        targets=("m.yaml",), mutations=YAML,
    )  # fmt: skip
    yield Reader(
        "import csv",
        lambda: {"a.csv": _CSV.encode(), "s.csv": b"id,title,text\ns1,A,One.\ns2,B,Two.\n"},
        lambda folder: _written(read_csv(folder / "a.csv", when=WHEN, sources=folder / "s.csv")),
    )


def _parquet() -> Iterator[Reader]:
    import pyarrow
    import pyarrow.parquet

    from deepfact.importers.parquet import read

    out = io.BytesIO()
    rows = [{"id": f"c{n}", "text": "The mill closed.", "label": "supported"} for n in range(20)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    yield Reader(
        "import parquet",
        lambda: {"a.parquet": out.getvalue()},
        lambda folder: _written(read(folder / "a.parquet", when=WHEN)),
        mutations=BINARY,
    )


def _verdicts() -> Iterator[Reader]:
    from deepfact.importers.verdicts import read_verdicts
    from deepfact.records import Claim

    claims = [Claim(id=f"c{n}", text=f"Claim {n}.") for n in (1, 2, 3)]
    lines = jsonl(
        {"claim_id": "c1", "label": "supported", "rationale": "so"},
        {"claim_id": "c2", "label": None},
        {"kind": "verdict", "claim_id": "c3", "label": "inconclusive", "rationale": "who knows"},
        {"kind": "failure", "claim_id": "c3", "reason": "timeout"},
    )

    def read(path: Path) -> object:
        return used(list(read_verdicts(path, claims).outcomes.values()))

    yield Reader("verdicts jsonl", lambda: {"v.jsonl": lines}, lambda f: read(f / "v.jsonl"))
    yield Reader("verdicts in bulk", _outcome_lines, lambda f: _in_bulk(f / "v.jsonl", claims))
    table = b'claim_id,label,rationale\nc1,supported,so\nc2,,\nc3,contradictory,"a ""b"""\n'
    yield Reader("verdicts csv", lambda: {"v.csv": table}, lambda f: read(f / "v.csv"))


def _outcome_lines() -> dict[str, bytes]:
    source = f"sha256:{'0' * 64}"
    quote = {"source": source, "quote": "so", "stance": "supports", "span": {"start": 0, "end": 2}}
    vote = {
        "index": 0,
        "label": "supported",
        "evidence": [quote],
        "usage": {"calls": 1, "usd": 0.5},
    }
    panel = {
        "votes": [vote],
        "panel": "confirmed",
        "rule": "majority",
        "scores": {"supported": 1.0},
    }
    verdict = {"kind": "verdict", "label": "supported", "schema_version": 1, "evidence": [quote]}
    lines = [{**verdict, "claim_id": "c1"}, {**verdict, "claim_id": "c2", **panel}]
    return {"v.jsonl": jsonl(*lines, {"kind": "failure", "claim_id": "c3", "reason": "timeout"})}


def _in_bulk(path: Path, claims: list[Any]) -> object:
    """Read in both ways, which have to agree."""
    from deepfact.core.metrics import answer_of
    from deepfact.errors import InputError
    from deepfact.importers.verdicts import read_answers, read_verdicts

    ids = [claim.id for claim in claims]
    try:
        plain = read_verdicts(path, claims)
    except InputError:
        read_answers(path, ids)
        raise AssertionError("wrong by itself, and taken in bulk") from None
    found = read_answers(path, ids)
    assert found.answers == [answer_of(plain.outcomes.get(one)) for one in ids]
    return used(list(plain.outcomes.values()))


def _predictions() -> Iterator[Reader]:
    from deepfact.importers.predictions import (
        deep_research,
        frank,
        multivers,
        openfactcheck,
        subtasks,
        wice,
    )  # fmt: skip

    def reader(name: str, file: str, data: bytes, read: Any) -> Reader:
        return Reader(f"predictions {name}", lambda: {file: data}, lambda f: read(f / file),
                      weight=0.4)  # fmt: skip

    evidence = {"7": {"label": "NEI"}, "3": {"label": "REFUTE", "sentences": [1]}}
    yield reader("multivers", "a.jsonl", jsonl({"id": 1, "evidence": evidence}),
                 lambda path: multivers.read(path, "scifact"))  # fmt: skip
    yield reader("openfactcheck", "a.jsonl",
                 jsonl({"source": "s", "gold": True, "pplx_supported": True}),
                 lambda path: openfactcheck.read(path, "pplx_sonar"))  # fmt: skip
    page = {"facts": ["a", "b"], "validate_res": [{"idx": 1, "result": "supported"}]}
    yield reader("citations", "a.jsonl", jsonl({"id": 1, "citations_deduped": {"u": page}}),
                 deep_research.read_citations)  # fmt: skip
    columns = "model_name,dataset,split,Factuality,FactCC\nm,cnndm,test,0.5,0.9\n"
    yield reader("frank", "a.csv", columns.encode(), lambda path: frank.read(path, "FactCC"))
    yield reader("subtasks", "a.jsonl", jsonl({"checkworthy": "yes"}),
                 lambda path: subtasks.read(path, "subtask1"))  # fmt: skip
    yield reader("wice scores", "a.json", b'{"test1": 0.5, "test2": 0.125}',
                 wice.read_scores)  # fmt: skip
    yield reader("wice thresholds", "a.json", b'{"m": {"f1": {"threshold": 0.5}}}',
                 lambda path: wice.read_threshold(path, "m"))  # fmt: skip


def _reports() -> Iterator[Reader]:
    from deepfact.documents.build import build_record
    from deepfact.documents.drafts import Report
    from deepfact.documents.records import Original
    from deepfact.importers import importer
    from deepfact.records import sha256_of

    text = (
        "# Mills\n\nThe mill was built in 1898. It closed in 1931 [1].\n\n## References\n\n"
        "[1] Mill history. https://www.example.org/a/\n"
    )
    original = Original(name="m.md", format="markdown", size=len(text), hash=sha256_of(text))
    record = build_record(Report(id="m", text=text, original=original, form="markdown"))
    rows = jsonl({"id": "a", "url": "http://example.org/a#top", "text": "Built in 1898."})
    yield Reader(
        "import report",
        lambda: {"m.report.json": record.canonical().encode(), "s.jsonl": rows},
        lambda f: _written(importer("report")(f / "m.report.json", when=WHEN,
                                              sources=str(f / "s.jsonl"))),
        mutations=COMMON,
    )  # fmt: skip
