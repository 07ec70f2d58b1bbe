"""A server on loopback that speaks the part of the Hub's protocol by which a folder is uploaded.

Real HTTP, in a thread of the test. Files whose name ends in ``.parquet`` go the way of large
files (Git LFS: a batch request, a PUT, then a pointer in the commit), the others are in the
commit itself. It needs aiohttp, and nothing of deepfact.
"""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from typing import Any

from aiohttp import web


class HubServer:
    """The server; a context manager that runs it in a thread."""

    def __init__(self, token: str = "hf_loopback_token", *, fails: int = 0) -> None:
        self.token = token
        self.fails = fails
        """Status that a commit is refused with; 0 for none."""
        self.repos: dict[str, dict[str, Any]] = {}
        """By ``owner/name``: what it was made with, its files, its commits."""
        self.requests: list[tuple[str, str]] = []
        self.blobs: dict[str, bytes] = {}
        self.url = ""
        self._ready = threading.Event()

    def __enter__(self) -> HubServer:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 1024 * 1024, middlewares=[self._guard])
        repo = "/api/datasets/{owner}/{name}"
        app.router.add_post("/api/repos/create", self._create)
        app.router.add_post("/api/validate-yaml", self._validate)
        app.router.add_get("/api/whoami-v2", self._whoami)
        app.router.add_post(repo + "/preupload/main", self._preupload)
        app.router.add_post(repo + "/commit/main", self._commit)
        app.router.add_get(repo, self._info)
        app.router.add_get(repo + "/revision/main", self._info)
        app.router.add_post("/datasets/{owner}/{name}.git/info/lfs/objects/batch", self._batch)
        app.router.add_put("/lfs/{oid}", self._put)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self._ready.set()
        await self._stopping.wait()
        await runner.cleanup()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests.append((request.method, request.path))
        signed = request.path.startswith("/lfs/")  # the Hub's storage takes a signed address
        if not signed and request.headers.get("Authorization") != f"Bearer {self.token}":
            # A careless server repeats what it was sent; nobody may show it.
            said = f"Invalid credentials: {request.headers.get('Authorization')}"
            return web.json_response({"error": said}, status=401)
        return await handler(request)

    def _repo(self, request: web.Request) -> dict[str, Any]:
        return self.repos["/".join((request.match_info["owner"], request.match_info["name"]))]

    async def _create(self, request: web.Request) -> web.Response:
        asked = await request.json()
        name = "/".join((asked.get("organization") or "me", asked["name"]))
        url = f"{self.url}/datasets/{name}"
        if name in self.repos:
            said = {"error": "You already created this dataset repo", "url": url}
            return web.json_response(said, status=409)
        self.repos[name] = {"asked": asked, "files": {}, "commits": []}
        return web.json_response({"url": url, "name": name, "id": name})

    async def _validate(self, request: web.Request) -> web.Response:
        return web.json_response({"errors": [], "warnings": []})

    async def _whoami(self, request: web.Request) -> web.Response:
        return web.json_response({"type": "user", "name": "me", "orgs": [], "auth": {}})

    async def _info(self, request: web.Request) -> web.Response:
        self._repo(request)
        name = "/".join((request.match_info["owner"], request.match_info["name"]))
        return web.json_response({"id": name, "sha": "0" * 40, "siblings": [], "private": False})

    async def _preupload(self, request: web.Request) -> web.Response:
        files = [
            {
                "path": one["path"],
                "uploadMode": "lfs" if one["path"].endswith(".parquet") else "regular",
                "shouldIgnore": False,
            }
            for one in (await request.json())["files"]
        ]
        return web.json_response({"files": files})

    async def _batch(self, request: web.Request) -> web.Response:
        objects = [
            {
                "oid": one["oid"],
                "size": one["size"],
                "actions": {"upload": {"href": f"{self.url}/lfs/{one['oid']}"}},
            }
            for one in (await request.json())["objects"]
        ]
        return web.json_response({"transfer": "basic", "objects": objects})

    async def _put(self, request: web.Request) -> web.Response:
        self.blobs[request.match_info["oid"]] = await request.read()
        return web.Response()

    async def _commit(self, request: web.Request) -> web.Response:
        if self.fails:
            return web.json_response({"error": "not today"}, status=self.fails)
        repo = self._repo(request)
        for line in (await request.text()).splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "header":
                repo["commits"].append(value["summary"])
            elif item["key"] == "file":
                repo["files"][value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                repo["files"][value["path"]] = self.blobs[value["oid"]]
        name = "/".join((request.match_info["owner"], request.match_info["name"]))
        url = f"{self.url}/datasets/{name}/commit/{'1' * 40}"
        return web.json_response({"success": True, "commitOid": "1" * 40, "commitUrl": url})
