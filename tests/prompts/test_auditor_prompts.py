"""Prompts of auditors live by the rules of all prompts: table, schema, fences, lock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deepfact.cli.app import whole
from deepfact.errors import ConfigError
from deepfact.prompts.library import SHIPPED, Move, load_prompt, read_prompt
from deepfact.prompts.lint import lint_folder
from deepfact.prompts.render import ROLES

TEXT = (SHIPPED / "auditor/judge/v1.md").read_text(encoding="utf-8")


def spoilt(folder: Path, old: str, new: str) -> Path:
    path = folder / "auditor" / "judge" / "v1.md"
    path.parent.mkdir(parents=True)
    assert old in TEXT
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "check", "what"),
    [
        ("<side_a>\n{{side_a}}\n</side_a>", "{{side_a}}", "outside-fence", "outside <side_a>"),
        ("<side_b>\n{{side_b}}", "<side_a>\n{{side_b}}", "outside-fence", "outside <side_b>"),
        ("{{searches}}", "{{searches}} {{search}}", "unknown-variable", "{{search}}"),
        ("{{side_b}}", "", "missing-variable", "{{side_b}}"),
        ("a: a, b: b,", "a: a, B: b,", "labels", "'B' is not among the schema's 'decision'"),
        ("enum: [a, b, neither,", "enum: [a, b, neither, both,", "labels", "'both'"),
        ("evidence, label, decision]", "evidence, decision]", "schema", "'label'"),
        ("    queries:\n", "    searches:\n", "schema", "nothing reads the field 'searches'"),
        ("- `cannot_tell`:", "- `can_not_tell`:", "labels", "`can_not_tell`"),
        (
            "decision:\n  field: decision\n  moves: {a: a, b: b, neither: neither, "
            "cannot_tell: cannot_tell, search: search}",
            "verdict: {field: decision, labels: {a: supported}, refuting: []}",
            "schema",
            "needs a decision table",
        ),
    ],
)
def test_faults(tmp_path: Path, old: str, new: str, check: str, what: str) -> None:
    spoilt(tmp_path, old, new)
    problems = [(one.check, one.what) for one in lint_folder(tmp_path) if one.level == "error"]
    assert any(found == check and what in text for found, text in problems), problems


def test_a_prompt_has_one_table(tmp_path: Path) -> None:
    both = "verdict: {field: x, labels: {a: supported}, refuting: []}\noutput_schema:"
    path = spoilt(tmp_path, "output_schema:", both)
    with pytest.raises(ConfigError, match="either a verdict or a decision"):
        read_prompt(path, tmp_path)


def test_a_verifiers_prompt_with_a_decision_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "verifier" / "judge" / "v1.md"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT.replace("auditor/judge", "verifier/judge"), encoding="utf-8")
    assert any("needs a verdict table" in one.what for one in lint_folder(tmp_path))


def test_the_shipped_one_tells_all_moves_and_never_whose_a_side_is() -> None:
    prompt = load_prompt("auditor/judge")
    assert prompt.front.decision is not None
    assert set(prompt.front.decision.moves.values()) == set(Move)
    words = f"{prompt.system} {prompt.user}".lower()
    for marker in ("benchmark", "incumbent", "challeng", "micro", "gold", "control", "current"):
        assert marker not in words
    assert ROLES["auditor"].data >= {"side_a", "side_b", "sources", "claim"}


def test_it_is_shown_with_its_table() -> None:
    done = CliRunner().invoke(whole(), ["prompts", "show", "auditor/judge", "--json"])
    shown = json.loads(done.stdout)
    assert shown["decision"]["field"] == "decision" and "verdict" not in shown
