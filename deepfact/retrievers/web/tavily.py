"""Engine ``tavily``: the Tavily Search API.

``POST /search`` with the key as a bearer token; at most 400 characters in a query, 20 results. Its
``content`` may be a summary that a model wrote and its ``answer`` is one, so neither is kept:
generated text is never evidence. What a page says is read from the page.
"""

from __future__ import annotations

from typing import Any, Literal

from deepfact.retrievers.web.engines import (
    ask,
    check_server,
    distinct,
    hit,
    key_of,
    listed,
    shortened,
)
from deepfact.retrievers.web.records import Found

MOST = 20


class TavilySearch:
    """Asks the Tavily Search API.

    Args:
        depth: ``advanced`` is billed as two searches.
        topic: what kind of pages.
        time_range: only pages of the last ``day``, ``week``, ``month`` or ``year``.
        include_domains, exclude_domains: where to look, and where not.
        usd_per_search: what one credit costs, for plans.
        timeout: seconds for one call.
        base_url: the server.
        api_key_env: the environment variable that holds the key.
    """

    name = "tavily"

    def __init__(
        self,
        depth: Literal["basic", "advanced"] = "basic",
        topic: Literal["general", "news"] = "general",
        time_range: Literal["", "day", "week", "month", "year"] = "",
        include_domains: tuple[str, ...] = (),
        exclude_domains: tuple[str, ...] = (),
        usd_per_search: float | None = None,
        timeout: float = 60.0,
        base_url: str = "https://api.tavily.com",
        api_key_env: str = "TAVILY_API_KEY",
    ) -> None:
        self._base_url, self._key_variable = check_server(base_url), api_key_env
        self._timeout, self.usd_per_search = timeout, usd_per_search
        self.most_uses = 2 if depth == "advanced" else 1
        self._asked: dict[str, Any] = {
            "search_depth": depth,
            "topic": topic,
            "time_range": time_range,
            "include_domains": list(include_domains),
            "exclude_domains": list(exclude_domains),
        }

    def settings(self) -> dict[str, Any]:
        """As `deepfact.retrievers.web.engines.SearchEngine`."""
        return dict(self._asked)

    def find(self, query: str, limit: int) -> Found:
        """As `deepfact.retrievers.web.engines.SearchEngine`."""
        reply = ask(
            "POST",
            f"{self._base_url}/search",
            engine=self.name,
            headers={"Authorization": f"Bearer {key_of(self._key_variable, self._base_url)}"},
            body={
                **{name: value for name, value in self._asked.items() if value},
                "query": shortened(query, 400),
                "max_results": min(limit, MOST),
                "include_answer": False,
                "include_raw_content": False,
            },
            timeout=self._timeout,
        )
        hits = [
            hit(one.get("url"), one.get("title"), (), one.get("published_date"))
            for one in listed(reply, "results")
        ]
        return Found(hits=distinct(hits, limit), searches=self.most_uses)
