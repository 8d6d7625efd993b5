"""A DDI codebook has the elements that the schema of DDI-Codebook 2.5 allows, in its order.

The tables below restate the sequences of that schema for the elements that an export has.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET

import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc

NAMESPACE = "{ddi:codebook:2_5}"
SEQUENCES = {  # by element: what it may hold, in this order
    "codeBook": "docDscr stdyDscr fileDscr dataDscr otherMat",
    "stdyDscr": "citation studyAuthorization stdyInfo studyDevelopment method dataAccs othrStdyMat "
    "notes",
    "citation": "titlStmt rspStmt prodStmt distStmt serStmt verStmt biblCit holdings notes",
    "titlStmt": "titl subTitl altTitl parTitl IDNo",
    "method": "dataColl notes anlyInfo stdyClas dataProcessing codingInstructions",
    "fileDscr": "fileTxt locMap notes",
    "fileTxt": "fileName fileCitation dataFingerprint fileCont fileStrc dimensns fileType format "
    "filePlac dataChck ProcStat dataMsng software verStmt",
    "dimensns": "caseQnty varQnty logRecL recPrCas recNumTot",
    "dataDscr": "varGrp nCubeGrp var nCube notes",
    "var": "location labl imputation security embargo respUnit anlysUnit qstn valrng invalrng "
    "undocCod universe TotlResp sumStat txt stdCatgry catgryGrp catgry codInstr verStmt concept "
    "derivation varFormat geoMap catLevel notes",
    "valrng": "item range key notes",
    "catgry": "catValu labl txt catStat mrow",
}
REQUIRED = {"codeBook": "stdyDscr", "stdyDscr": "citation", "citation": "titlStmt"}
REQUIRED |= {"titlStmt": "titl", "valrng": "range"}
ONCE = {"titlStmt", "titl", "dimensns", "valrng", "varFormat", "catValu"}
VALUES = {  # by element and attribute: the values of an enumeration
    ("var", "intrvl"): {"contin", "discrete"},
    ("range", "UNITS"): {"INT", "REAL"},
    ("sumStat", "type"): {"mean", "medn", "mode", "vald", "invd", "min", "max", "stdev", "other"},
    ("catStat", "type"): {"freq", "percent", "crosstab", "other"},
    ("varFormat", "type"): {"character", "numeric"},
}


def problems(element: ET.Element) -> list[str]:
    """What an element and all below it have against the schema."""
    tag = element.tag.removeprefix(NAMESPACE)
    allowed = SEQUENCES.get(tag, "").split()
    held = [child.tag.removeprefix(NAMESPACE) for child in element]
    found = [f"{tag}: {name} is not part of it" for name in held if name not in allowed]
    places = [allowed.index(name) for name in held if name in allowed]
    if places != sorted(places):
        found.append(f"{tag}: {held} are out of order")
    if tag in REQUIRED and REQUIRED[tag] not in held:
        found.append(f"{tag}: {REQUIRED[tag]} is missing")
    found += [f"{tag}: {name} twice" for name in ONCE if held.count(name) > 1]
    if tag == "var" and not element.get("name"):
        found.append("var: no name")
    for (owner, attribute), values in VALUES.items():
        if owner == tag and element.get(attribute, next(iter(values))) not in values:
            found.append(f"{tag}: {attribute} is {element.get(attribute)}")
    if tag in ("caseQnty", "varQnty", "catStat", "sumStat"):
        found += [] if (element.text or "").isdigit() else [f"{tag}: {element.text!r}"]
    return found + [problem for child in element for problem in problems(child)]


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> ET.Element:
    """The codebook of a release of two tables, with every kind of column."""
    folder = tmp_path_factory.mktemp("ddi")
    rows = 60
    frame = pl.DataFrame(
        {
            "age": [20 + n % 40 for n in range(rows)],
            "zip": [f"1305{n % 9}" for n in range(rows)],
            "<born> & \x01": [f"19{50 + n % 40}-01-02" for n in range(rows)],
            "ill": [["flu", "gout", None, "ulcer"][n % 4] for n in range(rows)],
            "pay": [1.5 * (n % 17) for n in range(rows)],
        }
    )
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier"},
            "zip": {"role": "quasi-identifier"},
            "<born> & \x01": {"role": "insensitive", "type": "date", "allow_identifying": True},
            "ill": {"role": "sensitive"},
            "pay": {"role": "insensitive"},
        },
        requirements=[dc.DistinctLDiversity(l=2)],
        method=dc.Anatomy(),
    )
    dc.publish(frame, job, seed=1).save(folder / "release", **UNATTACKED)
    dc.codebook(folder / "release").save(folder / "book.xml")
    return ET.parse(folder / "book.xml").getroot()


def test_the_structure_is_that_of_the_schema(book):
    assert book.tag == f"{NAMESPACE}codeBook"
    assert problems(book) == []
    assert len(book.findall(f"{NAMESPACE}fileDscr")) == 2


def test_identifiers_are_unique_and_references_lead_to_files(book):
    own = [element.get("ID") for element in book.iter() if element.get("ID")]
    assert len(own) == len(set(own))
    files = {element.get("ID") for element in book.findall(f"{NAMESPACE}fileDscr")}
    variables = list(book.iter(f"{NAMESPACE}var"))
    assert variables
    assert {variable.get("files") for variable in variables} == files
    for number, file in enumerate(sorted(files, key=str)):
        size = book.findall(f"{NAMESPACE}fileDscr")[number].find(f".//{NAMESPACE}varQnty")
        mine = [variable for variable in variables if variable.get("files") == file]
        assert size is not None
        assert size.text == str(len(mine))


def test_a_wrong_structure_is_seen(book):
    """The rules of this file refuse what the schema refuses."""
    swapped = copy.deepcopy(book)
    swapped[:] = [swapped[-1], *swapped[:-1]]
    assert any("out of order" in problem for problem in problems(swapped))
    lacking = copy.deepcopy(book)
    study = lacking.find(f"{NAMESPACE}stdyDscr")
    assert study is not None
    study.remove(study[0])
    assert "stdyDscr: citation is missing" in problems(lacking)
    strange = copy.deepcopy(book)
    ET.SubElement(strange, f"{NAMESPACE}extra")
    assert "codeBook: extra is not part of it" in problems(strange)
