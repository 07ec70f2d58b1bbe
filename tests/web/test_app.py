"""The audit page over HTTP: who is let in, what is kept, what is refused and changes nothing, and
that nothing on it gives the answers away."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from deepfact.core.standing import standing_adjudications
from deepfact.records import KeyEntry, Origin, Source, SourceRole
from deepfact.review import open_desk
from deepfact.round import resume
from deepfact.run_records import Adjudicated, RunStatus, Withdrawn
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, read_jsonl, write_text
from deepfact.store.journal import Journal, read_events
from deepfact.web import app as web
from deepfact.web.app import build_app
from deepfact.web.guard import MOST_BYTES
from deepfact.web.links import make_links

RUN = Path("run")
HERE = "http://127.0.0.1:8765"
JOURNAL = RUN / "journal.jsonl"
CANARY = "KANARIENVOGEL"


class Visitor:
    """A browser without a screen, signed in as one auditor."""

    def __init__(self, app: Any, secret: str) -> None:
        self.client = TestClient(app, base_url=HERE, follow_redirects=False)
        if secret:
            self.welcome = self.client.get(f"/enter/{secret}")
            assert self.welcome.status_code == 200

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def form(self, case_id: str) -> dict[str, str]:
        """The hidden fields of a case's form, as they are now."""
        text = self.get(f"/case/{case_id}").text
        fields = re.findall(r'<input type="hidden" name="(token|steps)" value="([^"]*)">', text)
        assert len(fields) == 2, text
        return dict(fields)

    def post(self, path: str, data: dict[str, Any], **headers: str) -> Any:
        return self.client.post(path, data=data, headers={"origin": HERE, **headers})

    def decide(self, case_id: str, form: dict[str, str] | None = None, **fields: Any) -> Any:
        given = {"decision": "a", "rationale": "A quotes the source", **fields}
        return self.post(f"/case/{case_id}/decide", {**(form or self.form(case_id)), **given})

    def undo(self, case_id: str, form: dict[str, str] | None = None, why: str = "") -> Any:
        return self.post(f"/case/{case_id}/undo", {**(form or self.form(case_id)), "why": why})


@pytest.fixture
def visit(begin: Callable[..., Any]) -> Callable[..., dict[str, Visitor]]:
    """Begins a round and signs its auditors in: ``visit("ada", "ben")``."""

    def start(*names: str, **policy: Any) -> dict[str, Visitor]:
        begin(*names, **policy)
        secrets = make_links(RUN, names)
        app = build_app(RUN, hosts=["127.0.0.1"])
        visitors = {name: Visitor(app, secrets[name]) for name in names}
        return {**visitors, "nobody": Visitor(app, "")}

    return start


def ids(name: str = "ada") -> list[str]:
    return [case.id for case in open_desk(RUN, name).cases]


def made() -> list[Adjudicated]:
    return [event for event in read_events(JOURNAL) if isinstance(event, Adjudicated)]


# --- who is let in ------------------------------------------------------------------------


def test_without_a_secret_nothing_is_shown_or_taken(visit: Any, caplog: Any) -> None:
    nobody = visit("ada")["nobody"]
    before = JOURNAL.read_bytes()
    caplog.set_level(logging.INFO, "deepfact.web")
    case_id = ids()[0]
    for path in ("/", "/next", f"/case/{case_id}"):
        answer = nobody.get(path)
        assert answer.status_code == 403 and "not signed in" in answer.text
        assert case_id not in answer.text
    for act in ("decide", "undo"):
        assert nobody.post(f"/case/{case_id}/{act}", {"decision": "a"}).status_code == 403
    assert nobody.get("/enter/" + "x" * 43).status_code == 403
    assert JOURNAL.read_bytes() == before
    assert sum("refused" in message for message in caplog.messages) == 6
    assert "xxx" not in caplog.text


