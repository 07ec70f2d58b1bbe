"""What pages say of time and progress."""

from __future__ import annotations

from typing import Any

import pytest

from deepfact.records import Adjudication, Case, Position
from deepfact.review import Desk
from deepfact.run_records import AuditorSpec
from deepfact.web.pages import decision_words, duration, first_words, pace, page


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "1 s"), (59.4, "59 s"), (60, "1 min"), (3570, "1 h"), (4800, "1 h 20 min")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds).replace("\u00a0", " ") == words


def desk(make: Any, *seconds: float | None, cases: int = 5) -> Desk:
    side = Position(label="supported")
    ids = [f"r1-{n:04d}" for n in range(1, cases + 1)]
    made = {
        case_id: Adjudication(
            case_id=case_id, auditor="ada", decision="a", rationale="seen", seconds=each
        )
        for case_id, each in zip(ids, seconds, strict=False)
    }
    all_cases = tuple(Case(id=case_id, claim=make.claim(), a=side, b=side) for case_id in ids)
    return Desk(AuditorSpec(name="ada", kind="human"), 1, all_cases, made)


def test_the_pace_is_a_median_of_at_least_three_known_times(make: Any) -> None:
    assert pace(desk(make, 10, 20)).median is None
    assert pace(desk(make, 10, None, 20)).left == ""
    known = pace(desk(make, 60, 120, 900))
    assert (known.done, known.total, known.median, known.share) == (3, 5, 120, 60)
    assert known.left.replace("\u00a0", " ") == "4 min"
    assert pace(desk(make, 1, 2, 3, cases=3)).left == ""
    assert pace(desk(make, cases=0)).share == 100


def test_words_of_a_decision() -> None:
    made = Adjudication(
        case_id="x", auditor="ada", decision="neither", label="inconclusive", rationale="seen"
    )
    assert decision_words(made) == "Neither: inconclusive"


def test_the_beginning_of_a_text_is_cut_at_a_space() -> None:
    assert first_words("short") == "short"
    assert first_words("one two three", 9) == "one two …"


def test_a_message_escapes_what_it_is_given() -> None:
    answer = page("message", title="<b>", text="a\u202eb", lost="</p>", after="", home=True)
    text = bytes(answer.body).decode()
    assert "&lt;b&gt;" in text and "[U+202E]" in text and "&lt;/p&gt;" in text
