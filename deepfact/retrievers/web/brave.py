"""Engine ``brave``: the Brave Search API, its web results.

``GET /res/v1/web/search`` with the key in ``X-Subscription-Token``; at most 400 characters and 50
words in a query, 20 results. Its descriptions are words of the pages.
"""

from __future__ import annotations

from typing import Any

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


class BraveSearch:
    """Asks the Brave Search API.

    Args:
        country: two letters.
        language: of the results.
        freshness: only pages of ``pd`` (a day), ``pw``, ``pm``, ``py``, or a range of dates.
        usd_per_search: what the subscription costs, for plans.
        timeout: seconds for one call.
        base_url: the server.
        api_key_env: the environment variable that holds the key.
    """

    name = "brave"
    most_uses = 1

    def __init__(
        self,
        country: str = "US",
        language: str = "en",
        freshness: str = "",
        usd_per_search: float | None = None,
        timeout: float = 30.0,
        base_url: str = "https://api.search.brave.com",
        api_key_env: str = "BRAVE_SEARCH_API_KEY",
    ) -> None:
        self._base_url, self._key_variable = check_server(base_url), api_key_env
        self._timeout, self.usd_per_search = timeout, usd_per_search
        self._asked = {"country": country, "search_lang": language, "freshness": freshness}

    def settings(self) -> dict[str, Any]:
        """As `deepfact.retrievers.web.engines.SearchEngine`."""
        return dict(self._asked)

    def find(self, query: str, limit: int) -> Found:
        """As `deepfact.retrievers.web.engines.SearchEngine`."""
        asked = {name: value for name, value in self._asked.items() if value}
        reply = ask(
            "GET",
            f"{self._base_url}/res/v1/web/search",
            engine=self.name,
            headers={
                "Accept": "application/json",
                "X-Subscription-Token": key_of(self._key_variable, self._base_url),
            },
            params={**asked, "q": shortened(query, 400, 50), "count": str(min(limit, MOST))},
            timeout=self._timeout,
        )
        hits = [
            hit(
                one.get("url"),
                one.get("title"),
                (one.get("description"), *(one.get("extra_snippets") or ())),
                one.get("page_age"),
            )
            for one in listed(reply, "web", "results")
        ]
        return Found(hits=distinct(hits, limit))
