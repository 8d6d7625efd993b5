"""Figures 16 to 25 of the dissertation on MovieLens 1M: what its claim at ℓ = 2 depends on."""

from __future__ import annotations

import pytest
from experiments.opinion_polls import FIGURES, OpinionPollSettings, measured
from tests.real_data import real_data

from experiments import opinion_polls

PAPER, CURVE, GAL = "msa-diversity (paper)", "msa-diversity (curve)", "gal (suppress)"


def figures(settings: OpinionPollSettings, method: str, d: int, ell: int) -> dict[str, float]:
    found = measured(settings, method, d, ell)
    assert found is not None
    return dict(zip(FIGURES, found, strict=True))


def settings_of(films: str) -> OpinionPollSettings:
    return OpinionPollSettings(
        movielens=True, films=films, data=real_data("movielens", "ratings.dat").parent
    )


@pytest.mark.data
def test_the_claim_at_2_is_reversed_with_the_most_rated_films():
    settings = settings_of("most-rated")
    assert len(opinion_polls.poll(settings)[0]) == 627
    expected = {2: (283129, 179983, 0.706, 0.410), 5: (341879, 153119, 0.703, 0.326)}
    for d, (ours, theirs, our_error, their_error) in expected.items():
        paper, gal = (figures(settings, method, d, 2) for method in (PAPER, GAL))
        assert (paper["discernibility"], gal["discernibility"]) == (ours, theirs)
        assert paper["median query error"] == pytest.approx(our_error, abs=1e-3)
        assert gal["median query error"] == pytest.approx(their_error, abs=1e-3)
    assert gal["greatest probability"] == pytest.approx(0.94, abs=5e-3)  # d = 5; 0.86 there
    assert paper["greatest probability"] == 0.5
    assert paper["bound"] == pytest.approx(275 / 627)  # the commonest rating has 451 of 627


@pytest.mark.data
@pytest.mark.parametrize("method", [PAPER, CURVE])
def test_five_ratings_allow_no_release_at_5(method):
    assert measured(settings_of("most-rated"), method, 2, 5) is None


@pytest.mark.data
def test_the_claim_at_2_holds_with_the_least_skewed_films_along_the_curve():
    settings = settings_of("least-skewed")
    assert len(opinion_polls.poll(settings)[0]) == 194
    for d in (2, 5):
        paper, curve, gal = (figures(settings, method, d, 2) for method in (PAPER, CURVE, GAL))
        assert curve["discernibility"] < gal["discernibility"]
        assert curve["median query error"] < gal["median query error"]
        assert (paper["discernibility"] < gal["discernibility"]) == (d == 2)
