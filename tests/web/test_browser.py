"""The audit page in a real browser: a whole round by keyboard and by touch, hostile content, and
an accessibility checker. Screenshots are kept in ``$DEEPFACT_SHOTS`` when that is set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepfact.core.standing import standing_adjudications
from deepfact.records import Label, Origin, Source, SourceRole, Span
from deepfact.review import open_desk
from deepfact.round import resume
from deepfact.run_records import RunStatus, Withdrawn
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.journal import read_events

pytestmark = pytest.mark.browser

RUN = Path("run")
JOURNAL = RUN / "journal.jsonl"
DESKTOP = {"viewport": {"width": 1360, "height": 860}}
PHONE = {
    "viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True,
    "device_scale_factor": 2,
}  # fmt: skip


class Guest:
    """An auditor at a browser window. What the page logs as an error fails the test."""

    def __init__(self, browser: Any, link: str, **window: Any) -> None:
        self.context = browser.new_context(**window)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self.page.on(
            "console",
            lambda said: (
                self.errors.append(said.text)
                if said.type == "error" and "the server responded with a status of" not in said.text
                else None
            ),
        )
        self.page.goto(link)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def case_id(self) -> str:
        return self.page.locator("body").get_attribute("data-case") or ""

    def arrive(self, part: str) -> None:
        self.page.wait_for_url(lambda url: part in url)
        self.page.wait_for_function("document.documentElement.classList.contains('js')")


@pytest.fixture
def guest(chromium: Any, server: Any) -> Iterator[Callable[..., Guest]]:
    """Opens a window for an auditor: ``guest("ada", **PHONE)``."""
    opened: list[Guest] = []

    def open_window(name: str, **window: Any) -> Guest:
        if server.process is None:
            server.start()
        opened.append(Guest(chromium, server.links[name], **window))
        return opened[-1]

    yield open_window
    for each in opened:
        each.context.close()
    assert [error for each in opened for error in each.errors] == []


def standing() -> dict[str, Any]:
    return {made[1]: each for made, each in standing_adjudications(read_events(JOURNAL)).items()}


# --- a whole round ------------------------------------------------------------------------

PLAN = {"a": "a", "b": "b", "neither": "n", "cannot_tell": "c"}


def planned(case_id: str) -> tuple[str, str]:
    """Decision and label of a case: all four kinds take turns."""
    number = int(case_id.rpartition("-")[2])
    decision = list(PLAN)[(number // 2) % 4]
    return decision, "inconclusive" if decision == "neither" else ""


def by_keyboard(guest: Guest) -> str:
    """Decides the case shown, with keys alone."""
    case_id = guest.case_id
    decision, label = planned(case_id)
    guest.press(PLAN[decision])
    if label:
        guest.press("ArrowUp")  # from the first label round to the last
    guest.press("r")
    guest.page.keyboard.type(f"keys say so in {case_id}")
    guest.press("Control+Enter")
    return case_id


def by_touch(guest: Guest) -> str:
    """Decides the case shown, by touching."""
    case_id = guest.case_id
    decision, label = planned(case_id)
    guest.page.locator(f"label:has([name=decision][value={decision}])").tap()
    if label:
        guest.page.locator(f"label:has([name=label][value={label}])").tap()
    guest.page.locator("#f-rationale").tap()
    guest.page.locator("#f-rationale").fill(f"touch says so in {case_id}")
    guest.page.locator("button.primary").tap()
    return case_id


def test_a_whole_round_by_two_people_at_once_with_the_server_killed(
    begin: Any, benchmark_of: Any, make: Any, server: Any, guest: Any, shots: Path
) -> None:
    source = make.source()
    claims = [make.claim(f"c{n}", cites=(source.id,)) for n in range(40)]
    record = begin("ada", "ben", benchmark=benchmark_of(claims, [source]))
    cases = {c.id: c for name in ("ada", "ben") for c in open_desk(RUN, name).cases}
    assert len(cases) == len(record.waiting) >= 16
    ada, ben = guest("ada", **DESKTOP), guest("ben", **PHONE)
    ada.page.screenshot(path=shots / "welcome-desktop.png")
    ada.press("Enter")
    ben.page.locator("text=Start").tap()
    rounds = 0
    while True:
        for each, decide in ((ada, by_keyboard), (ben, by_touch)):
            each.page.wait_for_load_state()
            if not each.case_id:
                continue
            each.arrive("/case/")
            if rounds == 2:
                each.page.screenshot(path=shots / f"case-{decide.__name__}.png")
            if rounds == 4:
                each.page.reload()
                each.arrive("/case/")
            if rounds == 5:
                server.kill()
                server.start()
            before = each.page.url
            case_id = decide(each)
            each.page.wait_for_url(lambda url, before=before: url != before)
            assert case_id in standing(), "the page went on before it was on disk"
        rounds += 1
        if not (ada.case_id or ben.case_id):
            break
    assert "All decided" in ada.page.inner_text("h1") and "All decided" in ben.page.inner_text("h1")
    ada.page.screenshot(path=shots / "decided-desktop.png")

    version = BenchmarkStore(Path("benchmarks/own")).load(1)
    expected = {claim.id: Label.SUPPORTED for claim in version.claims}
    for case_id, case in cases.items():
        decision, label = planned(case_id)
        side = {"a": case.a.label, "b": case.b.label}.get(decision)
        expected[case.claim.id] = side or Label(label or "supported")  # cannot tell: it stands
    done = resume(RUN)
    assert done.status is RunStatus.COMPLETE
    after = BenchmarkStore(RUN / "benchmarks/own").load(done.rounds[0].result.version)
    assert {entry.claim.id: entry.label for entry in after.state} == expected
    assert len(set(expected.values())) == 3
    words = {made.auditor: made.rationale for made in done.rounds[0].adjudications}
    assert words["ada"].startswith("keys say") and words["ben"].startswith("touch says")
    assert all(made.seconds is not None for made in done.rounds[0].adjudications)


# --- evidence -----------------------------------------------------------------------------

LONG = "\n\n".join(
    f"Section {n}. The mill stood by river {n}, as the survey says. It burnt down in {1500 + n}. "
    "Nothing else of it is known, and no plan of it has been found in any archive that was asked."
    for n in range(1, 3001)
)
"""About 200 pages, in the style of tests."""


def test_evidence_is_picked_by_selection_and_by_sentence(
    begin: Any, benchmark_of: Any, make: Any, guest: Any, shots: Path
) -> None:
    text = (
        "😀 Zwölf Mühlen.\r\nThe mill was built in 1898. "
        "It closed \u202ein 1931\u202c after a flood."
    )
    source = make.source(text)
    claims = [make.claim(f"c{n}", cites=(source.id,)) for n in range(6)]
    begin("ada", benchmark=benchmark_of(claims, [source]))
    ada = guest("ada", **DESKTOP)
    ada.press("Enter")
    ada.arrive("/case/")
    # By keyboard: the first sentence, then the one after it and one more.
    ada.press("j", "1", "j", "j", "Shift+J", "2")
    # By mouse: from the middle of one stretch into another, over the emoji and the line end.
    ada.page.evaluate(
        """() => {
          const leaves = [...document.querySelectorAll('#s1 [data-at]')];
          const first = leaves[0].firstChild;
          const last = leaves.find(l => l.textContent.includes('built')).firstChild;
          const range = document.createRange();
          range.setStart(first, first.data.indexOf('Zw'));
          range.setEnd(last, last.data.indexOf(' was'));
          getSelection().removeAllRanges(); getSelection().addRange(range);
        }"""
    )
    ada.page.wait_for_selector("#pick:not([hidden])")
    ada.page.screenshot(path=shots / "evidence.png")
    ada.page.click("[data-stance=context]")
    assert ada.page.locator("#picked li").count() == 3
    ada.page.reload()
    ada.arrive("/case/")
    assert ada.page.locator("#picked li").count() == 3, "an unfinished form is remembered"
    ada.press("a", "r")
    ada.page.keyboard.type("see the evidence")
    ada.press("Control+Enter")
    ada.page.wait_for_url("**kept=**")
    (made,) = standing().values()
    first, second, third = made.evidence
    assert (first.quote, first.stance) == ("😀 Zwölf Mühlen.", "supports")
    assert second.quote == text[text.index("The mill") :] and second.stance == "contradicts"
    assert third.quote == "Zwölf Mühlen.\r\nThe mill" and third.stance == "context"
    for each in made.evidence:
        assert text[each.span.start : each.span.end] == each.quote


def test_undo_skip_notes_and_keys_off(begin: Any, guest: Any) -> None:
    begin("ada")
    ada = guest("ada", **DESKTOP)
    ada.press("Enter")
    ada.arrive("/case/")
    first = ada.case_id
    ada.press("m")
    ada.page.keyboard.type("look at this again")
    ada.press("Escape", "b", "r")
    ada.page.keyboard.type("a slip, as u and s are only letters here")
    ada.press("Control+Enter")
    ada.page.wait_for_url("**kept=**")
    ada.arrive("kept=")
    assert standing()[first].notes == "look at this again"
    ada.press("u")
    ada.arrive(f"/case/{first}")
    ada.page.fill("#why", "pressed too soon")
    ada.press("Escape", "u")
    ada.page.wait_for_selector("#decision")
    assert standing() == {}
    event = read_events(JOURNAL)[-1]
    assert isinstance(event, Withdrawn) and event.why == "pressed too soon"
    assert ada.page.input_value("#f-rationale").startswith("a slip")
    ada.press("s")
    ada.page.wait_for_function("(first) => document.body.dataset.case !== first", arg=first)
    second = ada.case_id
    ada.press("?")
    ada.page.uncheck("#letters")
    ada.press("Escape", "s", "o", "a")
    ada.page.wait_for_timeout(200)
    assert ada.case_id == second and not ada.page.locator("[name=decision]:checked").count()


def test_the_second_of_two_tabs_is_told(begin: Any, guest: Any) -> None:
    begin("ada")
    ada = guest("ada", **DESKTOP)
    ada.press("Enter")
    ada.arrive("/case/")
    case_id, other = ada.case_id, ada.context.new_page()
    other.goto(ada.page.url)
    by_keyboard(ada)
    ada.page.wait_for_url("**kept=**")
    before = JOURNAL.read_bytes()
    other.check("[name=decision][value=b]")
    other.fill("#f-rationale", "from the other tab")
    other.click("button.primary")
    other.wait_for_selector("#warning")
    assert "was not kept" in other.inner_text("#warning")
    assert f"keys say so in {case_id}" in other.inner_text("#decide")
    assert JOURNAL.read_bytes() == before


def test_without_scripts_a_case_can_be_read_and_decided(
    begin: Any, benchmark_of: Any, make: Any, guest: Any
) -> None:
    source = make.source()
    claims = [make.claim(f"c{n}", cites=(source.id,)) for n in range(6)]
    begin("ada", benchmark=benchmark_of(claims, [source]))
    ada = guest("ada", java_script_enabled=False, **DESKTOP)
    ada.page.click("text=Start")
    assert source.text in ada.page.inner_text("#s1 .text")
    ada.page.check("[name=decision][value=neither]")
    ada.page.check("[name=label][value=inconclusive]")
    ada.page.fill("#f-rationale", "without a script")
    ada.page.click("text=Paste a quote instead")
    ada.page.fill("#f-quote", "It closed  in 1931")
    ada.page.click("button.primary")
    (made,) = standing().values()
    assert (made.label, made.rationale, made.seconds) == ("inconclusive", "without a script", None)
    assert made.evidence[0].quote == "It closed in 1931"
    ada.page.click("text=Undo")
    ada.page.click("text=Undo this decision")
    assert standing() == {} and ada.page.input_value("#f-rationale") == "without a script"


# --- hostile content ----------------------------------------------------------------------

ATTACKS = (
    "<script>alert('ran')</script><img src=x onerror=alert('ran')>"
    "<svg onload=alert('ran')><a xlink:href='javascript:alert(1)'>x</a></svg>"
    "\"><iframe srcdoc='<script>parent.alert(1)</script>'></iframe></textarea></template>"
    "<style>*{display:none}</style><base href='//evil.example'><form action='//evil.example'>"
    "{{ 7 * 7 }}{% raw %} [link](javascript:alert(1)) ](x) ``` </div></main>\n"
    "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200
)
BIDI = "pay \u202egnihton\u202c to \u2066x\u2069 \u200bzero\ufeff"

RAN = """document.querySelectorAll(
  'main script, img, svg, iframe, base, style, [onload], [onerror]').length"""
LINKS_ELSEWHERE = """[...document.querySelectorAll('a')].filter(
  (link) => !/^(http:|$)/.test(link.protocol)).length"""
FORMS_ELSEWHERE = """[...document.forms].filter(
  (form) => form.method == 'post' && new URL(form.action).origin != origin).length"""


@pytest.mark.parametrize("window", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_hostile_runs_and_everything_can_be_read(
    begin: Any, benchmark_of: Any, make: Any, guest: Any, shots: Path, window: Any
) -> None:
    # The verifier quotes a source up to its first full stop: each source begins with a trap.
    trap = f"Trap {ATTACKS}{BIDI}"
    source = Source.create(title=trap, url="javascript:alert('ran')", text=f"{trap}. Then more.")
    data = Source.create(title="d", url="data:text/html,<script>alert(1)</script>", text=LONG)
    report_text = f"Before. {trap} After it."
    report = Source.create(title=trap, text=report_text, role=SourceRole.GENERATED)
    span = Span(start=8, end=8 + len(trap))
    claims = [
        make.claim(
            f"c{n}", text=trap, context=trap, cites=(source.id, data.id),
            origin=Origin(report="r", document=report.id, span=span),
        )
        for n in range(6)
    ]  # fmt: skip
    begin("ada", benchmark=benchmark_of(claims, [source, data, report]))
    ada = guest("ada", **window)
    asked: list[str] = []
    ada.page.on("request", lambda request: asked.append(request.url))
    ada.page.click("text=Start")
    ada.arrive("/case/")
    page = ada.page
    assert page.evaluate("scrollY") == 0, "a case begins with its claim"
    assert page.evaluate(RAN) == 0
    assert page.evaluate(LINKS_ELSEWHERE) == page.evaluate(FORMS_ELSEWHERE) == 0
    shown = page.inner_text("#h-claim")
    for words in ("<script>alert('ran')</script>", "{{ 7 * 7 }}", "[U+202E]gnihton[U+202C]",
                  "[U+200B]zero[U+FEFF]", "](x) ```"):  # fmt: skip
        assert words in shown, words
    assert "\u202e" not in page.content() and "\u2066" not in page.content()
    assert "not a web address" in page.inner_text("#s1 header")
    # Every character of the sources is there to be read, in order.
    page.screenshot(path=shots / f"hostile-{window['viewport']['width']}.png")
    page.click("#tab-s2")
    assert page.evaluate("document.querySelector('#s2 .text').textContent") == LONG
    assert "Section 3000." in page.inner_text("#s2 .text")
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert width <= 0, "the page must not scroll sideways"
    # What is typed comes back as text too.
    page.fill("#f-rationale", trap)
    page.locator("button.primary").click()
    page.wait_for_selector("#errors")
    assert page.evaluate(RAN) == 0
    assert page.input_value("#f-rationale") == trap
    page.check("[name=decision][value=a]")
    page.locator("button.primary").click()
    page.wait_for_url("**kept=**")
    page.goto(page.url.partition("/case/")[0])
    assert page.evaluate(RAN) == 0
    assert {url.split("/")[2] for url in asked} == {page.url.split("/")[2]}, "it asked elsewhere"


# --- accessibility ------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_an_accessibility_checker_finds_nothing(
    begin: Any, guest: Any, shots: Path, window: Any, scheme: str
) -> None:
    checker = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    begin("ada")
    ada = guest("ada", color_scheme=scheme, bypass_csp=True, **window)
    size = window["viewport"]["width"]

    def check(name: str) -> None:
        ada.page.screenshot(path=shots / f"{name}-{size}-{scheme}.png", full_page=True)
        found = checker.Axe().run(ada.page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == [], name

    check("welcome")
    ada.page.click("text=Start")
    ada.arrive("/case/")
    ada.press("q")
    ada.press("j")
    check("case")
    ada.press("1", "n")
    check("neither")
    ada.page.locator("button.primary").click()
    ada.page.wait_for_selector("#errors")
    check("errors")
    ada.page.locator("[name=label]").first.check(force=True)
    ada.page.fill("#f-rationale", "it is settled")
    ada.page.locator("button.primary").click()
    ada.page.wait_for_url("**kept=**")
    check("kept")
    ada.page.click("text=Undo")
    ada.page.wait_for_selector("#undo")
    check("decision")
    ada.page.goto(ada.page.url.partition("/case/")[0])
    check("desk")
    ada.press("?")
    check("keys")
    ada.page.goto(ada.page.url + "case/none")
    check("message")
