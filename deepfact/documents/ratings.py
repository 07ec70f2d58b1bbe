"""Which sentences can be checked, and how relevant they are to the question, by stated rules.

The rules read words and marks, not meaning, and say which of them decided. docs/reports-in.md
lists them for users. A model can rate instead: `deepfact.importers.report_ratings`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[^\W\d_][\w’'-]*|\d[\d.,]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
SHORTEST = 4
"""Words of the shortest sentence that is checked."""
SHORTEST_CJK = 8
"""The same in characters, for scripts without spaces."""

_FIRST_PERSON = re.compile(
    r"\b(?:i|we)(?:’|'|\s)?(?:ll|m|ve|will|am|have|need|now|can|would|could|should|shall|plan|aim|"
    r"first|next|then|also)\b|^\W*(?:let me|let us|let’s|let's|now let|here(?:’|')?s|i )|"
    r"^\W*(?:我|让我|讓我|接下来)|我(?:们|們)?(?:需要|将|將|来|來|会|會|为您|為您)",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"\b(?:this|the (?:present|following|above|next|final)) "
    r"(?:report|paper|review|section|chapter|article|document|analysis|table|figure|overview|"
    r"study guide|summary)\b.{0,60}\b(?:aims?|provides?|presents?|examines?|explores?|covers?|"
    r"discuss\w*|describes?|summari[sz]es?|reviews?|analy[sz]es|synthesi[sz]es|outlines?|focus\w*|"
    r"offers?|looks? at|deals? with|will|is (?:organi[sz]ed|structured|limited|intended))\b"
    r"|^\W*(?:in (?:summary|conclusion|this (?:report|section))[,:]?\s*$)"
    r"|本(?:报告|文|研究|节|章)(?:将|旨在|首先|主要)",
    re.IGNORECASE | re.DOTALL,
)
_ADVICE = re.compile(
    r"\b(?:should|must|ought to|need to|needs to|is recommended|are recommended|we recommend|"
    r"it is (?:essential|important|crucial|vital|advisable|imperative)|consider|let us)\b"
    r"|(?:应该|应当|应|必须|建议|需要|宜)",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^\W*(?:use|ensure|consider|avoid|develop|implement|invest|establish|focus|choose|start|"
    r"begin|make|keep|check|note|see|read|select|adopt|prioriti[sz]e|build|create|monitor|"
    r"expand|conduct|run|test|set|add|apply|include)\s",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|\b(?:percent|per cent|million|billion|half|twice|double[ds]?|tripled?)\b"
    r"|[%％‰$€£¥]|百分之|[一二三四五六七八九十百千万亿]{2,}"
)
_NAME = re.compile(r"(?<=[\w,;)] )[(\"“]?[A-ZÀ-Þ][\w’'-]+|[A-Z]{2,}\b|《[^》]+》|“[^”]{2,40}”")
_ASSERTS = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|did|shows?|showed|shown|found|finds?|"
    r"suggests?|suggested|indicates?|indicated|reports?|reported|demonstrat\w+|reveal\w*|"
    r"confirm\w*|estimat\w+|project\w*|accounts? for|accounted|increas\w+|decreas\w+|declin\w+|"
    r"r[io]se|rises|grew|grows?|fell|falls?|reach\w*|remain\w*|lead\w*|led|caus\w+|result\w*|"
    r"include[sd]?|requires?|enabl\w+|contain\w*|consist\w*|produc\w+|provid\w+|plays?|occurs?|"
    r"became|becomes?|can|cannot|allow\w*|affect\w*|reduc\w+|improv\w+|support\w*|use[sd]?|"
    r"\w{3,}ed)\b"
    r"|[是为為有在占佔达達超]|显示|顯示|表明|增长|增長|下降|上升|认为|認為|导致|導致|包括",
    re.IGNORECASE,
)


def words_of(text: str) -> list[str]:
    """The words of a text; of scripts without spaces, its pairs of characters."""
    found = [word.lower() for word in _WORD.findall(_CJK.sub(" ", text))]
    run = "".join(character if _CJK.match(character) else " " for character in text)
    for part in run.split():
        found += [part[at : at + 2] for at in range(max(1, len(part) - 1))]
    return found


def verifiable(text: str, *, cites: bool) -> tuple[bool, str]:
    """Whether a sentence asserts something that sources can bear out or not, and by which rule.

    Args:
        text: the sentence as it is read.
        cites: it carries a citation.
    """
    bare = text.strip()
    cjk = len(_CJK.findall(bare))
    count = len(_WORD.findall(_CJK.sub(" ", bare)))
    if count < SHORTEST and cjk < SHORTEST_CJK:
        return False, "too short"
    if bare.rstrip("*_ ").endswith((":", "：")):
        return False, "lead-in to a list"
    if bare.rstrip("\"'”’)*_ ").endswith(("?", "？")):
        return False, "question"
    if _FIRST_PERSON.search(bare) and not cites:
        return False, "the author about their own work"
    if _ABOUT_ITSELF.search(bare) and not cites:
        return False, "the report about itself"
    figure, name = bool(_FIGURE.search(bare)), bool(_NAME.search(bare))
    if (_ADVICE.search(bare) or _IMPERATIVE.match(bare)) and not cites and not figure:
        return False, "advice"
    if cites:
        return True, "cites a source"
    if figure:
        return True, "gives a figure or a date"
    if not _ASSERTS.search(bare):
        return False, "asserts nothing"
    if name:
        return True, "asserts something of a name"
    if count >= 2 * SHORTEST or cjk >= SHORTEST_CJK:
        return True, "asserts something"
    return False, "too short to check without a name or a figure"


_COMMON = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "each",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "me",
        "more",
        "most",
        "my",
        "no",
        "not",
        "of",
        "on",
        "one",
        "or",
        "other",
        "our",
        "out",
        "over",
        "please",
        "provide",
        "report",
        "research",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "under",
        "up",
        "use",
        "using",
        "very",
        "was",
        "we",
        "well",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "within",
        "would",
        "write",
        "you",
        "your",
        "analysis",
        "analyze",
        "study",
        "detailed",
        "comprehensive",
        "including",
        "based",
        "investigate",
        "explore",
    ]
)
_STEM = re.compile(r"(?:'s|’s|ies|es|s|ing|ed|ly|ation|ations)$")


def terms_of(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, roughly stemmed."""
    return frozenset(_stem(word) for word in words_of(text) if word not in _COMMON)


