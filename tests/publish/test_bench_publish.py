"""``deepfact bench publish`` as people use it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deepfact.publish.measured import audited_round
from deepfact.run_records import RunRecord
from deepfact.store.files import read_record

Run = Callable[..., subprocess.CompletedProcess[str]]

SPEC = """
name: trial
benchmark: small@1
challenger: {kind: quoting}
auditors: [first, second]
policy: {rule: unanimous}
seed: 5
commit_to: run
date: 2026-01-05T00:00:00Z
"""

AUDITOR = """
name: NAME
kind: policy
about: "A simulation | with a *pipe*."
options: {accuracy: 0.7, key: author, seed: SEED}
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def out(desk: Path) -> Path:
    return desk / "snapshots" / "small-1"


def test_publishing_writes_a_folder_and_says_what(out: Path, deepfact: Run) -> None:
    done = deepfact("bench", "publish", "small@1", "--to", out, "--license", "mit")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("small@1: 60 claims, ")
    assert "0 private claims left out" in done.stdout and f"wrote {out}" in done.stdout
    assert "note: no language is stated" in done.stderr
    assert {path.name for path in out.iterdir()} == {
        "CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "croissant.json", "data", "jsonl",
        "snapshot.json",
    }  # fmt: skip


def test_json_for_programs(out: Path, deepfact: Run) -> None:
    done = deepfact("bench", "publish", "small", "--to", out, "--license", "mit", "--json")
    found = json.loads(done.stdout)
    assert (found["benchmark"], found["version"], found["claims"]) == ("small", 1, 60)
    assert (found["written"], found["to"]) == (True, str(out))
    assert {"k", "n", "low", "high"} <= set(found["microgold"]["labels"])
    assert found["files"] == {name: len(data) for name, data in contents(out).items()}


def test_twice_gives_the_same_bytes_and_never_overwrites_unasked(out: Path, deepfact: Run) -> None:
    words = ("bench", "publish", "small@1", "--license", "mit", "--language", "en")
    assert deepfact(*words, "--to", out).returncode == 0
    before = contents(out)
    again = deepfact(*words, "--to", out)
    assert again.returncode == 2 and "--overwrite" in again.stderr
    assert deepfact(*words, "--to", out, "--overwrite").returncode == 0
    assert deepfact(*words, "--to", "elsewhere").returncode == 0
    assert before == contents(out) == contents(Path("elsewhere"))


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["small@1"], "no licence is stated"),
        (["small@9", "--license", "mit"], "9"),
        (["nothing@1", "--license", "mit"], "no benchmark is called 'nothing'"),
        (["small@1", "--license", "mitt"], "did you mean 'mit"),
        (["small@1", "--license", "mit", "--language", "english!"], "no language code"),
        (["small@1", "--license", "mit", "--push"], "--push is for the Hub"),
        (["small@1", "--license", "mit", "--private"], "--private is for the Hub"),
        (["small@1", "--license", "mit", "--run", "nowhere"], "no such file"),
        (["small@1", "--license", "mit", "--license-file", "nowhere"], "no such file"),
    ],
)
def test_wrong_input_writes_nothing(out: Path, deepfact: Run, words: list[str], what: str) -> None:
    done = deepfact("bench", "publish", *words, "--to", out)
    assert done.returncode == 2 and what in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not out.parent.exists()


@pytest.mark.parametrize(
    ("to", "what"),
    [
        ("benchmarks/small", "does not belong into the benchmark"),
        ("benchmarks/small/out", "does not belong into the benchmark"),
        ("auditors", "no publish made it"),
        ("", "no folder"),
        ("hub:a/b/c", "no name of a repository"),
    ],
)
def test_wrong_places(desk: Path, deepfact: Run, to: str, what: str) -> None:
    before = contents(desk)
    done = deepfact("bench", "publish", "small@1", "--to", to, "--license", "mit")
    assert done.returncode == 2 and what in done.stderr, done.stderr
    assert contents(desk) == before


def test_overwrite_is_for_folders(desk: Path, deepfact: Run) -> None:
    done = deepfact("bench", "publish", "small@1", "--to", "hub:a/b", "--license", "mit",
                    "--overwrite")  # fmt: skip
    assert done.returncode == 2 and "--overwrite is for folders" in done.stderr


