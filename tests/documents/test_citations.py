"""Citation markers and reference lists: each way of writing them that real reports use."""

from __future__ import annotations

from typing import Any, Callable

import pytest

Build = Callable[..., Any]
LIST = "\n\n## References\n\n" + "".join(
    f"{n}. Title {n}, https://example.org/{n}\n" for n in range(1, 13)
)


def cited(record: Any, sentence: int = 0) -> list[str]:
    places = record.sentences[sentence].references
    return [record.references[place].url.rpartition("/")[2] for place in places]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("The mill opened in 1898 [1].", ["1"]),
        ("The mill opened in 1898.[1][2]", ["1", "2"]),
        ("The mill opened in 1898 [1, 3-5].", ["1", "3", "4", "5"]),
        ("The mill opened in 1898 [1–3].", ["1", "2", "3"]),
        ("The mill opened in 1898 ([1][6]).", ["1", "6"]),
        ("The mill opened in 1898 [ref 7].", ["7"]),
        ("The mill opened in 1898【3†source】.", ["3"]),
        ("The mill opened in 1898【3:0†L1-L4】.", ["3"]),
        ("磨坊建于1898年。[1][2]", ["1", "2"]),
        ("磨坊建于1898年［12］。", ["12"]),
        ("The mill opened in 1898 \\[4\\].", ["4"]),
        ("The mill opened<sup>2</sup> early.", ["2"]),
        ("The mill opened² early.", ["2"]),
        ("The mill opened in 1898 [[5]](https://example.org/5).", ["5"]),
    ],
)
def test_ways_of_citing_by_number(build: Build, body: str, expected: list[str]) -> None:
    record = build(body + LIST)
    assert cited(record) == expected
    assert not any(marker.unresolved for marker in record.markers)
    assert "[" not in record.sentences[0].text and "†" not in record.sentences[0].text
    for marker in record.markers:  # what is between the offsets is what was read
        kept = record.text[marker.span.start : marker.span.end].replace("\\", "")
        assert kept == marker.text or marker.kind == "link"


def test_glued_digits_are_citations_where_the_report_cites_like_that(build: Build) -> None:
    body = (
        "HGT shapes genomes.2 The CO2 level of growth.12 It is rare in plants1,3 and animals. "
        'Called "a web".4 It rose to 3.5 in 2019. See Figure.5'
    )
    record = build(body + LIST)
    found = {marker.text: marker.numbers for marker in record.markers if marker.kind == "glued"}
    assert found == {"2": (2,), "12": (12,), "1,3": (1, 3), "4": (4,), "5": (5,)}
    assert record.sentences[0].text == "HGT shapes genomes."
    assert record.sentences[1].text == "The CO2 level of growth."
    assert cited(record, 2) == ["1", "3"]


def test_glued_digits_are_text_where_it_does_not(build: Build) -> None:
    record = build("The CO2 level rose [1]. It is in Figure.3 of covid19 studies [2]." + LIST)
    assert {marker.kind for marker in record.markers if not marker.kind.carries_target} == {
        "bracket"
    }


@pytest.mark.parametrize(
    "body",
    ["arr[0] is first.", "In the interval [0, 1] it grows.", "- [ ] a task that is open",
     "An image ![1](a.png) stands here.", "The years [2019-2024] were good.", "Area in km² grew."],
)  # fmt: skip
def test_what_only_looks_like_a_citation(build: Build, body: str) -> None:
    numbers = [number for marker in build(body + LIST).markers for number in marker.numbers]
    assert numbers in ([], [0])


def test_what_has_no_entry_is_unresolved_with_its_reason(build: Build) -> None:
    record = build("One thing is so [99]. Another is [9-3]. Both [1, 40] are." + LIST)
    reasons = [marker.unresolved for marker in record.markers]
    assert reasons == [
        "no entry with number 99", "9-3 is no rising range", "no entry with number 40",
    ]  # fmt: skip
    assert [len(marker.references) for marker in record.markers] == [0, 0, 1]
    assert build("A lone mark [1].").markers[0].unresolved == "no reference list with number 1"


def test_footnotes_are_found_by_label(build: Build) -> None:
    record = build(
        "It opened[^1] and closed[^chronicle].\n\n"
        "[^1]: Mill history, https://example.org/a\n[^chronicle]: The chronicle\n"
    )
    assert [record.references[m.references[0]].title for m in record.markers] == [
        "Mill history", "The chronicle",
    ]  # fmt: skip
    assert record.sentences[0].text == "It opened and closed."
    assert len(record.sentences) == 1


def test_links_urls_and_identifiers_carry_their_target(build: Build) -> None:
    record = build(
        "It [opened](https://example.org/a_(b)) early. See https://example.org/c. "
        "More in (arXiv:1505.06067). Again [here](https://www.example.org/c/)."
    )
    urls = [record.references[marker.references[0]].url for marker in record.markers]
    assert urls == [
        "https://example.org/a_(b)", "https://example.org/c", "https://arxiv.org/abs/1505.06067",
        "https://example.org/c",
    ]  # fmt: skip
    assert record.sentences[0].text == "It opened early."
    assert not any(reference.listed for reference in record.references)


