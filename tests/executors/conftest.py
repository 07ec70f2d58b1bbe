"""Makes the loopback server importable here, and holds what these tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deepfact.store.responses import ResponseStore

sys.path[:0] = [str(Path(__file__).parents[1] / "servers"), str(Path(__file__).parent)]


@pytest.fixture
def store(tmp_path: Path):
    """An empty response store."""
    with ResponseStore(tmp_path / "responses.sqlite") as store:
        yield store


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
