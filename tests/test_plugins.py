"""Building what a spec names: options checked against a signature, entry points, hints."""

from __future__ import annotations

import importlib.metadata
import sys
import types
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from deepfact import plugins
from deepfact.errors import ConfigError

GROUP = "deepfact.verifiers"


class Plain:
    """No options at all."""


class Checked:
    def __init__(self, votes: int, model: str = "m", folder: Path | None = None) -> None:
        self.votes, self.model, self.folder = votes, model, folder


class Given:
    def __init__(self, name: str, strict: bool = False) -> None:
        self.name, self.strict = name, strict


class Open:
    def __init__(self, votes: int = 1, **rest: Any) -> None:
        self.votes, self.rest = votes, rest


class Awkward:
    """Option names that a model class would trip over."""

    def __init__(self, schema: str = "s", json: bool = False, model_config: str = "c") -> None:
        self.schema, self.json, self.model_config = schema, json, model_config


def factory(votes: int = 3) -> list[int]:
    return [votes]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    module = types.ModuleType("things_to_build")
    for thing in (Plain, Checked, Given, Open, Awkward, factory):
        setattr(module, thing.__name__, thing)
    monkeypatch.setitem(sys.modules, "things_to_build", module)
    names = ("Plain", "Checked", "Given", "Open", "Awkward", "factory")
    return {name.lower(): f"things_to_build:{name}" for name in names}


@pytest.fixture
def point(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Declares an entry point of a third party."""

    def declare(name: str, value: str) -> None:
        declared = EntryPoint(name=name, value=value, group=GROUP)

        def found(**by: str) -> importlib.metadata.EntryPoints:
            return importlib.metadata.EntryPoints([declared]).select(**by)

        monkeypatch.setattr(plugins, "entry_points", found)

    return declare


def test_options_are_converted_to_the_types_of_the_signature(table: dict[str, str]) -> None:
    made = plugins.build(GROUP, table, "checked", {"votes": "3", "folder": "here"})
    assert (made.votes, made.model, made.folder) == (3, "m", Path("here"))
    assert plugins.build(GROUP, table, "factory", {"votes": 5}) == [5]
    assert isinstance(plugins.build(GROUP, table, "plain", {}), Plain)


@pytest.mark.parametrize(
    ("kind", "options", "problem"),
    [
        ("checked", {}, "verifiers kind 'checked' needs the option 'votes'"),
        ("checked", {"votes": "many"}, "verifiers kind 'checked', option 'votes': Input should"),
        ("checked", {"vote": 1, "votes": 1}, "has no option 'vote'\n  did you mean 'votes'?"),
        ("plain", {"votes": 1}, "verifiers kind 'plain' has no option 'votes'"),
        ("chekced", {}, "unknown kind 'chekced' of verifiers\n  did you mean 'checked'?"),
    ],
)
def test_what_does_not_fit_is_told_by_name(
    table: dict[str, str], kind: str, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        plugins.build(GROUP, table, kind, options)
    assert problem in str(caught.value)


def test_what_deepfact_supplies_goes_to_those_who_ask_and_no_spec_can_set_it(
    table: dict[str, str],
) -> None:
    supplied = {"name": "ann", "sources": {}}
    assert plugins.build(GROUP, table, "given", {"strict": True}, supplied).name == "ann"
    plugins.build(GROUP, table, "plain", {}, supplied)
    with pytest.raises(ConfigError, match="has no option 'name'"):
        plugins.build(GROUP, table, "given", {"name": "eve"}, supplied)


def test_a_class_that_takes_any_option_gets_them(table: dict[str, str]) -> None:
    made = plugins.build(GROUP, table, "open", {"votes": "2", "tone": "mild"})
    assert (made.votes, made.rest) == (2, {"tone": "mild"})
    assert plugins.build(GROUP, table, "open", {}).rest == {}


def test_options_may_have_any_name(table: dict[str, str]) -> None:
    made = plugins.build(
        GROUP, table, "awkward", {"schema": "x", "json": True, "model_config": "y"}
    )
    assert (made.schema, made.json, made.model_config) == ("x", True, "y")


def test_a_third_party_brings_a_kind_by_entry_point(
    table: dict[str, str], point: Callable[[str, str], None]
) -> None:
    point("theirs", "things_to_build:Checked")
    assert plugins.build(GROUP, {}, "theirs", {"votes": 1}).votes == 1
    assert plugins.kinds(GROUP, {"local": "x:y"}) == ["local", "theirs"]


def test_our_own_kinds_come_first(table: dict[str, str], point: Callable[[str, str], None]) -> None:
    point("plain", "things_to_build:Checked")
    assert isinstance(plugins.build(GROUP, table, "plain", {}), Plain)


@pytest.mark.parametrize("value", ["no_such_module_here:Thing", "things_to_build:Missing"])
def test_an_entry_point_that_does_not_load_is_named(
    table: dict[str, str], point: Callable[[str, str], None], value: str
) -> None:
    point("theirs", value)
    with pytest.raises(ConfigError) as caught:
        plugins.build(GROUP, {}, "theirs", {})
    assert "kind 'theirs' of verifiers cannot be loaded" in str(caught.value)
    assert value in caught.value.where


def test_nothing_is_imported_before_a_kind_is_used() -> None:
    assert plugins.kinds(GROUP, {"lazy": "no_such_module_here:Thing"}) == ["lazy"]
