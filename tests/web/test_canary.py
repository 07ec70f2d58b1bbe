"""A canary in every field of the micro-gold key, and a round that is open: nothing that anybody
sees, asks or exports meanwhile holds it, or tells micro-gold from other claims."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from deepfact import api
from deepfact.cli.app import whole
from deepfact.core.audit import open_docket
from deepfact.errors import BenchmarkError
from deepfact.exchange import export_cases
from deepfact.exchange_formats import Format
from deepfact.importers.base import Imported
from deepfact.microgold.adding import add, plan_addition
from deepfact.microgold.drafts import draft, supported_origins
from deepfact.providers.scripted import ScriptedProvider
from deepfact.records import KeyEntry, Qualification, QualificationKind
from deepfact.review import open_desk
from deepfact.round import resume, run_rounds
from deepfact.run_records import AuditorSpec, CaseOpened, ControlSpec, RoundSpec, VerifierSpec
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import jsonl, read_jsonl, write_text
from deepfact.store.journal import read_events
from deepfact.web.app import build_app
from deepfact.web.links import make_links

RUN = Path("results/run")
KEY = Path("benchmarks/small/keys/microgold.jsonl")
CANARY = "KANARIENVOGEL"
DAY = datetime(2026, 1, 5, tzinfo=UTC)
SCRIPTED = {"kind": "scripted", "options": {"answer": "no answer in due form"}}
TELLING = ("microgold", "micro-gold", "control", "incumbent", "challenger", "quoting", "withdrawn")


def planted(entry: KeyEntry) -> KeyEntry:
    """The entry with the canary in every field that can hold a text."""
    quotes = tuple(quote.model_copy(update={"quote": CANARY}) for quote in entry.evidence)
    edit = entry.edit and entry.edit.model_copy(
        update={"before": CANARY, "after": CANARY, "original": CANARY}
    )
    return entry.model_copy(
        update={
            "rationale": f"{CANARY} {entry.claim_id}", "stratum": CANARY, "needs": (CANARY,),
            "disputed": CANARY, "evidence": quotes, "edit": edit,
            "qualifications": (Qualification(kind=QualificationKind.OTHER, text=CANARY),),
        }
    )  # fmt: skip


@pytest.fixture
def gold(desk: Path) -> set[str]:
    """`small@2` with chosen, edited and cover claims, and the canary in its key."""
    store = BenchmarkStore(desk / "benchmarks/small")
    version = store.load()
    origins = supported_origins(version)
    drafts = draft(origins, version.sources, supported=3, unsupported=6, seed=4).drafts
    assert len(drafts) == 9
    some = [entry for entry in version.state if entry.claim.id not in store.key("microgold")][:5]
    renamed = (entry.claim.model_copy(update={"id": f"{entry.claim.id}9"}) for entry in some)
    pairs = [(claim, entry.annotation) for claim, entry in zip(renamed, some, strict=True)]
    cover = Imported(claims=pairs)
    addition = plan_addition(
        version, drafts, origins, version.sources, author="annotator-1", when=DAY, cover=cover
    )
    after = add(store, version, addition, author="annotator-1", when=DAY)
    assert after.manifest.version == 2
    known = list(read_jsonl(KEY, KeyEntry))
    assert sum(entry.edit is not None for entry in known) == 6
    write_text(KEY, jsonl(planted(entry).canonical() for entry in known))
    assert KEY.read_text("utf-8").count(CANARY) > 4 * len(known)
    return {entry.claim_id for entry in known}


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that a scripted model is asked, as text."""
    asked: list[str] = []
    complete = ScriptedProvider.complete

    async def listening(self: ScriptedProvider, request: Any) -> Any:
        asked.append(request.model_dump_json())
        return await complete(self, request)

    monkeypatch.setattr(ScriptedProvider, "complete", listening)
    return asked


