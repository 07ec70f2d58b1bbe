"""Croissant metadata of a snapshot: what its Parquet files hold, for tools that read it.

Croissant Format 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html): one
file object for each table, one record set with a field for each column; a column of records
becomes a field with sub-fields, each taken out of the record by a JSON path.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from deepfact.publish.facts import Facts
from deepfact.publish.tables import COLUMNS, NUMBER, TEXTS, Shape

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        term: f"cr:{term}"
        for term in (
            "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty",
            "fileObject", "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key",
            "md5", "parentField", "path", "recordSet", "references", "regex", "repeated",
            "replace", "samplingRate", "separator", "source", "subField", "transform",
        )
    },
}  # fmt: skip
"""The JSON-LD context that the specification asks for."""


def render_croissant(facts: Facts, files: Mapping[str, bytes], claims: int) -> str:
    """croissant.json.

    Args:
        facts: of the version.
        files: the tables by their path in the snapshot.
        claims: how many are published.
    """
    manifest = facts.manifest
    configs = [config for config in COLUMNS if f"data/{config}.parquet" in files]
    data = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.title,
        "description": f"{facts.title}, version {manifest.version}: {claims} claims with "
        "labels that say whether their sources support them, rationales, evidence and sources.",
        "version": f"{manifest.version}.0.0",
        "datePublished": f"{manifest.date:%Y-%m-%d}",
        "license": facts.licence.link,
        **({"url": facts.url} if facts.url else {}),
        "creator": [{"@type": "sc:Organization", "name": who} for who in facts.authors],
        "citeAs": f"{facts.title}, version {manifest.version}, state {manifest.state_hash}",
        **({"inLanguage": list(facts.languages)} if facts.languages else {}),
        "keywords": ["factuality", "fact-checking", "benchmark"],
        "isLiveDataset": False,
        "distribution": [_file(config, files) for config in configs],
        "recordSet": [_record_set(config) for config in configs],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _file(config: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    path = f"data/{config}.parquet"
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": f"{config}.parquet",
        "contentUrl": path,
        "contentSize": f"{len(files[path])} B",
        "encodingFormat": "application/x-parquet",
        "sha256": hashlib.sha256(files[path]).hexdigest(),
    }


def _record_set(config: str) -> dict[str, Any]:
    columns = COLUMNS[config]
    return {
        "@type": "cr:RecordSet",
        "@id": config,
        "name": config,
        "key": {"@id": f"{config}/id"},
        "field": [_field(config, column, *what) for column, what in columns.items()],
    }


def _field(config: str, column: str, shape: Shape, about: str) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{config}/{column}",
        "name": f"{config}/{column}",
        "description": about,
    }
    if isinstance(shape, str):
        return {
            **field,
            "dataType": "sc:Integer" if shape == NUMBER else "sc:Text",
            **({"repeated": True} if shape == TEXTS else {}),
            "source": _source(config, column),
        }
    parts = shape[0] if isinstance(shape, list) else shape
    return {
        **field,
        **({"repeated": True} if isinstance(shape, list) else {}),
        "subField": [
            {
                "@type": "cr:Field",
                "@id": f"{config}/{column}/{part}",
                "name": f"{config}/{column}/{part}",
                "dataType": "sc:Integer" if kind == NUMBER else "sc:Text",
                "source": {
                    **_source(config, column),
                    "transform": {"jsonPath": f"$.{part}"},
                },
            }
            for part, kind in parts.items()
        ],
    }


def _source(config: str, column: str) -> dict[str, Any]:
    return {
        "fileObject": {"@id": f"data/{config}.parquet"},
        "extract": {"column": column},
    }
