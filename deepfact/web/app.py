"""The audit page: which address shows and takes what.

A decision is in the journal, on disk, before the page says that it was kept; the server itself
remembers nothing that matters, so it can be killed at any time. Only blind cases are handled
here: no key, no challenger and no annotation is ever read by this package.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from deepfact.core.standing import standing_adjudications, steps_taken
from deepfact.errors import DeepFactError, InputError, ResultsExistError
from deepfact.records import Adjudication, Case
from deepfact.review import (
    Desk,
    Receipt,
    desk_of,
    hand_in,
    patiently,
    people_of,
    withdraw,
)
from deepfact.run_records import Adjudicated, JournalEvent, SavedSpec
from deepfact.running.run_state import stages_of
from deepfact.store.files import read_record
from deepfact.store.locate import run_benchmark
from deepfact.web import pages
from deepfact.web.answers import TOLD, failed, refuse, static, unknown
from deepfact.web.forms import Draft, Form, draft_of, read_decision, read_form
from deepfact.web.guard import Guard
from deepfact.web.leases import Leases
from deepfact.web.links import form_token, read_links, who_has
from deepfact.web.live import LiveJournal
from deepfact.web.view import case_view, source_texts

LOG = logging.getLogger("deepfact.web")

PATIENCE = 8.0
"""Seconds to wait for another process to be done with the journal."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Who is signed in, and what they have before them."""

    name: str
    token: str
    desk: Desk
    events: tuple[JournalEvent, ...]

    def steps(self, case_id: str) -> int:
        """See `deepfact.core.standing.steps_taken`."""
        return steps_taken(self.events, (self.desk.round, case_id, self.name))