@pytest.fixture
def opened(gold: set[str], requests: list[str]) -> None:
    """A round that an agent has decided in and that waits for a person."""
    spec = RoundSpec(
        name="run", benchmark="small@2", challenger=VerifierSpec(kind="quoting"),
        auditors=("ada", "judge"), policy={"rule": "majority"}, commit_to="run", date=DAY,
        controls=ControlSpec(agreed=0.5, microgold=0.5),
    )  # fmt: skip
    agent = {"model": "m", "provider": SCRIPTED, "votes": 1}
    auditors = (
        AuditorSpec(name="ada", kind="human"),
        AuditorSpec(name="judge", kind="agent", options=agent),
    )
    # In a thread: where browser tests ran before, this one has an event loop already.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(run_rounds, spec, RUN, auditors=auditors).result().waiting


def cases() -> list[CaseOpened]:
    return [event for event in read_events(RUN / "journal.jsonl") if isinstance(event, CaseOpened)]


def commands() -> Iterator[list[str]]:
    """What can be asked of an open round and its benchmark on the command line."""
    claims = [event.case.claim.id for event in cases()][:4]
    yield from (["round", what, str(RUN)] for what in ("status", "report", "resume"))
    yield ["audit", "stats", str(RUN)]
    yield ["audit", "stats", str(RUN), "--json"]
    yield ["bench", "show", "small@2", "--limit", "200"]
    yield ["bench", "show", "small@2", "--json", "--limit", "200"]
    yield from (["bench", "show", "small@2", claim, "--json"] for claim in claims)
    yield from (["bench", "blame", "small@2", claim] for claim in claims)
    yield ["bench", "log", "small", "--json"]
    yield ["bench", "diff", "small@1", "small@2", "--json"]
    yield ["bench", "verify", "small"]
    yield ["bench", "export", "small@2", "--to", "claims.jsonl", "--sources", "sources.jsonl"]
    yield ["bench", "export", "small@2", "--to", "claims.csv"]
    yield ["microgold", "list", "small", "--counts"]
    yield ["microgold", "score", "small", "--results", "results"]
    yield ["microgold", "score", "small", "--results", "results", "--json"]


# --- the canary -----------------------------------------------------------------------------


def test_nothing_on_the_command_line_holds_the_key(opened: None) -> None:
    for words in commands():
        done = CliRunner().invoke(whole(), words)
        assert CANARY not in done.output + str(done.exception), words
        assert done.output or done.exception, words
    shown = CliRunner().invoke(whole(), ["microgold", "list", "small"])
    assert CANARY in shown.output, "the one command that shows answers, so the canary can be seen"
    for path in Path().glob("*.*"):
        assert CANARY.encode() not in path.read_bytes(), path


def test_no_file_of_the_run_holds_the_key(opened: None) -> None:
    CliRunner().invoke(whole(), ["round", "report", str(RUN)])
    files = [path for path in RUN.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"journal.jsonl", "record.json", "report.html", "report.md"} <= names
    assert any(name.startswith("responses") for name in names)
    for path in files:
        assert CANARY.encode() not in path.read_bytes(), path
        assert "keys" not in path.parts, path


def test_no_prompt_holds_the_key(opened: None, requests: list[str], gold: set[str]) -> None:
    audited = len(requests)
    assert audited >= len(cases()) > 20
    version = api.load("small@2")
    panel = VerifierSpec(
        kind="panel", options={"model": "m", "provider": SCRIPTED, "votes": 1, "rule": "single"}
    )
    api.verify(version, panel, workspace="panel")
    assert len(requests) >= audited + len(version.claims)
    for text in requests:
        assert CANARY not in text
        low = text.lower()
        for word in (*TELLING, *gold):
            assert word.lower() not in low, word


