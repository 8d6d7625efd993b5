"""What theory says of the estimator: where it is unbiased, and by how much it shrinks elsewhere.

Put n people at random into groups of g. A query asks for people A (by quasi-identifiers) with
values B. Somebody of A is beside somebody of B in the same group with (g − 1)/(n − 1), and has each
of its rows with 1/g, so that

    E[estimate] = act/g + (g − 1)/(g (n − 1)) · (|A| |B| − act)

which is act where A and B are independent in the table: no bias there. Elsewhere the estimate lies
between the truth and independence, at 1/g of the way to the truth for large n.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.tables import coded_table

from discreet.releases.kinds.implied_groups import ImpliedGroups, PublishedPeople, SensitiveRows
from discreet.utility.implied import QueryBatch

TIMES, SIZE = 600, 4


def estimates(quasi, hidden, asked, rng):
    """The estimates of one query by releases with random groups."""
    table = coded_table({"q": quasi, "s": hidden}, "qs")
    rows = len(quasi)
    start = np.arange(0, rows + 1, SIZE)
    members = {
        name: np.array([[value in asked[name]] for value in table[name].text.to_list()])
        for name in ("q", "s")
    }
    batch = QueryBatch(np.array([0]), members)
    every = np.arange(table["s"].cardinality, dtype=np.int32)
    found = []
    for _ in range(TIMES):
        order = rng.permutation(rows)
        people = PublishedPeople({"q": table["q"].codes[order]}, start)
        held = SensitiveRows(
            {"s": every}, len(every), start, table["s"].codes[order], np.ones(rows)
        )
        found.append(ImpliedGroups(table, people, held).estimate(batch)[0])
    return np.array(found)


def check_mean(found, expected):
    """Within 4 standard errors, which a right estimator fails once in 16 000 times."""
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - expected) < 4 * error


def test_no_bias_where_people_and_values_are_independent():
    pairs = [(q, s) for q in "abcde" for s in "wxyz" for _ in range(4)]
    quasi, hidden = zip(*pairs, strict=True)
    found = estimates(quasi, hidden, {"q": "ab", "s": "w"}, np.random.default_rng(5))
    assert found.std() > 0.1
    check_mean(found, 2 * 4)


@pytest.mark.parametrize("seed", range(3))
def test_the_shrinkage_elsewhere_is_that_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    quasi = rng.choice(list("abcd"), 80)
    hidden = np.where(rng.random(80) < 0.7, quasi, rng.choice(list("abcd"), 80))
    asked = {"q": "ab", "s": "a"}
    inside, having = np.isin(quasi, list("ab")), hidden == "a"
    act, n, g = int((inside & having).sum()), 80, SIZE
    both = inside.sum() * having.sum() - act
    expected = act / g + (g - 1) / (g * (n - 1)) * both
    assert abs(expected - act) > 1
    found = estimates(quasi.tolist(), hidden.tolist(), asked, rng)
    check_mean(found, expected)


def test_queries_on_one_side_are_exact():
    rng = np.random.default_rng(0)
    quasi, hidden = rng.choice(list("abc"), 40).tolist(), rng.choice(list("xy"), 40).tolist()
    found = estimates(quasi, hidden, {"q": "abc", "s": "x"}, rng)
    assert found == pytest.approx(hidden.count("x"))
