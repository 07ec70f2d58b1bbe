"""A merge's conflicts, before people: a run's folder whose cases `deepfact audit` shows and takes.

Nothing is committed before every conflict is decided. What conflicts and what a decision amounts
to is worked out in `deepfact.core.merge` from the two versions alone, so a merge that is gone on
with days later is the same one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from deepfact.core.merge import settle
from deepfact.core.standing import audit_closed, standing_adjudications
from deepfact.core.undo import Signed
from deepfact.errors import BenchmarkError, InputError, ResultsExistError, RunIncomplete
from deepfact.merging import Merge, commit_merge, open_merge
from deepfact.records import Adjudication, Revision, Ruling, canonical_json, sha256_of
from deepfact.run_records import (
    AuditClosed,
    AuditorSpec,
    CaseOpened,
    ControlSpec,
    MergeSpec,
    PolicyRule,
    PolicySpec,
    RoundSpec,
    RunStarted,
    SavedSpec,
    VerifierSpec,
    VersionCommitted,
)
from deepfact.running.code_state import code_state
from deepfact.store.benchmark import BenchmarkStore, BenchmarkVersion
from deepfact.store.branches import bring_in
from deepfact.store.files import explain, read_record, write_text
from deepfact.store.journal import Journal, now
from deepfact.store.locate import load_version, run_copy, split_reference

FILE = "merge.json"
HUMAN = "human"
RULES = (PolicyRule.SINGLE, PolicyRule.MAJORITY, PolicyRule.UNANIMOUS)


def spec_of(
    merge: Merge,
    references: tuple[str, str],
    signed: Signed,
    auditors: tuple[str, ...],
    rule: PolicyRule,
    note: str,
) -> MergeSpec:
    """What is kept of a merge that waits for people.

    Args:
        merge: the merge.
        references: how to find the two versions again.
        signed: the author and the date.
        auditors: names of the people who decide.
        rule: one of `RULES`.
        note: for the changelog.

    Raises:
        InputError: a name that no auditor can have.
    """
    sides = (merge.ours, merge.theirs)
    numbered = [
        f"{split_reference(reference)[0]}@{side.manifest.version}"
        for reference, side in zip(references, sides, strict=True)
    ]
    hashes = [sha256_of(side.store.manifest_bytes(side.manifest.version)) for side in sides]
    try:
        return MergeSpec(
            ours=numbered[0], ours_manifest=hashes[0], theirs=numbered[1],
            theirs_manifest=hashes[1], leave=merge.plan.left, auditors=auditors, rule=rule,
            author=signed.who, note=note, date=signed.when,
        )  # fmt: skip
    except ValidationError as error:
        raise InputError(explain(error), where="--auditor") from None


def put_before_people(merge: Merge, folder: Path, spec: MergeSpec) -> None:
    """Open the conflicts as cases in a run's folder; an earlier start of the same merge is left
    as it is.

    Args:
        merge: with conflicts.
        folder: the run's.
        spec: of the merge.

    Raises:
        InputError: an auditor wrote a side of every case that would be theirs.
        ResultsExistError: the folder holds something else.
    """
    if (folder / FILE).is_file():
        there = read_record(folder / FILE, MergeSpec)
        if there.model_copy(update={"date": spec.date, "note": spec.note}) != spec:
            raise ResultsExistError(
                "this results folder holds another merge", where=str(folder),
                fix="give another folder with --out, or the options it was begun with",
            )  # fmt: skip
        spec = there
    elif folder.exists() and not all(map(_only_begun, folder.iterdir())):
        raise ResultsExistError(
            "this folder exists and holds no merge", where=str(folder),
            fix="give another folder with --out",
        )  # fmt: skip
    seats = _seats(merge, spec)
    saved = _saved(merge, spec, folder)
    with Journal(folder) as journal:
        write_text(folder / FILE, spec.model_dump_json(indent=1) + "\n")
        copy = run_copy(folder, merge.ours.store.name)
        if not (copy / "versions").is_dir():
            merge.ours.store.fork(copy)
        bring_in(BenchmarkStore(copy), merge.theirs)  # so that the cases' sources can be read
        write_text(folder / "spec.json", saved.model_dump_json(indent=1) + "\n")
        if not journal.find(RunStarted):
            journal.append(
                RunStarted(
                    at=now(),
                    spec_hash=sha256_of(canonical_json([saved.canonical()])),
                    date=spec.date,
                    base_version=merge.ours.manifest.version,
                    base_state=merge.ours.manifest.state_hash,
                    code=code_state(),
                )
            )
        opened = {event.case.id for event in journal.find(CaseOpened)}
        for case, _ in merge.cases:
            if case.id not in opened:
                names = seats[case.id]
                journal.append(CaseOpened(at=now(), round=1, case=case, auditors=names))


def _only_begun(path: Path) -> bool:
    """Whether a file is what a merge leaves that was killed before its first step."""
    empty = path.name == "journal.jsonl" and path.stat().st_size == 0
    return empty or path.name == ".lock" or path.suffix == ".part"


def _seats(merge: Merge, spec: MergeSpec) -> dict[str, tuple[str, ...]]:
    """Who decides each case: in turn under ``single``, else everybody; never somebody who wrote
    one of its sides."""
    conflicts = {one.claim.id: one for one in merge.plan.conflicts}
    found: dict[str, tuple[str, ...]] = {}
    for position, (case, key) in enumerate(merge.cases):
        conflict = conflicts[key.claim_id]
        wrote = conflict.ours.wrote | conflict.theirs.wrote
        may = [name for name in spec.auditors if name not in wrote]
        if not may:
            raise InputError(
                f"everybody named wrote a side of the conflict on {key.claim_id!r}",
                where="--auditor",
                fix="name somebody else too",
            )
        single = spec.rule is PolicyRule.SINGLE
        found[case.id] = (may[position % len(may)],) if single else tuple(may)
    return found


def _saved(merge: Merge, spec: MergeSpec, folder: Path) -> SavedSpec:
    """The merge as a run's spec, by which `deepfact.review` finds its people and sources."""
    name = re.sub(r"[\s/\\]+", "-", folder.resolve().name)
    version = merge.ours.manifest.version
    return SavedSpec(
        spec=RoundSpec(
            name=name,
            benchmark=f"{merge.ours.store.name}@{version}",
            challenger=VerifierSpec(kind="merge"),
            auditors=spec.auditors,
            policy=PolicySpec(rule=spec.rule),
            controls=ControlSpec(agreed=0, microgold=0),
            commit_to="run",
            date=spec.date,
        ),
        auditors=tuple(AuditorSpec(name=person, kind=HUMAN) for person in spec.auditors),
    )


