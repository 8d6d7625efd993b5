"""The reference page is made from the code, and current."""

from __future__ import annotations

from tests.docs.reference import PAGE, reference


def test_the_reference_is_current():
    assert PAGE.read_text(encoding="utf-8") == reference(), "run python -m tests.docs.reference"
