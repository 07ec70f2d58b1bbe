"""``deepfact plan`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

HOME = Path(__file__).parents[2]

SPEC = """
name: planned
benchmark: small@1
select: {limit: 3}
verifier:
  kind: panel
  options: {provider: {kind: anthropic}, model: MODEL}
arms:
  - {name: bundled, options: {prompt: verifier/bundled/v1}}
  - {name: split, options: {prompt: verifier/split/v1}}
"""


def test_it_counts_and_says_what_it_estimates(desk, deepfact) -> None:
    (desk / "ab.yaml").write_text(SPEC, encoding="utf-8")
    done = deepfact("plan", "ab.yaml")
    assert done.returncode == 0, done.stderr
    assert (
        "in all: 18 calls, unknown price (MODEL) live, unknown price (MODEL) batched" in done.stdout
    )
    assert "at most: max_tokens for each" in done.stdout
    assert "estimated at four characters a token" in done.stderr
    assert "nothing was asked" in done.stdout
    assert not (desk / "results").exists()


def test_json_and_repeat(desk, deepfact) -> None:
    (desk / "ab.yaml").write_text(SPEC, encoding="utf-8")
    found = json.loads(deepfact("plan", "ab.yaml", "--repeat", "2", "--json").stdout)
    assert (found["calls"], found["usd"], found["claims"]) == (36, None, 3)


def test_a_round_is_planned_too(desk, deepfact) -> None:
    text = "name: r\nbenchmark: small@1\nauditors: [simulated-expert]\n"
    (desk / "round.yaml").write_text(text, encoding="utf-8")
    done = deepfact("plan", "round.yaml")
    assert done.returncode == 0, done.stderr
    assert "asks no model" in done.stdout


def test_shipped_configs_can_be_planned_without_a_key(deepfact, monkeypatch) -> None:
    monkeypatch.chdir(HOME)
    monkeypatch.delenv("DEEPFACT_BENCHMARKS", raising=False)
    founding = json.loads(deepfact("plan", "configs/ab-founding.yaml", "--json").stdout)
    assert (founding["calls"], founding["arms"][0]["answered"]) == (0, 720)
    for name in ("ab-local-messages", "ab-local-chat"):
        done = deepfact("plan", f"configs/{name}.yaml", "--json")
        assert json.loads(done.stdout)["calls"] == 16, done.stderr


def test_a_regression_check_is_planned_too(desk, deepfact, monkeypatch) -> None:
    text = SPEC[: SPEC.index("arms:")].replace("{provider", "{prompt: verifier/split/v1, provider")
    (desk / "check.yaml").write_text(text, encoding="utf-8")
    found = json.loads(deepfact("plan", "check.yaml", "--json").stdout)
    assert (found["calls"], found["claims"], len(found["arms"])) == (9, 3, 1)
    assert not (desk / "results").exists()
    monkeypatch.chdir(HOME)
    shipped = json.loads(deepfact("plan", "configs/regress-founding.yaml", "--json").stdout)
    assert (shipped["calls"], shipped["arms"][0]["answered"]) == (0, 240)


def test_wrong_input_is_exit_2(desk, deepfact) -> None:
    done = deepfact("plan", "none.yaml")
    assert done.returncode == 2
    assert "no such file" in done.stderr
