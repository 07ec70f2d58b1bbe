"""Label tables: total on our side, explicit on theirs."""

from __future__ import annotations

import pytest

from deepfact.core.labels import (
    DATA_SETS,
    FROM_BINARY,
    NO_EVIDENCE,
    ONE_WORD_FOR_THE_REST,
    from_data_set,
    lookup,
    to_binary,
    to_data_set,
)
from deepfact.errors import InputError
from deepfact.records import Label


def test_binary_is_supported_against_the_rest() -> None:
    assert [label for label in Label if to_binary(label)] == [Label.SUPPORTED]


def test_binary_and_back_holds_every_label_once() -> None:
    for value, labels in FROM_BINARY.items():
        assert all(to_binary(label) is value for label in labels)
    assert sorted(x for labels in FROM_BINARY.values() for x in labels) == sorted(Label)


THREE_WAY = [name for name in DATA_SETS if len(set(DATA_SETS[name].values())) == 3]


@pytest.mark.parametrize("data_set", THREE_WAY)
@pytest.mark.parametrize("label", Label)
def test_every_label_goes_to_each_data_set_and_back(data_set: str, label: Label) -> None:
    assert from_data_set(data_set, to_data_set(data_set, label)) is label


def test_which_data_sets_have_a_word_for_each_label() -> None:
    assert set(DATA_SETS) - set(THREE_WAY) == {*ONE_WORD_FOR_THE_REST, "openfactcheck"}
    for data_set in ONE_WORD_FOR_THE_REST:
        rest = set(DATA_SETS[data_set].values()) - {Label.SUPPORTED}
        assert len(rest) == 1, f"{data_set} tells {rest} apart"


def test_a_label_that_a_data_set_has_no_word_for_is_an_error() -> None:
    with pytest.raises(InputError, match="wice has no word for contradictory") as caught:
        to_data_set("wice", Label.CONTRADICTORY)
    assert "not_supported" in caught.value.fix


@pytest.mark.parametrize(
    ("data_set", "published", "label"),
    [
        ("scifact", "SUPPORT", Label.SUPPORTED),
        ("scifact", "CONTRADICT", Label.CONTRADICTORY),
        ("scifact", "REFUTE", Label.CONTRADICTORY),
        ("scifact", NO_EVIDENCE, Label.INCONCLUSIVE),
        ("citation-integrity", "REFUTE", Label.CONTRADICTORY),
        ("factcheck-bench", "true", Label.SUPPORTED),
        ("factcheck-bench", "false", Label.CONTRADICTORY),
        ("factcheck-bench", "unknown", Label.INCONCLUSIVE),
        ("factcheck-bench", "NA", Label.INCONCLUSIVE),
        ("scifact", "NEI", Label.INCONCLUSIVE),
        ("averitec", "Conflicting Evidence/Cherrypicking", Label.INCONCLUSIVE),
        ("averitec", "Not Enough Evidence", Label.INCONCLUSIVE),
        ("expertqa", "Probably correct", Label.SUPPORTED),
        ("expertqa", "Likely incorrect", Label.CONTRADICTORY),
        ("wice", "partially_supported", Label.INCONCLUSIVE),
        ("veriscore", "Contradicted.", Label.CONTRADICTORY),
        ("factscore", "NS", Label.INCONCLUSIVE),
        ("halueval", "yes", Label.CONTRADICTORY),
        ("deepfact-bench", "refuted", Label.CONTRADICTORY),
    ],
)
def test_published_labels(data_set: str, published: str, label: Label) -> None:
    assert from_data_set(data_set, published) is label


@pytest.mark.parametrize("word", ["not supported", "Supported", "supported ", "unsupported", ""])
def test_a_word_that_only_looks_like_a_label_is_an_error(word: str) -> None:
    with pytest.raises(InputError) as caught:
        from_data_set("deepfact", word, where="f, line 3")
    assert caught.value.where == "f, line 3"
    assert "supported, contradictory, inconclusive" in caught.value.fix


def test_unknown_label_suggests_and_says_where_to_add_it() -> None:
    with pytest.raises(InputError, match="did you mean 'refuted'") as caught:
        lookup({"refuted": Label.CONTRADICTORY}, "refutd", fix="add it there")
    assert caught.value.fix.endswith("add it there")


def test_unknown_data_set() -> None:
    with pytest.raises(InputError, match="did you mean 'scifact'"):
        to_data_set("sciact", Label.SUPPORTED)
