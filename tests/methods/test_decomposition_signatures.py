"""The signatures of each bucket: the commonest first, equals by their first row."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.methods.decomposition.group_forming import sign_rows
from discreet.table.coded_table import Column
from discreet.table.roles import Role, ValueType


def column(name, codes, values):
    texts = pl.Series([f"{value:03}" for value in range(values)])
    return Column(name, Role.SENSITIVE, ValueType.TEXT, codes.astype(np.int32), texts, texts)


@pytest.mark.parametrize("seed", range(5))
def test_signatures_as_counted_row_by_row(seed):
    rng = np.random.default_rng(seed)
    bucket, first, second = (
        column(name, rng.integers(0, most, 300), values)
        for name, most, values in (("b", 4, 5), ("c", 3, 3), ("d", 6, 9))  # not all values occur
    )
    found, indexed = sign_rows(bucket.codes, 5, [first, second], np.arange(300))
    assert indexed == 2
    rows = list(zip(bucket.codes, first.codes, second.codes, strict=True))
    count = Counter(rows)
    expected = sorted(count, key=lambda one: (one[0], -count[one], rows.index(one)))
    assert found.count.tolist() == [count[one] for one in expected]
    assert found.values.tolist() == [[c, d] for _, c, d in expected]
    of_bucket = [sum(one[0] == value for one in expected) for value in range(5)]
    assert np.diff(found.bucket_start).tolist() == of_bucket
    members = np.split(found.row, found.row_start[1:-1])
    assert [part.tolist() for part in members] == [
        [row for row, own in enumerate(rows) if own == one] for one in expected
    ]


def test_much_noise_is_a_warning():
    """Groups of two rows list four values of the second attribute, two of them noise."""
    rows = 64
    frame = pl.DataFrame(
        {
            "age": range(rows),
            "first": [str(i % 2) for i in range(rows)],
            "second": [str(i // 2 % 4) for i in range(rows)],
        }
    )
    job = {
        "attributes": {
            "age": {"role": "quasi-identifier", "type": "integer"},
            "first": {"role": "sensitive"},
            "second": {"role": "sensitive"},
        },
        "method": {
            "decomposition": {
                "primary": "first",
                "l": {"first": 2, "second": 4},
                "beyond_permissible": True,
            }
        },
    }
    release = dc.publish(frame, job, seed=1)
    facts = release.private["method"]
    assert facts["noise_values"] == 64  # two in each of 32 groups
    assert facts["noise_shares"] == {"second": 0.5}
    _, warning = release.manifest.method.private_sentences(facts, {})
    assert (warning.id, warning.parameters["first"].id) == ("warning", "decomposition.much-noise")
    assert warning.parameters["first"].parameters == {
        "attribute": "second", "share": 0.5, "least": 4,
    }  # fmt: skip
