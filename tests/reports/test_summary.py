"""The summary rows that the terminal prints."""

from __future__ import annotations

import subprocess
import sys

from deepfact.reports.summary import SIMULATED, summary_rows


def test_rows_of_a_complete_run(factory):
    record = factory().record()
    rows = summary_rows(record)
    by_name = {row.name: row for row in rows}
    assert by_name["status"].words == "complete"
    assert by_name["challenges"].count == record.rounds[0].challenges == 8
    assert by_name["accepted challenges"].count == record.rounds[0].accepted == 4
    assert by_name["label changes"].count == 4
    sheets = {s.on: s for s in record.rounds[0].scores if s.verifier == "local"}
    accuracies = [row.rate for row in rows if row.name.startswith("accuracy")]
    assert accuracies == [sheet.accuracy for sheet in sheets.values()]
    assert by_name["accuracy before, on version 1"].rate == sheets["version 1"].accuracy
    gold = [row for row in rows if row.name.startswith("micro-gold")]
    assert [row.name for row in gold] == [f"micro-gold accuracy, version {v}" for v in (1, 2)]


def test_every_row_says_exactly_one_thing(factory):
    for row in summary_rows(factory().record(2)):
        assert (row.count is not None) + (row.rate is not None) + (row.name == "status") == 1


def test_simulation_is_noted(factory):
    noted = [row for row in summary_rows(factory().record()) if row.note]
    assert {row.note for row in noted} == {SIMULATED}
    names = {row.name for row in noted}
    assert {"label changes", "micro-gold accuracy, version 2"} <= names
    assert "accuracy after, on version 2" in names
    # What was there before any auditor decided is not theirs.
    assert not names & {"challenges", "micro-gold accuracy, version 1"}
    assert "accuracy before, on version 1" not in names
    assert not any(row.note for row in summary_rows(factory(simulated=False).record()))


def test_a_pending_run_counts_what_waits(factory):
    rows = {row.name: row for row in summary_rows(factory(pending=True).record())}
    assert rows["status"].words == "pending"
    assert rows["cases waiting for a decision"].count == 2
    assert not any(name.startswith("accuracy") for name in rows)


def test_an_unchanged_version_is_scored_once(factory):
    record = factory().record()
    round_ = record.rounds[0].model_copy(update={"result": record.rounds[0].base})
    rows = summary_rows(record.model_copy(update={"rounds": (round_,)}))
    names = [row.name for row in rows if row.name.startswith("accuracy")]
    assert names == ["accuracy on version 1, which the round did not change"]


def test_importing_the_summary_is_cheap():
    code = "import sys, deepfact.reports.summary; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
