"""Each fault of a prompt is found before it costs a call."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepfact.prompts.library import LOCK, SHIPPED, load_prompt, release
from deepfact.prompts.lint import lint_folder


def _errors(folder: Path) -> list[tuple[str, str]]:
    return [(one.check, one.what) for one in lint_folder(folder) if one.level == "error"]


def test_the_shipped_prompts_have_no_problem_at_all() -> None:
    assert lint_folder(SHIPPED) == []


def test_a_good_draft_gets_a_warning_only(folder: Path) -> None:
    problems = lint_folder(folder)
    assert [(one.check, one.level) for one in problems] == [("lock", "warning")]
    release(load_prompt("verifier/mine/v1", [folder]))
    assert lint_folder(folder) == []


@pytest.mark.parametrize(
    ("old", "new", "check", "what"),
    [
        ("{{claim_id}}", "{{claimid}}", "unknown-variable", "{{claimid}}"),
        ("{{claim_id}}", "", "missing-variable", "{{claim_id}}"),
        ("{{sources}}", "", "missing-variable", "{{sources}}"),
        ("<claim>\n{{claim}}\n</claim>", "{{claim}}", "outside-fence", "outside <claim>"),
        ("<claim>\n{{claim}}\n</claim>", "<claim>\n</claim>\n{{claim}}", "outside-fence", ""),
        ("<claim>\n{{claim}}", "<claim>\n<b>\n{{claim}}\n</b>", "outside-fence", "outside <claim>"),
        ("<sources>", "<claim>", "outside-fence", "outside <sources>"),
        ("Judge.", "Judge {{claim}}.", "outside-fence", "system part"),
        ("`contradictory`", "`refuted`", "labels", "`refuted`"),
        ("contradictory: contradictory}", "wrong: contradictory}", "labels", "'wrong'"),
        ("refuting: [contradictory]", "refuting: [refuted]", "labels", "'refuted'"),
        ("enum: [supported, contradictory]", "enum: [supported]", "labels", "'contradictory'"),
        ("items: {type: object}", "items: {type: object}, minItems: 1", "schema", "minItems"),
        ("additionalProperties: false", "additionalProperties: true", "schema", "closed object"),
        ("rationale, grounds,", "grounds,", "schema", "'rationale'"),
        ("changed: First version.", "changed: ''", "changed", "what changed"),
        ("version: 1", "version: 2", "identity", "verifier/mine/v2"),
        ("verifier/mine", "judge/mine", "role", "'judge'"),
    ],
)
def test_faults(folder: Path, spoil, old: str, new: str, check: str, what: str) -> None:
    spoil(old, new)
    assert any(found == check and what in text for found, text in _errors(folder))


def test_a_verdict_nobody_explains_is_a_warning(folder: Path, spoil) -> None:
    spoil(" or `contradictory`", "")
    assert any("never explained" in one.what for one in lint_folder(folder))
    assert _errors(folder) == []


def test_a_changed_or_vanished_release_is_an_error(folder: Path, spoil) -> None:
    release(load_prompt("verifier/mine/v1", [folder]))
    spoil("Judge.", "Judge again.")
    assert _errors(folder) == [("lock", "a released version was changed")]
    (folder / "verifier/mine/v1.md").unlink()
    assert _errors(folder) == [("lock", "a released version is gone")]


def test_a_file_that_is_no_prompt_and_a_broken_lock_are_problems_not_tracebacks(
    folder: Path, spoil
) -> None:
    spoil("# SYSTEM", "# SISTEM")
    assert [check for check, _ in _errors(folder)] == ["form"]
    (folder / LOCK).write_text("x", encoding="utf-8")
    assert [check for check, _ in _errors(folder)] == ["lock"]
