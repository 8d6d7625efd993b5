"""What local recoding reaches on Adult at k = 5 with its own hierarchies."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FOLDER = Path(os.environ.get("DISCREET_DATA", DEFAULT)) / "adult" / "arx-form"

from benchmarks.full_domain import NINE, SEVEN, adult, task  # noqa: E402

from discreet.methods.local_recoding.local_recoding import LocalRecoding  # noqa: E402
from discreet.requirements.closeness import TCloseness  # noqa: E402
from discreet.requirements.diversity import DistinctLDiversity, EntropyLDiversity  # noqa: E402
from discreet.requirements.k_anonymity import KAnonymity  # noqa: E402

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="DISCREET_DATA has no adult/arx-form"),
]
DIVERSE = DistinctLDiversity(l=3, attribute="occupation")


@pytest.mark.parametrize(
    ("names", "effort", "further", "least", "most"),
    [
        (SEVEN, "quick", [], 0.014, 0.0265),
        (SEVEN, "good", [], 0.014, 0.0260),
        (NINE, "quick", [], 0.0279, 0.0510),
        (SEVEN, "quick", [DIVERSE], 0.015, 0.0285),
        (SEVEN, "good", [DIVERSE], 0.015, 0.0283),
        (SEVEN, "quick", [EntropyLDiversity(l=2, attribute="occupation")], 0.014, 0.0297),
        (SEVEN, "quick", [EntropyLDiversity(l=3, attribute="occupation")], 0.015, 0.0397),
        (SEVEN, "quick", [TCloseness(t=0.4, attribute="occupation")], 0.014, 0.1370),
        (SEVEN, "quick", [TCloseness(t=0.3, attribute="occupation")], 0.014, 0.2800),
    ],
)
def test_loss_and_bound(names, effort, further, least, most):
    made = task(adult(), names, [KAnonymity(k=5), *further])
    outcome = LocalRecoding(effort=effort).run(made)
    assert outcome.facts["loss"] <= most
    assert least <= outcome.facts["lower_bound"] <= outcome.facts["loss"]
    assert outcome.facts["root_rows"] == 0
    assert np.bincount(outcome.class_of_row).min() >= 5


def test_a_seed_gives_the_same_release():
    outcomes = [
        LocalRecoding(effort="good").run(task(adult()[:4000], SEVEN, [KAnonymity(k=5)]))
        for _ in range(2)
    ]
    assert (outcomes[0].class_of_row == outcomes[1].class_of_row).all()
    assert outcomes[0].facts == outcomes[1].facts


def test_more_units_than_a_block_are_cut(monkeypatch):
    from discreet.methods.local_recoding import candidates, greedy

    made = task(adult()[:6000], SEVEN, [KAnonymity(k=5), DIVERSE])
    whole = LocalRecoding().run(made).facts
    monkeypatch.setattr(greedy, "BLOCK", 1000)
    monkeypatch.setattr(candidates, "MOST_PAIRS", 20_000)
    parts = LocalRecoding().run(made)
    assert np.bincount(parts.class_of_row).min() >= 5
    assert parts.facts["lower_bound"] <= whole["loss"]
    assert parts.facts["loss"] <= 1.5 * whole["loss"]
