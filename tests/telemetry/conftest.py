"""Listeners do not outlive a test, and the loopback servers can be imported."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepfact import telemetry

sys.path[:0] = [str(Path(__file__).parents[1] / "servers")]


@pytest.fixture(autouse=True)
def _nobody_listens(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    telemetry.close()
    yield
    telemetry.close()
    logger = logging.getLogger("opentelemetry")
    logger.handlers.clear()
    logger.propagate = True
