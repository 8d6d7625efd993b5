"""Statements of the five papers that do not hold, with counterexamples (docs/papers, "Errata")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, permutations, product
from math import log
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from tests.papers.test_classes import column, counted
from tests.papers.test_codip import information
from tests.papers.test_m_invariance_and_rho_different import (
    TABLE_37,
    TABLE_39,
    TABLE_39_C,
    TABLE_41,
    group,
)
from tests.papers.voters import TABLE_42, VOTERS
from tests.series_readers import series_of
from tests.tables import coded_column, coded_table

import discreet as dc
from discreet.attacks.series_beliefs import joint
from discreet.hierarchies.cells import Range, parse_cell
from discreet.knowledge.table import knowledge_from_sets, link
from discreet.methods.decomposition.noise import add_noise, index_sensitive
from discreet.methods.full_domain.full_domain import minimal_nodes
from discreet.methods.quasi_sensitive.removal import costs_of
from discreet.methods.series.beliefs.estimates import individual, shares
from discreet.pipeline.prepare import prepare
from discreet.requirements.base import Domain
from discreet.requirements.diversity import (
    DistinctLDiversity,
    PDiversity,
    PdRecursiveClDiversity,
    RecursiveClDiversity,
)
from discreet.requirements.feasibility import permissible_ell
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.requirements.mutual_information import association_loss
from discreet.requirements.quasi_sensitive import LabelPosteriors, QsClDiversity
from discreet.table.classes import classes_of
from discreet.table.counts import count_values
from discreet.table.roles import Role
from discreet.utility.cell_sums import CellSums
from discreet.utility.queries import values_asked
from experiments import opinion_polls

# Machanavajjhala and others (2006)


def test_the_block_of_section_4_3_is_not_recursive_2_3_diverse() -> None:
    """Counts 2, 1, 1: Definition 4.2 asks 2 < 2·1."""
    counts, domains = counted("qqqq", column("S", ["s1", "s1", "s2", "s3"]))
    assert DistinctLDiversity(l=3).check(counts, domains).holds
    assert not RecursiveClDiversity(c=2, l=3).check(counts, domains).holds
    assert RecursiveClDiversity(c=2.01, l=3).check(counts, domains).holds


def test_condition_1_of_definition_4_3_fails_where_only_disclosable_values_occur() -> None:
    """r_y = 0 and y ≤ ℓ − 1: the sum from ℓ on is 0 too, and 0 < c · 0 is false.

    Four times flu, which may be disclosed, and ℓ = 3: y is 2. The text calls both conditions
    trivially satisfied; discreet takes the text's intention.
    """
    counts_in_order, ell, c = [4], 3, 2.0
    y = len(counts_in_order) + 1
    assert y <= ell - 1
    tail = sum(counts_in_order[ell - 1 :])
    assert not c * tail > 0
    counts, domains = counted("qqqq", column("S", ["flu"] * 4))
    requirement = PdRecursiveClDiversity(c=c, l=ell, disclosable=["flu"])
    assert requirement.check(counts, domains).holds


def test_minimal_k_anonymous_tables_do_not_depend_on_the_sensitive_attribute() -> None:
    """Section 6 has 12 of them with occupation and 9 with salary class, for one k and one table."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 200),
            "sex": rng.choice(["f", "m"], 200),
            "race": rng.choice(list("abc"), 200),
            "occupation": rng.choice(list("uvwxyz"), 200),
            "salary": rng.choice(["low", "low", "high"], 200),
        }
    )
    hierarchies = {"age": {"intervals": [5, 10, 20, "*"]}, "sex": "suppress", "race": "suppress"}
    minimal = []
    for sensitive in ("occupation", "salary"):
        job = dc.Job(
            attributes={
                **{q: {"role": "quasi-identifier", "hierarchy": h} for q, h in hierarchies.items()},
                sensitive: {"role": "sensitive"},
            },
            requirements=[{"k-anonymity": {"k": 6}}],
            method="full-domain",
        )
        minimal.append(minimal_nodes(prepare(job, frame.select(*hierarchies, sensitive))))
    assert minimal[0] == minimal[1]
    assert len(minimal[0]) > 1


# Ye and others (2009)


def holds_jointly(rows: list[str], ell: int) -> bool:
    """Whether a group of pairs, such as 1a, has 2-SA-ℓ-diversity (section 3.1)."""
    columns = [column(name, [row[i] for row in rows]) for i, name in enumerate("ST")]
    counts, domains = counted("g" * len(rows), *columns, refined=True)
    return MultiAttributeLDiversity(l=ell).check(counts, domains).holds


