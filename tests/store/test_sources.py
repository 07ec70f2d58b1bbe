"""Sources: named by the hash of their card, and checked each time they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import BenchmarkError, IntegrityError, RecordError
from deepfact.records import Source
from deepfact.store.sources import KeptSources, SourceStore, render


@pytest.fixture
def store(tmp_path: Path) -> SourceStore:
    return SourceStore(tmp_path / "sources")


def test_a_source_comes_back_as_it_was_added(store: SourceStore, make: Any) -> None:
    source = make.source("Die Mühle\r\nbrannte \u2028 1931. 水車", retrieved_at=make.WHEN)
    store.add(source)
    assert store[source.id] == source
    assert list(store) == [source.id]
    assert list(store.values()) == [source]
    assert len(store) == 1
    digest = source.id.removeprefix("sha256:")
    assert store.path(source.id) == store.folder / digest[:2] / f"{digest}.json"


def test_a_card_on_disk_can_be_read_by_people(store: SourceStore, make: Any) -> None:
    text = render(make.source("Die Mühle"))
    assert '\n "text": "Die Mühle"' in text
    assert json.loads(text)["title"] == "Mill history"


def test_adding_again_changes_nothing(store: SourceStore, make: Any) -> None:
    source = make.source()
    store.add(source)
    before = store.path(source.id).stat()
    store.add(source)
    assert store.path(source.id).stat().st_mtime_ns == before.st_mtime_ns


def test_an_id_that_is_not_the_hash_of_the_card_is_refused(store: SourceStore, make: Any) -> None:
    forged = make.source().model_copy(update={"text": "The mill was built in 1902."})
    with pytest.raises(BenchmarkError, match="is not the hash of its card"):
        store.add(forged)
    assert list(store) == []


def test_what_is_not_held_is_a_key_error(store: SourceStore, make: Any) -> None:
    with pytest.raises(KeyError):
        store[make.source().id]
    assert store.get(make.source().id) is None
    assert 7 not in store  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    "source_id", ["", "sha256:", "sha256:../../secret", "../../secret", "sha256:" + "A" * 64]
)
def test_what_is_no_hash_is_not_looked_up(store: SourceStore, source_id: str) -> None:
    store.folder.mkdir()
    path = store.path(source_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", encoding="utf-8")
    assert source_id not in store
    with pytest.raises(KeyError):
        store[source_id]


def test_a_changed_card_does_not_pass_for_the_source(store: SourceStore, make: Any) -> None:
    source = make.source()
    store.add(source)
    path = store.path(source.id)
    path.write_text(path.read_text("utf-8").replace("1898", "1902"), encoding="utf-8")
    with pytest.raises(IntegrityError, match="does not match its hash") as caught:
        store[source.id]
    assert caught.value.where == str(path)


def test_a_card_in_another_cards_place_is_noticed(store: SourceStore, make: Any) -> None:
    one, two = make.source("One."), make.source("Two.")
    store.add(one)
    store.add(two)
    store.path(one.id).write_text(render(two), encoding="utf-8")
    with pytest.raises(IntegrityError):
        store[one.id]


def test_a_truncated_card_is_noticed(store: SourceStore, make: Any) -> None:
    source = make.source()
    store.add(source)
    store.path(source.id).write_text(render(source)[:-20], encoding="utf-8")
    with pytest.raises(RecordError, match="not JSON"):
        store[source.id]


def test_a_version_sees_its_own_sources_only(store: SourceStore, make: Any) -> None:
    one, two = make.source("One."), make.source("Two.")
    store.add(one)
    store.add(two)
    view = SourceStore(store.folder, frozenset({one.id}))
    assert list(view) == [one.id]
    assert two.id not in view
    assert two.id in store
    with pytest.raises(KeyError):
        view[two.id]


def test_a_source_that_a_version_has_and_whose_file_is_gone_is_damage(
    store: SourceStore, make: Any
) -> None:
    """Not the same as a source nobody has: a verifier must not go on without it."""
    source = make.source()
    view = SourceStore(store.folder, frozenset({source.id}))
    with pytest.raises(IntegrityError, match="missing") as caught:
        list(view.values())
    assert caught.value.where == str(view.path(source.id))


def test_files_that_are_no_cards_are_not_listed(store: SourceStore, make: Any) -> None:
    store.add(make.source())
    for name in ("ab/notes.json", "ab/.half.json.x.part", "readme.txt"):
        path = store.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    assert list(store) == [make.source().id]
    assert len(list(store.values())) == 1


def test_kept_sources_read_once_and_stay_within_their_bound() -> None:
    cards = {s.id: s for s in (Source.create(title=t, text=t * 40) for t in "abc")}
    read: list[str] = []

    class Counting(dict[str, Source]):
        def __getitem__(self, key: str) -> Source:
            read.append(key)
            return super().__getitem__(key)

    kept = KeptSources(Counting(cards), characters=80)
    a, b, c = cards
    assert [kept[a], kept[b], kept[a]] == [cards[a], cards[b], cards[a]]
    assert read == [a, b]
    assert kept[c] == cards[c]  # over the bound: b, not used for longest, goes
    assert kept[a] == cards[a] and read == [a, b, c]
    assert kept[b] == cards[b] and read == [a, b, c, b]
    assert list(kept) == list(cards) and len(kept) == 3
    assert c in kept and "sha256:" not in kept