class AuditApp:
    """The handlers, and what they share: the run, its journal, its sources, the leases."""

    def __init__(self, folder: Path, *, root: Path | None = None, secure: bool = False) -> None:
        """Serves the run in ``folder``; ``secure`` when it is reached over TLS only.

        Raises:
            InputError: no run or benchmark there, or nobody audits it in person.
        """
        self.folder, self.secure = folder, secure
        self.saved = read_record(folder / "spec.json", SavedSpec)
        self.sources = run_benchmark(self.saved.spec, folder, root).sources
        self.live, self.leases = LiveJournal(folder), Leases()
        digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()
        self.cookie = f"deepfact-{digest[:8]}"
        """What a browser keeps of this run is kept under this name: cookies are sent to every port
        of a host, and runs number their cases alike."""

    # --- who is there --------------------------------------------------------------------

    def seat(self, request: Request) -> Seat | Response:
        """Whose session this is, or the page that says that it is nobody's."""
        secret = request.cookies.get(self.cookie, "")
        name = who_has(read_links(self.folder), secret)
        if name is None:
            return refuse(
                request, 403, "You are not signed in",
                "Open the link that you were given. If it no longer works, ask for a new one.",
            )  # fmt: skip
        events = self.live.events()
        try:
            desk = desk_of(self.saved, events, name)
        except InputError:
            return refuse(
                request, 403, "There is nothing for you in this round",
                "Somebody else audits it. Your link will work again when a round is yours.",
            )  # fmt: skip
        return Seat(name, form_token(secret), desk, events)

    def enter(self, request: Request) -> Response:
        """Signs in who comes with a secret, and greets them."""
        secret = request.path_params["secret"]
        name = who_has(read_links(self.folder), secret)
        if name is None:
            return refuse(
                request, 403, "This link does not work",
                "It may have been replaced by a newer one, or cut off when it was copied.",
            )  # fmt: skip
        response = pages.page("welcome", auditor=name, run=self.saved.spec.name)
        response.set_cookie(
            self.cookie, secret, max_age=90 * 24 * 3600, httponly=True, samesite="strict",
            secure=self.secure,
        )  # fmt: skip
        LOG.info("%s signed in", name)
        return response

    # --- pages ---------------------------------------------------------------------------

    def overview(self, request: Request) -> Response:
        """Everything that is before the auditor."""
        seat = self.seat(request)
        if isinstance(seat, Response):
            return seat
        return pages.page(
            "desk",
            seat=seat,
            run=self.saved.spec.name,
            browser_key=self.cookie,
            pace=pages.pace(seat.desk),
            cases=pages.by_case(seat.desk),
            kept=self._kept(request, seat),
        )

    def next_case(self, request: Request) -> Response:
        """Goes to the first case that waits after the one named, and from the end to the start."""
        seat = self.seat(request)
        if isinstance(seat, Response):
            return seat
        after = request.query_params.get("after", "")
        self.leases.give_back(after, seat.name)
        case = self._following(seat, after)
        kept = request.query_params.get("kept", "")
        flash = f"?kept={kept}" if kept in seat.desk.made else ""
        return RedirectResponse(f"/case/{case.id}{flash}" if case else f"/{flash}", 303)

    def _following(self, seat: Seat, after: str) -> Case | None:
        ids = [case.id for case in seat.desk.cases]
        start = ids.index(after) + 1 if after in ids else 0
        cases = [*seat.desk.cases[start:], *seat.desk.cases[:start]]
        waiting = [case for case in cases if case.id not in seat.desk.made]
        if self._shared(seat):
            waiting = [case for case in waiting if self.leases.free(case.id, seat.name)]
        return waiting[0] if waiting else None

    def _shared(self, seat: Seat) -> bool:
        stage = stages_of(self.saved.spec, self.saved.auditors)[seat.desk.round - 1]
        return stage.policy.queue == "shared"

    def show(self, request: Request) -> Response:
        """One case: to decide, or as it was decided."""
        seat = self.seat(request)
        if isinstance(seat, Response):
            return seat
        case = self._case(request, seat)
        if case is None:
            return refuse(
                request, 404, "No such case", "It is not among those that are before you."
            )
        if case.id not in seat.desk.made and self._busy(seat, case):
            return refuse(
                request, 409, "Somebody is at this case",
                "Another auditor has it open. Go on with the next one.", after=case.id,
            )  # fmt: skip
        return self._page(request, seat, case)

    def _busy(self, seat: Seat, case: Case) -> bool:
        return self._shared(seat) and not self.leases.take(case.id, seat.name)

    def _case(self, request: Request, seat: Seat) -> Case | None:
        wanted = request.path_params["case_id"]
        return next((case for case in seat.desk.cases if case.id == wanted), None)

    def _page(
        self,
        request: Request,
        seat: Seat,
        case: Case,
        *,
        status: int = 200,
        draft: Draft | None = None,
        warning: str = "",
        lost: Adjudication | None = None,
    ) -> Response:
        """A case's page.

        Args:
            draft: what the form holds; empty, or what was withdrawn, when None.
            warning: shown above everything.
            lost: a decision that was sent and not kept, to copy from.
        """
        view = case_view(case, self.sources)
        if draft is None:
            draft = draft_of(_withdrawn(seat, case.id), view.sources)
        ids = [known.id for known in seat.desk.cases]
        return pages.page(
            "case",
            status=status,
            seat=seat,
            browser_key=self.cookie,
            case=view,
            number=ids.index(case.id) + 1,
            made=seat.desk.made.get(case.id),
            draft=draft,
            warning=warning,
            lost=lost,
            pace=pages.pace(seat.desk),
            kept=self._kept(request, seat),
            steps=seat.steps(case.id),
        )

    def _kept(self, request: Request, seat: Seat) -> Adjudication | None:
        """The decision that was kept just now, as the journal has it."""
        return seat.desk.made.get(request.query_params.get("kept", ""))

    # --- what is sent --------------------------------------------------------------------

    async def posted(self, request: Request) -> Response:
        """Checks that a form is from this session, then handles it off the event loop."""
        from starlette.concurrency import run_in_threadpool

        form = read_form(await request.body())
        act = self.decide if request.url.path.endswith("/decide") else self.undo
        return await run_in_threadpool(self._act, request, form, act)

    def _act(
        self,
        request: Request,
        form: Form | None,
        act: Callable[[Request, Seat, Case, Form], Response],
    ) -> Response:
        seat = self.seat(request)
        if isinstance(seat, Response):
            return seat
        if form is None:
            return refuse(request, 400, "This is no form", "Nothing was changed.")
        if form.one("token") != seat.token:
            return refuse(
                request, 403, "This form is not from your session",
                "You may have signed in again since it was opened. Nothing was changed.",
            )  # fmt: skip
        case = self._case(request, seat)
        if case is None:
            return self._not_theirs(request, seat, form)
        return act(request, seat, case, form)

    def _not_theirs(self, request: Request, seat: Seat, form: Form) -> Response:
        """A form about a case that is not, or no longer, before this auditor."""
        opened = request.path_params["case_id"]
        made = any(
            number == seat.desk.round and case_id == opened
            for number, case_id, _ in standing_adjudications(seat.events)
        )
        receipt = Receipt.TAKEN if made and self._shared(seat) else Receipt.NOT_YOURS
        status = 409 if receipt is Receipt.TAKEN else 404
        return refuse(
            request, status, "Not kept", TOLD[receipt], lost=form.one("rationale"), after=opened
        )

    def decide(self, request: Request, seat: Seat, case: Case, form: Form) -> Response:
        """Keeps a decision."""
        texts = source_texts(case, self.sources)
        asks = seat.desk.asks_kind
        decision, draft = read_decision(form, case.id, seat.name, texts, asks_kind=asks)
        steps = form.one("steps")
        if decision is None or not steps.isdecimal():
            return self._page(request, seat, case, status=422, draft=draft)
        receipt = self._patiently(
            lambda: hand_in(self.folder, seat.desk.round, decision, after=int(steps[:9]))
        )
        if receipt is None:
            return self._page(
                request, seat, case, status=503, draft=draft,
                warning="Not kept yet: the round is being worked on by another program. "
                "Your words are still in the form; send it again in a moment.",
            )  # fmt: skip
        LOG.info("%s decided %s: %s", seat.name, case.id, receipt)
        if receipt in (Receipt.KEPT, Receipt.AGAIN):
            self.leases.give_back(case.id, seat.name)
            return RedirectResponse(f"/next?after={case.id}&kept={case.id}", 303)
        return self._told(request, seat, case, receipt, decision)

    def undo(self, request: Request, seat: Seat, case: Case, form: Form) -> Response:
        """Takes a decision back."""
        steps = form.one("steps")
        if not steps.isdecimal():
            return refuse(request, 400, "This is no form of ours", "Nothing was changed.")
        why = form.one("why")[:2000]
        receipt = self._patiently(
            lambda: withdraw(
                self.folder, seat.desk.round, case.id, seat.name, why=why, after=int(steps[:9])
            )
        )
        if receipt is None:
            return self._page(
                request, seat, case, status=503,
                warning="Not taken back yet: the round is being worked on by another program. "
                "Try again in a moment.",
            )  # fmt: skip
        LOG.info("%s took back %s: %s", seat.name, case.id, receipt)
        if receipt is Receipt.KEPT:
            return RedirectResponse(f"/case/{case.id}", 303)
        return self._told(request, seat, case, receipt, None)

    def _told(
        self,
        request: Request,
        seat: Seat,
        case: Case,
        receipt: Receipt,
        lost: Adjudication | None,
    ) -> Response:
        """The page that says why nothing was changed, with what stands."""
        events = self.live.events()
        seat = replace(seat, events=events, desk=desk_of(self.saved, events, seat.name))
        if all(known.id != case.id for known in seat.desk.cases):
            said = lost.rationale if lost else ""
            return refuse(request, 409, "Not kept", TOLD[receipt], lost=said, after=case.id)
        warning = TOLD[receipt]
        if lost is None:
            warning = warning.replace("What you have just sent was not kept", "Nothing was changed")
        return self._page(request, seat, case, status=409, warning=warning, lost=lost)

    def _patiently(self, write: Callable[[], Receipt]) -> Receipt | None:
        """Writes as soon as the journal is free; None when it is not within `PATIENCE`."""
        try:
            return patiently(write, PATIENCE)
        except ResultsExistError:
            return None


