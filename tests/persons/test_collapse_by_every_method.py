"""Every method on a table whose persons have several equal rows: the release of one row each."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.mass.cases import IDENTIFIER, METHODS, SERIES, make_case, method_of
from tests.mass.checks import broken
from tests.mass.running import _data, _job, _refused
from tests.saving import UNATTACKED

import discreet as dc
from discreet.table.persons import CollapseRule

CASES = [n for n in range(3 * len(METHODS)) if method_of(n) not in SERIES]  # three of each method


def _rule(attribute: dc.Attribute) -> CollapseRule | None:
    """Equal values are that value by both rules; sets of them would be other attributes."""
    several = attribute.role in (dc.Role.SENSITIVE, dc.Role.QUASI_SENSITIVE)
    return CollapseRule.MOST_FREQUENT if several else None


@pytest.mark.parametrize("number", CASES)
def test_the_files_keep_what_they_guarantee_for_persons(number: int, tmp_path: Path):
    case = make_case(number)
    rows = len(next(iter(case.table.values())))
    draw = random.Random(number)
    names = [f"Person-{number}-{row}" for row in range(rows)]
    case.attributes = {IDENTIFIER: {"role": "identifier"}} | case.attributes
    case.tables = [{IDENTIFIER: names} | case.table]
    repeated = [row for row in range(rows) for _ in range(draw.choice([1, 1, 2, 5]))]
    draw.shuffle(repeated)
    encounters = {name: [cells[row] for row in repeated] for name, cells in case.table.items()}
    whole = _job(case, tmp_path)
    described = dc.Job(
        source=None,
        attributes={
            name: one.model_copy(update={"collapse": _rule(one)})
            for name, one in whole.attributes.items()
        },
        person={"column": IDENTIFIER, "rows": "collapse"},
        requirements=whole.requirements,
        method=whole.method,
    )
    place = tmp_path / "release"
    try:
        release = dc.publish(_data(case, encounters, tmp_path), described, seed=number)
    except (dc.InfeasibleError, dc.InputError):
        with pytest.raises((dc.InfeasibleError, dc.InputError)):
            dc.publish(_data(case, case.table, tmp_path), whole, seed=number)
        return
    release.save(place, format=case.format, **UNATTACKED)
    assert release.manifest.unit == "person"
    assert list(broken(case, place)) == []
    case.number = 1  # audited without the original
    assert _refused(case, place, tmp_path) == ""