def test_decomposition_theorem_1_needs_neither_l_values_nor_l_to_the_d_rows() -> None:
    """Six rows with three values of each attribute: every value occurs with two of the other."""
    rows = ["1a", "1b", "2b", "2c", "3c", "3a"]
    assert holds_jointly(rows, 2)
    assert (len(rows), len({row[0] for row in rows}), len({row[1] for row in rows})) == (6, 3, 3)


def test_decomposition_theorem_1_counts_combinations_not_rows_where_attributes_have_l_values() -> (
    None
):
    """Two values of each attribute and five rows; all four combinations must occur, rows repeat."""
    assert holds_jointly(["1a", "1a", "1b", "2a", "2b"], 2)  # 5 rows, not 2² = 4
    pairs = [first + second for first, second in product("12", "ab")]
    for times in product(range(3), repeat=len(pairs)):
        rows = [pair for pair, count in zip(pairs, times, strict=True) for _ in range(count)]
        if rows:
            assert holds_jointly(rows, 2) == (len(set(rows)) == 4)


SENSITIVE_TABLE = [
    ("nurse", 1), ("nurse", 4), ("police", 8), ("cook", 9), ("actor", 2), ("actor", 7),
    ("clerk", 8), ("clerk", 2),
]  # fmt: skip
NAMES = ["Alice", "Betty", "Carl", "Diana", "Ella", "Finch", "Gavin", "Helen"]


def test_knowledge_of_one_attribute_raises_the_risk_of_another_after_decomposition() -> None:
    """Section 3.2 against table 6: group 1 lists four salaries; T^S has one police row, with 8."""
    occupations, salaries = {"police", "nurse", "actor", "clerk"}, {1, 2, 4, 8}
    assert SENSITIVE_TABLE[NAMES.index("Carl")][0] in occupations
    known = {salary for job, salary in SENSITIVE_TABLE if job == "police"} & salaries
    unknown = {salary for job, salary in SENSITIVE_TABLE if job in occupations} & salaries
    assert (known, unknown) == ({8}, {1, 2, 4, 8})


def test_carl_is_the_policeman_not_the_cook() -> None:
    """Section 1.1 calls tuple 3 a cook; the cook is tuple 4, Diana."""
    assert SENSITIVE_TABLE[3 - 1][0] == "police"
    assert [NAMES[i] for i, (job, _) in enumerate(SENSITIVE_TABLE) if job == "cook"] == ["Diana"]
    assert NAMES[3 - 1] == "Carl"


def sizes_before_each_iteration(sizes: list[int], ell: int) -> list[list[int]]:
    """Sizes of the buckets before each step of the largest-l procedure (section 4)."""
    seen = []
    sizes = list(sizes)
    while sum(size > 0 for size in sizes) >= ell:
        seen.append(list(sizes))
        for bucket in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)[:ell]:
            sizes[bucket] -= 1
    return seen


def test_the_proof_of_corollary_1_means_buckets_of_at_least_3() -> None:
    """ "At most l − 1 buckets with size at most 3" before I_{k−1}: sizes 2, 2, 2 with l = 2."""
    assert sizes_before_each_iteration([2, 2, 2], 2)[-2] == [1, 1, 2]  # three, where l − 1 is 1
    for ell, *sizes in product((2, 3), *[range(1, 5)] * 4):
        if max(sizes) * ell <= sum(sizes):  # the corollary's condition
            steps = sizes_before_each_iteration(sizes, ell)
            assert all(sum(size >= 3 for size in step) <= ell - 1 for step in steps[-2:-1])


def test_noise_by_linkable_values_can_be_recognized() -> None:
    """Definition 4 asks for a row with the primary value; none with the group's other sets fits.

    c occurs with p1, and so is linkable; its only row has z, which the group does not list.
    """
    rows = [("p1", "a", "x"), ("p2", "b", "y"), ("p1", "c", "z"), ("p1", "d", "y")]
    rows += [("p2", "a", "x")]
    sets = [{"p1", "p2"}, {"a", "b"}, {"x", "y"}]
    linkable = {row[1] for row in rows if row[0] in sets[0]} - sets[1]
    assert linkable == {"c", "d"}
    recognized = {
        value
        for value in linkable
        if not any(row[1] == value and row[0] in sets[0] and row[2] in sets[2] for row in rows)
    }
    assert recognized == {"c"}
    table = coded_table({name: [row[i] for row in rows] for i, name in enumerate("PST")})
    sensitive = index_sensitive([table[name] for name in "PST"], len(rows))
    member = sensitive.classes.class_of_row[[0, 1]]
    chosen = {
        table["S"].text[int(value)]
        for seed in range(20)
        for value in add_noise(
            sensitive, np.array([0, 2]), member, [2, 3, 2], np.random.default_rng(seed)
        ).value
    }
    assert chosen == {"d"}  # whole rows support it


