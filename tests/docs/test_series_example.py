"""The example series publishes as its files say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.saving import UNATTACKED

import discreet as dc

EXAMPLES = Path(__file__).parents[2] / "examples" / "series"


@pytest.mark.parametrize(
    ("ledger", "jobs"),
    [("people.ledger", ["january", "february", "march"]), ("other.ledger", ["odds"])],
)
def test_the_example_series_publishes(tmp_path, ledger, jobs):
    folder = shutil.copytree(EXAMPLES, tmp_path / "series")
    with dc.Ledger.create(dc.LedgerSettings(path=ledger).located(folder)) as book:
        for name in jobs:
            job = dc.Job.load(folder / f"{name}.yaml")
            place = dc.publish(None, job).save(folder / job.output.path, **UNATTACKED)
            assert dc.audit(place, original=job).ok
        assert [entry.number for entry in book.entries()] == list(range(1, len(jobs) + 1))
        assert book.verify() == []
