"""A scripted judge that follows each prompt's rule to the letter. It is a stand-in, not a model.

It sees the rendered request and nothing else at answer time. What makes it able to "read" is
a table it was built with: passages, each with what it says about a claim in the claim's own
words (disputes, qualifies, supports). It looks for these passages in the sources as they are
rendered; a passage that is not there does not exist for it. The table holds no label, and
which rule to apply is taken from the wording of the request's system part, so that a prompt
whose wording changes its rule changes the answers. A rule that it does not know is an error.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Iterable, Mapping

from deepfact.core.quotes import find_quote
from deepfact.core.vote_checks import numbers_in
from deepfact.model_records import Completion, Request
from deepfact.prompts.fence import unescape
from deepfact.records import Claim, KeyEntry, Stance


@dataclass(frozen=True)
class Passage:
    """What a reader takes from one passage about one claim."""

    claim: str
    quote: str
    does: str
    """``disputes``, ``qualifies``, ``supports`` or ``context``."""
    disputed: str = ""
    """For a dispute: the words of the claim; empty when two sources of equal standing differ."""
    kind: str = ""
    text: str = ""


def passages_of(claims: Iterable[Claim], key: Mapping[str, KeyEntry]) -> list[Passage]:
    """The table for a benchmark, from the quotes of its key; labels are not looked at."""
    does = {Stance.SUPPORTS: "supports", Stance.CONTRADICTS: "disputes", Stance.CONTEXT: "context"}
    table = []
    for claim in claims:
        entry = key[claim.id]
        for one in entry.evidence:
            disputed = entry.disputed if one.stance is Stance.CONTRADICTS else ""
            table.append(Passage(claim.text, one.quote, does[one.stance], disputed=disputed))
        for one in entry.qualifications:
            table.append(
                Passage(claim.text, one.quote, "qualifies", kind=one.kind.value, text=one.text)
            )
    return table


@dataclass(frozen=True)
class Seen:
    """A passage that the judge found in a source of the request."""

    passage: Passage
    source: str
    """Short id, such as ``S1``."""

    @property
    def quoted(self) -> dict[str, str]:
        return {"source": self.source, "quote": self.passage.quote}


class RuleFollowingJudge:
    """Answers requests as their prompt's rule demands. Works as a provider and as an engine.

    Args:
        table: see `passages_of`.
    """

    def __init__(self, table: Iterable[Passage]) -> None:
        self._table: dict[str, list[Passage]] = {}
        for passage in table:
            self._table.setdefault(" ".join(passage.claim.split()), []).append(passage)
        self.calls = 0

    async def complete(self, request: Request) -> Completion:
        """As a provider."""
        self.calls += 1
        text = self.answer(request)
        return Completion(
            text=text,
            stop_reason="end_turn",
            model="rule-following-stand-in",
            input_tokens=len(request.system + request.messages[0].content) // 4,
            output_tokens=len(text) // 4,
        )

    async def ask(self, request: Request, vote: int = 0) -> Completion:
        """As an engine."""
        return await self.complete(request)

    async def aclose(self) -> None:
        """Nothing to close."""

    def answer(self, request: Request) -> str:
        """The answer to a request, as JSON text."""
        return json.dumps(self.judge(request), ensure_ascii=False)

    def judge(self, request: Request) -> dict[str, Any]:
        """The answer, by the rule that the system part states.

        Raises:
            ValueError: the system part states no rule that this judge knows.
        """
        page = request.messages[0].content
        claim = unescape(_inside(page, "claim"))
        seen = list(self._read(claim, page))
        head = {"claim_id": _asked_id(page), "claim": claim}
        if re.search(r"dispute[sd]? it or heavily qualif", request.system):
            return head | _one_question(seen)
        if "A qualification never refutes a claim" in request.system:
            return head | _two_questions(seen, claim)
        raise ValueError("this prompt states no rule that the judge knows")

    def _read(self, claim: str, page: str) -> Iterable[Seen]:
        """Which passages of the table stand in the rendered sources, and in which."""
        for tag, text in _sources(page):
            for passage in self._table.get(" ".join(claim.split()), ()):
                if find_quote(passage.quote, text) is not None:
                    yield Seen(passage, tag)


def _inside(page: str, tag: str) -> str:
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", page, re.DOTALL)
    if found is None:
        raise ValueError(f"the request has no <{tag}>")
    return found.group(1)


def _asked_id(page: str) -> str:
    return re.search(r"has the id (\S+)\.\n", page).group(1)


def _sources(page: str) -> list[tuple[str, str]]:
    blocks = re.findall(
        r'<source id="(S\d+)">\n.*?<text>\n(.*?)\n</text>', _inside(page, "sources"), re.DOTALL
    )
    return [(tag, unescape(text)) for tag, text in blocks]


def _of(seen: list[Seen], does: str) -> list[Seen]:
    return [one for one in seen if one.passage.does == does]


def _evidence(seen: list[Seen], *stances: str) -> list[dict[str, str]]:
    stance_of = {"supports": "supports", "disputes": "contradicts", "context": "context"}
    stance_of["qualifies"] = "context"
    kept = [one for one in seen if one.passage.does in stances]
    return [one.quoted | {"stance": stance_of[one.passage.does]} for one in kept]


def _one_question(seen: list[Seen]) -> dict[str, Any]:
    """Does any source dispute it OR qualify it? And: when unsure, refute."""
    against = _of(seen, "disputes") + _of(seen, "qualifies")
    if against:
        return {
            "rationale": f"A source disputes or qualifies this: {against[0].passage.quote}",
            "refuted": True,
            "grounds": "disputed_or_qualified",
            "evidence": _evidence(seen, "disputes", "qualifies"),
        }
    if not _of(seen, "supports"):
        return {
            "rationale": "No source shown bears the claim out.",
            "refuted": True,
            "grounds": "not_supported_by_quote",
            "evidence": _evidence(seen, "context"),
        }
    return {
        "rationale": f"Borne out: {_of(seen, 'supports')[0].passage.quote}",
        "refuted": False,
        "grounds": "none",
        "evidence": _evidence(seen, "supports"),
    }


def _two_questions(seen: list[Seen], claim: str) -> dict[str, Any]:
    """Is a fact of it disputed, with words and quote? And apart from that: what qualifies it?"""
    answer: dict[str, Any] = {
        "contradiction": None,
        "qualifications": [
            {"kind": one.passage.kind, "text": one.passage.text} | one.quoted
            for one in _of(seen, "qualifies")
        ],
        "found": [],
    }
    disputes = _of(seen, "disputes")
    named = [one for one in disputes if one.passage.disputed]
    if named:
        first = named[0]
        return answer | {
            "rationale": f"{first.passage.disputed!r} is disputed: {first.passage.quote}",
            "contradiction": {"disputed": first.passage.disputed} | first.quoted,
            "evidence": _evidence(seen, "disputes"),
            "label": "contradictory",
            "grounds": "contradiction",
        }
    if disputes and _of(seen, "supports"):
        return answer | {
            "rationale": "Two sources of equal standing say different things.",
            "evidence": _evidence(seen, "supports", "disputes"),
            "label": "inconclusive",
            "grounds": "sources_disagree",
        }
    if not _of(seen, "supports"):
        return answer | {
            "rationale": "No source shown settles the claim.",
            "evidence": _evidence(seen, "context"),
            "label": "inconclusive",
            "grounds": "not_supported_by_quote",
        }
    return answer | {
        "rationale": f"Borne out: {_of(seen, 'supports')[0].passage.quote}",
        "found": [
            {"text": number, "source": one.source}
            for one in _of(seen, "supports")
            for number in sorted(numbers_in(claim) & numbers_in(one.passage.quote))
        ],
        "evidence": _evidence(seen, "supports", "context"),
        "label": "supported",
        "grounds": "none",
    }
