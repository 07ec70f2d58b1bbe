"""The fetcher against a real server: sizes, times, redirects, types, bombs, addresses, robots."""

from __future__ import annotations

import gzip
import zlib

import pytest
from web_server import Served

from deepfact.retrievers.web.fetch import Fetcher, FetchFailed
from deepfact.retrievers.web.records import FetchLimits

TEXT = b"The mill was built in 1898. " * 20


def plain(body: bytes = TEXT, **served) -> Served:
    return Served(body, served.pop("content_type", "text/plain; charset=utf-8"), **served)


def failure(fetcher: Fetcher, url: str) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        fetcher.fetch(url)
    return caught.value


def test_a_page_comes_as_it_was_sent(web, fetcher) -> None:
    web.pages["/mill"] = plain(content_type="Text/Plain; Charset=ISO-8859-1")
    got = fetcher().fetch(f"{web.url}/mill#part")
    assert (got.body, got.content_type, got.charset) == (TEXT, "text/plain", "iso-8859-1")
    assert got.url == f"{web.url}/mill" and got.redirects == ()
    (asked,) = web.asked
    assert asked.headers["user-agent"].startswith("deepfact/")
    assert "cookie" not in asked.headers and "authorization" not in asked.headers


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw"])
def test_packed_pages_are_unpacked(web, fetcher, encoding) -> None:
    raw = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(TEXT),
        "deflate": zlib.compress(TEXT),
        "raw": raw.compress(TEXT) + raw.flush(),
    }[encoding]
    header = {"Content-Encoding": "gzip" if encoding == "gzip" else "deflate"}
    web.pages["/p"] = plain(packed, headers=header)
    assert fetcher().fetch(f"{web.url}/p").body == TEXT
    web.pages["/p"] = plain(packed[:-15], headers=header)
    cut = failure(fetcher(), f"{web.url}/p")
    assert (cut.reason, cut.passing) == ("connection", True)


def test_a_decompression_bomb_is_not_unpacked(web, fetcher) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 100_000
    web.pages["/bomb"] = plain(bomb, headers={"Content-Encoding": "gzip"})
    found = failure(fetcher(max_bytes=100_000), f"{web.url}/bomb")
    assert (found.reason, found.passing) == ("size", False) and "unpacked" in found.detail


def test_sizes_are_limited_whatever_is_claimed(web, fetcher) -> None:
    limited = fetcher(max_bytes=1000)
    web.pages["/said"] = plain(b"x" * 1001)
    assert failure(limited, f"{web.url}/said").reason == "size"
    web.pages["/unsaid"] = plain([b"x" * 400] * 3, length=-1)
    assert failure(limited, f"{web.url}/unsaid").reason == "size"
    web.pages["/fits"] = plain(b"x" * 1000)
    assert len(limited.fetch(f"{web.url}/fits").body) == 1000
    web.pages["/short"] = plain(b"x" * 10, length=500)
    assert failure(limited, f"{web.url}/short").passing


@pytest.mark.usefixtures("no_hang")
def test_a_server_that_drips_is_left(web, fetcher) -> None:
    web.pages["/drip"] = plain([b"x"] * 20_000, length=-1, pause=0.05)
    found = failure(fetcher(seconds=0.5), f"{web.url}/drip")
    assert (found.reason, found.passing) == ("time", True)


def test_redirects_are_followed_and_counted(web, fetcher) -> None:
    web.pages["/a"] = plain(b"", status=302, headers={"Location": "/b?token=hunter2hunter2&n=1"})
    web.pages["/b"] = plain(b"", status=308, headers={"Location": f"{web.url}/c"})
    web.pages["/c"] = plain()
    got = fetcher().fetch(f"{web.url}/a")
    assert got.url == f"{web.url}/c"
    assert got.redirects == (f"{web.url}/a", f"{web.url}/b?n=1"), "no secret is kept"
    assert web.asked[1].query["token"] == ["hunter2hunter2"], "but it is sent to whom it belongs"
    assert failure(fetcher(redirects=1), f"{web.url}/a").reason == "redirects"
    web.pages["/loop"] = plain(b"", status=301, headers={"Location": "/loop"})
    assert failure(fetcher(), f"{web.url}/loop").reason == "redirects"
    web.pages["/lost"] = plain(b"", status=302)
    assert failure(fetcher(), f"{web.url}/lost").reason == "redirects"


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://example.org/x", "gopher://x/", "javascript:1", "//["]
)
def test_a_redirect_may_not_leave_http(web, fetcher, target) -> None:
    web.pages["/a"] = plain(b"", status=302, headers={"Location": target})
    found = failure(fetcher(), f"{web.url}/a")
    assert (found.reason, found.passing) == ("address", False)


