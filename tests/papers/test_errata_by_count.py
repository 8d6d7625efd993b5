"""Numbers that the papers print about public tables, counted ("Errata" of docs/papers)."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.real_data import real_data

from experiments import codip, l_diversity, opinion_polls

pytestmark = pytest.mark.data


def adult(rows: int | None = None) -> pl.DataFrame:
    """The complete rows among the first of Adult."""
    frame = pl.read_csv(real_data("adult", "adult.csv"), infer_schema=False)[:rows]
    return frame.filter(~pl.any_horizontal(pl.all() == "?"))


# Machanavajjhala and others (2006), section 6, on 45,222 rows


def test_occupation_has_14_values_not_41() -> None:
    """Figure 4 prints the 41 of native country for both."""
    table = adult()
    assert len(table) == 45222
    assert (table["occupation"].n_unique(), table["native-country"].n_unique()) == (14, 41)


def test_the_common_salary_class_is_3_times_as_frequent_not_4() -> None:
    counts = sorted(adult()["salary-class"].value_counts()["count"])
    assert counts == [11208, 34014]
    assert counts[1] / counts[0] == pytest.approx(3.03, abs=0.005)


def test_114_people_from_81_to_90_and_12291_from_31_to_40() -> None:
    """Both counts of section 6 are exact."""
    age = adult()["age"].cast(pl.Int64)
    assert age.is_between(81, 90).sum() == 114
    assert age.is_between(31, 40).sum() == 12291


def test_heights_of_adult_s_hierarchies_are_those_of_figure_4() -> None:
    """Age, sex, race, marital status, education, native country, work class."""
    settings = l_diversity.LDiversitySettings(data=real_data("adult", "adult.csv"))
    task = l_diversity.task_of(settings, 7, "occupation", {"k-anonymity": {"k": 6}})
    heights = [task.hierarchies[column.name].height for column in task.table.quasi_identifiers]
    assert heights == [4, 1, 1, 2, 3, 2, 2]


def test_minimal_tables_of_adult_are_the_same_for_both_sensitive_attributes() -> None:
    """Section 6 has 12 and 9; with one taxonomy they are equal, 10 with the project's."""
    settings = l_diversity.LDiversitySettings(data=real_data("adult", "adult.csv"))
    occupation, salary = l_diversity.homogeneity(settings)
    assert occupation["minimal tables"] == salary["minimal tables"] == 10
    assert (occupation["vulnerable"], salary["vulnerable"]) == (0, 8)


# Ye and others (2009), section 6, on 30,162 rows


def test_values_of_table_7() -> None:
    """Printed: age 73, final weight 100, hours per week 99."""
    table = adult(32561)
    assert len(table) == 30162
    counts = [table[name].n_unique() for name in ("age", "fnlwgt", "hours-per-week")]
    assert counts == [72, 20263, 94]
    work_class = table["workclass"].value_counts()["count"]
    assert (len(work_class), len(table) // work_class.max()) == (7, 1)


def test_the_largest_noise_is_not_4733_at_5_and_5() -> None:
    """With l_pri = 3 there are 10,054 groups, and any method needs 20,108 values for 5 each."""
    table = adult(32561)
    education = table["education"].value_counts()["count"].to_numpy()
    least = {}
    for primary in (3, 4, 5):
        groups = len(table) // primary
        least[primary] = groups * 5 - int(np.minimum(education, groups).sum())
    assert least == {3: 20108, 4: 9838, 5: 4452}


# Fang and others (2011), section 7


def test_census_income_keeps_the_paper_s_98839_rows() -> None:
    frame = codip.census_frame(real_data("census-income", "census-income.data"))
    assert len(frame) == 98839


# Abdalaal (2012), chapter 6


def test_ratings_of_movielens_go_from_1_to_5_not_to_7() -> None:
    """The 1M form, which has age, gender and zip code; 6,040 users."""
    frame, quasi, opinions = opinion_polls.movielens(
        real_data("movielens", "ratings.dat").parent, 7
    )
    assert sorted(set().union(*(frame[name].to_list() for name in opinions))) == list("12345")
    assert quasi == ("age:integer", "gender", "zip")
    assert len(frame) == 627  # users with a rating for each of the seven; 684 there
