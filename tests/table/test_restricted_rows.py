"""Rows that a known world shows to be ruled out, beside those of the whole graph."""

import numpy as np
import pytest
from tests.table.test_assignments import VALUES, a_release

from discreet.table import possible_rows as module
from discreet.table.assignments import Sets, World, possible_rows, supporting_rows
from discreet.table.possible_rows import count_supported, restricted_rows


@pytest.mark.parametrize("people_of_row", [0, 1, 4])
@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_rows_are_ruled_out_as_by_the_whole_graph(seed, crowded, people_of_row, monkeypatch):
    monkeypatch.setattr(module, "PEOPLE_OF_ROW", people_of_row)
    sets, codes, count, size, world = a_release(seed, crowded=crowded)
    possible = possible_rows(sets, codes, count, 0, size)
    begin, _ = supporting_rows(sets, codes, 0, 10**6)
    found = restricted_rows(sets, codes, count, 0, size, world)
    within = np.diff(begin[sets.of(0)[0]])
    fewer = np.flatnonzero(np.diff(possible.start) < within).tolist()
    assert set(fewer) <= set(found.groups.tolist())
    assert crowded or fewer == found.groups.tolist()
    assert len(found.possible) == within[found.groups].sum()
    for place, group in enumerate(found.groups):
        mine = found.rows.row[found.rows.start[place] : found.rows.start[place + 1]]
        theirs = possible.row[possible.start[group] : possible.start[group + 1]]
        assert mine.tolist() == theirs.tolist()


def test_rows_are_ruled_out_in_some_releases_and_in_others_not():
    ruled_out = [len(restricted_rows(*_arguments(a_release(seed))).groups) for seed in range(30)]
    assert 0 in ruled_out and max(ruled_out) > 1


def test_a_false_world_shows_nothing():
    sets, codes, count, size, (group, signature) = a_release(3)
    false = World(group, signature[::-1].copy())
    assert restricted_rows(sets, codes, count, 0, size, false) is None


@pytest.mark.parametrize("attributes_with_bits", [1, 2])
@pytest.mark.parametrize("known", range(len(VALUES)))
@pytest.mark.parametrize("seed", range(10))
def test_supported_values_are_those_of_the_rows_within(
    seed, known, attributes_with_bits, monkeypatch
):
    sets, codes, *_ = a_release(seed)
    chosen = [a for a in range(len(VALUES)) if a != known]
    masked = tuple(chosen if attributes_with_bits == 2 else [chosen[seed % 2]])
    monkeypatch.setattr(module, "_masked", lambda *_: masked)
    kept, rows = count_supported(sets, codes, known)
    begin, row = supporting_rows(sets, codes, known, 10**6)
    assert rows == len(row)
    for entry, counted in enumerate(kept):
        mine = codes[row[begin[entry] : begin[entry + 1]]]
        assert (
            counted.tolist() == [len(set(column)) for column in mine.T.tolist()]
            if len(mine)
            else (not counted.any())
        )
    monkeypatch.setattr(module, "AT_ONCE", 1)
    assert count_supported(sets, codes, known) is None


def test_nothing_is_supported_without_rows_or_groups():
    sets, codes, *_ = a_release(0)
    kept, rows = count_supported(sets, codes[:0], 0)
    assert kept.shape == (len(sets.of(0)[1]), len(VALUES)) and not kept.any() and rows == 0
    nobody = Sets(np.zeros(1, np.int64), np.zeros(0, np.int32), 0)
    assert count_supported(nobody, codes, 0)[0].shape == (0, len(VALUES))


def test_those_attributes_get_bits_that_leave_least_to_be_tried():
    ten = 10 * np.arange(4 * 2 + 1)  # two groups whose sets have ten values each
    sets = Sets(ten, np.tile(np.arange(10, dtype=np.int32), 8), 2)
    assert module._masked(sets, [1, 2, 3], np.array([10, 80, 16, 6])) == (2, 3)
    assert module._masked(sets, [1, 2, 3], np.array([10, 60, 160, 160])) == (1,)
    assert module._masked(sets, [1], np.array([10, 60])) == (1,)
    assert module._masked(sets, [1], np.array([10, 600])) is None


def _arguments(release):
    sets, codes, count, size, world = release
    return sets, codes, count, 0, size, world


def test_the_first_people_of_each_row_are_found_piece_by_piece(monkeypatch):
    monkeypatch.setattr(module, "IN_CACHE", 7)
    signature = np.random.default_rng(1).integers(0, 9, 100).astype(np.int32)
    expected = {row for s in range(9) for row in np.flatnonzero(signature == s)[:4].tolist()}
    assert set(module._first_people(signature, 9).tolist()) == expected
