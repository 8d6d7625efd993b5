"""Rows that a known world shows to be ruled out, beside those of the whole graph."""

import numpy as np
import pytest
from tests.table.test_assignments import a_release

from discreet.table import possible_rows as module
from discreet.table.assignments import World, possible_rows, supporting_rows
from discreet.table.possible_rows import restricted_rows


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


def _arguments(release):
    sets, codes, count, size, world = release
    return sets, codes, count, 0, size, world


def test_the_first_people_of_each_row_are_found_piece_by_piece(monkeypatch):
    monkeypatch.setattr(module, "IN_CACHE", 7)
    signature = np.random.default_rng(1).integers(0, 9, 100).astype(np.int32)
    expected = {row for s in range(9) for row in np.flatnonzero(signature == s)[:4].tolist()}
    assert set(module._first_people(signature, 9).tolist()) == expected
