"""The report of a cross-audit, as HTML and as Markdown: who audits whom, and what it changes."""

from __future__ import annotations

from pathlib import Path

from deepfact.crossaudit_records import CrossAuditRecord, PairScore
from deepfact.measure_records import Rate
from deepfact.records import canonical_json, sha256_of
from deepfact.reports import study
from deepfact.reports.round_report import without_secrets
from deepfact.reports.study import Interval, Plot, Section, Study, Table
from deepfact.reports.templating import rate_words
from deepfact.store.files import write_text

SIMULATED = (
    "Some auditors are simulations that know the key and err at a stated rate. They are marked "
    "(simulated); their figures show how a cross-audit reads, and say nothing of people or models."
)


def write_reports(record: CrossAuditRecord, folder: Path) -> None:
    """``record.json``, ``report.html`` and ``report.md`` of a cross-audit, in its folder."""
    page = page_of(record)
    write_text(folder / "record.json", record.model_dump_json(indent=1) + "\n")
    write_text(folder / "report.html", study.render_html(page))
    write_text(folder / "report.md", study.render_markdown(page))


def page_of(record: CrossAuditRecord) -> Study:
    """What the report shows."""
    banners = [SIMULATED] if record.simulated else []
    if not record.complete:
        banners.append("Decisions are missing: some pairs are not measured yet.")
    return Study(
        kind="cross-audit",
        name=record.name,
        lede=f"{len(record.spec.auditors)} auditors, {len(record.spec.agents)} audited agents, on "
        f"{record.claims} claims of {record.benchmark.benchmark}@{record.benchmark.version} whose "
        f"answer is known (key {record.spec.key})",
        banners=tuple(banners),
        sections=(_matrix(record), _pairs(record)),
        facts=(
            ("State hash", record.benchmark.state_hash),
            ("Hash of the spec", sha256_of(record.spec.canonical())),
            *(
                (f"Auditor {one.name}", f"{one.kind}. {one.about}".strip())
                for one in record.auditors
            ),
        ),
        spec=canonical_json(without_secrets(record.spec.model_dump(mode="json"))),
        deepfact=record.deepfact,
    )


def short(rate: Rate | None) -> str:
    """A rate in a cell of the matrix."""
    return "" if rate is None else rate_words(rate)


def pair_words(pair: PairScore) -> str:
    """A cell of the matrix: accuracy after the audit, and the change."""
    if pair.status == "own model":
        return "skipped: it would judge its own model"
    if pair.status == "incomplete" or pair.audited is None or pair.change is None:
        return "incomplete: decisions are missing"
    return f"{rate_words(pair.audited)}; change {study.change_words(pair.change)}"


def auditor_name(pair: PairScore) -> str:
    """The auditor, marked when it is a simulation."""
    return f"{pair.auditor} (simulated)" if pair.simulated else pair.auditor


def _matrix(record: CrossAuditRecord) -> Section:
    by_pair = {(pair.auditor, pair.agent): pair for pair in record.pairs}
    auditors = [one.name for one in record.auditors]
    heads = [auditor_name(by_pair[name, record.solo[0].agent]) for name in auditors]
    rows = tuple(
        (
            solo.agent,
            short(solo.accuracy),
            *(pair_words(by_pair[name, solo.agent]) for name in auditors),
        )
        for solo in record.solo
    )
    measured = [pair for pair in record.pairs if pair.change is not None]
    changes = tuple(
        Interval(
            f"agent {pair.agent}", f"audited by {auditor_name(pair)}", pair.change.value,
            pair.change.low, pair.change.high, study.change_words(pair.change),
            f"n = {pair.change.n}",
        )
        for pair in measured
        if pair.change is not None
    )  # fmt: skip
    levels = tuple(point for solo in record.solo for point in _levels(record, solo.agent))
    return Section(
        "matrix",
        "Cross-audit matrix",
        (
            "Alone: the agent's own verdicts against the known answers. Audited: the benchmark's "
            "labels after the auditor decided the agent's challenges to them, on the same claims. "
            "The change is paired, claim by claim; its 95 % interval draws whole reports.",
            "For comparison, the version's labels before any audit are right on "
            f"{rate_words(record.labels)}.",
        ),
        (
            Table(
                "Accuracy alone, and after an audit by each auditor [95 % interval]",
                ("Agent", "Alone", *(f"Audited by {name}" for name in heads)),
                rows,
            ),
        ),
        (
            Plot("Accuracy alone and audited", levels),
            Plot("Change by the audit, in percentage points", changes, change=True),
        ),
    )


def _levels(record: CrossAuditRecord, agent: str) -> list[Interval]:
    solo = next(one.accuracy for one in record.solo if one.agent == agent)
    found = [_point(f"agent {agent}", "alone", solo)]
    for pair in record.pairs:
        if pair.agent == agent and pair.audited is not None:
            series = f"audited by {auditor_name(pair)}"
            found.append(_point(f"agent {agent}", series, pair.audited))
    return found


def _point(group: str, series: str, rate: Rate) -> Interval:
    counted = f"{rate.k} of {rate.n}, {rate.unverified} unverified"
    return Interval(group, series, rate.value, rate.low, rate.high, rate_words(rate), counted)


def _pairs(record: CrossAuditRecord) -> Section:
    rows = tuple(
        (
            f"{auditor_name(pair)} on {pair.agent}",
            pair.status,
            str(pair.cases),
            short(pair.right),
            str(pair.cannot_tell),
            str(pair.accepted),
        )
        for pair in record.pairs
    )
    return Section(
        "pairs",
        "What each auditor decided",
        (
            "A case is a challenge: the agent disagrees with the benchmark's label and argues for "
            "it. The auditor sees both sides in random order and not whose they are.",
        ),
        (
            Table(
                "Decisions by pair; right is a decision for the known answer, of all cases "
                "[95 % interval]",
                ("Pair", "Status", "Cases", "Right", "Cannot tell", "Challenges accepted"),
                rows,
            ),
        ),
    )
