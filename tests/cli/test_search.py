"""``deepfact search`` and ``deepfact index``: as a new user tries them, wrong turns included."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "servers"))

Run = Callable[..., Any]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server with a search API and one page."""
    from web_server import WebServer

    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", "brave-key-nobody-may-see")
    with WebServer() as server:
        url = server.page("/mill", "The mill was built in 1898. It closed in 1931.")
        server.results = lambda query: [
            {"url": url, "title": "Mill"}, {"url": f"{server.url}/gone", "title": "Gone"}
        ]  # fmt: skip
        yield server


@pytest.fixture
def spec(site: Any, desk: Path) -> Path:
    """A retriever's YAML file in the working folder."""
    options = {
        "engine": {"kind": "brave", "options": {"base_url": site.url}},
        "fetch": {"allow_addresses": ["127.0.0.1"]},
    }
    path = desk / "search.yaml"
    path.write_text(json.dumps({"kind": "search", "options": options}), encoding="utf-8")
    return path


def first_claim(desk: Path) -> tuple[str, str]:
    from deepfact.store.locate import load_version

    claim = load_version("small", desk / "benchmarks").claims[0]
    return claim.id, claim.cites[0]


def test_a_claims_own_sources_come_first(desk, deepfact: Run) -> None:
    claim, cited = first_claim(desk)
    done = deepfact("search", "--in", "small", "--claim", claim, "--limit", "20", "--json")
    assert done.returncode == 0, done.stderr
    passages = json.loads(done.stdout)["passages"]
    assert passages[0]["found_in"] == "cited" and passages[0]["source"] == cited
    tiers = [one["found_in"] for one in passages]
    assert tiers == sorted(tiers, key=["cited", "benchmark"].index) and "benchmark" in tiers
    shown = deepfact("search", "--in", "small", "--claim", claim, "--limit", "2")
    assert passages[0]["text"][:40] in shown.stdout and "cited, bm25" in shown.stdout


def test_a_search_is_planned_made_kept_and_replayed(desk, spec, site, deepfact: Run) -> None:
    words = ("search", "when was the mill built", "--retriever", spec.name)
    plan = deepfact(*words, "--dry-run")
    assert plan.returncode == 0 and "searches to pay for: at most 1" in plan.stdout
    assert site.asked == [] and not (desk / "results").exists()
    missing = deepfact(*words, "--replay")
    assert missing.returncode == 3 and "search: when was the mill built" in missing.stderr
    done = deepfact(*words)
    assert done.returncode == 0, done.stderr
    assert "The mill was built in 1898." in done.stdout and "search, brave, bm25" in done.stdout
    assert "1 searches (price unknown), 2 pages fetched" in done.stderr
    assert "not read" in done.stderr and "HTTP 404" in done.stderr
    asked = len(site.asked)
    replayed = deepfact(*words, "--replay")
    assert replayed.stdout == done.stdout and len(site.asked) == asked
    assert "1 of them stored" in deepfact(*words, "--dry-run").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("mill",), "nothing to search in"),
        (("", "--in", "small"), "a query is needed"),
        (("mill", "--in", "smal"), "smal"),
        (("mill", "--in", "small", "--claim", "zzz"), "no claim 'zzz'"),
        (("--claim", "c1"), "name it with --in"),
        (("mill", "--in", "small", "--retriever", "bm52"), "did you mean 'bm25'"),
        (("mill", "--retriever", "nowhere.yaml"), "no such file"),
        (("mill", "--in", "small", "--replay"), "only a search can be replayed"),
        (("mill", "--in", "small", "--dry-run"), "asks nobody"),
        (("mill", "--retriever", "wrong.yaml"), "line 1"),
    ],
)
def test_wrong_turns_are_told_without_a_traceback(desk, deepfact: Run, words, said) -> None:
    (desk / "wrong.yaml").write_text("knid: search\n", encoding="utf-8")
    done = deepfact("search", *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_an_index_is_made_listed_used_and_deleted(desk, deepfact: Run) -> None:
    made = deepfact("index", "build", "small", "--retriever", "dense", "--index", "ix", "--json")
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert told["made"] and "wordllama" in told["embedder"]
    again = deepfact("index", "build", "small", "--retriever", "hybrid", "--index", "ix")
    assert "there already" in again.stdout
    spec = desk / "hybrid.yaml"
    spec.write_text("kind: hybrid\noptions: {index: ix}\n", encoding="utf-8")
    found = deepfact("search", "prices rose", "--in", "small", "--retriever", "hybrid.yaml")
    assert found.returncode == 0 and "hybrid" in found.stdout
    assert len([p for p in (desk / "ix").iterdir() if not p.name.startswith(".")]) == 1
    vectors = Path(told["path"]) / "vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-1])
    listed = deepfact("index", "stats", "--index", "ix")
    assert listed.returncode == 1 and "vectors.npy" in listed.stdout
    mended = deepfact("search", "prices rose", "--in", "small", "--retriever", "hybrid.yaml")
    assert mended.stdout == found.stdout and "made anew" in mended.stderr
    assert "0 deleted" in deepfact("index", "prune", "--index", "ix").stdout
    assert "1 deleted" in deepfact("index", "prune", "--index", "ix", "--all").stdout
    assert deepfact("index", "stats", "--index", "ix", "--json").stdout.strip() == "[]"
    wrong = deepfact("index", "build", "small", "--retriever", "search")
    assert wrong.returncode == 2 and "no index of its own" in wrong.stderr
