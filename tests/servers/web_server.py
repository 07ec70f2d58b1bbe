"""A server on loopback that serves pages, with every fault a page may have, and three search APIs.

Real HTTP in threads of the test, with a record of what it was asked. It needs nothing but the
standard library.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

FILLER = (
    "This page belongs to a collection that volunteers keep up, and it says nothing else of note. "
    "Whoever finds a mistake on it is asked to write a letter to the reading room, where somebody "
    "looks at what comes in every other week and answers as well as the archive allows."
)
"""An article has to have some length to be known as one."""


@dataclass
class Served:
    """What is answered at one path."""

    body: bytes | Iterable[bytes] = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    """The Content-Length to claim; that of the body when None, none at all when -1."""
    pause: float = 0.0
    """Seconds before each piece of the body."""


@dataclass(frozen=True)
class Asked:
    """One request that came."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any = None


class WebServer:
    """The server. Use as a context manager."""

    def __init__(self) -> None:
        self.pages: dict[str, Served | Callable[[Asked], Served]] = {}
        self.results: Callable[[str], list[dict[str, Any]]] = lambda query: []
        """What the search APIs find: dictionaries with url, title, words."""
        self.faults: list[str] = []
        """The next replies of the search APIs: a status, ``malformed`` or ``drop``; then none."""
        self.tool: Callable[[dict[str, Any], WebServer], dict[str, Any]] = message
        """Answers a body of the Messages API."""
        self.asked: list[Asked] = []
        self._lock = threading.Lock()

    def __enter__(self) -> WebServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server._answer(self, "GET", None)

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("content-length", 0)))
                server._answer(self, "POST", json.loads(data))

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def page(self, path: str, text: str, **served: Any) -> str:
        """Serve an article that says this, among what pages have, and give its address."""
        name = path.strip("/")
        html = (
            f"<html><head><title>{name}</title></head><body><nav><ul><li><a href='/'>Menu</a></li>"
            f"<li><a href='/all'>All articles</a></li></ul></nav><main><article><h1>{name}</h1>"
            f"<p>{text}</p><p>{FILLER}</p></article></main><footer>Imprint</footer></body></html>"
        )
        self.pages[path] = Served(html.encode("utf-8"), **served)
        return self.url + path

    def count(self, path: str) -> int:
        """Requests for a path."""
        return sum(one.path == path for one in self.asked)

    # --- answering -----------------------------------------------------------------------

    def _answer(self, handler: BaseHTTPRequestHandler, method: str, body: Any) -> None:
        parts = urlsplit(handler.path)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(method, parts.path, parse_qs(parts.query), headers, body)
        with self._lock:
            self.asked.append(asked)
        apis = {
            "/res/v1/web/search": self._brave,
            "/search": self._tavily,
            "/v1/messages": self._tool,
        }
        if parts.path in apis:
            with self._lock:
                fault = self.faults.pop(0) if self.faults else ""
            self._send(handler, faulty(fault, asked) if fault else apis[parts.path](asked))
            return
        found = self.pages.get(parts.path, Served(b"not here", "text/plain", 404))
        self._send(handler, found(asked) if callable(found) else found)

    def _send(self, handler: BaseHTTPRequestHandler, served: Served) -> None:
        handler.close_connection = True
        if served.status == 0:  # hang up without a word
            return
        pieces = [served.body] if isinstance(served.body, bytes) else served.body
        handler.send_response(served.status)
        if served.content_type:
            handler.send_header("Content-Type", served.content_type)
        for name, value in served.headers.items():
            handler.send_header(name, value)
        if served.length is not None and served.length >= 0:
            handler.send_header("Content-Length", str(served.length))
        elif served.length is None and isinstance(served.body, bytes):
            handler.send_header("Content-Length", str(len(served.body)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        try:
            for piece in pieces:
                if served.pause:
                    time.sleep(served.pause)
                handler.wfile.write(piece)
                handler.wfile.flush()
        except OSError:  # the reader has had enough, which is what the test is about
            pass

    def _brave(self, asked: Asked) -> Served:
        query = asked.query["q"][0]
        results = [
            {
                "title": f"<strong>{one['title']}</strong> &amp; more",
                "url": one["url"],
                "description": one.get("words", ""),
                "extra_snippets": one.get("more", []),
                "page_age": one.get("published"),
            }
            for one in self.results(query)
        ]
        return as_json({"type": "search", "query": {}, "web": {"results": results}})

    def _tavily(self, asked: Asked) -> Served:
        results = [
            {
                "title": one["title"],
                "url": one["url"],
                "content": "A summary that a model wrote.",
                "score": 0.9,
                "raw_content": None,
            }
            for one in self.results(asked.body["query"])
        ]
        return as_json({"query": asked.body["query"], "answer": None, "results": results})

    def _tool(self, asked: Asked) -> Served:
        return as_json(self.tool(asked.body, self))


def message(body: dict[str, Any], server: WebServer) -> dict[str, Any]:
    """A message of the Messages API whose model searched once and cited what it found."""
    query = body["messages"][0]["content"]
    found = server.results(query)
    results = [
        {
            "type": "web_search_result",
            "url": one["url"],
            "title": one["title"],
            "encrypted_content": "ENCRYPTED" * 20,
            "page_age": "3 days ago",
        }
        for one in found
    ]
    citations = [
        {
            "type": "web_search_result_location",
            "url": one["url"],
            "title": one["title"],
            "encrypted_index": "INDEX",
            "cited_text": one["words"],
        }
        for one in found
        if one.get("words")
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [
            {"type": "text", "text": "I will search."},
            {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "web_search",
                "input": {"query": query},
            },
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": results},
            {"type": "text", "text": "The model's own opinion.", "citations": citations},
        ],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 1000,
            "output_tokens": 50,
            "server_tool_use": {"web_search_requests": 1},
        },
    }


def as_json(value: Any, status: int = 200) -> Served:
    """An answer of an API."""
    return Served(json.dumps(value).encode("utf-8"), "application/json", status)


def faulty(fault: str, asked: Asked) -> Served:
    """An answer that goes wrong. A careless gateway repeats the key that it was sent."""
    if fault == "drop":
        return Served(status=0)
    if fault == "malformed":
        return Served(b'{"web": {"resu', "application/json")
    if fault == "shape":
        return as_json({"web": {"results": "none"}, "results": "none", "type": "message"})
    key = next(
        (asked.headers[name] for name in ("x-subscription-token", "authorization", "x-api-key")
         if name in asked.headers),
        "",
    )  # fmt: skip
    return as_json({"error": {"message": f"planned; you sent {key}"}}, int(fault))
