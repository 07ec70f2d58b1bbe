"""The committed baseline of a regression check: one file, one line a claim.

``baseline.jsonl`` starts with what the outcomes were recorded with and on; each further line is
one claim with its outcome, votes and reasons, in the order of the claims. It holds no date, no
cost and no address, so the same answers give the same bytes. Nothing is judged here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Mapping

from pydantic import TypeAdapter

from deepfact.core.compare import Found
from deepfact.core.regress import claim_hash
from deepfact.errors import BenchmarkError, InputError, RecordError
from deepfact.records import Outcome, Usage
from deepfact.regression_records import (
    Asking,
    BaselineClaim,
    BaselineHeader,
    BaselineLine,
    RegressSpec,
)
from deepfact.running.arms import Arm
from deepfact.running.claim_set import ClaimSet
from deepfact.store.files import jsonl, read_jsonl, write_text
from deepfact.version import VERSION

_LINES: TypeAdapter[BaselineLine] = TypeAdapter(BaselineLine)

_NO_DIFFERENCE = frozenset(
    {"provider", "limits", "budget", "prices", "responses", "replay", "prompt_folder"}
)
"""Options that make no outcome another one, or would carry an address of somebody's."""

RESPONSES = "responses.jsonl"


@dataclass(frozen=True)
class Baseline:
    """Outcomes to compare with, and what they were recorded with."""

    header: BaselineHeader
    claims: Mapping[str, BaselineClaim]

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """By claim id."""
        return {name: one.outcome for name, one in self.claims.items()}


def baseline_path(spec: RegressSpec) -> Path:
    """Where the baseline of a spec is; a path of the working folder."""
    return Path(spec.baseline or f"results/reference/{spec.name}/baseline.jsonl")


def responses_path(spec: RegressSpec) -> Path:
    """Where the answers are that are committed with it."""
    return Path(spec.responses) if spec.responses else baseline_path(spec).with_name(RESPONSES)


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file.

    Raises:
        InputError: no such file.
        RecordError: it is no baseline, or lines are missing or there twice.
    """
    if not path.is_file():
        raise InputError(
            "there is no baseline",
            where=str(path),
            fix="record one with: deepfact regress CONFIG --update-baseline --live",
        )
    header: BaselineHeader | None = None
    claims: dict[str, BaselineClaim] = {}
    for line in read_jsonl(path, _LINES):
        if isinstance(line, BaselineClaim):
            if line.claim_id in claims:
                raise RecordError(f"claim {line.claim_id!r} is there twice", where=str(path))
            claims[line.claim_id] = line
        elif header is not None or claims:
            raise RecordError("the first line alone says what this is", where=str(path))
        else:
            header = line
    if header is None or len(claims) != header.claims:
        raise RecordError(
            f"this baseline is not whole: {len(claims)} claims of "
            f"{header.claims if header else 'an unknown number'}",
            where=str(path),
            fix="take it from version control again, or record it anew",
        )
    return Baseline(header, claims)


def write_baseline(path: Path, spec: RegressSpec, claims: ClaimSet, arm: Arm, now: Found) -> None:
    """Record outcomes as the baseline of a spec; all claims have one."""
    header = BaselineHeader(
        name=spec.name,
        deepfact=VERSION,
        claims_name=claims.name,
        claims_version=claims.version,
        claims_hash=claims.state_hash,
        claims=len(claims.claims),
        asking=asking_of(arm, now),
    )
    lines = [
        BaselineClaim(
            claim_id=one.claim.id,
            claim_hash=claim_hash(one),
            outcome=_without_costs(now[one.claim.id]),
        )
        for one in claims.asked()
    ]
    write_text(path, jsonl(line.canonical() for line in [header, *lines]))


def check_fits(baseline: Baseline, claims: ClaimSet, where: Path) -> None:
    """Refuse a baseline of another benchmark, or of another version of this one.

    Claims from files have no version: they are told apart one by one.

    Raises:
        BenchmarkError: it does not fit.
    """
    header = baseline.header
    if not claims.version and not header.claims_version:
        return
    if (header.claims_name, header.claims_version) != (claims.name, claims.version):
        what = f"this is a baseline of {header.claims_name}, and the claims are {claims.name}"
    elif header.claims_hash != claims.state_hash:
        what = f"this is a baseline of {claims.name} in another state: it was changed since"
    else:
        return
    raise BenchmarkError(
        what,
        where=str(where),
        fix="name the benchmark that it was recorded on, or record it anew: --update-baseline",
    )


def asking_of(arm: Arm, now: Found) -> Asking:
    """How an arm asks."""
    options = {
        name: value for name, value in arm.spec.options.items() if name not in _NO_DIFFERENCE
    }
    named = options.get("models") or [options.get("model")]
    voted = {vote.model for one in now.values() for vote in one.votes if vote.model}
    rule = getattr(arm.prompted, "rule", None) or next(
        (one.rule for one in now.values() if one.rule), ""
    )
    return Asking(
        kind=arm.spec.kind,
        prompt=arm.prompt,
        models=tuple(dict.fromkeys(str(one) for one in named if one)) or tuple(sorted(voted)),
        rule=str(rule),
        options=options,
    )


def _without_costs(outcome: Outcome) -> Outcome:
    """An outcome without what it cost and without what the header says for all: prompt, rule."""
    plain = {"usage": Usage(), "prompt": None}
    votes = tuple(vote.model_copy(update=plain) for vote in outcome.votes)
    lost = tuple(one.model_copy(update=plain) for one in outcome.abstentions)
    slim: Outcome = outcome.model_copy(
        update={**plain, "rule": "", "verifier": "", "votes": votes, "abstentions": lost}
    )
    return slim
