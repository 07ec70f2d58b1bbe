"""Edits of supported claims: each is documented, seeded, and refused where it may leave the claim
true or makes no sense."""

from __future__ import annotations

import random

import pytest

from deepfact.reading.edit_checks import Proposal, Surroundings, difference, why_rejected
from deepfact.reading.edits import propose, speakers_of
from deepfact.records import Source
from deepfact.vocabulary import EditKind

REPORT = Source.create(
    title="Orlen Valley Transit, annual report",
    text="Orlen Valley Transit carried 4.2 million passengers in 2031. Fares at Halden Bridge "
    "rose on 3 May 2031. Fares at Marsh Quay did not change. According to Brackmoor Ratings, the "
    "company was sound. Some of the drivers were retrained. Of Halden Bridge, Tarn Institute said "
    "little.",
)
NEAR = Surroundings((REPORT,), ("Brackmoor Ratings", "Tarn Institute"))


def edited(kind: EditKind, text: str, seed: int = 1) -> tuple[Proposal | None, str]:
    return propose(kind, text, NEAR, random.Random(seed))


@pytest.mark.parametrize(
    ("kind", "text", "before", "after"),
    [
        ("number", "It carried 4.2 million passengers in that year.", "4.2", None),
        ("date", "Fares at Halden Bridge rose on 3 May 2031.", None, None),
        ("entity", "Fares at Halden Bridge rose on that day.", "Halden Bridge", "Marsh Quay"),
        ("negation", "The company was sound.", "", "not"),
        ("negation", "Fares did not change.", "not", ""),
        ("direction", "Fares at Halden Bridge rose that day.", "rose", "fell"),
        ("attribution", "According to Brackmoor Ratings, the company was sound.",
         "Brackmoor", "Tarn"),
        ("scope", "Some of the drivers were retrained.", "Some", "All"),
    ],
)  # fmt: skip
def test_each_kind_says_what_it_changed(
    kind: str, text: str, before: str | None, after: str | None
) -> None:
    made, why = edited(EditKind(kind), text)
    assert made is not None, why
    assert made.kind == kind and made.original == text and made.text != text
    assert (made.before, made.after) == difference(text, made.text)
    if before is not None:
        assert made.before.startswith(before)
    if after is not None:
        assert made.after.startswith(after)


def test_the_same_seed_makes_the_same_edit_and_another_may_not() -> None:
    text = "It carried 4.2 million passengers in that year."
    assert edited(EditKind.NUMBER, text) == edited(EditKind.NUMBER, text)
    found = {made.text for seed in range(9) if (made := edited(EditKind.NUMBER, text, seed)[0])}
    assert len(found) > 2


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("number", "It carried about 4.2 million passengers.", "rounded or a bound"),
        ("number", "It carried more than 4.2 million passengers.", "rounded or a bound"),
        ("number", "Passengers rose from 3.8 million to 4.2 million.", "would no longer make"),
        ("number", "The company was sound.", "there is no number"),
        ("date", "Fares have been stable since 2031.", "is a bound"),
        ("date", "Between 2030 and 2031 fares rose.", "bound"),
        ("negation", "Some drivers were retrained.", "some or all"),
        ("negation", "The company may be sound.", "hedged or conditional"),
        ("negation", "The company, which was sound and had staff, paid drivers who were ill.",
         "subordinate"),
        ("direction", "Fares rose from 3 to 4 marks.", "would contradict"),
        ("direction", "The fare rose half a mark short of the limit.", "no opposite"),
        ("direction", "It was the first of them.", "surely false"),
        ("direction", "Fares could fall next year.", "hedged"),
        ("entity", "Little was said about Halden Bridge.", "the other name"),
        ("scope", "Four times as many drivers were retrained.", "no sentence"),
    ],
)  # fmt: skip
def test_what_may_stay_true_or_makes_no_sense_is_refused(kind: str, text: str, why: str) -> None:
    for seed in range(5):
        made, reason = edited(EditKind(kind), text, seed)
        assert made is None, made
        assert why in reason


@pytest.mark.parametrize(
    ("kind", "original", "text", "why"),
    [
        ("number", "It paid 18 ms.", "It paid 3.", "of something else"),
        ("number", "It is 40 percent of it.", "It is 140 percent of it.", "more than all"),
        ("number", "It has 5 sites.", "It has 1 sites.", "a single one"),
        ("date", "It came on 30 May 2031.", "It came on 30 February 2031.", "no such day"),
        ("date", "Of 2030 and 2031, it was 2031.", "Of 2030 and 2031, it was 2030.", "already"),
        ("date", "It cost less in 2033-34.", "It cost less in 2035-34.", "span"),
        ("entity", "Fares at Halden Bridge rose.", "Fares at May rose.", "no name"),
        ("negation", "It was not only sound.", "It was only sound.", "no denial"),
        ("negation", "It had a fence.", "It had not a fence.", "no sentence"),
        ("negation", "There was no fence.", "There was fence.", "no sentence"),
        ("negation", "It rose, but not over five years.", "It rose, but over five years.",
         "denies nothing"),
        ("number", "Orlen Valley Transit carried 3.9 million passengers in that year.",
         "Orlen Valley Transit carried 4.2 million passengers in that year.", "may say just that"),
        ("scope", "It fell.", "it  fell.", "changes nothing"),
    ],
)  # fmt: skip
def test_a_proposal_is_checked_whoever_made_it(
    kind: str, original: str, text: str, why: str
) -> None:
    before, after = difference(original, text)
    proposal = Proposal(EditKind(kind), original, text, before, after)
    assert why in why_rejected(proposal, NEAR)


def test_the_article_before_a_turned_word_fits_it() -> None:
    made, _ = edited(EditKind.DIRECTION, "The report tells of an increase in fares.")
    assert made is not None and made.text == "The report tells of a decrease in fares."


def test_only_those_who_said_something_may_be_put_in_as_speakers() -> None:
    assert speakers_of([REPORT]) == ("Brackmoor Ratings", "Tarn Institute")
