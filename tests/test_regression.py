"""Today's prompt against a committed baseline: pass, regression, and neither of the two."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from deepfact.errors import (
    BenchmarkError,
    CheckFailed,
    ConfigError,
    InputError,
    NewerSchemaError,
    RecordError,
    RunIncomplete,
)
from deepfact.model_records import Completion
from deepfact.providers.base import CallFailed
from deepfact.records import FailureReason
from deepfact.regression import (
    Check,
    UsedResponses,
    open_check,
    run_regression,
    save_answers,
    update_baseline,
)
from deepfact.regression_records import RegressRecord, RegressSpec
from deepfact.reports.regress_report import cost_words, flip_lines
from deepfact.running import arm_engines
from deepfact.running.regression_baseline import baseline_path, read_baseline, responses_path
from deepfact.store.locate import load_version
from deepfact.store.specs import read_yaml

HOME = Path(__file__).parents[1]
JUDGE = HOME / "tests" / "judges" / "rule_following.py"


@pytest.fixture(scope="session")
def judging():
    """The module of the scripted judge; test folders here are no packages."""
    if "rule_following" not in sys.modules:
        found = spec_from_file_location("rule_following", JUDGE)
        sys.modules["rule_following"] = module_from_spec(found)
        found.loader.exec_module(sys.modules["rule_following"])
    return sys.modules["rule_following"]


class Provider:
    """What stands for every provider: says how often it was called, fails where it is told."""

    price_provider = "none"

    def __init__(self, judge) -> None:
        self.judge, self.calls = judge, 0
        self.fail: Callable[[int, str], bool] = lambda _number, _page: False
        self.reason = FailureReason.ERROR
        self.say = ""

    async def complete(self, request) -> Completion:
        self.calls += 1
        if self.fail(self.calls, request.messages[0].content):
            raise CallFailed(self.reason, "the provider is down")
        if self.say:
            return Completion(text=self.say, stop_reason="end_turn", output_tokens=9)
        return await self.judge.complete(request)

    async def aclose(self) -> None:
        """Nothing to close."""


@pytest.fixture
def provider(desk, judging, monkeypatch) -> Provider:
    """The rule-following judge behind every provider, in a user's folder."""
    version = load_version("small@1", desk / "benchmarks")
    judge = judging.RuleFollowingJudge(
        judging.passages_of(version.claims, version.store.key("author"))
    )
    made = Provider(judge)
    monkeypatch.setattr(arm_engines, "build_provider", lambda _spec: made)
    return made


def spec(prompt: str = "split", **changes) -> RegressSpec:
    options = {
        "provider": {"kind": "anthropic"},
        "model": "stand-in",
        "prompt": f"verifier/{prompt}/v1",
        "limits": {"attempts": 1},
        **changes.pop("options", {}),
    }
    given = {
        "name": "r",
        "benchmark": "small@1",
        "key": "author",
        "select": {"limit": 10},
        "verifier": {"kind": "panel", "options": options},
        "pins": [{"claim": "fin-1-02", "must": "confirmed"}],
        **changes,
    }
    return RegressSpec.model_validate(given)


def run(
    wanted: RegressSpec,
    *,
    live: bool = False,
    recording: bool = False,
    store: str = "scratch",
    after: Callable[[Check, RegressRecord], object] = lambda *_: None,
    exports=(),
) -> RegressRecord:
    with UsedResponses(Path(f"{store}.sqlite")) as opened:
        check = open_check(wanted, opened, exports=exports, recording=recording)
        record = run_regression(check, live=live, command="deepfact regress c.yaml")
        after(check, record)
        return RegressRecord.model_validate_json(record.model_dump_json())


def record_baseline(wanted: RegressSpec, store: str = "recording") -> RegressRecord:
    return run(wanted, live=True, recording=True, store=store, after=update_baseline)


# --- the committed one -------------------------------------------------------------------


def test_the_committed_baseline_passes_by_replay_without_a_call(tmp_path, monkeypatch):
    """The network is closed to tests, and there is no key: only stored answers can do this."""
    monkeypatch.chdir(HOME)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    wanted = read_yaml(HOME / "configs" / "regress-founding.yaml", RegressSpec)
    record = run(wanted, store=str(tmp_path / "scratch"))
    assert record.status == "passed", record.shortage
    assert (record.claims, record.flips, record.changes) == (80, (), ())
    assert [pin.found for pin in record.pins] == ["confirmed", "confirmed", "refuted"]
    assert record.difference.n == 38


