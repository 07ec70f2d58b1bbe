"""Errors: exit codes, the layout of their message, and hints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepfact import errors
from deepfact.errors import DeepFactError, did_you_mean

EXIT_CODES = {
    "DeepFactError": 1,
    "InputError": 2,
    "RecordError": 2,
    "NewerSchemaError": 2,
    "ConfigError": 2,
    "BenchmarkError": 2,
    "IntegrityError": 2,
    "ResultsExistError": 2,
    "MissingExtraError": 2,
    "CheckFailed": 1,
    "RunIncomplete": 3,
}


def _all_errors() -> dict[str, type[DeepFactError]]:
    return {
        name: thing
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, DeepFactError)
    }


def test_every_error_has_the_exit_code_that_the_tree_promises() -> None:
    assert {name: error.exit_code for name, error in _all_errors().items()} == EXIT_CODES


def test_the_tree_in_the_docstring_names_every_error() -> None:
    assert all(name in (errors.__doc__ or "") for name in EXIT_CODES)


def test_a_message_says_where_then_what_then_the_fix() -> None:
    error = DeepFactError("no such claim", where="claims.jsonl, line 3", fix="check the id")
    assert str(error) == "claims.jsonl, line 3: no such claim\n  check the id"
    assert (error.what, error.where, error.fix) == (
        "no such claim",
        "claims.jsonl, line 3",
        "check the id",
    )


def test_a_message_without_place_or_fix_is_the_sentence_alone() -> None:
    assert str(DeepFactError("no such claim")) == "no such claim"


def test_a_missing_extra_says_how_to_install_it() -> None:
    error = errors.MissingExtraError("no local model", extra="local-llm")
    assert "pip install 'deepfact[local-llm]'" in str(error)


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("auditrs", ["name", "auditors"], "did you mean 'auditors'?"),
        ("zzz", ["b", "a"], "known: a, b"),
        ("zzz", [], ""),
    ],
)
def test_hints(word: str, known: list[str], hint: str) -> None:
    assert did_you_mean(word, known) == hint


def test_of_very_many_words_only_the_nearest_are_looked_at() -> None:
    known = [f"claim-{n:06}" for n in range(200_000)]
    assert did_you_mean("claim-0777777", known) == "did you mean 'claim-077777'?"
    assert did_you_mean("zzz", known) == "", "a list of them all helps nobody"


@given(st.text(max_size=10), st.lists(st.text(min_size=1, max_size=10), max_size=5))
def test_a_hint_does_not_depend_on_the_order_of_what_is_known(word: str, known: list[str]) -> None:
    assert did_you_mean(word, known) == did_you_mean(word, iter(reversed(known)))
