"""Which sources a panel is shown, and which passages when they are too long."""

from __future__ import annotations

from deepfact.core.quotes import find_quote
from deepfact.records import Claim, Source
from deepfact.verifiers.base import Context
from deepfact.verifiers.panel.material import OMISSION, gather

FILLER = "".join(f"Paragraph {n} is about the weather in the harbour town. " for n in range(400))
NEEDLE = "Halvorsen's gross margin fell to 41.2 percent in the second quarter."
LONG = Source.create(title="Long", text=FILLER + NEEDLE + " " + FILLER)
SHORT = Source.create(title="Short", text="Halvorsen makes lenses. Its margin is published.")
FAR = Source.create(title="Far", text="Gross margin at Halvorsen was restated in a later filing.")
CLAIM = Claim(id="c", text="Halvorsen's gross margin was 41.2 percent.", cites=(LONG.id, SHORT.id))
CONTEXT = Context({source.id: source for source in (LONG, SHORT, FAR)})


def test_cited_sources_come_first_then_what_a_search_finds() -> None:
    shown = gather(CLAIM, CONTEXT, search=2, characters=100_000).shown
    assert [(one.tag, one.source.title, one.cited) for one in shown] == [
        ("S1", "Long", True),
        ("S2", "Short", True),
        ("S3", "Far", False),
    ]
    assert [one.text for one in shown] == [one.source.text for one in shown]


def test_without_search_only_the_cited_ones() -> None:
    shown = gather(CLAIM, CONTEXT, search=0, characters=100_000).shown
    assert [one.source.title for one in shown] == ["Long", "Short"]


def test_a_long_source_is_cut_to_the_passages_that_bear_on_the_claim() -> None:
    material = gather(CLAIM, CONTEXT, search=0, characters=2_000)
    long, short = material.shown
    assert NEEDLE in long.text
    assert OMISSION.strip() in long.text
    assert len(long.text) + len(short.text) <= 2_000
    assert short.text == SHORT.text
    assert material.flags == (f"source_shortened:{LONG.id}",)


def test_what_is_left_of_a_source_is_its_own_words_in_order() -> None:
    long = gather(CLAIM, CONTEXT, search=0, characters=3_000).shown[0]
    parts = [part for part in long.text.split(OMISSION.strip()) if part.strip()]
    spans = [find_quote(part, LONG.text) for part in parts]
    assert None not in spans
    assert len(spans) > 1
    starts = [span.start for span in spans if span is not None]
    assert starts == sorted(starts)


def test_one_endless_sentence_is_cut_at_the_budget() -> None:
    source = Source.create(title="Endless", text="word " * 4_000)
    claim = Claim(id="c", text="Another thing.", cites=(source.id,))
    shown = gather(claim, Context({source.id: source}), search=0, characters=500).shown
    assert 0 < len(shown[0].text) <= 500


def test_an_uncited_claim_gets_what_a_search_finds() -> None:
    claim = CLAIM.model_copy(update={"cites": ()})
    shown = gather(claim, CONTEXT, search=1, characters=100_000).shown
    assert [(one.tag, one.cited) for one in shown] == [("S1", False)]
    assert "Halvorsen" in shown[0].text


def test_a_source_cited_twice_is_shown_once() -> None:
    claim = CLAIM.model_copy(update={"cites": (SHORT.id, SHORT.id)})
    assert len(gather(claim, CONTEXT, search=0, characters=1_000).shown) == 1


def test_the_same_claim_gets_the_same_material() -> None:
    again = Context({source.id: source for source in (LONG, SHORT, FAR)})
    assert gather(CLAIM, CONTEXT, search=2, characters=2_000) == gather(
        CLAIM, again, search=2, characters=2_000
    )
