"""Specs in YAML: every mistake told with its place, and nothing but plain values read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import pytest
from pydantic import BaseModel, ConfigDict, model_validator
from typing_extensions import TypedDict

from deepfact.errors import ConfigError, InputError, NewerSchemaError
from deepfact.run_records import RoundSpec, VerifierSpec
from deepfact.store.specs import parse_yaml, read_yaml

GOOD = "name: run-1\nbenchmark: mill@1\nauditors: [ann]\n"


def refused(text: str, model: type[BaseModel] = RoundSpec) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, model, where="run.yaml")
    return caught.value


def test_a_spec_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        GOOD + "date: 2026-01-02T00:00:00Z\nchallenger: {kind: local, name: Mühle}\n",
        encoding="utf-8",
    )
    spec = read_yaml(tmp_path / "run.yaml", RoundSpec)
    assert spec.auditors == ("ann",)
    assert spec.challenger.name == "Mühle"
    assert spec.date == datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("name: [a\nbenchmark: b\n", "line 2, column 10", "invalid YAML"),
        (GOOD + "seed: {", "line 4, column 8", "invalid YAML"),
        (GOOD + "\tseed: 1\n", "line 4, column 1", "invalid YAML"),
        (GOOD + "name: again\n", "line 4, column 1", "the key 'name' is given twice"),
        (GOOD + "policy:\n  rule: single\n  rule: majority\n", "line 6, column 3", "given twice"),
        (GOOD + "rounds:\n- policy: {rule: single, rule: single}\n", "line 5, column 26", "twice"),
        (GOOD + "? [a, b]\n: 1\n", "line 4, column 3", "unhashable key"),
        (GOOD + "--- \nname: two\n", "line 4, column 1", "expected a single document"),
        (GOOD + "seed: many\n", "line 4, column 7", "seed: Input should be a valid integer"),
        (GOOD + "policy:\n  rule: nobody\n", "line 5, column 9", "policy.rule: Input should be"),
        (GOOD + "rounds:\n- {}\n- controls: {agreed: 2}\n", "line 6, column 22", "rounds.1."),
        ("name: r\nbenchmark: b\n", "line 1, column 1", "the key 'auditors' is missing"),
        (GOOD + "challenger: {name: x}\n", "line 4, column 13", "'challenger.kind' is missing"),
        (GOOD + "date: 2026-13-01\n", "line 4, column 7", "'2026-13-01' cannot be read"),
        (GOOD + "seed: !!int ''\n", "line 4, column 7", "cannot be read"),
        (GOOD + "seed: !!bool x\n", "line 4, column 7", "cannot be read"),
        (GOOD + "seed: !!timestamp x\n", "line 4, column 7", "cannot be read"),
        (GOOD + "name2: a\x00b\n", "line 4, column 9", "the character '\\x00' is not allowed"),
        ("a: *nothing\n", "line 1, column 4", "undefined alias"),
    ],
)
def test_a_mistake_is_told_with_line_and_column(text: str, place: str, problem: str) -> None:
    error = refused(text)
    assert error.where == f"run.yaml, {place}"
    assert problem in error.what


@pytest.mark.parametrize(
    ("text", "place", "key", "hint"),
    [
        (GOOD + "polcy: {}\n", "line 4, column 1", "polcy", "did you mean 'policy'?"),
        ("nam: r\nbenchmark: b\nauditors: [a]\n", "line 1, column 1", "nam", "'name'"),
        (
            GOOD + "rounds:\n- challenger:\n    kind: local\n    optoins: {}\n",
            "line 7, column 5",
            "rounds.0.challenger.optoins",
            "did you mean 'options'?",
        ),
        (GOOD + "policy: {rul: single}\n", "line 4, column 10", "policy.rul", "'rule'"),
        (GOOD + "scored:\n- {kind: x, nmae: y}\n", "line 5, column 13", "scored.0.nmae", "'name'"),
        (
            GOOD + "controls: {zzz: 1}\n",
            "line 4, column 12",
            "controls.zzz",
            "known: agreed, micro",
        ),
    ],
)
def test_an_unknown_key_gets_a_suggestion(text: str, place: str, key: str, hint: str) -> None:
    error = refused(text)
    assert error.what == f"unknown key {key!r}"
    assert error.where == f"run.yaml, {place}"
    assert hint in error.fix


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['echo']",
        "!!python/object:builtins.object {}",
        "!!python/name:os.system ''",
        "!!python/module:os ''",
        "!custom x",
    ],
)
def test_tags_that_build_objects_are_refused(tag: str) -> None:
    for text in (f"{GOOD}seed: {tag}\n", f"{GOOD}challenger: {{kind: x, options: {{a: [{tag}]}}}}"):
        error = refused(text)
        assert "could not determine a constructor" in error.what
        assert "line 4" in error.where


@pytest.mark.parametrize(("text", "problem"), [("", "empty"), ("# only this\n", "empty")])
def test_an_empty_file(text: str, problem: str) -> None:
    assert problem in refused(text).what


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words", "~", "3"])
def test_not_a_mapping(text: str) -> None:
    assert refused(text).what.startswith("keys and values are needed")


def test_a_byte_order_mark_is_told(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    with pytest.raises(InputError, match="byte-order mark"):
        read_yaml(tmp_path / "run.yaml", RoundSpec)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_yaml(tmp_path / "run.yaml", RoundSpec)


def test_a_date_without_a_zone_says_how_to_write_it() -> None:
    error = refused(GOOD + "date: 2026-01-31\n")
    assert error.where == "run.yaml, line 4, column 7"
    assert error.fix == "write it like 2026-01-31T00:00:00Z"


def test_a_newer_schema_says_to_upgrade() -> None:
    with pytest.raises(NewerSchemaError, match="pip install --upgrade deepfact"):
        parse_yaml(GOOD + "schema_version: 2\nnew_key: 1\n", RoundSpec, where="run.yaml")


def test_anchors_are_fine_and_do_not_explode() -> None:
    """Aliases of aliases stand for a billion values; one that holds itself has no end."""
    reused = "challenger: &v {kind: local, name: x}\nscored:\n- *v\n"
    spec = parse_yaml(GOOD + reused, RoundSpec, where="run.yaml")
    assert spec.scored == (spec.challenger,)
    bomb = "x0: &x0 [a, a]\n" + "".join(
        f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 40)
    )
    assert "aliases make more than 100,000 values" in refused(GOOD + bomb).what
    assert "holds itself" in refused(GOOD + "loop: &l [*l]\n").what


def test_nesting_without_end_is_told() -> None:
    assert refused(GOOD + "seed: " + "[" * 1_000).what == "invalid YAML: nested too deeply"


class Pair(BaseModel):
    """A spec whose parts must fit each other."""

    low: int
    high: int
    extra: dict[str, int] = {}

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.high < self.low:
            raise ValueError("high is below low")
        return self


def test_a_problem_of_the_whole_spec_is_told_without_a_key() -> None:
    error = refused("low: 2\nhigh: 1\n", Pair)
    assert error.what == "Value error, high is below low"
    assert error.where == "run.yaml, line 1, column 1"


def test_a_problem_behind_a_merge_key_has_its_own_place() -> None:
    error = refused("<<: {low: x}\nhigh: 1\n", Pair)
    assert "low: Input should be a valid integer" in error.what
    assert error.where == "run.yaml, line 1, column 11"


class Table(TypedDict):
    """A part that is no record, and still takes its own keys only."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    width: int


