"""Ledgers on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.ledger.ledger import Ledger
from discreet.ledger.settings import LedgerSettings


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> LedgerSettings:
    """A ledger that was begun, on either database."""
    if request.param == "sqlite":
        made = LedgerSettings(path=tmp_path / "people.ledger").located(tmp_path)
    else:
        url = request.getfixturevalue("postgres")()
        made = LedgerSettings(url=url, key=tmp_path / "people.key").located(tmp_path)
    with Ledger.create(made):
        pass
    return made
