"""``deepfact report import`` as a user meets it: several files, some broken, records, claims."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from deepfact.documents.records import ReportRecord
from deepfact.store.files import read_record

Run = Callable[..., subprocess.CompletedProcess[str]]
TEXT = (
    "# Mills\n\nThe mill was built in 1898 [1]. It closed in 1931 [2]. It fell in 1940 [9].\n\n"
    "## References\n\n1. Mill history https://example.org/a\n2. Chronicle https://example.org/b\n"
)
LAST = "1 report imported in results/reports"


def put(name: str, data: str | bytes) -> str:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    return name


def test_a_report_becomes_a_record(desk: Path, deepfact: Run) -> None:
    done = deepfact("report", "import", put("mills.md", TEXT))
    assert (done.returncode, done.stderr) == (0, "")
    assert "66.7%" in done.stdout, "the share of marks that resolve"
    assert "unresolved: mills, line 3: [9]  (no entry with number 9)" in done.stdout
    assert done.stdout.splitlines()[-1] == LAST
    record = read_record(Path("results/reports/mills.report.json"), ReportRecord)
    assert record.text == TEXT and len(record.sentences) == 3
    again = deepfact("report", "import", "mills.md")
    assert again.returncode == 0 and again.stdout.splitlines()[-1] == LAST


def test_another_report_under_the_same_name_is_not_overwritten(desk: Path, deepfact: Run) -> None:
    deepfact("report", "import", put("mills.md", TEXT))
    put("mills.md", "Another text is here now.")
    done = deepfact("report", "import", "mills.md")
    assert done.returncode == 2 and "another record of this report is there" in done.stderr
    assert "--replace" in done.stderr
    assert deepfact("report", "import", "mills.md", "--replace").returncode == 0
    record = read_record(Path("results/reports/mills.report.json"), ReportRecord)
    assert record.text == "Another text is here now."


def test_what_is_broken_is_told_and_the_rest_imported(desk: Path, deepfact: Run) -> None:
    names = [
        put("mills.md", TEXT),
        put("empty.md", ""),
        put("cut.pdf", b"%PDF-1.4\nabc"),
        put("zip.docx", b"PK\x03\x04 no"),
        put("l.html", b"<meta charset=utf-8><p>Caf\xe9 is old"),
        "missing.md",
        put("two.jsonl", '{"text": "It is so."}\n{\n'),
    ]
    done = deepfact("report", "import", *names, "--out", "out")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "l.report.json", "mills.report.json", "two-1.report.json",
    ]  # fmt: skip
    for words in ("empty.md: the file is empty", "cut.pdf: the PDF is cut off",
                  "zip.docx: this is no DOCX", "missing.md: no such file", "two.jsonl, line 2: not",
                  "l: it says it is utf-8 and is not"):  # fmt: skip
        assert words in done.stderr
    assert done.stdout.splitlines()[-1] == "3 reports imported in out, 5 not imported"
    none = deepfact("report", "import", "empty.md", "missing.md", "--out", "none")
    assert none.returncode == 2 and not Path("none").exists()


def test_json_output_says_all_of_it(desk: Path, deepfact: Run) -> None:
    put("mills.md", TEXT)
    done = deepfact("report", "import", "mills.md", "missing.md", "--dry-run", "--json")
    assert done.returncode == 1 and not Path("results").exists()
    said = json.loads(done.stdout)
    (report,) = said["reports"]
    assert (report["markers"], report["resolved"], report["links"]) == (3, 2, 0)
    assert report["unresolved"] == [
        {"text": "[9]", "line": 3, "start": 80, "why": "no entry with number 9"}
    ]
    assert TEXT[80:83] == "[9]"
    assert said["failed"][0]["what"] == "no such file"


def test_sizes_are_bounded_and_the_bounds_can_be_moved(desk: Path, deepfact: Run) -> None:
    put("long.md", "The mill was built in 1898.\n\n" * 100)
    done = deepfact("report", "import", "long.md", "--max-mb", "0.001")
    assert done.returncode == 2 and "more than 0.001 MB" in done.stderr
    done = deepfact("report", "import", "long.md", "--max-chars", "500")
    assert done.returncode == 2 and "2,900 characters, more than 500" in done.stderr
    assert "--max-chars 2900" in done.stderr
    assert deepfact("report", "import", "long.md", "--max-chars", "2900").returncode == 0


def test_verifiable_sentences_become_claims_of_a_benchmark(desk: Path, deepfact: Run) -> None:
    put("mills.md", TEXT)
    put("docs.jsonl", json.dumps({"id": "a", "url": "https://example.org/a", "text": "1898."}))
    words = ("report", "import", "mills.md", "--benchmark", "mills", "--sources", "docs.jsonl")
    dry = deepfact(*words, "--dry-run")
    assert "dry run, nothing written: mills would get 3 claims" in dry.stdout, dry.stderr
    assert not Path("benchmarks/mills").exists()
    done = deepfact(*words)
    assert done.returncode == 0 and "made mills@1: 3 claims (3 unlabelled)" in done.stdout
    shown = json.loads(deepfact("bench", "show", "mills", "mills-s001", "--json").stdout)
    claim = shown.get("claim", shown)
    assert "Mill history, https://example.org/a" in json.dumps(claim)
    assert deepfact("bench", "verify", "mills").returncode == 0
    assert "nothing new for mills" in deepfact(*words).stdout
    by_hand = deepfact("bench", "import", "report", "results/reports", "--name", "by-hand")
    assert "made by-hand@1: 3 claims" in by_hand.stdout


def test_published_verdicts_come_along(desk: Path, deepfact: Run) -> None:
    """A DeepFact-Bench file goes through its own importer: the labels are people's."""
    text = "The mill was built in 1898. It closed in 1931."
    rated = {"relevance": "5", "human_verdict": "supported"}
    info = [
        {"sentence": "The mill was built in 1898.", **rated},
        {"sentence": "It closed in 1931."},
    ]
    report = {"report_id": "m1", "topic": "Mills", "response": text, "sentences_info": info}
    put("m1.json", json.dumps(report))
    done = deepfact("report", "import", "m1.json", "--benchmark", "published")
    assert "made published@1: 1 claims (1 supported)" in done.stdout, done.stderr


