"""Learning: skill 1 from the original, about 0 where nothing is linked, below for misleading."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.tables import coded_table

from discreet.errors import InputError
from discreet.utility.learning import Teacher, split_people, targets_of

ROWS = 3000


def linked():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 5, ROWS)
    ill = np.where(rng.random(ROWS) < 0.7, age, rng.integers(0, 5, ROWS))
    columns = {"age": age.tolist(), "ill": [f"v{value}" for value in ill]}
    return coded_table(columns, "qs")


def taught(draw):
    table = linked()
    rng = np.random.default_rng(1)
    split = split_people(ROWS, rng)
    part = {name: table[name].codes[split.train] for name in ("age", "ill")}
    return Teacher(table, split, ["ill"], rng).teach(iter([draw(part, rng)] * 2))


def test_the_original_teaches_all_there_is():
    learning = taught(lambda part, rng: part)
    assert learning.skill == pytest.approx(1.0, abs=1e-6)
    (target,) = learning.targets
    # right for the 70 % that are linked and for a fifth of the others; the floor is a fifth
    assert target.original.accuracy == pytest.approx(0.76, abs=0.03)
    assert target.floor.accuracy == pytest.approx(0.2, abs=0.04)
    assert target.floor.log_loss == pytest.approx(np.log(5), abs=0.01)


def test_torn_links_teach_nothing():
    learning = taught(lambda part, rng: {**part, "ill": rng.permutation(part["ill"])})
    assert learning.skill == pytest.approx(0.0, abs=0.05)


def test_wrong_links_mislead():
    learning = taught(lambda part, rng: {**part, "ill": ((part["ill"] + 1) % 5).astype(np.int32)})
    assert learning.skill is not None
    assert learning.skill < -0.5


def test_values_that_the_original_lacks_are_left_out():
    def draw(part, rng):
        return {n: np.where(rng.random(len(c)) < 0.1, -1, c).astype(np.int32)
                for n, c in part.items()}  # fmt: skip

    assert taught(draw).skill == pytest.approx(1.0, abs=0.1)


def test_targets_are_the_named_ones_or_all_sensitive():
    table = linked()
    assert targets_of(table) == ["ill"]
    assert targets_of(table, ["age"]) == ["age"]
    with pytest.raises(InputError, match="'agee' is no quasi-identifier and no sensitive"):
        targets_of(table, ["agee"])


def test_without_scikit_learn_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    table = linked()
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match=r"pip install 'discreet\[learning\]'"):
        Teacher(table, split_people(ROWS, rng), ["ill"], rng)
