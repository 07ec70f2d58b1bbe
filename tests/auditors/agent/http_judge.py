"""A judge behind real HTTP: reads the rendered request and nothing else, and answers in due form.

It always takes the side that its rule names, whatever the case, so that tests know what comes of
it without a model: these answers say nothing about any model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from deepfact.prompts.fence import unescape

Body = dict[str, Any]


def user_text(body: Body) -> str:
    """The user part of a Messages body."""
    content = body["messages"][0]["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def inside(text: str, tag: str) -> str:
    """What stands in an element of the prompt."""
    return text.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]


def answer_for(body: Body, side: str) -> dict[str, Any]:
    """A sound answer for side ``a`` or ``b``, with a quote from the first source."""
    text = user_text(body)
    claim = unescape(inside(text, "claim"))
    label = re.search(r"label: (\w+)", inside(text, f"side_{side}"))
    assert label is not None
    source = unescape(text.partition("<text>\n")[2].partition("\n</text>")[0])
    quote = " ".join(source.split()[:6])
    stance = {"supported": "supports", "contradictory": "contradicts"}.get(label[1], "context")
    named = {"disputed": " ".join(claim.split()[:3]), "source": "S1", "quote": quote}
    found = re.search(r"has the id (\S+)\.", text)
    assert found is not None
    return {
        "claim_id": found[1],
        "claim": claim,
        "queries": [],
        "rationale": f"The first source says: {quote}",
        "contradiction": named if label[1] == "contradictory" else None,
        "evidence": [{"source": "S1", "quote": quote, "stance": stance}],
        "label": label[1],
        "decision": side,
    }


def takes(side: str) -> Callable[[Body], str]:
    """A judge that always takes one side."""
    return lambda body: json.dumps(answer_for(body, side))


def cannot_tell(body: Body) -> str:
    """A judge that never can tell."""
    plain = {"evidence": [], "contradiction": None, "label": None, "decision": "cannot_tell"}
    return json.dumps(answer_for(body, "a") | plain)


def longer_claims_are_unclear(body: Body) -> str:
    """A judge that takes side A, but cannot tell about a claim with an even number of letters."""
    even = len(inside(user_text(body), "claim")) % 2 == 0
    return cannot_tell(body) if even else takes("a")(body)