def test_a_secret_is_kept_as_a_hash_and_never_logged(visit: Any, begin: Any, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    begin("ada")
    secret = make_links(RUN, ["ada"])["ada"]
    visitor = Visitor(build_app(RUN, hosts=["127.0.0.1"]), secret)
    visitor.decide(ids()[0])
    files = [path for path in RUN.rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]
    ours = [record.getMessage() for record in caplog.records if record.name == "deepfact.web"]
    assert ours and not any(secret in message for message in ours)
    assert make_links(RUN, ["ada"]) == {}, "a second start keeps the link"
    assert visitor.get("/").status_code == 200
    make_links(RUN, ["ada"], anew=True)
    assert visitor.get("/").status_code == 403, "an old link must stop working"


def test_the_cookie_stays_with_this_site_and_out_of_scripts(visit: Any, begin: Any) -> None:
    begin("ada")
    secret = make_links(RUN, ["ada"])["ada"]
    for secure in (False, True):
        client = TestClient(build_app(RUN, hosts=["127.0.0.1"], secure=secure), base_url=HERE)
        cookie = client.get(f"/enter/{secret}").headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        assert ("; secure" in cookie) is secure


def test_another_auditors_case_is_out_of_reach(visit: Any) -> None:
    both = visit("ada", "ben")
    theirs = ids("ben")[0]
    before = JOURNAL.read_bytes()
    assert both["ada"].get(f"/case/{theirs}").status_code == 404
    form = both["ben"].form(theirs)
    assert both["ada"].decide(theirs, form).status_code == 403, "a token of another session"
    own = {**both["ada"].form(ids("ada")[0])}
    assert both["ada"].decide(theirs, own).status_code == 404
    assert JOURNAL.read_bytes() == before


# --- what is kept -------------------------------------------------------------------------


def test_a_decision_is_on_disk_before_the_answer_and_makes_the_version(visit: Any) -> None:
    ada = visit("ada")["ada"]
    for case_id in ids():
        answer = ada.decide(case_id, rationale=f"because of {case_id}", notes="a note", seconds="7")
        assert answer.status_code == 303
        last = made()[-1].adjudication
        assert (last.case_id, last.rationale) == (case_id, f"because of {case_id}")
        assert (last.notes, last.seconds, last.auditor) == ("a note", 7.0, "ada")
    assert "All decided" in ada.get("/").text
    assert resume(RUN).status is RunStatus.COMPLETE
    assert "gone on" in ada.get("/").text


def test_evidence_is_cut_from_the_stored_source(visit: Any) -> None:
    ada = visit("ada")["ada"]
    case = next(case for case in open_desk(RUN).cases if case.claim.cites)
    source = BenchmarkStore(Path("benchmarks/small")).sources[case.claim.cites[0]]
    start = source.text.index(" ") + 1
    evidence = [f"1:{start}:{start + 20}:contradicts", f"1:{start}:{start + 20}:contradicts"]
    pasted = {"quote": source.text[30:60], "quote_source": "1", "quote_stance": "context"}
    assert ada.decide(case.id, evidence=evidence, **pasted).status_code == 303
    first, second = made()[-1].adjudication.evidence
    assert first.source == source.id and first.stance == "contradicts"
    assert first.quote == source.text[first.span.start : first.span.end].strip() != ""
    assert second.quote in source.text and second.stance == "context"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"decision": ""}, "Choose one of the four"),
        ({"decision": "benchmark"}, "Choose one of the four"),
        ({"decision": ["a", "b"]}, "Choose one of the four"),
        ({"decision": "neither"}, "choose the label"),
        ({"decision": "neither", "label": "true"}, "choose the label"),
        ({"rationale": " \n "}, "needs a reason"),
        ({"rationale": "x" * 20_001}, "At most 20,000"),
        ({"evidence": "1:0:999999999:supports"}, "select again"),
        ({"evidence": "1:5:5:supports"}, "select again"),
        ({"evidence": "99:0:5:supports"}, "select again"),
        ({"evidence": "1:0:5:refutes"}, "select again"),
        ({"evidence": "1:-4:5:supports"}, "select again"),
        ({"evidence": "١:0:5:supports"}, "select again"),
        ({"quote": "words that nobody wrote", "quote_source": "1"}, "do not stand in that source"),
    ],
)
def test_what_is_missing_is_said_and_nothing_typed_is_lost(
    visit: Any, fields: dict[str, Any], message: str
) -> None:
    ada = visit("ada")["ada"]
    before = JOURNAL.read_bytes()
    case = next(case for case in open_desk(RUN).cases if case.claim.cites)
    answer = ada.decide(case.id, **{"notes": "my <note>", **fields})
    assert answer.status_code == 422 and message in answer.text
    assert "my &lt;note&gt;" in answer.text
    assert JOURNAL.read_bytes() == before


