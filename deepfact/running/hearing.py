"""The hearing of a round's cases: every auditor that is no person is asked, and panels conclude.

Whoever is due under the policy is asked, wave by wave, until only people are left; auditors that
are coroutines are asked about many cases at once. Each decision is in the journal before it counts.
Decides nothing: what decisions come to is worked out in `deepfact.core`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from deepfact.auditors import base as auditing
from deepfact.auditors.specs import everybody, judges_itself
from deepfact.core.challenge import why_not_evidence
from deepfact.core.sitting import Sitting
from deepfact.errors import DeepFactError, RunIncomplete
from deepfact.records import Adjudication, Case
from deepfact.run_records import Adjudicated, AuditorSpec, Escalated, VerifierSpec
from deepfact.running.arm_engines import open_engines
from deepfact.running.run_state import Progress, Run, Stage
from deepfact.store.journal import now
from deepfact.store.responses import ResponseStore
from deepfact.telemetry import scope

AT_ONCE = 8
"""Cases put before coroutines at once, where no limit of a provider says otherwise."""

Question = tuple[Sitting, AuditorSpec]


@dataclass
class Hearing:
    """One round's hearing.

    Args:
        run: the run.
        number: of the round.
        stage: its settings.
        sittings: its cases; what is decided is added to them.
    """

    run: Run
    number: int
    stage: Stage
    sittings: Sequence[Sitting]
    _calls: int = 0
    _usd: float | None = 0.0
    _owed: list[RunIncomplete] = field(default_factory=list)

    def hold(self) -> list[str]:
        """Ask everybody who is due and no person.

        Returns:
            Ids of the cases that wait for people.

        Raises:
            RunIncomplete: answers of a model are missing; everything else is in the journal.
            DeepFactError: an auditor failed; what was decided is kept, and the run can be resumed.
        """
        while questions := self._questions():
            self._ask_one_by_one([q for q in questions if not self._waits(q[1])])
            self._ask_at_once([q for q in questions if self._waits(q[1])])
        self._escalate()
        return [one.case.id for one in self.sittings if one.due(self.stage.policy)]

    def close(self) -> None:
        """Keep what the panels decided: nobody is awaited any more."""
        for sitting in self.sittings:
            for name, made in sitting.standing().items():
                if name in sitting.panels and sitting.made.get(name) != made:
                    self._keep(sitting, made)

    # --- who is asked --------------------------------------------------------------------

    @cached_property
    def _specs(self) -> dict[str, AuditorSpec]:
        """Everybody who is no person, by name."""
        return {
            spec.name: spec
            for spec in everybody(self.stage.auditors)
            if spec.kind != auditing.HUMAN
        }

    @cached_property
    def _auditors(self) -> dict[str, auditing.Auditor]:
        """They themselves."""
        return {
            name: auditing.build_auditor(
                spec,
                sources=self.run.base.sources,
                context=self.run.context,
                answers=self.run.store.key,
                workspace=self.run.journal.folder,
            )
            for name, spec in self._specs.items()
        }

    def _questions(self) -> list[Question]:
        return [
            (sitting, self._specs[name])
            for sitting in self.sittings
            for name in sitting.asked(self.stage.policy)
            if name in self._specs
        ]

    def _waits(self, spec: AuditorSpec) -> bool:
        return inspect.iscoroutinefunction(self._auditors[spec.name].adjudicate)

    # --- asking --------------------------------------------------------------------------

    def _ask_one_by_one(self, questions: Sequence[Question]) -> None:
        for done, (sitting, spec) in enumerate(questions):
            self.run.watch(Progress(f"audit: round {self.number}", done, len(questions)))
            try:
                made = self._auditors[spec.name].adjudicate(sitting.case)
                if isinstance(made, Awaitable):  # a plain function may hand back a coroutine
                    made = asyncio.run(_awaited(made))
            except DeepFactError:
                raise
            except Exception as error:
                raise _failed(spec, sitting.case, error) from error
            self._keep(sitting, self._checked(made, sitting.case, spec))

    def _ask_at_once(self, questions: Sequence[Question]) -> None:
        if not questions:
            return
        asyncio.run(self._everybody(questions))
        if self._owed:
            raise RunIncomplete(
                f"{len(self._owed)} of {len(questions)} decisions of agents are not there yet: "
                f"{self._owed[0].what}",
                where=self._owed[0].where,
                fix=self._owed[0].fix,
            )

    async def _everybody(self, questions: Sequence[Question]) -> None:
        """All questions, at most as many at once as the limits allow."""
        work, done = iter(questions), 0

        async def worker() -> None:
            nonlocal done
            for sitting, spec in work:
                try:
                    with scope("case", sitting.case.id, auditor=spec.name):
                        answer = self._auditors[spec.name].adjudicate(sitting.case)
                        made = await answer if isinstance(answer, Awaitable) else answer
                except RunIncomplete as error:
                    self._owed.append(error)
                    continue
                except DeepFactError:
                    raise
                except Exception as error:
                    raise _failed(spec, sitting.case, error) from error
                made = self._checked(made, sitting.case, spec)
                self._keep(sitting, made)
                done += 1
                self._tell(made, done, len(questions))

        async with self._engines({spec.name: spec for _, spec in questions}) as width:
            workers = [asyncio.create_task(worker()) for _ in range(min(width, len(questions)))]
            try:
                await asyncio.gather(*workers)
            finally:
                for task in workers:
                    task.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    @asynccontextmanager
    async def _engines(self, specs: dict[str, AuditorSpec]) -> AsyncIterator[int]:
        """Engines for the auditors that ask a model, one where providers and limits are the same;
        and how many cases may be asked about at once."""
        by_store: dict[Path, dict[str, VerifierSpec]] = {}
        for name, spec in specs.items():
            if hasattr(self._auditors[name], "use"):
                path = getattr(self._auditors[name], "responses", "") or "responses.sqlite"
                asks = VerifierSpec(kind=spec.kind, name=name, options=spec.options)
                by_store.setdefault(Path(path), {})[name] = asks
        width = AT_ONCE
        async with AsyncExitStack() as stack:
            for path, asking in by_store.items():
                store = stack.enter_context(ResponseStore(path))
                engines, most = await stack.enter_async_context(
                    open_engines(asking, store, replay=False, seed=self.run.spec.seed)
                )
                width = max(width, most)
                for name, engine in engines.items():
                    _prompted(self._auditors[name]).use(engine)
            yield width

    def _tell(self, made: Adjudication, done: int, total: int) -> None:
        used = made.deliberation.usage if made.deliberation else None
        if used is not None and used.calls:
            self._calls += used.calls
            known = self._usd is not None and used.usd is not None
            self._usd = (self._usd or 0.0) + (used.usd or 0.0) if known else None
        step = f"audit: round {self.number}, agents"
        self.run.watch(Progress(step, done, total, calls=self._calls, usd=self._usd))

    # --- keeping -------------------------------------------------------------------------

    def _keep(self, sitting: Sitting, made: Adjudication) -> None:
        self.run.journal.append(Adjudicated(at=now(), round=self.number, adjudication=made))
        sitting.made[made.auditor] = made

    def _escalate(self) -> None:
        for sitting in self.sittings:
            for panel, person, why in sitting.to_escalate(self.stage.policy):
                self.run.journal.append(
                    Escalated(
                        at=now(),
                        round=self.number,
                        case_id=sitting.case.id,
                        panel=panel,
                        to=person,
                        why=why,
                    )
                )
                sitting.escalated[panel] = person

    def _checked(self, made: Any, case: Case, spec: AuditorSpec) -> Adjudication:
        """An auditor's answer, about the case it was asked about; quotes that are in no source do
        not count as its evidence, and a note says so, as it says when the model is the
        challenger's own.

        Raises:
            DeepFactError: it is none, or about another case.
        """
        if not isinstance(made, Adjudication):
            what = f"auditor {spec.name!r} returned {type(made).__name__}, not an adjudication"
            raise DeepFactError(what, where=f"case {case.id}")
        if made.case_id != case.id:
            raise DeepFactError(
                f"auditor {spec.name!r} answered about case {made.case_id!r}", where=case.id
            )
        problems = {
            quote: why_not_evidence(quote.source, quote.quote, self.run.base.sources)
            for quote in made.evidence
        }
        notes = [made.notes, *(f"left out: {problem}" for problem in problems.values() if problem)]
        if judges_itself(spec, self.stage.challenger):
            notes.append(OWN_MODEL)
        return made.model_copy(
            update={
                "auditor": spec.name,
                "evidence": tuple(quote for quote, problem in problems.items() if not problem),
                "notes": "\n".join(filter(None, notes)),
            }
        )


OWN_MODEL = "judges its own model's challenges: allowed by the policy (allow_self_judging)"
"""Noted on every decision that an auditor makes where its model is the challenger's."""


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


def _prompted(auditor: auditing.Auditor) -> Any:
    return auditor


def _failed(spec: AuditorSpec, case: Case, error: Exception) -> DeepFactError:
    """What stops the run when an auditor does not answer."""
    what = f"auditor {spec.name!r} failed: {type(error).__name__}: {error}"
    return DeepFactError(what, where=f"case {case.id}")