def test_the_bundled_prompt_against_the_committed_baseline_is_a_regression(tmp_path, monkeypatch):
    """FIELD: anthropics/claude-code #83325: one question for both refutes accurate claims."""
    monkeypatch.chdir(HOME)
    wanted = read_yaml(HOME / "configs" / "regress-founding.yaml", RegressSpec)
    options = {**wanted.verifier.options, "prompt": "verifier/bundled/v1"}
    bundled = wanted.model_copy(
        update={"verifier": wanted.verifier.model_copy(update={"options": options})}
    )
    answers = HOME / "results" / "reference" / "founding" / "responses.jsonl"
    record = run(bundled, store=str(tmp_path / "scratch"), exports=[answers])
    assert record.status == "regressed"
    assert {gate.gate for gate in record.failed_gates} == {"significance", "max_loss"}
    assert [pin.pin.claim for pin in record.failed_pins] == ["fin-1-01"]
    qualified = {one.flip.claim_id for one in record.flips if one.flip.qualified}
    assert len(record.flips) == len(qualified) == 16
    assert record.changes[0].startswith("prompt: verifier/split/v1")


# --- pass and regression -----------------------------------------------------------------


def test_an_unchanged_prompt_passes_by_replay(provider):
    first = record_baseline(spec())
    assert (first.baseline, first.status) == (None, "passed")
    calls = provider.calls
    assert calls == 3 * first.claims
    again = run(spec())
    assert provider.calls == calls
    assert (again.status, again.flips, again.changes) == ("passed", (), ())
    assert again.unpaired.count == 0


def test_a_changed_prompt_regresses_and_says_which_claims_and_why(provider):
    finance = {"domains": ["finance"]}
    record_baseline(spec(select=finance))
    record = run(spec("bundled", select=finance), live=True)
    assert record.status == "regressed"
    assert "significance" in {gate.gate for gate in record.failed_gates}
    flip = next(one for one in record.flips if one.flip.claim_id == "fin-1-01")
    lines = "\n".join(flip_lines(flip))
    assert flip.before.rationale in lines
    assert flip.now.rationale in lines
    assert flip.before.qualifications[0].text in lines
    assert "confirmed -> refuted; label supported, qualified" in lines


def test_a_prompt_that_confirms_contradictory_claims_fails(provider, judging):
    record_baseline(spec(pins=[{"claim": "fin-1-07", "must": "refuted", "why": "it is wrong"}]))
    supported = {one.claim for one in judging.passages_of([], {})}
    assert not supported
    # Every passage that disputes a claim supports it now, so nothing is disputed any more.
    for passages in provider.judge._table.values():
        for place, one in enumerate(passages):
            if one.does == "disputes":
                passages[place] = judging.Passage(one.claim, one.quote, "supports")
    lax = spec(
        options={"temperature": 0.5},
        pins=[{"claim": "fin-1-07", "must": "refuted", "why": "it is wrong"}],
    )
    record = run(lax, live=True)
    assert record.status == "regressed"
    failed = {gate.gate: gate.value for gate in record.failed_gates}
    assert set(failed) == {"max_new_false_confirmations"}
    assert failed["max_new_false_confirmations"] >= 1
    assert [pin.pin.claim for pin in record.failed_pins] == ["fin-1-07"]
    assert record.changes == ("option temperature: default -> 0.5",)


def test_unreadable_answers_are_unverified_and_too_many_of_them_a_regression(provider):
    record_baseline(spec())
    provider.say = "The claim is supported."
    record = run(spec("bundled"), live=True)
    assert record.status == "regressed"
    assert record.rates[0].unverified.k == record.claims
    assert "max_unverified_rate" in {gate.gate for gate in record.failed_gates}
    assert {str(one.flip.other) for one in record.flips} == {"unverified"}


# --- incomplete: neither of the two ------------------------------------------------------