def test_a_redirect_may_not_lead_inside(web, fetcher) -> None:
    """The name of the first page leads to an allowed address; that of the second does not."""
    web.pages["/a"] = plain(b"", status=302, headers={"Location": "http://inside.example/secret"})
    named = fetcher({"site.example": "127.0.0.1", "inside.example": "169.254.169.254"})
    found = failure(named, f"http://site.example:{web.port}/a")
    assert found.reason == "address" and "169.254.169.254" in found.detail
    assert [one.path for one in web.asked] == ["/a"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0", "2130706433", "0x7f000001"])
def test_this_machine_is_refused_unless_allowed_in_writing(web, host) -> None:
    web.pages["/a"] = plain()
    found = failure(Fetcher(FetchLimits(robots=False)), f"http://{host}:{web.port}/a")
    assert found.reason in ("address", "connection") and web.asked == []


@pytest.mark.parametrize(
    "url",
    ["http://", "https:///x", "http://a:b@127.0.0.1/", "http://127.0.0.1:99999/", "mailto:a@b.c",
     "http://exa mple.org/", "http://" + "a" * 70 + ".example/", ""],
)  # fmt: skip
def test_what_is_no_address_is_told_so(fetcher, url) -> None:
    assert failure(fetcher(), url).reason in ("address", "connection")


def test_types_are_limited(web, fetcher) -> None:
    for kind in ("image/png", "application/zip", "", "text/html2"):
        web.pages["/x"] = plain(content_type=kind)
        assert failure(fetcher(), f"{web.url}/x").reason == "type"
    web.pages["/x"] = plain(headers={"Content-Encoding": "br"})
    assert failure(fetcher(), f"{web.url}/x").reason == "type"
    with pytest.raises(ValueError, match="cannot be read"):
        FetchLimits(types=("image/png",))
    with pytest.raises(ValueError, match="does not appear to be"):
        FetchLimits(allow_addresses=("everything",))


@pytest.mark.parametrize(
    ("status", "passing"), [(404, False), (403, False), (503, True), (429, True)]
)
def test_a_status_says_whether_to_try_again(web, fetcher, status, passing) -> None:
    web.pages["/x"] = plain(status=status)
    found = failure(fetcher(), f"{web.url}/x")
    assert (found.reason, found.passing) == ("status", passing)


def test_no_connection_and_a_dropped_one(web, fetcher) -> None:
    assert failure(fetcher(), "http://127.0.0.1:1/x").passing
    web.pages["/x"] = Served(status=0)
    assert failure(fetcher(), f"{web.url}/x").reason == "connection"


def test_robots_are_kept_to_and_asked_once(web, fetcher) -> None:
    web.pages["/robots.txt"] = plain(
        b"User-agent: deepfact\nDisallow: /private\n\nUser-agent: *\nAllow: /\n"
    )
    web.pages["/private/a"] = web.pages["/open"] = plain()
    polite = fetcher(robots=True)
    assert failure(polite, f"{web.url}/private/a").reason == "robots"
    assert polite.fetch(f"{web.url}/open").body == TEXT
    assert web.count("/robots.txt") == 1 and web.count("/private/a") == 0
    assert fetcher().fetch(f"{web.url}/private/a").body == TEXT, "unless the config says so"


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (500, False)])
def test_robots_that_cannot_be_read(web, fetcher, status, allowed) -> None:
    web.pages["/robots.txt"] = plain(b"User-agent: *\nDisallow: /\n", status=status)
    web.pages["/a"] = plain()
    if allowed:
        assert fetcher(robots=True).fetch(f"{web.url}/a").body == TEXT
    else:
        assert failure(fetcher(robots=True), f"{web.url}/a").passing


def test_a_proxy_of_the_environment_is_not_asked(web, fetcher, monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    web.pages["/a"] = plain()
    assert fetcher().fetch(f"{web.url}/a").body == TEXT