def test_generated_text_cannot_be_picked_as_evidence(
    visit: Any, benchmark_of: Any, make: Any
) -> None:
    model = Source.create(title="An answer", text="It was. So it says.", role=SourceRole.GENERATED)
    plain = Source.create(title="A paper", text="It was. So it says.")
    claims = [
        make.claim(f"c{n}", cites=(plain.id, model.id), origin=Origin(report="r")) for n in range(6)
    ]
    ada = visit("ada", benchmark=benchmark_of(claims, [plain, model]))["ada"]
    case_id = ids()[0]
    page = ada.get(f"/case/{case_id}").text
    assert "Written by a model: it is no evidence." in page
    assert ada.decide(case_id, evidence="2:0:7:supports").status_code == 422
    assert ada.decide(case_id, quote="It was.", quote_source="2").status_code == 422
    assert ada.decide(case_id, evidence="1:0:7:supports").status_code == 303


# --- undo, second windows, replays --------------------------------------------------------


def test_undo_withdraws_and_brings_the_words_back(visit: Any) -> None:
    ada = visit("ada")["ada"]
    case_id = ids()[0]
    ada.decide(case_id, rationale="a slip of the pen")
    assert ada.undo(case_id, why="read the wrong table").status_code == 303
    withdrawn = read_events(JOURNAL)[-1]
    assert isinstance(withdrawn, Withdrawn) and withdrawn.why == "read the wrong table"
    assert len(made()) == 1, "history only grows"
    assert standing_adjudications(read_events(JOURNAL)) == {}
    assert "a slip of the pen" in ada.get(f"/case/{case_id}").text
    ada.decide(case_id, decision="b", rationale="B after all")
    standing = standing_adjudications(read_events(JOURNAL))
    assert [each.rationale for each in standing.values()] == ["B after all"]


def test_a_second_window_is_told_and_overwrites_nothing(visit: Any) -> None:
    ada = visit("ada")["ada"]
    case_id = ids()[0]
    stale = ada.form(case_id)
    ada.decide(case_id, rationale="the first window")
    before = JOURNAL.read_bytes()
    answer = ada.decide(case_id, stale, decision="b", rationale="the second window")
    assert answer.status_code == 409 and "was not kept" in answer.text
    assert "the first window" in answer.text and "the second window" in answer.text
    assert JOURNAL.read_bytes() == before


def test_the_same_form_twice_is_one_decision(visit: Any) -> None:
    ada = visit("ada")["ada"]
    case_id = ids()[0]
    form = ada.form(case_id)
    first, again = ada.decide(case_id, form, seconds="3"), ada.decide(case_id, form, seconds="5")
    assert first.status_code == again.status_code == 303
    assert len(made()) == 1
    undo = ada.form(case_id)
    assert ada.undo(case_id, undo).status_code == 303
    before = JOURNAL.read_bytes()
    assert ada.decide(case_id, form).status_code == 409, "a replay after an undo"
    assert ada.undo(case_id, undo).status_code == 409, "a replayed undo"
    assert JOURNAL.read_bytes() == before
    ada.decide(case_id)
    assert ada.undo(case_id, undo).status_code == 409, "an old undo on a new decision"
    assert len(standing_adjudications(read_events(JOURNAL))) == 1


def test_a_closed_round_takes_nothing_back(visit: Any) -> None:
    ada = visit("ada")["ada"]
    for case_id in ids():
        ada.decide(case_id)
    undo = ada.form(ids()[0])
    resume(RUN)
    before = JOURNAL.read_bytes()
    answer = ada.undo(ids()[0], undo)
    assert answer.status_code == 409 and "gone on" in answer.text
    assert JOURNAL.read_bytes() == before


