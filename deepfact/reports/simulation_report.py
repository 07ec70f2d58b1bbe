"""The report of a simulation of rounds, as HTML and as Markdown. Says everywhere what it is."""

from __future__ import annotations

from pathlib import Path

from deepfact.records import canonical_json, sha256_of
from deepfact.reports import study
from deepfact.reports.study import Interval, Plot, Section, Study, Table
from deepfact.simulation_records import Cell, Scenario, SimulationRecord
from deepfact.store.files import write_text

WARNING = (
    "This is a simulation. Its auditors know the key and err at a stated rate; its figures show "
    "how the loop behaves with auditors of that accuracy, and say nothing of people or models."
)


def write_reports(record: SimulationRecord, folder: Path) -> None:
    """``record.json``, ``report.html`` and ``report.md`` of a simulation, in its folder."""
    page = page_of(record)
    write_text(folder / "record.json", record.model_dump_json(indent=1) + "\n")
    write_text(folder / "report.html", study.render_html(page))
    write_text(folder / "report.md", study.render_markdown(page))


def page_of(record: SimulationRecord) -> Study:
    """What the report shows."""
    spec = record.spec
    by_scenario = {
        one.name: [cell for cell in record.cells if cell.scenario == one.name]
        for one in spec.scenarios
    }
    return Study(
        kind="simulation",
        name=record.name,
        lede=f"{len(spec.rounds)} simulated rounds on {record.claims} claims of "
        f"{record.benchmark.benchmark}@{record.benchmark.version}, {spec.seeds} seeds",
        banners=(WARNING,),
        sections=(
            _summary(record),
            *(
                _scenario(number, one, by_scenario[one.name], record)
                for number, one in enumerate(spec.scenarios, 1)
            ),
        ),
        facts=(
            ("Simulated", "yes: every auditor, and one-shot labels where they are drawn"),
            ("State hash", record.benchmark.state_hash),
            ("Hash of the spec", sha256_of(spec.canonical())),
        ),
        spec=canonical_json(spec.model_dump(mode="json")),
        deepfact=record.deepfact,
    )


def sentence(cell: Cell) -> str:
    """What a cell comes to."""
    return (
        f"Simulated auditors of accuracy {cell.auditor:g}: {cell.verdict}, "
        f"{study.change_words(cell.change)}."
    )


def _summary(record: SimulationRecord) -> Section:
    rows = tuple(
        (
            cell.scenario,
            f"{cell.auditor:g}",
            study.share_words(cell.before),
            study.share_words(cell.after),
            study.change_words(cell.change),
            cell.verdict,
        )
        for cell in record.cells
    )
    points = tuple(
        Interval(
            cell.scenario, f"accuracy {cell.auditor:g}", cell.change.value, cell.change.low,
            cell.change.high, study.change_words(cell.change), f"n = {cell.change.n}",
        )
        for cell in record.cells
    )  # fmt: skip
    return Section(
        "summary",
        "Summary: simulated auditing against one-shot labels",
        (
            "The change is paired, claim by claim; its 95 % interval draws whole reports with all "
            "their seeds. “Beats” and “does worse” are said only where the interval leaves zero "
            "out.",
            "An auditor who is right half of the time tells the stronger of two arguments no "
            "better than a coin.",
        ),
        (
            Table(
                "Simulated: accuracy of the labels before and after all rounds [95 % interval]",
                ("Scenario", "Auditor’s accuracy", "One-shot", "Audited", "Change", "Finding"),
                rows,
            ),
        ),
        (Plot("Simulated: change of label accuracy by auditing, in points", points, change=True),),
    )


def _scenario(
    number: int, scenario: Scenario, cells: list[Cell], record: SimulationRecord
) -> Section:
    labels = (
        "the version's own labels"
        if scenario.one_shot is None
        else f"simulated one-shot labels that are right with probability {scenario.one_shot:g}"
    )
    how = (
        "one auditor decides each case"
        if scenario.auditors == 1
        else f"{scenario.auditors} auditors decide each case, rule {scenario.rule}"
    )
    rows = tuple(
        (
            f"{cell.auditor:g}",
            f"{one.round}: {one.challenger}",
            f"{one.cases:.1f}",
            study.share_words(one.label_right),
            f"{one.accepted:.1f}",
            study.share_words(one.accuracy),
        )
        for cell in cells
        for one in cell.rounds
    )
    points = tuple(
        Interval(
            f"auditor {cell.auditor:g}", f"after round {one.round}", one.accuracy.value,
            one.accuracy.low, one.accuracy.high, study.share_words(one.accuracy),
            f"n = {one.accuracy.n}",
        )
        for cell in cells
        for one in cell.rounds
    )  # fmt: skip
    paragraphs = [
        f"Starts from {labels}; {how}. Cases and changed labels are means over "
        f"{record.spec.seeds} seeds.",
        *(sentence(cell) for cell in cells),
    ]
    first = cells[0].rounds[0].label_right if cells else None
    if scenario.auditors == 1 and first is not None and first.value is not None:
        paragraphs.append(
            f"In the first round {study.share_words(first)} of the challenged labels are right to "
            "begin with. A single auditor must be right more often than that on such cases, or "
            "auditing them makes the labels worse."
        )
    return Section(
        f"scenario-{number}",
        f"{scenario.name} (simulated)",
        tuple(paragraphs),
        (
            Table(
                "Simulated, round by round [95 % interval]",
                ("Auditor’s accuracy", "Round: challenger", "Cases", "Challenged label was right",
                 "Labels changed", "Accuracy of the labels after it"),
                rows,
            ),
        ),
        (Plot("Simulated: accuracy of the labels, round by round", points),),
    )  # fmt: skip
