"""The Python API, as small as the command line: load, verify, score, run a round, read a record.

    import deepfact

    version = deepfact.load("deepfact-mini@1")
    outcomes = deepfact.verify(version, "local")
    print(deepfact.score(version, outcomes).accuracy)

Everything here is a short way to what `deepfact.store`, `deepfact.core` and `deepfact.round` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deepfact.errors import BenchmarkError, InputError
from deepfact.records import Label, Outcome
from deepfact.run_records import RunRecord, ScoreSheet, VerifierSpec

if TYPE_CHECKING:
    from deepfact.executors.base import Executor
    from deepfact.experiment_records import AbRecord
    from deepfact.running.run_state import Watcher
    from deepfact.store.benchmark import BenchmarkVersion
    from deepfact.verifiers import Verifier


def load(reference: str, *, root: Path | str | None = None) -> BenchmarkVersion:
    """A version of a benchmark, read and checked.

    Args:
        reference: ``name@version``, ``name`` for the newest, or a folder in place of the name.
        root: folder that holds benchmarks; ``benchmarks`` and the shipped ones by default.

    Raises:
        BenchmarkError: no such benchmark or version, or its files do not match its hashes.
    """
    from deepfact.store.locate import load_version

    return load_version(reference, Path(root) if root else None)


def verify(
    version: BenchmarkVersion,
    verifier: str | VerifierSpec | Verifier = "local",
    *,
    limit: int = 0,
    workspace: Path | str | None = None,
    watch: Watcher | None = None,
    executor: Executor | None = None,
) -> list[Outcome]:
    """One outcome for each claim, in the order of the claims.

    Args:
        version: what to verify.
        verifier: a kind, a spec, or an object with ``verify(claim, context)``.
        limit: only the first so many claims; 0 is all.
        workspace: folder for what a verifier keeps; a panel keeps the answers it paid for.
        watch: is told of progress.
        executor: where a kind or a spec is asked, see `deepfact.executors.base.build_executor`;
            in this process when left out. An object is always asked here.

    Raises:
        RunIncomplete: answers are missing; calling it again goes on.
    """
    from deepfact.executors.local import run_verifier
    from deepfact.running.asking import ask_claims
    from deepfact.running.run_state import Tally
    from deepfact.telemetry import scope
    from deepfact.verifiers import Context, build_verifier

    spec = VerifierSpec(kind=verifier) if isinstance(verifier, str) else verifier
    name = spec.label if isinstance(spec, VerifierSpec) else type(spec).__name__
    folder = Path(workspace) if workspace else None
    claims, context = version.claims[: limit or None], Context(version.sources)
    found: dict[str, Outcome] = {}
    tally = Tally()

    def take(outcome: Outcome) -> None:
        found[outcome.claim_id] = outcome
        tally.take(outcome)
        if watch:
            watch(tally.progress(f"verify: {name}", len(found), len(claims)))

    with scope("run", "verify"), scope("verifier", name):
        if isinstance(spec, VerifierSpec):
            built = build_verifier(spec, workspace=folder)
            ask_claims(built, spec, claims, context, take, workspace=folder, executor=executor)
        else:
            for outcome in run_verifier(spec, claims, context, name=name):
                take(outcome)
    return [found[claim.id] for claim in claims]


def score(
    version: BenchmarkVersion,
    outcomes: Iterable[Outcome] | Mapping[str, Outcome],
    *,
    key: str = "",
    name: str = "",
) -> ScoreSheet:
    """Outcomes scored on a version's labels, or on one of the benchmark's keys.

    Args:
        version: what they answer.
        outcomes: in any order; a claim without one counts as wrong.
        key: ``author`` or ``microgold`` for a known key; the version's labels when empty.
        name: whose outcomes they are, for the sheet.

    Raises:
        BenchmarkError: the benchmark has no such key.
    """
    from deepfact.core.metrics import answer_of

    if not isinstance(outcomes, Mapping):
        outcomes = {outcome.claim_id: outcome for outcome in outcomes}
    claims = version.state.columns.claim_ids
    return score_answers(
        version,
        [answer_of(outcomes.get(claim_id)) for claim_id in claims],
        missing=[claim_id for claim_id in claims if claim_id not in outcomes],
        key=key,
        name=name or next((o.verifier for o in outcomes.values() if o.verifier), "verdicts"),
    )


def score_answers(
    version: BenchmarkVersion,
    answers: Sequence[Label | None],
    *,
    missing: Sequence[str] = (),
    key: str = "",
    name: str = "verdicts",
) -> ScoreSheet:
    """As `score`, of labels alone, where a million outcomes would not fit in memory.

    Args:
        version: what they answer.
        answers: for each of its live claims, in their order; None where there is no verdict.
        missing: claims that have not even a failure.
        key: as for `score`.
        name: whose answers they are, for the sheet.

    Raises:
        BenchmarkError: the benchmark has no such key.
        InputError: there are more answers than claims, or fewer.
    """
    from itertools import compress

    from deepfact.core import metrics
    from deepfact.running.strata import strata_of

    columns = version.state.columns
    if len(answers) != len(columns.claim_ids):
        raise InputError(
            f"{len(answers)} answers, but {version} has {len(columns.claim_ids)} claims",
            fix="give one for each live claim, None where there is none",
        )
    truth = key_of(version, key)
    known = [label is not None for label in truth]
    scored = set(compress(columns.claim_ids, known)) if missing else set()
    return metrics.score_answers(
        [label for label in truth if label is not None],
        list(compress(answers, known)),
        missing=sum(claim_id in scored for claim_id in missing),
        verifier=name,
        on=f"{version}, key {key}" if key else str(version),
        reports=list(compress(columns.reports, known)),
        strata=list(compress(strata_of(version), known)),
    )


def key_of(version: BenchmarkVersion, key: str = "") -> list[Label | None]:
    """What answers are scored against: a label for each live claim, in their order, or None.

    Args:
        version: whose claims.
        key: as for `score`.

    Raises:
        BenchmarkError: the benchmark has no such key.
    """
    columns = version.state.columns
    if not key:
        return columns.labels
    known = version.store.key(key)
    if not known:
        raise BenchmarkError(f"{version} has no key {key!r}")
    return [known[one].label if one in known else None for one in columns.claim_ids]


def run_round(
    config: Path | str,
    *,
    out: Path | str | None = None,
    root: Path | str | None = None,
    auditors: Path | str = "auditors",
    watch: Callable[..., None] | None = None,
) -> RunRecord:
    """Run the rounds of a YAML spec, or go on with them; writes ``record.json`` and reports.

    Args:
        config: the spec.
        out: results folder; ``results/<name of the run>`` by default.
        root: folder that holds benchmarks.
        auditors: folder with the auditors' files.
        watch: is told of progress.
    """
    from deepfact.auditors import read_auditors
    from deepfact.round import run_rounds
    from deepfact.run_records import RoundSpec
    from deepfact.running.run_state import auditor_names
    from deepfact.store.specs import read_yaml

    spec = read_yaml(Path(config), RoundSpec)
    return run_rounds(
        spec,
        Path(out) if out else Path("results") / spec.name,
        auditors=read_auditors(auditor_names(spec), Path(auditors)),
        root=Path(root) if root else None,
        watch=watch or (lambda _: None),
    )


def ab(
    config: Path | str,
    *,
    out: Path | str | None = None,
    root: Path | str | None = None,
    replay: bool = False,
    watch: Watcher = lambda _: None,
) -> AbRecord:
    """Run an A/B spec, or go on with it; writes ``record.json`` and reports.

    Args:
        config: the spec, in YAML.
        out: results folder; ``results/<name of the run>`` by default.
        root: folder that holds benchmarks.
        replay: call nobody; answers come from the response store alone.
        watch: is told of progress.

    Raises:
        InputError: the spec, its claims or the folder do not fit.
        RunIncomplete: answers are missing or pending; call it again to go on.
    """
    from deepfact.experiment import run_experiment
    from deepfact.experiment_records import AbSpec
    from deepfact.store.specs import read_yaml

    spec = read_yaml(Path(config), AbSpec)
    folder = Path(out) if out else Path("results") / spec.name
    where = Path(root) if root else None
    return run_experiment(spec, folder, root=where, replay=replay, watch=watch)


def read_run(folder: Path | str) -> RunRecord:
    """The record of a run.

    Raises:
        InputError: there is none in this folder.
    """
    from deepfact.store.files import read_record

    return read_record(Path(folder) / "record.json", RunRecord)
