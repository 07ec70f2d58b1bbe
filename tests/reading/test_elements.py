"""What the local verifier reads in a statement, and how it holds two statements together."""

from __future__ import annotations

import pytest

from deepfact.reading.arithmetic import derived
from deepfact.reading.compare import Comparison, compare
from deepfact.reading.dates import date_agrees, dates
from deepfact.reading.elements import elements
from deepfact.reading.findings import Finding, Status
from deepfact.reading.library import Library
from deepfact.reading.quantities import agrees, quantities
from deepfact.records import Source

TEXT = """Halden Optics reported revenue of $48.2 million for the second quarter of 2031, up from
$41.0 million a year earlier. Gross margin fell 1.8 percentage points to 38.4 percent, which chief
executive Mara Lind blamed on glass prices. The board did not approve a dividend. Staff numbers
rose to 1,204."""
LIBRARY = Library([Source.create(title="Results", text=TEXT)])


def held(claim: str) -> Comparison:
    return compare(claim, LIBRARY)


def finding(claim: str, kind: str) -> Finding:
    return next(f for f in held(claim).findings if f.kind == kind)


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("1,234.5 units", 1234.5, ""),
        ("12.4 %", 12.4, "percent"),
        ("12.4 percent", 12.4, "percent"),
        ("$3.2 million", 3.2e6, "$"),
        ("€3.2M", 3.2e6, "€"),
        ("3 percentage points", 3, "points"),
        ("25 basis points", 0.25, "points"),
        ("90 minutes", 5400, "time"),
        ("1.5 hours", 5400, "time"),
        ("12 ms", 0.012, "time"),
        ("2 kg", 2000, "mass"),
        ("5 km", 5000, "length"),
        ("20 °C", 20, "celsius"),
        ("twelve patients", 12, ""),
        ("3 billion people", 3e9, ""),
        ("40 μg", 4e-5, "mass"),
    ],
)
def test_quantities(text: str, value: float, dimension: str) -> None:
    found = quantities(text)
    assert [q.dimension for q in found] == [dimension]
    assert found[0].value == pytest.approx(value)
    assert text[found[0].start : found[0].end] == found[0].text


@pytest.mark.parametrize("text", ["IL-6", "v2.1", "COVID-19", "GPT4", "one of them"])
def test_names_are_no_quantities(text: str) -> None:
    assert quantities(text) == []


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("12 %", "12.4 percent", True),
        ("12.4 %", "12 percent", False),
        ("12.4 %", "12.4 percentage points", False),
        ("about 50 km", "52 km", True),
        ("50 km", "52 km", False),
        ("more than 200 sites", "214 sites", True),
        ("more than 200 sites", "190 sites", False),
        ("1.5 hours", "90 minutes", True),
        ("$3.2 million", "$3,200,000", True),
        ("10 to 12 weeks", "10 weeks", True),
    ],
)
def test_numbers_agree_by_the_claims_precision(claim: str, source: str, expected: bool) -> None:
    assert agrees(quantities(claim)[0], quantities(source)[0]) is expected


@pytest.mark.parametrize(
    ("claim", "stated", "how"),
    [
        ("$7.2 million", "$48.2 million and $41.0 million", "difference"),
        ("17.6 percent", "$48.2 million and $41.0 million", "change"),
        ("$89.2 million", "$48.2 million and $41.0 million", "sum"),
        ("25 percent", "12 sites of 48 sites", "share"),
    ],
)
def test_arithmetic_on_two_numbers(claim: str, stated: str, how: str) -> None:
    found = derived(quantities(claim)[0], quantities(stated))
    assert found is not None and found[2] == how
    assert derived(quantities("$9.9 million")[0], quantities(stated)) is None


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("12 March 2031", "2031-03-12", True),
        ("March 2031", "March 12, 2031", True),
        ("Q1 2031", "12 March 2031", True),
        ("second quarter of 2031", "Q2 2031", True),
        ("12 March 2031", "March 2031", False),
        ("April 2031", "12 March 2031", False),
        ("in 2030", "12 March 2031", False),
    ],
)
def test_dates(claim: str, source: str, expected: bool) -> None:
    assert date_agrees(dates(claim)[0], dates(source)[0]) is expected


def test_a_count_is_no_year() -> None:
    assert dates("2000 people came") == []
    assert [d.year for d in dates("in 2000 people came")] == [2000]


def test_elements_of_a_statement() -> None:
    found = elements(
        "According to the Varn Institute, output at Halden Optics did not rise by 4 % [3]."
    )
    assert found.speakers == ("Varn Institute",)
    assert [name.text for name in found.names] == ["Varn Institute", "Halden Optics"]
    assert [word.text for word in found.directions] == ["rise"]
    assert [word.text for word in found.negations] == ["not"]
    assert [q.text for q in found.quantities] == ["4 %"]


@pytest.mark.parametrize(
    ("claim", "kind", "disputed"),
    [
        ("Revenue rose to $47.2 million in Q2 2031.", "quantity", "$47.2 million"),
        ("Gross margin fell 1.8 percent.", "quantity", "1.8 percent"),
        ("Revenue of $48.2 million was for the third quarter of 2031.", "date", None),
        ("Chief executive Tom Rask blamed glass prices.", "name", "Tom Rask"),
        ("Gross margin rose to 38.4 percent.", "direction", "rose"),
        ("The board approved a dividend.", "negation", "approved a dividend"),
    ],
)
def test_disputes_name_words_of_the_claim(claim: str, kind: str, disputed: str | None) -> None:
    found = finding(claim, kind)
    assert found.status is Status.DISPUTED
    assert claim[found.start : found.end] == found.text
    assert disputed is None or found.text == disputed
    assert found.against is not None and found.against.reading is not None


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("Revenue increased by $7.2 million from a year earlier.", "quantity"),
        ("Halden's workforce grew to about 1,200.", "quantity"),
        ("Gross margin was down to 38.4 %.", "direction"),
        ("Revenue was $48.2 million in Q2 2031.", "date"),
    ],
)
def test_the_same_in_other_words_is_covered(claim: str, kind: str) -> None:
    assert finding(claim, kind).status is Status.COVERED


def test_a_hedge_is_never_a_finding() -> None:
    library = Library([Source.create(title="", text="The firm may open a plant in Varn.")])
    comparison = compare("The firm opened a plant in Varn.", library)
    assert not comparison.of(Status.DISPUTED)