# --- with the runs that led to a version ---------------------------------------------------


@pytest.fixture
def audited(desk: Path, deepfact: Run) -> Path:
    """A copy of `small` whose version 2 two simulated auditors made, in a finished run."""
    for seed, name in enumerate(("first", "second")):
        text = AUDITOR.replace("NAME", name).replace("SEED", str(seed))
        (desk / "auditors" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (desk / "trial.yaml").write_text(SPEC, encoding="utf-8")
    done = deepfact("round", "run", "trial.yaml")
    assert done.returncode == 0, done.stderr
    return desk / "results" / "trial"


def test_the_card_says_what_the_auditors_did(audited: Path, out: Path, deepfact: Run) -> None:
    small = f"{audited}/benchmarks/small"
    done = deepfact("bench", "publish", small, "--to", out, "--license", "mit", "--run", audited)
    assert done.returncode == 0, done.stderr
    text = (out / "README.md").read_text("utf-8")
    record = json.loads((audited / "record.json").read_text("utf-8"))["rounds"][0]
    [line] = [line for line in text.splitlines() if line.startswith("| trial (simulated")]
    accepted = sum(ruling["accepts_challenge"] for ruling in record["rulings"])
    challenges = sum(key["kind"] == "challenge" for key in record["keys"])
    assert line.startswith(
        f"| trial (simulated auditors) | 1 | {len(record['cases'])} | {challenges} | {accepted} |"
    )
    assert f"{2 * len(record['cases'])} decisions" in text
    assert "| all cases |" in text and "Cohen's kappa" in text and "| first, second |" in text
    assert "95 % interval" in text and "nothing of people" in text
    assert "made from version 1" in text


def test_which_claims_were_controls_or_micro_gold_is_not_in_it(
    audited: Path, out: Path, deepfact: Run
) -> None:
    small = f"{audited}/benchmarks/small"
    deepfact("bench", "publish", small, "--to", out, "--license", "mit", "--run", audited)
    rows = (out / "jsonl" / "claims.jsonl").read_text("utf-8")
    for word in ("control", "microgold", "micro-gold", "stratum", "challenger"):
        assert f'"{word}' not in rows
    card = (out / "README.md").read_text("utf-8")
    record = json.loads((audited / "record.json").read_text("utf-8"))["rounds"][0]
    first = json.loads(rows.splitlines()[0])["id"]  # the card's example
    for key in record["keys"]:
        assert key["claim_id"] == first or key["claim_id"] not in card


def test_the_domain_of_a_private_claim_is_not_told_by_agreement(audited: Path) -> None:
    record = read_record(audited / "record.json", RunRecord)
    done = record.rounds[0]
    first, *others = done.cases
    hidden = first.claim.model_copy(update={"domain": "secret-project", "private": True})
    cases = (first.model_copy(update={"claim": hidden}), *others)
    changed = done.model_copy(update={"cases": cases})
    before, after = audited_round(record, done).agreement, audited_round(record, changed).agreement
    assert before is not None and after is not None
    assert "secret-project" not in after.model_dump_json()
    assert after.decisions == before.decisions - 2


def test_runs_that_had_no_part_or_are_open_are_refused(
    audited: Path, out: Path, deepfact: Run
) -> None:
    words = ("bench", "publish", f"{audited}/benchmarks/small@1", "--license", "mit", "--to", out)
    done = deepfact(*words, "--run", audited)
    assert done.returncode == 2 and "had no part in small@1" in done.stderr
    path = audited / "record.json"
    text = path.read_text("utf-8")
    words = ("bench", "publish", "small@1", "--license", "mit", "--to", out, "--run", str(audited))
    for broken, what in (
        (text.replace('"status":"complete"', '"status":"pending"')
             .replace('"status": "complete"', '"status": "pending"'), "still open"),
        (text[:200], "not JSON"),
        ("{}", "name"),
    ):  # fmt: skip
        path.write_text(broken, "utf-8")
        done = deepfact(*words)
        assert done.returncode == 2 and what in done.stderr, done.stderr
    assert not out.exists()