def test_no_page_and_no_export_holds_the_key(opened: None, gold: set[str]) -> None:
    secret = make_links(RUN, ["ada"])["ada"]
    client = TestClient(build_app(RUN, hosts=["127.0.0.1"]), base_url="http://127.0.0.1:8765")
    mine = [case.id for case in open_desk(RUN, "ada").cases]
    paths = [f"/enter/{secret}", "/", "/next", "/nowhere", *(f"/case/{one}" for one in mine)]
    texts = [client.get(path).text for path in paths]
    posted = client.post(f"/case/{mine[0]}/decide", data={}, headers={"origin": "http://x.example"})
    texts.append(posted.text)
    for kind in Format:
        for path in export_cases(RUN, Path(f"out-{kind}"), kind, auditor="ada").files:
            texts.append(Path(path).read_text("utf-8-sig"))
    assert len(texts) > 25 and any("KANARIEN" not in text and "claim" in text for text in texts)
    for text in texts:
        low = text.lower().replace("aria-controls", "").replace("cache-control", "")
        for word in (CANARY, *TELLING, *gold):
            assert word.lower() not in low, word


# --- what tells them apart ------------------------------------------------------------------


def shape(value: Any) -> Any:
    """Which fields a record has, whatever they say."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return type(value).__name__ if not isinstance(value, list) else "list"


def test_cases_are_numbered_and_ordered_without_the_key(opened: None, gold: set[str]) -> None:
    opened_cases = cases()
    assert [event.case.id for event in opened_cases] == [
        f"r1-{number:04d}" for number in range(1, len(opened_cases) + 1)
    ]
    version = api.load("small@2")
    outcomes = {one.claim_id: one for one in api.verify(version, VerifierSpec(kind="quoting"))}
    same = ControlSpec(agreed=0.5, microgold=0.5)

    def docket(micro: set[str]) -> Any:
        return open_docket(
            list(version.state), outcomes, version.sources, challenger="quoting", round_number=1,
            controls=same, microgold=micro,
        )  # fmt: skip

    assert docket(gold) == docket(set())
    assert docket(gold).cases == tuple(event.case for event in opened_cases)
    assert {event.case.claim.id for event in opened_cases} & gold


def test_new_claims_look_alike_in_the_benchmark(opened: None, gold: set[str]) -> None:
    version = api.load("small@2")
    added = [r for r in version.store.revisions(2) if r.kind == "add"]
    hidden = [revision for revision in added if revision.claim_id in gold]
    others = [revision for revision in added if revision.claim_id not in gold]
    assert len(hidden) == 6 and len(others) == 5
    told = {revision.claim_id in gold for revision in added[:5]}
    assert told == {True, False}, "the order gives them away"
    for field in ("who", "when", "why", "run", "case"):
        assert len({getattr(revision, field) for revision in added}) == 1, field
    shapes = [
        {json.dumps(shape(revision.claim.model_dump(mode="json"))) for revision in group}
        for group in (hidden, others)
    ]
    assert shapes[0] == shapes[1]
    assert {r.annotation.label for r in hidden} == {"supported"}
    assert {r.annotation.provenance.who for r in hidden} == {"annotator-1"}
    for revision in hidden:
        claim = revision.claim
        report = version.sources[claim.origin.document].text
        assert report[claim.origin.span.start : claim.origin.span.end] == claim.text


def test_a_key_that_changes_under_an_open_round_is_refused(gold: set[str]) -> None:
    spec = RoundSpec(
        name="run", benchmark="small@2", challenger=VerifierSpec(kind="quoting"),
        auditors=("ada",), commit_to="run", date=DAY, controls=ControlSpec(agreed=0, microgold=1),
    )  # fmt: skip
    run_rounds(spec, RUN, auditors=(AuditorSpec(name="ada", kind="human"),))
    known = list(read_jsonl(KEY, KeyEntry))
    before = (RUN / "journal.jsonl").read_bytes()
    write_text(KEY, jsonl(entry.canonical() for entry in known[:2]))
    with pytest.raises(BenchmarkError, match="other cases now") as caught:
        resume(RUN)
    assert "put it back" in str(caught.value) and CANARY not in str(caught.value)
    assert (RUN / "journal.jsonl").read_bytes() == before
    write_text(KEY, jsonl(entry.canonical() for entry in known))
    assert resume(RUN).waiting
