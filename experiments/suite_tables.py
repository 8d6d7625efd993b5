"""The tables of the suite: public ones, frozen by the hash of what is read, and generated ones.

A public table is some columns of a file; its hash is that of these columns as CSV, so that neither
another edition of the file nor another reading passes unnoticed. A generated table has a Gaussian
copula with one correlation between all attributes; the values of a sensitive attribute are as
frequent as 1/rank^skew. Every seed draws a sample of rows of a public table, and new rows of a
generated one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from experiments.codip import census_frame
from experiments.harness import MissingDataError, data_folder
from experiments.opinion_polls import movielens

ROWS = 2000  # of a sample, and at most SHARE of the file
SHARE = 0.8


@dataclass(frozen=True)
class SuiteTable:
    """A table with its roles; the first sensitive attributes are used, as many as are asked for."""

    quasi: tuple[str, ...]  # names, with ":integer" where numbers are numbers
    sensitive: tuple[str, ...]
    read: Callable[[Path], pl.DataFrame] | None = None  # from the folder of the data
    sha256: str = ""  # of the columns as CSV, where a file is read
    skew: float | None = None  # of a generated table
    correlation: float | None = None

    @property
    def columns(self) -> list[str]:
        return [*(name.partition(":")[0] for name in self.quasi), *self.sensitive]

    def attributes(self, sensitive: int) -> dict[str, Any]:
        """The attributes of a job."""
        found: dict[str, Any] = {}
        for written in self.quasi:
            name, _, kind = written.partition(":")
            found[name] = {"role": "quasi-identifier", "type": kind or None}
        return found | {name: {"role": "sensitive"} for name in self.sensitive[:sensitive]}

    def whole(self) -> pl.DataFrame:
        """All rows of a public table; ValueError where they are not those that were frozen."""
        assert self.read is not None
        folder = data_folder()
        try:
            frame = self.read(folder).select(pl.col(self.columns).cast(pl.String))
        except FileNotFoundError as error:
            raise MissingDataError(
                f"The data are not at {error.filename or folder}. Set DISCREET_DATA; "
                "experiments/README.md says where to get them."
            ) from None
        found = hash_of(frame)
        if found != self.sha256:
            raise ValueError(f"Another table than the frozen one: {found}, not {self.sha256}.")
        return frame

    def sample(self, seed: int, rows: int, whole: pl.DataFrame | None) -> pl.DataFrame:
        """The rows of one seed: drawn from the whole table, or generated."""
        rng = np.random.default_rng([seed, 38])
        if whole is None:
            return generated(self, rng, rows)
        drawn = rng.choice(len(whole), min(rows, int(SHARE * len(whole))), replace=False)
        return whole[np.sort(drawn)]


def hash_of(frame: pl.DataFrame) -> str:
    """The SHA-256 of a table as CSV."""
    return hashlib.sha256(frame.write_csv().encode()).hexdigest()


def generated(table: SuiteTable, rng: np.random.Generator, rows: int) -> pl.DataFrame:
    """Rows of a Gaussian copula; quasi-identifiers are uniform, sensitive values are skewed."""
    assert table.skew is not None and table.correlation is not None
    names = table.columns
    shared = rng.standard_normal((rows, 1))
    own = rng.standard_normal((rows, len(names)))
    normal = np.sqrt(table.correlation) * shared + np.sqrt(1 - table.correlation) * own
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        weight = np.ones(GENERATED_VALUES.get(name, 0))
        if name in table.sensitive:
            weight = np.arange(1, SENSITIVE_VALUES + 1) ** -table.skew
        ends = np.cumsum(weight / weight.sum())[:-1]
        cuts = [NormalDist().inv_cdf(float(end)) for end in ends]
        columns[name] = np.searchsorted(cuts, normal[:, place])
    return pl.DataFrame(columns).select(pl.all().cast(pl.String))


GENERATED_VALUES = {"age": 60, "region": 12, "education": 6, "sex": 2}
SENSITIVE_VALUES = 20


def _generated(skew: float, correlation: float) -> SuiteTable:
    return SuiteTable(
        ("age:integer", "region:integer", "education:integer", "sex"),
        tuple(f"s{number}" for number in range(1, 7)),
        skew=skew,
        correlation=correlation,
    )


def _csv(*place: str, **keywords: Any) -> Callable[[Path], pl.DataFrame]:
    return lambda folder: pl.read_csv(folder.joinpath(*place), infer_schema=False, **keywords)


def _first_encounters(folder: Path) -> pl.DataFrame:
    frame = _csv("diabetes", "diabetic_data.csv")(folder)
    return frame.unique("patient_nbr", keep="first", maintain_order=True)


def _films(folder: Path) -> pl.DataFrame:
    frame, _, films = movielens(folder / "movielens", len(FILMS), "least-skewed")
    return frame.rename(dict(zip(films, FILMS, strict=True)))


FILMS = tuple(f"film {number}" for number in range(1, 6))
SKEWS, CORRELATIONS = (0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.3, 0.6, 0.9)
SKEW, CORRELATION = 0.5, 0.3  # where the other one varies


def generated_name(skew: float, correlation: float) -> str:
    return f"generated, skew {skew:g}, correlation {correlation:g}"


TABLES: Mapping[str, SuiteTable] = {
    "Adult": SuiteTable(
        ("age:integer", "sex", "race", "marital-status", "native-country"),
        ("occupation", "education", "relationship", "hours-per-week"),
        _csv("adult", "adult.csv"),
        "dc886929e988143ce561f2d63441755c4b9ab10805cb0963a6dd5dd420b4dd40",
    ),
    "Census-Income": SuiteTable(
        ("age:integer", "race", "sex", "citizenship"),
        ("occupation", "industry", "education", "household"),
        lambda folder: census_frame(folder / "census-income" / "census-income.data", "status"),
        "9124e8a563b9a49fee40060fbdfcceac134e27b99ec2e4c5a54e7391c522a0a9",
    ),
    "MovieLens 1M": SuiteTable(
        ("age:integer", "gender", "zip"),
        FILMS,
        _films,
        "c90e46d375044505ef4a2df3feb1bc21834c1a622d1cf6c658d233c6150390ed",
    ),
    "opinions": SuiteTable(
        ("ppage:integer", "educ", "race", "gender"),
        ("Q3_2", "Q3_3", "Q17_4", "Q2_4"),
        _csv("opinions", "nonvoters.csv"),
        "8c45d960f29b4cd515c00115f78851e2ef2ce57e19aac89e9e8ee9b5243353c3",
    ),
    "diabetes": SuiteTable(
        ("race", "gender", "age", "admission_type_id"),
        ("diag_1", "diag_2", "num_medications"),
        _first_encounters,
        "c42f1bb41ef2cf9162ba2f07dd5d06704c5db328182c056353e1d401a9f26716",
    ),
    "compas": SuiteTable(
        ("sex", "age:integer", "race", "c_charge_degree"),
        ("decile_score", "c_charge_desc", "priors_count"),
        _csv("compas", "compas-scores-two-years.csv"),
        "e33bbf498e86d5a02160624c858a67b6d9e8d75256b8723c42cab7850a7e385c",
    ),
    "hr": SuiteTable(
        ("Age:integer", "Gender", "MaritalStatus", "Department"),
        ("JobRole", "YearsAtCompany", "EducationField"),
        _csv("hr", "hr-attrition.csv"),
        "286b1edc1d6f0079abdef532c4781800dca34cee9bd09f0d200b124b6b2a8aff",
    ),
    **{
        generated_name(skew, correlation): _generated(skew, correlation)
        for skew, correlation in dict.fromkeys(
            [*((skew, CORRELATION) for skew in SKEWS), *((SKEW, one) for one in CORRELATIONS)]
        )
    },
}
