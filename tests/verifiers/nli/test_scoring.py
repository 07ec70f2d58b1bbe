"""Tokens, batches and what runs them."""

from __future__ import annotations

import math
import sys
import types

import numpy as np
import pytest

from deepfact.errors import ConfigError, InputError, MissingExtraError
from deepfact.records import Label
from deepfact.verifiers.nli.runners import OnnxRunner, TransformersRunner, machine_threads
from deepfact.verifiers.nli.scoring import PairEncoder, PairScorer

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741


class Recording:
    """Runs another runner, and remembers the shape of each batch."""

    def __init__(self, runner):
        self.runner, self.alone, self.shapes = runner, runner.alone, []

    def logits(self, ids):
        self.shapes.append(ids["input_ids"].shape)
        return self.runner.logits(ids)


@pytest.fixture
def encoder(tiny):
    return PairEncoder(tiny / "tokenizer.json", "evidence-first")


@pytest.fixture
def runner(tiny):
    return OnnxRunner(tiny / "model.onnx", 1)


def test_pairs_have_special_tokens_and_types_and_nothing_is_cut(encoder):
    evidence = "confirms " * 20
    ids, kinds = encoder.pair(evidence, "denies x")
    assert ids == [1, *[4] * 20, 2, 5, 3, 2]
    assert kinds == [0] * 22 + [1] * 3
    assert encoder.specials == 3 and encoder.count(evidence) == 20


def test_the_claim_may_come_first(tiny):
    encoder = PairEncoder(tiny / "tokenizer.json", "claim-first")
    assert encoder.pair("confirms", "denies")[0] == [1, 5, 2, 4, 2]


def test_probabilities_are_those_of_the_models_figures(encoder, runner):
    scorer = PairScorer(encoder, runner, (S, C, I), pad=0)
    (found,) = scorer.scores([("It confirms.", "x")])
    odds = [math.exp(3), 1, math.exp(1)]
    assert found == pytest.approx(
        {S: odds[0] / sum(odds), C: 1 / sum(odds), I: odds[2] / sum(odds)}
    )


def test_batches_are_by_length_and_padding_changes_nothing(encoder, runner):
    texts = ["denies", "x " * 9, "confirms", "y " * 8, "x", "denies"]
    recording = Recording(runner)
    together = PairScorer(encoder, recording, (S, C, I), pad=0, batch=2)
    alone = PairScorer(encoder, runner, (S, C, I), pad=0, batch=1)
    pairs = [(text, "claim") for text in texts]
    found = together.scores(pairs)
    assert found == [pytest.approx(alone.scores([pair])[0]) for pair in pairs]
    # The same pair is run once, short ones beside short ones.
    assert [rows for rows, _ in recording.shapes] == [2, 2, 1]
    assert [tokens for _, tokens in recording.shapes] == sorted(t for _, t in recording.shapes)


def test_a_model_that_quantises_as_it_runs_gets_pairs_alone(tiny, encoder):
    """The operator's name is planted in a field that names the producer."""
    name = b"DynamicQuantizeLinear"
    path = tiny / "dynamic.onnx"
    path.write_bytes((tiny / "model.onnx").read_bytes() + b"\x12" + bytes([len(name)]) + name)
    runner = OnnxRunner(path, 1)
    assert runner.alone
    assert PairScorer(encoder, runner, (S, C, I), pad=0).batch == 1
    assert PairScorer(encoder, runner, (S, C, I), pad=0, batch=8).batch == 8


def test_several_classes_may_mean_one_label(encoder, runner):
    (found,) = PairScorer(encoder, runner, (S, I, I), pad=0).scores([("x", "x")])
    assert set(found) == {S, I} and sum(found.values()) == pytest.approx(1)


class Fixed:
    """Gives the same logits for every pair."""

    alone = False

    def __init__(self, *logits):
        self.row = logits

    def logits(self, ids):
        return np.array([self.row] * len(ids["input_ids"]), dtype=float)


def test_one_class_is_a_probability_of_support(encoder):
    (found,) = PairScorer(encoder, Fixed(2.0), (S,), pad=0).scores([("x", "x")])
    assert found == pytest.approx({S: 1 / (1 + math.exp(-2)), I: 1 / (1 + math.exp(2))})


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_is_no_probability(encoder, bad):
    assert PairScorer(encoder, Fixed(bad, 0.0), (S, I), pad=0).scores([("x", "x")]) == [None]


