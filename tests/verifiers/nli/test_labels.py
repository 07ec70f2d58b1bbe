"""What the classes of a model mean: by the table, by the spec, and never by guessing."""

from __future__ import annotations

import pytest

from deepfact.errors import ConfigError
from deepfact.records import Label
from deepfact.verifiers.nli.labels import class_labels, mapping_words

S, C, I = Label.SUPPORTED, Label.CONTRADICTORY, Label.INCONCLUSIVE  # noqa: E741


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["ENTAILMENT", "Contradiction", "neutral"], (S, C, I)),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], (S, C, I)),
        (["not_entailment", "entailment"], (I, S)),
        (["Not-Supported", " supported "], (I, S)),
        (["supported", "contradictory", "inconclusive"], (S, C, I)),
    ],
)
def test_names_that_models_use_are_in_the_table(names, wanted):
    assert class_labels(names, {}, where="m") == wanted


def test_names_that_say_nothing_are_refused_with_what_to_write():
    with pytest.raises(ConfigError, match=r"0 \('LABEL_0'\), 1 \('LABEL_1'\) means") as told:
        class_labels(["LABEL_0", "LABEL_1"], {}, where="m")
    assert "labels: {0: inconclusive, 1: supported}" in told.value.fix


@pytest.mark.parametrize("keys", [(0, 1), ("0", "1"), ("LABEL_0", "LABEL_1")])
def test_the_spec_says_what_they_mean_by_number_or_name(keys):
    said = {keys[0]: I, keys[1]: S}
    assert class_labels(["LABEL_0", "LABEL_1"], said, where="m") == (I, S)


def test_the_spec_goes_before_the_table():
    assert class_labels(["entailment", "neutral"], {"neutral": C}, where="m") == (S, C)


def test_a_class_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match="no class 'entailmnet'") as told:
        class_labels(["entailment", "neutral"], {"entailmnet": S}, where="m")
    assert "entailment" in told.value.fix


@pytest.mark.parametrize("said", [{0: S, 1: S}, {0: C, 1: I}])
def test_one_class_means_supported_and_one_something_else(said):
    with pytest.raises(ConfigError, match="one has to mean supported, and one something else"):
        class_labels(["LABEL_0", "LABEL_1"], said, where="m")


def test_the_mapping_is_told_in_words():
    assert mapping_words(["yes", "no"], (S, I)) == "yes is supported, no is inconclusive"
