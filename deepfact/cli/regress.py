"""``deepfact regress``: today's prompt against a committed baseline, for CI.

Only the shell: the check is `deepfact.regression`. Writes the results folder and CI's summary.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deepfact.cli import executors
from deepfact.cli.options import Json, Root
from deepfact.cli.output import note, print_json, progress
from deepfact.errors import InputError, ResultsExistError, RunIncomplete

if TYPE_CHECKING:
    from deepfact.regression import Check
    from deepfact.regression_records import RegressRecord, RegressSpec

EXAMPLES = (
    "Examples:\n\n"
    "deepfact regress configs/regress-founding.yaml\n\n"
    "deepfact regress my-regress.yaml --live --save-answers\n\n"
    "deepfact regress my-regress.yaml --update-baseline"
)

RESPONSES = "responses.sqlite"
WRITTEN = ("record.json", "report.md", "junit.xml")
SUMMARY = "GITHUB_STEP_SUMMARY"
SUMMARY_BYTES = 1_000_000
"""A summary of a step that is longer than 1 MiB is refused whole."""


def regress(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="The check's spec, in YAML.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Results folder.  [default: results/<name>]", show_default=False),
    ] = None,
    root: Root = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Ask the provider for answers that are not stored; costs money."
        ),
    ] = False,
    save_answers: Annotated[
        bool,
        typer.Option(
            "--save-answers",
            help="Add the answers used to the export beside the baseline, for CI to replay.",
        ),
    ] = False,
    update_baseline: Annotated[
        bool,
        typer.Option(
            "--update-baseline",
            help="Accept what came out as the new baseline; refused while answers are missing.",
        ),
    ] = False,
    responses: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A further export to replay from; may be repeated."),
    ] = None,
    executor: executors.Kind = "local",
    address: executors.Address = "",
    executor_option: executors.Options = None,
    as_json: Json = False,
) -> None:
    """Check that a verifier has not become worse than its committed baseline.

    Nobody is called without --live: answers are replayed from the export beside the baseline.
    Exit code 0 it passed, 1 it regressed, 2 wrong input, 3 incomplete: answers are missing or
    the provider is down, which is neither a pass nor a regression.
    """
    from deepfact import regression
    from deepfact.regression_records import RegressSpec
    from deepfact.store.specs import read_yaml

    spec = read_yaml(config, RegressSpec)
    folder = out or Path("results") / spec.name
    where = executors.executor_of(executor, address, executor_option)
    with _results_folder(folder, spec), regression.UsedResponses(folder / RESPONSES) as store:
        check = regression.open_check(
            spec, store, root=root, exports=responses or (), recording=update_baseline
        )
        with progress() as watch:
            record = regression.run_regression(
                check, live=live, watch=watch, command=f"deepfact regress {config}", executor=where
            )
        _write(record, folder)
        _show(record, folder, as_json=as_json)
        _keep(check, record, save_answers=save_answers, update=update_baseline)
    if update_baseline:
        return
    _exit(record)


def _keep(check: Check, record: RegressRecord, *, save_answers: bool, update: bool) -> None:
    """Write what is to be committed."""
    from deepfact import regression
    from deepfact.running.regression_baseline import baseline_path, responses_path

    if update:
        regression.update_baseline(check, record)
        note(f"baseline written: {baseline_path(check.spec)}")
    elif save_answers:
        count = regression.save_answers(check)
        note(f"{count} answers in {responses_path(check.spec)}")


def _exit(record: RegressRecord) -> None:
    """End with the code that says what was found.

    Raises:
        RunIncomplete: answers are missing.
    """
    from deepfact.regression_records import RegressStatus
    from deepfact.reports.regress_report import cost_words

    if (found := record.shortage) is not None:
        raise RunIncomplete(
            f"incomplete: {found.why}\n  {cost_words(found)}", where=record.name, fix=found.how
        )
    if record.status is RegressStatus.REGRESSED:
        for gate in record.failed_gates:
            note(f"gate does not hold: {gate.words}")
        for pin in record.failed_pins:
            note(f"pin does not hold: {pin.pin.title}, and is {pin.found}")
        raise typer.Exit(1)


@contextmanager
def _results_folder(folder: Path, spec: RegressSpec) -> Iterator[None]:
    """The results folder, held by this process alone, without what an earlier check found:
    a check that breaks off must not leave a pass behind.

    Raises:
        ResultsExistError: it is in use, or holds something else.
    """
    from filelock import FileLock, Timeout

    from deepfact.regression_records import RegressSpec
    from deepfact.store.files import read_record, write_text

    if (saved := folder / "spec.json").is_file():
        try:
            there = read_record(saved, RegressSpec).name
        except InputError as error:
            raise _taken(folder) from error
        if there != spec.name:
            raise _taken(folder)
    elif folder.exists() and (
        not folder.is_dir()
        or any(not one.name.startswith((".", RESPONSES)) for one in folder.iterdir())
    ):
        raise _taken(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ResultsExistError(
            "this results folder is in use by another process",
            where=str(folder),
            fix="wait for it, or give another folder with --out",
        ) from None
    try:
        for name in WRITTEN:
            (folder / name).unlink(missing_ok=True)
        write_text(saved, spec.model_dump_json(indent=1) + "\n")
        yield
    finally:
        lock.release()


def _taken(folder: Path) -> ResultsExistError:
    return ResultsExistError(
        "this folder holds something other than checks of this spec",
        where=str(folder),
        fix="give another folder with --out",
    )


# --- showing -----------------------------------------------------------------------------


def _write(record: RegressRecord, folder: Path) -> None:
    from deepfact.reports.junit import render_junit
    from deepfact.reports.regress_report import render_regress_markdown
    from deepfact.store.files import write_text

    write_text(folder / "record.json", record.model_dump_json(indent=1) + "\n")
    write_text(folder / "report.md", render_regress_markdown(record))
    write_text(folder / "junit.xml", render_junit(record))
    if named := os.environ.get(SUMMARY):
        _append_summary(record, Path(named))


def _append_summary(record: RegressRecord, path: Path) -> None:
    """Append to the summary of CI's step, as much as fits. A summary that cannot be written
    changes nothing of what was found."""
    from deepfact.reports.regress_report import render_regress_markdown

    there = 0
    with suppress(OSError):
        there = path.stat().st_size
    for most in (50, 5, 0):
        text = render_regress_markdown(record, most=most)
        if there + len(text.encode("utf-8")) < SUMMARY_BYTES:
            break
    else:
        note(f"the summary does not fit into {SUMMARY}; see the report")
        return
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{text}\n")
    except OSError as error:
        note(f"the summary could not be written to {path}: {error.strerror}")


def _show(record: RegressRecord, folder: Path, *, as_json: bool) -> None:
    from deepfact.reports.regress_report import headline, report_lines

    if as_json:
        print_json(_summary(record, folder))
        return
    typer.echo(headline(record))
    for line in report_lines(record):
        typer.echo(line)
    if record.spec.note:
        note(f"note: {record.spec.note}")
    typer.echo(f"report: {folder / 'report.md'}")


def _summary(record: RegressRecord, folder: Path) -> dict[str, object]:
    """What was found, for programs; everything else is in the record."""
    return {
        "name": record.name,
        "status": str(record.status),
        "record": str(folder / "record.json"),
        "report": str(folder / "report.md"),
        "junit": str(folder / "junit.xml"),
        "n": record.claims,
        "changes": list(record.changes),
        "gates": [gate.model_dump(mode="json") for gate in record.gates],
        "pins": [
            {"claim": pin.pin.claim, "must": str(pin.pin.must), "is": pin.found, "holds": pin.holds}
            for pin in record.pins
        ],
        "flips": [
            {"claim": one.flip.claim_id, "from": str(one.flip.first), "to": str(one.flip.other)}
            for one in record.flips
        ],
        "unpaired": record.unpaired.model_dump(mode="json"),
        "shortage": None if record.shortage is None else record.shortage.model_dump(mode="json"),
    }