class Loose(BaseModel):
    """A spec with a choice of types and a part that is no record."""

    size: int | bool = 1
    table: list[Table] = []
    by_name: dict[str, Pair] = {}


def test_a_choice_of_types_is_placed_at_the_value() -> None:
    assert refused("size: much\n", Loose).where == "run.yaml, line 1, column 7"


def test_no_keys_are_suggested_that_belong_elsewhere() -> None:
    error = refused("table:\n- {width: 1, tables: 2}\n", Loose)
    assert error.what == "unknown key 'table.0.tables'"
    assert error.where == "run.yaml, line 2, column 14"
    assert error.fix == ""


def test_a_problem_inside_a_plain_mapping_has_its_own_place() -> None:
    assert refused("low: 1\nhigh: 2\nextra:\n  a: x\n", Pair).where.endswith("line 4, column 6")


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ("{extra_body: {api_key: hunter22}}", "line 2, column 33"),
        ("{extra_body: {api_key: [hunter22]}}", "line 2, column 34"),
        ("{headers: {X-Api-Key: hunter22}}", "line 2, column 32"),
        ("{client_secret: 12345678}", "line 2, column 26"),
        ("{base_url: 'http://ann:hunter22@localhost:1'}", "line 2, column 21"),
        ("{command: [curl, '-H', 'Authorization: Bearer hunter22']}", "line 2, column 33"),
        ("{model: sk-hunter22hunter22hunter22}", "line 2, column 18"),
        ("{note: planted-hunter22-value}", "line 2, column 17"),
        ("{planted-hunter22-value: 1}", "line 2, column 11"),
        ("{a: &a [1], b: [*a, *a], c: {password: hunter22}}", "line 2, column 49"),
    ],
)
def test_a_secret_in_a_spec_is_refused_and_not_repeated(
    options: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "planted-hunter22-value")
    error = refused(f"kind: panel\noptions: {options}\n", VerifierSpec)
    assert "secret" in str(error) and "environment variable" in str(error)
    assert error.where == f"run.yaml, {place}"
    assert "hunter22" not in f"{error} {error!r} {vars(error)} {error.__cause__}"


def test_names_of_secrets_and_empty_ones_are_no_secrets() -> None:
    text = "kind: panel\noptions: {api_key_env: MY_API_KEY, password: '', secret: null}\n"
    assert parse_yaml(text, VerifierSpec, where="run.yaml").options["api_key_env"] == "MY_API_KEY"