def test_missing_answers_are_incomplete_and_say_what_they_would_cost(provider):
    record_baseline(spec())
    calls = provider.calls
    record = run(spec("bundled"))
    assert provider.calls == calls
    assert (record.status, record.gates, record.rates) == ("incomplete", (), ())
    assert record.shortage.calls == 3 * record.claims == 3 * len(record.shortage.claims)
    assert [pin.holds for pin in record.pins] == [None]
    assert "unknown price of stand-in" in cost_words(record.shortage)
    assert "deepfact regress c.yaml --live" in record.shortage.how

    prices = {"stand-in": {"input": 3.0, "output": 15.0}}
    priced = run(spec("bundled", options={"prices": prices})).shortage
    by_hand = (priced.input_tokens * 3.0 + priced.output_tokens * 15.0) / 1e6
    assert priced.usd == pytest.approx(by_hand, rel=0.01)
    assert f"about ${priced.usd:.2f}" in cost_words(priced)
    assert priced.input_tokens > 100 * priced.calls


def test_one_missing_answer_decides_nothing_but_the_pins_of_other_claims(provider):
    pins = [
        {"claim": "fin-1-01", "must": "confirmed"},
        {"claim": "fin-1-02", "must": "refuted"},
    ]
    record_baseline(spec())
    path = responses_path(spec())
    judge = provider.judge
    kept = [
        line
        for line in path.read_text("utf-8").splitlines()
        if "11.4 percent under GAAP and of 19.8" not in line
    ]
    path.write_text("".join(f"{line}\n" for line in kept), "utf-8")
    record = run(spec(pins=pins))
    assert judge.calls == provider.calls
    assert record.status == "incomplete"
    assert record.shortage.claims == ("fin-1-01",)
    assert (record.shortage.calls, record.gates) == (3, ())
    assert [pin.holds for pin in record.pins] == [None, False]


def test_a_provider_that_is_down_is_incomplete_and_never_a_regression(provider):
    record_baseline(spec())
    calls, provider.fail = provider.calls, lambda number, _: number > calls + 12
    record = run(spec("bundled"), live=True)
    assert (record.status, record.gates) == ("incomplete", ())
    assert "answers were lost on the way (error " in record.shortage.why
    assert record.shortage.calls == 3 * record.claims - 12

    provider.fail, before = lambda *_: False, provider.calls
    again = run(spec("bundled"), live=True)
    assert again.status == "regressed"
    assert provider.calls - before == 3 * record.claims - 12  # nothing was asked twice


@pytest.mark.parametrize("reason", ["timeout", "rate_limited"])
def test_a_single_lost_vote_is_incomplete(provider, reason):
    """Two of three votes still make an outcome, but not one that could be replayed."""
    record_baseline(spec())
    calls, provider.reason = provider.calls, FailureReason(reason)
    provider.fail = lambda number, _: number == calls + 1
    record = run(spec("bundled"), live=True)
    assert record.status == "incomplete"
    assert (len(record.shortage.claims), record.shortage.calls) == (1, 1)
    assert reason in record.shortage.why


def test_a_spent_budget_is_incomplete(provider):
    record_baseline(spec())
    record = run(spec("bundled", options={"budget": {"calls": 5}}), live=True)
    assert record.status == "incomplete"
    assert "the budget of 5 calls is spent" in record.shortage.why


def test_replay_in_the_spec_wins_over_live(provider):
    record_baseline(spec())
    calls = provider.calls
    record = run(spec("bundled", options={"replay": True}), live=True)
    assert (record.status, provider.calls) == ("incomplete", calls)
    assert record.shortage.how.startswith("take `replay: true` out of the spec")


# --- recording ---------------------------------------------------------------------------


def test_a_baseline_is_the_same_bytes_each_time_and_holds_no_costs(provider):
    wanted = spec(options={"prices": {"stand-in": {"input": 1, "output": 1}}})
    record_baseline(wanted)
    files = [baseline_path(wanted), responses_path(wanted)]
    before = [file.read_bytes() for file in files]
    record_baseline(wanted, store="another")
    assert [file.read_bytes() for file in files] == before
    header, first = before[0].decode().splitlines()[:2]
    asking = json.loads(header)["asking"]
    assert asking["options"] == {"model": "stand-in", "prompt": "verifier/split/v1"}
    assert (asking["prompt"]["name"], asking["models"]) == ("verifier/split", ["stand-in"])
    assert "usage" not in first
    assert '"date"' not in before[0].decode()


