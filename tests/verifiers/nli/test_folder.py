"""What is wrong with a model's folder is told before anything runs."""

from __future__ import annotations

import json

import pytest

from deepfact.errors import ConfigError, InputError
from deepfact.verifiers.nli.folder import open_folder


def opened(model, *, file="", download=False):
    return open_folder(str(model), file=file, revision="", download=download)


def test_a_folder_is_opened_by_its_usual_names(tiny):
    found = opened(tiny)
    assert found.name == "tiny" and found.onnx == tiny / "model.onnx"
    assert found.config.names == ["entailment", "contradiction", "neutral"]
    assert found.most_tokens() == 96
    assert len(found.identity()) == 12


def test_onnx_may_lie_in_a_folder_of_its_own(tiny):
    (tiny / "onnx").mkdir()
    (tiny / "model.onnx").rename(tiny / "onnx" / "model.onnx")
    assert opened(tiny).onnx == tiny / "onnx" / "model.onnx"


def test_another_file_is_named(tiny):
    (tiny / "model_int8.onnx").write_bytes((tiny / "model.onnx").read_bytes())
    assert opened(tiny, file="model_int8.onnx").weights.name == "model_int8.onnx"
    with pytest.raises(ConfigError, match=r"no file 'modle\.onnx'") as told:
        opened(tiny, file="modle.onnx")
    assert "model.onnx, model_int8.onnx" in told.value.fix


@pytest.mark.parametrize(
    ("limit", "config", "wanted"),
    [
        (128, {"max_position_embeddings": 514, "pad_token_id": 1, "model_type": "roberta"}, 128),
        (10**30, {"max_position_embeddings": 514, "pad_token_id": 1, "model_type": "roberta"}, 512),
        (10**30, {"max_position_embeddings": 8192}, 512),
        (96, {"max_position_embeddings": None}, 96),
    ],
)
def test_how_much_is_read_at_once_is_what_the_files_say(
    tmp_path, write_model, limit, config, wanted
):
    folder = write_model(tmp_path / "m", **config)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": limit}))
    assert opened(folder).most_tokens() == wanted


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("config.json", "{", "not JSON"),
        ("config.json", "[]", "a JSON object is needed"),
        ("config.json", '{"id2label": {"a": "b"}}', "id2label"),
        ("config.json", '{"architectures": ["T5ForConditionalGeneration"]}', "no sequence-class"),
        ("config.json", None, "no such file"),
        ("model.onnx", None, "no weights that can be read"),
    ],
)
def test_broken_files_are_told(tiny, name, text, words):
    (tiny / name).unlink()
    if text is not None:
        (tiny / name).write_text(text)
    with pytest.raises(InputError, match=words):
        opened(tiny)


def test_pickled_weights_are_not_read(tiny):
    (tiny / "model.onnx").unlink()
    (tiny / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(ConfigError) as told:
        opened(tiny)
    assert "pickles are not read" in told.value.fix


def test_safetensors_are_for_transformers(tiny):
    (tiny / "model.onnx").rename(tiny / "model.safetensors")
    found = opened(tiny)
    assert found.onnx is None and found.weights.name == "model.safetensors"


def test_a_folder_is_needed(tmp_path, tiny):
    with pytest.raises(ConfigError, match="no such folder"):
        opened(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="a folder is needed"):
        opened(tiny / "model.onnx")


def test_a_model_on_the_hub_is_not_fetched_unasked(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match="no model of this id was fetched before") as told:
        opened("owner/model")
    assert "download: true" in told.value.fix


def test_a_model_cannot_be_fetched_offline(tmp_path, monkeypatch):
    """Sockets are closed in tests, which is as good as being offline."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match="model: it"):
        opened("owner/model", download=True)


def test_what_was_fetched_before_is_used(tmp_path, monkeypatch, tiny):
    asked = {}

    def snapshot(model, **options):
        asked.update(options, model=model)
        return str(tiny)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    found = opened("owner/model")
    assert found.name == "owner/model" and found.folder == tiny
    assert asked["local_files_only"] is True and "pytorch_model.bin" not in asked["allow_patterns"]


def test_a_model_that_names_no_classes_has_the_names_that_say_nothing(tmp_path, write_model):
    folder = write_model(tmp_path / "m", id2label=None, num_labels=3)
    assert opened(folder).config.names == ["LABEL_0", "LABEL_1", "LABEL_2"]
    folder = write_model(tmp_path / "n", id2label=None)
    assert opened(folder).config.names == ["LABEL_0", "LABEL_1"]


def test_one_kind_of_weights_is_fetched(monkeypatch, tiny):
    import types

    asked = {}
    there = ["model.safetensors", "onnx/model.onnx", "pytorch_model.bin"]
    siblings = [types.SimpleNamespace(rfilename=name) for name in there]
    info = types.SimpleNamespace(siblings=siblings)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: info)
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", lambda _, **options: asked.update(options) or str(tiny)
    )
    opened("owner/model", download=True)
    assert asked["allow_patterns"][-1] == "onnx/model.onnx" and asked["local_files_only"] is False
    assert not {"model.safetensors", "pytorch_model.bin"} & set(asked["allow_patterns"])


@pytest.mark.parametrize("kind", [OSError, ValueError, Exception])
def test_what_the_hub_refuses_is_told_in_one_line(monkeypatch, kind):
    """Its client raises errors of an HTTP client that have no base in common with its own."""

    def refuse(*_, **__):
        raise kind("401 Client Error\nmuch more")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)
    with pytest.raises(ConfigError, match="cannot be fetched from the Hub: 401 Client Error") as e:
        opened("owner/model", download=True)
    assert "online" in e.value.fix and "much more" not in str(e.value)
