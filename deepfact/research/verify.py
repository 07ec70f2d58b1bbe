"""Asks a verifier about the claims of a ledger, and about claims beside other cards' texts.

Generated and withdrawn cards are not given to the verifier. Whatever happens to a call, every
claim ends in one outcome; a failure is an outcome with a reason and never a label. Writes
nothing: whoever calls adds the outcomes to the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from deepfact.core.contradictions import find_conflicts
from deepfact.executors.local import run_verifier
from deepfact.records import Claim, Outcome
from deepfact.research_records import (
    CrossReading,
    Ledger,
    Thresholds,
)
from deepfact.run_records import VerifierSpec
from deepfact.store.specs import read_yaml
from deepfact.verifiers.base import Context, Verifier, build_verifier

READINGS = 500
"""Most readings of claims beside other cards in one pass, so that a big cluster stays payable."""


def verifier_of(name: str, workspace: Path | None = None) -> tuple[str, Callable[[], Verifier]]:
    """What a command's verifier is called, and what builds it: a kind, or a YAML file.

    It is built once for each pass, for a pass closes what a verifier opened. A wrong option is
    told here.

    Args:
        name: the kind, or the file with kind, name and options.
        workspace: the run's folder, for what a verifier keeps (a panel: answers it paid for).

    Raises:
        InputError: no such file, kind or option.
    """
    is_file = name.endswith((".yaml", ".yml"))
    spec = read_yaml(Path(name), VerifierSpec) if is_file else VerifierSpec(kind=name)
    build_verifier(spec, workspace=workspace)
    return spec.label, partial(build_verifier, spec, workspace=workspace)


def verify_claims(
    ledger: Ledger, verifier: Any, *, name: str, again: bool = False
) -> Iterator[Outcome]:
    """An outcome for each claim that has none yet, as they come.

    Args:
        ledger: the claims and their cards.
        verifier: as `deepfact.verifiers.base.Verifier`.
        name: put on outcomes that do not name their verifier.
        again: ask about claims that have an outcome, too.
    """
    done = set() if again else {outcome.claim_id for outcome in ledger.outcomes}
    claims = [
        ledger.bounded(claim)
        for claim in ledger.claims
        if claim.id not in done and claim.card not in ledger.withdrawn
    ]
    if claims:
        yield from run_verifier(verifier, claims, Context(ledger.evidence), name=name)


def cross_readings(ledger: Ledger, verifier: Any, *, name: str) -> Iterator[CrossReading]:
    """What a verifier says of each claim when it is shown another card of its cluster alone.

    Claims that share a subject are read beside each other's cards, at most `READINGS` of them,
    so that texts can be found to conflict that no structured object tells apart.
    """
    pairs = open_pairs(ledger)[:READINGS]
    known = ledger.evidence
    questions: dict[str, tuple[str, str]] = {}
    claims: list[Claim] = []
    by_id = {claim.id: claim for claim in ledger.claims}
    for number, (claim_id, card) in enumerate(pairs):
        asked = ledger.bounded(by_id[claim_id])
        question = f"reading-{number}"
        questions[question] = (claim_id, card)
        claims.append(asked.model_copy(update={"id": question, "cites": (card,)}))
    for outcome in run_verifier(verifier, claims, Context(known), name=name) if claims else ():
        claim_id, card = questions[outcome.claim_id]
        renamed = outcome.model_copy(update={"claim_id": claim_id})
        yield CrossReading(claim=claim_id, card=card, outcome=renamed)


def open_pairs(ledger: Ledger) -> Sequence[tuple[str, str]]:
    """Claim and other card, for those not read yet."""
    known = ledger.evidence
    cards = {claim.id: claim.card for claim in ledger.claims}
    done = {(reading.claim, reading.card) for reading in ledger.readings}
    pairs: dict[tuple[str, str], None] = {}
    for cluster in find_conflicts(ledger, Thresholds()).clusters:
        for claim in cluster:
            for other in cluster:
                pair = (claim, cards[other])
                usable = {cards[claim], cards[other]} <= known.keys()
                if usable and cards[other] != cards[claim] and pair not in done:
                    pairs[pair] = None
    return list(pairs)
