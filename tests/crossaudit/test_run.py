"""Cross-audit: solo and audited accuracy and their change, from stored verdicts where there are
any, never an auditor on its own model, resumable, and a report with everything it needs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepfact.crossaudit import run_crossaudit
from deepfact.crossaudit.planning import plan_crossaudit
from deepfact.crossaudit.stored import read_stored
from deepfact.crossaudit_records import CrossAuditRecord, CrossAuditSpec
from deepfact.errors import BenchmarkError, ConfigError, InputError, ResultsExistError
from deepfact.records import Verdict
from deepfact.reports import study
from deepfact.reports.crossaudit_report import page_of, write_reports
from deepfact.round import run_rounds
from deepfact.run_records import AuditorSpec, RoundSpec, VerifierSpec
from deepfact.store.benchmark import BenchmarkStore
from deepfact.store.files import write_text
from deepfact.store.integrity import verify as problems_of
from deepfact.store.specs import read_yaml

HERE = Path("results/cross")
QUOTING = VerifierSpec(kind="quoting")
OVERLAP = VerifierSpec(kind="overlap")
ORACLE = AuditorSpec(name="oracle", kind="policy", options={"accuracy": 1.0})
JUDGE = AuditorSpec(name="judge", kind="evidence")


def spec(**changes: Any) -> CrossAuditSpec:
    given = {
        "name": "cross", "benchmark": "small@1", "agents": (QUOTING, OVERLAP),
        "auditors": ("oracle", "judge"), **changes,
    }  # fmt: skip
    return CrossAuditSpec.model_validate(given)


def run(what: CrossAuditSpec | None = None, *auditors: AuditorSpec) -> CrossAuditRecord:
    return run_crossaudit(what or spec(), HERE, auditors=auditors or (ORACLE, JUDGE))


def pairs(record: CrossAuditRecord) -> dict[tuple[str, str], Any]:
    return {(pair.auditor, pair.agent): pair for pair in record.pairs}


# --- what is measured -----------------------------------------------------------------------


def test_solo_audited_and_change_are_counted_claim_by_claim(desk: Path) -> None:
    record = run()
    store = BenchmarkStore(desk / "benchmarks/small")
    version, gold = store.load(1), store.key("microgold")
    labels = {e.claim.id: e.label for e in version.state if e.claim.id in gold}
    assert record.claims == len(labels) == record.labels.n
    assert record.labels.k == sum(label == gold[i].label for i, label in labels.items())
    own = Path("results/cross/benchmarks/small")
    assert {claim.id for claim in BenchmarkStore(own).load(1).claims} == set(labels)
    assert problems_of(BenchmarkStore(own)) == []

    from deepfact import api

    given = {o.claim_id: o for o in api.verify(version, QUOTING) if o.claim_id in gold}
    right = {i: isinstance(o, Verdict) and o.label == gold[i].label for i, o in given.items()}
    assert record.solo[0].agent == "quoting"
    assert (record.solo[0].accuracy.k, record.solo[0].accuracy.n) == (
        sum(right.values()),
        len(gold),
    )
    best = pairs(record)["oracle", "quoting"]
    agree = [i for i, outcome in given.items() if outcome.label == labels[i]]
    assert best.cases == len(gold) - len(agree)
    assert best.right.k == best.cases == best.right.n and best.cannot_tell == 0
    audited = best.cases + sum(gold[i].label == labels[i] for i in agree)
    assert (best.audited.k, best.audited.n) == (audited, len(gold))
    assert best.change.value == pytest.approx((audited - sum(right.values())) / len(gold))
    assert best.change.low < best.change.value < best.change.high
    assert best.simulated and not pairs(record)["judge", "quoting"].simulated
    assert record.simulated and record.complete and len(record.pairs) == 4


def test_an_auditor_is_not_put_before_its_own_model_unless_written(desk: Path) -> None:
    agent = VerifierSpec(kind="quoting", name="mine", options={"model": "m-1"})
    auditor = AuditorSpec(
        name="judge", kind="agent",
        options={"model": "m-1", "provider": {"kind": "scripted", "options": {"answer": "x"}}},
    )  # fmt: skip
    one = spec(agents=(agent, OVERLAP), auditors=("judge",))
    plan = plan_crossaudit(one, HERE, auditors=(auditor,))
    assert [pair.skipped for pair in plan.pairs] == [True, False]
    record = run(one, auditor)
    found = pairs(record)
    assert found["judge", "mine"].status == "own model"
    assert found["judge", "mine"].audited is None and found["judge", "mine"].cases == 0
    assert found["judge", "overlap"].status == "audited" and record.complete
    assert not (HERE / "pairs/judge--mine").exists()
    assert "skipped: it would judge its own model" in study.render_markdown(page_of(record))
    allowed = one.model_copy(update={"allow_self_judging": True})
    other = run_crossaudit(allowed, Path("results/allowed"), auditors=(auditor,))
    assert pairs(other)["judge", "mine"].status == "audited"


# --- nothing is asked twice -----------------------------------------------------------------


def nobody(*_: object, **__: object) -> None:
    raise AssertionError("asked again")


def test_running_again_asks_nobody_and_ends_the_same(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run()
    monkeypatch.setattr("house_judges.Quoting.verify", nobody)
    monkeypatch.setattr("deepfact.verifiers.trivial.OverlapVerifier.verify", nobody)
    monkeypatch.setattr("deepfact.auditors.policy.PolicyAuditor.adjudicate", nobody)
    monkeypatch.setattr("deepfact.auditors.evidence.EvidenceAuditor.adjudicate", nobody)
    assert run() == first


def test_a_cross_audit_that_was_stopped_goes_on(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = run_crossaudit(spec(), Path("results/whole"), auditors=(ORACLE, JUDGE))
    from deepfact.auditors.evidence import EvidenceAuditor

    adjudicate, count = EvidenceAuditor.adjudicate, [0]

    def stops(self: Any, case: Any) -> Any:
        count[0] += 1
        if count[0] > 3:
            raise KeyboardInterrupt
        return adjudicate(self, case)

    monkeypatch.setattr(EvidenceAuditor, "adjudicate", stops)
    with pytest.raises(KeyboardInterrupt):
        run()
    monkeypatch.setattr(EvidenceAuditor, "adjudicate", adjudicate)
    plan = plan_crossaudit(spec(), HERE, auditors=(ORACLE, JUDGE))
    stored = {(pair.auditor, pair.agent): pair.stored for pair in plan.pairs}
    assert stored["judge", "quoting"] == 3 and stored["oracle", "overlap"] == 0
    assert run() == undisturbed


def test_verdicts_and_decisions_of_earlier_runs_are_used(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = run_crossaudit(spec(agents=(QUOTING,)), Path("results/fresh"), auditors=(ORACLE, JUDGE))
    earlier = RoundSpec(
        name="earlier", benchmark="small@1", challenger=QUOTING, auditors=("judge",), seed=99,
        commit_to="run", date=datetime(2026, 1, 5, tzinfo=UTC),
        controls={"agreed": 0, "microgold": 0},
    )  # fmt: skip
    run_rounds(earlier, Path("results/earlier"), auditors=(JUDGE,))
    monkeypatch.setattr("house_judges.Quoting.verify", nobody)
    monkeypatch.setattr("deepfact.auditors.evidence.EvidenceAuditor.adjudicate", nobody)
    one = spec(agents=(QUOTING,), stored=("results/earlier",))
    plan = plan_crossaudit(one, HERE, auditors=(ORACLE, JUDGE))
    assert plan.agents[0].stored == plan.agents[0].claims and plan.agents[0].ask is None
    asks = {pair.auditor: (pair.stored, pair.cases) for pair in plan.pairs}
    assert asks["judge"][0] == asks["judge"][1] > 3 and asks["oracle"][0] == 0
    record = run(one)
    assert [pair.model_dump() for pair in record.pairs] == [
        pair.model_dump() for pair in fresh.pairs
    ]
    journal = (HERE / "pairs/judge--quoting/journal.jsonl").read_text("utf-8")
    assert "stored decision of run earlier" in journal


def test_other_options_or_words_are_not_the_same(desk: Path) -> None:
    run_rounds(
        RoundSpec(name="earlier", benchmark="small@1", challenger=QUOTING, auditors=("judge",),
                  commit_to="run"),
        Path("results/earlier"), auditors=(JUDGE,),
    )  # fmt: skip
    stored = read_stored([Path("results/earlier")], None)
    claim = BenchmarkStore(desk / "benchmarks/small").load(1).claims[0]
    assert stored.verdict(QUOTING, claim.canonical()) is not None
    turned = VerifierSpec(kind="quoting", options={"turn": "x"})
    assert stored.verdict(turned, claim.canonical()) is None
    reworded = claim.model_copy(update={"text": "Other words."})
    assert stored.verdict(QUOTING, reworded.canonical()) is None
    case, made, name = next(iter(stored.decisions.values()))
    assert name == "earlier"
    swapped = case.model_copy(update={"id": "r9-1", "a": case.b, "b": case.a})
    there = stored.decision(JUDGE, swapped)
    assert there is not None and there.case_id == "r9-1"
    flip = {"a": "b", "b": "a"}
    assert there.decision == flip.get(made.decision, made.decision)
    assert stored.decision(JUDGE.model_copy(update={"options": {"margin": 0.5}}), case) is None


# --- the plan and the report ------------------------------------------------------------------


def test_the_plan_counts_calls_of_models_and_writes_nothing(desk: Path) -> None:
    scripted = {"kind": "scripted", "options": {"answer": "x"}}
    panel = VerifierSpec(kind="panel", options={"model": "m-1", "provider": scripted, "votes": 3})
    auditor = AuditorSpec(
        name="judge", kind="agent", options={"model": "m-2", "provider": scripted, "votes": 1}
    )
    one = spec(agents=(panel, OVERLAP), auditors=("judge",))
    before = sorted(p for p in Path().rglob("*") if p.name != ".lock")
    plan = plan_crossaudit(one, HERE, auditors=(auditor,))
    claims = plan.agents[0].claims
    assert plan.agents[0].ask.calls == 3 * claims and not plan.agents[1].ask.prompted
    assert plan.calls > 3 * claims and plan.usd is None
    assert sorted(p for p in Path().rglob("*") if p.name != ".lock") == before


def test_the_report_has_intervals_a_plot_in_words_and_its_warnings(
    desk: Path, tmp_path: Path
) -> None:
    record = run()
    write_reports(record, HERE)
    html = (HERE / "report.html").read_text("utf-8")
    assert "simulations that know the key" in html and "oracle (simulated)" in html
    assert html.count('role="img"') == 2 and "<desc" in html and "<script src" not in html
    for shape in ("<circle", "<rect", "<polygon"):
        assert shape in html, "series differ by shape, not by colour alone"
    markdown = (HERE / "report.md").read_text("utf-8")
    assert "95 % interval" in markdown and "change +" in markdown
    again = CrossAuditRecord.model_validate_json((HERE / "record.json").read_text("utf-8"))
    assert again == record
    hostile = record.model_copy(update={"name": "<script>alert(1)</script>"})
    assert "<script>alert" not in study.render_html(page_of(hostile))


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("agents: [{kind: local}, {kind: local}]", "two agents have one name"),
        ("agents: [{kind: local, name: a/b}]", "no name of a folder"),
        ("auditors: [a, a]", "named twice"),
        ("key: secret", "key"),
        ("colour: red", "unknown key"),
    ],
)
def test_a_spec_that_does_not_fit_is_refused(tmp_path: Path, line: str, what: str) -> None:
    base = {
        "name": "name: s", "benchmark": "benchmark: small@1", "agents": "agents: [{kind: local}]",
        "auditors": "auditors: [a]",
    }  # fmt: skip
    path = tmp_path / "s.yaml"
    write_text(path, "\n".join({**base, line.partition(":")[0]: line}.values()) + "\n")
    with pytest.raises(ConfigError, match=what):
        read_yaml(path, CrossAuditSpec)


def test_people_foreign_folders_and_missing_answers_are_refused(desk: Path) -> None:
    person = AuditorSpec(name="ada", kind="human")
    with pytest.raises(ConfigError, match="is a person"):
        run(spec(auditors=("ada",)), person)
    with pytest.raises(ConfigError, match="unknown kind"):
        run(spec(agents=({"kind": "nobody"},)))
    with pytest.raises(InputError, match="no run of rounds"):
        run(spec(stored=("results/nowhere",)))
    assert not HERE.exists()
    write_text(HERE / "notes.txt", "mine")
    with pytest.raises(ResultsExistError, match="no cross-audit"):
        run()
    (HERE / "notes.txt").unlink()
    run()
    with pytest.raises(ResultsExistError, match="another"):
        run(spec(seed=3))
    write_text(Path("benchmarks/small/keys/microgold.jsonl"), "")
    with pytest.raises(BenchmarkError, match="no labelled claim"):
        run_crossaudit(spec(), Path("results/bare"), auditors=(ORACLE, JUDGE))


def test_the_command_shows_the_estimate_and_wants_a_yes_before_models_are_asked(
    desk: Path, deepfact: Any
) -> None:
    text = (
        "name: paid\nbenchmark: small@1\nauditors: [evidence-judge]\nagents:\n"
        "  - {kind: panel, options: {model: m, votes: 1, rule: single, "
        "provider: {kind: scripted, options: {answer: x}}}}\n"
    )
    Path("paid.yaml").write_text(text, "utf-8")
    shown = deepfact("crossaudit", "paid.yaml", "--dry-run", "--json")
    assert shown.returncode == 0 and json.loads(shown.stdout)["calls"] > 0
    asked = deepfact("crossaudit", "paid.yaml")
    assert asked.returncode == 2 and "--yes" in asked.stderr and "calls" in asked.stderr
    assert not Path("results").exists()
    done = deepfact("crossaudit", "paid.yaml", "--yes")
    assert done.returncode == 0, done.stderr
    assert "audited by evidence-judge" in done.stdout
