"""Prompts are found, versioned and locked."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepfact.errors import ConfigError, InputError, IntegrityError
from deepfact.prompts.library import LOCK, SHIPPED, find_prompts, load_prompt, read_lock, release
from deepfact.records import sha256_of


def test_the_shipped_prompts_are_there_and_released_as_they_stand() -> None:
    lock = read_lock(SHIPPED)
    # Those of verifiers that work in steps are counted in test_steps.
    named = sorted(name for name in lock if not name.startswith(("document/", "baseline/")))
    assert named == [
        "auditor/judge/v1",
        "auditor/transfer/v1",
        "verifier/bundled/v1",
        "verifier/split/v1",
    ]
    for identity, hashed in lock.items():
        prompt = load_prompt(identity)
        assert prompt.hash == hashed
        assert prompt.front.changed


def test_a_record_of_a_prompt_names_version_and_hash() -> None:
    ref = load_prompt("verifier/split/v1").ref
    assert (ref.name, ref.version) == ("verifier/split", 1)
    assert ref.hash == sha256_of((SHIPPED / "verifier/split/v1.md").read_text(encoding="utf-8"))


def test_without_a_version_the_newest_is_meant(folder: Path) -> None:
    second = folder / "verifier" / "mine" / "v10.md"
    text = (folder / "verifier/mine/v1.md").read_text(encoding="utf-8")
    second.write_text(text.replace("version: 1", "version: 10"), encoding="utf-8")
    (folder / "verifier/mine/v9.md").write_text(text.replace("version: 1", "version: 9"))
    assert load_prompt("verifier/mine", [folder]).id == "verifier/mine/v10"


def test_own_prompts_are_found_by_folder_and_by_path(folder: Path) -> None:
    by_name = load_prompt("verifier/mine/v1", [folder])
    by_path = load_prompt(str(folder / "verifier/mine/v1.md"))
    assert by_name.ref == by_path.ref
    assert list(find_prompts([folder]))[-1] == "verifier/split/v1"


def test_an_unknown_prompt_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="did you mean 'verifier/split/v1'") as caught:
        load_prompt("verifier/splitt/v1")
    assert caught.value.exit_code == 2


def test_a_released_version_that_was_edited_is_refused(folder: Path, spoil) -> None:
    assert release(load_prompt("verifier/mine/v1", [folder])) is True
    assert release(load_prompt("verifier/mine/v1", [folder])) is False
    spoil("Judge.", "Judge well.")
    with pytest.raises(IntegrityError, match="edited since") as caught:
        load_prompt("verifier/mine/v1", [folder])
    assert "v2.md" in caught.value.fix


def test_line_ends_do_not_change_a_hash(folder: Path) -> None:
    path = folder / "verifier/mine/v1.md"
    before = load_prompt("verifier/mine/v1", [folder]).hash
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_prompt("verifier/mine/v1", [folder]).hash == before


def test_a_broken_lock_is_an_error_with_its_line(folder: Path) -> None:
    (folder / LOCK).write_text("\nnonsense\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"prompts\.lock, line 2"):
        load_prompt("verifier/mine/v1", [folder])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# USER", "# Nobody", "not a prompt"),
        ("version: 1", "version: 0", "line 3, column 10: version"),
        ("changed:", "chagned:", "line 4, column 1: unknown key 'chagned'"),
        ("refuting:", "refuting: !!python/object:os.system", "invalid YAML"),
    ],
)
def test_a_malformed_file_is_refused(folder: Path, spoil, old, new, message) -> None:
    spoil(old, new)
    with pytest.raises(ConfigError, match=message):
        load_prompt("verifier/mine/v1", [folder])
