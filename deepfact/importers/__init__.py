"""Importers: files of a data set in, sources and claims out. The table of those that ship.

An importer is a function ``read(path: Path, *, when: datetime, **options) -> Imported``; its
options are checked against its signature. Third parties add theirs by the entry-point group
``deepfact.importers``. Modules are imported when a format is used, never before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from deepfact import plugins
from deepfact.errors import InputError, did_you_mean
from deepfact.importers.base import Imported

GROUP = "deepfact.importers"

FORMATS = {
    "scifact": "deepfact.importers.scifact:read",
    "factcheck-bench": "deepfact.importers.factcheck_bench:read",
    "citation-integrity": "deepfact.importers.citation_integrity:read",
    "expertqa": "deepfact.importers.expertqa:read",
    "factscore": "deepfact.importers.factscore:read",
    "wice": "deepfact.importers.wice:read",
    "veriscore": "deepfact.importers.veriscore:read",
    "averitec": "deepfact.importers.averitec:read",
    "halueval": "deepfact.importers.halueval:read",
    "deepfact-bench": "deepfact.importers.deepfact_bench:read",
    "research": "deepfact.importers.research:read",
    "report": "deepfact.importers.report:read",
    "jsonl": "deepfact.importers.generic:read_jsonl",
    "csv": "deepfact.importers.generic:read_csv",
    "parquet": "deepfact.importers.parquet:read",
    "hf": "deepfact.importers.hub:read",
}


class Importer(Protocol):
    """Reads the files of a data set; see `importer`."""

    def __call__(self, path: Path, **options: Any) -> Imported:
        """What the files at ``path`` hold."""
        ...


def importer(format: str) -> Importer:
    """The function that reads a format.

    Its options are keyword arguments; strings as a command line gives them are converted
    (``skip_bad="true"``). Every importer takes ``when``, an aware datetime: the date that its
    annotations carry.

    Raises:
        InputError: unknown format. The function raises it for an unknown option, and for files
            that are not of the format.
    """
    known = formats()
    if format not in known:
        raise InputError(f"unknown format {format!r}", fix=did_you_mean(format, known))

    def read(path: Path, **options: Any) -> Imported:
        imported: Imported = plugins.build(GROUP, FORMATS, format, {"path": path, **options})
        return imported

    return read


def formats() -> list[str]:
    """All formats that can be imported, sorted."""
    return plugins.kinds(GROUP, FORMATS)
