"""MSA-diversity where no value comes near its bound: hardly anybody is suppressed, at any size."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.msa_diversity import ELL, made_task

from discreet.algorithms.msa_diversity import MsaDiversity


@pytest.mark.parametrize("grouping", ["curve", "blocks"])
@pytest.mark.parametrize("rows", [1_000, 30_000])
def test_fewer_than_one_in_a_hundred_where_values_fill_half_of_what_they_may(rows, grouping):
    task = made_task(rows, seed=4)
    shares = [column.counts.max() / rows for column in task.table.sensitive]
    assert max(shares) <= 1 / (2 * ELL)
    group_of_row = MsaDiversity(grouping=grouping).run(task).class_of_row
    assert (group_of_row < 0).mean() < 0.01
    kept = group_of_row >= 0
    size = np.bincount(group_of_row[kept])
    for column in task.table.sensitive:
        pairs = group_of_row[kept].astype(np.int64) * column.cardinality + column.codes[kept]
        found, count = np.unique(pairs, return_counts=True)
        assert (count * ELL <= size[found // column.cardinality]).all()
