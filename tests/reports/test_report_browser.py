"""The round report in a real browser: nothing is loaded or logged, the search works on a thousand
claims, an accessibility checker finds nothing, and without scripts everything can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deepfact.reports.round_report import render_html

pytestmark = pytest.mark.browser

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not Path(CHROMIUM).is_file():
        pytest.skip(f"there is no {CHROMIUM}; install the distribution's package chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def look(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a report: ``look(html, color_scheme="dark")``; what it logs or loads fails the test."""
    wrong: list[str] = []
    windows = []

    def open_page(html: str, **window: Any) -> Any:
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        windows.append(browser.new_context(**window))
        page = windows[-1].new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:"))
                else wrong.append(asked.url))  # fmt: skip
        page.goto(path.as_uri())
        return page

    yield open_page
    for window in windows:
        window.close()
    assert wrong == []


def test_a_thousand_claims_can_be_searched(factory, with_ben, look):
    made = factory(claims=1000, stride=1)
    record, stats = with_ben(made.record())
    page = look(render_html(record, made.sources, stats))
    rows = page.locator("#disputes tbody")
    assert rows.count() == 999
    page.fill("#disputes [data-filter=text]", "harbour 777.")
    assert page.locator("#disputes tbody:not([hidden])").count() == 1
    assert page.locator("#disputes .filters [role=status]").inner_text() == (
        "1 of 999 disputes shown"
    )
    # Tables of which nothing is left are gone, header and all.
    assert page.locator("#disputes .lazy.table:not([hidden])").count() == 1
    page.fill("#disputes [data-filter=text]", "")
    assert page.locator("#disputes .lazy.table:not([hidden])").count() == 20
    page.fill("#changes [data-find]", "claim-0777 contradictory")
    assert page.locator("#changes .change:not([hidden])").count() == 1
    assert page.locator("#changes [role=status]").inner_text() == "1 of 500 shown"


def test_what_is_far_below_is_not_laid_out_and_still_found(factory, look):
    made = factory(claims=600, stride=1)
    page = look(render_html(made.record(), made.sources))
    skipped = page.evaluate(
        "document.querySelectorAll('#disputes .disputes')[11].checkVisibility("
        "{contentVisibilityAuto: true})"
    )
    assert skipped is False
    assert page.evaluate("window.find('at harbour 550.')") is True


def test_hostile_text_does_nothing(factory, with_ben, look):
    made = factory(hostile=True)
    record, stats = with_ben(made.record(2))
    page = look(render_html(record, made.sources, stats))
    assert page.locator("script").count() == 1 and page.locator("img").count() == 0


def test_without_scripts_everything_is_there_to_read(factory, with_ben, look):
    made = factory()
    record, stats = with_ben(made.record(2))
    page = look(render_html(record, made.sources, stats), java_script_enabled=False)
    assert not page.locator("#disputes .filters").is_visible()
    assert not page.locator("#changes .filters").is_visible()
    page.locator("#disputes summary").first.click()
    assert page.locator("#disputes .more .sides").first.is_visible()
    for section in ("summary", "evolution", "agreement", "crossed", "second-look", "controls"):
        assert page.locator(f"#{section} h2").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_an_accessibility_checker_finds_nothing(factory, with_ben, look, scheme, width):
    checker = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    made = factory()
    record, stats = with_ben(made.record(2))
    page = look(
        render_html(record, made.sources, stats), color_scheme=scheme, bypass_csp=True,
        viewport={"width": width, "height": 900},
    )  # fmt: skip
    found = checker.Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:300]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