def _withdrawn(seat: Seat, case_id: str) -> Adjudication | None:
    """The auditor's newest decision on a case that they have taken back."""
    made = [
        event.adjudication
        for event in seat.events
        if isinstance(event, Adjudicated)
        and (event.round, event.adjudication.case_id, event.adjudication.auditor)
        == (seat.desk.round, case_id, seat.name)
    ]
    return made[-1] if made else None


def build_app(
    folder: Path, *, hosts: Collection[str], root: Path | None = None, secure: bool = False
) -> ASGIApp:
    """The ASGI app of a run's audit page.

    Args:
        folder: the run's.
        hosts: the names under which it is reached.
        root: folder that holds benchmarks.
        secure: it is reached over TLS only.

    Raises:
        InputError: no run or benchmark there, or no person audits it.
    """
    app = AuditApp(folder, root=root, secure=secure)
    if not people_of(app.saved, app.live.events()):
        raise InputError("no person audits this round", where=str(folder))
    handlers = Starlette(
        routes=[
            Route("/", app.overview),
            Route("/next", app.next_case),
            Route("/enter/{secret}", app.enter),
            Route("/case/{case_id}", app.show),
            Route("/case/{case_id}/decide", app.posted, methods=["POST"]),
            Route("/case/{case_id}/undo", app.posted, methods=["POST"]),
            Route("/static/{name}", static),
        ],
        exception_handlers={404: unknown, 405: unknown, DeepFactError: failed, Exception: failed},
    )
    handlers.router.redirect_slashes = False
    return Guard(handlers, hosts=hosts)  # outermost, so that no answer goes out without its headers
