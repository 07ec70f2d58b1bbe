"""A regression check in words: for the terminal, for a failing test, and as Markdown.

Reasons are the stored ones, word for word; hidden characters in them are made visible, so that
no answer of a model can redraw a terminal or a log. Works on the record alone.
"""

from __future__ import annotations

import re
import textwrap
from typing import Iterator

from deepfact.core.compare import outcome_of
from deepfact.core.regress import prompt_words
from deepfact.experiment_records import GateResult
from deepfact.records import Outcome, Verdict
from deepfact.regression_records import (
    FlippedClaim,
    PinResult,
    RegressRecord,
    RegressStatus,
    Shortage,
)
from deepfact.reports.templating import markdown_environment, visible
from deepfact.reports.view import reason

STATUS = {
    RegressStatus.PASSED: "passed",
    RegressStatus.REGRESSED: "REGRESSED",
    RegressStatus.INCOMPLETE: "INCOMPLETE: neither passed nor regressed",
}


def headline(record: RegressRecord) -> str:
    """The check in one line."""
    words = [f"{record.name}: {STATUS[record.status]}", f"{record.claims} claims"]
    words.append("1 flip" if len(record.flips) == 1 else f"{len(record.flips)} flips")
    if record.shortage is not None:
        words.append(f"{len(record.shortage.claims)} claims without all their answers")
    if record.failed_pins:
        count = len(record.failed_pins)
        words.append("1 pin does not hold" if count == 1 else f"{count} pins do not hold")
    return "; ".join(words)


def against_words(record: RegressRecord) -> list[str]:
    """What is compared with what."""
    if record.baseline is None:
        return [f"no baseline to compare with; prompt {prompt_words(record.asking)}"]
    made = record.baseline
    lines = [
        f"baseline: {made.claims_name}, prompt {prompt_words(made.asking)}, "
        f"model {', '.join(made.asking.models) or 'none'}, deepfact {made.deepfact}"
    ]
    if record.changes:
        return [*lines, *(f"changed: {visible(change)}" for change in record.changes)]
    return [*lines, "changed: nothing that is asked"]


def unpaired_lines(record: RegressRecord) -> list[str]:
    """The claims that were not compared."""
    found = record.unpaired
    return [
        f"not compared, {what}: {len(names)} ({_some(names)})"
        for what, names in (
            ("only in the baseline", found.only_baseline),
            ("only now", found.only_now),
            ("worded differently in the baseline", found.changed),
        )
        if names
    ]


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


# --- outcomes ----------------------------------------------------------------------------


def outcome_lines(outcome: Outcome) -> Iterator[str]:
    """An outcome with its reasons: every vote, those that say the same once."""
    if not outcome.votes:
        why = outcome.rationale if isinstance(outcome, Verdict) else outcome.detail
        kind = "" if isinstance(outcome, Verdict) else f"{outcome.reason}: "
        yield f"{kind}{_quoted(reason(why))}"
        if isinstance(outcome, Verdict):
            for one in outcome.contradictions:
                yield f"  disputed: {_quoted(one.disputed)}; the source says {_quoted(one.quote)}"
    groups: dict[tuple[str, ...], list[int]] = {}
    for vote in outcome.votes:
        words = [
            f"{'against' if vote.refutes else 'for'}, "
            f"{str(vote.label if not vote.refutes else vote.grounds).replace('_', ' ')}: "
            f"{_quoted(reason(vote.rationale))}"
        ]
        if (found := vote.contradiction) is not None:
            words.append(
                f"  disputed: {_quoted(found.disputed)}; the source says {_quoted(found.quote)}"
            )
        words += [
            f"  qualification ({str(one.kind).replace('_', ' ')}): {_quoted(one.text)}"
            for one in vote.qualifications
        ]
        groups.setdefault(tuple(words), []).append(vote.index + 1)
    for lost in outcome.abstentions:
        said = f"no vote, {str(lost.reason).replace('_', ' ')}: {_quoted(reason(lost.detail))}"
        groups.setdefault((said,), []).append(lost.index + 1)
    for (first, *rest), numbers in groups.items():
        votes = "vote" if len(numbers) == 1 else "votes"
        yield f"{votes} {', '.join(map(str, numbers))} {first}"
        yield from rest


def _quoted(text: str) -> str:
    return f"“{visible(' '.join(text.split()))}”"


def word_of(outcome: Outcome | None) -> str:
    """An outcome in one word."""
    return "not in the baseline" if outcome is None else str(outcome_of(outcome))


