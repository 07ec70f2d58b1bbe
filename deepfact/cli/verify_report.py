"""The report that ``deepfact verify --report FILE`` writes. Only the shell: reads what a run left
in its folder and hands it to `deepfact.reports.trace_report`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deepfact.errors import InputError

if TYPE_CHECKING:
    from deepfact.records import Outcome
    from deepfact.run_records import VerifierSpec
    from deepfact.store.benchmark import BenchmarkVersion
    from deepfact.trace_records import Trace

FORMS = (".html", ".md")


def check_report(report: Path | None, against: Path | None, out: Path) -> None:
    """Refuse what cannot be written or read, before anything is asked.

    Raises:
        InputError: a report of another kind, one in the place of the verdicts or of a folder, or
            verdicts to compare with and no report.
    """
    if report is None:
        if against is not None:
            raise InputError(
                "--against goes with --report",
                where="--against",
                fix="add, such as: --report report.html",
            )
        return
    if report.suffix.lower() not in FORMS:
        raise InputError(
            f"a report is {' or '.join(FORMS)}, not {report.suffix or 'a file without an ending'}",
            where="--report",
        )
    if report.is_dir() or report.absolute() == out.absolute():
        raise InputError("a report needs a file of its own", where=str(report))


def read_outcomes(path: Path) -> list[Outcome]:
    """The outcomes that ``deepfact verify`` wrote.

    Raises:
        InputError: no such file.
        RecordError: a line is not an outcome.
    """
    from pydantic import TypeAdapter

    from deepfact.records import Outcome as AnyOutcome
    from deepfact.store.files import read_jsonl

    outcomes: TypeAdapter[Outcome] = TypeAdapter(AnyOutcome)
    return list(read_jsonl(path, outcomes))


def write_report(
    report: Path,
    spec: VerifierSpec,
    version: BenchmarkVersion,
    outcomes: Sequence[Outcome],
    *,
    folder: Path,
    against: Sequence[Outcome] | None,
) -> None:
    """Write the report, HTML or Markdown by its name.

    Args:
        report: file to write.
        spec: the verifier's.
        version: what was verified.
        outcomes: one for each claim that was asked about.
        folder: the run's, where traces are when the spec names no file.
        against: another verifier's outcomes, to compare the cost with.
    """
    from deepfact.reports import trace_report
    from deepfact.store.files import write_text
    from deepfact.verifiers.document.tracing import TRACES, read_traces

    path = Path(str(spec.options.get("traces") or folder / TRACES))
    traces = {name: one for name, one in read_traces(path).items() if one.verifier == spec.kind}
    titles = {one: version.sources[one].title for one in _named(traces.values(), version)}
    view = trace_report.trace_report(
        spec.label, str(version), version.claims, outcomes, traces, titles=titles, against=against
    )
    html = report.suffix.lower() == ".html"
    render = trace_report.render_html if html else trace_report.render_markdown
    write_text(report, render(view))


def _named(traces: Iterable[Trace], version: BenchmarkVersion) -> set[str]:
    """Sources of the version that a search of any trace found."""
    found = {source for trace in traces for query in trace.queries for source in query.found}
    return {one for one in found if one in version.sources}
