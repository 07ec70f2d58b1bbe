"""What a run would have come to under another policy: ``deepfact round replay``.

Reads a run and its benchmark, and changes nothing on disk. Rounds are replayed one after the
other by `deepfact.core.replay`, each on what the one before would have led to; here the results
are set beside what is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deepfact.core import metrics
from deepfact.core.policy import by_case, why_unworkable
from deepfact.core.replay import Replayed, replay_round
from deepfact.core.revise import decided_label
from deepfact.core.state import State, apply
from deepfact.errors import ConfigError, InputError, IntegrityError, RecordError
from deepfact.measure_records import AuditorWeight, Rate
from deepfact.records import Id, Label, Outcome, Record, Ruling, RulingKind
from deepfact.round import assigned
from deepfact.run_records import (
    Answered,
    PolicyRule,
    PolicySpec,
    RoundRecord,
    RunRecord,
    SavedSpec,
)
from deepfact.running.audit_stats import known_answers
from deepfact.running.run_state import Stage, stages_of
from deepfact.store.benchmark import BenchmarkVersion
from deepfact.store.files import read_record
from deepfact.store.journal import read_events
from deepfact.store.locate import run_benchmark
from deepfact.store.specs import parse_yaml, read_yaml

NOBODY = "no decision that the policy takes is recorded"


class RulingDifference(Record):
    """A case on which another ruling would have been made."""

    case_id: Id
    claim_id: Id
    claim: str
    recorded: str
    """``supported``... or ``unresolved``: what the recorded ruling came to."""
    replayed: str
    votes: dict[str, str]
    """What each auditor decided."""
    why: str
    """The reason of the ruling that would have been made, word for word."""


class LabelDifference(Record):
    """A claim that would have another label after a round."""

    claim_id: Id
    recorded: Label | None
    replayed: Label | None


class MissingDecisions(Record):
    """A case for which the policy asks for decisions that nobody has recorded."""

    case_id: Id
    auditors: tuple[str, ...]


class NotApplicable(Record):
    """A recorded case that the replay had to set aside, and why."""

    case_id: Id
    claim_id: Id
    why: str


class ScoreDifference(Record):
    """An accuracy, of a verifier or of the labels on micro-gold: recorded, and as it would be."""

    of: str
    on: str
    recorded: Rate | None
    replayed: Rate


class ReplayedRound(Record):
    """One round as it would have been, beside what it was."""

    round: int
    recorded_policy: PolicySpec
    policy: PolicySpec
    cases: int
    rulings: tuple[Ruling, ...]
    weights: tuple[AuditorWeight, ...]
    differ: tuple[RulingDifference, ...]
    labels: tuple[LabelDifference, ...]
    missing: tuple[MissingDecisions, ...]
    not_applicable: tuple[NotApplicable, ...]
    unasked: tuple[str, ...]
    """Claims that the challenger would have challenged and nobody was asked about."""
    scores: tuple[ScoreDifference, ...]


class Replay(Record):
    """A run under another policy. Nothing of it is stored."""

    run: str
    simulated: bool
    open_round: bool
    """The run has a round that waits for decisions, which is not in here."""
    rounds: tuple[ReplayedRound, ...]

    @property
    def same(self) -> bool:
        """Whether every ruling is the recorded one."""
        return not any(round_.differ or round_.not_applicable for round_ in self.rounds)


def read_policy(given: str) -> PolicySpec:
    """A policy as it is given on the command line: a rule such as ``majority``, a YAML file, or
    YAML in braces.

    Raises:
        ConfigError: it is none of them.
    """
    if given in set(PolicyRule):
        return PolicySpec(rule=PolicyRule(given))
    if given.lstrip().startswith("{"):
        return parse_yaml(given, PolicySpec, where="--policy")
    if not Path(given).is_file():
        raise ConfigError(
            f"{given!r} is neither a rule nor a file",
            where="--policy",
            fix=f"rules: {', '.join(PolicyRule)}; or a YAML file; or {{rule: majority, ...}}",
        )
    return read_yaml(Path(given), PolicySpec)


def replay_run(folder: Path, policy: PolicySpec | None, *, root: Path | None = None) -> Replay:
    """Every closed round of the run in ``folder`` again.

    Args:
        folder: the run's results folder.
        policy: to rule by in all rounds; None for each round's own.
        root: folder that holds benchmarks.

    Raises:
        InputError: no record there, or it does not fit the benchmark.
        ConfigError: the run's auditors cannot carry the policy out, or its weights cannot be
            measured.
    """
    record = read_record(folder / "record.json", RunRecord)
    saved = read_record(folder / "spec.json", SavedSpec)
    if not record.rounds:
        raise InputError(
            "no round of this run is closed yet: there is nothing to replay", where=str(folder)
        )
    for closed in record.rounds:
        _check_whole(closed, str(folder / "record.json"))
    base = run_benchmark(record.spec, folder, root).load(record.rounds[0].base.version)
    if base.manifest.state_hash != record.rounds[0].base.state_hash:
        raise IntegrityError(
            f"{base} is not the version that this run started on", where=str(folder)
        )
    microgold = known_answers(record.spec, folder, root)
    outcomes: dict[str, dict[str, Outcome]] = {}
    for event in read_events(folder / "journal.jsonl"):
        if isinstance(event, Answered):
            outcomes.setdefault(event.verifier, {})[event.outcome.claim_id] = event.outcome
    state = recorded = base.state
    rounds = []
    for at, stage in enumerate(stages_of(saved.spec, saved.auditors)[: len(record.rounds)]):
        chosen = policy or stage.policy
        _check(chosen, stage, microgold)
        done = _replayed(record, at, state, recorded, chosen, stage, microgold)
        recorded = apply(recorded, record.rounds[at].revisions)
        rounds.append(
            _beside(record.rounds[at], done, recorded, stage, chosen, base, microgold, outcomes)
        )
        state = done.after
    return Replay(
        run=record.name,
        simulated=record.simulated,
        open_round=bool(record.waiting),
        rounds=tuple(rounds),
    )


def _check_whole(done: RoundRecord, where: str) -> None:
    """Keys, rulings and decisions have to be about the round's own cases.

    Raises:
        RecordError: one is not.
    """
    cases = [case.id for case in done.cases]
    for what, about in (
        ("keys", [key.case_id for key in done.keys]),
        ("rulings", [ruling.case_id for ruling in done.rulings]),
        ("decisions", [made.case_id for made in done.adjudications]),
    ):
        fits = set(about) <= set(cases) if what == "decisions" else sorted(about) == sorted(cases)
        if not fits:
            raise RecordError(
                f"the {what} of round {done.round} are not about its cases",
                where=where,
                fix="the record was changed by hand: restore it, or run the round again",
            )


def _check(policy: PolicySpec, stage: Stage, microgold: Mapping[str, Label]) -> None:
    names = [spec.name for spec in stage.auditors]
    if problem := why_unworkable(policy, names):
        raise ConfigError(problem[0], where="--policy", fix=problem[1])
    voters = [name for name in names if name != policy.tie_breaker]
    if policy.per_case and policy.per_case > len(voters):
        raise ConfigError(
            f"{policy.per_case} auditors are to decide each case, and the round has {len(voters)}",
            where="--policy",
        )
    measured = policy.rule is PolicyRule.WEIGHTED and set(names) - set(policy.weights.accuracy)
    if measured and not microgold and policy.weights.measured_on == "microgold":
        raise ConfigError(
            "weights are measured on micro-gold, and its key is not there",
            where="--policy",
            fix="give accuracies under `weights`, or measure on `microgold and controls`",
        )


def _replayed(
    record: RunRecord,
    at: int,
    state: State,
    recorded: State,
    policy: PolicySpec,
    stage: Stage,
    microgold: Mapping[str, Label],
) -> Replayed:
    def assign(position: int, wrote: str) -> list[str]:
        return [spec.name for spec in assigned(stage.auditors, policy, position, wrote)]

    return replay_round(
        record,
        at,
        state,
        recorded,
        policy,
        None if policy == stage.policy else assign,
        auditors=[spec.name for spec in stage.auditors],
        microgold=microgold,
    )


def _beside(
    done: RoundRecord,
    replayed: Replayed,
    recorded: State,
    stage: Stage,
    policy: PolicySpec,
    base: BenchmarkVersion,
    microgold: Mapping[str, Label],
    outcomes: Mapping[str, Mapping[str, Outcome]],
) -> ReplayedRound:
    """A replayed round beside the recorded one; ``recorded`` is the state after the latter."""
    made = by_case(done.cases, done.adjudications)
    was = {ruling.case_id: ruling for ruling in done.rulings}
    claims = {case.id: case.claim.id for case in done.cases}
    differ = [
        RulingDifference(
            case_id=case.id,
            claim_id=case.claim.id,
            claim=case.claim.text,
            recorded=_said(was[case.id]),
            replayed=_said(ruling),
            votes={
                one.auditor: str(decided_label(case, one) or "cannot tell") for one in made[case.id]
            },
            why=ruling.reason if ruling.auditors else NOBODY,
        )
        for case, ruling in zip(replayed.cases, replayed.rulings, strict=True)
        if _said(ruling) != _said(was[case.id])
    ]
    return ReplayedRound(
        round=done.round,
        recorded_policy=stage.policy,
        policy=policy,
        cases=len(done.cases),
        rulings=replayed.rulings,
        weights=replayed.weights,
        differ=tuple(differ),
        labels=tuple(
            LabelDifference(claim_id=claim_id, recorded=entry.label, replayed=ours)
            for claim_id, entry in recorded.entries.items()
            if (ours := replayed.after.entries[claim_id].label) != entry.label
        ),
        missing=tuple(
            MissingDecisions(case_id=case_id, auditors=names)
            for case_id, names in replayed.missing.items()
        ),
        not_applicable=tuple(
            NotApplicable(case_id=case_id, claim_id=claims[case_id], why=why)
            for case_id, why in replayed.gone.items()
        ),
        unasked=replayed.unasked,
        scores=(
            *_scores(done, replayed, base, outcomes),
            *_microgold(done, replayed, recorded, microgold),
        ),
    )


def _said(ruling: Ruling) -> str:
    return "unresolved" if ruling.kind is RulingKind.UNRESOLVED else str(ruling.label)


def _scores(
    done: RoundRecord,
    replayed: Replayed,
    base: BenchmarkVersion,
    outcomes: Mapping[str, Mapping[str, Outcome]],
) -> list[ScoreDifference]:
    """Everybody's accuracy on the labels before and after, and the challenger's without its own
    accepted challenges; recorded and as it would be."""
    own = {ruling.claim_id for ruling in replayed.rulings if ruling.accepts_challenge}
    own_recorded = any(ruling.accepts_challenge for ruling in done.rulings)
    before, after = f"version {done.base.version}", f"version {done.result.version}"
    sheets = {(sheet.verifier, sheet.on): sheet for sheet in done.scores}
    reports = {claim.id: claim.report for claim in base.claims}
    found = []
    for verifier in dict.fromkeys(sheet.verifier for sheet in done.scores):
        keys = {"before": (before, replayed.before, set[str]()),
                "after": (after, replayed.after, set[str]())}  # fmt: skip
        if verifier == done.challenger and (own or own_recorded):
            name = "after, without own accepted challenges"
            keys[name] = (f"{after} without own accepted challenges", replayed.after, own)
        for on, (name, state, without) in keys.items():
            labels = {e.claim.id: e.label for e in state if e.label and e.claim.id not in without}
            sheet = sheets.get((verifier, name))
            answers = outcomes.get(verifier, {})
            score = metrics.score(labels, answers, verifier=verifier, on=on, reports=reports)
            found.append(
                ScoreDifference(
                    of=verifier, on=on, recorded=sheet.accuracy if sheet else None,
                    replayed=score.accuracy,
                )
            )  # fmt: skip
    return found


def _microgold(
    done: RoundRecord, replayed: Replayed, recorded: State, microgold: Mapping[str, Label]
) -> list[ScoreDifference]:
    """How much of micro-gold the labels after the round have right."""
    if not microgold:
        return []
    right = []
    for state in (recorded, replayed.after):
        known = {claim: label for claim, label in microgold.items() if claim in state.entries}
        hits = sum(state.entries[claim].label == label for claim, label in known.items())
        right.append(metrics.rate(hits, len(known)))
    on = f"micro-gold, after round {done.round}"
    return [ScoreDifference(of="labels", on=on, recorded=right[0], replayed=right[1])]