def _stem(word: str) -> str:
    cut = _STEM.sub("", word)
    return cut if len(cut) >= 4 else word


STEPS = (0.05, 0.15, 0.3, 0.5)
"""From which share on a sentence is a 2, 3, 4 and 5."""


def relevances(
    question: str, sentences: Sequence[str], sections: Iterable[str], cited: Sequence[bool]
) -> list[int | None]:
    """How relevant each sentence is to the question, 1 to 5; None without a question.

    The share of the question's terms, each weighted by how few of the report's sentences have it,
    that the sentence has; terms of its headings count half. A cited sentence is at least a 2.
    """
    asked = terms_of(question)
    if not asked:
        return [None] * len(sentences)
    own = [terms_of(text) & asked for text in sentences]
    total = len(sentences) + 1
    counts = {term: 1 + sum(term in has for has in own) for term in asked}
    weights = {term: total / counts[term] for term in asked if counts[term] > 1}
    cap = sorted(weights.values())[len(weights) // 2] if weights else 1.0
    weights = {term: min(weight, cap) for term, weight in weights.items()}
    # A question of many words is never covered whole: six of its usual terms are.
    whole = sum(sorted(weights.values(), reverse=True)[:6]) or 1.0
    above: dict[str, frozenset[str]] = {}
    ratings: list[int | None] = []
    for terms, section, has in zip(own, sections, cited, strict=True):
        if section not in above:
            above[section] = terms_of(section) & asked
        covered = sum(weights.get(term, 0.0) for term in terms)
        covered += sum(weights.get(term, 0.0) for term in above[section] - terms) / 2
        rating = 1 + sum(covered / whole >= step for step in STEPS)
        ratings.append(max(rating, 2) if has else rating)
    return ratings
