"""A scripted judge for verifiers that work in steps. It is a stand-in, not a model.

Like `rule_following.RuleFollowingJudge` it sees the rendered request and nothing else at answer
time, and "reads" with a table of passages, which it looks for in what is shown. Which step it is
asked for is taken from the words of the prompt. What a step shows it is all it knows there: what
it did not copy out of a document does not exist when it judges.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rule_following import Passage, RuleFollowingJudge

from deepfact.core.quotes import find_quote
from deepfact.model_records import Request
from deepfact.prompts.fence import unescape

Spoil = Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]]
"""Given the step and the answers about all claims of a request: what is sent instead."""

_STEPS = {
    "plan": "You prepare the check of claims",
    "choose": "You choose which documents are read in full",
    "read": "You read one document and copy out",
    "follow-up": "You say what to search for next",
    "verdict": "You judge claims from a research report, element by element",
    "safe-split": "You split claims into atomic facts",
    "safe-query": "You check a fact by searching, one search at a time",
    "safe-rate": "You decide whether a fact is supported by what searches found",
    "veriscore-extract": "You extract from sentences what can be verified",
    "veriscore-judge": "You decide what the results of one search say",
    "factcheck-gpt-decompose": "You take sentences apart into statements",
    "factcheck-gpt-checkworthy": "You sort statements by whether they are worth checking",
    "factcheck-gpt-query": "You write searches that find evidence",
    "factcheck-gpt-stance": "You say where passages stand towards a statement",
    "factcheck-gpt-verdict": "You decide on a statement by passages whose stance",
}
_STANCE = {"supports": "supports", "disputes": "contradicts"}


@dataclass(frozen=True)
class Claim:
    """A claim as a request shows it."""

    id: str
    text: str
    elements: tuple[str, ...]


def step_of(request: Request) -> str:
    """The step that the words of the prompt ask for."""
    found = [step for step, words in _STEPS.items() if words in request.system]
    if len(found) != 1:
        raise ValueError("this prompt asks for no step that the judge knows")
    return found[0]


class StepJudge(RuleFollowingJudge):
    """Answers every step by its rule, about each claim for itself.

    Args:
        table: see `rule_following.passages_of`.
        spoil: changes the answers of a request before they are sent, to be a careless model.
    """

    def __init__(self, table: Any, spoil: Spoil = lambda _, answers: answers) -> None:
        super().__init__(table)
        self.spoil = spoil
        self.steps: list[tuple[str, int]] = []
        """Step and number of claims of every request."""

    def judge(self, request: Request) -> dict[str, Any]:
        """The answer, by the rule of the step."""
        step, page = step_of(request), request.messages[0].content
        claims = claims_of(page)
        self.steps.append((step, len(claims)))
        rule = getattr(self, f"_{step.replace('-', '_')}")
        answers = [
            {"claim_id": one.id, "claim": one.text} | rule(one, page, request) for one in claims
        ]
        return {"claims": self.spoil(step, answers)}

    def _about(self, claim: Claim) -> list[Passage]:
        return self._table.get(" ".join(claim.text.split()), [])

    def _seen(self, claim: Claim, page: str) -> list[tuple[str, Passage]]:
        """Passages about a claim that stand in the sources shown, with the tag of the source."""
        return [
            (tag, passage)
            for tag, _, text in sources_of(page)
            for passage in self._about(claim)
            if find_quote(passage.quote, text) is not None
        ]

    # --- the steps of `document` -----------------------------------------------------------

    def _plan(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        said = re.search(r"\b[Aa]ccording to\b", claim.text)
        element = {"text": claim.text, "kind": "attribution" if said else "fact"}
        return {"elements": [element], "queries": [claim.text, names_in(claim.text)]}

    def _choose(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        names = set(names_in(claim.text).split())
        shown = sources_of(page)
        cited = [tag for tag, about, _ in shown if "cited by the claim's author" in about]
        near = [
            tag
            for tag, about, text in shown
            if tag not in cited and len(names & set(re.findall(r"\w+", about + text))) >= 1
        ]
        most = int(re.search(r"at most (\d+)\. It may be empty", request.system).group(1))
        return {"documents": (cited + near)[:most]}

    def _read(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        return {
            "extracts": [
                {
                    "element": claim.elements[0],
                    "quote": passage.quote,
                    "stance": _STANCE.get(passage.does, "context"),
                    "says": f"{passage.does} it",
                }
                for _, passage in self._seen(claim, page)
            ]
        }

    def _follow_up(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        query = f"{names_in(claim.text)} correction notice"
        asked = query in unescape(inside(page, "searches"))
        return {"queries": [] if asked else [query], "reason": "nothing settles it yet"}

    def _verdict(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        quotes = quotes_of(page, claim.id)
        known = {" ".join(one.quote.split()): one for one in self._about(claim)}
        read = [(name, known[" ".join(text.split())]) for name, text in quotes]
        element = {"element": claim.elements[0], **_label(read)}
        return {
            "elements": [element],
            "qualifications": [
                {"kind": one.kind, "text": one.text, "quote": name}
                for name, one in read
                if one.does == "qualifies"
            ],
        }

    # --- the steps of the baselines ---------------------------------------------------------

    def _safe_split(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        return {"facts": [claim.text]}

    _veriscore_extract = _factcheck_gpt_decompose = _safe_split

    def _safe_query(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        asked = unescape(inside(page, "searches"))
        left = [one for one in (claim.text, names_in(claim.text)) if one not in asked]
        return {"query": left[0] if left else "", "enough": bool(self._seen(claim, page))}

    def _safe_rate(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        judged = self._veriscore_judge(claim, page, request)
        label = "supported" if judged["label"] == "supported" else "not_supported"
        return {"relevant": True} | judged | {"label": label}

    def _veriscore_judge(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        judged = _label(self._seen(claim, page))
        quote_of = {(tag, one.does): one.quote for tag, one in self._seen(claim, page)}
        does = {"supports": "supports", "contradicts": "disputes"}
        judged["evidence"] = [
            {
                "source": one["quote"],
                "quote": quote_of[one["quote"], does[one["stance"]]],
                "stance": one["stance"],
            }
            for one in judged["evidence"]
        ]
        return judged

    def _factcheck_gpt_checkworthy(
        self, claim: Claim, page: str, request: Request
    ) -> dict[str, Any]:
        return {"checkworthy": "factual", "reason": "it states a fact"}

    def _factcheck_gpt_query(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        return {"queries": [claim.text]}

    def _factcheck_gpt_stance(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        return {
            "passages": [
                {"source": tag, "quote": one.quote, "stance": _STANCE.get(one.does, "context")}
                for tag, one in self._seen(claim, page)
            ]
        }

    def _factcheck_gpt_verdict(self, claim: Claim, page: str, request: Request) -> dict[str, Any]:
        judged = self._verdict(Claim(claim.id, claim.text, ("E1",)), page, request)["elements"][0]
        kept = {name: judged[name] for name in ("label", "reason", "disputed")}
        return kept | {"evidence": [one["quote"] for one in judged["evidence"]]}


def _label(read: list[tuple[str, Passage]]) -> dict[str, Any]:
    """The label that passages give an element, by the rules of the prompts."""
    against = [(name, one) for name, one in read if one.does == "disputes"]
    named = [(name, one) for name, one in against if one.disputed]
    for_it = [(name, one) for name, one in read if one.does == "supports"]
    refer = [{"quote": name, "stance": "supports"} for name, _ in for_it]
    dispute = [{"quote": name, "stance": "contradicts"} for name, _ in against]
    if named:
        words = named[0][1].disputed
        reason = f"{words!r} is disputed: {named[0][1].quote}"
        return {"label": "contradictory", "reason": reason, "disputed": words, "evidence": dispute}
    if against and for_it:
        reason = "Two sources of equal strength say different things."
        return {
            "label": "inconclusive", "reason": reason, "disputed": "", "evidence": refer + dispute,
        }  # fmt: skip
    if for_it:
        reason = f"Borne out: {for_it[0][1].quote}"
        return {"label": "supported", "reason": reason, "disputed": "", "evidence": refer}
    reason = "No passage settles it."
    return {"label": "inconclusive", "reason": reason, "disputed": "", "evidence": []}


# --- reading requests --------------------------------------------------------------------


def inside(page: str, tag: str) -> str:
    """What stands inside an element of the request."""
    return re.search(rf"<{tag}>\n(.*?)\n</{tag}>", page, re.DOTALL).group(1)


def claims_of(page: str) -> list[Claim]:
    """The claims that a request is about."""
    blocks = re.findall(r'<claim id="([^"]+)">\n(.*?)\n</claim>', inside(page, "claims"), re.DOTALL)
    return [
        Claim(
            name, unescape(inside(block, "text")), tuple(re.findall(r'<element id="(E\d+)"', block))
        )
        for name, block in blocks
    ]


def sources_of(page: str) -> list[tuple[str, str, str]]:
    """Tag, title and card, and text of each source that a request shows."""
    found = re.findall(r'<source id="(S\d+)">\n(.*?)<text>\n(.*?)\n</text>', page, re.DOTALL)
    return [(tag, unescape(about), unescape(text)) for tag, about, text in found]


def quotes_of(page: str, claim_id: str) -> list[tuple[str, str]]:
    """Id and text of the passages that a request shows for a claim."""
    block = re.search(
        rf'<claim id="{claim_id}">\n(.*?)\n</claim>', inside(page, "evidence"), re.DOTALL
    ).group(1)
    found = re.findall(r'<quote id="(Q\d+)"[^>]*>(.*?)</quote>', block, re.DOTALL)
    return [(name, unescape(text)) for name, text in found]


def names_in(text: str) -> str:
    """The names in a text: words in capitals that do not begin it."""
    return " ".join(dict.fromkeys(re.findall(r"(?<=\s)[A-Z]\w+", text))) or text


def answer_of(judge: StepJudge) -> Callable[[dict[str, Any]], str]:
    """The judge as what a Messages server answers."""
    from deepfact.model_records import Message

    def answer(body: dict[str, Any]) -> str:
        system = body["system"]
        text = system if isinstance(system, str) else "".join(block["text"] for block in system)
        turns = tuple(Message(role="user", content=_text(one)) for one in body["messages"])
        request = Request(model=body["model"], system=text, messages=turns)
        return json.dumps(judge.judge(request), ensure_ascii=False)

    return answer


def _text(turn: dict[str, Any]) -> str:
    content = turn["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
