"""The round report: complete, harmless whatever the data says, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from deepfact.records import RulingKind
from deepfact.reports.round_report import (
    SHADES,
    render_html,
    render_markdown,
    shade,
    without_secrets,
)
from deepfact.reports.summary import SIMULATED
from deepfact.reports.templating import TEMPLATES

VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """A page read into what the tests ask about. Refuses tags that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[int] = []
        self.texts: list[tuple[str, str]] = []
        self.rates: list[str] = []
        self._rate_depth = 0
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        assert len(found) == len(attrs), f"an attribute stands twice in {tag}"
        self.tags.append((tag, found))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)
        if found.get("class") == "rate":
            self.rates.append("")
            self._rate_depth = len(self.open)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if len(self.open) < self._rate_depth:
            self._rate_depth = 0

    def handle_data(self, data):
        place = self.open[-1] if self.open else ""
        in_svg = "svg" in self.open
        if self._rate_depth:
            self.rates[-1] += data
        elif place not in ("style", "script"):
            self.texts.append(("svg" if in_svg else place, data))

    @property
    def text(self) -> str:
        return "".join(data for _, data in self.texts)

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag in tags]


def html_of(made, rounds: int = 1) -> str:
    return render_html(made.record(rounds), made.sources)


def markdown_of(made, rounds: int = 1) -> str:
    return render_markdown(made.record(rounds), made.sources)


# --- self-contained, harmless ------------------------------------------------------------


def test_nothing_is_loaded_and_only_sources_are_linked(any_made):
    made, rounds = any_made
    page = Page(html_of(made, rounds))
    urls = {source.url for source in made.sources.values()}
    for tag, attrs in page.tags:
        assert "src" not in attrs and "style" not in attrs, tag
        assert not [name for name in attrs if name.startswith("on")], tag
        href = attrs.get("href")
        if href is not None and not href.startswith("#") and href != "data:,":
            assert tag == "a" and href in urls and href.startswith("https://")
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not page.all("img", "iframe", "object", "embed", "base", "form[action]")


