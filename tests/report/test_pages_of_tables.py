"""Pages of tables of other tools: well formed in every language, without a cell of a person."""

from __future__ import annotations

import html5lib
import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.statements import LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_are_well_formed_and_show_no_sensitive_cell(tmp_path, language):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 60),
            "town": rng.choice(["north", "south"], 60),
            "disease": rng.choice(["leprosy", "malaria"], 60),
        }
    )
    noisy = frame.with_columns(pl.col("age") + pl.Series(rng.normal(size=60)))
    roles = {"quasi": ["age", "town"], "sensitive": ["disease"]}
    results: list[dc.Result] = [
        dc.attack_table(noisy, original=frame, control=frame, **roles),
        dc.attack_table(frame, original=frame, **roles),
        dc.measure_table(noisy, original=frame, **roles, queries=50),
        dc.compare_tables({"same": frame, "noisy": noisy}, original=frame, **roles, queries=50),
    ]
    for number, result in enumerate(results):
        place = result.save_page(tmp_path / f"{number}.html", language)
        page = place.read_text(encoding="utf-8")
        html5lib.HTMLParser(strict=True).parse(page)
        assert f'lang="{language}"' in page or f"lang='{language}'" in page
        assert "leprosy" not in page and "malaria" not in page
        assert isinstance(result.charts(), dict)
