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
        ("three fifths of it", 60, "percent"),
        ("four in five sites", 80, "percent"),
        ("output tripled", 3, "ratio"),
        ("31 litres a second", 31, "volume/time"),
        ("6.2 t/ha", 6.2, "t/ha"),
        ("minus 11 degrees", -11, "celsius"),
    ],
)
def test_quantities(text: str, value: float, dimension: str) -> None:
    found = quantities(text)
    assert [q.dimension for q in found] == [dimension]
    assert found[0].value == pytest.approx(value)
    assert text[found[0].start : found[0].end] == found[0].text


@pytest.mark.parametrize("text", ["IL-6", "v2.1", "COVID-19", "GPT4", "one of them", "at 04:12"])
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


def test_the_number_of_a_name_is_no_quantity() -> None:
    found = elements("The Airon 9 reached 3.6 in Varn, as Article 8 asks; of 340 pumps, 2 failed.")
    assert [name.text for name in found.names] == ["Airon 9", "Varn", "Article 8"]
    assert [quantity.text for quantity in found.quantities] == ["3.6", "340", "2"]


def test_clauses_are_what_a_claim_says_one_by_one() -> None:
    text = "Margins fell by 3 points, while staff at the Varn plant rose to 1,204."
    assert [text[a:b] for a, b in elements(text).clauses] == [
        "Margins fell by 3 points, ",
        "while staff at the Varn plant rose to 1,204.",
    ]


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


SOURCE = """The bore was drilled by Rigmar Deep and the casing cemented by Solvane Wells. Drilling
began on 3 March 2035 at 04:12. The first crew reached the gate at 04:39. Airon pumps failed 1.4
times a year for Rigmar Deep and 2.3 times a year for Solvane Wells. The owner paid 31.2 million
florins for 9,750 hectares. The longer warranty does not extend to units sold before May. The fire
broke out on 22 August 2036. "On good land this is the best pump we have had," said Mara Lind. "On
bad land it is the worst." Injectivity went from 2.6 to 0.8."""
WELL = Library([Source.create(title="Well report", text=SOURCE)])


@pytest.mark.parametrize(
    ("claim", "kind", "disputed"),
    [
        ("The casing was cemented by Rask Drilling.", "name", "Rask Drilling"),
        ("The first crew reached the gate 37 minutes after drilling began.", "quantity", "37"),
        ("The fire broke out less than six months after drilling began.", "quantity", "six months"),
        ("The owner paid about 4,700 florins a hectare.", "quantity", "4,700"),
        ("Pumps failed more often for Rigmar Deep than for Solvane Wells.", "direction", "more"),
        ("Injectivity rose.", "direction", "rose"),
        ("Units sold before May share in the longer warranty.", "negation", "sold"),
        ('Lind praised it on any ground: "this is the best pump we have had".', "quotation", "any"),
    ],
)
def test_disputes_that_take_a_second_look(claim: str, kind: str, disputed: str) -> None:
    found = [f for f in compare(claim, WELL).findings if f.kind == kind]
    against = [f for f in found if f.status is Status.DISPUTED]
    assert [disputed in f.text for f in against] == [True], found
    assert against[0].text in claim and against[0].against is not None


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("The first crew reached the gate 27 minutes after drilling began.", "quantity"),
        ("The fire broke out more than a year after drilling began.", "direction"),
        ("The owner paid 3,200 florins a hectare.", "quantity"),
        ("Pumps failed less often for Rigmar Deep than for Solvane Wells.", "direction"),
        ("The casing was cemented by Solvane Wells.", "name"),
    ],
)
def test_what_follows_from_the_source_is_not_disputed(claim: str, kind: str) -> None:
    found = [f for f in compare(claim, WELL).findings if f.kind == kind]
    assert found and not any(f.status is Status.DISPUTED for f in found)
    if kind == "quantity":
        assert found[0].status is Status.COVERED
