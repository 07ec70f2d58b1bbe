"""What a plan says is an upper bound of what a run does; arms of an A/B may be grouped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from document_kit import CLAIMS, SOURCES, TABLE
from document_steps import StepJudge
from rule_following import passages_of

from deepfact.plan import Stored, plan_arms
from deepfact.run_records import VerifierSpec
from deepfact.running.arms import AnswersMissing, Arm, build_arms, run_arms
from deepfact.running.claim_set import ClaimSet
from deepfact.store.responses import ResponseStore
from deepfact.verifiers.base import Context
from deepfact.verifiers.document import GroupedVerifier

KINDS = ["document", "grouped", "safe", "veriscore", "factcheck-gpt"]


def claim_set(claims: Any = CLAIMS, sources: Any = SOURCES) -> ClaimSet:
    return ClaimSet(
        name="mills", state_hash="sha256:" + "0" * 64, claims=tuple(claims), labels={},
        qualified=frozenset(), sources=sources, labels_from="nowhere",
    )  # fmt: skip


def spec(kind: str, **options: Any) -> VerifierSpec:
    provider = {"kind": "scripted", "options": {"answer": "unused"}}
    return VerifierSpec(kind=kind, options={"provider": provider, "model": "m", **options})


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_never_takes_more_calls_than_planned(kind: str) -> None:
    arms = build_arms({kind: spec(kind)})
    planned = plan_arms("p", arms, claim_set(), Stored()).arms[0]
    assert planned.at_most
    assert planned.answered == 0
    judge = StepJudge(TABLE)
    from document_kit import ask

    verifier = arms[0].prompted
    verifier.use(judge)
    ask(verifier)
    assert 0 < judge.calls <= planned.calls


def test_a_plan_of_groups_is_smaller_and_says_what_it_assumes() -> None:
    arms = build_arms({kind: spec(kind) for kind in ("document", "grouped")})
    plan = plan_arms("p", arms, claim_set(), Stored())
    one, other = plan.arms
    assert other.calls < 0.5 * one.calls
    assert any("work in steps" in words for words in plan.notes)


def test_first_requests_that_are_stored_are_not_counted_as_calls(tmp_path: Path) -> None:
    from deepfact.model_records import Completion

    arm = build_arms({"document": spec("document")})[0]
    claims = claim_set()
    before = plan_arms("p", [arm], claims, Stored()).arms[0]
    with ResponseStore(tmp_path / "r.sqlite") as store:
        for one in CLAIMS:
            for request, vote in arm.prompted.requests(one, claims.context):
                store.put(request, vote, Completion(text="{}", output_tokens=1))
    after = plan_arms("p", [arm], claims, Stored.of([tmp_path / "r.sqlite"], [])).arms[0]
    assert (after.answered, after.calls) == (len(CLAIMS), before.calls - len(CLAIMS))


def arms_of(judge: StepJudge, monkeypatch: pytest.MonkeyPatch) -> list[Arm]:
    from deepfact.providers.scripted import ScriptedProvider

    monkeypatch.setattr(ScriptedProvider, "complete", lambda self, request: judge.complete(request))
    return build_arms({"document": spec("document"), "grouped": spec("grouped", size=3)})


def test_grouped_and_ungrouped_arms_of_an_ab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = StepJudge(TABLE)
    arms = arms_of(judge, monkeypatch)
    kept: list[tuple[str, str]] = []
    with ResponseStore(tmp_path / "r.sqlite") as store:
        found = run_arms(
            arms, claim_set(), responses=store,
            keep=lambda arm, repeat, outcome, seconds: kept.append((arm, outcome.claim_id)),
        )  # fmt: skip
    ids = {one.id for one in CLAIMS}
    assert set(found["document", 0]) == set(found["grouped", 0]) == ids
    assert sorted(kept) == sorted((arm, name) for arm in ("document", "grouped") for name in ids)
    assert {one.verifier for one in found["grouped", 0].values()} == {"grouped"}
    by_label = [
        {name: one.label for name, one in found[arm, 0].items()} for arm in ("document", "grouped")
    ]
    assert by_label[0] == by_label[1]


def test_an_ab_that_goes_on_asks_about_the_same_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some outcomes of a group are known: what is asked is stored, and nothing is paid again."""
    judge = StepJudge(TABLE)
    arms = arms_of(judge, monkeypatch)[1:]
    with ResponseStore(tmp_path / "r.sqlite") as store:
        whole = run_arms(arms, claim_set(), responses=store)
        paid = judge.calls
        some = {("grouped", 0): {"m-2": whole["grouped", 0]["m-2"]}}
        again = run_arms(arms, claim_set(), responses=store, known=some)
        replayed = run_arms(arms, claim_set(), responses=store, known=some, replay=True)
    assert judge.calls == paid
    assert again == whole == replayed


def test_a_replay_that_lacks_answers_says_how_many_claims_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = arms_of(StepJudge(TABLE), monkeypatch)[1:]
    with ResponseStore(tmp_path / "r.sqlite") as store, pytest.raises(AnswersMissing) as caught:
        run_arms(arms, claim_set(), responses=store, replay=True)
    assert caught.value.claims == len(CLAIMS)


