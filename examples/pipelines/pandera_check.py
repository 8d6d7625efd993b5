"""A pandera schema whose table must keep its requirements as a whole."""

import pandera.pandas as pa

import discreet as dc


def is_private(frame):
    """Return whether the table keeps its requirements; k, l and t are those of the schema."""
    return dc.check(
        frame, quasi=["age", "zip", "sex"], sensitive=["diagnosis", "income"], k=4, l=3, t=0.4
    ).ok


published = pa.DataFrameSchema(
    {"age": pa.Column(str), "zip": pa.Column(str), "income": pa.Column(int)},
    checks=pa.Check(is_private, name="is_private"),
)