@dataclass(frozen=True, slots=True)
class Finished:
    """A merge whose conflicts are decided."""

    version: BenchmarkVersion
    rulings: tuple[Ruling, ...]


def finish_merge(folder: Path, *, root: Path | None = None) -> Finished:
    """Make the merged version of the decisions that are in; again, it is the one that is there.

    Args:
        folder: the merge's.
        root: folder that holds benchmarks.

    Raises:
        RunIncomplete: cases wait for people.
        BenchmarkError: a version is no longer the one that the merge was begun with.
    """
    spec = read_record(folder / FILE, MergeSpec)
    merge = _begun_with(spec, folder, root)
    with Journal(folder) as journal:
        decisions = _decisions(merge, journal)
        waiting = [case_id for case_id, made in decisions.items() if made is None]
        if waiting:
            raise RunIncomplete(
                f"{len(waiting)} of {len(merge.cases)} conflicts wait for people",
                where=str(folder),
                fix=f"decide them with: deepfact audit review {folder}\n"
                f"  or in the browser: deepfact audit serve {folder}\n"
                f"  then: deepfact bench merge --go-on {folder}",
            )
        if not audit_closed(journal.events, 1):
            journal.append(AuditClosed(at=now(), round=1))
        signed = Signed(spec.author, spec.date, "", folder.resolve().name)
        rulings, revisions = _settled(merge, decisions, spec.rule, signed)
        version = commit_merge(merge, signed, decided=revisions, note=spec.note)
        if not journal.find(VersionCommitted):
            journal.append(
                VersionCommitted(
                    at=now(),
                    round=1,
                    version=version.manifest.version,
                    state_hash=version.manifest.state_hash,
                )
            )
    return Finished(version, tuple(rulings))


def _begun_with(spec: MergeSpec, folder: Path, root: Path | None) -> Merge:
    sides = []
    for reference, manifest in (
        (spec.ours, spec.ours_manifest),
        (spec.theirs, spec.theirs_manifest),
    ):
        version = load_version(reference, root)
        if sha256_of(version.store.manifest_bytes(version.manifest.version)) != manifest:
            raise BenchmarkError(
                f"{version} is not the version that this merge was begun with", where=str(folder)
            )
        sides.append(version)
    return open_merge(sides[0], sides[1], leave=spec.leave)


def _decisions(merge: Merge, journal: Journal) -> dict[str, list[Adjudication] | None]:
    """The decisions on each case; None while somebody has yet to decide it.

    Raises:
        BenchmarkError: the journal holds other cases than the merge has.
    """
    opened = {event.case.id: event for event in journal.find(CaseOpened)}
    if [case for case, _ in merge.cases] != [event.case for event in opened.values()]:
        raise BenchmarkError(
            "the cases in this folder are not those of its merge",
            where=str(journal.folder),
            fix="if it was killed while it began, give the `bench merge` command again",
        )
    standing = standing_adjudications(journal.events)
    found: dict[str, list[Adjudication] | None] = {}
    for case_id, event in opened.items():
        made = [standing.get((1, case_id, name)) for name in event.auditors or ()]
        given = [one for one in made if one is not None]
        found[case_id] = given if len(given) == len(made) else None
    return found


def _settled(
    merge: Merge,
    decisions: dict[str, list[Adjudication] | None],
    rule: PolicyRule,
    signed: Signed,
) -> tuple[list[Ruling], list[Revision]]:
    conflicts = {one.claim.id: one for one in merge.plan.conflicts}
    rulings: list[Ruling] = []
    revisions: list[Revision] = []
    for case, key in merge.cases:
        ruling, changes = settle(
            conflicts[key.claim_id],
            key,
            decisions[case.id] or [],
            rule=rule,
            names=merge.names,
            signed=signed,
        )
        rulings.append(ruling)
        revisions += changes
    return rulings, revisions
