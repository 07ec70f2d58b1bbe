"""The further question of a transfer run: on the page, in the terminal, in files, of agents."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from deepfact.auditors import read_auditors
from deepfact.core.transfer import ANSWERS, QUESTION
from deepfact.exchange import export_cases, import_decisions
from deepfact.exchange_formats import ANSWER, KIND, Format
from deepfact.records import Adjudication, DivergenceKind
from deepfact.run_records import Adjudicated
from deepfact.store.journal import read_events
from deepfact.transfer import run_transfer
from deepfact.transfer_records import TransferRecord, TransferSpec
from deepfact.web.app import build_app
from deepfact.web.links import make_links

RUN = Path("run")


@pytest.fixture
def pending(desk: Path) -> TransferRecord:
    spec = TransferSpec.model_validate({
        "name": "trial", "verifiers": [{"kind": "quoting"}], "auditors": ["person"],
        "data_sets": [{"name": "mini", "benchmark": "small@1", "sample": 10}],
        "date": "2026-01-05T00:00:00Z",
    })  # fmt: skip
    return run_transfer(spec, RUN, auditors=read_auditors(["person"], Path("auditors")))


def made() -> list[Adjudication]:
    events = read_events(RUN / "journal.jsonl")
    return [event.adjudication for event in events if isinstance(event, Adjudicated)]


def test_the_terminal_asks_and_keeps(pending: TransferRecord, deepfact: Callable[..., Any]) -> None:
    said = ["a", "7", "x", "3", "it stands there", "b", "5", "no source says so", "a", "q"]
    done = deepfact("audit", "review", "run", said="\n".join(said) + "\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(QUESTION) == 3 and "'7' is none of 1 to 5" in done.stdout
    assert all(words in done.stdout for words in ANSWERS.values())
    assert [m.divergence for m in made()] == [DivergenceKind.SUBJECTIVE, None]


def test_the_page_asks_refuses_silence_and_shows_what_was_said(pending: TransferRecord) -> None:
    secret = make_links(RUN, ["person"])["person"]
    app = build_app(RUN, hosts=["testserver"])
    case = pending.cases[0].id
    client = TestClient(app, base_url="http://testserver")
    client.get(f"/enter/{secret}")
    page = client.get(f"/case/{case}").text
    assert QUESTION in page and all(f'value="{name}"' in page for name in ANSWERS)
    token, steps = (
        re.search(rf'name="{field}" value="([^"]*)"', page)[1]  # type: ignore[index]
        for field in ("token", "steps")
    )
    form = {"token": token, "steps": steps, "decision": "a", "rationale": "it stands there"}
    headers = {"origin": "http://testserver"}
    refused = client.post(f"/case/{case}/decide", data=form, headers=headers)
    assert refused.status_code == 422 and "Choose what is the matter" in refused.text
    assert not made()
    kept = client.post(
        f"/case/{case}/decide", data={**form, "divergence": "no_rationale"}, headers=headers
    )
    assert kept.status_code == 200
    assert made()[0].divergence is DivergenceKind.NO_RATIONALE
    assert ANSWERS["no_rationale"] in client.get(f"/case/{case}").text


def test_files_ask_and_say_what_is_missing(pending: TransferRecord) -> None:
    out = Path("cases.csv")
    export_cases(RUN, out, Format.CSV)
    with out.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-6:] == [*ANSWER, KIND]
    for row, kind in zip(rows, ["Subjective", "the claim is not verifiable, or ambiguous.", "",
                                "odd", "none"], strict=False):  # fmt: skip
        row |= {"decision": "a", "rationale": "it stands there", KIND: kind}
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = import_decisions(RUN, out, Format.CSV)
    assert done.kept == 3 and [p.what for p in done.problems] == [
        "there is no divergence", f"'odd' is no answer to: {QUESTION}",
    ]  # fmt: skip
    kinds = [m.divergence for m in made()]
    assert kinds == [DivergenceKind.SUBJECTIVE, DivergenceKind.NOT_VERIFIABLE, None]


def test_label_studio_and_json_ask_too(pending: TransferRecord) -> None:
    export_cases(RUN, Path("ls.json"), Format.LABEL_STUDIO)
    interface = Path("ls.interface.xml").read_text("utf-8")
    assert all(f'value="{name}"' in interface for name in (*ANSWERS, QUESTION))
    import xml.etree.ElementTree as ET

    ET.fromstring(interface)
    export_cases(RUN, Path("cases.jsonl"), Format.JSONL)
    assert KIND in json.loads(Path("cases.jsonl").read_text("utf-8").splitlines()[0])


def test_an_agent_gives_a_kind_with_the_prompt_that_asks(desk: Path) -> None:
    answer = {
        "queries": [], "rationale": "The source says so.", "contradiction": None, "evidence": [],
        "label": None, "decision": "cannot_tell", "divergence": "subjective",
    }  # fmt: skip
    spec = TransferSpec.model_validate({
        "name": "trial", "verifiers": [{"kind": "majority", "options": {"label": "contradictory"}}],
        "auditors": ["script"],
        "data_sets": [{"name": "mini", "benchmark": "small@1", "sample": 6}],
    })  # fmt: skip
    from deepfact.store.locate import load_version
    from deepfact.verifiers.panel.verifier import ask_id

    rules = []
    for claim in load_version("small@1").claims:
        own = claim.model_copy(update={"id": f"mini:{claim.id}"})
        said = {"claim_id": ask_id(own), "claim": claim.text, **answer}
        rules.append({"when": f"has the id {said['claim_id']}.", "say": json.dumps(said)})
    Path("script.jsonl").write_text("\n".join(map(json.dumps, rules)) + "\n", "utf-8")
    options = "{provider: {kind: scripted, options: {path: script.jsonl}}, model: s, votes: 1, "
    for prompt, found in (("auditor/transfer", DivergenceKind.SUBJECTIVE), ("auditor/judge", None)):
        text = f"name: script\nkind: agent\noptions: {options}prompt: {prompt}}}\n"
        Path("auditors/script.yaml").write_text(text, "utf-8")
        record = run_transfer(
            spec, Path(prompt.replace("/", "-")),
            auditors=read_auditors(["script"], Path("auditors")),
        )  # fmt: skip
        assert record.findings and {one.kind for one in record.findings} == {found}