def test_divergence_exceeds_the_logarithm_of_the_product_of_l() -> None:
    """Unions hold more than l_i values: three persons with l = (3, 2) list 3 · 3 pairs."""
    frame = pl.DataFrame(
        {"q": list("uvwxyz"), "s": list("abcabc"), "t": ["1", "2", "3", "4", "5", "6"]}
    )
    job = dc.Job(
        attributes={
            "q": {"role": "quasi-identifier"},
            "s": {"role": "sensitive"},
            "t": {"role": "sensitive"},
        },
        method={"decomposition": {"primary": "s", "l": {"s": 3, "t": 2}}},
    )
    values = dc.publish(frame, job, seed=0).tables["group_values"]
    sizes = values.group_by("group", "attribute").len()
    logarithms = sizes.group_by("group").agg(pl.col("len").log().sum())["len"].to_list()
    assert logarithms == pytest.approx([log(9)] * 2)
    assert min(logarithms) > log(3 * 2)


def test_permissible_l_of_relationship_is_2_not_3() -> None:
    """Table 7, over the 30,162 complete rows of Adult: husbands, not in family, own children, …"""
    relationship = np.array([12463, 7726, 4466, 3212, 1406, 889])
    assert relationship.sum() == 30162
    assert permissible_ell(relationship) == 2


# Fang and others (2011)


def test_codip_theorem_2_holds_with_the_class_size_not_k() -> None:
    """k = ℓ = 2 bounds the confidence by (k − ℓ + 1)/k = 1/2; here it is 9 of 10."""
    counts, domains = counted("g" * 10, column("S", ["a"] * 9 + ["b"]))
    assert KAnonymity(k=2).check(counts, domains).holds
    assert DistinctLDiversity(l=2).check(counts, domains).holds
    k = ell = 2
    n = 10
    assert 9 / n > (k - ell + 1) / k
    assert 9 / n == (n - ell + 1) / n


def test_codip_exposes_both_entropies_not_one_twice() -> None:
    """Four values and a constant: h1 + h2 = ln 4; the printed 2·H(Aj) is 0, or 2 ln 4 reversed."""
    found = information({"a": list("pqrs"), "b": list("xxxx")})
    entropy, exposable = found.entropy, found.exposable
    assert exposable[0, 1] == exposable[1, 0] == pytest.approx(log(4))
    assert 2 * entropy[1] - 2 * found.mutual[0, 1] == pytest.approx(0)
    assert 2 * entropy[0] - 2 * found.mutual[0, 1] == pytest.approx(2 * log(4))


def test_gamma_alpha_is_the_loss_of_association_not_of_information() -> None:
    """Section 6.2 calls it Information Loss Ratio; a plan keeps the entropy of each attribute."""
    found = information({"a": list("ppqq"), "b": list("xxyy")})
    apart, together = ((0,), (1,)), ((0, 1),)
    assert association_loss(found, apart) == 1
    assert association_loss(found, together) == 0
    assert list(found.entropy) == pytest.approx([log(2)] * 2)  # whatever the plan


# Shi and others (2010)


def test_probabilities_of_a_row_need_not_add_to_1() -> None:
    """Figure 1: headache and vomiting fit no disease, so that row's P adds to 0."""
    table = knowledge_from_sets([("flu", ["headache"]), ("hepatitis B", ["vomiting"])])
    cells = coded_column("symptoms", ["headache|vomiting"], Role.QUASI_SENSITIVE, "|")
    assert link(cells, table).unlinked_rows(cells.counts) == 1


def test_the_bound_of_qs_diversity_can_be_reached() -> None:
    """Two labels at 1/2 satisfy (1, 2)-diversity with a belief of c/(c + 1), not below it."""
    table = knowledge_from_sets([("flu", ["cough"]), ("cold", ["cough"])])
    cells = coded_column("symptoms", ["cough"], Role.QUASI_SENSITIVE, "|")
    links, groups = link(cells, table), classes_of([coded_column("q", ["x"])], 1)
    counts = count_values(groups, cells)
    domain = Domain(table.labels, links=links)
    assert QsClDiversity(c=1, l=2).admits(counts, groups.size, domain).all()
    head, _ = LabelPosteriors(counts, links, "equal").head_and_tail(2)
    assert list(head) == [1 / 2]


