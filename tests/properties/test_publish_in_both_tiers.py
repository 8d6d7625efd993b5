"""Interpreted and compiled kernels publish the same files, by every method."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.mass.cases import METHODS, SERIES, make_case
from tests.mass.running import _publish, _refused

import discreet as dc
from discreet.ledger import settings
from discreet.table.kernels.tiers import TIERS

CASES = 2  # of each method
pytestmark = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"
)


@pytest.mark.parametrize("number", range(CASES * len(METHODS)))
def test_both_tiers_publish_the_same(number, tmp_path, monkeypatch):
    start = tmp_path / "start"
    start.mkdir()
    with dc.Ledger.create(dc.LedgerSettings(path=start / "people.ledger").located(start)):
        pass  # groups follow the ledger's key too, which is random
    published = []
    monkeypatch.setattr(settings.secrets, "token_bytes", bytes)  # it orders persons
    for tier in ("interpreted", "compiled"):
        monkeypatch.setattr(TIERS, "asked", tier)
        shutil.copytree(start, tmp_path / tier)
        published.append(dict(publications(number, tmp_path / tier)))
    assert published[0] == published[1]


def publications(number: int, folder: Path) -> Iterator[tuple[str, object]]:
    """What a case publishes, audits and measures, and how it ends."""
    case = make_case(number)
    for which, table in enumerate(case.tables):
        place = folder / f"release {which}"
        try:
            _publish(case, table, folder, place)
            yield f"{which}: audit", _refused(case, place, folder)
        except dc.DiscreetError as error:
            yield f"{which}: error", str(error).replace(str(folder), "")
            return
        for path in sorted(place.iterdir()):
            if case.method not in SERIES or path.suffix == ".csv":  # a series has a secret number
                yield f"{which}: {path.name}", path.read_bytes()
