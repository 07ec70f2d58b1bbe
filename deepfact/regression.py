"""The regression check: claims asked about as today's spec says, against a committed baseline.

`run_regression` is the loop; what stands below it are its steps. Answers come from the export
beside the baseline; nobody is called unless asked for. While an answer is missing nothing is
decided: such a check is incomplete, which is neither a pass nor a regression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepfact.core import regress
from deepfact.core.compare import ALL, flips, groups_of, outcome_rates, paired_difference
from deepfact.errors import CheckFailed, ConfigError, InputError, RunIncomplete, did_you_mean
from deepfact.executors.base import Executor
from deepfact.model_records import Completion
from deepfact.plan import Stored, plan_arms
from deepfact.records import Outcome
from deepfact.regression_records import (
    RegressRecord,
    RegressSpec,
    RegressStatus,
    Shortage,
    UnpairedClaims,
)
from deepfact.running.arms import AnswersMissing, Arm, build_arms, run_arms
from deepfact.running.claim_set import ClaimSet, load_claims
from deepfact.running.regression_baseline import (
    Baseline,
    asking_of,
    baseline_path,
    check_fits,
    read_baseline,
    responses_path,
    write_baseline,
)
from deepfact.running.run_state import Watcher
from deepfact.store.files import read_jsonl
from deepfact.store.response_exports import ExportedResponse, export_responses, import_responses
from deepfact.store.responses import ResponseStore, StoredResponse
from deepfact.telemetry import scope
from deepfact.version import VERSION


def run_regression(
    check: Check,
    *,
    live: bool = False,
    watch: Watcher = lambda _: None,
    command: str = "",
    executor: Executor | None = None,
) -> RegressRecord:
    """Ask about every claim and judge what came of it.

    Args:
        check: see `open_check`; its response store stays open.
        live: ask the provider for answers that are not stored. Never done otherwise.
        watch: is told of progress.
        command: as the person typed it, for advice on what to run next.
        executor: where the verifier is asked; in this process when left out.

    Returns:
        The record; its status says whether it passed, regressed or is incomplete.

    Raises:
        InputError, ProviderRefused: no call of this run can succeed.
    """
    why, requests = "", 0
    try:
        with scope("run", check.spec.name, loop="regress"):
            run_arms(
                [check.arm],
                check.claims,
                responses=check.store,
                seed=check.spec.seed,
                replay=not live,
                keep=check.keep,
                watch=watch,
                executor=executor,
            )
    except AnswersMissing as error:
        why, requests = error.what, error.requests
    shortage = find_shortage(check, why, requests, live=live, command=command)
    return judge(check, shortage)


@dataclass
class Check:
    """A regression check, opened: everything fits together, and answers can be looked up."""

    spec: RegressSpec
    claims: ClaimSet
    arm: Arm
    baseline: Baseline | None
    store: UsedResponses
    missing: list[str]
    """What cannot be shown, and why."""
    found: dict[str, Outcome] = field(default_factory=dict)
    """Every outcome by claim id, also one that does not rest on all of its answers."""

    def keep(self, _arm: str, _repeat: int, outcome: Outcome, _seconds: Any) -> None:
        """Remember an outcome. Answers are durable in the store, so it can be had again."""
        self.found[outcome.claim_id] = outcome

    @property
    def answered(self) -> dict[str, Outcome]:
        """The outcomes that rest on all of their answers."""
        return {name: one for name, one in self.found.items() if not regress.lost_on_the_way(one)}


class UsedResponses(ResponseStore):
    """A response store that remembers which answers were used: those are what to commit."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.used: set[str] = set()

    def get(self, key: str) -> Completion | None:
        """As `ResponseStore.get`."""
        found = super().get(key)
        if found is not None:
            self.used.add(key)
        return found

    def note_used(self, keys: Iterable[str]) -> None:
        """Answers under these keys were used by another process."""
        self.used.update(keys)

    def put_many(self, responses: Sequence[StoredResponse]) -> list[Completion]:
        """As `ResponseStore.put_many`."""
        self.used.update(one.key for one in responses)
        return super().put_many(responses)


# --- opening -----------------------------------------------------------------------------