FIGURE_1 = {  # the columns of each table, and whether its ages are ranges
    "a": (["Age", "Gender", "State", "Occupation", "Symptoms"], False),
    "b": (["Age", "Gender", "State", "Occupation", "Coughing", "vomiting", "Headache",
           "Sore Throat"], False),
    "c": (["Disease", "Symptoms"], False),
    "d": (["Age", "Gender", "State", "Occupation", "Symptoms"], True),
}  # fmt: skip


def test_the_generalized_table_of_figure_1_is_d_and_the_external_one_c() -> None:
    """Section 1.1 calls table 1c a generalization; section 2.1 finds diseases in table 1b."""
    assert [name for name, (_, ranges) in FIGURE_1.items() if ranges] == ["d"]
    assert [name for name, (columns, _) in FIGURE_1.items() if "Disease" in columns] == ["c"]


def test_equation_2_sums_1_over_its_index() -> None:
    """Printed: Σ_j 1/x with a free x, by which every removal costs the same.

    Rows of one and of three terms: the only term of a row costs three times the first of three.
    """
    lengths = [1, 3]
    whole = sum(1 / j for length in lengths for j in range(1, length + 1))
    costs = []
    for row in range(2):
        kept = np.ones(4, bool)
        kept[row] = False  # term 0 is the first row's, term 1 of the second row
        rows = SimpleNamespace(start=np.array([0, 1, 4]), harmonic=np.cumsum([0, 1, 1 / 2, 1 / 3]))
        costs.append(float(costs_of(np.array([0, 2]), rows, kept)[0]))
    assert costs == pytest.approx([1 / whole, 1 / 3 / whole])
    assert costs[0] != pytest.approx(costs[1])  # as printed both are 1/4


def test_a_higher_selectivity_parameter_makes_predicates_less_selective() -> None:
    """b_A = |A| · s^(1/(qd+1)) values of 100 are accepted: 57 at s = 0.1, 85 at 0.5."""
    assert [values_asked(100, s ** (1 / (3 + 1))) for s in (0.1, 0.5, 0.9)] == [57, 85, 98]


# Abdalaal (2012)


def test_table_4_prints_a_for_t8() -> None:
    """With it four of nine vote a, and no grouping is 3-pdiverse; tables 5 and 42 have b."""
    printed = [row[2] for row in VOTERS]
    assert printed[7] == "b"
    printed[7] = "a"
    counts, domains = counted("g" * 9, column("I1", printed))
    assert PDiversity(l=3).check(counts, domains).achieved["l"] == 9 / 4
    labels = ["123"[next(i for i, rows in enumerate(TABLE_42) if row in rows)] for row in range(9)]
    assert not PDiversity(l=3).check(*counted(labels, column("I1", printed))).holds
    assert PDiversity(l=3).check(*counted(labels, column("I1", [r[2] for r in VOTERS]))).holds


def test_theorem_1_of_the_thesis_needs_at_most() -> None:
    """A share of 1/3 in table 42 is not below 1/3, and the table is called 3-pdiverse."""
    labels = ["123"[next(i for i, rows in enumerate(TABLE_42) if row in rows)] for row in range(9)]
    counts, domains = counted(labels, column("I1", [row[2] for row in VOTERS]))
    assert PDiversity(l=3).check(counts, domains).achieved == {"l": 3}


def test_table_2_is_not_3_pdiverse() -> None:
    """Section 5.1 calls it so; two of four vote c."""
    counts, domains = counted("gggg", column("I1", list("bcac")))
    assert PDiversity(l=3).check(counts, domains).achieved == {"l": 2}


def test_table_24_prints_a_row_that_table_23_lacks() -> None:
    """(e, z) for t9's (e, f); the share of 2/3 for z that section 3.5 criticizes is the slip's."""
    table_23 = list(zip("aaabbccde", "fwxfwyyzf", strict=True))
    table_24 = ["cy", "bw", "af", "bf", "aw", "cy", "ez", "dz", "ax"]
    assert {tuple(row) for row in table_24} - set(table_23) == {("e", "z")}
    third = [table_23[number - 1][1] for number in (3, 8, 9)]
    assert sorted(third) == ["f", "x", "z"]
    assert PDiversity(l=3).check(*counted("ggg", column("I2", third))).holds