def test_links_by_label_cite_their_definition(build: Build) -> None:
    record = build("See [the docs][d] of it.\n\n[d]: https://example.org/d 'The docs'\n")
    (marker,) = record.markers
    assert record.references[marker.references[0]].title == "The docs"
    assert record.sentences[0].text == "See [the docs] of it."


def test_author_and_year(build: Build) -> None:
    record = build(
        "It is old (Miller et al., 2019; Young & Hall, 2020). Hall et al. (2021) agree.\n\n"
        "# References\n\n- Miller, A. et al. (2019). On mills. https://example.org/a\n"
        "- Young, B. and Hall, C. (2020). On rivers.\n"
    )
    by_year = [m for m in record.markers if m.kind == "author_year"]
    assert [len(m.references) for m in by_year] == [1, 1, 0]
    assert by_year[2].unresolved == "no entry of Hall et al. 2021"


def test_author_and_year_said_once_beside_their_identifier(build: Build) -> None:
    record = build(
        '- **Kaushal et al. (2019), "Shuttling"** (arXiv:1912.04712)\n\n'
        "As Kaushal et al. (2019) show, it can be done.\n"
    )
    named = [m for m in record.markers if m.kind == "author_year"]
    assert len(named) == 2 and not any(m.unresolved for m in named)
    assert record.references[named[1].references[0]].url == "https://arxiv.org/abs/1912.04712"


# --- reference lists -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "title"),
    [
        ("## References\n\n1. [Mill history](https://example.org/a) (background)\n",
         "Mill history"),
        ("References\n[1] https://example.org/a - Mill history\n", "Mill history"),
        ("参考文献：\n[1] https://example.org/a - Mill history\n", "Mill history"),
        ("### Sources\n\n[1] Mill history: https://example.org/a  \n", "Mill history"),
        ("**Works cited**\n\n1. Mill history, accessed April 24, 2025, https://example.org/a\n",
         "Mill history"),
        ("#### **引用的著作**\n\n1. Mill history, 檢索日期：4月 24, 2025， "
         "[https://example.org/a](https://example.org/a)\n", "Mill history"),
        ("## 10. Sources\n\n| # | Title | URL |\n|---|---|---|\n"
         "| 1 | Mill history | https://example.org/a |\n", "Mill history"),
        ("## Bibliography\n\n- [1] Mill history. https://example.org/a\n", "Mill history"),
        ("## References\n\n* Mill history — https://example.org/a\n", "Mill history"),
        ("[1]: https://example.org/a \"Mill history\"\n", "Mill history"),
        ("[1] https://example.org/a\n\nhttps://example.org/a\n", ""),
        ("[1] Mill history - Chronicle\n\nhttps://example.org/a\n", "Mill history - Chronicle"),
        ("## References\n\n1. **Mill history**\n   https://example.org/a\n   - a remark\n",
         "Mill history a remark"),
    ],
)  # fmt: skip
def test_shapes_of_reference_lists(build: Build, shape: str, title: str) -> None:
    record = build(f"# Mills\n\nThe mill opened in 1898 [1].\n\n{shape}")
    (entry,) = [reference for reference in record.references if reference.listed]
    assert (entry.numbers, entry.url) == ((1,), "https://example.org/a")
    assert entry.title.replace("- ", "").strip('" ') == title.replace("- ", "")
    assert cited(record) == ["a"]
    assert len(record.sentences) == 1, "entries are no sentences"


def test_several_numbers_for_one_url(build: Build) -> None:
    record = build(
        "It opened [50]. It closed [73].\n\n[50] [52] [73] https://example.org/a\n\n"
        "https://example.org/a\n\n[51] A title\n\nhttps://example.org/b\n"
    )
    assert [entry.numbers for entry in record.references] == [(50, 52, 73), (51,)]
    assert record.sentences[0].references == record.sentences[1].references == (0,)


@pytest.mark.parametrize(
    ("words", "date", "accessed"),
    [
        ("檢索日期：4月 24, 2025", "2025-04-24", True),
        ("访问日期：2025年4月3日", "2025-04-03", True),
        ("accessed April 24, 2025", "2025-04-24", True), ("24 April 2025", "2025-04-24", False),
        ("Retrieved 2025-04-24", "2025-04-24", True), ("2024年3月", "2024-03", False),
        ("Miller (2019)", "2019", False), ("in 2019 it was", "", False),
        ("31月 1, 2025", "", False),
    ],
)  # fmt: skip
def test_dates_of_entries(build: Build, words: str, date: str, accessed: bool) -> None:
    entry = build(f"See [1].\n\n## References\n\n1. Mills, {words}, https://example.org/a\n")
    (reference,) = [one for one in entry.references if one.listed]
    assert (reference.date, reference.accessed) == (date, accessed)


def test_a_list_for_each_chapter(build: Build) -> None:
    record = build(
        "# One\n\nIt opened [1].\n\n## References\n\n1. A, https://example.org/a\n\n"
        "# Two\n\nIt closed [1].\n\n## References\n\n1. B, https://example.org/b\n"
    )
    assert (cited(record, 0), cited(record, 1)) == (["a"], ["b"])


def test_numbers_in_code_are_counted_and_no_citations(build: Build) -> None:
    record = build("Text [1].\n\n```\nx = [1]\ny = [2, 3]\n```\n" + LIST)
    assert len(record.markers) == 1
    assert "2 numbers in brackets stand in code and are no citations" in record.notes
