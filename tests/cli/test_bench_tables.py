"""``bench import`` of tables with several annotators: what is kept, shown, and told."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

MAPPING = """
fields: {text: claim}
annotators: [{who: second reader, label: label_2}]
licence: CC BY 4.0
url: https://example.org/checks
"""


@pytest.fixture
def table(desk):
    columns = {
        "id": ["a", "b"], "claim": ["A.", "B."], "label": ["supported", "contradictory"],
        "label_2": ["inconclusive", None],
    }  # fmt: skip
    parquet.write_table(pa.table(columns), desk / "c.parquet")
    (desk / "m.yaml").write_text(MAPPING, encoding="utf-8")
    return ("bench", "import", "parquet", "c.parquet", "--name", "mine", "--mapping", "m.yaml")


def test_other_annotators_labels_are_kept_and_shown(desk, deepfact, table):
    done = deepfact(*table)
    assert done.returncode == 0, done.stderr
    assert "1 labels of other annotators kept in annotators.jsonl" in done.stdout
    shown = deepfact("bench", "show", "mine", "a")
    assert "another annotator, second reader: inconclusive" in shown.stdout
    told = json.loads(deepfact("bench", "show", "mine", "a", "--json").stdout)
    assert [one["label"] for one in told["further"]] == ["inconclusive"]
    assert "further" not in json.loads(deepfact("bench", "show", "mine", "b", "--json").stdout)
    assert deepfact("bench", "verify", "mine").returncode == 0
    card = (desk / "benchmarks" / "mine" / "README.md").read_text("utf-8")
    assert "CC BY 4.0" in card and "From: https://example.org/checks" in card
    assert "1 claims have labels of other annotators" in card


def test_importing_again_keeps_nothing_twice_and_repairs_what_is_gone(desk, deepfact, table):
    deepfact(*table)
    kept = desk / "benchmarks" / "mine" / "annotators.jsonl"
    before = kept.read_bytes()
    again = deepfact(*table)
    assert again.returncode == 0 and "nothing new" in again.stdout
    assert kept.read_bytes() == before
    kept.unlink()  # as when the first import was killed before it
    assert "1 labels of other annotators" in deepfact(*table).stdout


def test_a_dry_run_writes_nothing(desk, deepfact, table):
    assert deepfact(*table, "--dry-run").returncode == 0
    assert not (desk / "benchmarks" / "mine").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("parquet", "m.yaml"), "Parquet that cannot be read"),
        (("csv", "c.parquet"), "this is a Parquet file"),
        (("hf", "owner/name"), "nothing is fetched from the Hub"),
        (("parquet", "c.parquet", "-o", "encoding=utf-8"), "unknown option|no option"),
    ],
)
def test_mistakes_are_told_without_a_traceback(desk, deepfact, table, words, told):
    done = deepfact("bench", "import", *words, "--name", "other")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert any(part in done.stderr for part in told.split("|")), done.stderr
    assert not (desk / "benchmarks" / "other").exists()
