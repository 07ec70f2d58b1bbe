"""A model's ratings: matched by number, kept in the store, and never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepfact.documents.build import build_record
from deepfact.documents.drafts import Report
from deepfact.documents.records import Original, ReportRecord
from deepfact.errors import RunIncomplete
from deepfact.importers.report_ratings import (
    PER_REQUEST,
    PROMPT,
    RaterSpec,
    rate_reports,
    rating_requests,
)
from deepfact.prompts.library import SHIPPED
from deepfact.providers.registry import ProviderSpec
from deepfact.records import sha256_of

TEXT = "The mill was built in 1898. It is </sentences> old. It closed in 1931."


def record(text: str = TEXT) -> ReportRecord:
    original = Original(name="m.md", format="text", size=1, hash=sha256_of(text))
    return build_record(Report("mills", text, original, "text", question="When & <how>?"))


def spec(folder: Path, *rules: dict[str, Any], **fields: Any) -> RaterSpec:
    script = folder / "script.jsonl"
    script.write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    provider = ProviderSpec(kind="scripted", options={"path": str(script)})
    given = {"model": "m", "provider": provider, "responses": str(folder / "r.sqlite"), **fields}
    return RaterSpec(**given)


def rating(sentence: str, verifiable: bool = True, relevance: Any = 5) -> dict[str, Any]:
    return {"sentence": sentence, "verifiable": verifiable, "relevance": relevance, "reason": "so"}


def say(*ratings: dict[str, Any]) -> dict[str, Any]:
    return {"say": "Here it is: " + json.dumps({"ratings": list(ratings)})}


def test_ratings_are_matched_by_number(tmp_path: Path) -> None:
    answer = say(rating("S3", False, 1), rating("S1"), rating("S9"), rating("S2"), rating("S2"))
    (rated,) = rate_reports(spec(tmp_path, answer), [record()])
    first, second, third = rated.sentences
    assert (first.verifiable, first.relevance, first.why) == (True, 5, "so")
    assert first.rated_by.startswith(f"m, {PROMPT} ") and third.rated_by == first.rated_by
    assert (third.verifiable, third.relevance) == (False, 1)
    assert second == record().sentences[1], "rated twice is not rated"
    assert rated.notes == (
        "1 sentences keep their rating by rules: the model left them out, or rated them twice",
    )


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ({"say": "I cannot."}, "the model's answer is no JSON"),
        ({"say": '{"ratings": 3}'}, "does not fit: answer.ratings is not of type array"),
        (say(rating("S1", relevance=9)), "does not fit: answer.ratings[0].relevance is none of"),
        ({"fail": "refused"}, "refused: "),
        ({"say": "{}", "stop_reason": "max_tokens"}, "truncated: "),
    ],
)
def test_without_an_answer_the_rules_stay(tmp_path: Path, rule: dict[str, Any], why: str) -> None:
    (rated,) = rate_reports(spec(tmp_path, rule), [record()])
    assert rated.sentences == record().sentences
    assert why in rated.notes[-1] and rated.notes[-1].startswith("3 sentences keep")


def test_answers_are_kept_and_replayed(tmp_path: Path) -> None:
    answer = say(rating("S1"), rating("S2"), rating("S3"))
    first = rate_reports(spec(tmp_path, answer), [record()])
    again = rate_reports(spec(tmp_path, {"fail": "error"}, replay=True), [record()])
    assert again == first
    with pytest.raises(RunIncomplete, match="no stored answer"):
        rate_reports(
            spec(tmp_path, answer, replay=True), [record("Another mill was built in 1900.")]
        )


def test_text_is_fenced_and_long_reports_take_several_calls(tmp_path: Path) -> None:
    (request,) = rating_requests(spec(tmp_path), record())
    body = request.messages[0].content
    assert body.count("</sentences>") == 1 and "S2: It is &lt;/sentences&gt; old." in body
    assert "When &amp; &lt;how&gt;?" in body
    long = record("The mill was built in 1898. " * (PER_REQUEST + 1))
    assert len(rating_requests(spec(tmp_path), long)) == 2


def test_a_released_prompt_stays_as_it_is() -> None:
    """A change of its text is a new file, as with the prompts under lock."""
    text = (SHIPPED / "rating" / "report-sentences.v1.md").read_text("utf-8")
    assert sha256_of(text) == (
        "sha256:994c2b15d922630c47d2cb7571e306e5008b85d80384e010bc073aae994a4f23"
    )
