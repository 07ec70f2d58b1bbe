"""The A/B loop, run as a user runs it: on the shipped benchmark, killed, replayed, pending,
failing, without labels, and on input that does not fit."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from deepfact.errors import ConfigError, InputError, IntegrityError, ResultsExistError
from deepfact.experiment import RESPONSES, read_experiment, run_experiment
from deepfact.experiment_records import AbRecord, AbSpec, ArmRecord, ClaimsSpec, LabelsFrom
from deepfact.providers.base import ProviderRefused
from deepfact.providers.messages import custom_id
from deepfact.records import Outcome, PanelOutcome
from deepfact.run_records import ArmAnswered, VerifierSpec
from deepfact.running.arms import AnswersMissing, build_arms, run_arms, schedule
from deepfact.running.claim_set import load_claims
from deepfact.store.files import jsonl, write_text
from deepfact.store.journal import Journal, read_events
from deepfact.store.responses import ResponseStore
from deepfact.store.specs import read_yaml

HOME = Path(__file__).parent.parent
JUDGES = Path(__file__).parent / "judges"
FOUNDING = "configs/ab-founding.yaml"


@pytest.fixture
def stand_in(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The desk, with the rule-following stand-in installed as provider ``stand-in``."""
    site = desk / "site"
    info = site / "stand_in-1.0.dist-info"
    info.mkdir(parents=True)
    for name in ("rule_following.py", "stand_in_provider.py"):
        shutil.copy(JUDGES / name, site / name)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stand-in\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[deepfact.providers]\nstand-in = stand_in_provider:StandInProvider\n"
    )
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ["PYTHONPATH"]]))
    return desk


def spec(limit: int = 12, provider: dict[str, Any] | None = None, **changes: Any) -> AbSpec:
    """Bundled against split on the first claims of ``small``."""
    options = {"benchmark": "small@1", **(provider or {})}
    base = {
        "name": "trial",
        "benchmark": "small@1",
        "key": "author",
        "select": {"limit": limit},
        "verifier": {
            "kind": "panel",
            "options": {
                "provider": {"kind": "stand-in", "options": options},
                "model": "stand-in",
                "limits": {"attempts": 1},
            },
        },
        "arms": [
            {"name": "bundled", "options": {"prompt": "verifier/bundled/v1"}},
            {"name": "split", "options": {"prompt": "verifier/split/v1"}},
        ],
    }
    return AbSpec.model_validate({**base, **changes})


def run(what: AbSpec, folder: str = "run", **options: Any) -> AbRecord:
    return run_experiment(what, Path(folder), **options)


def counts(arm: ArmRecord) -> tuple[int, int, int]:
    rates = arm.rates[0]
    assert rates.confirmed.k + rates.refuted.k + rates.unverified.k == rates.n
    return rates.confirmed.k, rates.refuted.k, rates.unverified.k


def outcomes(arm: ArmRecord) -> dict[str, Outcome]:
    return {outcome.claim_id: outcome for outcome in arm.outcomes[0]}


# --- the founding case on the shipped benchmark ------------------------------------------


@pytest.fixture(scope="module")
def founding(tmp_path_factory: pytest.TempPathFactory) -> AbRecord:
    """The A/B that ships, replayed from the committed answers as a user would."""
    folder = tmp_path_factory.mktemp("founding") / "run"
    before = Path.cwd()
    os.chdir(HOME)
    try:
        return run_experiment(read_yaml(Path(FOUNDING), AbSpec), folder)
    finally:
        os.chdir(before)


def test_the_founding_pair_by_name(founding: AbRecord) -> None:
    """FIELD: anthropics/claude-code #83325. fin-1-01 gives the GAAP and the non-GAAP figure,
    fin-1-02 the GAAP figure alone; both are right, and the first carries a caveat."""
    bundled, split = map(outcomes, founding.arms)
    assert bundled["fin-1-01"].panel is PanelOutcome.REFUTED
    assert sum(vote.refutes for vote in bundled["fin-1-01"].votes) == 3
    assert bundled["fin-1-02"].panel is PanelOutcome.CONFIRMED
    assert split["fin-1-01"].panel is PanelOutcome.CONFIRMED
    assert split["fin-1-02"].panel is PanelOutcome.CONFIRMED
    assert [one.kind for one in split["fin-1-01"].qualifications] == ["method_change"]
    assert split["fin-1-02"].qualifications == ()


