"""``deepfact score`` with probabilities: calibration, thresholds, the page, and what is refused."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from deepfact.store.benchmark import BenchmarkStore


@pytest.fixture
def verdicts(desk):
    """Verdicts of one system on `small`, sure of itself and right two times in three."""
    state = BenchmarkStore(desk / "benchmarks" / "small").load(1).state
    rows = []
    for number, entry in enumerate(state):
        right = number % 3 != 0
        supported = (str(entry.label) == "supported") == right
        sure = 0.95 - 0.005 * number
        rows.append({"claim_id": entry.claim.id, "label": "supported" if supported else
                     "inconclusive", "score": sure if supported else 1 - sure})  # fmt: skip
    (desk / "v.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def scored(deepfact, *words):
    return deepfact("score", "v.jsonl", "--benchmark", "small", *words)


def test_calibration_is_shown_and_told(deepfact, verdicts):
    shown = scored(deepfact)
    assert shown.returncode == 0, shown.stderr
    assert "calibration, supported against the rest: n = 60" in shown.stdout
    assert "expected calibration error" in shown.stdout and "Brier score" in shown.stdout
    told = json.loads(scored(deepfact, "--json").stdout)
    (found,) = told["calibration"]
    assert found["values"]["accuracy"] == pytest.approx(40 / 60)
    assert sum(one["n"] for one in found["bins"]) == found["n"] == 60
    assert found["values"]["ece"] > 0.05 and len(found["intervals"]["ece"]) == 2


def test_without_probabilities_nothing_is_added(desk, deepfact, verdicts):
    (desk / "v.jsonl").write_text(
        "".join(json.dumps({**row, "score": None}) + "\n" for row in verdicts)
    )
    assert "calibration" not in scored(deepfact).stdout
    assert "calibration" not in json.loads(scored(deepfact, "--json").stdout)
    refused = scored(deepfact, "--threshold", "0.5")
    assert refused.returncode == 2 and "no claim in question has probabilities" in refused.stderr


def test_a_threshold_is_applied(deepfact, verdicts):
    shown = scored(deepfact, "--threshold", "0.5")
    assert "supported above 0.5: n = 60" in shown.stdout and "area under" in shown.stdout
    told = json.loads(scored(deepfact, "--threshold", "0.5", "--json").stdout)["threshold"]
    assert told["values"]["accuracy"] == pytest.approx(40 / 60) and told["flatters"] is False
    assert told["values"]["threshold"] == 0.5


def test_a_threshold_is_chosen_on_other_verdicts(desk, deepfact, verdicts):
    rows = [{"id": "d1", "text": "A.", "label": "supported"},
            {"id": "d2", "text": "B.", "label": "inconclusive"}]  # fmt: skip
    (desk / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert deepfact("bench", "import", "jsonl", "dev.jsonl", "--name", "dev").returncode == 0
    (desk / "d.csv").write_text("claim_id,label,score\nd1,supported,0.9\nd2,inconclusive,0.62\n")
    words = ("--threshold-from", "d.csv", "--threshold-benchmark", "dev")
    told = json.loads(scored(deepfact, *words, "--json").stdout)["threshold"]
    assert told["values"]["threshold"] == 0.62 and not told["flatters"]
    assert told["how"] == "The threshold was chosen by f1 on dev@1 (n = 2)."


def test_a_threshold_chosen_on_what_it_is_scored_on_says_so(deepfact, verdicts, desk):
    words = ("--threshold-from", "v.jsonl", "--threshold-benchmark", "small",
             "--threshold-by", "balanced_accuracy")  # fmt: skip
    shown = scored(deepfact, *words, "--report", "s.html")
    assert "so its scores flatter" in shown.stderr
    assert "chosen by balanced accuracy on small@1" in shown.stderr
    assert "so its scores flatter" in (desk / "s.html").read_text("utf-8")


class _Svg(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.told, self._in = [], "", ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = tag

    def handle_data(self, data):
        if self._in == "desc":
            self.told += data


def test_the_page_has_a_plot_that_can_be_read_in_grey_and_without_seeing_it(
    desk, deepfact, verdicts
):
    done = scored(deepfact, "--report", "out/s.html")
    assert done.returncode == 0 and "the page: out/s.html" in done.stdout
    page = (desk / "out" / "s.html").read_text("utf-8")
    read = _Svg()
    read.feed(page)
    (svg,) = [attrs for tag, attrs in read.tags if tag == "svg"]
    ids = {attrs.get("id") for _, attrs in read.tags}
    assert svg["role"] == "img" and set(svg["aria-labelledby"].split()) <= ids
    assert "right in" in read.told and "95 % interval" in read.told and "unverified" in read.told
    assert not any("style" in attrs or "fill" in attrs for _, attrs in read.tags)
    bins = json.loads(scored(deepfact, "--json").stdout)["calibration"][0]["bins"]
    marks = [attrs for tag, attrs in read.tags if tag == "circle"]
    assert len(marks) == sum(one["n"] > 0 for one in bins)
    assert "Hash of the verdicts" in page and "http" not in page.replace("http-equiv", "")


def test_the_page_as_markdown_has_the_table(desk, deepfact, verdicts):
    assert scored(deepfact, "--report", "s.md", "--threshold", "0.4").returncode == 0
    text = (desk / "s.md").read_text("utf-8")
    assert "## Calibration: supported against the rest" in text
    assert "| 90.0 % to 100.0 % |" in text.replace("\u00a0", " ")
    assert "## Supported above 0.4" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--report", "s.pdf"), "a report is .html or .md"),
        (("--threshold", "0.5", "--threshold-from", "v.jsonl"), "not both"),
        (("--threshold-from", "v.jsonl"), "go together"),
        (("--threshold-benchmark", "small"), "go together"),
        (("--threshold", "1.5"), "--threshold"),
    ],
)
def test_what_does_not_fit_is_refused(deepfact, verdicts, words, told):
    done = scored(deepfact, *words)
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr


def test_a_probability_that_is_none_is_told(desk, deepfact, verdicts):
    (desk / "v.jsonl").write_text(json.dumps({**verdicts[0], "score": 73}) + "\n")
    done = scored(deepfact)
    assert done.returncode == 2 and "73 is no probability" in done.stderr
    assert "v.jsonl, line 1" in done.stderr
