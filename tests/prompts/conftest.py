"""A folder of a user's own prompts, with one good prompt to spoil."""

from __future__ import annotations

from pathlib import Path

import pytest

GOOD = """---
name: verifier/mine
version: 1
changed: First version.
verdict:
  field: label
  labels: {supported: supported, contradictory: contradictory}
  refuting: [contradictory]
output_schema:
  type: object
  additionalProperties: false
  required: [claim_id, claim, rationale, grounds, evidence, label]
  properties:
    claim_id: {type: string}
    claim: {type: string}
    rationale: {type: string}
    grounds: {type: string, enum: [contradiction, none]}
    evidence: {type: array, items: {type: object}}
    label: {type: string, enum: [supported, contradictory]}
---

# SYSTEM
Judge. Set `label` to `supported` or `contradictory`.

# USER
Claim {{claim_id}}.

<claim>
{{claim}}
</claim>

<sources>
{{sources}}
</sources>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A prompts folder with ``verifier/mine/v1``."""
    path = tmp_path / "prompts" / "verifier" / "mine" / "v1.md"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD, encoding="utf-8")
    return tmp_path / "prompts"


@pytest.fixture
def spoil(folder: Path):
    """Replace words in the good prompt; gives the folder."""

    def change(old: str, new: str) -> Path:
        path = folder / "verifier" / "mine" / "v1.md"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        return folder

    return change