def test_sentences_and_reports_in_files_of_their_own(desk: Path, deepfact: Run) -> None:
    text = "The mill was built in 1898. It closed in 1931."
    sentences = ["The mill was built in 1898.", "It closed in 1931."]
    row = {
        "report_id": "m1",
        "sentence_idx": "1",
        "relevance": "3",
        "human_verdict": "contradictory",
    }
    put("test.json", json.dumps([row]))
    put("test_reports.json", json.dumps({"m1": {"response": text, "sentences": sentences}}))
    words = ("report", "import", "test.json", "test_reports.json", "--benchmark", "published")
    done = deepfact(*words)
    assert done.returncode == 0, done.stderr
    assert "made published@1: 1 claims (1 contradictory)" in done.stdout
    record = read_record(Path("results/reports/m1.report.json"), ReportRecord)
    assert [one.relevance for one in record.sentences] == [None, 3]


def test_a_model_can_rate(desk: Path, deepfact: Run) -> None:
    put("mills.md", TEXT)
    ratings = [{"sentence": f"S{n}", "verifiable": n == 1, "relevance": n, "reason": "so"}
               for n in (1, 2, 3)]  # fmt: skip
    answer = json.dumps({"ratings": ratings})
    put("rater.yaml", f"model: m\nresponses: r.sqlite\nprovider: {{kind: scripted, options: "
        f"{{answer: {json.dumps(answer)}}}}}\n")  # fmt: skip
    words = ("report", "import", "mills.md", "--rate-with", "rater.yaml")
    dry = deepfact(*words, "--dry-run")
    assert "rating by m: 1 calls" in dry.stderr and not Path("r.sqlite").exists()
    done = deepfact(*words)
    assert done.returncode == 0, done.stderr
    record = read_record(Path("results/reports/mills.report.json"), ReportRecord)
    assert [one.relevance for one in record.sentences] == [1, 2, 3]
    assert [one.verifiable for one in record.sentences] == [True, False, False]
    put("rater.yaml", "model: m\n")
    wrong = deepfact(*words)
    assert wrong.returncode == 2 and "the key 'provider' is missing" in wrong.stderr


def test_wrong_words_are_told(desk: Path, deepfact: Run) -> None:
    put("mills.md", TEXT)
    for words, said in (
        (["--format", "markdwn"], "did you mean 'markdown'?"),
        (["--min-relevance", "3"], "go with --benchmark"),
        (["--benchmark", "No Name"], "No Name"),
    ):
        done = deepfact("report", "import", "mills.md", *words)
        assert done.returncode == 2 and said in done.stderr, words
        assert not Path("results").exists()