def test_a_model_of_other_classes_than_its_config_is_refused(encoder, runner):
    with pytest.raises(InputError, match="its config names 2 classes"):
        PairScorer(encoder, runner, (S, I), pad=0).check("here")


def test_a_model_that_breaks_is_refused(encoder):
    class Broken:
        alone = False

        def logits(self, ids):
            raise RuntimeError("no such kernel")

    with pytest.raises(InputError, match="cannot be run: no such kernel"):
        PairScorer(encoder, Broken(), (S, I), pad=0).check("here")


@pytest.mark.parametrize("text", ["", "nonsense", "version https://git-lfs.github.com/spec/v1\n"])
def test_what_is_no_onnx_is_refused(tmp_path, text):
    (tmp_path / "model.onnx").write_text(text)
    with pytest.raises(InputError, match="onnxruntime cannot read the model"):
        OnnxRunner(tmp_path / "model.onnx", 1)


def test_inputs_that_no_pair_has_are_refused(tmp_path, onnx_with_inputs):
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_with_inputs("input_ids", "attention_mask", "pixel_values"))
    with pytest.raises(InputError, match="asks for the input pixel_values"):
        OnnxRunner(path, 1)


@pytest.mark.parametrize("text", ["{", "{}"])
def test_what_is_no_tokenizer_is_refused(tmp_path, text):
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(InputError, match="not a tokenizer"):
        PairEncoder(tmp_path / "tokenizer.json", "evidence-first")
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        PairEncoder(tmp_path / "none.json", "evidence-first")


def test_missing_libraries_are_named(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"ONNX models need onnxruntime(.|\n)*\[nli\]"):
        OnnxRunner(tiny / "model.onnx", 1)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match="needs tokenizers"):
        PairEncoder(tiny / "tokenizer.json", "evidence-first")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match="needs torch") as told:
        TransformersRunner(tiny, 1)
    assert "export the model to ONNX" in told.value.fix


def test_threads_are_the_machines():
    assert machine_threads() >= 1


class Tensor:
    """As much of a tensor as is asked of one."""

    def __init__(self, array):
        self.array = array

    def float(self):
        return self

    def numpy(self):
        return self.array


@pytest.fixture
def transformers(monkeypatch):
    """Stands in for torch and transformers: says how it was called. No real weights are run."""
    calls = {}

    class Model:
        def eval(self):
            return self

        def forward(self, input_ids, attention_mask):
            raise NotImplementedError

        def __call__(self, **given):
            calls["given"] = sorted(given)
            rows = len(given["input_ids"].array)
            return types.SimpleNamespace(logits=Tensor(np.ones((rows, 3))))

    class Auto:
        @staticmethod
        def from_pretrained(folder, **options):
            calls.update(options, folder=folder)
            if "broken" in folder:
                raise OSError("no safetensors here")
            return Model()

    import contextlib

    torch = types.SimpleNamespace(
        set_num_threads=lambda n: calls.update(threads=n),
        from_numpy=Tensor, inference_mode=contextlib.nullcontext,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "torch", torch)
    auto = types.SimpleNamespace(AutoModelForSequenceClassification=Auto)
    monkeypatch.setitem(sys.modules, "transformers", auto)
    return calls


def test_transformers_run_no_code_of_a_model_and_unpickle_nothing(transformers, encoder, tmp_path):
    runner = TransformersRunner(tmp_path, 2)
    assert transformers["trust_remote_code"] is False
    assert transformers["use_safetensors"] is True
    assert transformers["local_files_only"] is True
    (found,) = PairScorer(encoder, runner, (S, C, I), pad=0).scores([("x", "x")])
    assert found == pytest.approx({S: 1 / 3, C: 1 / 3, I: 1 / 3})
    assert transformers["given"] == ["attention_mask", "input_ids"]  # what the model takes


def test_what_transformers_cannot_load_is_told(transformers, tmp_path):
    with pytest.raises(InputError, match="cannot load the model: no safetensors here"):
        TransformersRunner(tmp_path / "broken", 1)