def test_a_round_that_goes_on_asks_about_the_same_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from types import SimpleNamespace

    from deepfact import round as rounds

    asked: list[list[str]] = []
    judge = StepJudge(TABLE)

    class Recording(GroupedVerifier):
        async def verify_group(self, claims: Any, context: Any) -> Any:
            asked.append([one.id for one in claims])
            return await super().verify_group(claims, context)

    verifier = Recording("m", engine=judge, size=3)
    monkeypatch.setattr(rounds, "build_verifier", lambda *_, **__: verifier)
    known = {one.id: object() for one in (CLAIMS[0], *CLAIMS[3:])}
    run = SimpleNamespace(
        outcomes={"grouped": known}, watch=lambda _: None, context=Context(SOURCES),
        journal=SimpleNamespace(folder=None, append=lambda _: None),
    )  # fmt: skip
    found = rounds._ask(run, spec("grouped"), SimpleNamespace(claims=CLAIMS), None)
    assert list(found) == [one.id for one in CLAIMS]
    wanted = [
        group for group in verifier.groups(CLAIMS) if CLAIMS[1] in group or CLAIMS[2] in group
    ]
    assert sorted(asked) == sorted([one.id for one in group] for group in wanted)
    assert sum(map(len, asked)) > 2  # with claims that are known already


def test_traces_make_no_difference_between_arms(tmp_path: Path) -> None:
    from deepfact.errors import ConfigError

    with pytest.raises(ConfigError, match="differs in nothing"):
        build_arms({"a": spec("document"), "b": spec("document", traces=str(tmp_path / "t"))})


# --- from the command line ---------------------------------------------------------------


@pytest.fixture
def scripted(desk: Path, tmp_path: Path) -> Path:
    """A verifier's file whose answers are those of a script: the judge's, for two claims."""
    import asyncio

    from deepfact.store.locate import load_version
    from deepfact.verifiers.document import DocumentVerifier

    version = load_version("small")
    judge = StepJudge(passages_of(version.claims, version.store.key("author")))
    rules: list[str] = []

    class Recorder(StepJudge):
        async def complete(self, request: Any) -> Any:
            done = await judge.complete(request)
            rules.append(json.dumps({"when": request.messages[0].content, "say": done.text}))
            return done

    async def record() -> None:
        verifier = DocumentVerifier("m", engine=Recorder([]))
        for one in version.claims[:2]:
            await verifier.verify(one, Context(version.sources))

    asyncio.run(record())
    Path("script.jsonl").write_text("\n".join(rules) + "\n", "utf-8")
    file = Path("document.yaml")
    file.write_text(
        "kind: document\nname: read it all\noptions:\n  model: m\n"
        "  provider: {kind: scripted, options: {path: script.jsonl}}\n",
        "utf-8",
    )
    return file


def test_verify_writes_verdicts_traces_and_reports(scripted: Path, deepfact: Any) -> None:
    done = deepfact(
        "verify", "small", "--verifier", scripted, "--limit", 2, "--out", "run/v.jsonl",
        "--report", "run/report.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 claims of small@1, 0 without a verdict" in done.stdout
    page = Path("run/report.html").read_text("utf-8")
    for words in ("Plan", "Searches", "Documents", "Evidence and verdict", "document/read"):
        assert words in page
    assert len(Path("run/traces.jsonl").read_text("utf-8").splitlines()) == 2
    again = deepfact(
        "verify", "small", "--verifier", scripted, "--limit", 2, "--out", "run/w.jsonl",
        "--report", "run/report.md", "--against", "run/v.jsonl", "--json",
    )  # fmt: skip
    assert json.loads(again.stdout)["report"] == "run/report.md"
    text = Path("run/report.md").read_text("utf-8")
    assert "| the first to the second | | × 1.00 |" in text
    assert Path("run/w.jsonl").read_bytes() == Path("run/v.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--report", "r.pdf"], "a report is .html or .md, not .pdf"),
        (["--report", "v.md", "--out", "v.md"], "a report needs a file of its own"),
        (["--against", "x.jsonl"], "--against goes with --report"),
        (["--report", "r.md", "--against", "none.jsonl"], "no such file"),
        (["--report", "r.md", "--against", "script.jsonl"], "script.jsonl, line 1"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_asked(
    scripted: Path, deepfact: Any, words: list[str], told: str
) -> None:
    out = [] if "--out" in words else ["--out", "v.jsonl"]
    done = deepfact("verify", "small", "--verifier", scripted, "--limit", 1, *out, *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("responses.sqlite").exists()


def test_plan_of_a_verifiers_file(scripted: Path, deepfact: Any) -> None:
    done = deepfact("plan", scripted, "--benchmark", "small", "--limit", 2, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["claims"], found["arms"][0]["at_most"]) == (2, True)
    for words, told in (([], "say what it would verify"),):
        bad = deepfact("plan", scripted, *words)
        assert (bad.returncode, told in bad.stderr) == (2, True)
