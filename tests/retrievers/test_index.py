"""Indexes: made once, used again, never trusted when damaged, never more than their folder."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest

from deepfact.errors import InputError
from deepfact.records import Source
from deepfact.retrievers import index as index_module
from deepfact.retrievers.index import build_index
from deepfact.retrievers.index_files import IndexStore, default_folder


def stored(folder: Path) -> Path:
    (path,) = (p for p in folder.iterdir() if not p.name.startswith("."))
    return path


def test_an_index_is_made_once_and_read_back_memory_mapped(tmp_path, corpus, letters) -> None:
    store = IndexStore(tmp_path / "ix")
    made = store.open(corpus, letters)
    assert store.made and letters.embedded == 7
    again = store.open(corpus, letters)
    assert not store.made and letters.embedded == 7
    assert isinstance(again.places, numpy.memmap) and isinstance(again.vectors, numpy.memmap)
    fresh = build_index(corpus, letters)
    for one in (made, again):
        assert numpy.array_equal(one.places, fresh.places)
        assert numpy.array_equal(one.vectors, fresh.vectors)
        assert list(one.bm25_scores("mill flood")) == list(fresh.bm25_scores("mill flood"))


def test_no_text_of_a_source_is_stored(tmp_path, corpus, letters) -> None:
    IndexStore(tmp_path / "ix").open(corpus, letters)
    for path in (tmp_path / "ix").rglob("*"):
        assert not path.is_file() or b"mayor resigned" not in path.read_bytes()


@pytest.mark.parametrize("texts", [[], [""], ["the of and"]])
def test_an_index_of_nothing_can_be_kept(tmp_path, letters, texts) -> None:
    sources = {s.id: s for s in (Source.create(title="t", text=text) for text in texts)}
    store = IndexStore(tmp_path / "ix")
    store.open(sources, letters)
    made = store.open(sources, letters)
    assert not store.made and list(made.bm25_scores("river")) == [0.0] * len(made)


def test_what_decides_the_index_is_in_its_key(tmp_path, corpus, letters, monkeypatch) -> None:
    store = IndexStore(tmp_path / "ix")
    keys = {store.open(corpus, letters).key, store.open(corpus).key}
    letters.name = "letters 2"
    keys.add(store.open(corpus, letters).key)
    fewer = dict(list(corpus.items())[:2])
    keys.add(store.open(fewer).key)
    keys.add(store.open(dict(reversed(fewer.items()))).key)  # order decides between equal scores
    monkeypatch.setattr(index_module, "K1", 1.5)
    keys.add(store.open(corpus).key)
    assert len(keys) == 6


def damage(path: Path, how: str) -> None:
    """Break a stored index."""
    target = path / how.partition(":")[0]
    if how.endswith(":flip"):
        data = bytearray(target.read_bytes())
        data[-3] ^= 1
        target.write_bytes(bytes(data))
    elif how.endswith(":cut"):
        target.write_bytes(target.read_bytes()[:-5])
    elif how.endswith(":gone"):
        target.unlink()


DAMAGES = [
    "vectors.npy:flip", "vectors.npy:cut", "places.npy:flip", "places.npy:gone",
    "bm25/data.csc.index.npy:flip", "bm25/vocab.index.json:cut", "index.json:cut",
    "index.json:gone",
]  # fmt: skip


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_index_is_made_anew_and_that_is_said(tmp_path, corpus, letters, how) -> None:
    said: list[str] = []
    store = IndexStore(tmp_path / "ix", say=said.append)
    store.open(corpus, letters)
    damage(stored(tmp_path / "ix"), how)
    assert [bool(one.problem) for one in store.stats()] == [True]
    made = store.open(corpus, letters)
    assert store.made and len(said) == 1 and "made anew" in said[0]
    assert how.partition(":")[0].rpartition("/")[2] in said[0]
    assert numpy.array_equal(made.vectors, build_index(corpus, letters).vectors)
    store.open(corpus, letters)
    assert not store.made and len(said) == 1


class Bomb:
    """Would leave a file behind if it were ever unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (Path(self.path),)


def test_a_pickle_with_the_right_hash_is_not_run(tmp_path, corpus, letters) -> None:
    store = IndexStore(tmp_path / "ix", say=lambda _: None)
    store.open(corpus, letters)
    path = stored(tmp_path / "ix")
    proof = tmp_path / "proof"
    data = numpy.array([Bomb(str(proof))], dtype=object)
    numpy.save(path / "vectors.npy", data, allow_pickle=True)
    info = json.loads((path / "index.json").read_text())
    body = (path / "vectors.npy").read_bytes()
    info["files"]["vectors.npy"] = {
        "size": len(body), "sha256": hashlib.sha256(body).hexdigest()
    }  # fmt: skip
    (path / "index.json").write_text(json.dumps(info))
    assert store.stats()[0].problem == ""
    made = store.open(corpus, letters)
    assert store.made and made.vectors.shape == (7, 26)
    assert not proof.exists()
    pickle.loads(pickle.dumps(Bomb(str(proof))))  # the bomb is one
    assert proof.exists()


def test_sources_that_an_older_index_holds_are_not_embedded_again(
    tmp_path, corpus, letters
) -> None:
    store = IndexStore(tmp_path / "ix")
    store.open(corpus, letters)
    before = letters.embedded
    added = Source.create(title="new", text="A bridge was closed. It had cracks.")
    grown = {added.id: added, **corpus}
    made = store.open(grown, letters)
    assert store.made and letters.embedded - before == 2
    fresh = build_index(grown, letters)
    assert numpy.array_equal(made.vectors, fresh.vectors)
    assert numpy.array_equal(made.places, fresh.places)


BUILD = """
import sys
from pathlib import Path
from deepfact.records import Source
from deepfact.retrievers.index_files import IndexStore
made = [Source.create(title=str(n), text=f"Sentence {n} of the river. Word{n} again.")
        for n in range(300)]
store = IndexStore(Path(sys.argv[1]))
index = store.open({s.id: s for s in made})
print(int(store.made), len(index))
"""


def test_several_processes_make_one_index(tmp_path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", BUILD, str(tmp_path / "ix")], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    answers = sorted(process.communicate(timeout=60)[0].split() for process in running)
    assert answers == [["0", "600"]] * 3 + [["1", "600"]]
    assert not list((tmp_path / "ix").glob(".making-*"))


def test_prune_deletes_what_is_unused_and_nothing_else(tmp_path, corpus, letters) -> None:
    folder = tmp_path / "ix"
    store = IndexStore(folder)
    old, new = store.open(corpus, letters).key, store.open(corpus).key
    month_ago = time.time() - 31 * 86400
    os.utime(store.path(old) / "index.json", (month_ago, month_ago))
    (folder / "thesis").mkdir()
    (folder / "thesis" / "index.json").write_text("{}")
    assert len(store.stats()) == 2
    assert [one.path for one in store.prune(unused_days=30)] == [store.path(old)]
    assert store.path(new).is_dir() and not store.path(old).exists()
    assert len(store.prune()) == 1 and store.prune() == [] and store.stats() == []
    assert (folder / "thesis" / "index.json").is_file()
    assert IndexStore(tmp_path / "nowhere").stats() == []


def test_a_place_that_cannot_be_written_is_an_error_with_its_name(tmp_path, corpus) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="indexes cannot be kept here"):
        IndexStore(tmp_path / "file" / "ix").open(corpus)


def test_the_default_folder_can_be_moved(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("DEEPFACT_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "indexes"
    monkeypatch.delenv("DEEPFACT_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_folder() == tmp_path / "cache" / "deepfact" / "indexes"