def open_check(
    spec: RegressSpec,
    store: UsedResponses,
    *,
    root: Path | None = None,
    exports: Iterable[Path] = (),
    recording: bool = False,
) -> Check:
    """A check of which all is known to fit that can be known before anything is asked.

    Args:
        spec: what to check; its paths are those of the working folder.
        store: answers of earlier runs; the committed ones win over them.
        root: the folder that holds benchmarks.
        exports: further answers to replay from.
        recording: a new baseline is to be recorded, so none is needed.

    Raises:
        InputError: spec, claims, baseline or answers do not fit.
    """
    claims = load_claims(spec, root)
    arm = build_arms({spec.verifier.label: spec.verifier})[0]
    for pin in spec.pins:
        if pin.claim not in claims.reports:
            known = did_you_mean(pin.claim, list(claims.reports)[:500])
            raise ConfigError(
                f"the pinned claim {pin.claim!r} is not among the claims",
                where=claims.name,
                fix=known if known.startswith("did you") else "",
            )
    path, missing = baseline_path(spec), []
    baseline = None
    if path.is_file() or not recording:
        baseline = read_baseline(path)
        try:
            check_fits(baseline, claims, path)
        except InputError as error:
            if not recording:
                raise
            missing.append(f"The old baseline is not compared with: {error.what}.")
            baseline = None
    if baseline is not None:
        missing += _unmeasurable(spec, claims, baseline)
    committed = responses_path(spec)
    take_over(store, [*([committed] if committed.is_file() else []), *exports])
    return Check(spec, claims, arm, baseline, store, missing)


def _unmeasurable(spec: RegressSpec, claims: ClaimSet, baseline: Baseline) -> list[str]:
    """The default gates that cannot be measured on these claims, in words.

    Raises:
        ConfigError: one that the spec sets itself cannot be.
    """
    same, _ = regress.pair(claims.asked(), baseline.claims)
    if not same:
        raise ConfigError(
            "the baseline knows none of the claims that are selected",
            where=str(baseline_path(spec)),
            fix="widen `select`, or record it anew: --update-baseline",
        )
    words = []
    for gate in type(spec.gates).model_fields:
        needed = regress.needs_what(gate, same)
        if not needed or getattr(spec.gates, gate) is None:
            continue
        if gate in spec.gates.model_fields_set:
            raise ConfigError(
                f"the gate {gate!r} needs {needed}, and there are none",
                where=claims.name,
                fix=f"label the claims, or switch it off: {gate}: null",
            )
        words.append(f"The gate {gate} is not measured: it needs {needed}.")
    return words


def take_over(store: ResponseStore, exports: Iterable[Path]) -> None:
    """Put exported answers into a store. They win over what an earlier run left there: a replay
    must come out here as it does where nothing but the export is known.

    Raises:
        InputError: an export is missing or damaged.
    """
    done: set[str] = set()
    for export in exports:
        if not export.is_file():
            raise InputError("no such export of responses", where=str(export))
        lines = {one.key: one.completion for one in read_jsonl(export, ExportedResponse)}
        stale = [
            key
            for key, completion in lines.items()
            if key not in done and store.get(key) not in (None, completion)
        ]
        if stale:
            store.delete(stale)
        import_responses(store, export)
        done |= lines.keys()
    if isinstance(store, UsedResponses):
        store.used.clear()


# --- judging -----------------------------------------------------------------------------


def judge(check: Check, shortage: Shortage | None) -> RegressRecord:
    """What the outcomes are worth against the baseline. Gates are decided on all claims or not
    at all; a pinned claim whose answers are all there speaks for itself."""
    spec, asked, now = check.spec, check.claims.asked(), check.answered
    entries = check.baseline.claims if check.baseline else {}
    before = check.baseline.outcomes if check.baseline else {}
    same, unpaired = regress.pair(asked, entries)
    known = [one for one in same if one.claim.id in now]
    turned = flips(known, before, now)
    asking = asking_of(check.arm, now)
    pins = regress.check_pins(spec.pins, asked, before, now)
    draft = RegressRecord(
        name=spec.name,
        status=RegressStatus.PASSED if shortage is None else RegressStatus.INCOMPLETE,
        deepfact=VERSION,
        spec=spec,
        claims_name=check.claims.name,
        claims_hash=check.claims.state_hash,
        labels_from=check.claims.labels_from,
        baseline=check.baseline.header if check.baseline else None,
        asking=asking,
        changes=regress.changes(check.baseline.header.asking, asking) if check.baseline else (),
        claims=len(asked),
        flips=regress.flipped(turned, known, before, now),
        unpaired=unpaired if check.baseline else UnpairedClaims(),
        pins=pins,
        shortage=shortage,
        missing=tuple(check.missing),
    )
    if shortage is not None:
        return draft
    group, members = regress.loss_group(same)
    difference = paired_difference(group, members, before, now, seed=spec.seed)
    gates = regress.check_gates(
        spec.gates, same, difference, turned, outcome_rates(ALL, asked, now).unverified
    )
    fails = any(not gate.holds for gate in gates) or any(pin.holds is False for pin in pins)
    return draft.model_copy(
        update={
            "status": RegressStatus.REGRESSED if fails else RegressStatus.PASSED,
            "rates": tuple(outcome_rates(g, m, now) for g, m in groups_of(asked).items()),
            "rates_before": tuple(
                outcome_rates(g, m, before) for g, m in groups_of(same).items() if m
            ),
            "difference": difference if check.baseline else None,
            "gates": gates,
        }
    )


