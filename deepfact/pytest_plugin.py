"""pytest plugin: regression checks as tests, one item for each pinned claim and each gate.

A file called ``deepfact_regress*.yaml`` (or as the ini option ``deepfact_regress`` says) among
the collected files is the spec of a check. Its items replay committed answers: nothing here
calls a provider, whatever the spec says. What fails is a failure; what cannot be decided since
answers are missing is an error of the item, never a pass and never a skip.

Loaded by every pytest run of an environment that has deepfact, so this module imports nothing
but pytest and the standard library, and does nothing until such a file is met.
"""

from __future__ import annotations

import contextlib
import fnmatch
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from deepfact.regression_records import PinResult, RegressRecord, RegressSpec

INI = "deepfact_regress"
PATTERNS = ("deepfact_regress*.yaml", "deepfact_regress*.yml")
MARK = "deepfact"
ANSWERS = "every answer is there"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini option that says which files are specs."""
    parser.addini(
        INI,
        "files that are specs of regression checks: patterns for their name, or for their path "
        f"from the root folder (default: {' '.join(PATTERNS)})",
        type="args",
        default=list(PATTERNS),
    )


def pytest_configure(config: pytest.Config) -> None:
    """The mark that all items carry, so that they can be deselected."""
    config.addinivalue_line("markers", f"{MARK}: a regression check of a verifier (by deepfact)")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> RegressFile | None:
    """A file that one of the patterns names."""
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    try:
        path = file_path.relative_to(parent.config.rootpath).as_posix()
    except ValueError:
        path = file_path.as_posix()
    patterns = parent.config.getini(INI)
    if any(fnmatch.fnmatch(name, one) for one in patterns for name in (file_path.name, path)):
        made: RegressFile = RegressFile.from_parent(parent, path=file_path)
        return made
    return None


class RegressFile(pytest.File):
    """A regression check. It is run once, when the first of its items is set up."""

    @cached_property
    def spec(self) -> RegressSpec:
        """The spec in the file.

        Raises:
            CollectError: it is no such spec.
        """
        from deepfact.errors import DeepFactError
        from deepfact.regression_records import RegressSpec
        from deepfact.store.specs import read_yaml

        try:
            return read_yaml(self.path, RegressSpec)
        except DeepFactError as error:
            raise self.CollectError(str(error)) from None

    @cached_property
    def result(self) -> RegressRecord | Exception:
        """What came of the check, or why it could not be run. Its paths are those of pytest's
        root folder. Answers are replayed into a scratch store."""
        from deepfact.errors import DeepFactError
        from deepfact.regression import UsedResponses, open_check, run_regression

        command = f"deepfact regress {self._shown_path}"
        with (
            contextlib.chdir(self.config.rootpath),
            tempfile.TemporaryDirectory(prefix="deepfact-") as folder,
            UsedResponses(Path(folder) / "responses.sqlite") as store,
        ):
            try:
                return run_regression(open_check(self.spec, store), command=command)
            except DeepFactError as error:
                return error

    @property
    def _shown_path(self) -> str:
        with contextlib.suppress(ValueError):
            return self.path.relative_to(self.config.rootpath).as_posix()
        return str(self.path)

    def collect(self) -> Iterator[pytest.Item]:
        """One item for whether all answers are there, one for each pin, one for each gate."""
        yield AnswersItem.from_parent(self, name=ANSWERS)
        for pin in self.spec.pins:
            yield PinItem.from_parent(self, name=pin.title, claim=pin.claim)
        for gate, limit in self.spec.gates:
            if limit is not None:
                yield GateItem.from_parent(self, name=f"gate {gate}", gate=gate)


class RegressItem(pytest.Item):
    """One thing that must hold."""

    parent: RegressFile

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.add_marker(MARK)

    def setup(self) -> None:
        """Run the check if nobody has, and see that this item can be decided: what cannot is an
        error, not a failure."""
        result = self.parent.result
        if isinstance(result, Exception):
            pytest.fail(str(result), pytrace=False)
        if not self.is_decided(result):
            from deepfact.reports.regress_report import shortage_text

            pytest.fail(
                f"{self.name}: not decided\n{shortage_text(result.shortage)}", pytrace=False
            )

    def is_decided(self, record: RegressRecord) -> bool:
        """Whether the answers are there that this item rests on."""
        return record.shortage is None

    @property
    def record(self) -> RegressRecord:
        """What came of the check; `setup` has seen to it that there is something."""
        result = self.parent.result
        if isinstance(result, Exception):
            raise result
        return result

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """As pytest shows it."""
        return self.path, None, self.name


class AnswersItem(RegressItem):
    """Every answer is there. While one is missing this is an error, so no check of this file
    can look as if it had passed."""

    def runtest(self) -> None:
        """`setup` has said everything."""


class PinItem(RegressItem):
    """A pinned claim is what it must be."""

    def __init__(self, *, claim: str, **given: Any) -> None:
        super().__init__(**given)
        self.claim = claim

    def found(self, record: RegressRecord) -> PinResult:
        """What became of the claim."""
        return next(one for one in record.pins if one.pin.claim == self.claim)

    def is_decided(self, record: RegressRecord) -> bool:
        """A pinned claim rests on its own answers alone."""
        return self.found(record).holds is not None

    def runtest(self) -> None:
        """Fail with both outcomes and their reasons."""
        from deepfact.reports.regress_report import pin_text

        found = self.found(self.record)
        if not found.holds:
            pytest.fail(pin_text(self.record, found), pytrace=False)


class GateItem(RegressItem):
    """A gate holds."""

    def __init__(self, *, gate: str, **given: Any) -> None:
        super().__init__(**given)
        self.gate = gate

    def runtest(self) -> None:
        """Fail with what was found and the flips; their reasons once, with the first such gate."""
        from deepfact.reports.regress_report import gate_text, report_lines

        found = next((one for one in self.record.gates if one.gate == self.gate), None)
        if found is None:
            why = [one for one in self.record.missing if f" {self.gate} " in one]
            pytest.skip(" ".join(why) or "this gate cannot be measured on these claims")
        elif not found.holds:
            text = gate_text(self.record, found)
            if found == self.record.failed_gates[0]:
                text = "\n".join([found.words, *report_lines(self.record)])
            pytest.fail(text, pytrace=False)