def test_table_38_prints_0_366_where_the_rule_of_table_40_gives_0_379() -> None:
    old = {"Aids": 1, "Diarrhea": 1, "GI": 1, "Fever": 1}
    new = {"Aids": 1, "Fever": 1, "Diarrhea": 1, "Cancer": 1}
    found = individual(shares(old), new, TABLE_37)["Aids"]
    assert found == pytest.approx(0.379, abs=5e-4)
    assert abs(found - 0.366) > 0.01


def test_table_40_rounds_two_of_three_probabilities_the_wrong_way() -> None:
    """It prints 27, 20 and 53 for d, f and g."""
    found = individual(shares(group("dfg")), group("dfg"), TABLE_39_C)
    assert [round(100 * found[value]) for value in "dfg"] == [28, 19, 53]


PERSONS = {  # ages and zip codes of T2, beside table 40
    "t1": (21, 12), "t4": (23, 25), "n1": (25, 21), "t7": (37, 33), "t9": (43, 26), "t5": (41, 20),
    "n2": (46, 30), "n3": (54, 31), "t11": (56, 34), "n4": (60, 44), "n5": (65, 36),
}  # fmt: skip
TABLE_40_CELLS = {
    ("[21, 22]", "[12, 14]"): ["t1"],
    ("[23, 25]", "[21, 25]"): ["n1", "t4"],
    ("[37, 43]", "[26, 33]"): ["t7", "t9"],
    ("[41, 56]", "[31, 34]"): ["t5", "n2"],
    ("[54, 56]", "[31, 34]"): ["n3", "t11"],
    ("[60, 65]", "[36, 44]"): ["n4", "n5"],
}
TABLE_41_CELLS = {
    ("[21, 25]", "[12, 25]"): ["t1", "n1"],
    ("[23, 24]", "[21, 22]"): ["t4"],
    ("[37, 38]", "[33, 34]"): ["t7"],
    ("[43, 44]", "[26, 27]"): ["t9"],
    ("[41, 56]", "[31, 34]"): ["t5", "n2"],  # groups 5 and 6 print two cells each
    ("[54, 56]", "[31, 34]"): ["n3", "t11"],
    ("[60, 65]", "[36, 44]"): ["n4", "n5"],
}


@pytest.mark.parametrize(
    ("cells", "uncovered"),
    [(TABLE_40_CELLS, {"t5", "n2"}), (TABLE_41_CELLS, {"t4", "t5", "n2"})],
    ids=["table 40", "table 41"],
)
def test_cells_of_tables_40_and_41_do_not_cover_all_persons(
    cells: dict[tuple[str, str], list[str]], uncovered: set[str]
) -> None:
    found = set()
    for texts, persons in cells.items():
        for person in persons:
            for text, number in zip(texts, PERSONS[person], strict=True):
                cell = parse_cell(text)
                assert isinstance(cell, Range)
                if not int(cell.low) <= number <= int(cell.high):
                    found.add(person)
    assert sum(map(len, cells.values())) == len(PERSONS)
    assert found == uncovered


def test_tables_39_and_40_publish_another_value_for_t11() -> None:
    """The microdata have g for t11 in both releases; both published tables have c."""
    microdata = dict(zip([f"t{i}" for i in range(1, 12)], "dbfgfgdfgdg", strict=True))
    published = {
        person: value
        for persons, values in TABLE_39
        for person, value in zip(persons, values, strict=True)
    }
    assert {person for person in microdata if microdata[person] != published[person]} == {"t11"}


def test_table_41_is_not_2_different() -> None:
    """t11 has c with 5/6 by table 40's own rule, and all releases together make t5 certain."""
    found = individual(shares(group("dc")), group("gc"), TABLE_39_C)
    assert found["c"] == pytest.approx(5 / 6)
    series = series_of([TABLE_39, TABLE_41])
    assert joint(series, TABLE_39_C, 0.5).greatest[0] == pytest.approx(1.0)


def test_the_definition_of_rho_different_excludes_its_own_example() -> None:
    """Definition 1 asks for less than ρ; two equally likely values, as in table 41, have ρ = 1/2.

    A first release of two values never goes below: the text's "at most ρ" is what can be meant.
    """
    series = series_of([[(["n4", "n5"], ["g", "f"])]])
    found = joint(series, TABLE_39_C, 0.5)
    assert found.greatest == (0.5,)
    assert found.above == 0


