"""The layout of help: plain, whole sentences, examples that can be copied."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Deepfact = Callable[..., subprocess.CompletedProcess[str]]


def test_every_command_is_listed_with_its_whole_first_sentence(deepfact: Deepfact) -> None:
    page = deepfact("--help").stdout
    assert "..." not in page.replace("[ARGS]...", "")
    assert "Compare verifiers on the same claims; running it again goes on" in page


@pytest.mark.parametrize("words", [("bench", "import"), ("score",), ("round", "run")])
def test_an_example_stands_on_one_line_however_long(
    deepfact: Deepfact, words: tuple[str, ...]
) -> None:
    page = deepfact(*words, "--help").stdout
    _, _, examples = page.partition("Examples:\n")
    lines = examples.strip().splitlines()
    assert len(lines) > 1
    assert all(line.strip().startswith("deepfact ") for line in lines), lines


def test_help_and_wrong_use_draw_no_boxes(deepfact: Deepfact) -> None:
    wrong = deepfact("bench", "log", "--jsn")
    assert wrong.returncode == 2
    assert "No such option" in wrong.stderr and "--jsn" in wrong.stderr
    said = deepfact("bench", "--help").stdout + wrong.stderr
    assert not set(said) & set("╭╮╰╯│─")
