"""Content-addressed sources: one JSON file a card, named by its hash, never changed.

``sources/9f/9f86d0....json``. Reading checks that the card still hashes to its name.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path

from deepfact.errors import BenchmarkError, IntegrityError
from deepfact.records import Source
from deepfact.store.files import read_record, write_many

_PREFIX = "sha256:"
_ID = re.compile(r"sha256:[0-9a-f]{64}")


class SourceStore(Mapping[str, Source]):
    """The sources of a benchmark by id. Read when asked for; no text is kept in memory."""

    def __init__(self, folder: Path, ids: frozenset[str] | None = None) -> None:
        """The sources in ``folder``: those of one version when its ``ids`` are given."""
        self.folder, self._ids = folder, ids

    def path(self, source_id: str) -> Path:
        """Where the card of a source lies."""
        digest = source_id.removeprefix(_PREFIX)
        return self.folder / digest[:2] / f"{digest}.json"

    def __getitem__(self, source_id: str) -> Source:
        """The source.

        Raises:
            KeyError: it is not held here.
            IntegrityError: its bytes are not those that its id names, or its file is missing.
        """
        path = self.path(source_id)
        if source_id not in self:
            if self._ids is not None and source_id in self._ids:
                raise IntegrityError("the file of this source is missing", where=str(path))
            raise KeyError(source_id)
        source = read_record(path, Source)
        if source.id != source_id or source.content_hash() != source_id:
            raise IntegrityError("the source does not match its hash", where=str(path))
        return source

    def __contains__(self, source_id: object) -> bool:
        if not isinstance(source_id, str) or not _ID.fullmatch(source_id):
            return False
        if self._ids is not None and source_id not in self._ids:
            return False
        return self.path(source_id).is_file()

    def __iter__(self) -> Iterator[str]:
        """The ids, sorted."""
        if self._ids is not None:
            return iter(sorted(self._ids))
        found = (f"{_PREFIX}{path.stem}" for path in sorted(self.folder.glob("??/*.json")))
        return (source_id for source_id in found if source_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def add(self, *sources: Source) -> None:
        """Keep sources; one that is here already is left as it is.

        Raises:
            BenchmarkError: the id of one is not the hash of its card; none was added.
        """
        for source in sources:
            if source.content_hash() != source.id:
                raise BenchmarkError(
                    f"the id of source {source.title!r} is not the hash of its card",
                    fix="leave the id out; Source.create works it out",
                )
        new = {self.path(source.id): source for source in sources}
        write_many(
            (path, render(source).encode("utf-8"))
            for path, source in new.items()
            if not path.is_file()
        )


class KeptSources(Mapping[str, Source]):
    """Sources as another mapping has them, with those read last kept in memory, up to a bound.

    For reading the same cards many times within a run; not for checking files.
    """

    def __init__(self, sources: Mapping[str, Source], characters: int = 64_000_000) -> None:
        """Keeps texts of at most ``characters`` in all, and always the source read last."""
        self._sources, self._bound = sources, characters
        self._kept: OrderedDict[str, Source] = OrderedDict()
        self._size = 0

    def __getitem__(self, source_id: str) -> Source:
        """The source; errors as those of the mapping behind."""
        source = self._kept.get(source_id)
        if source is None:
            source = self._kept[source_id] = self._sources[source_id]
            self._size += len(source.text)
            while self._size > self._bound and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1].text)
        else:
            self._kept.move_to_end(source_id)
        return source

    def __contains__(self, source_id: object) -> bool:
        return source_id in self._kept or source_id in self._sources

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def render(source: Source) -> str:
    """A card as it lies on disk: indented, so that a person can read it and git can diff it."""
    return json.dumps(json.loads(source.canonical()), ensure_ascii=False, indent=1) + "\n"