def test_discernibility_sums_squares_over_classes_not_over_rows() -> None:
    """Section 2.6.1 prints Σ over rows t of |EC(t)|²: 27 for one class of three rows, not 9."""
    sizes = [3]
    assert CellSums.of_sizes(np.array(sizes)).squares == 9
    assert sum(size * size for size in sizes for _ in range(size)) == 27


def costas(order: Sequence[int]) -> bool:
    """Whether the vectors between the marks of a permutation matrix all differ."""
    vectors = [(j - i, order[j] - order[i]) for i, j in combinations(range(len(order)), 2)]
    return len(set(vectors)) == len(vectors)


def test_there_are_fewer_costas_arrays_than_permutations() -> None:
    """Section 5.5.1 has n! of n elements, and figure 12, the diagonal, as an example."""
    found = {n: sum(map(costas, permutations(range(n)))) for n in (3, 4)}
    assert found == {3: 4, 4: 12}  # 3! = 6 and 4! = 24
    assert not costas([0, 1, 2])  # figure 12


def test_the_loss_metric_as_printed_exceeds_1() -> None:
    """Section 2.6.2: between 0 and 1, and a plain sum over rows; two suppressed rows give 2."""
    frame = pl.DataFrame({"age": [20, 30], "vote": ["a", "b"]})
    job = dc.Job(
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer"},
            "vote": {"role": "sensitive"},
        },
        requirements=[{"k-anonymity": {"k": 2}}],
        method="mondrian",
    )
    release = dc.publish(frame, job)
    ranges = [parse_cell(cell) for cell in release.tables["records"]["age"]]
    printed = sum((int(cell.high) - int(cell.low)) / (30 - 20) for cell in ranges)
    assert printed == 2
    assert dc.measure(release, original=frame, job=job).loss == 1


def test_gal_asks_for_at_least_l_values() -> None:
    """Section 6.2: "smaller than ℓ"; the groups of table 22 need 3 values deleted at ℓ = 3."""
    for members in ([0, 1, 2], [5, 6, 7, 8]):
        rows = [VOTERS[i][2:] for i in members]
        values = {value for row in rows for value in row}
        covers = [
            len(deleted)
            for size in range(1, len(values) + 1)
            for deleted in combinations(sorted(values), size)
            if all(set(row) & set(deleted) for row in rows)
        ]
        assert min(covers) == 3


CAPTIONS = {  # measure and fixed parameter of the figures of chapter 6
    16: ("discernibility", "d = 2"), 17: ("query error", "d = 2"),
    18: ("discernibility", "d = 5"), 19: ("query error", "d = 5"),
    20: ("discernibility", "ℓ = 2"), 21: ("query error", "ℓ = 2"),
    22: ("discernibility", "ℓ = 5"), 23: ("query error", "ℓ = 5"),
}  # fmt: skip


def test_the_text_of_section_6_2_mistakes_four_figures() -> None:
    """The text: 16 and 17, 20 and 21 are the utility metric; 18 and 19, 22 and 23 query error."""
    text = dict.fromkeys((16, 17, 20, 21), "discernibility")
    text |= dict.fromkeys((18, 19, 22, 23), "query error")
    wrong = [number for number, (measure, _) in CAPTIONS.items() if text[number] != measure]
    assert wrong == [17, 18, 21, 22]
    titles = {
        int(number): figure.title
        for figure in opinion_polls.EXPERIMENT.figures
        if figure.name in ("15", "17")
        for number in re.findall(r"\d+", figure.title)
    }
    assert all(measure in titles[number] for number, (measure, _) in CAPTIONS.items())


def test_bob_is_25_and_ken_is_20_in_table_29() -> None:
    """Section 4.2.2 gives Bob 20 years, which is Ken, who is not in the second release."""
    first, second = {"Bob": 25, "Ken": 20, "Linda": 40, "Alice": 45}, {"Bob": 25, "Peter": 23}
    assert [name for name, age in first.items() if age == 20] == ["Ken"]
    assert "Ken" not in second


def test_the_split_of_section_3_4_is_by_zip_code_not_by_age() -> None:
    """ "Choosing the Age attribute … 3000–5000 and 5500–6500": those are zip codes."""
    low = [i + 1 for i, row in enumerate(VOTERS) if 3000 <= int(row[1]) <= 5000]
    high = [i + 1 for i, row in enumerate(VOTERS) if 5500 <= int(row[1]) <= 6500]
    assert (low, high) == ([1, 2, 3, 5, 8], [4, 6, 7, 9])
    assert not any(3000 <= int(row[0]) <= 6500 for row in VOTERS)
