"""The fence around data: claim and source text as a prompt may carry it, and what is odd in it.

Source text is data, never instruction. `escape` makes it impossible for a text to close its
fence and makes invisible characters visible; `unescape` is its exact reverse, so that a quote
copied from the escaped text can be checked against the source. `suspicions` names what looks
like an attempt to talk to the model. Pure: no I/O, nothing is evaluated.
"""

from __future__ import annotations

import re
import unicodedata

FENCES = (
    "claim", "claims", "context", "sources", "candidates", "evidence", "side_a", "side_b",
    "searches",
)  # fmt: skip
"""Elements of a prompt inside which data may stand."""

INNER = ("source", "title", "about", "text", "around", "element", "quote")
"""Elements that a rendered source, claim or piece of evidence is made of."""

_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BACK = {"amp": "&", "lt": "<", "gt": ">"}
_REFERENCE = re.compile(r"&(?:(amp|lt|gt)|#x([0-9A-F]{1,6}));")
_KEPT_CONTROLS = "\n\t"
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")
"""Characters of other categories that show nothing at all."""
_HARMLESS = frozenset("\u00ad\r")
"""Escaped like the others, but common in honest text, so no reason for suspicion."""


_NOT_PLAIN = re.compile(r"[^ -%'-;=?-~\n\t]")
"""Any character but the ASCII ones that are always left alone: most text is made of those."""


def is_invisible(character: str) -> bool:
    """Whether a character shows nothing: controls, zero-width, bidi, tags, fillers, selectors."""
    if character in _KEPT_CONTROLS or character == " ":
        return False
    if character in _BLANK or 0xE0100 <= ord(character) <= 0xE01EF:
        return True
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def escape(text: str) -> str:
    """``text`` as it may stand inside a fence: no markup, no invisible character left raw."""
    return _NOT_PLAIN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    if character in _NAMED:
        return _NAMED[character]
    return f"&#x{ord(character):04X};" if is_invisible(character) else character


def unescape(text: str) -> str:
    """The reverse of `escape`, in one pass; anything else that looks like it is left alone."""

    def back(match: re.Match[str]) -> str:
        name, code = match.groups()
        if name:
            return _BACK[name]
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else match.group()

    return _REFERENCE.sub(back, text)


def one_line(text: str) -> str:
    """``text`` escaped, on one line: for titles and other short fields."""
    return escape(" ".join(text.split()))


_ORDER = r"(?:ignore|disregard|forget|override|bypass)"
_RULES = r"(?:instructions?|rules?|prompts?|directions?|guidelines?|task)"
_VERDICT = r"(?:supported|contradictory|inconclusive|refuted|confirmed|true|false)"
_PATTERNS = {
    "closes_fence": re.compile(rf"<\s*/?\s*(?:{'|'.join((*FENCES, *INNER))})\b[^<>]{{0,200}}>"),
    "imitates_schema": re.compile(
        r"[\"']\s*(?:claim_id|label|refuted|grounds|contradiction|qualifications|rationale)"
        r"\s*[\"']\s*:"
    ),
    "instructs": re.compile(
        rf"\b{_ORDER}\b[^.\n]{{0,60}}\b{_RULES}\b"
        rf"|\b(?:answer|reply|respond|output|return)\b[^.\n]{{0,30}}[\"'`:\s]{_VERDICT}\b"
        rf"|\b(?:label|mark|rate|classify)\s+(?:this|the|every|all)\s+claims?\b[^.\n]{{0,30}}\b"
        rf"{_VERDICT}\b"
        r"|\byou are (?:now )?(?:a|an|the) (?:\w+ )?(?:assistant|ai|judge|verifier|model)\b"
        r"|\b(?:system|developer) (?:prompt|message)\b"
        r"|<\|[a-z_]+\|>|\[/?inst\]|^\s*(?:human|assistant|system)\s*:",
        re.MULTILINE,
    ),
}


def suspicions(text: str) -> tuple[str, ...]:
    """What in a text looks like an attempt to steer the model, by name, sorted.

    Invisible characters are taken out and look-alikes folded (NFKC) before looking, so that a
    sentence broken up by them is still seen. A suspicion is a flag for the reader of the
    record; the text reaches the model all the same, inside the fence.
    """
    found = set()
    odd = set(_NOT_PLAIN.findall(text))
    invisible = {character for character in odd if is_invisible(character)}
    if invisible - _HARMLESS:
        found.add("invisible_characters")
    visible = text.translate({ord(character): None for character in invisible})
    plain = unicodedata.normalize("NFKC", visible).casefold()
    found.update(name for name, pattern in _PATTERNS.items() if pattern.search(plain))
    return tuple(sorted(found))
