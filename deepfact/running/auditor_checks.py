"""What must hold of a round's auditors before anything is asked or written.

Nobody judges itself, nobody counts twice, and every option is one that its kind takes. Builds
auditors and providers to find out; asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from deepfact.auditors import base as auditing
from deepfact.auditors.specs import check_names, everybody
from deepfact.errors import ConfigError
from deepfact.run_records import AuditorSpec, PolicyRule, VerifierSpec
from deepfact.running.arm_engines import EngineSpec
from deepfact.store.benchmark import BenchmarkVersion

if TYPE_CHECKING:
    from deepfact.running.run_state import Stage


def check_seats(stage: Stage, scored: Sequence[VerifierSpec]) -> None:
    """Whether the auditors of a round go together with each other, its policy and its verifiers.

    Args:
        scored: verifiers scored beside the challenger.

    Raises:
        ConfigError: they do not.
    """
    if stage.policy.queue == "shared":
        _check_shared(stage)
    if stage.policy.per_case:
        _check_per_case(stage, stage.policy.per_case)
    check_names(stage.auditors)
    _check_self_judging(stage, scored)


def check_auditors(stages: Sequence[Stage], base: BenchmarkVersion) -> None:
    """Build every auditor that is no person, so that a wrong option shows before a run begins.

    Raises:
        ConfigError: unknown kind or option, or a key that the benchmark does not have.
    """
    asks: dict[str, str] = {}
    for auditor in everybody({s.name: s for stage in stages for s in stage.auditors}.values()):
        if auditor.kind == auditing.HUMAN:
            continue
        built = auditing.build_auditor(auditor, sources=base.sources, answers=base.store.key)
        if hasattr(built, "use"):
            check_engine(auditor)
        asks[auditor.name] = getattr(built, "asks", "")
    for stage in stages:
        for together in _together(stage):
            _check_twins([(name, asks.get(name, "")) for name in together])


def _together(stage: Stage) -> Iterator[list[str]]:
    """Names of auditors who decide the same cases: those of a panel, and those of the round unless
    they take turns."""
    for spec in stage.auditors:
        if spec.kind == auditing.PANEL:
            yield [member.name for member in everybody([spec])]
    if stage.policy.rule is not PolicyRule.SINGLE:
        yield [member.name for member in everybody(stage.auditors)]


def _check_twins(auditors: Sequence[tuple[str, str]]) -> None:
    """Refuse two agents whose answers are the same stored ones: a judge must not count twice."""
    seen: dict[str, str] = {}
    for name, asks in auditors:
        if asks and seen.setdefault(asks, name) != name:
            raise ConfigError(
                f"auditors {seen[asks]!r} and {name!r} ask one model the same: their answers would "
                "be the same ones, and one judge would count twice",
                fix="give one of them another model or prompt, or take one of them with more votes",
            )


def check_engine(auditor: AuditorSpec) -> None:
    """Build the provider that an auditor asks, so that a wrong option shows before a run begins.

    Raises:
        ConfigError: no such provider, or options, limits, a budget or prices that do not fit.
    """
    try:
        spec = VerifierSpec(kind=auditor.kind, name=auditor.name, options=auditor.options)
        EngineSpec.of(spec).provider()
    except ConfigError as error:
        raise ConfigError(error.what, where=f"auditor {auditor.name!r}", fix=error.fix) from None


def _check_self_judging(stage: Stage, scored: Sequence[VerifierSpec]) -> None:
    """Refuse an auditor, or a member of a panel, whose model challenges, or is scored on what it
    decides."""
    if stage.policy.allow_self_judging:
        return
    fix = "choose another auditor, or write `allow_self_judging: true` in the policy"
    for auditor in everybody(stage.auditors):
        if auditing.judges_itself(auditor, stage.challenger):
            raise ConfigError(
                f"auditor {auditor.name!r} would judge the challenges of its own model", fix=fix
            )
        for verifier in scored:
            if auditing.judges_itself(auditor, verifier):
                raise ConfigError(
                    f"auditor {auditor.name!r} would decide the labels that its own model, "
                    f"{verifier.label!r}, is scored on",
                    fix=fix,
                )


def _check_shared(stage: Stage) -> None:
    if stage.policy.rule is not PolicyRule.SINGLE:
        raise ConfigError(
            f"a shared queue gives each case to one auditor, {stage.policy.rule} to all of them",
            fix="write `queue: turns`, or `rule: single`",
        )
    for auditor in stage.auditors:
        if auditor.kind != auditing.HUMAN:
            raise ConfigError(
                f"auditor {auditor.name!r} is no person, and only people share a queue",
                fix="write `queue: turns`, or leave it out of the round",
            )


def _check_per_case(stage: Stage, count: int) -> None:
    if stage.policy.rule is PolicyRule.SINGLE:
        raise ConfigError(
            "under the rule 'single' one auditor decides each case",
            fix="leave `per_case` out, or write `rule: majority` or `rule: unanimous`",
        )
    voters = sum(auditor.name != stage.policy.tie_breaker for auditor in stage.auditors)
    if count > voters:
        raise ConfigError(
            f"{count} auditors are to decide each case, and the round has {voters}",
            fix="lower `per_case`, or name more auditors",
        )
