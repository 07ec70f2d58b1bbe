"""Quotations and attributions: whether the words were said, by whom, and whole.

Pure. A quotation is covered when a source holds it; where the claim quotes a part, and what the
source says in the same breath is left out, the part may mean something else: that is a dispute of
what the claim says beside the quotation, weak or strong as more or less of it is uncovered.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Iterator

from deepfact.reading.elements import Quotation
from deepfact.reading.findings import Finding, Side, Status, settle
from deepfact.reading.fit import Fit, Read
from deepfact.reading.library import Reading, Vocabulary, plain
from deepfact.reading.numbers import ELSEWHERE
from deepfact.retrievers.words import stems, words

VERBATIM = 0.9
"""Share of a quotation's letters in their order from which it counts as said."""
LEFT_OUT = 2
"""Content words or negations of the quoted passage that a quotation must leave out to be a cut."""
RUN = 16
"""Characters between two words of the claim that are named as one stretch."""
_LIMITING = "not never no nor but only if unless except although while"
LIMITING = frozenset(_LIMITING.split())
"""Words that a quotation cannot lose without losing its sense."""
_SPEECH = re.compile(r"[“\"]([^“”\"]{3,})(?:[”\"]|$)")
OWN_SHARE = 0.4
"""Below this share of a claim in a speaker's own source, another source can dispute the credit."""
SAID = 0.5
"""Share of a claim that another source must hold for it to be the one that said so."""
_TITLE_WORDS = frozenset(
    stems("report review statement study bulletin letter notice survey paper article evaluation")
)


def quotation_findings(fit: Fit) -> Iterator[Finding]:
    """Whether each quotation stands in a source, and whether the claim cut it to another sense."""
    for quote in fit.claim.quotations:
        yield _quotation(fit, quote)
        turned = _turned(fit, quote)
        if turned is not None:
            yield turned


def _quotation(fit: Fit, quote: Quotation) -> Finding:
    wanted = plain(quote.text)
    bearing = [Side(1.0, reading, quote.text) for reading in fit.library.holding(wanted)]
    against: list[Side] = []
    for reading, _ in fit.readings if not bearing else ():
        matcher = SequenceMatcher(None, wanted, plain(reading.passage.text), autojunk=False)
        alike = sum(block.size for block in matcher.get_matching_blocks() if block.size > 4)
        share = alike / max(1, len(wanted))
        if share >= VERBATIM:
            bearing.append(Side(share, reading, quote.text, "but for a letter or two"))
        elif share >= 0.5:
            against.append(Side(min(0.95, share), reading, reading.passage.text))
    finding = Finding("quotation", quote.text, quote.start, quote.end, Status.MISSING)
    return settle(finding, bearing, against)


def _turned(fit: Fit, quote: Quotation) -> Finding | None:
    """A finding when the claim leaves out what limits its quotation and adds words of its own."""
    reading = next(fit.library.holding(plain(quote.text)), None)
    if reading is None:
        return None
    speech, spoken = _breath(fit, reading)
    quoted = set(stems(quote.text))
    mine = Vocabulary(fit.claim.stems)
    left_out = [s for s in dict.fromkeys(stems(speech)) if s not in quoted and not mine.match(s)]
    limited = _limits(speech) > _limits(fit.claim.text)
    if not limited and not (spoken and len(left_out) >= LEFT_OUT):
        return None
    held = Vocabulary(stems(reading.passage.text))
    title = Vocabulary(stems(fit.library.sources[reading.source].title))
    added = [
        word
        for word in fit.claim.content
        if not quote.start <= word.start < quote.end
        and not max(held.match(word.stem), title.match(word.stem))
        and not (limited or reading.neighbours.match(word.stem))
    ] or [w for w in fit.claim.content if limited and w.end <= quote.start]
    if not added:
        return None
    strength = min(1.0, 0.35 + 0.08 * len(left_out) + 0.2 * limited + 0.05 * len(added))
    start, end = added[0].start, added[0].end
    for word in added[1:]:
        if word.start - end <= RUN:
            end = word.end
    finding = Finding("quotation", fit.claim.text[start:end], start, end, Status.MISSING)
    side = Side(strength, reading, reading.passage.text, "the quotation is cut")
    return settle(finding, (), (side,))


def _limits(text: str) -> int:
    return sum(word.lower in LIMITING for word in words(text))


def _breath(fit: Fit, reading: Reading) -> tuple[str, bool]:
    """The speech that a quotation is from, and whether the source marks it as speech; without
    marks, the whole sentence."""
    text = reading.passage.text
    before = fit.library.neighbour(reading, -1)
    if before is not None and _open(before.text):
        text = f"{before.text} {text}"
    marked = [match[1] for match in _SPEECH.finditer(text)]
    return (" ".join(marked), True) if marked else (text, False)


def _open(text: str) -> bool:
    """Whether a passage ends within quotation marks."""
    if "“" in text or "”" in text:
        return text.rfind("“") > text.rfind("”")
    return text.count('"') % 2 == 1


def attribution_findings(fit: Fit) -> Iterator[Finding]:
    """Who is said to have said it, against which source says it.

    A speaker whose own source is cited is disputed when that source does not say it and another
    does; otherwise by the passages that bear on the claim.
    """
    for speaker in fit.claim.speakers:
        start = fit.claim.text.find(speaker)
        keys = tuple(stems(speaker)) or (speaker.lower(),)
        if start < 0:
            continue
        bearing: list[Side] = []
        against: list[Side] = []
        own = [read for read in fit.wide if _is_of(fit, keys, read[0].source)]
        rest = fit.claim.stems - set(keys) - _TITLE_WORDS
        for read in fit.wide:
            share = fit.stems_in(frozenset(rest), read[0], own=True)
            named = Vocabulary(read[0].vocabulary.stems)
            if read in own or sum(named.match(key) for key in keys) >= 0.6 * len(keys):
                bearing.append(Side(share, read[0], speaker))
            elif own and share >= SAID and not _named_elsewhere(keys, read):
                title = fit.library.sources[read[0].source].title
                against.append(Side(share, read[0], title or read[0].passage.text))
        if max((side.fit for side in bearing), default=0.0) >= OWN_SHARE:
            against = []
        if not bearing and all(fit.library.vocabulary.match(key) for key in keys):
            bearing.append(Side(ELSEWHERE, None, speaker, "elsewhere in the sources"))
        finding = Finding("attribution", speaker, start, start + len(speaker), Status.MISSING)
        yield settle(finding, bearing, against)


def _is_of(fit: Fit, keys: tuple[str, ...], source_id: str) -> bool:
    """Whether a source is the speaker's own, by its title and address."""
    source = fit.library.sources[source_id]
    own = Vocabulary(stems(f"{source.title} {source.url}".replace("-", " ")))
    return sum(own.match(key) == 1.0 for key in keys) >= 0.6 * len(keys)


def _named_elsewhere(keys: tuple[str, ...], read: Read) -> bool:
    """Whether the sentences around a passage name the speaker."""
    return any(read[0].neighbours.match(key) == 1.0 for key in keys)
