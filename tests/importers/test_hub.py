"""Data sets of the `datasets` library: from folders as they are published, no network unasked."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import datasets
import pytest

from deepfact.errors import InputError
from deepfact.importers import hub, importer
from deepfact.records import Label

WHEN = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


MAPPING = """
fields: {text: claim}
labels: {SUPPORTS: supported, REFUTES: contradictory}
annotators: [{who: crowd, label: votes}]
"""


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "m.yaml"
    path.write_text(MAPPING, encoding="utf-8")
    return path


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder as the library publishes one: Parquet with numbered labels, two splits, a card."""
    folder = tmp_path / "set"
    named = datasets.ClassLabel(names=["SUPPORTS", "REFUTES"])
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "claim": datasets.Value("string"),
            "label": named,
            "votes": datasets.Sequence(named),
            "vector": datasets.Sequence(datasets.Value("float32")),
        }
    )
    for split, label in (("train", 0), ("test", 1)):
        rows = {
            "id": [f"{split}-1", f"{split}-2"], "claim": ["A.", "B."], "label": [label, -1],
            "votes": [[0, 1], []], "vector": [[0.5], [0.5]],
        }  # fmt: skip
        table = datasets.Dataset.from_dict(rows, features=features)
        (folder / "data").mkdir(parents=True, exist_ok=True)
        table.to_parquet(str(folder / "data" / f"{split}-00000.parquet"))
    return folder


def test_numbered_labels_are_read_by_their_names(published: Path, mapping: Path) -> None:
    out = importer("hf")(published, when=WHEN, mapping=mapping, split="test")
    (first, annotation), (_, none) = out.claims
    assert first.id == "test-1" and none is None
    assert annotation and annotation.label is Label.CONTRADICTORY
    assert annotation.original_label == "REFUTES"
    assert [one.label for one in out.further["test-1"]] == [Label.SUPPORTED, Label.CONTRADICTORY]
    assert out.notes[-1] == "Read from the folder set (split test)."
    assert "Columns not imported: 'vector'." in out.notes


def test_the_split_is_never_guessed(published: Path, mapping: Path) -> None:
    with pytest.raises(InputError, match="has 2 splits: test, train") as told:
        hub.read(published, when=WHEN, mapping=mapping)
    assert "-o split=" in told.value.fix
    with pytest.raises(InputError, match="no split 'tset'") as told:
        hub.read(published, when=WHEN, mapping=mapping, split="tset")
    assert "did you mean 'test'?" in told.value.fix


def test_a_folder_of_json_lines_is_one_split(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    row = {"id": "a", "text": "A.", "label": "supported"}
    (folder / "claims.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    out = hub.read(folder, when=WHEN)
    assert [claim.id for claim, _ in out.claims] == ["a"]


def test_nothing_is_fetched_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: pytest.fail("it was asked"))
    for name in ("owner/name", "hf:owner/name"):
        with pytest.raises(InputError, match="nothing is fetched from the Hub unless") as told:
            hub.read(Path(name), when=WHEN)
        assert told.value.where == "owner/name" and "download=true" in told.value.fix


def test_offline_is_told(mapping: Path) -> None:
    with pytest.raises(InputError, match="datasets cannot load it"):
        hub.read(Path("owner/name"), when=WHEN, mapping=mapping, download=True)


def test_what_the_hub_says_goes_into_the_card(
    published: Path, mapping: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = datasets.load_dataset
    asked: dict[str, Any] = {}

    def loaded(name: str, config: str | None, **options: Any) -> Any:
        asked.update(options, name=name, config=config)
        parts = plain(str(published), streaming=True)
        for part in parts.values():
            part.info.license, part.info.version = "cc-by-4.0", "1.2.0"
        return parts

    monkeypatch.setattr(datasets, "load_dataset", loaded)
    out = hub.read(
        Path("hf:owner/name"), when=WHEN, mapping=mapping, config="full", split="train",
        revision="abc", download=True,
    )  # fmt: skip
    assert asked == {"name": "owner/name", "config": "full", "revision": "abc", "streaming": True}
    assert out.licence == "cc-by-4.0"
    assert out.origin == "https://huggingface.co/datasets/owner/name"
    assert "config full, split train" in out.notes[-1]


def test_scripts_are_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "scripted"
    folder.mkdir()
    (folder / "scripted.py").write_text("raise SystemExit('it ran')\n", encoding="utf-8")
    with pytest.raises(InputError, match="comes with a script, which is not run"):
        hub.read(folder, when=WHEN)


@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing of it PAR1"])
def test_a_broken_file_in_the_folder_is_told(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "train.parquet").write_bytes(content)
    with pytest.raises(InputError, match="datasets cannot load it"):
        hub.read(folder, when=WHEN)


def test_a_row_that_is_wrong_has_its_place(published: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "w.yaml"
    mapping.write_text("fields: {text: claim}\nlabels: {NEI: supported}\n", encoding="utf-8")
    with pytest.raises(InputError, match="unknown label 'SUPPORTS'") as told:
        hub.read(published, when=WHEN, mapping=mapping, split="train")
    assert told.value.where.endswith("set, row 1")