def test_bundled_loses_accurate_qualified_claims_and_split_keeps_them(founding: AbRecord) -> None:
    qualified = [one.claim.id for one in founding.claims if one.qualified]
    assert len(qualified) == 48
    bundled, split = map(outcomes, founding.arms)
    for name in qualified:
        assert bundled[name].panel is PanelOutcome.REFUTED, name
        assert split[name].panel is PanelOutcome.CONFIRMED, name
        assert split[name].qualifications, name


def test_contradictory_claims_stay_refuted_in_both(founding: AbRecord) -> None:
    contradictory = [one.claim.id for one in founding.claims if one.label == "contradictory"]
    assert len(contradictory) == 78
    for arm in founding.arms:
        found = outcomes(arm)
        assert {found[name].panel for name in contradictory} == {PanelOutcome.REFUTED}
    loosening = founding.comparisons[0].difference("contradictory")
    assert (loosening.n, loosening.only_other, loosening.gained.k) == (78, 0, 0)
    assert founding.passed
    assert founding.gates


def test_every_flip_goes_one_way_and_is_a_qualified_claim(founding: AbRecord) -> None:
    flips = founding.comparisons[0].flips
    assert {(flip.first, flip.other) for flip in flips} == {("refuted", "confirmed")}
    assert all(flip.qualified for flip in flips)


