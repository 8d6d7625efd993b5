"""Estimates of population uniqueness on populations that are generated and sampled here."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.uniqueness import RECIPES, holds, sampled, trials

from discreet.knowledge.uniqueness import (
    SizeMixture,
    UniquenessEstimate,
    counted_uniqueness,
    estimate_uniqueness,
    minimized,
    pitman,
    slid_negative_binomial,
    zayatz,
)


@pytest.fixture(scope="module")
def found():
    return list(trials(12_000, 3, (0.1,), seed=7)) + list(trials(12_000, 1, (0.35,), seed=8))


def test_the_intervals_hold_the_truth_of_generated_populations(found):
    """Thirty populations by ten recipes at one fraction, ten more at another."""
    known = [one for one in found if one.estimate.uniques is not None]
    assert len(known) >= 38
    outside = [(t.recipe, t.fraction) for t in known if holds(t) != (True, True)]
    assert len(outside) <= 1, outside  # of forty intervals of 99 %


def test_the_estimate_is_nearer_than_the_models_on_average(found):
    """The reason why models are stated only within the interval."""
    known = [one for one in found if one.estimate.uniques is not None and one.drawn.uniques]

    def mean_error(estimates):
        ratios = [abs(np.log(max(one, 1) / t.drawn.uniques)) for one, t in estimates]
        return np.mean(ratios)

    own = mean_error([(t.estimate.uniques.estimate, t) for t in known])
    assert own < mean_error([(t.models["Zayatz"], t) for t in known])
    assert own < mean_error([(t.models["SNB"], t) for t in known if t.models["SNB"] is not None])


def test_a_model_outside_the_interval_has_no_figure(found):
    seen = 0
    for t in found:
        if t.estimate.uniques is None:
            continue
        low, high = t.estimate.uniques.low, t.estimate.uniques.high
        for name, figure in t.models.items():
            inside = figure is not None and low <= figure <= high
            assert (name in t.estimate.by_model) == inside
            assert (name in t.estimate.not_trusted) == (not inside)
            seen += not inside
        assert t.estimate.advised is None or t.estimate.advised in t.estimate.by_model
    assert seen  # Zayatz is far too high for populations of equal shares


def test_models_find_the_truth_of_their_own_populations():
    rng = np.random.default_rng(3)
    own = sampled(rng, RECIPES["Ewens–Pitman"](rng, 30_000), 0.2)
    assert pitman(own.sizes, 0.2) == pytest.approx(own.uniques, rel=0.15)
    own = sampled(rng, RECIPES["1 + negative binomial"](rng, 60_000), 0.3)
    assert slid_negative_binomial(own.sizes, 0.3) == pytest.approx(own.uniques, rel=0.15)


def test_zayatz_by_hand():
    """Three unique rows, two pairs and a class of four, of a population four times as large."""
    sizes = np.array([1, 1, 1, 2, 2, 4])
    expected = 3 * 3 / (3 + 2 * 2 * 0.75 + 4 * 0.75**3)
    assert zayatz(sizes, 0.25) == pytest.approx(expected)


def test_kernels_are_poisson_probabilities():
    mixture = SizeMixture.of(np.array([1, 1, 2, 3, 30]), 0.2)
    for k in (0, 20, 50):
        mean = 0.2 * mixture.rate[k]
        assert mixture.kernel[0, k] == pytest.approx(mean * np.exp(-mean), abs=1e-12)
        assert mixture.kernel[1, k] == pytest.approx(mean**2 / 2 * np.exp(-mean), abs=1e-12)
    assert mixture.seen.sum() == 5
    none = np.exp(-0.2 * mixture.rate)
    assert mixture.kernel.sum(axis=0) == pytest.approx(1 - none, abs=1e-9)


def test_the_risk_of_a_size_is_the_mean_of_its_definition():
    """A fit with two rates, against Σ over all sizes of the population."""
    mixture = SizeMixture.of(np.array([1, 1, 2, 3, 30]), 0.3)
    g = np.zeros(len(mixture.rate))
    chosen = [30, 50, int(np.flatnonzero(mixture.rate > 120)[0])]
    g[chosen] = [100.0, 40.0, 7.0]

    def poisson(n, mean):
        return float(np.exp(n * np.log(mean) - mean - sum(np.log(np.arange(1, n + 1)))))

    for f, risk in enumerate(mixture.risks(g, 4), 1):
        weight = [g[k] * poisson(f, 0.3 * mixture.rate[k]) for k in chosen]
        inverse = [
            sum(poisson(n, 0.7 * mixture.rate[k]) / (f + n) for n in range(400)) for k in chosen
        ]
        expected = np.dot(weight, inverse) / sum(weight)
        assert risk == pytest.approx(expected, rel=1e-6)


def test_an_iteration_never_lowers_the_likelihood():
    rng = np.random.default_rng(0)
    sizes = sampled(rng, RECIPES["log-normal, σ 1.5"](rng, 5000), 0.2).sizes
    mixture = SizeMixture.of(sizes, 0.2)
    best = mixture.fit(mixture.unique_in_both, 0.0)
    for slope in (-2.0, 0.4):
        moved = mixture.fit(mixture.unique_in_both, slope, best)
        assert mixture.likelihood(moved) <= mixture.likelihood(best) + 1e-2
        further = float(mixture.unique_in_both @ (moved - best))
        assert further * slope > 0


def test_nothing_is_estimated_where_no_figure_can_be_trusted():
    rng = np.random.default_rng(1)
    sizes = sampled(rng, RECIPES["Zipf, exponent 1"](rng, 5000), 0.2).sizes
    few = estimate_uniqueness(sizes[:30], 1000)
    assert "too few" in few.reason
    tiny = estimate_uniqueness(sizes, 1e9)
    assert "of the population" in tiny.reason
    weights = np.where(np.arange(int(sizes.sum())) % 2, 1.0, 20.0)
    unequal = estimate_uniqueness(sizes, 5000, weights)
    assert "weights vary" in unequal.reason
    whole_groups = estimate_uniqueness(np.repeat([1, 4, 5], [30, 3000, 1]), 40_000)
    assert "not those of a random sample" in whole_groups.reason  # groups were sampled, not persons
    for one in (few, tiny, unequal, whole_groups):
        assert one.uniques is None
        (said,) = one.sentences()
        assert "not estimated" in said


def test_exact_cases():
    none = estimate_uniqueness(np.array([2, 3, 5] * 20), 1000)
    assert (none.uniques.low, none.uniques.high) == (0, 0)
    census = estimate_uniqueness(np.array([1] * 30 + [5] * 30), 180)
    assert census.uniques.low == census.uniques.high == 30
    counted = counted_uniqueness(np.array([1, 1, 2]), np.array([1, 4, 9]))
    assert counted.uniques.estimate == 1
    assert counted.links.estimate == pytest.approx(1 + 1 / 4 + 2 / 9)


def test_written_and_read_back(found):
    for t in (found[0], found[-1]):
        assert UniquenessEstimate.of(t.estimate.to_dict()) == t.estimate


def test_a_minimum_is_found():
    def rosenbrock(x):
        return float((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)

    assert minimized(rosenbrock, np.array([-1.0, 1.0])) == pytest.approx([1, 1], abs=1e-2)