def find_shortage(
    check: Check, why: str, requests: int, *, live: bool, command: str
) -> Shortage | None:
    """What is missing, what it would cost, and what to do; None when nothing is."""
    complete = check.answered
    claims = tuple(one.id for one in check.claims.claims if one.id not in complete)
    if not claims:
        return None
    lost = Counter(
        reason for one in check.found.values() for reason in regress.lost_on_the_way(one)
    )
    reasons = [why] if why else []
    if lost:
        counts = ", ".join(f"{reason} {count}" for reason, count in sorted(lost.items()))
        reasons.append(f"{sum(lost.values())} answers were lost on the way ({counts})")
    known = requests + sum(lost.values())
    if not hasattr(check.arm.prompted, "requests"):
        how = "run the same command again when the verifier works"
        return Shortage(claims=claims, why="; ".join(reasons), calls=known, how=how)
    needed = plan_arms(
        check.spec.name, [check.arm], check.claims, Stored.of([check.store.path], [])
    ).arms[0]
    options = check.spec.verifier.options
    return Shortage(
        claims=claims,
        why="; ".join(reasons),
        calls=max(needed.calls, known),
        input_tokens=needed.input_tokens,
        output_tokens=needed.output_tokens,
        output_from=needed.output_from,
        usd=needed.usd if needed.calls else None,
        usd_batched=needed.usd_batched if needed.calls else None,
        unpriced=needed.unpriced,
        provider=str(options["provider"]["kind"]),
        how=_how(live, bool(options.get("replay")), command or "deepfact regress CONFIG"),
    )


def _how(live: bool, replay_only: bool, command: str) -> str:
    if live and not replay_only:
        return "what was answered is kept: run the same command again"
    first = "take `replay: true` out of the spec, then " if replay_only else ""
    return (
        f"{first}run: {command} --live\n  and to let others replay the answers, without a key: "
        f"{command} --save-answers"
    )


# --- keeping what was found --------------------------------------------------------------


def save_answers(check: Check) -> int:
    """Write the answers that were used into the committed export, beside those that are there,
    so that a run without a key can replay them. Returns how many it holds then."""
    path = responses_path(check.spec)
    kept = {one.key for one in read_jsonl(path, ExportedResponse)} if path.is_file() else set()
    return export_responses(check.store, path, keys=kept | check.store.used)


def update_baseline(check: Check, record: RegressRecord) -> None:
    """Record the outcomes as the new baseline, with the answers that they rest on and no others.

    Losses against the old baseline are what this accepts. What does not depend on it must hold.

    Raises:
        RunIncomplete: answers are missing.
        CheckFailed: a pinned claim is not what it must be, or too many are unverified.
    """
    path = baseline_path(check.spec)
    if record.shortage is not None:
        raise RunIncomplete(
            f"the baseline was not updated: the run is incomplete ({record.shortage.why})",
            where=str(path),
            fix=record.shortage.how,
        )
    bad = [pin.pin.title for pin in record.failed_pins]
    bad += [gate.words for gate in record.failed_gates if gate.gate == "max_unverified_rate"]
    if bad:
        raise CheckFailed(
            f"the baseline was not updated, since it would not pass itself: {'; '.join(bad)}",
            where=str(path),
            fix="change the prompt, or the pin or gate in the spec",
        )
    if check.arm.prompted is not None:
        export_responses(check.store, responses_path(check.spec), keys=check.store.used)
    write_baseline(path, check.spec, check.claims, check.arm, check.answered)