def test_the_committed_answers_are_those_of_the_stand_in_today(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The replay above found an answer under every key; here some are given again."""
    monkeypatch.syspath_prepend(str(JUDGES))
    from rule_following import RuleFollowingJudge, passages_of

    from deepfact.store.locate import open_benchmark
    from deepfact.store.response_exports import ExportedResponse

    monkeypatch.chdir(HOME)
    founding_spec = read_yaml(Path(FOUNDING), AbSpec)
    stored = {}
    for line in Path(founding_spec.responses[0]).read_text(encoding="utf-8").splitlines():
        one = ExportedResponse.model_validate_json(line)
        stored[one.key] = one.completion.text
    claims = load_claims(founding_spec)
    key = open_benchmark("deepfact-mini").key("author")
    judge = RuleFollowingJudge(passages_of(claims.claims, key))
    for arm in build_arms(founding_spec.verifiers()):
        for claim in claims.claims[::30]:
            for request, vote in arm.prompted.requests(claim, claims.context):
                assert judge.answer(request) == stored[request.key(vote)], claim.id


# --- order, resume, replay ---------------------------------------------------------------


def test_arms_take_turns_in_time(stand_in: Path) -> None:
    """No arm is asked earlier than the other, so that a drift of the model cannot favour one."""
    run(spec(20, provider={"seconds": 0.002}))
    order = [e.arm for e in read_events(Path("run/journal.jsonl")) if isinstance(e, ArmAnswered)]
    assert len(order) == 40
    assert 5 <= order[:20].count("split") <= 15
    claims = load_claims(spec(20)).claims
    planned = list(schedule(claims, 2, seed=1))
    assert {claim.id for claim, _ in planned} == {claim.id for claim in claims}
    assert all(a[0] is b[0] for a, b in zip(planned[::2], planned[1::2], strict=True))
    assert {place for _, place in planned[::2]} == {0, 1}
    assert planned != list(schedule(claims, 2, seed=2))


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_killed_at_random_moments_it_ends_with_the_same_record(
    stand_in: Path, deepfact_command: str
) -> None:
    """Kill -9, again and again: the record is that of a run nobody disturbed, and no call more
    than what was in flight at each kill was made twice."""
    whole = spec(20, provider={"seconds": 0.03, "calls": "calls-undisturbed"})
    run(whole, "undisturbed")
    killed = spec(20, provider={"seconds": 0.03, "calls": "calls-killed"})
    write_text(
        Path("ab.yaml"), yaml.safe_dump(killed.model_dump(mode="json", exclude_defaults=True))
    )
    draw, kills, journal = random.Random(8), 0, Path("killed/journal.jsonl")
    command = [deepfact_command, "ab", "ab.yaml", "--out", "killed"]
    while kills < 3:
        start, more = _lines(journal), draw.randint(2, 9)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and _lines(journal) < start + more:
            time.sleep(0.002)
        if process.poll() is not None:
            break
        time.sleep(0.02 * draw.random())
        process.kill()
        process.wait()
        kills += 1
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert kills >= 2
    made = [Path(name).stat().st_size for name in ("calls-undisturbed", "calls-killed")]
    assert made[0] <= made[1] <= made[0] + 16 * 3 * kills
    disturbed, other = read_experiment(Path("killed")), read_experiment(Path("undisturbed"))
    assert disturbed.arms[0].outcomes == other.arms[0].outcomes
    assert disturbed.comparisons == other.comparisons
    answered = [
        (e.arm, e.outcome.claim_id)
        for e in read_events(Path("killed/journal.jsonl"))
        if isinstance(e, ArmAnswered)
    ]
    assert len(answered) == len(set(answered)) == 40


def test_a_second_run_calls_nobody_and_writes_the_same_record(stand_in: Path) -> None:
    what = spec(6, provider={"calls": "calls"})
    run(what)
    first, made = Path("run/record.json").read_bytes(), Path("calls").stat().st_size
    run(what)
    assert Path("run/record.json").read_bytes() == first
    assert Path("calls").stat().st_size == made


def test_replay_says_how_many_answers_are_missing_and_keeps_the_rest(stand_in: Path) -> None:
    what = spec(6)
    run(what, "first")
    with ResponseStore(Path("first") / RESPONSES) as store:
        keys = [row.key for row in store.rows()]
        store.delete(keys[:2])
    Path("second").mkdir()
    shutil.copy(Path("first") / RESPONSES, Path("second") / RESPONSES)
    with pytest.raises(AnswersMissing) as caught:
        run(what, "second", replay=True)
    assert caught.value.exit_code == 3
    assert caught.value.requests == 2
    assert "2 answers are missing" in str(caught.value)
    kept = [e for e in read_events(Path("second/journal.jsonl")) if isinstance(e, ArmAnswered)]
    assert len(kept) == 12 - caught.value.claims
    assert not Path("second/record.json").exists()
    run(what, "second")
    assert read_experiment(Path("second")).arms[0].outcomes == (
        read_experiment(Path("first")).arms[0].outcomes
    )


def test_batch_files_leave_it_pending_until_they_are_answered(stand_in: Path) -> None:
    what = spec(4)
    run(what, "live")
    with ResponseStore(Path("live") / RESPONSES) as store:
        answers = {custom_id(row.key): row.completion.text for row in store.rows()}
    batch = {"kind": "batch-files", "options": {"folder": "batch", "structured": True}}
    options = {**what.verifier.options, "provider": batch}
    offline = what.model_copy(update={"verifier": VerifierSpec(kind="panel", options=options)})
    with pytest.raises(AnswersMissing, match="pending") as caught:
        run(offline, "batched")
    requests = [json.loads(line) for line in Path("batch/requests.jsonl").read_text().splitlines()]
    assert len(requests) == caught.value.requests == 24
    lines = []
    for request in reversed(requests):  # any order, and only half of them at first
        text = answers[request["custom_id"]]
        message = {
            "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        result = {"type": "succeeded", "message": message}
        lines.append(json.dumps({"custom_id": request["custom_id"], "result": result}))
    write_text(Path("batch/results.jsonl"), jsonl(lines[:12]))
    with pytest.raises(AnswersMissing) as caught:
        run(offline, "batched")
    assert caught.value.requests == 12
    write_text(Path("batch/results-2.jsonl"), jsonl(lines[12:]))
    assert counts(run(offline, "batched").arms[1]) == counts(read_experiment(Path("live")).arms[1])


# --- failures ----------------------------------------------------------------------------


def test_when_all_calls_fail_everything_is_unverified_and_nothing_refuted(stand_in: Path) -> None:
    """FIELD: anthropics/claude-code #71870, #72383: abstention is not refutation."""
    record = run(spec(8, provider={"fail": 1.0}))
    assert [counts(arm) for arm in record.arms] == [(0, 0, 8), (0, 0, 8)]
    assert record.arms[0].abstentions == {"rate_limited": 24}
    assert record.comparisons[0].flips == ()
    assert record.comparisons[0].difference("all").unverified == 8


def test_retry_failed_asks_again_what_failed_and_nothing_else(stand_in: Path) -> None:
    failing = spec(6, provider={"fail": 1.0, "calls": "calls"})
    run(failing)
    before = Path("calls").stat().st_size
    run(failing)
    assert Path("calls").stat().st_size == before
    run(failing, retry_failed=True)
    assert Path("calls").stat().st_size == 2 * before
    good = spec(6, provider={"calls": "calls-good"})
    run(good, "good")
    before = Path("calls-good").stat().st_size
    run(good, "good", retry_failed=True)
    assert Path("calls-good").stat().st_size == before


def test_a_provider_that_refuses_stops_the_run_at_once(stand_in: Path) -> None:
    with pytest.raises(ProviderRefused, match="no model 'stand-in'"):
        run(spec(30, provider={"refuse": True, "calls": "calls", "seconds": 0.01}))
    assert Path("calls").stat().st_size <= 16


def test_a_budget_in_calls_leaves_it_incomplete_and_resumable(stand_in: Path) -> None:
    what = spec(6, provider={"calls": "calls"})
    options = {**what.verifier.options, "budget": {"calls": 10}}
    small = what.model_copy(update={"verifier": VerifierSpec(kind="panel", options=options)})
    with pytest.raises(AnswersMissing, match="budget of 10 calls is spent"):
        run(small)
    assert Path("calls").stat().st_size == 10
    with pytest.raises(AnswersMissing):  # answered ones are not paid for twice
        run(small)
    assert Path("calls").stat().st_size == 20


# --- repeats, plain verifiers, files -----------------------------------------------------


def test_repeats_have_answers_of_their_own(stand_in: Path) -> None:
    what = spec(10, provider={"noise": 0.4, "calls": "calls"}, repeat=3)
    record = run(what)
    assert Path("calls").stat().st_size == 10 * 2 * 3 * 3
    noisy, steady = record.arms
    assert len(noisy.outcomes) == len(noisy.spread.confirmed) == 3
    assert noisy.spread.stable.k < 10 == steady.spread.stable.k
    assert len(record.comparisons[0].by_repeat) == 3
    assert noisy.agreement.alpha.value < 1.0
    once = run(spec(10, provider={"noise": 0.4, "calls": "calls"}), "once")
    assert once.arms[1].outcomes[0] == record.arms[1].outcomes[0]


def test_plain_verifiers_can_be_arms_and_failures_of_theirs_are_outcomes(desk: Path) -> None:
    arms = [
        {"name": "quoting", "verifier": {"kind": "quoting"}},
        {"name": "failing", "verifier": {"kind": "failing"}},
    ]
    what = AbSpec.model_validate(
        {"name": "plain", "benchmark": "small@1", "arms": arms, "select": {"limit": 9}}
    )
    quoting, failing = run(what).arms
    assert sum(counts(quoting)) == 9
    assert counts(failing) == (0, 0, 9)
    assert failing.abstentions == {"error": 9}
    assert quoting.agreement is None
    assert outcomes(failing)[load_claims(what).claims[0].id].detail.endswith("on fire")


def claims_file(labels: bool) -> ClaimsSpec:
    sources = [{"id": "s1", "title": "Mill", "text": "The mill was built in 1898."}]
    rows = [
        {"id": f"k{n}", "text": f"The mill was built in {1890 + n}.", "cites": ["s1"]}
        | ({"label": "supported" if n == 8 else "contradictory"} if labels else {})
        for n in range(10)
    ]
    write_text(Path("claims.jsonl"), jsonl(map(json.dumps, rows)))
    write_text(Path("sources.jsonl"), jsonl(map(json.dumps, sources)))
    return ClaimsSpec(claims="claims.jsonl", sources="sources.jsonl")


def files_spec(**changes: Any) -> AbSpec:
    arms = [
        {"name": "a", "verifier": {"kind": "overlap"}},
        {"name": "b", "verifier": {"kind": "quoting"}},
    ]
    return AbSpec.model_validate(
        {
            "name": "files",
            "claims": "claims.jsonl",
            "sources": "sources.jsonl",
            "arms": arms,
            **changes,
        }
    )


def test_without_labels_all_but_the_loosening_check_is_shown(desk: Path) -> None:
    claims_file(labels=False)
    record = run(files_spec())
    assert record.labels_from is LabelsFrom.NOWHERE
    assert [one.group for one in record.comparisons[0].differences] == ["all"]
    assert "no labels" in record.missing[0]
    report = Path("run/report.md").read_text(encoding="utf-8")
    assert "no labels, so the loosening check is not shown" in report
    assert "McNemar" in report


def test_a_file_with_labels_gets_the_loosening_check(desk: Path) -> None:
    claims_file(labels=True)
    record = run(files_spec())
    assert record.labels_from is LabelsFrom.FILE
    assert record.comparisons[0].difference("contradictory").n == 9
    assert any("qualification" in words for words in record.missing)
    assert load_claims(claims_file(True)).state_hash != load_claims(claims_file(False)).state_hash


def test_a_gate_on_loosening_needs_labels_and_says_so_before_anything(desk: Path) -> None:
    claims_file(labels=False)
    with pytest.raises(ConfigError, match=r"max_loosening.*needs labels"):
        run(files_spec(gates={"max_loosening": 0.0}))
    assert not Path("run").exists()


# --- latency -----------------------------------------------------------------------------


def test_latency_is_in_the_journal_and_the_report_and_not_in_the_record(stand_in: Path) -> None:
    run(spec(3, provider={"seconds": 0.02}))
    events = [e for e in read_events(Path("run/journal.jsonl")) if isinstance(e, ArmAnswered)]
    assert all(len(e.seconds) == 3 and min(e.seconds) >= 0.02 for e in events)
    assert '"seconds": [' not in Path("run/record.json").read_text(encoding="utf-8")
    assert "(n = 9)" in Path("run/report.md").read_text(encoding="utf-8")
    shutil.copytree("run", "again")
    Path("again/journal.jsonl").unlink()
    run(spec(3, provider={"seconds": 0.02}), "again", replay=True)
    assert "no live call" in Path("again/report.md").read_text(encoding="utf-8")


# --- what does not fit -------------------------------------------------------------------


def arms_of(*options: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"arm{n}", "options": one} for n, one in enumerate(options)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": arms_of({}, {"prompt": "verifier/spilt/v1"})}, "arm 'arm1'.*spilt"),
        ({"arms": arms_of({}, {})}, "arm 'arm1' differs in nothing from arm 'arm0'"),
        # the default prompt, by another of its names; and what makes no difference to answers
        ({"arms": arms_of({}, {"prompt": "verifier/split"})}, "differs in nothing"),
        ({"arms": arms_of({}, {"limits": {"concurrency": 3}})}, "differs in nothing"),
        ({"arms": arms_of({}, {"votes": 0})}, "arm 'arm1'.*votes"),
        ({"arms": arms_of({}, {"vots": 5})}, "arm 'arm1'.*no option 'vots'"),
        ({"arms": arms_of({}, {"provider": {"kind": "stand-up"}})}, "stand-up"),
        ({"arms": arms_of({}, {"provider": None})}, "needs a provider"),
        ({"arms": arms_of({}, {"limits": {"concurrency": -1}})}, "arm1.*limits.*greater than 0"),
        ({"select": {"domains": ["astrology"]}}, "domain that is not there: 'astrology'"),
        ({"select": {"ids": ["fin-1-99"]}}, "claim that is not there: 'fin-1-99'"),
        ({"select": {"ids": ["fin-1-01"], "reports": ["swp-1"]}}, "no claim is selected"),
        ({"benchmark": "smal@1"}, "no benchmark is called 'smal'"),
        ({"benchmark": "small@9"}, "9"),
        ({"key": "nobody"}, "no key 'nobody'"),
        ({"responses": ["none.jsonl"]}, "no such export"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_before_anything_is_written(
    stand_in: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        run(spec(**changes))
    assert caught.value.exit_code == 2
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": arms_of({})}, "at least 2"),
        ({"claims": "claims.jsonl"}, "either `benchmark` or `claims`"),
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "same name"),
        ({"sources": "sources.jsonl"}, "go with `claims`"),
    ],
)
def test_a_spec_that_cannot_be(desk: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spec(**changes)


def test_a_missing_variable_in_a_prompt_costs_no_call(stand_in: Path) -> None:
    text = (HOME / "deepfact/prompts/verifier/split/v1.md").read_text(encoding="utf-8")
    folder = Path("mine/verifier/broken")
    folder.mkdir(parents=True)
    broken = text.replace("name: verifier/split", "name: verifier/broken")
    (folder / "v1.md").write_text(broken.replace("{{sources}}", "{{surces}}"), encoding="utf-8")
    bad = {"prompt": "verifier/broken/v1", "prompt_folder": "mine"}
    with pytest.raises(ConfigError, match="sources"):
        run(spec(provider={"calls": "calls"}, arms=arms_of({}, bad)))
    assert not Path("calls").exists()


def test_a_folder_in_use_or_of_another_run_is_refused(stand_in: Path) -> None:
    what = spec(2)
    run(what)
    with Journal(Path("run")), pytest.raises(ResultsExistError, match="in use"):
        run(what)
    with pytest.raises(ResultsExistError, match="another spec"):
        run(spec(3))
    Path("other").mkdir()
    Path("other/thesis.docx").touch()
    with pytest.raises(ResultsExistError, match="holds no run"):
        run(what, "other")
    Path("file").touch()
    with pytest.raises(ResultsExistError, match="not a folder"):
        run(what, "file")


def test_a_changed_prompt_is_another_run(stand_in: Path) -> None:
    text = (HOME / "deepfact/prompts/verifier/split/v1.md").read_text(encoding="utf-8")
    file = Path("mine/verifier/fair/v1.md")
    file.parent.mkdir(parents=True)
    text = text.replace("name: verifier/split", "name: verifier/fair")
    file.write_text(text.replace("You ", "You, judge, ", 1), encoding="utf-8")
    what = spec(2, arms=arms_of({}, {"prompt": str(file)}))
    run(what)
    file.write_text(file.read_text(encoding="utf-8").replace("\n# USER", "\nBe fair.\n\n# USER"))
    with pytest.raises(ResultsExistError, match="another prompt"):
        run(what)


def test_a_corrupt_response_store_is_named(stand_in: Path) -> None:
    what = spec(2)
    run(what)
    path = Path("run") / RESPONSES
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(IntegrityError, match=RESPONSES) as caught:
        run(what)
    assert caught.value.exit_code == 2


def test_a_damaged_answer_is_not_taken_for_an_answer(stand_in: Path) -> None:
    what = spec(2)
    run(what)
    Path("run/journal.jsonl").unlink()
    with sqlite3.connect(Path("run") / RESPONSES) as database:
        database.execute("UPDATE responses SET completion = substr(completion, 1, 20)")
    database.close()
    with pytest.raises(IntegrityError, match="damaged"):
        run(what, replay=True)


def test_outcomes_can_be_had_without_a_run(stand_in: Path) -> None:
    """What `deepfact regress` stands on."""
    claims = load_claims(spec(3))
    arms = build_arms(spec(3).verifiers())
    kept: list[tuple[str, int, str]] = []
    with ResponseStore(Path("store.sqlite")) as store:
        found = run_arms(
            arms, claims, responses=store, seed=2,
            keep=lambda arm, n, outcome, _: kept.append((arm, n, outcome.claim_id)),
        )  # fmt: skip
        known = {("split", 0): found["split", 0]}
        again = run_arms(arms[1:], claims, responses=store, replay=True, known=known)
    assert set(found) == {("bundled", 0), ("split", 0)}
    assert len(kept) == len(set(kept)) == 6
    assert again == known
