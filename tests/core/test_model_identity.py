"""One model, however its id is written; two models, however alike they look."""

from __future__ import annotations

import pytest

from deepfact.core.model_identity import model_identity, same_model


@pytest.mark.parametrize(
    "written",
    [
        "claude-sonnet-4-5",
        "Claude-Sonnet-4.5",
        " claude-sonnet-4-5 ",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5-latest",
        "claude-sonnet-4-5@20250929",
        "anthropic/claude-sonnet-4.5",
        "anthropic/claude-sonnet-4.5:beta",
        "openrouter/anthropic/claude-sonnet-4-5",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "publishers/anthropic/models/claude-sonnet-4-5@20250929",
    ],
)
def test_ways_of_writing_one_model(written: str) -> None:
    assert model_identity(written) == "claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("models/smollm2.gguf", "smollm2"),
        ("C:\\models\\smollm2.gguf", "smollm2"),
        ("gpt-4.1-2025-04-14", "openai/gpt-4.1"),
        ("deepseek/deepseek-r1:free", "deepseek-r1"),
    ],
)
def test_further_pairs_that_are_one(one: str, other: str) -> None:
    assert same_model(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("claude-sonnet-4-5", "claude-opus-4-5"),
        ("claude-sonnet-4-5", "claude-sonnet-4"),
        ("llama3:8b", "llama3:70b"),
        ("deepseek-v3", "deepseek-v2"),
        ("gpt-4o", "gpt-4o-mini"),
        ("", ""),
        ("", "m"),
    ],
)
def test_pairs_that_are_two(one: str, other: str) -> None:
    assert not same_model(one, other)
