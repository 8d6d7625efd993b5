"""Traps: no release with an identifying column in clear is called *Ready to sign*.

Every kind of identifying column is given every role that would publish it, in every kind of
release. A trap is survived where the job is refused, the verdict refuses, or a look is asked for.
The same job without the column is *Ready to sign* by at least one method, so that the traps are
refused for the column.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.report.risk_verdict import READY

ROWS = 400
GIVEN = (
    "Ada", "Bruno", "Carla", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kemal",
    "Lucia", "Marta", "Nils", "Olga",
)  # fmt: skip
FAMILY = (
    "Aydin", "Bauer", "Conti", "Duarte", "Eriksen", "Fontaine", "Greco", "Hansen", "Ivanov", "Kaya",
)  # fmt: skip
STREETS = ["Linden", "Mill", "Station", "Garden", "Church", "Castle", "Forest", "River"]

Cells = Callable[[np.random.Generator], list[str]]


def _family_names(rng: np.random.Generator) -> list[str]:
    first, second = rng.integers(len(FAMILY), size=(2, ROWS))
    return [f"{FAMILY[a]}-{FAMILY[b]}" for a, b in zip(first, second, strict=True)]


def _full_names(rng: np.random.Generator) -> list[str]:
    given = rng.integers(len(GIVEN), size=ROWS)
    return [f"{GIVEN[a]} {b}" for a, b in zip(given, _family_names(rng), strict=True)]


def _timestamps(rng: np.random.Generator) -> list[str]:
    seconds = np.datetime64("2024-01-01T00:00:00") + rng.integers(3e7, size=ROWS)
    return [str(second).replace("T", " ") for second in seconds]


def _days(rng: np.random.Generator) -> list[str]:
    return [str(np.datetime64("1930-01-01") + day) for day in rng.integers(29_000, size=ROWS)]


def _numbers(form: str, top: int) -> Cells:
    return lambda rng: [form.format(n) for n in rng.choice(top, ROWS, replace=False)]


def _addresses(rng: np.random.Generator) -> list[str]:
    return [f"10.7.{n // 250}.{n % 250}" for n in rng.choice(60_000, ROWS, replace=False)]


# The header of each identifying column, its cells, and the roles that would publish it in clear.
# A birth date is a proper quasi-identifier, and an exact amount a proper sensitive value.
CLEAR = ("unchanged", "quasi-identifier", "sensitive")
TRAPS: dict[str, tuple[str, Cells, tuple[str, ...]]] = {
    "given name": ("first", lambda rng: list(rng.choice(GIVEN, ROWS)), CLEAR),
    "family name": ("last", _family_names, CLEAR),
    "full name": ("name", _full_names, CLEAR),
    "name under another header": ("col_7", _full_names, CLEAR),
    "Turkish header": ("soyadı", _family_names, CLEAR),
    "e-mail": ("contact", _numbers("user{}@example.org", 9_999), CLEAR),
    "telephone": ("tel", _numbers("+49 30 55{:06}", 999_999), CLEAR),
    "case number": ("case_number", _numbers("13{:06}CF10A", 999_999), CLEAR),
    "record number": ("mrn", _numbers("{:08}", 99_999_999), CLEAR),
    "running number": ("id", lambda rng: [str(n + 1) for n in rng.permutation(ROWS)], CLEAR),
    "address": (
        "address",
        lambda rng: [
            f"{STREETS[a]} Street {b}"
            for a, b in zip(
                rng.integers(len(STREETS), size=ROWS), rng.integers(1, 300, ROWS), strict=True
            )
        ],
        CLEAR,
    ),
    "time to the second": ("admitted_at", _timestamps, ("unchanged",)),
    "birth date": ("dob", _days, ("unchanged",)),
    "exact amount": ("monthly_rate", _numbers("{}", 27_000), ("unchanged",)),
    "IP address": ("login", _addresses, CLEAR),
}
GUARANTEES: list[dict[str, object]] = [
    {"k-anonymity": {"k": 5}},
    {"entropy-l-diversity": {"l": 3, "attribute": "diagnosis"}},
]
METHODS: dict[str, tuple[list[dict[str, object]], object]] = {
    "full-domain": (GUARANTEES, {"full-domain": {"suppression": 0.1}}),
    "mondrian": (GUARANTEES, "mondrian"),
    "local-recoding": (GUARANTEES, "local-recoding"),
    "anatomy": ([], {"anatomy": {"l": 3}}),
    "decomposition": ([], {"decomposition": {"primary": "diagnosis", "l": {"diagnosis": 3}}}),
    "msa-diversity": ([{"m-diversity": {"l": 2}}], {"msa-diversity": {"publish": "buckets"}}),
    "codip": (GUARANTEES, {"codip": {"recoding": "mondrian", "beta": 0.1}}),
}


def _table(rng: np.random.Generator) -> pl.DataFrame:
    diagnoses = ["flu", "asthma", "gastritis", "diabetes", "migraine", "anaemia"]
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS),
            "region": rng.choice(["north", "south", "east", "west"], ROWS),
            "diagnosis": rng.permutation(np.resize(diagnoses, ROWS)),
        }
    )


def _job(method: str, trap: tuple[str, str] | None, **further: object) -> dc.Job:
    requirements, settings = METHODS[method]
    attributes: dict[str, dict[str, object]] = {
        "age": {"role": "quasi-identifier", "type": "integer"},
        "region": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive"},
    }
    if trap is not None:
        attributes[trap[0]] = {"role": trap[1], **further}
        if trap[1] == "sensitive" and method == "decomposition":
            settings = {
                "decomposition": {"primary": "diagnosis", "l": {"diagnosis": 3, trap[0]: 2}}
            }
    return dc.Job(
        attributes=attributes,
        requirements=requirements,
        method=settings,
        measure={"figures": ["loss"]},
        attackers="internal" if further else "research",
    )


def _verdict(frame: pl.DataFrame, job: dc.Job, folder) -> str:
    """The word of the verdict, or why no release appeared."""
    try:
        release = dc.publish(frame, job)
        release.save(folder / "release")
    except dc.RiskError as error:
        return error.verdict.word
    except dc.DiscreetError as error:
        return f"refused: {error}"
    return release.verdict().word


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("trap", TRAPS)
def test_a_column_that_identifies_is_never_ready_to_sign(tmp_path, trap, method):
    header, cells, roles = TRAPS[trap]
    rng = np.random.default_rng(7)
    frame = _table(rng).with_columns(pl.Series(header, cells(rng)))
    for role in roles:
        outcome = _verdict(frame, _job(method, (header, role)), tmp_path / role)
        assert outcome != READY, (trap, role, method)
        if outcome.startswith("refused"):
            for cell in frame[header].head(50):
                assert len(cell) < 4 or cell not in outcome


@pytest.mark.parametrize("role", CLEAR)
@pytest.mark.parametrize("method", ["full-domain", "decomposition"])
def test_a_column_that_identifies_by_permission_is_never_ready_to_sign(tmp_path, method, role):
    """Also against the weakest attackers."""
    rng = np.random.default_rng(7)
    # few values, which repeat: no person is unique by them, so only the permission counts
    frame = _table(rng).with_columns(first=pl.Series(rng.permutation(np.resize(GIVEN, ROWS))))
    job = _job(method, ("first", role), allow_identifying=True)
    release = dc.publish(frame, job)
    release.save(tmp_path / "release", accept_risk="a trap")
    verdict = release.verdict()
    assert verdict.word != READY
    assert any("allow_identifying" in reason and "'first'" in reason for reason in verdict.reasons)


def test_the_same_jobs_without_the_column_are_ready_to_sign(tmp_path):
    rng = np.random.default_rng(7)
    frame = _table(rng)
    words = {m: _verdict(frame, _job(m, None), tmp_path / m) for m in METHODS}
    assert sum(word == READY for word in words.values()) >= 3, words


def test_there_are_enough_traps():
    counted = sum(len(roles) for _, _, roles in TRAPS.values()) * len(METHODS)
    assert counted >= 40 and len(list(product(TRAPS, METHODS))) >= 40