def test_the_policy_admits_the_inline_blocks_and_nothing_else(factory):
    html = html_of(factory(hostile=True))
    policy = Page(html).all("meta")[1]["content"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    for tag in ("style", "script"):
        block = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_style_and_script_ask_nothing_of_the_network():
    for name in ("report.css", "report.js"):
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        assert not re.search(r"https?:|url\(|@import|fetch|XMLHttp|innerHTML|eval|import\(", text)


def test_hostile_text_is_shown_and_does_nothing(factory):
    made = factory(hostile=True)
    html = html_of(made)
    page = Page(html)
    assert "<script>alert(1)</script> <img src=x onerror=alert(2)>" in page.text
    assert "{{ 7919 * 7 }} {% raw %}" in page.text and "55433" not in html
    assert "[U+202E]desrever[U+202C]" in page.text and "[U+001B][31m" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", html)
    assert "javascript:alert(4) (not a web address; not linked)" in page.text


def test_no_template_lets_data_through_unescaped():
    for path in TEMPLATES.glob("*.j2"):
        text = path.read_text(encoding="utf-8")
        assert "|safe" not in text.replace(" ", "") and "autoescape" not in text, path.name
        # `~` and join escape for HTML only, which is not enough in Markdown.
        code = re.findall(r"\{[{%].*?[%}]\}", text)
        assert not [part for part in code if "~" in part or "join" in part], path.name


def test_secrets_of_the_spec_stay_out(factory):
    for text in (html_of(factory()), markdown_of(factory())):
        assert "sk-do-not-show" not in text and "u:pw" not in text
        assert "not shown" in text
    kept = {"max_tokens": "9", "api_key_env": "NAME", "n": 3, "list": ["https://a.example/b"]}
    assert without_secrets(kept) == kept


# --- what must always hold ---------------------------------------------------------------

RATE = re.compile(
    r"\d+\.\d\u00a0% 95 % interval \[-?\d+\.\d–\d+\.\d\u00a0%\] "
    r"(\d+ of \d+|n = \d+), \d+ unverified"
    r"|\d\.\d{3} 95 % interval \[\d\.\d{3}–\d\.\d{3}\] n = \d+, \d+ unverified"
    r"|no rate n = 0, \d+ unverified"
)


def test_every_rate_has_its_n_interval_and_unverified_count(factory):
    page = Page(html_of(factory(), 2))
    assert len(page.rates) > 40
    for text in page.rates:
        assert RATE.fullmatch(text), text
    # And no percentage stands anywhere else, but for "95 %" and the plots, checked below.
    for place, text in page.texts:
        bare = text.replace("95 % interval", "")
        assert place in ("svg", "title", "desc") or not re.search(r"\d\s*%", bare), text


def test_an_estimate_without_an_interval_is_not_shown(factory):
    record = factory().record()
    round_ = record.rounds[0]
    bare = round_.scores[0].macro_f1.model_copy(update={"value": 0.777, "low": None})
    sheets = (round_.scores[0].model_copy(update={"macro_f1": bare}), *round_.scores[1:])
    rounds = (round_.model_copy(update={"scores": sheets}),)
    changed = record.model_copy(update={"rounds": rounds})
    for text in (render_html(changed, {}), render_markdown(changed, {})):
        assert "0.777" not in text and "not shown: no interval recorded" in text


def test_reasons_travel_word_for_word(factory, rendered):
    made = factory(hostile=True)
    record = made.record()
    page, text = Page(html_of(made)), rendered(render_markdown(record, made.sources))
    for ruling in record.rounds[0].rulings:
        words = ruling.reason.replace("\u202e", "[U+202E]").replace("\u202c", "[U+202C]")
        words = words.replace("\x1b", "[U+001B]") if words.strip() else "no reason recorded"
        assert words in page.text
        assert " ".join(words.split()) in text


def test_a_missing_reason_is_said_to_be_missing(factory):
    record = factory().record()
    silent = [r for r in record.rounds[0].rulings if not r.reason.strip()]
    assert silent
    assert Page(html_of(factory())).text.count("no reason recorded") >= len(silent)


def test_a_qualification_is_shown_with_its_claim_and_counted_nowhere(factory):
    made = factory()
    page = Page(html_of(made))
    assert "Qualification (scope), context and not a contradiction: Counts sailing" in page.text
    assert "claim-0018 round 1 Qualification (method change)" in page.text
    record = made.record()
    round_ = record.rounds[0]
    plain = tuple(
        o.model_copy(update={"qualifications": ()}) if o.kind == "verdict" else o
        for o in round_.outcomes
    )
    rounds = (round_.model_copy(update={"outcomes": plain}),)
    without = Page(render_html(record.model_copy(update={"rounds": rounds}), made.sources))
    tally = re.compile(r"over 24 claims: .*? unverified\.")
    assert tally.search(without.text)[0] == tally.search(page.text)[0]


def test_confirmed_refuted_and_unverified_are_counted_apart_and_add_up(factory):
    text = Page(html_of(factory())).text
    counts = re.search(
        r"over (\d+) claims: (\d+) confirmed, (\d+) refuted, (\d+) inconclusive, (\d+) unverified",
        text,
    )
    total, *parts = map(int, counts.groups())
    assert total == 24 == sum(parts) and parts[-1] == 2


def test_scores_stand_side_by_side_on_three_keys(factory):
    html = html_of(factory())
    heads = re.search(r'<table class="scores">.*?</thead>', html, re.DOTALL)[0]
    names = re.findall(r'<th scope="col">(.*?)</th>', heads)
    assert names == [
        "Measure",
        "Before: version 1",
        "After: version 2",
        "After, without own accepted challenges: version 2",
    ]


def test_simulation_is_marked_at_the_top_and_by_each_auditor(factory):
    text = Page(html_of(factory(), 2)).text
    assert text.index("Simulated audit.") < text.index("Summary")
    assert text.count(SIMULATED) == 1 + 2  # the banner, and the auditor's row of each round
    assert markdown_of(factory(), 2).count(SIMULATED) == 1 + 2
    for words in (html_of(factory(simulated=False)), markdown_of(factory(simulated=False))):
        assert "imulated" not in words


def test_quotes_that_stand_nowhere_are_marked(factory):
    made = factory()
    page = Page(html_of(made))
    assert "quote not found in this source" in page.text
    assert len(page.all("mark")) > 0
    gone = Page(render_html(made.record(), {}))
    assert "source not in the benchmark" in gone.text and not gone.all("mark")


def test_generated_text_is_never_shown_as_evidence(factory, rendered):
    made = factory()
    record = made.record()
    generated = {
        key: source.model_copy(update={"role": "generated"}) for key, source in made.sources.items()
    }
    assert "generated text: not evidence" in Page(render_html(record, generated)).text
    assert "generated text: not evidence" in rendered(render_markdown(record, generated))


# --- blindness of a pending run ----------------------------------------------------------


def test_a_waiting_case_shows_neither_side_nor_any_decision(factory, rendered):
    made = factory(pending=True)
    record = made.record()
    case = record.rounds[0].cases[0]
    assert case.id in record.waiting
    for text in (Page(html_of(made)).text, rendered(markdown_of(made))):
        assert "Not finished." in text and case.id in text and case.claim.text in text
        assert f"I counted the calls myself for {case.claim.id}." not in text
        assert case.claim.text in text.split("Waiting for decisions")[1]
        assert text.count(case.claim.text) == 1
        assert "2 cases wait" in text


def test_a_pending_run_treats_a_case_without_a_ruling_as_waiting(factory):
    made = factory(pending=True)
    record = made.record().model_copy(update={"waiting": ()})
    page = Page(render_html(record, made.sources))
    assert page.text.count(record.rounds[0].cases[0].claim.text) == 1


# --- structure ---------------------------------------------------------------------------


def test_headings_landmarks_ids_and_tables_are_in_order(any_made):
    made, rounds = any_made
    html = html_of(made, rounds)
    page = Page(html)
    assert page.headings[0] == 1 and page.headings.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(page.headings))
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.tags:
        if (attrs.get("href") or "").startswith("#"):
            assert attrs["href"][1:] in ids
        for name in (attrs.get("aria-labelledby") or "").split():
            assert name in ids
        if tag == "th":
            assert attrs.get("scope") in ("col", "row", "rowgroup")
        if tag == "svg":
            assert attrs["role"] == "img"
    tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
    assert all(re.match(r"<table[^>]*>\s*<caption>\S", table) for table in tables)


