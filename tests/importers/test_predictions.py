"""Stored predictions of others: what is an answer, what is none, and what is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest

from deepfact.core.schemes.abstracts import AnsweredDocument, KeyDocument
from deepfact.errors import InputError
from deepfact.importers.predictions import (
    deep_research,
    frank,
    multivers,
    openfactcheck,
    subtasks,
    wice,
)
from deepfact.records import Label


@pytest.mark.parametrize(
    ("name", "value", "answer"),
    [
        ("factool_chatgpt", 1, True),
        ("factool_chatgpt", 0, False),
        ("factool_chatgpt", 2, None),
        ("factool_chatgpt", -1, None),
        ("factool_chatgpt", True, None),
        ("factscore_chatgpt", False, False),
        ("factcheckgpt_langchain", "True", True),
        ("factcheckgpt_langchain", "False", False),
        ("factcheckgpt_langchain", None, None),
        ("factcheckgpt_langchain", "true", None),
        ("factcheckgpt_langchain", "The claim is not True.", None),
        ("factool_evidence_llama3", '{"factuality": True}', True),
        ("factool_evidence_llama3", 'cut off, "factuality": "false" assistant', False),
        ("factool_evidence_llama3", '"factuality": false ... "factuality": true', None),
        ("factool_evidence_llama3", "it is true", None),
        ("factscore_chatgpt_raw", "False. It is not.", False),
        ("factscore_chatgpt_raw", "False is wrong: true.", True),
        ("factscore_chatgpt_raw", "It cannot be said.", False),
        ("factscore_chatgpt_raw", "Yes, it is.", True),
    ],
)
def test_outputs_of_fact_checkers(
    write_rows: Callable[..., Path], name: str, value: Any, answer: bool | None
) -> None:
    column = openfactcheck.SYSTEMS[name].column
    file = write_rows("a.jsonl", {"source": "s", "gold": True, column: value})
    assert [claim.answer for claim in openfactcheck.read(file, name)] == [answer]


def test_rows_of_fact_checkers_that_are_wrong(write_rows: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="gold"):
        openfactcheck.read(write_rows("a.jsonl", {"source": "s", "gold": "true"}), "pplx_sonar")
    with pytest.raises(InputError, match="no 'pplx_supported'"):
        openfactcheck.read(write_rows("a.jsonl", {"source": "s", "gold": True}), "pplx_sonar")
    with pytest.raises(InputError, match="did you mean 'pplx_sonar'"):
        openfactcheck.system("pplx_sonr")


def test_labels_of_documents_in_their_order(write_rows: Callable[..., Path]) -> None:
    documents = {"9": {"label": "NEI"}, "3": {"label": "REFUTE", "sentences": [1]}}
    file = write_rows("a.jsonl", {"id": 1, "evidence": documents}, {"id": 2, "evidence": {}})
    found = multivers.read(file, "scifact")
    assert found == {
        1: {
            "9": AnsweredDocument(Label.INCONCLUSIVE),
            "3": AnsweredDocument(Label.CONTRADICTORY, (1,)),
        },
        2: {},
    }
    assert list(found[1]) == ["9", "3"]
    with pytest.raises(InputError, match="answered twice"):
        multivers.read(write_rows("b.jsonl", *[{"id": 1, "evidence": {}}] * 2), "scifact")
    bad = write_rows("c.jsonl", {"id": 1, "evidence": {"9": {"label": "REFUTES"}}})
    with pytest.raises(InputError, match="did you mean 'REFUTE'"):
        multivers.read(bad, "scifact")


def test_keys_with_their_sets_of_sentences(write_rows: Callable[..., Path]) -> None:
    def rationale(label: str, *sentences: int) -> dict[str, Any]:
        return {"label": label, "sentences": list(sentences)}

    groups = {"9": [rationale("CONTRADICT", 1, 2), rationale("CONTRADICT", 4)], "3": []}
    file = write_rows("a.jsonl", {"id": 1, "evidence": groups})
    documents = multivers.read_key(file, "scifact")[1]
    sets = (frozenset({1, 2}), frozenset({4}))
    assert documents == {"9": KeyDocument(Label.CONTRADICTORY, sets)}
    mixed = {"9": [rationale("SUPPORT", 1), rationale("CONTRADICT", 4)]}
    with pytest.raises(InputError, match="several labels"):
        multivers.read_key(write_rows("b.jsonl", {"id": 1, "evidence": mixed}), "scifact")


def test_scores_and_thresholds(write_rows: Callable[..., Path]) -> None:
    assert wice.read_scores(write_rows("a.json", {"x": 1, "y": 0.5})) == {"x": 1.0, "y": 0.5}
    for value in (1.5, True, "0.5", None):
        with pytest.raises(InputError, match="no score"):
            wice.read_scores(write_rows("a.json", {"x": value}))
    stored = write_rows("b.json", {"m": {"f1": {"threshold": 0.34}}, "k": {}})
    assert wice.read_threshold(stored, "m") == 0.34
    with pytest.raises(InputError, match="no threshold"):
        wice.read_threshold(stored, "k")
    with pytest.raises(InputError, match="no evaluation"):
        wice.read_threshold(stored, "z")


def page(facts: int, *results: tuple[int, str]) -> dict[str, Any]:
    found = [{"idx": index, "result": word} for index, word in results]
    return {"facts": ["f"] * facts, "validate_res": found}


def test_verdicts_belong_to_statements_by_position(write_rows: Callable[..., Path]) -> None:
    task = {"citations_deduped": {"u": page(3, (2, "supported"), (0, "unsupported"))}}
    file = write_rows("a.jsonl", task, {"citations_deduped": {}})
    assert deep_research.read_citations(file) == [["unsupported", "unknown", "supported"], []]
    for results in ([(1, "supported")], [(0, "supported"), (0, "unsupported")]):
        bad = write_rows("b.jsonl", {"citations_deduped": {"u": page(1, *results)}})
        with pytest.raises(InputError, match="no statement of its own"):
            deep_research.read_citations(bad)
    bad = write_rows("c.jsonl", {"citations_deduped": {"u": page(1, (0, "partially"))}})
    with pytest.raises(InputError, match="not a task"):
        deep_research.read_citations(bad)


def test_a_missing_score_is_an_error_and_not_zero(write_rows: Callable[..., Path]) -> None:
    row = dict.fromkeys(deep_research.DIMENSIONS, 0.5)
    assert deep_research.read_scores(write_rows("a.jsonl", row)) == [row]
    with pytest.raises(InputError, match="insight"):
        deep_research.read_scores(write_rows("a.jsonl", {**row, "insight": None}))


def test_an_empty_cell_is_missing_and_not_zero(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("model_name,Factuality,split,FEQA\nbart,1.0,test,\nbus,0,valid,0.5\n", "utf-8")
    rows = frank.read(file, "FEQA")
    assert [(row.metric, row.judged) for row in rows] == [(None, 1.0), (0.5, 0.0)]
    assert frank.metrics(file) == ["FEQA"]
    with pytest.raises(InputError, match="did you mean 'FEQA'"):
        frank.read(file, "FEQUA")
    file.write_text("model_name,Factuality,split,FEQA\nbart,1.0,test,n/a\n", "utf-8")
    with pytest.raises(InputError, match="no number"):
        frank.read(file, "FEQA")


def test_subtasks(write_rows: Callable[..., Path]) -> None:
    file = write_rows("a.jsonl", {"checkworthy": "factual"}, {"checkworthy": "opinion"})
    assert subtasks.read(file, "subtask2") == ["factual", "opinion"]
    with pytest.raises(InputError, match="'factual' is no label of subtask1"):
        subtasks.read(file, "subtask1")
