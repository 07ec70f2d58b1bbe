"""``deepfact audit``: people decide blind cases, in the terminal or through the sister modules.

Only the shell: which cases wait, and how a decision is kept, is in `deepfact.review`. What is
shown of a case is the case alone, never its key.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deepfact.cli import audit_exchange, audit_serve, audit_stats
from deepfact.cli.options import Root
from deepfact.cli.output import note, say
from deepfact.cli.pages import App

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deepfact.records import Adjudication, Case, Label, Position, Source

PATIENCE = 30.0
"""Seconds to wait for the audit page or another program to be done with the journal."""

app = App("People decide blind cases.")
app.command(epilog=audit_serve.EXAMPLES)(audit_serve.serve)
app.command(epilog=audit_exchange.EXPORT_EXAMPLES)(audit_exchange.export)
app.command(epilog=audit_stats.EXAMPLES)(audit_stats.stats)
app.command("import", epilog=audit_exchange.IMPORT_EXAMPLES)(audit_exchange.import_)


@app.callback()
def _group() -> None:
    """People decide blind cases."""


@app.command(
    epilog="Examples:\n\ndeepfact audit review results/my-round\n\n"
    "deepfact audit review results/my-round --auditor ada"
)
def review(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's results folder.")],
    auditor: Annotated[str, typer.Option(help="Who you are, when several people audit.")] = "",
    root: Root = None,
) -> None:
    """Decide the cases that wait for you, one by one.

    You see the claim and two positions, not whose they are. Each decision needs a reason and is
    kept at once; leave with q and come back whenever you like.
    """
    from deepfact.cli.round import run_folder
    from deepfact.errors import InputError
    from deepfact.review import Receipt, hand_in, open_desk, patiently, why_not
    from deepfact.run_records import SavedSpec
    from deepfact.store.files import read_record
    from deepfact.store.locate import run_benchmark

    folder = run_folder(run)
    desk = open_desk(folder, auditor)
    spec = read_record(folder / "spec.json", SavedSpec).spec
    sources = run_benchmark(spec, folder, root).sources
    total = desk.decided + len(desk.waiting)
    say(f"{desk.auditor.name}: {len(desk.waiting)} of {total} cases of round {desk.round}")
    done = 0
    for position, case in enumerate(desk.waiting, 1):
        _show(case, sources, f"case {position} of {len(desk.waiting)}")
        adjudication = _asked(case, desk.auditor.name, sources, asks_kind=desk.asks_kind)
        if adjudication is None:
            break
        if adjudication == "skip":
            continue
        receipt = patiently(partial(hand_in, folder, desk.round, adjudication), PATIENCE)
        if receipt is Receipt.TAKEN:  # a shared queue: go on with the next one
            note(f"not kept: {why_not(receipt, desk.auditor.name, case.id)}")
        elif receipt is not Receipt.KEPT:
            raise InputError(why_not(receipt, desk.auditor.name, case.id), where=str(folder))
        else:
            done += 1
    left = len(open_desk(folder, desk.auditor.name).waiting)
    say(f"{done} decided, {left} left")
    if not left:
        note(f"all decided; go on with: deepfact round resume {folder}")


def _show(case: Case, sources: Mapping[str, Source], where: str) -> None:
    claim = case.claim
    say(f"\n--- {where} " + "-" * 40)
    say(f"CLAIM  {claim.text}")
    if claim.context:
        say(f"       ({claim.context})")
    for number, source in enumerate((sources[s] for s in claim.cites if s in sources), 1):
        say(f"cites [{number}] {source.title}  {source.url}")
    for name, position in (("A", case.a), ("B", case.b)):
        _show_position(name, position, sources)


def _show_position(name: str, position: Position, sources: Mapping[str, Source]) -> None:
    say(f"\n{name}: {position.label}\n   {position.rationale or 'no reason recorded'}")
    quotes = [(str(e.stance), e.quote, e.source) for e in position.evidence]
    # In the form of evidence: labels that were imported or given by hand hold no contradictions,
    # so a form of their own would mostly tell which side is the challenger's.
    quotes += [("contradicts", c.quote, c.source) for c in position.contradictions]
    for stance, quote, source_id in dict.fromkeys(quotes):
        source = sources.get(source_id)
        title = source.title if source else "unknown source"
        say(f"   {stance}: “{quote}”  ({title})")
    for qualification in position.qualifications:
        say(f"   qualification ({qualification.kind}): {qualification.text}")


def _asked(
    case: Case, auditor: str, sources: Mapping[str, Source], *, asks_kind: bool = False
) -> Adjudication | Any | None:
    """The person's decision; ``"skip"`` to come back later, None to leave."""
    from deepfact.core.transfer import kind_of
    from deepfact.records import Adjudication, Decision

    began = time.monotonic()
    answers = {
        "a": Decision.A,
        "b": Decision.B,
        "n": Decision.NEITHER,
        "c": Decision.CANNOT_TELL,
    }
    while True:
        answer = _line("\n[a] A stronger  [b] B stronger  [n] neither  [c] cannot tell  "
                       "[t] read the sources  [s] skip  [q] leave")  # fmt: skip
        if answer is None or answer == "q":
            return None
        if answer == "s":
            return "skip"
        if answer == "t":
            for source in (sources[s] for s in case.claim.cites if s in sources):
                say(f"\n{source.title}\n{source.text}")
            continue
        if answer not in answers:
            say(f"{answer!r} is none of a, b, n, c, t, s, q")
            continue
        label = _label() if answer == "n" else None
        if answer == "n" and label is None:
            return None
        kind = _kind() if asks_kind else "none"
        if kind is None:
            return None
        rationale = ""
        while not rationale:
            said = _line("why (a reason is needed)", fold=False)
            if said is None:
                return None
            rationale = said
        return Adjudication(
            case_id=case.id,
            auditor=auditor,
            decision=answers[answer],
            label=label,
            rationale=rationale,
            seconds=round(time.monotonic() - began, 1),
            divergence=kind_of(kind),
        )


def _kind() -> str | None:
    """One of `deepfact.core.transfer.ANSWERS`; None to leave."""
    from deepfact.core.transfer import ANSWERS, QUESTION

    say(QUESTION)
    for number, words in enumerate(ANSWERS.values(), 1):
        say(f"  [{number}] {words}")
    while True:
        said = _line(f"which, 1 to {len(ANSWERS)}")
        if said is None or said == "q":
            return None
        if said.isascii() and said.isdigit() and 0 < int(said) <= len(ANSWERS):
            return list(ANSWERS)[int(said) - 1]
        say(f"{said!r} is none of 1 to {len(ANSWERS)}")


def _label() -> Label | None:
    """The label that the person gives instead of both; None to leave."""
    from deepfact.records import Label

    while True:
        said = _line(f"which label: {', '.join(Label)}")
        if said is None:
            return None
        matching = [label for label in Label if said and label.startswith(said)]
        if len(matching) == 1:
            return matching[0]
        say(f"{said!r} is none of {', '.join(Label)}")


def _line(prompt: str, *, fold: bool = True) -> str | None:
    """A line that the person types; None at the end of input."""
    typer.echo(f"{prompt}: ", nl=False)
    try:
        text = input().strip()
    except EOFError:
        say("")
        return None
    return text.lower() if fold else text