def test_every_dispute_is_in_the_table_with_what_the_filters_need(factory):
    made = factory()
    html = html_of(made, 2)
    rows = re.findall(r"<tbody>", html[html.index('id="disputes"') : html.index('id="confusion"')])
    assert len(rows) == sum(round_.challenges for round_ in made.record(2).rounds)
    wanted = re.findall(r'data-filter="(\w+)"', html)
    assert wanted == ["text", "ruling", "before", "after", "round"]
    form = next(attrs for attrs in Page(html).all("form"))
    assert "hidden" in form  # without a script, no dead controls


def test_confusion_matrices_carry_every_count(factory):
    made = factory()
    html = html_of(made)
    found = [
        [int(cell) for cell in re.findall(r"<td[^>]*>(\d+)</td>", row)]
        for table in re.findall(r'<table class="matrix">.*?</table>', html, re.DOTALL)
        for row in re.findall(r"<tr>.*?</tr>", table)[1:]
    ]
    wanted = [[*row, sum(row)] for s in made.record().rounds[0].scores for row in s.confusion]
    assert found == wanted


def test_shading_follows_the_share_of_the_row():
    assert shade(0, (0, 5)) == 0 and shade(1, (1, 999)) == 1 and shade(5, (5, 0)) == SHADES
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    assert all(f".h{step} {{" in css for step in range(1, SHADES + 1))


def test_an_unresolved_dispute_keeps_its_word(factory):
    record = factory().record()
    open_ = sum(r.kind is RulingKind.UNRESOLVED for r in record.rounds[0].rulings)
    assert open_ and Page(html_of(factory())).text.count("unresolved") >= open_


def test_an_empty_round_says_so(factory):
    page, text = Page(html_of(factory(claims=1))).text, markdown_of(factory(claims=1))
    assert "Nothing changed: no revision was made." in page
    assert "the challenger disagreed with no label" in page
    assert "Nothing changed" in text and "No decided dispute." in text


# --- bytes -------------------------------------------------------------------------------


def test_the_same_record_gives_the_same_bytes(factory):
    one, two = factory(hostile=True), factory(hostile=True)
    assert html_of(one, 2) == html_of(two, 2)
    assert markdown_of(one, 2) == markdown_of(two, 2)
    assert "\r" not in html_of(one)


@pytest.mark.parametrize("stride", [1, 3])
def test_a_thousand_claims_fit_in_three_megabytes(factory, stride):
    made = factory(claims=1000, stride=stride)
    html = html_of(made)
    assert len(html.encode()) < 3_000_000
    assert html.count("<mark>") > 30


def test_long_sources_are_shown_around_their_quotes(factory):
    made = factory()
    record = made.record()
    long = {
        key: source.model_copy(update={"text": "x" * 50_000 + source.text + "y" * 50_000})
        for key, source in made.sources.items()
    }
    html = render_html(record, long)
    assert len(html) < 400_000
    assert "characters not shown]" in html and html.count("<mark>") > 5


def test_a_round_without_scores_says_so(factory):
    record = factory().record()
    round_ = record.rounds[0].model_copy(update={"scores": (), "auditors": ()})
    page = Page(render_html(record.model_copy(update={"rounds": (round_,)}), {}))
    assert page.text.count("No scores are recorded for this round.") == 2
    assert "No auditor’s score is recorded for this round." in page.text


def test_a_run_that_waits_in_its_first_round_names_the_cases(factory):
    record = factory(pending=True).record().model_copy(update={"rounds": (), "microgold": ()})
    text = Page(render_html(record, {})).text
    assert "2 cases wait" in text and "No round is recorded." in text
    assert all(case in text for case in record.waiting)
