"""The card, changelog and citation: what they say, and that no text of a benchmark breaks out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from deepfact import records
from deepfact.publish.build import Options, build
from deepfact.publish.metadata import size_category, split_card
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import write_text

NASTY = [
    "x\n---\nlicense: evil\n---\n# Heading",
    "| a | b |\n|---|---|",
    "```\n</code><script>alert(1)</script>",
    "[click](javascript:alert(1)) ![i](http://evil.example/i.png)",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% for x in y %} {# c #}",
    "\u202egnirts\u202c \u200b \x1b[2J",
    "!!python/object:os.system 'a: b'",
    "*bold* _it_ `code` ~~no~~ @user #1 www.evil.example https://evil.example",
]


def front(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(split_card(text)[0])
    return found


def tokens(text: str) -> list[Any]:
    parsed = MarkdownIt("commonmark").enable(["table"]).parse(split_card(text)[1])
    return [inner for token in parsed for inner in (token, *(token.children or []))]


def test_the_front_matter_is_what_the_hub_reads(mills: BenchmarkStore) -> None:
    found = front(build(mills.load(), Options()).files["README.md"].decode())
    assert found == {
        "pretty_name": "mills",
        "license": "cc-by-4.0",
        "language": ["en"],
        "task_categories": ["text-classification"],
        "task_ids": ["fact-checking"],
        "size_categories": ["n<1K"],
        "tags": ["factuality", "deepfact", "croissant"],
        "configs": [
            {
                "config_name": "claims",
                "default": True,
                "data_files": [{"split": "test", "path": "data/claims.parquet"}],
            },
            {
                "config_name": "sources",
                "data_files": [{"split": "corpus", "path": "data/sources.parquet"}],
            },
        ],
    }


def test_what_the_card_states_is_kept(mills: BenchmarkStore) -> None:
    stated = (
        "---\nlicense: MIT\nlanguage: [en, 'no']\npretty_name: 'Mills: a study'\n"
        "tags: [mills, factuality]\ntask_categories: other\n---\n# Mills\n"
    )
    write_text(mills.folder / "README.md", stated)
    seal.record(mills.folder, who="t", why="t")
    found = front(build(mills.load(), Options()).files["README.md"].decode())
    assert (found["license"], found["language"]) == ("mit", ["en", "no"])
    assert found["pretty_name"] == "Mills: a study"
    assert found["tags"] == ["mills", "factuality", "deepfact", "croissant"]
    assert found["task_categories"] == ["other"]
    given = build(mills.load(), Options(languages=("de",))).files["README.md"].decode()
    assert front(given)["language"] == ["de"]


def test_a_card_without_a_language_says_none_and_is_remarked_on(mills: BenchmarkStore) -> None:
    write_text(mills.folder / "README.md", "---\nlicense: mit\n---\n")
    seal.record(mills.folder, who="t", why="t")
    snapshot = build(mills.load(), Options())
    assert "language" not in front(snapshot.files["README.md"].decode())
    assert any("no language is stated" in remark for remark in snapshot.remarks)


def test_the_card_says_what_is_in_it_and_what_is_not(mills: BenchmarkStore) -> None:
    text = build(mills.load(), Options()).files["README.md"].decode()
    assert "# Mills\n\nAbout mills.\n" in text
    for line in (
        "| left out: private claims | 2 |",
        "| left out: retired claims | 1 |",
        "| left out: sources that no published claim refers to | 3 |",
        "| all claims | 5 | 2 | 1 | 1 | 1 |",
        "| domain: history | 2 | 1 | 1 | 0 | 0 |",
        "| domain: trade | 3 | 1 | 0 | 1 | 1 |",
    ):
        assert line in text
    assert "1 of the 5 claims carry one" in text
    assert "no run was given" in text


def test_micro_gold_is_shown_with_n_and_interval(mills: BenchmarkStore) -> None:
    text = build(mills.load(), Options()).files["README.md"].decode().replace("\u00a0", " ")
    # m-2 and the private m-9 are right, m-1 is not: two of three.
    assert "label right on 66.7 % \\(2 of 3, 95 % interval 20.8–93.9 %, 0 unverified\\)" in text


def test_without_micro_gold_the_card_says_so(mills: BenchmarkStore) -> None:
    (mills.keys / "microgold.jsonl").unlink()
    seal.record(mills.folder, who="t", why="t")
    snapshot = build(mills.load(), Options())
    assert snapshot.microgold is None and snapshot.as_dict()["microgold"] is None
    assert "**Micro-gold:** not measured." in snapshot.files["README.md"].decode()


def test_an_unlabelled_micro_gold_claim_is_counted_as_wrong(
    mills: BenchmarkStore, write_keys: Callable[..., None]
) -> None:
    write_keys(mills, **{"m-4": "supported", "m-1": "inconclusive"})
    found = build(mills.load(), Options()).microgold
    assert found is not None
    assert (found.labels.k, found.labels.n, found.labels.unverified) == (1, 2, 1)


@pytest.mark.parametrize("nasty", NASTY)
def test_no_text_of_a_benchmark_breaks_out(tmp_path: Path, make: Any, nasty: str) -> None:
    """In every place where a text reaches the card: author, note, domain, claim, rationale."""
    card = "---\nlicense: mit\nlanguage: en\n---\n\n# Plain\n"
    store = BenchmarkStore.create(tmp_path / "nasty", card=card)
    for name, domain in (("c1", nasty), ("c2", "plain")):
        add = make.add(name, text=f"A {nasty}", domain=domain, kind=nasty, context=nasty)
        annotation = make.annotation(
            "supported", rationale=nasty, provenance=records.Provenance(who=nasty, when=make.WHEN)
        )
        add = add.model_copy(update={"annotation": annotation})
        parent = 1 if name == "c2" else None
        store.commit([add], parent=parent, author=nasty, date=make.WHEN, note=nasty)
    files = build(store.load(), Options()).files
    text = files["README.md"].decode()
    assert front(text)["license"] == "mit" and set(front(text)) == {
        "pretty_name", "license", "language", "task_categories", "task_ids", "size_categories",
        "tags", "configs",
    }  # fmt: skip
    headings = [line for line in split_card(text)[1].splitlines() if line.startswith("#")]
    assert headings == [
        "# Plain", "## This snapshot", "## How to load it", "## Labels",
        "## How far the labels can be trusted", "## Columns", "## Licence and citation",
    ]  # fmt: skip
    kinds = [token.type for token in tokens(text)]
    assert kinds.count("table_open") == 3 and kinds.count("fence") == 2
    assert not {"html_block", "html_inline", "link_open", "image", "hr"} & set(kinds)
    assert not any(mark in text for mark in ("\u202e", "\u200b", "\x1b"))
    changes = [token.type for token in tokens(files["CHANGELOG.md"].decode())]
    assert changes.count("list_item_open") == 2 and changes.count("heading_open") == 1
    assert not {"html_block", "html_inline", "link_open", "image"} & set(changes)
    citation = yaml.safe_load(files["CITATION.cff"])
    assert citation["authors"] == [{"name": store.load().manifest.author}]
    assert citation["license"] == "MIT"


def test_the_changelog_ends_with_the_published_version(mills: BenchmarkStore) -> None:
    lines = build(mills.load(1), Options()).files["CHANGELOG.md"].decode().splitlines()
    assert [line for line in lines if line.startswith("-")] == [
        "- **1** (2026-01-02, ada; 7 revisions, 7 claims): the first"
    ]
    later = build(mills.load(2), Options()).files["CHANGELOG.md"].decode()
    assert later.endswith(
        "- **2** (2026-01-02, ben, from 1; 2 revisions, 7 claims): a wheel more\n"
    )


def test_the_citation_names_version_state_and_authors(mills: BenchmarkStore) -> None:
    version = mills.load()
    found = yaml.safe_load(build(version, Options(repo="team/mills")).files["CITATION.cff"])
    assert (found["cff-version"], found["type"], found["version"]) == ("1.2.0", "dataset", "2")
    assert found["authors"] == [{"name": "Ada Mill"}]  # the card's own word
    assert found["license"] == "CC-BY-4.0"
    assert found["url"] == "https://huggingface.co/datasets/team/mills"
    assert found["identifiers"][0]["value"] == version.manifest.state_hash
    write_text(mills.folder / "README.md", "---\nlicense: mit\n---\n")
    seal.record(mills.folder, who="t", why="t")
    found = yaml.safe_load(build(mills.load(), Options()).files["CITATION.cff"])
    assert found["authors"] == [{"name": "ada"}, {"name": "ben"}] and "url" not in found


def test_a_line_of_dashes_alone_is_no_front_matter() -> None:
    assert split_card("---\nMills\n") == ("", "---\nMills\n")
    assert split_card("# Mills\n\n---\na: b\n---\n")[0] == ""
    assert split_card("---\r\na: b\r\n---\r\n# M\r\n") == ("\na: b\n", "# M\n")


@pytest.mark.parametrize(
    ("claims", "category"),
    [(1, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (9999, "1K<n<10K"), (10_000, "10K<n<100K"),
     (2_000_000, "1M<n<10M")],
)  # fmt: skip
def test_size_categories(claims: int, category: str) -> None:
    assert size_category(claims) == category
