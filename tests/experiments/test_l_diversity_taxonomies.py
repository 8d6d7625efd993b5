"""The minimal tables of section 6 of ℓ-diversity, by a fit of taxonomies on Adult."""

from __future__ import annotations

import pytest
from tests.real_data import real_data

from experiments import l_diversity


@pytest.mark.data
def test_two_of_sixteen_settings_have_the_paper_s_counts_for_occupation():
    """12 tables, 1 vulnerable; one of the two also gives 9 tables on all rows, with 6 of 8."""
    settings = l_diversity.LDiversitySettings(data=real_data("adult", "adult.csv"))
    rows = list(l_diversity.taxonomies(settings))
    assert len(rows) == 16

    def fitting(rows_of_table: int, *figures: int) -> list[tuple[str, str, str]]:
        names = ("minimal tables", "vulnerable, occupation", "vulnerable, salary-class")
        return [
            (row["ages"], row["primary up to"], row["low up to"])
            for row in rows
            if row["rows"] == rows_of_table and tuple(row[n] for n in names) == figures
        ]

    both = ("0-4, 5-9", "7th-8th", "high school")
    assert fitting(45222, 12, 1, 8) == [("1-5, 6-10", "7th-8th", "some college"), both]
    assert fitting(48842, 9, 1, 6) == [both]
    assert not [row for row in rows if row["minimal tables"] == 9 and row["rows"] == 45222]
