"""Answers that are not a case: refusals, errors, and the fixed list of static files.

Reasons that could hold something private go to the log, never onto a page; addresses, which may
hold a secret, go to neither.
"""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from deepfact.errors import DeepFactError
from deepfact.review import Receipt
from deepfact.web import pages

LOG = logging.getLogger("deepfact.web")

FORBIDDEN = 403

TOLD = {
    Receipt.STALE: "You have decided this case, or taken a decision back, in another window since "
    "this form was opened. What you have just sent was not kept.",
    Receipt.TAKEN: "Another auditor has decided this case in the meantime. "
    "What you have just sent was not kept.",
    Receipt.CLOSED: "The round has gone on from its decisions, so none can be added or taken back. "
    "What you have just sent was not kept.",
    Receipt.NOT_YOURS: "This case is not among yours. What you have just sent was not kept.",
}


def refuse(
    request: Request, status: int, title: str, text: str, *, lost: str = "", after: str = ""
) -> Response:
    """The page that says why a request was turned down; nothing was changed.

    Args:
        lost: what was sent and not kept, to copy from.
        after: the case to go on from.
    """
    LOG.warning("refused %s: %s (%d)", request.method, title, status)
    return pages.page(
        "message", status=status, title=title, text=text, lost=lost, after=after,
        home=status != FORBIDDEN,
    )  # fmt: skip


def static(request: Request) -> Response:
    """A style sheet or script of ours: one of a fixed list, never a path."""
    known = pages.STATIC.get(request.path_params["name"])
    if known is None:
        return unknown(request, None)
    path, kind = known
    headers = {"cache-control": "max-age=300"}
    return FileResponse(path, media_type=kind, headers=headers)


def unknown(request: Request, _: Exception | None) -> Response:
    """The page for addresses that there are none of."""
    return refuse(request, 404, "Nothing is here", "The address may have been mistyped.")


def failed(request: Request, error: Exception) -> Response:
    """The page for what went wrong on our side; the reason goes to the log alone."""
    what = str(error) if isinstance(error, DeepFactError) else type(error).__name__
    LOG.error("failed %s: %s", request.method, what)
    return pages.page(
        "message", status=500, title="Something went wrong here", lost="", after="", home=True,
        text="Decisions that were kept are safe. Whoever runs the server finds the reason in its "
        "output.",
    )  # fmt: skip
