"""The folder of local models: adding, listing, finding, and what is wrong with them."""

from __future__ import annotations

import dataclasses
import json
from hashlib import sha256
from pathlib import Path

import pytest

from deepfact.errors import InputError, IntegrityError, NewerSchemaError, RecordError
from deepfact.models import registry
from deepfact.models.registry import (
    OFFICIAL,
    add_model,
    find_model,
    list_models,
    models_folder,
    state_of,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def official(make_gguf, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up file that the registry knows as the official Toy."""
    path = make_gguf("toy-official.gguf", {"general.name": "official"})
    entry = dataclasses.replace(
        OFFICIAL[0],
        name="Maker/Toy",
        file="toy-official.gguf",
        sha256=f"sha256:{sha256(path.read_bytes()).hexdigest()}",
        licence="MIT",
    )
    monkeypatch.setattr(registry, "OFFICIAL", (entry,))
    return path


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_an_unknown_file_is_copied_and_marked_unknown(make_gguf, folder: Path) -> None:
    path = make_gguf("my model (1).gguf", {"general.license": "apache-2.0"})
    model = add_model(path, folder=folder)
    assert (model.name, model.file) == ("my-model-1", "my-model-1.gguf")
    assert (model.known, model.licence) == (None, "apache-2.0")
    assert model.sha256 == f"sha256:{sha256(path.read_bytes()).hexdigest()}"
    assert (folder / model.file).read_bytes() == path.read_bytes()
    assert list_models(folder) == (model,)
    assert _names(folder) == ["models.json", "my-model-1.gguf"]
    assert find_model("my-model-1", folder=folder) == (model, folder / model.file)


def test_a_known_sum_gives_the_official_name_whatever_the_file_is_called(
    official: Path, folder: Path
) -> None:
    other = official.rename(official.with_name("download (3).gguf"))
    model = add_model(other, folder=folder)
    assert (model.name, model.known, model.licence) == ("toy-official", "Maker/Toy", "MIT")


@pytest.mark.parametrize("file", ["toy-official.gguf", "TOY-Official.GGUF"])
def test_an_official_name_with_another_sum_is_refused(
    official: Path, make_gguf, folder: Path, file: str
) -> None:
    impostor = make_gguf(file, {"general.name": "impostor"})
    with pytest.raises(InputError, match="named like Maker/Toy") as caught:
        add_model(impostor, folder=folder)
    assert caught.value.exit_code == 2
    assert "--allow-unknown" in caught.value.fix
    assert list_models(folder) == ()
    assert _names(folder) == []  # nothing half-added is left
    assert add_model(impostor, folder=folder, allow_unknown=True).known is None


def test_an_official_name_cannot_be_taken_with_name_either(
    official: Path, make_gguf, folder: Path
) -> None:
    with pytest.raises(InputError, match="named like Maker/Toy"):
        add_model(make_gguf("innocent.gguf"), name="Toy-Official", folder=folder)


def test_adding_twice_changes_nothing_and_another_file_of_the_name_is_refused(
    make_gguf, folder: Path
) -> None:
    path = make_gguf("a.gguf")
    model = add_model(path, folder=folder)
    assert add_model(path, folder=folder) == model
    other = make_gguf("b.gguf", weights=9)
    with pytest.raises(InputError, match="another model is called 'a'"):
        add_model(other, name="A", folder=folder)
    assert list_models(folder) == (model,)
    assert (folder / "a.gguf").read_bytes() == path.read_bytes()


def test_a_file_put_into_the_folder_by_hand_can_be_added_but_not_overwritten(
    make_gguf, folder: Path
) -> None:
    folder.mkdir()
    placed = make_gguf("a.gguf").rename(folder / "a.gguf")
    with pytest.raises(InputError, match="not in its list"):
        add_model(make_gguf("other.gguf", weights=9), name="a", folder=folder)
    assert add_model(placed, folder=folder).file == "a.gguf"
    assert find_model("a", folder=folder)[1] == placed


@pytest.mark.parametrize("link", ["hard", "symlink"])
def test_links_take_no_copy(make_gguf, folder: Path, link: registry.Link) -> None:
    path = make_gguf("a.gguf")
    add_model(path, link=link, folder=folder)
    kept = folder / "a.gguf"
    assert kept.samefile(path)
    assert kept.is_symlink() == (link == "symlink")


def test_progress_is_told_up_to_the_end(make_gguf, folder: Path) -> None:
    path = make_gguf()
    told: list[tuple[int, int]] = []
    add_model(path, folder=folder, progress=lambda done, size: told.append((done, size)))
    size = path.stat().st_size
    assert told[-1] == (size, size)


@pytest.mark.parametrize("name", ["../up", "a/b", "a\\b", "", ".hidden", "a b", "a\n", "C:x"])
def test_a_name_is_never_a_path(make_gguf, folder: Path, name: str) -> None:
    add_model(make_gguf("a.gguf"), folder=folder)
    with pytest.raises(InputError, match="is not the name of a model"):
        find_model(name, folder=folder)
    if name:
        with pytest.raises(InputError, match="cannot be the name of a model"):
            add_model(make_gguf("b.gguf"), name=name, folder=folder)


def test_an_unknown_name_gets_a_hint(make_gguf, folder: Path) -> None:
    with pytest.raises(InputError, match="none is there yet"):
        find_model("qwen", folder=folder)
    add_model(make_gguf("qwen.gguf"), folder=folder)
    with pytest.raises(InputError, match="did you mean 'qwen'"):
        find_model("quen", folder=folder)


def test_a_part_of_a_split_model_is_refused(make_gguf, folder: Path) -> None:
    with pytest.raises(InputError, match="one of 3 files"):
        add_model(make_gguf(metadata={"split.count": 3}), folder=folder)
    assert not folder.exists()


def test_a_model_that_vanished_or_changed_is_noticed(make_gguf, folder: Path) -> None:
    path = make_gguf("a.gguf")
    model = add_model(path, folder=folder)
    kept = folder / "a.gguf"
    data = kept.read_bytes()
    kept.write_bytes(data[:-1] + b"?")  # same size: only the sum tells
    assert state_of(model, folder) == "ok"
    with pytest.raises(IntegrityError, match="not the one that was added"):
        find_model("a", folder=folder)
    kept.write_bytes(data + b"?")
    assert state_of(model, folder) == "changed"
    kept.unlink()
    assert state_of(model, folder) == "missing"
    with pytest.raises(InputError, match="is gone"):
        find_model("a", folder=folder)
    replacement = add_model(make_gguf("b.gguf", weights=9), name="a", folder=folder)
    assert list_models(folder) == (replacement,)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"models": [{"name": "a"}]}',
        '{"models": [{"name": "a", "file": "../../etc/passwd.gguf", "bytes": 1, "sha256": "sha256:'
        + "0" * 64
        + '"}]}',
    ],
)
def test_a_damaged_list_says_what_to_do(make_gguf, folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "models.json").write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match="delete this file") as caught:
        list_models(folder)
    assert "models.json" in caught.value.where
    with pytest.raises(RecordError):
        add_model(make_gguf("a.gguf"), folder=folder)
    assert (folder / "models.json").read_text(encoding="utf-8") == text
    assert _names(folder) == ["models.json"]


def test_a_newer_list_is_not_called_damaged(folder: Path) -> None:
    folder.mkdir()
    (folder / "models.json").write_text('{"schema_version": 99}', encoding="utf-8")
    with pytest.raises(NewerSchemaError, match="upgrade"):
        list_models(folder)


def test_the_folder_that_cannot_be_made_is_named(make_gguf, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot take the file") as caught:
        add_model(make_gguf(), folder=blocked / "models")
    assert "DEEPFACT_HOME" in caught.value.fix


def test_a_full_disk_is_noticed_before_copying(
    make_gguf, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 3}))
    with pytest.raises(InputError, match="3 are free"):
        add_model(make_gguf(), folder=folder)
    assert _names(folder) == []


def test_where_models_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEEPFACT_HOME", str(tmp_path / "home"))
    assert models_folder() == tmp_path / "home" / "models"
    monkeypatch.delenv("DEEPFACT_HOME")
    monkeypatch.setattr(registry.sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert models_folder() == tmp_path / "xdg" / "deepfact" / "models"
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    assert models_folder() == Path.home() / ".local" / "share" / "deepfact" / "models"
    monkeypatch.setattr(registry.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert models_folder() == tmp_path / "local" / "deepfact" / "models"


def test_the_official_list_is_sound() -> None:
    assert len({model.sha256 for model in OFFICIAL}) == len(OFFICIAL)
    assert len({model.file.lower() for model in OFFICIAL}) == len(OFFICIAL)
    for model in OFFICIAL:
        entry = registry.LocalModel(
            name=Path(model.file).stem, file=model.file, sha256=model.sha256, bytes=model.bytes
        )
        assert json.loads(entry.model_dump_json())["known"] is None
        assert "/" in model.name and model.licence == "Apache-2.0"


def test_the_tiny_model_is_recognised(tiny_model: Path, folder: Path) -> None:
    if tiny_model.name != OFFICIAL[-1].file:
        pytest.skip("DEEPFACT_TINY_GGUF names another model")
    model = add_model(tiny_model, link="symlink", folder=folder)
    assert model.known == "QuantFactory/SmolLM2-135M-Instruct Q4_1"
    assert model.bytes == OFFICIAL[-1].bytes
