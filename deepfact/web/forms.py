"""What an auditor sent, read as a decision, or what is wrong with it, field by field.

Nothing that comes from the browser is taken at its word: evidence arrives as a range of a source
that the case shows, and the words are cut from the stored text here. Writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from deepfact.core.quotes import find_quote
from deepfact.core.transfer import ANSWERS, NO_KIND, kind_of
from deepfact.records import Adjudication, Decision, Evidence, Label, Span, Stance
from deepfact.web.view import SourceText

MOST_FIELDS = 200
LONGEST_TEXT = 20_000
"""Characters of a rationale or a note."""
LONGEST_QUOTE = 5_000
MOST_EVIDENCE = 40
LONGEST_STAY = 24 * 3600.0
"""Seconds. A longer time on one case is a page that was left open, and is not recorded."""


class Form(dict[str, list[str]]):
    """The fields of a posted form."""

    def one(self, name: str) -> str:
        """A field's value; empty when it is missing or given more than once."""
        values = self.get(name, [])
        return values[0] if len(values) == 1 else ""


def read_form(body: bytes) -> Form | None:
    """The fields of a body; None when it is no form."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        return None
    form = Form()
    for name, value in pairs:
        form.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return form


@dataclass(frozen=True, slots=True)
class Picked:
    """A piece of evidence as the form shows it."""

    value: str
    """The field's value: source number, start, end, stance, with colons between."""
    number: int
    text: str
    stance: str


@dataclass(slots=True)
class Draft:
    """What is in the form: shown again when something is wrong with it."""

    decision: str = ""
    label: str = ""
    divergence: str = ""
    """One of `deepfact.core.transfer.ANSWERS`, in transfer runs."""
    rationale: str = ""
    notes: str = ""
    why: str = ""
    quote: str = ""
    quote_source: str = ""
    quote_stance: str = "supports"
    evidence: list[Picked] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    """What is wrong, by field, in the order of the form."""


def draft_of(adjudication: Adjudication | None, texts: Sequence[SourceText]) -> Draft:
    """A form filled in with a decision that was withdrawn, or an empty one."""
    if adjudication is None:
        return Draft()
    numbers = {text.id: text.number for text in texts}
    return Draft(
        decision=str(adjudication.decision),
        label=str(adjudication.label or ""),
        divergence=str(adjudication.divergence or NO_KIND),
        rationale=adjudication.rationale,
        notes=adjudication.notes,
        evidence=[
            Picked(
                f"{numbers[e.source]}:{e.span.start}:{e.span.end}:{e.stance}",
                numbers[e.source],
                e.quote,
                str(e.stance),
            )
            for e in adjudication.evidence
            if e.span is not None and e.source in numbers
        ],
    )


def read_decision(
    form: Form, case_id: str, auditor: str, texts: Sequence[SourceText], *, asks_kind: bool = False
) -> tuple[Adjudication | None, Draft]:
    """The decision that a form holds, and the form as it is to be shown again.

    Args:
        form: as posted.
        case_id, auditor: known from the address and the session, not from the form.
        texts: the sources of the case, by which evidence is numbered.
        asks_kind: the form also asks what ails the side decided against.

    Returns:
        None in place of the decision when there are errors in the draft.
    """
    draft = Draft(
        decision=form.one("decision"),
        label=form.one("label"),
        divergence=form.one("divergence"),
        rationale=form.one("rationale"),
        notes=form.one("notes"),
        quote=form.one("quote"),
        quote_source=form.one("quote_source"),
        quote_stance=form.one("quote_stance") or "supports",
    )
    if draft.decision not in set(Decision):
        draft.errors["decision"] = "Choose one of the four answers."
    neither = draft.decision == Decision.NEITHER
    if neither and draft.label not in set(Label):
        draft.errors["label"] = "Neither side is right: choose the label that is."
    if asks_kind and draft.divergence not in ANSWERS:
        draft.errors["divergence"] = "Choose what is the matter, or that it is none of these."
    if not draft.rationale.strip():
        draft.errors["rationale"] = "Say why, in a sentence or two. A decision needs a reason."
    for name in ("rationale", "notes"):
        if len(getattr(draft, name)) > LONGEST_TEXT:
            draft.errors[name] = f"At most {LONGEST_TEXT:,} characters, please."
    evidence = _evidence(form, draft, {text.number: text for text in texts})
    if draft.errors:
        return None, draft
    decision = Adjudication(
        case_id=case_id,
        auditor=auditor,
        decision=Decision(draft.decision),
        label=Label(draft.label) if neither else None,
        rationale=draft.rationale.strip(),
        evidence=tuple(evidence),
        notes=draft.notes.strip(),
        seconds=_seconds(form.one("seconds")),
        divergence=kind_of(draft.divergence) if asks_kind else None,
    )
    return decision, draft


def _evidence(form: Form, draft: Draft, texts: Mapping[int, SourceText]) -> list[Evidence]:
    """The evidence of a form; what is wrong with it goes into the draft."""
    found: list[Evidence] = []
    for value in form.get("evidence", [])[: MOST_EVIDENCE + 1]:
        piece = _picked(value, texts)
        if piece is None or piece.span is None:
            draft.errors["evidence"] = "A selection did not fit its source; please select again."
            continue
        if piece not in found:
            found.append(piece)
            number = int(value.partition(":")[0])
            draft.evidence.append(Picked(value, number, piece.quote, str(piece.stance)))
    if len(found) > MOST_EVIDENCE:
        draft.errors["evidence"] = f"At most {MOST_EVIDENCE} pieces of evidence, please."
    if draft.quote.strip():
        piece = _pasted(draft, texts)
        if piece is None:
            draft.errors["quote"] = (
                "These words do not stand in that source. Copy them from it, without changes."
            )
        elif piece not in found:
            found.append(piece)
    return found


def _picked(value: str, texts: Mapping[int, SourceText]) -> Evidence | None:
    """A selection, as ``source number:start:end:stance``, with the words that stand there."""
    parts = value.split(":")
    if len(parts) != 4 or not all(p.isascii() and p.isdigit() and len(p) < 10 for p in parts[:3]):
        return None
    number, start, end = (int(part) for part in parts[:3])
    text = texts.get(number)
    if text is None or text.source is None or text.generated or parts[3] not in set(Stance):
        return None
    if not start < end <= len(text.source.text) or end - start > LONGEST_QUOTE:
        return None
    words = text.source.text[start:end]
    start, end = start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())
    if start >= end:
        return None
    return Evidence(
        source=text.id,
        quote=text.source.text[start:end],
        stance=Stance(parts[3]),
        span=Span(start=start, end=end),
    )


def _pasted(draft: Draft, texts: Mapping[int, SourceText]) -> Evidence | None:
    """A quote that was typed or pasted, found in the source that was named for it."""
    number = int(draft.quote_source) if draft.quote_source.isdecimal() else 0
    text = texts.get(number)
    if text is None or text.source is None or text.generated:
        return None
    if draft.quote_stance not in set(Stance) or len(draft.quote) > LONGEST_QUOTE:
        return None
    span = find_quote(draft.quote, text.source.text)
    if span is None:
        return None
    return Evidence(
        source=text.id,
        quote=text.source.text[span.start : span.end],
        stance=Stance(draft.quote_stance),
        span=span,
    )


def _seconds(text: str) -> float | None:
    """Time on the case as the page measured it, or None when that is no sensible number."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return round(seconds, 1) if math.isfinite(seconds) and 0 <= seconds <= LONGEST_STAY else None