def flip_lines(flip: FlippedClaim) -> list[str]:
    """A flip with both outcomes and their reasons."""
    label = f"; label {flip.flip.label}" if flip.flip.label else ""
    qualified = ", qualified" if flip.flip.qualified else ""
    lines = [
        f"{flip.flip.claim_id}: {flip.flip.first} -> {flip.flip.other}{label}{qualified}",
        f"  claim: {_quoted(flip.claim.text)}",
    ]
    for name, outcome in (("baseline", flip.before), ("now", flip.now)):
        lines.append(f"  {name}: {outcome_of(outcome)}")
        lines += [f"    {line}" for line in outcome_lines(outcome)]
    return lines


def pin_text(record: RegressRecord, found: PinResult) -> str:
    """A pinned claim that is not what it must be, or whose answers are missing: all that its
    reader needs."""
    pin = found.pin
    if found.now is None:
        return f"{pin.title}; not decided\n{shortage_text(record.shortage)}"
    lines = [f"{pin.title}, and is {found.found}", f"claim: {_quoted(found.claim.text)}"]
    if pin.why:
        lines.append(f"pinned because: {visible(pin.why)}")
    for name, outcome in (("now", found.now), ("baseline", found.before)):
        lines.append(f"{name}: {word_of(outcome)}")
        lines += [f"  {line}" for line in (outcome_lines(outcome) if outcome else ())]
    return "\n".join([*lines, *against_words(record)])


def gate_text(record: RegressRecord, gate: GateResult) -> str:
    """A gate that does not hold, with the flips by name; their reasons are in the report."""
    flips = [
        f"  {one.flip.claim_id}: {one.flip.first} -> {one.flip.other}"
        + (f" (label {one.flip.label})" if one.flip.label else "")
        for one in record.flips
    ]
    return "\n".join([gate.words, *against_words(record), "flips:", *flips])


# --- what is missing ---------------------------------------------------------------------


def shortage_text(shortage: Shortage | None) -> str:
    """What is missing, what it would cost and what to do."""
    if shortage is None:
        return "nothing is missing"
    return "\n".join([visible(shortage.why), cost_words(shortage), shortage.how])


def cost_words(shortage: Shortage) -> str:
    """Calls and dollars; a price that nobody lists is unknown."""
    calls = "1 live call" if shortage.calls == 1 else f"{shortage.calls} live calls"
    to = f" to {shortage.provider}" if shortage.provider else ""
    if not shortage.input_tokens:
        return f"{calls}{to} needed; tokens and cost are not known"
    tokens = (
        f"about {shortage.input_tokens} input and {shortage.output_tokens} output tokens "
        f"({shortage.output_from})"
    )
    if shortage.usd is None:
        price = (
            f"unknown price of {', '.join(shortage.unpriced)}: give it under `prices` in the "
            "verifier's options"
        )
    else:
        price = f"about ${shortage.usd:.2f}"
        if shortage.usd_batched is not None:
            price += f", or ${shortage.usd_batched:.2f} by the batch API"
    return f"{calls}{to} needed: {tokens}; {price}"


# --- whole reports -----------------------------------------------------------------------


def report_lines(record: RegressRecord) -> list[str]:
    """The check for a terminal: what was compared, gates, pins, flips, what is missing."""
    lines = [*against_words(record), *unpaired_lines(record)]
    for gate in record.gates:
        lines.append(f"gate {gate.gate} {'holds' if gate.holds else 'FAILS'}: {gate.words}")
    for pin in record.pins:
        state = {True: "holds", False: "FAILS", None: "not decided"}[pin.holds]
        found = f" (is {pin.found})" if pin.holds is False else ""
        lines.append(f"pin {state}: {pin.pin.title}{found}")
    flipped = {one.flip.claim_id for one in record.flips}
    for pin in record.failed_pins:
        if pin.pin.claim not in flipped:
            lines += ["", *pin_text(record, pin).splitlines()]
    if record.flips:
        so_far = ", so far, of the claims that are answered" if record.shortage else ""
        lines += ["", f"flips ({len(record.flips)}{so_far}):"]
        for flip in record.flips:
            lines += textwrap.indent("\n".join(flip_lines(flip)), "  ").splitlines()
    lines += [f"not shown: {words}" for words in record.missing]
    return lines


def render_regress_markdown(record: RegressRecord, *, most: int | None = None) -> str:
    """The check as Markdown.

    Args:
        record: what came of it.
        most: flips and pins to show at most with their reasons; all when None. What is left
            out is counted.
    """
    shown = record.flips if most is None else record.flips[:most]
    text = (
        markdown_environment()
        .get_template("regress.md.j2")
        .render(
            record=record,
            status=STATUS[record.status],
            against=against_words(record),
            unpaired=unpaired_lines(record),
            flips=shown,
            left_out=len(record.flips) - len(shown),
            lines=lambda outcome: list(outcome_lines(outcome)),
            cost="" if record.shortage is None else cost_words(record.shortage),
        )
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
