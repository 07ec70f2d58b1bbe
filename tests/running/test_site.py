"""Units and what comes of them cross a process as text, and come back as they were."""

from __future__ import annotations

from typing import Any

import pytest

from deepfact.errors import RunIncomplete
from deepfact.records import FailureReason, Label, Verdict, VerificationFailure
from deepfact.running.arms import batches
from deepfact.running.elsewhere import SentSources
from deepfact.running.site import Found, Traces, Unit, keep_traces


def test_a_unit_comes_back_as_it_was(make: Any) -> None:
    unit = Unit("arm ü", 2, (make.claim("c1", text="Größe \u2028 5"), make.claim("c2")), ("c2",))
    assert Unit.of(unit.text()) == unit


@pytest.mark.parametrize("kind", ["verdict", "failure"])
def test_an_outcome_comes_back_as_it_was(kind: str) -> None:
    outcome: Any = VerificationFailure(claim_id="c", reason=FailureReason.TIMEOUT, detail="é")
    if kind == "verdict":
        outcome = Verdict(claim_id="c", label=Label.SUPPORTED, rationale="so", verifier="v")
    found = Found("a", 0, "c", outcome, (0.5, 1.25), (("e", "k"),), ('{"t":1}',))
    assert Found.of(found.text()) == found


def test_an_answer_that_is_owed_comes_back_with_its_words() -> None:
    found = Found.of(Found("a", 1, "c", RunIncomplete("later", where="w", fix="again")).text())
    assert isinstance(found.outcome, RunIncomplete)
    assert (found.claim, str(found.outcome)) == ("c", "w: later\n  again")


def test_batches_cover_every_claim_once(make: Any) -> None:
    claims = [make.claim(f"c{n}") for n in range(5)]
    units = list(batches("a", 0, claims, 2))
    assert [unit.wanted for unit in units] == [("c0", "c1"), ("c2", "c3"), ("c4",)]
    assert [len(unit.group) for unit in batches("a", 0, claims, 0)] == [5]
    assert list(batches("a", 0, [], 0)) == list(batches("a", 0, [], 2)) == []


def test_sources_are_decoded_when_they_are_read(make: Any) -> None:
    one, other = make.source(), make.source("Another text.")
    sources = SentSources({one.id: one.canonical(), other.id: "no JSON"})
    assert sources[one.id] == one and one.id in sources and "x" not in sources
    assert list(sources) == [one.id, other.id] and len(sources) == 2
    with pytest.raises(KeyError):
        sources["x"]


def test_traces_are_handed_over_once() -> None:
    class Trace:
        def canonical(self) -> str:
            return "{}"

    traces = Traces()
    traces.keep([Trace()])
    assert traces.taken() == ("{}",) and traces.taken() == ()
    keep_traces(object(), ["never read"])  # a verifier that keeps none
