"""The simulated auditor: knows the answers and is right with a stated probability.

It shows how the loop behaves with an auditor of that accuracy; it says nothing about people,
and every record and report it appears in is marked as a simulation. It reads no source, and
says nothing of the key but the label it decides for.
"""

from __future__ import annotations

import random
from typing import Annotated

from pydantic import Field

from deepfact.auditors.base import Answers
from deepfact.errors import ConfigError
from deepfact.records import Adjudication, Case, Decision, Label


class PolicyAuditor:
    """Decides rightly with probability ``accuracy``, otherwise for a label that is wrong."""

    def __init__(
        self,
        name: str,
        answers: Answers,
        accuracy: Annotated[float, Field(ge=0, le=1)] = 0.9,
        key: str = "author",
        seed: int = 0,
    ) -> None:
        """
        Args:
            name: shown on its adjudications.
            answers: gives the known answers by the name of a key.
            accuracy: probability of a right decision, for each case on its own.
            key: name of the key whose answers count as right.
            seed: a case gets the same decision whenever it is asked.

        Raises:
            ConfigError: the benchmark has no such key.
        """
        self.name, self.accuracy, self.seed = name, accuracy, seed
        self.key = answers(key)
        if not self.key:
            raise ConfigError(
                f"auditor {name!r}: the benchmark has no key {key!r} for it to decide by",
                fix="name a key that lies in the benchmark's folder keys/, or another auditor",
            )

    def adjudicate(self, case: Case) -> Adjudication:
        """A seeded decision; cannot tell where the key says nothing of the claim."""
        entry = self.key.get(case.claim.id)
        if entry is None:
            return self._decision(case, None, "the key has no answer to this claim")
        draw = random.Random(f"{self.seed}:{self.name}:{case.claim.id}:{case.id}")  # noqa: S311
        if draw.random() < self.accuracy:
            return self._decision(case, entry.label, "decides as the key has it")
        wrong = [side.label for side in (case.a, case.b) if side.label != entry.label]
        label = draw.choice(wrong or [label for label in Label if label != entry.label])
        return self._decision(case, label, "a simulated error")

    def _decision(self, case: Case, label: Label | None, reason: str) -> Adjudication:
        own = None
        if label is None:
            decision = Decision.CANNOT_TELL
        elif label == case.a.label:
            decision = Decision.A
        elif label == case.b.label:
            decision = Decision.B
        else:
            decision, own = Decision.NEITHER, label
        return Adjudication(
            case_id=case.id,
            auditor=self.name,
            decision=decision,
            label=own,
            rationale=f"[simulated] {reason}",
        )
