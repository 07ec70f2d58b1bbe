"""The local verifier's table: what is measured, how it is written, that the documents say it."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import InputError
from deepfact.records import Label
from deepfact.training import evaluate, measured
from deepfact.training.evaluate import (
    PLACE,
    measure_all,
    put_into,
    shares_of,
    table_row,
    tables_of,
)
from deepfact.training.measured import DOCUMENTS, MeasuredSet, read_sets, searched
from deepfact.verifiers.local.model import shipped_weights

ROOT = Path(__file__).parents[2]
DOCUMENTED = ROOT / "docs" / "local-verifier.md"


@pytest.fixture
def small(make: Any) -> MeasuredSet:
    mill, cats = make.source(), make.source("Cats sleep most of the day.")
    claims = [make.claim("c1", cites=(cats.id,)),
              make.claim("c2", text="Cats sleep most of the day.", cites=(mill.id,))]  # fmt: skip
    sources = {mill.id: mill, cats.id: cats}
    return MeasuredSet("small", claims, sources, {"c1": Label.SUPPORTED, "c2": Label.SUPPORTED})


def test_a_search_gives_claims_what_bears_on_them(
    small: MeasuredSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "DOCUMENTS", 1)
    found = searched(small, "bm25")
    before = {s.verifier: s.accuracy.k for s, _ in measure_all([small])}
    after = {s.verifier: s.accuracy.k for s, _ in measure_all([found])}
    assert (before["overlap"], after["overlap"]) == (0, 2)
    assert before["majority"] == after["majority"] == 2
    assert found.name == "small, found by bm25" and small.claims[0].cites != found.claims[0].cites


def test_the_verifier_that_is_told_shares_is_told_the_key_of_the_set(small: MeasuredSet) -> None:
    key = {"c1": Label.SUPPORTED, "c2": Label.INCONCLUSIVE}
    shares = shares_of(replace(small, key=key))
    assert shares[Label.SUPPORTED] == shares[Label.INCONCLUSIVE] > shares[Label.CONTRADICTORY] > 0
    assert sum(shares.values()) == pytest.approx(1.0)
    two_way = shares_of(replace(small, key=key, two_way=True))
    prior = shipped_weights().prior
    assert two_way[Label.SUPPORTED] == pytest.approx(0.5)
    assert two_way[Label.CONTRADICTORY] / two_way[Label.INCONCLUSIVE] == pytest.approx(
        prior[Label.CONTRADICTORY] / prior[Label.INCONCLUSIVE]
    )


def test_a_document_is_updated_in_its_places_alone(small: MeasuredSet) -> None:
    sheets = [sheet for sheet, _ in measure_all([small])]
    before = (
        "a\n<!-- measured: full -->\nold\n<!-- end -->\nb\n<!-- measured: short -->\n<!-- end -->\n"
    )
    after = put_into(before, sheets)
    tables = tables_of(sheets)
    assert after == (
        f"a\n<!-- measured: full -->\n{tables['full']}<!-- end -->\n"
        f"b\n<!-- measured: short -->\n{tables['short']}<!-- end -->\n"
    )
    assert put_into(after, sheets) == after
    assert tables["full"].count("| small |") == 5 and tables["short"].count("| small |") == 1
    for text in ("no place", "<!-- measured: long -->\n<!-- end -->\n"):
        with pytest.raises(InputError, match="no place"):
            put_into(text, sheets)


def test_every_line_has_n_unverified_and_intervals(small: MeasuredSet) -> None:
    (sheet, _), *_ = measure_all([small])
    cells = table_row(sheet).strip("| ").split(" | ")
    assert cells[:4] == ["small", "local", "2", "0"]
    assert all("[" in cell and "]" in cell for cell in cells[4:])


def test_the_command_prints_and_updates(
    small: MeasuredSet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setattr(evaluate, "read_sets", lambda *_: [small])
    document = tmp_path / "d.md"
    document.write_text("<!-- measured: short -->\n<!-- end -->\n", "utf-8")
    words = ["--data", "x", "--update", str(document), "--json", str(tmp_path / "s.json")]
    assert evaluate.main(words) == 0
    assert capsys.readouterr().out.count("| small |") == 5
    assert "| small |" in document.read_text("utf-8") and (tmp_path / "s.json").is_file()
    assert evaluate.main(["--data", "x", "--short"]) == 0
    assert capsys.readouterr().out.count("| small |") == 1


def documented(name: str) -> list[str]:
    """The lines of docs/local-verifier.md about one set."""
    lines = DOCUMENTED.read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith(f"| {name} |")]


CHECKED = (
    "SciFact dev, cited", "SciFact dev, found by bm25", "Factcheck-Bench, cited",
    "Factcheck-Bench, found by bm25", "ExpertQA (not held out), found by bm25", "WiCE (2-way)",
    "AVeriTeC dev, answers",
    "deepfact-mini@1, author's key",
)  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("name", CHECKED)
def test_the_table_in_the_documents_is_what_the_command_gives(name: str, data_dir: Path) -> None:
    found = next(s for s in read_sets(data_dir, ROOT / "benchmarks" / "deepfact-mini")
                 if s.name == name)  # fmt: skip
    sheets = [sheet for sheet, _ in measure_all([found])]
    assert [table_row(sheet) for sheet in sheets] == documented(name)
    short = tables_of(sheets)["short"].splitlines()[-1]
    assert short in (ROOT / "README.md").read_text("utf-8").splitlines()


@pytest.mark.data
@pytest.mark.skipif(importlib.util.find_spec("wordllama") is None, reason="needs the extra dense")
def test_the_hybrid_rows_are_too(data_dir: Path) -> None:
    name = "SciFact dev, found by hybrid"
    found = next(s for s in read_sets(data_dir, retrievers=("hybrid",)) if s.name == name)
    assert [table_row(sheet) for sheet, _ in measure_all([found])] == documented(name)


@pytest.mark.data
def test_the_whole_sample_corpus_is_searched(data_dir: Path) -> None:
    cited, found = (s for s in read_sets(data_dir) if s.name.startswith("SciFact"))
    assert len(found.sources) == 854
    uncited = set(found.sources) - {one for claim in cited.claims for one in claim.cites}
    assert uncited & {one for claim in found.claims for one in claim.cites}  # distractors do win
    assert all(len(claim.cites) == DOCUMENTS for claim in found.claims)


def test_documents_hold_the_places_and_label_what_is_not_held_out() -> None:
    text = DOCUMENTED.read_text("utf-8")
    places = [match[2] for match in PLACE.finditer(text)]
    assert places == ["full"]
    assert [m[2] for m in PLACE.finditer((ROOT / "README.md").read_text("utf-8"))] == ["short"]
    rows = [line for line in text.splitlines() if line.startswith("| ExpertQA")]
    assert rows and all("not held out" in row for row in rows)
