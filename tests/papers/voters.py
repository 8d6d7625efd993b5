"""Abdalaal (2012), tables 4 and 42: age, zip, I1, I2 of t1 … t9."""

from __future__ import annotations

from tests.attacks.handmade import Handmade

VOTERS = [
    row.split(",")
    for row in [
        "20,3000,a,w",
        "25,3500,b,z",
        "25,4000,d,x",
        "30,6500,a,x",
        "35,4500,b,y",
        "40,5500,a,y",
        "45,6000,c,z",
        "50,5000,b,x",
        "55,6500,c,w",
    ]
]
VOTER_COLUMNS = {
    "age": {"role": "q", "type": "integer"},
    "zip": {"role": "q", "type": "integer"},
    "I1": "s",
    "I2": "s",
}
TABLE_42 = [[0, 1, 2], [5, 7, 8], [3, 4, 6]]
CELLS_42 = [
    ("[20, 25]", "[3000, 4000]"),
    ("[40, 55]", "[5000, 6500]"),
    ("[30, 45]", "[4500, 6500]"),
]


def table_42(folder, promises=({"m-diversity": {"l": 3}},), left_out=()):
    kept = [i for i in range(9) if i not in left_out]
    records = [
        [*cells, *VOTERS[i][2:]]
        for cells, group in zip(CELLS_42, TABLE_42, strict=True)
        for i in group
        if i in kept
    ]
    original = [VOTERS[i] for i in kept]
    return Handmade(
        folder, VOTER_COLUMNS, original, {"records": (list(VOTER_COLUMNS), records)}, promises
    )


def buckets_42(folder):
    people = [[*VOTERS[i][:2], str(g)] for g, group in enumerate(TABLE_42) for i in group]
    sensitive = [[str(g), *VOTERS[i][2:]] for g, group in enumerate(TABLE_42) for i in group]
    return Handmade(
        folder,
        VOTER_COLUMNS,
        VOTERS,
        {
            "quasi_identifiers": (["age", "zip", "group"], people),
            "sensitive": (["group", "I1", "I2"], sensitive),
        },
        [{"m-diversity": {"l": 3}}],
        kind="bucketized",
    )