def test_a_journal_in_use_is_waited_for_then_said(visit: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(web, "PATIENCE", 0.05)
    ada = visit("ada")["ada"]
    case_id = ids()[0]
    form = ada.form(case_id)
    with Journal(RUN):
        answer = ada.decide(case_id, form, rationale="my words")
    assert answer.status_code == 503 and "Not kept yet" in answer.text
    assert "my words" in answer.text and made() == []
    assert ada.decide(case_id, form, rationale="my words").status_code == 303


def test_skipping_goes_round(visit: Any) -> None:
    ada = visit("ada")["ada"]
    first, second, last = ids()[0], ids()[1], ids()[-1]
    assert ada.get("/next").headers["location"] == f"/case/{first}"
    assert ada.get(f"/next?after={first}").headers["location"] == f"/case/{second}"
    assert ada.get(f"/next?after={last}").headers["location"] == f"/case/{first}"
    ada.decide(first)
    assert ada.get(f"/next?after={last}").headers["location"] == f"/case/{second}"


# --- queues -------------------------------------------------------------------------------


def test_a_shared_queue_gives_a_case_to_one_person_at_a_time(visit: Any) -> None:
    both = visit("ada", "ben", rule="single", queue="shared")
    ada, ben = both["ada"], both["ben"]
    assert ids("ada") == ids("ben")
    first, second = ids()[:2]
    assert ada.get("/next").headers["location"] == f"/case/{first}"
    form = ada.form(first)
    assert ben.get("/next").headers["location"] == f"/case/{second}"
    assert ben.get(f"/case/{first}").status_code == 409
    ada.get(f"/next?after={first}")  # skips it, so ben may have it
    late = ben.form(first)
    assert ben.decide(first, late).status_code == 303
    before = JOURNAL.read_bytes()
    answer = ada.decide(first, form, rationale="too late")
    assert answer.status_code == 409 and "Another auditor" in answer.text
    assert "too late" in answer.text
    assert JOURNAL.read_bytes() == before
    for case_id in ids("ada"):
        ada.decide(case_id)
    assert resume(RUN).status is RunStatus.COMPLETE


def test_who_wrote_the_label_does_not_judge_it(visit: Any, benchmark_of: Any, make: Any) -> None:
    source = make.source()
    claims = [make.claim(f"c{n}", cites=(source.id,)) for n in range(12)]
    benchmark = benchmark_of(claims, [source], who="ada + cyd")
    both = visit("ada", "ben", benchmark=benchmark)
    assert ids("ada") == [] and len(ids("ben")) > 2
    assert "Nothing waits for you" in both["ada"].get("/").text
    for case_id in ids("ben"):
        both["ben"].decide(case_id)
    assert resume(RUN).status is RunStatus.COMPLETE


def test_a_label_that_nobody_may_judge_stands(visit: Any, benchmark_of: Any, make: Any) -> None:
    source = make.source()
    claims = [make.claim(f"c{n}", cites=(source.id,)) for n in range(12)]
    record = visit("ada", benchmark=benchmark_of(claims, [source], who="ada")) and resume(RUN)
    assert record.status is RunStatus.COMPLETE and record.rounds[0].cases
    assert {ruling.kind for ruling in record.rounds[0].rulings} == {"unresolved"}
    assert record.rounds[0].revisions == ()


# --- blindness ----------------------------------------------------------------------------


def test_no_page_holds_what_an_auditor_must_not_see(visit: Any, begin: Any, desk: Path) -> None:
    for path in (desk / "benchmarks/small/keys").glob("*.jsonl"):
        entries = [
            entry.model_copy(
                update={"rationale": f"{CANARY} {entry.claim_id}", "stratum": CANARY.lower()}
            )
            for entry in read_jsonl(path, KeyEntry)
        ]
        write_text(path, jsonl(entry.canonical() for entry in entries))
    both = visit("ada", "ben")
    keys = list(read_jsonl(desk / "benchmarks/small/keys/microgold.jsonl", KeyEntry))
    assert keys and CANARY in keys[0].rationale
    pages = []
    for name in ("ada", "ben"):
        pages += [both[name].welcome.text, both[name].get("/").text]
        for case_id in ids(name):
            pages.append(both[name].get(f"/case/{case_id}").text)
            pages.append(both[name].decide(case_id, rationale="").text)
            both[name].decide(case_id)
            pages.append(both[name].get(f"/case/{case_id}").text)
    assert len(pages) > 60
    claims = {case.claim.id for name in ("ada", "ben") for case in open_desk(RUN, name).cases}
    for page in pages:
        low = page.lower()
        for word in (CANARY.lower(), "quoting", "incumbent", "challenger", "microgold", "annotator",
                     "micro-gold", "control", "sha256:", *claims):  # fmt: skip
            plain = low.replace("aria-controls", "").replace("cache-control", "")
            assert word.lower() not in plain, word


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://127.0.0.1:8765"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": ""}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json"}, 415),
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example", "origin": "http://evil.example"}, 421),
    ],
)
def test_a_post_from_elsewhere_is_refused(
    visit: Any, caplog: Any, headers: dict[str, str], status: int
) -> None:
    ada = visit("ada")["ada"]
    before = JOURNAL.read_bytes()
    case_id = ids()[0]
    data = {**ada.form(case_id), "decision": "a", "rationale": "forged"}
    caplog.set_level(logging.INFO, "deepfact.web")
    answer = ada.post(f"/case/{case_id}/decide", data, **headers)
    assert answer.status_code == status
    assert JOURNAL.read_bytes() == before
    assert "refused POST" in caplog.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_a_form_without_the_token_is_refused(visit: Any, token: str) -> None:
    ada = visit("ada")["ada"]
    before = JOURNAL.read_bytes()
    case_id = ids()[0]
    assert ada.decide(case_id, {**ada.form(case_id), "token": token}).status_code == 403
    assert JOURNAL.read_bytes() == before


