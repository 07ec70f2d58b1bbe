"""The simulated auditor: as right as it says, the same whenever it is asked, silent on its key."""

from __future__ import annotations

import pytest

from deepfact.auditors.base import BUILT_IN, build_auditor, judges_itself
from deepfact.auditors.policy import PolicyAuditor
from deepfact.core.revise import decided_label
from deepfact.errors import ConfigError
from deepfact.records import Case, Claim, KeyEntry, Label, Position
from deepfact.run_records import AuditorSpec, VerifierSpec

N = 400
LABELS = list(Label)
KEY = {
    f"c{n}": KeyEntry(claim_id=f"c{n}", label=LABELS[n % 3], rationale="the key's own words")
    for n in range(N)
}


def answers(which: str) -> dict[str, KeyEntry]:
    return KEY if which == "author" else {}


def case(n: int, a: Label, b: Label, number: str = "r1") -> Case:
    claim = Claim(id=f"c{n}", text="A claim.")
    return Case(id=f"{number}-{n:04d}", claim=claim, a=Position(label=a), b=Position(label=b))


CASES = [case(n, LABELS[n % 3], LABELS[(n + 1) % 3]) for n in range(N)]
"""One side has the known answer."""


def right(auditor: PolicyAuditor, cases: list[Case]) -> float:
    hits = [decided_label(c, auditor.adjudicate(c)) == KEY[c.claim.id].label for c in cases]
    return sum(hits) / len(hits)


@pytest.mark.parametrize("accuracy", [0.0, 0.5, 0.9, 1.0])
def test_it_is_as_right_as_it_says(accuracy: float) -> None:
    assert right(PolicyAuditor("x", answers, accuracy), CASES) == pytest.approx(accuracy, abs=0.06)


def test_it_gives_a_third_label_when_both_sides_are_wrong() -> None:
    auditor = PolicyAuditor("x", answers, accuracy=1.0)
    made = auditor.adjudicate(case(0, LABELS[1], LABELS[2]))
    assert (made.decision, made.label) == ("neither", LABELS[0])


def test_its_error_on_a_control_is_a_label_nobody_gave() -> None:
    auditor = PolicyAuditor("x", answers, accuracy=0.0)
    made = auditor.adjudicate(case(0, LABELS[0], LABELS[0]))
    assert made.decision == "neither" and made.label in LABELS[1:]


def test_it_decides_alike_whenever_it_is_asked_and_in_any_order() -> None:
    first = [PolicyAuditor("x", answers, 0.5, seed=1).adjudicate(c) for c in CASES]
    again = [PolicyAuditor("x", answers, 0.5, seed=1).adjudicate(c) for c in reversed(CASES)]
    assert first == again[::-1]
    for other in (PolicyAuditor("x", answers, 0.5, seed=2), PolicyAuditor("y", answers, 0.5)):
        decisions = [other.adjudicate(c).decision for c in CASES]
        assert decisions != [made.decision for made in first]


def test_where_the_key_is_silent_it_cannot_tell() -> None:
    made = PolicyAuditor("x", answers).adjudicate(case(N + 1, LABELS[0], LABELS[1]))
    assert made.decision == "cannot_tell"


def test_it_marks_itself_and_keeps_the_keys_words_to_itself() -> None:
    auditor = PolicyAuditor("x", answers, accuracy=0.5)
    for made in map(auditor.adjudicate, CASES):
        assert made.rationale.startswith("[simulated]")
        assert "the key's own words" not in made.canonical()


def test_a_key_that_the_benchmark_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match="no key 'autor'"):
        PolicyAuditor("x", answers, key="autor")


@pytest.mark.parametrize(
    ("options", "said"),
    [({"accuracy": 1.2}, "accuracy"), ({"acuracy": 1}, "did you mean 'accuracy'"),
     ({"answers": {}}, "no option 'answers'"), ({"name": "y"}, "no option 'name'")],
)  # fmt: skip
def test_options_are_checked_and_answers_cannot_be_set(
    options: dict[str, object], said: str
) -> None:
    spec = AuditorSpec(name="x", kind="policy", options=options)
    with pytest.raises(ConfigError, match=said):
        build_auditor(spec, sources={}, answers=answers)


def test_only_the_simulated_auditor_is_handed_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    class Curious:
        def __init__(self, name: str, answers: object = None) -> None:
            seen["answers"] = answers

    monkeypatch.setitem(BUILT_IN, "curious", "json:loads")
    monkeypatch.setattr("json.loads", Curious)
    build_auditor(AuditorSpec(name="x", kind="curious"), sources={}, answers=answers)
    assert seen == {"answers": None}


def test_who_judges_itself() -> None:
    def auditor(kind: str, **options: object) -> AuditorSpec:
        return AuditorSpec(name="x", kind=kind, options=options)

    local, model = VerifierSpec(kind="local"), VerifierSpec(kind="panel", options={"model": "m"})
    assert judges_itself(auditor("local"), local)
    assert judges_itself(auditor("agent", model="m"), model)
    assert not judges_itself(auditor("agent", model="n"), model)
    assert not judges_itself(auditor("evidence"), local)
