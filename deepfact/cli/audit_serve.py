"""``deepfact audit serve``: the audit page, for one or several people.

Only the shell: the page is `deepfact.web`. Sign-in links go to standard output, once; the log on
standard error never holds them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deepfact.cli.options import Root
from deepfact.cli.output import note

EXAMPLES = (
    "Examples:\n\ndeepfact audit serve results/my-round\n\n"
    "deepfact audit serve results/my-round --new-links\n\n"
    "deepfact audit serve results/my-round --host 0.0.0.0 --name audit.example.org "
    "--tls-cert cert.pem --tls-key key.pem"
)


def serve(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's results folder.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8765,
    name: Annotated[
        str, typer.Option(help="Name under which auditors reach it.", show_default=False)
    ] = "",
    tls_cert: Annotated[
        Path | None, typer.Option(help="Certificate, in PEM.", show_default=False)
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its key.", show_default=False)] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Serve other machines without TLS.")
    ] = False,
    new_links: Annotated[
        bool, typer.Option("--new-links", help="Make new links; the old ones stop working.")
    ] = False,
    root: Root = None,
) -> None:
    """Open the audit page: people decide cases in the browser, each by a link of their own.

    A link is shown when it is made, and only then: what is kept of it cannot be turned back.
    Stop with Ctrl+C and start again whenever you like; links and decisions stay.
    """
    from deepfact.cli.round import run_folder
    from deepfact.errors import MissingExtraError
    from deepfact.review import people_of
    from deepfact.run_records import SavedSpec
    from deepfact.store.files import read_record
    from deepfact.store.journal import read_events

    try:
        from deepfact.web import serve as web
        from deepfact.web.links import make_links
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the audit page needs {error.name}", extra="web") from None

    folder = run_folder(run)
    place = web.Place(host, port, name, tls_cert, tls_key, insecure)
    web.check_place(place)
    saved = read_record(folder / "spec.json", SavedSpec)
    people = [spec.name for spec in people_of(saved, read_events(folder / "journal.jsonl"))]
    _log_to_stderr()
    with web.listen(place) as sock:
        made = make_links(folder, people, anew=new_links)
        bound = sock.getsockname()[1]
        typer.echo(f"audit page: {web.address(place, bound)}")
        for person in people:
            known = "has a link already; --new-links makes new ones"
            shown = web.link(place, bound, made[person]) if person in made else known
            typer.echo(f"  {person}: {shown}")
        typer.echo("ready; stop with Ctrl+C, what is decided is kept")
        web.serve(folder, place, sock, root=root)
    note(f"stopped; when all is decided, go on with: deepfact round resume {folder}")


def _log_to_stderr() -> None:
    import logging

    form = "%(asctime)s %(levelname)s %(message)s"
    logging.basicConfig(level=logging.WARNING, format=form, datefmt="%H:%M:%S")
