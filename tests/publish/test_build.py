"""What is in a snapshot, and what never is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepfact.errors import BenchmarkError, ConfigError, InputError, IntegrityError
from deepfact.publish.build import Options, Snapshot, build
from deepfact.store import seal
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import write_text
from deepfact.store.locate import load_version

ROOT = Path(__file__).parent.parent.parent
SECRET = "CANARY-SECRET"


def rows(snapshot: Snapshot, config: str = "claims") -> list[dict[str, Any]]:
    return [json.loads(line) for line in snapshot.files[f"jsonl/{config}.jsonl"].splitlines()]


def parquet(snapshot: Snapshot, config: str) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(snapshot.files[f"data/{config}.parquet"]))
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def every_text(snapshot: Snapshot) -> Iterator[str]:
    """All that can be read in a snapshot; Parquet is unpacked first, since it is compressed."""
    for name, data in snapshot.files.items():
        yield name
        if name.endswith(".parquet"):
            yield json.dumps(parquet(snapshot, Path(name).stem), ensure_ascii=False)
        else:
            yield data.decode("utf-8")


# --- what is in it ------------------------------------------------------------------------


def test_parquet_and_json_lines_hold_the_same_rows(snapshot: Snapshot) -> None:
    for config in ("claims", "sources"):
        assert parquet(snapshot, config) == rows(snapshot, config) != []


def test_public_live_claims_are_published_sorted_by_id(snapshot: Snapshot) -> None:
    assert [row["id"] for row in rows(snapshot)] == ["m-1", "m-2", "m-3", "m-4", "m-5"]
    assert [row["label"] for row in rows(snapshot)] == [
        "inconclusive", "supported", "contradictory", None, "supported",
    ]  # fmt: skip


def test_a_claim_keeps_reasons_evidence_qualifications_and_provenance(snapshot: Snapshot) -> None:
    row = rows(snapshot)[1]
    (evidence,) = row["evidence"]
    assert (row["rationale"], row["original_label"]) == ("It says 1898.", "TRUE")
    assert (evidence["quote"], evidence["stance"]) == ("built in 1898", "supports")
    assert (evidence["start"], evidence["end"]) == (13, 26)
    (qualification,) = row["qualifications"]
    assert (qualification["kind"], qualification["text"]) == ("scope", "Old mill")
    assert row["provenance"]["who"] == "annotator"
    assert row["strata"] == ["domain: history", "kind: date"]
    (contradiction,) = rows(snapshot)[2]["contradictions"]
    assert (contradiction["disputed"], contradiction["quote"]) == ("1932", "closed in 1931")


def test_the_summary_counts_what_is_in_and_what_is_not(snapshot: Snapshot) -> None:
    summary = snapshot.as_dict()
    assert (summary["claims"], summary["private_left_out"]) == (5, 2)
    assert (summary["sources"], summary["sources_left_out"]) == (4, 3)
    assert summary["labels"] == {
        "supported": 2, "contradictory": 1, "inconclusive": 1, "unlabelled": 1,
    }  # fmt: skip
    assert summary["files"] == {name: len(data) for name, data in snapshot.files.items()}


# --- what never is ------------------------------------------------------------------------


def test_nothing_private_and_no_known_answer_is_anywhere(snapshot: Snapshot) -> None:
    """The canary stands in private claims, their source, their report, and in every key."""
    for text in every_text(snapshot):
        assert SECRET not in text
        assert "m-9" not in text and "m-8" not in text


def test_sources_that_only_private_claims_cite_are_left_out(snapshot: Snapshot) -> None:
    titles = {row["title"] for row in rows(snapshot, "sources")}
    assert titles == {"Shared", "Public", "Open report", "Aside"}


def test_a_report_in_which_a_private_claim_stood_is_withheld(snapshot: Snapshot) -> None:
    mixed, plain = rows(snapshot)[1], rows(snapshot)[2]
    assert (mixed["report"], mixed["document"], mixed["start"]) == ("r-1", None, None)
    assert plain["document"] in {row["id"] for row in rows(snapshot, "sources")}
    assert (plain["start"], plain["end"]) == (1, 5)
    assert "a private claim stood" in snapshot.files["README.md"].decode()


def test_every_reference_of_a_published_claim_is_published(snapshot: Snapshot) -> None:
    known = {row["id"] for row in rows(snapshot, "sources")}
    for row in rows(snapshot):
        named = [row["document"], *row["cites"]]
        named += [part["source"] for key in ("evidence", "contradictions") for part in row[key]]
        assert set(filter(None, named)) <= known


def test_no_key_changes_a_claim(
    mills: BenchmarkStore, snapshot: Snapshot, write_keys: Callable[..., None]
) -> None:
    """Whichever claims are micro-gold, the tables are the same to the byte."""
    write_keys(mills, **{"m-1": "supported", "m-5": "contradictory"})
    other = build(mills.load(), Options())
    for name in snapshot.files:
        if name not in ("README.md", "snapshot.json"):
            assert other.files[name] == snapshot.files[name], name
    assert other.microgold != snapshot.microgold


@pytest.fixture
def marked(tmp_path: Path, make: Any, write_keys: Callable[..., None]) -> Callable[..., Any]:
    """A benchmark whose micro-gold claims, g-1 to g-3 among others, differ as a test says."""

    def made(ids: tuple[str, ...] = ("x-7", "x-8", "x-9"), who: str = "annotator", **fields: Any):
        store = BenchmarkStore.create(tmp_path / "marked", card="---\nlicense: mit\n---\n")
        steps = [make.add(f"x-{number}", domain="d", kind="k") for number in range(1, 7)]
        for claim_id in ids:
            one = make.add(claim_id, **{"domain": "d", "kind": "k", **fields})
            provenance = one.annotation.provenance.model_copy(update={"who": who})
            annotation = one.annotation.model_copy(update={"provenance": provenance})
            steps.append(one.model_copy(update={"annotation": annotation}))
        store.commit(steps, parent=None, author="t", date=make.WHEN, note="n")
        write_keys(store, **dict.fromkeys(ids, "supported"))
        return store.load()

    return made


def test_claims_that_look_alike_are_published_as_they_are(marked: Callable[..., Any]) -> None:
    snapshot = build(marked(), Options())
    assert snapshot.blank == ()
    assert {row["provenance"]["who"] for row in rows(snapshot)} == {"annotator"}


def test_provenance_that_tells_micro_gold_is_left_blank_for_all(
    marked: Callable[..., Any],
) -> None:
    snapshot = build(marked(who="gold-maker"), Options())
    assert snapshot.blank == ("provenance.who",)
    assert {row["provenance"]["who"] for row in rows(snapshot)} == {None}
    assert all("gold-maker" not in text for text in every_text(snapshot))
    assert any("provenance.who" in remark for remark in snapshot.remarks)


@pytest.mark.parametrize(
    ("how", "told_by"),
    [
        ({"ids": ("mg-1", "mg-2", "mg-3")}, "the start of the id"),
        ({"ids": ("x-7-mg", "x-8-mg", "x-9-mg")}, "the end of the id"),
        ({"ids": ("x-70000", "x-80000", "x-90000")}, "the shape of the id"),
        ({"domain": "gold"}, "domain"),
        ({"kind": "gold"}, "kind"),
        ({"context": "Asked to measure."}, "having a context"),
    ],
)
def test_micro_gold_that_can_be_told_by_its_looks_is_refused(
    marked: Callable[..., Any], how: dict[str, Any], told_by: str
) -> None:
    with pytest.raises(BenchmarkError, match=f"by {told_by}") as caught:
        build(marked(**how), Options())
    assert "mark them private" in caught.value.fix


def test_only_private_claims_are_nothing_to_publish(tmp_path: Path, make: Any) -> None:
    store = BenchmarkStore.create(tmp_path / "hush", card="---\nlicense: mit\n---\n")
    store.commit([make.add("c1", private=True)], parent=None, author="t", date=make.WHEN, note="n")
    with pytest.raises(BenchmarkError, match="all 1 are private"):
        build(store.load(), Options())


def test_a_card_that_names_a_private_claim_is_remarked_on(
    mills: BenchmarkStore, snapshot: Snapshot
) -> None:
    assert snapshot.remarks == ()
    write_text(
        mills.folder / "README.md", "---\nlicense: mit\n---\n\n# Mills\n\nSee `m-9`, not m-88.\n"
    )
    seal.record(mills.folder, who="t", why="t")
    remarks = build(mills.load(), Options(languages=("en",))).remarks
    assert remarks == ("the card or the changelog mentions the private claim 'm-9'",)


# --- the same again, and of which version -------------------------------------------------


def test_the_same_version_gives_the_same_bytes(mills: BenchmarkStore, snapshot: Snapshot) -> None:
    assert build(BenchmarkStore(mills.folder).load(2), Options()).files == snapshot.files


def test_later_versions_change_nothing(
    mills: BenchmarkStore, snapshot: Snapshot, make: Any
) -> None:
    late = make.source("A late find.", title="Late")
    more = make.add("m-6", cites=(late.id,))
    mills.commit([more], parent=2, author="cyd", date=make.WHEN, note="a late find", sources=[late])
    assert build(mills.load(2), Options()).files == snapshot.files
    assert b"a late find" in build(mills.load(3), Options()).files["CHANGELOG.md"]


def test_the_record_has_the_hash_of_every_other_file(snapshot: Snapshot) -> None:
    from deepfact.records import sha256_of

    others = {name: sha256_of(d) for name, d in snapshot.files.items() if name != "snapshot.json"}
    assert json.loads(snapshot.files["snapshot.json"])["files"] == others


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["versions/1/revisions.jsonl", "README.md", "keys/author.jsonl"])
def test_a_benchmark_that_fails_its_check_is_not_published(
    mills: BenchmarkStore, name: str
) -> None:
    version = mills.load()
    path = mills.folder / name
    path.write_bytes(path.read_bytes().replace(b"m", b"n", 1))
    with pytest.raises(IntegrityError, match="fails its check") as caught:
        build(version, Options())
    assert name in caught.value.where and "bench verify mills" in caught.value.fix


def card(store: BenchmarkStore, text: str) -> Any:
    write_text(store.folder / "README.md", text)
    seal.record(store.folder, who="tester", why="test")
    return store.load()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("# Mills\n", "no licence is stated"),
        ("---\nlicense: [mit\n---\n", "invalid YAML"),
        ("---\nlicense: !!python/object/apply:os.system [id]\n---\n", "invalid YAML"),
        ("---\nlicense: mitt\n---\n", "unknown licence 'mitt'"),
        ("---\nlicense: other\nlicense_name: Ours\n---\n", "needs a name and an https link"),
        ("---\nlicense: mit\nlanguage: no\n---\n", "language"),
        ("---\nlicense: mit\nconfigs: []\n---\n", "unknown key 'configs'"),
        ('---\nlicense: mit\npretty_name: "a\\nb"\n---\n', "pretty_name"),
        ("---\n- mit\n---\n", "keys and values are needed"),
    ],
)
def test_a_card_with_wrong_front_matter_is_refused(
    mills: BenchmarkStore, text: str, what: str
) -> None:
    with pytest.raises(ConfigError, match=what.replace("[", r"\[")) as caught:
        build(card(mills, text), Options())
    assert "README.md" in caught.value.where


def test_a_wrong_line_of_the_card_is_named(mills: BenchmarkStore) -> None:
    with pytest.raises(ConfigError) as caught:
        build(card(mills, "---\nlicense: mit\ntagss: [a]\n---\n"), Options())
    assert caught.value.where.endswith("README.md, line 3, column 1")
    assert "tags" in caught.value.fix


def test_a_licence_can_be_given_but_not_against_the_card(mills: BenchmarkStore) -> None:
    assert build(mills.load(), Options(licence="CC-BY-4.0")).record.claims == 5
    with pytest.raises(ConfigError, match=r"the licence CC-BY-4\.0, --license says MIT"):
        build(mills.load(), Options(licence="mit"))
    version = card(mills, "# Mills\n")
    found = build(version, Options(licence="MIT"))
    assert b"license: mit\n" in found.files["README.md"]


def test_the_text_of_the_licence_is_that_of_the_benchmark(
    mills: BenchmarkStore, snapshot: Snapshot, tmp_path: Path
) -> None:
    notice = snapshot.files["LICENSE"].decode()
    assert "mills" in notice and "https://spdx.org/licenses/CC-BY-4.0.html" in notice
    write_text(mills.folder / "LICENSE", "Our own words.\n")
    seal.record(mills.folder, who="t", why="t")
    assert build(mills.load(), Options()).files["LICENSE"] == b"Our own words.\n"
    write_text(tmp_path / "text", "Other words.\n")
    found = build(mills.load(), Options(licence_file=tmp_path / "text"))
    assert found.files["LICENSE"] == b"Other words.\n"
    with pytest.raises(InputError, match="no such file"):
        build(mills.load(), Options(licence_file=tmp_path / "none"))


def test_a_licence_of_ones_own(mills: BenchmarkStore) -> None:
    text = "---\nlicense: other\nlicense_name: Ours\nlicense_link: https://e.org/l\n---\n"
    found = build(card(mills, text), Options()).files
    assert b"license_name: Ours\nlicense_link: https://e.org/l\n" in found["README.md"]
    assert b"license-url: https://e.org/l\n" in found["CITATION.cff"]


def test_the_copy_of_an_open_run_is_refused(mills: BenchmarkStore, tmp_path: Path) -> None:
    run = tmp_path / "run"
    copy = run / "benchmarks" / "mills"
    copy.parent.mkdir(parents=True)
    forked = mills.fork(copy)
    assert build(forked.load(), Options()).record.claims == 5  # a folder like any other
    (run / "spec.json").write_text("{}")
    (run / "journal.jsonl").write_text("")
    with pytest.raises(BenchmarkError, match="a run that is still open"):
        build(forked.load(), Options())


# --- the shipped benchmark ----------------------------------------------------------------


def test_the_shipped_benchmark_is_published() -> None:
    version = load_version("deepfact-mini@1", ROOT / "benchmarks")
    snapshot = build(version, Options())
    assert snapshot.record.claims == version.manifest.counts.claims
    assert snapshot.remarks == () and snapshot.blank == ()
    assert snapshot.microgold is not None
    assert (snapshot.microgold.labels.n, len(version.store.key("microgold"))) == (78, 78)
    texts = list(every_text(snapshot))
    for which in ("author", "microgold"):
        for entry in version.store.key(which).values():
            annotation = version.state.entries[entry.claim_id].annotation
            assert annotation is not None
            if entry.rationale not in annotation.rationale:  # a key may agree word for word
                assert not any(entry.rationale in text for text in texts)
