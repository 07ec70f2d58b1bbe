"""``deepfact bench``: a benchmark's life at the command line, from import to export."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.integrity import verify

Run = Callable[..., subprocess.CompletedProcess[str]]

ROWS = [
    {"id": f"c{n}", "text": f"The mill closed in {1930 + n}.", "report": f"r{n % 2}",
     "label": ("supported", "contradictory", "inconclusive")[n % 3], "cites": ["s1"],
     "rationale": f"reason {n}"}
    for n in range(6)
]  # fmt: skip
SOURCES = [{"id": "s1", "title": "Mill history", "text": "The mill closed in 1931."}]


@pytest.fixture
def mine(desk: Path, deepfact: Run) -> Path:
    """A benchmark imported from JSON Lines."""
    for name, rows in (("claims", ROWS), ("sources", SOURCES)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = deepfact("bench", "import", "jsonl", "claims.jsonl", "--name", "mine",
                    "--sources", "sources.jsonl", "--author", "ada",
                    "--date", "2026-01-05")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("made mine@1: 6 claims (")
    return desk / "benchmarks/mine"


def files(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if path.name != ".lock")


def test_init_makes_an_empty_benchmark_to_import_into(desk: Path, deepfact: Run) -> None:
    done = deepfact("bench", "init", "new", "--about", "Mills and when they closed.")
    assert done.returncode == 0 and "deepfact bench import" in done.stdout
    assert "Mills and when they closed." in Path("benchmarks/new/README.md").read_text("utf-8")
    empty = deepfact("bench", "show", "new")
    assert empty.returncode == 2 and "no versions yet" in empty.stderr
    Path("c.csv").write_text("id,text,label\r\nc1,It closed.,supported\r\n", newline="")
    assert deepfact("bench", "import", "csv", "c.csv", "--name", "new").returncode == 0
    assert deepfact("bench", "verify", "new").returncode == 0


def test_a_dry_run_imports_nothing(desk: Path, deepfact: Run) -> None:
    Path("claims.jsonl").write_text('{"id": "c1", "text": "It closed.", "label": "supported"}\n')
    before = files(desk)
    done = deepfact("bench", "import", "jsonl", "claims.jsonl", "--name", "mine", "--dry-run")
    assert done.returncode == 0 and "nothing written: mine would get 1 claims" in done.stdout
    assert files(desk) == before


def test_importing_again_adds_what_is_new(mine: Path, deepfact: Run) -> None:
    words = ("bench", "import", "jsonl", "claims.jsonl", "--name", "mine",
             "--sources", "sources.jsonl", "--json")  # fmt: skip
    same = json.loads(deepfact(*words).stdout)
    assert (same["version"], same["added"], same["present"]) == (None, 0, 6)
    with Path("claims.jsonl").open("a") as file:
        file.write('{"id": "c9", "text": "It burnt.", "label": "inconclusive"}\n')
    more = json.loads(deepfact(*words).stdout)
    assert (more["version"], more["added"], more["present"]) == (2, 1, 6)
    assert verify(BenchmarkStore(mine)) == []


def test_wrong_rows_are_listed_when_asked_for(desk: Path, deepfact: Run) -> None:
    Path("claims.csv").write_text("id,text,label\nc1,One.,supported\nc2,Two.,maybe\nc1,Three.,\n")
    done = deepfact("bench", "import", "csv", "claims.csv", "--name", "mine", "--skip-bad")
    assert done.returncode == 0
    assert "skipped claims.csv, line 3" in done.stderr and "'maybe'" in done.stderr
    assert "skipped claims.csv, line 4" in done.stderr
    assert "made mine@1: 1 claims" in done.stdout and "2 rows skipped" in done.stdout


def test_list_names_what_can_be_named(mine: Path, deepfact: Run) -> None:
    listed = json.loads(deepfact("bench", "list", "--json").stdout)
    by_name = {row["name"]: row for row in listed}
    assert by_name["mine"]["claims"] == 6 and by_name["small"]["claims"] == 60
    assert "deepfact-mini" in by_name  # it ships
    assert "mine" in deepfact("bench", "list").stdout


def test_show_a_version_and_a_claim(mine: Path, deepfact: Run) -> None:
    shown = deepfact("bench", "show", "mine", "--limit", "2").stdout
    assert shown.startswith("mine@1: 6 claims in 2 reports; 2 supported, 2 contradictory")
    assert "... and 4 more; see them with --limit 6" in shown
    only = deepfact("bench", "show", "mine@1", "--label", "inconclusive").stdout
    assert "c2" in only and "c5" in only and "c1" not in only
    claim = deepfact("bench", "show", "mine", "c1").stdout
    for words in ("The mill closed in 1931.", "contradictory, by claims annotators, 2026-01-05",
                  "reason 1", "cites: Mill history"):  # fmt: skip
        assert words in claim
    data = json.loads(deepfact("bench", "show", "mine", "c1", "--json").stdout)
    assert data["annotation"]["label"] == "contradictory"


def test_log_diff_and_blame_tell_a_labels_history(desk: Path, deepfact: Run) -> None:
    Path("r.yaml").write_text(
        "name: trial\nbenchmark: small@1\nchallenger: {kind: quoting}\n"
        "auditors: [simulated-expert]\ndate: 2026-01-05T00:00:00Z\n", "utf-8"
    )  # fmt: skip
    assert deepfact("round", "run", "r.yaml").returncode == 0
    log = deepfact("bench", "log", "small").stdout
    assert log.index("small@2 from 1") < log.index("small@1 ")
    assert "round trial: Round 1 of trial:" in log

    data = json.loads(deepfact("bench", "diff", "small@1", "2", "--json").stdout)
    changes = data["changes"]
    assert data["counts"] == {"relabelled": len(changes)} and data["scores"] == []
    assert {change["kind"] for change in changes} == {"relabelled"}
    shown = deepfact("bench", "diff", "small@1", "small@2").stdout
    assert f"{len(changes)} of 60 claims differ between small@1 and small@2" in shown
    claim = changes[0]["claim_id"]
    assert f"{claim}  relabelled  " in shown

    blame = deepfact("bench", "blame", "small", claim).stdout
    assert blame.index("version 1 ") < blame.index("version 2  2026-01-05  simulated-expert")
    assert "why: " in blame and "(run trial, case r1-" in blame
    old = json.loads(deepfact("bench", "blame", "small@1", claim, "--json").stdout)
    assert [row["version"] for row in old] == [1]
    assert deepfact("bench", "verify", "small").returncode == 0


def test_verify_names_the_file_and_is_exit_code_1(mine: Path, deepfact: Run) -> None:
    good = deepfact("bench", "verify", "mine")
    assert good.returncode == 0 and "every hash holds" in good.stdout
    source = next(mine.glob("sources/??/*.json"))
    source.write_text(source.read_text("utf-8").replace("1931", "1932"), "utf-8")
    bad = deepfact("bench", "verify", "mine", "--json")
    assert bad.returncode == 1
    assert [problem["where"] for problem in json.loads(bad.stdout)] == [
        str(source.relative_to(Path.cwd()))
    ]


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_what_is_exported_can_be_imported_again(mine: Path, deepfact: Run, kind: str) -> None:
    done = deepfact("bench", "export", "mine", "--to", f"out.{kind}",
                    "--sources", f"cards.{kind}")  # fmt: skip
    assert done.returncode == 0, done.stderr
    back = deepfact("bench", "import", kind, f"out.{kind}", "--name", "back",
                    "--sources", f"cards.{kind}")  # fmt: skip
    assert back.returncode == 0, back.stderr
    old = BenchmarkStore(mine).load().state.entries
    new = BenchmarkStore(mine.parent / "back").load().state.entries
    assert {i: (e.claim, e.label, e.annotation.rationale) for i, e in old.items()} == {
        i: (e.claim, e.label, e.annotation.rationale) for i, e in new.items()
    }


def test_private_claims_are_not_exported(mine: Path, deepfact: Run) -> None:
    store = BenchmarkStore(mine)
    first = next(store.revisions(1))
    assert first.claim
    secret = first.claim.model_copy(update={"id": "secret", "private": True})
    store.commit(
        [first.model_copy(update={"claim_id": "secret", "claim": secret})],
        parent=1, author="ada", date=first.when, note="a private claim",
    )  # fmt: skip
    done = deepfact("bench", "export", "mine", "--to", "out.csv")
    assert "wrote 6 claims of mine@2" in done.stdout and "1 private ones left out" in done.stdout
    assert "secret" not in Path("out.csv").read_text("utf-8")


def test_columns_that_are_not_read_are_named(desk: Path, deepfact: Run) -> None:
    Path("claims.csv").write_text("id,text,label,colour\nc1,It closed.,supported,red\n")
    done = deepfact("bench", "import", "csv", "claims.csv", "--name", "mine")
    assert done.returncode == 0 and "note: " in done.stderr and "colour" in done.stderr


def test_a_killed_import_leaves_nothing_of_the_version(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a kill leaves between any two writes is cleared when the benchmark is next opened."""
    from deepfact.store import commits

    store = BenchmarkStore(mine)
    revisions = list(store.revisions(1))
    before = files(mine)
    writes = 0
    real = commits.write_text

    def dies(path: Path, text: str) -> None:
        nonlocal writes
        if writes == 0:
            raise KeyboardInterrupt
        writes -= 1
        real(path, text)

    monkeypatch.setattr(commits, "write_text", dies)
    for survived in range(2):  # sources.txt, manifest.json; then the version is there
        writes = survived
        with pytest.raises(KeyboardInterrupt):
            store.commit(
                [revisions[0].model_copy(update={"claim_id": "new", "claim":
                 revisions[0].claim.model_copy(update={"id": "new"})})],
                parent=1, author="x", date=revisions[0].when, note="n",
            )  # fmt: skip
        assert files(mine) == before and BenchmarkStore(mine).versions() == [1]