@pytest.mark.parametrize("steps", ["", "-1", "1", "x", "9" * 50])
def test_a_form_with_another_place_in_history_is_refused(visit: Any, steps: str) -> None:
    ada = visit("ada")["ada"]
    before = JOURNAL.read_bytes()
    case_id = ids()[0]
    answer = ada.decide(case_id, {**ada.form(case_id), "steps": steps})
    assert answer.status_code in (409, 422)
    assert JOURNAL.read_bytes() == before


def test_an_oversized_body_is_refused_however_it_comes(visit: Any, caplog: Any) -> None:
    ada = visit("ada")["ada"]
    before = JOURNAL.read_bytes()
    case_id = ids()[0]
    form = {**ada.form(case_id), "decision": "a", "rationale": "x" * MOST_BYTES}
    caplog.set_level(logging.INFO, "deepfact.web")
    assert ada.post(f"/case/{case_id}/decide", form).status_code == 413
    headers = {"origin": HERE, "content-type": "application/x-www-form-urlencoded"}
    chunks = (b"a" * 65536 for _ in range(6))  # no length is announced
    path = f"/case/{case_id}/decide"
    assert ada.client.post(path, content=chunks, headers=headers).status_code == 413
    many = "&".join(f"a{n}=1" for n in range(300))
    assert ada.client.post(path, content=many, headers=headers).status_code == 400
    assert ada.client.post(path, content=b"a=%ff", headers=headers).status_code == 400
    assert JOURNAL.read_bytes() == before
    assert caplog.text.count("refused") == 4


@pytest.mark.parametrize(
    "path",
    [
        "/static/../links.json",
        "/static/..%2f..%2flinks.json",
        "/static/%2e%2e/%2e%2e/spec.json",
        "/static//etc/passwd",
        "/static/app.py",
        "/case/..%2f..%2fspec.json",
        "/case/%00",
        "/links.json",
        "/journal.jsonl",
        "/enter/",
        "/next/",
        "/case/" + "a" * 5000,
    ],
)
def test_a_path_trick_finds_nothing(visit: Any, path: str) -> None:
    ada = visit("ada")["ada"]
    answer = ada.get(path)
    assert answer.status_code == 404
    assert "sha256" not in answer.text and "root:" not in answer.text


def test_next_goes_nowhere_else(visit: Any) -> None:
    ada = visit("ada")["ada"]
    for trick in ("//evil.example", "https://evil.example", "\r\nset-cookie: a=b"):
        answer = ada.get("/next", params={"after": trick, "kept": trick})
        assert answer.headers["location"] == f"/case/{ids()[0]}"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(visit: Any, method: str) -> None:
    ada = visit("ada")["ada"]
    assert ada.client.request(method, "/").status_code == 405


def test_every_answer_carries_the_policy(visit: Any, monkeypatch: Any) -> None:
    ada = visit("ada")["ada"]
    paths = [
        "/",
        "/nothing",
        f"/case/{ids()[0]}",
        "/static/audit.js",
        "/static/report.css",
        "/next",
    ]
    answers = [ada.get(path) for path in paths]
    monkeypatch.setattr(web, "case_view", lambda *_: 1 / 0)
    broken = Visitor.__new__(Visitor)
    broken.client = TestClient(
        ada.client.app, base_url=HERE, cookies=ada.client.cookies, raise_server_exceptions=False
    )
    answers.append(broken.get(f"/case/{ids()[0]}"))
    assert [answer.status_code for answer in answers] == [200, 404, 200, 200, 200, 303, 500]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
    assert answers[0].headers["cache-control"] == "no-store"
    assert "ZeroDivision" not in answers[-1].text


def test_no_page_has_anything_inline_or_from_elsewhere(visit: Any) -> None:
    ada = visit("ada")["ada"]
    for path in ("/", *(f"/case/{case_id}" for case_id in ids())):
        text = ada.get(path).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src=\"/)", text)
        assert set(re.findall(r'(?:src|<link[^>]*href)="([^"]*)"', text)) <= {
            "/static/icon.svg", "/static/report.css", "/static/audit.css", "/static/audit.js",
        }  # fmt: skip