def test_no_baseline_is_recorded_while_answers_are_missing(provider):
    record_baseline(spec())
    before = baseline_path(spec()).read_bytes()
    with pytest.raises(RunIncomplete, match="not updated: the run is incomplete") as refused:
        run(spec("bundled"), recording=True, after=update_baseline)
    assert refused.value.exit_code == 3
    assert baseline_path(spec()).read_bytes() == before


def test_no_baseline_is_recorded_that_would_not_pass_itself(provider):
    pins = [{"claim": "fin-1-01", "must": "refuted"}]
    with pytest.raises(CheckFailed, match="fin-1-01 must be refuted"):
        record_baseline(spec(pins=pins))
    assert not baseline_path(spec()).exists()


def test_a_loss_can_be_accepted(provider):
    record_baseline(spec())
    accepted = record_baseline(spec("bundled"))
    assert accepted.status == "regressed"  # against the old one
    assert run(spec("bundled")).status == "passed"
    assert run(spec()).status == "incomplete"  # the old prompt's answers are gone from the export


def test_answers_can_be_committed_without_accepting_them(provider):
    record_baseline(spec())
    run(spec("bundled"), live=True, after=lambda check, _: save_answers(check))
    calls = provider.calls
    assert run(spec("bundled"), store="ci").status == "regressed"
    assert run(spec(), store="ci").status == "passed"
    assert provider.calls == calls


def test_committed_answers_win_over_those_of_an_earlier_run(provider):
    """Else a check would come out here as it does nowhere else."""
    record_baseline(spec())
    provider.say = "not what is committed"
    with UsedResponses(Path("old.sqlite")) as store:
        check = open_check(spec(), UsedResponses(Path("empty.sqlite")))
        for request, vote in check.arm.prompted.requests(
            check.claims.claims[0], check.claims.context
        ):
            store.put(request, vote, Completion(text="other", stop_reason="end_turn"))
        check.store.close()
    assert run(spec(), store="old").status == "passed"


def test_a_verifier_that_asks_no_model_needs_no_answers(desk):
    wanted = RegressSpec.model_validate(
        {
            "name": "plain",
            "benchmark": "small@1",
            "verifier": {"kind": "quoting"},
            "gates": {"max_unverified_rate": None},
        }
    )
    record_baseline(wanted)
    assert not responses_path(wanted).exists()
    assert run(wanted).status == "passed"
    turned = wanted.model_copy(
        update={
            "verifier": wanted.verifier.model_copy(update={"options": {"turn": "x"}}),
        }
    )
    assert run(turned).status == "regressed"


def test_a_verifier_that_breaks_is_incomplete(desk):
    wanted = RegressSpec.model_validate(
        {"name": "plain", "benchmark": "small@1", "verifier": {"kind": "quoting"}}
    )
    record_baseline(wanted)
    broken = wanted.model_copy(
        update={"verifier": wanted.verifier.model_copy(update={"kind": "failing"})}
    )
    record = run(broken)
    assert record.status == "incomplete"
    assert len(record.shortage.claims) == record.claims


# --- what does not fit -------------------------------------------------------------------


def test_claims_in_only_one_of_the_two_are_listed_apart(provider):
    """FIELD: b-open-io/prompts #15: a delta compared different sets."""
    record_baseline(spec(select={"ids": ["fin-1-01", "fin-1-02", "fin-1-03"]}))
    record = run(spec(select={"ids": ["fin-1-02", "fin-1-03", "fin-1-04"]}), live=True)
    assert record.unpaired.only_baseline == ("fin-1-01",)
    assert record.unpaired.only_now == ("fin-1-04",)
    assert record.rates_before[0].n == 2
    assert record.rates[0].n == 3
    assert not {"fin-1-01", "fin-1-04"} & {one.flip.claim_id for one in record.flips}
    with pytest.raises(ConfigError, match="knows none of the claims"):
        run(spec(select={"ids": ["fin-2-01"]}, pins=[]))


