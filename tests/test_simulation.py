"""Simulated rounds: the direction that the study found, the same steps as real rounds, and a report
that says what it is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.auditors.policy import PolicyAuditor
from deepfact.errors import BenchmarkError, ConfigError, ResultsExistError
from deepfact.reports import study
from deepfact.reports.simulation_report import page_of, write_reports
from deepfact.round import run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, VerifierSpec
from deepfact.simulation import (
    Material,
    RoundTally,
    ask_challenger,
    check_out,
    run_once,
    simulate,
    starting_state,
)
from deepfact.simulation_records import Scenario, SimulationRecord, SimulationSpec
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import write_text
from deepfact.store.locate import load_version
from deepfact.store.specs import read_yaml
from deepfact.verifiers.base import Context

ROOT = Path(__file__).parent.parent
STUDY = Scenario(name="the study", one_shot=0.608)
FIVE = Scenario(name="five", rule="unanimous", auditors=5)
CHALLENGERS = (
    VerifierSpec(kind="local", name="local-cited", options={"scope": "cited"}),
    VerifierSpec(kind="local", name="local-all", options={"scope": "all"}),
    VerifierSpec(kind="overlap"),
    VerifierSpec(kind="retrieval"),
)


def spec(**changes: Any) -> SimulationSpec:
    given = {
        "name": "sim", "benchmark": "deepfact-mini@1", "rounds": CHALLENGERS,
        "scenarios": (STUDY,), "accuracies": (0.5, 0.75, 0.9), "seeds": 4, **changes,
    }  # fmt: skip
    return SimulationSpec.model_validate(given)


@pytest.fixture(scope="module")
def record() -> SimulationRecord:
    return simulate(spec(scenarios=(STUDY, FIVE)), root=ROOT / "benchmarks")


# --- the direction --------------------------------------------------------------------------


def test_auditing_beats_one_shot_labelling_unless_the_auditor_is_at_chance(
    record: SimulationRecord,
) -> None:
    """240 claims, four rounds, four seeds; the intervals draw reports."""
    cells = {(cell.scenario, cell.auditor): cell for cell in record.cells}
    for scenario in (STUDY.name, FIVE.name):
        at_chance, better, best = (cells[scenario, p] for p in (0.5, 0.75, 0.9))
        assert at_chance.change.low < 0 and at_chance.verdict != better.verdict
        assert better.change.low > 0 and best.change.low > 0
        assert better.verdict == best.verdict == "auditing beats one-shot labelling"
        assert at_chance.after.value < better.after.value < best.after.value
    study_before = cells[STUDY.name, 0.9].before
    assert abs(study_before.value - 0.608) < 0.04 and study_before.n == 240


def test_one_auditor_harms_labels_that_are_better_than_those_who_challenge_them() -> None:
    """The shipped labels are right on most challenged claims, so being better than chance is not
    enough for a single auditor: the report must not claim otherwise."""
    shipped = Scenario(name="as shipped")
    found = simulate(spec(scenarios=(shipped,), accuracies=(0.6,)), root=ROOT / "benchmarks")
    (cell,) = found.cells
    assert cell.rounds[0].label_right.value > 0.7
    assert cell.change.high < 0 and cell.verdict == "auditing does worse"
    page = study.render_markdown(page_of(found))
    assert "must be right more often than that" in page


def test_everything_is_drawn_by_the_seed() -> None:
    one = spec(accuracies=(0.75,), seeds=2, rounds=CHALLENGERS[2:])
    root = ROOT / "benchmarks"
    assert simulate(one, root=root) == simulate(one, root=root)
    other = simulate(one.model_copy(update={"seed": 9}), root=root)
    assert other.cells[0].after != simulate(one, root=root).cells[0].after


# --- the same steps as a real run -----------------------------------------------------------


@pytest.mark.parametrize("scenario", [Scenario(name="one"), FIVE])
def test_a_simulation_ends_with_the_labels_of_a_real_run(desk: Path, scenario: Scenario) -> None:
    challengers = (VerifierSpec(kind="quoting"), VerifierSpec(kind="overlap"))
    wanted = spec(benchmark="small@1", rounds=challengers, scenarios=(scenario,))
    version = load_version("small@1")
    key = version.store.key("author")
    entries = tuple(entry for entry in version.state if entry.claim.id in key)
    context = Context(version.sources)
    claims = [entry.claim for entry in entries]
    outcomes = tuple(ask_challenger(wanted, n, claims, context, lambda _: None) for n in range(2))
    material = Material(entries, key, context.sources, outcomes)
    state = starting_state(material, scenario, seed=5)
    tallies = [RoundTally(), RoundTally()]
    ended = run_once(wanted, scenario, 0.9, material, state, 5, tallies)

    names = [f"auditor-{number}" for number in range(1, scenario.auditors + 1)]
    real = RoundSpec(
        name="real", benchmark="small@1", auditors=tuple(names), seed=5, commit_to="run",
        policy={"rule": scenario.rule}, controls={"agreed": 0, "microgold": 0},
        rounds=tuple({"challenger": one} for one in challengers),
        date=datetime(2026, 1, 5, tzinfo=UTC),
    )  # fmt: skip
    auditors = tuple(
        AuditorSpec(name=name, kind="policy", options={"accuracy": 0.9, "seed": 5})
        for name in names
    )
    done = run_rounds(real, Path("run"), auditors=auditors)
    last = BenchmarkStore(Path("run/benchmarks/small")).load(done.rounds[-1].result.version)
    assert {e.claim.id: e.label for e in ended} == {e.claim.id: e.label for e in last.state}
    assert [tally.cases for tally in tallies] == [len(one.cases) for one in done.rounds]
    assert [tally.accepted for tally in tallies] == [len(one.revisions) for one in done.rounds]
    assert sum(tally.accepted for tally in tallies) > 3


def test_challengers_are_asked_once_and_auditors_are_the_simulated_ones(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    accuracies: set[float] = set()
    init = PolicyAuditor.__init__

    def counted(self: PolicyAuditor, *args: Any, **given: Any) -> None:
        accuracies.add(given["accuracy"])
        init(self, *args, **given)

    monkeypatch.setattr(PolicyAuditor, "__init__", counted)
    import house_judges

    verify = house_judges.Quoting.verify

    def once(self: Any, claim: Any, context: Any) -> Any:
        asked.append(claim.id)
        return verify(self, claim, context)

    monkeypatch.setattr(house_judges.Quoting, "verify", once)
    simulate(spec(benchmark="small@1", rounds=(VerifierSpec(kind="quoting"),), seeds=3))
    assert len(asked) == len(set(asked)) == 60
    assert accuracies == {0.5, 0.75, 0.9}


# --- the report -----------------------------------------------------------------------------


def test_the_report_says_everywhere_that_it_is_a_simulation(
    record: SimulationRecord, tmp_path: Path
) -> None:
    write_reports(record, tmp_path)
    html = (tmp_path / "report.html").read_text("utf-8")
    markdown = (tmp_path / "report.md").read_text("utf-8")
    for text in (html, markdown):
        assert "This is a simulation." in text
    for title in re.findall(r"<caption>(.*?)</caption>|<title id[^>]*>(.*?)</title>", html):
        assert "imulated" in "".join(title)
    for heading in re.findall(r"<h2 id=\"h-(?!provenance)[^>]*>(.*?)</h2>", html):
        assert "simulated" in heading
    assert html.count('role="img"') == 3 and html.count("<desc") == 3
    assert r"points \[" in markdown and r"\(n = 240\)" in markdown
    assert all(
        sentence in html
        for sentence in ("auditing beats one-shot labelling", "Simulated auditors of accuracy 0.75")
    )
    again = SimulationRecord.model_validate_json((tmp_path / "record.json").read_text("utf-8"))
    assert again == record and again.simulated


# --- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("accuracies: [0.5, 0.5]", "given twice"),
        ("accuracies: [1.5]", "less than or equal to 1"),
        ("scenarios: [{name: a}, {name: a}]", "one name"),
        ("scenarios: [{name: a, auditors: 3}]", "rule single is for one"),
        ("scenarios: [{name: a, rule: weighted}]", "rule"),
        ("seeds: 0", "greater than or equal to 1"),
        ("colour: red", "unknown key"),
    ],
)
def test_a_spec_that_does_not_fit_is_refused(tmp_path: Path, line: str, what: str) -> None:
    key = line.partition(":")[0]
    base = {
        "name": "name: s", "benchmark": "benchmark: small@1", "rounds": "rounds: [{kind: local}]",
        "scenarios": "scenarios: [{name: a}]", "accuracies": "accuracies: [0.5]",
    }  # fmt: skip
    path = tmp_path / "s.yaml"
    write_text(path, "\n".join({**base, key: line}.values()) + "\n")
    with pytest.raises(ConfigError, match=what):
        read_yaml(path, SimulationSpec)


def test_a_missing_key_and_a_folder_of_something_else_are_refused(desk: Path) -> None:
    with pytest.raises(BenchmarkError, match="no labelled claim"):
        simulate(spec(benchmark="small@1", key="nobody"))
    check_out(Path("nowhere"))
    write_text(Path("taken/notes.txt"), "mine")
    write_text(Path("other/record.json"), "{}")
    write_text(Path("file"), "")
    for name in ("taken", "other", "file"):
        with pytest.raises(ResultsExistError):
            check_out(Path(name))
