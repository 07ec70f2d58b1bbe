"""The JSON schema of a ledger document, for whoever writes one. Generated, never edited."""

from __future__ import annotations

from typing import Any

from deepfact.store.ledger_records import LedgerDocument

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def ledger_schema() -> dict[str, Any]:
    """The schema, as ``deepfact research schema`` prints it."""
    schema = LedgerDocument.model_json_schema(mode="validation")
    return {"$schema": DIALECT, **schema, "title": "deepfact research ledger"}