def test_a_claim_that_was_reworded_is_not_compared(desk, make):
    def write(second: str) -> None:
        rows = [
            {"id": "a", "text": "The mill was built in 1898.", "label": "supported"},
            {"id": "b", "text": second, "label": "supported"},
        ]
        Path("claims.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    wanted = RegressSpec.model_validate(
        {
            "name": "files",
            "claims": "claims.jsonl",
            "verifier": {"kind": "majority"},
            "gates": {"max_unverified_rate": None},
        }
    )
    write("It closed in 1931.")
    record_baseline(wanted)
    write("It closed in 1932.")
    record = run(wanted)
    assert record.unpaired.changed == ("b",)
    assert record.rates_before[0].n == 1
    assert record.missing == (
        "The gate max_new_false_confirmations is not measured: it needs claims labelled "
        "contradictory that the baseline knows too.",
    )


def test_a_baseline_of_another_version_is_refused(provider, make):
    record_baseline(spec())
    path = baseline_path(spec())
    text = path.read_text("utf-8")
    for old, new, says in (
        ('"claims_name":"small@1"', '"claims_name":"small@7"', "baseline of small@7"),
        ('"claims_hash":"sha256:', '"claims_hash":"sha256:', "in another state"),
    ):
        head, rest = text.split("\n", 1)
        changed = head.replace(old, new)
        if changed == head:  # another state of the same version
            start = head.index(old) + len(old)
            changed = head[:start] + "0" * 64 + head[start + 64 :]
        path.write_text(f"{changed}\n{rest}", "utf-8")
        with pytest.raises(BenchmarkError, match=says) as refused:
            run(spec())
        assert refused.value.exit_code == 2
    record = record_baseline(spec())
    assert "in another state" in record.missing[0]
    assert run(spec()).status == "passed"


def test_no_baseline_says_how_to_record_one(provider):
    with pytest.raises(InputError, match="--update-baseline"):
        run(spec())


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda lines: lines[:-1], RecordError),
        (lambda lines: [*lines, lines[-1]], RecordError),
        (lambda lines: [*lines, lines[0]], RecordError),
        (lambda lines: lines[1:], RecordError),
        (lambda lines: [], RecordError),
        (lambda lines: ["{not json", *lines], RecordError),
        (
            lambda lines: [lines[0].replace('version":1}', 'version":99}'), *lines[1:]],
            NewerSchemaError,
        ),
    ],
)
def test_a_damaged_baseline_is_refused(provider, damage, error):
    record_baseline(spec())
    path = baseline_path(spec())
    lines = damage(path.read_text("utf-8").splitlines())
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    with pytest.raises(error) as refused:
        run(spec())
    assert refused.value.exit_code == 2


def test_what_a_spec_cannot_be(provider):
    record_baseline(spec())
    with pytest.raises(ConfigError, match="did you mean 'fin-1-02'"):
        run(spec(pins=[{"claim": "fin-1-002", "must": "confirmed"}]))
    with pytest.raises(ConfigError, match="needs claims labelled contradictory"):
        run(
            spec(
                select={"ids": ["fin-1-01", "fin-1-02"]},
                gates={"max_new_false_confirmations": 0},
            )
        )
    with pytest.raises(InputError, match="no such export"):
        run(spec(), exports=[Path("none.jsonl")])
    with pytest.raises(ConfigError, match="no prompt"):
        run(spec("spilt"))
    with pytest.raises(ValueError, match="pinned twice"):
        spec(pins=[{"claim": "a", "must": "refuted"}, {"claim": "a", "must": "confirmed"}])


# --- golden files ------------------------------------------------------------------------

GOLDEN = HOME / "tests" / "golden" / "regression"


def test_a_golden_record_parses_and_is_written_again_byte_for_byte():
    text = (GOLDEN / "RegressRecord.json").read_text("utf-8")
    record = RegressRecord.model_validate_json(text)
    assert record.canonical() + "\n" == text
    assert record.shortage is not None
    assert record.flips[0].flip.claim_id == "c1"


def test_a_golden_baseline_parses_and_is_written_again_byte_for_byte():
    text = (GOLDEN / "baseline.jsonl").read_text("utf-8")
    found = read_baseline(GOLDEN / "baseline.jsonl")
    lines = [found.header, *found.claims.values()]
    assert "".join(f"{line.canonical()}\n" for line in lines) == text
    assert {one.kind for one in found.outcomes.values()} == {"verdict", "failure"}
