"""Merging classes keeps every requirement; absorbing ones keep it whatever is merged in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.hierarchies.hierarchy import Hierarchy, level_from_groups
from discreet.knowledge.table import Links, knowledge_from_sets
from discreet.requirements.base import Domain, Requirement
from discreet.requirements.closeness import TCloseness
from discreet.requirements.diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    MDiversity,
    NpdRecursiveClDiversity,
    PDiversity,
    PdRecursiveClDiversity,
    RecursiveClDiversity,
)
from discreet.requirements.k_anonymity import KAnonymity
from discreet.requirements.multi_attribute import MultiAttributeLDiversity
from discreet.requirements.quasi_sensitive import LinkRequirement, QsClDiversity, QsTCloseness
from discreet.requirements.registry import REQUIREMENTS
from discreet.requirements.sa_diversity import SaDiversity
from discreet.requirements.value_bounds import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    LkcPrivacy,
)
from discreet.table.counts import ClassCounts, RefinedCounts, ValueCounts
from discreet.table.roles import Distance

VALUES = ("a", "b", "c", None)
TREE = Hierarchy(
    "S",
    tuple(
        level_from_groups(
            np.array(nodes, np.int32), list("wxyz"), np.bincount(nodes, minlength=4), 4
        )
        for nodes in ([0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0])
    ),
    4,
)
LINKS = Links(  # of the four values: to one label, to two, to nothing, to all
    knowledge_from_sets([("flu", "a"), ("gout", "b"), ("hiv", "c")]),
    np.array([0, 1, -1, 2], np.int32),
    np.array([0, 1, 3, 6]),
    np.array([0, 0, 2, 0, 1, 2], np.int32),
    np.array([0.5, 0.2, 0.3]),
)
MODELS: list[tuple[Requirement, Distance]] = [
    (requirement, Distance.EQUAL)
    for requirement in (
        KAnonymity(k=3),
        DistinctLDiversity(l=2),
        EntropyLDiversity(l=1.8),
        RecursiveClDiversity(c=1.5, l=2),
        RecursiveClDiversity(c=2, l=3),
        PdRecursiveClDiversity(c=0.7, l=2, disclosable=["a"]),
        PdRecursiveClDiversity(c=1.2, l=3, disclosable=["a", "b"]),
        NpdRecursiveClDiversity(c1=1.5, c2=0.2, l=2, disclosable=["a"], not_ruled_out=["b"]),
        PDiversity(l=1.7),
        MDiversity(l=2),
        MultiAttributeLDiversity(l=2),
        MultiAttributeLDiversity(inner=EntropyLDiversity(l=1.5)),
        AlphaKAnonymity(alpha=0.6, k=2),
        LkcPrivacy(l=2, k=2, c=0.6),
        BetaLikeness(beta=0.4),
        BetaLikeness(beta=2, enhanced=True),
        DeltaDisclosure(delta=0.9),
        SaDiversity(l={"S": 2, "V": 1}),
        QsClDiversity(c=1, l=2),
        QsClDiversity(c=2, l=3, weights="prior"),
        QsTCloseness(t=0.3),
        QsTCloseness(t=0.3, distance="l1", weights="prior"),
    )
] + [(TCloseness(t=0.2), distance) for distance in Distance]

# (S, V) counts of up to five classes
tables = hnp.arrays(
    np.int64, st.tuples(st.integers(2, 5), st.just(4), st.just(2)), elements=st.integers(0, 4)
).filter(lambda cube: bool((cube.sum(axis=(1, 2)) > 0).all()))


def sparse(dense: np.ndarray) -> ValueCounts:
    of_class, value = np.nonzero(dense)
    start = np.searchsorted(of_class, np.arange(len(dense) + 1))
    return ValueCounts(start, value.astype(np.int32), dense[of_class, value], dense.shape[1])


def counted(cube: np.ndarray) -> ClassCounts:
    refined = {}
    for name, by_other in (("S", cube.transpose(0, 2, 1)), ("V", cube)):
        flat = by_other.reshape(-1, by_other.shape[2])
        occurs = flat.sum(axis=1) > 0
        of_class = np.repeat(np.arange(len(cube)), by_other.shape[1])[occurs]
        refined[name] = RefinedCounts(
            sparse(flat[occurs]), flat[occurs].sum(axis=1), of_class.astype(np.int32)
        )
    values = {"S": sparse(cube.sum(axis=2)), "V": sparse(cube.sum(axis=1))}
    return ClassCounts(cube.sum(axis=(1, 2)), values, refined, sets={"Q": values["S"]})


def domains(distance: Distance) -> dict[str, Domain]:
    return {
        "S": Domain(VALUES, distance, TREE, numbers=np.array([1.0, 2.5, 4.0, np.nan])),
        "V": Domain(("a", "b"), Distance.EQUAL),
        "Q": Domain(LINKS.knowledge.labels, links=LINKS),
    }


def merged(cube: np.ndarray, i: int, j: int) -> np.ndarray:
    """The same table with class j merged into class i, which comes first."""
    rest = np.delete(cube, [i, j], axis=0)
    return np.concatenate([(cube[i] + cube[j])[None], rest])


def name_of(case: object) -> str:
    return f"{case.name}-{case.parameters()}" if isinstance(case, Requirement) else str(case)


# Promises about the readers of a sensitive table or about a series of releases: classes are never
# merged to reach them. Presence in a population has a test of its own.
NOT_OF_CLASSES = {
    "km-anonymity",
    "conditional-l-diversity", "delta-presence", "k-map", "population-risk", "m-invariance",
    "m-invariance-in-series",
    "rho-different", "rho-different-in-series", "bcf-anonymity-in-series",
}  # fmt: skip


def test_every_requirement_of_the_catalog_is_here() -> None:
    assert {requirement.name for requirement, _ in MODELS} == set(
        REQUIREMENTS.built_in
    ) - NOT_OF_CLASSES


@pytest.mark.parametrize(("requirement", "distance"), MODELS, ids=name_of)
def test_merging_passing_classes_keeps_passing(
    requirement: Requirement, distance: Distance
) -> None:
    known = domains(distance)

    @settings(max_examples=40, deadline=None)
    @given(tables)
    def kept(cube: np.ndarray) -> None:
        passes = requirement.passes(counted(cube), known)
        for i in range(len(cube)):
            for j in range(len(cube)):
                must = passes[i] and (passes[j] or requirement.algebra.absorbing)
                if i != j and must:
                    assert requirement.passes(counted(merged(cube, i, j)), known)[0]

    kept()


@pytest.mark.parametrize(("requirement", "distance"), MODELS, ids=name_of)
def test_no_partition_beats_the_whole_table(requirement: Requirement, distance: Distance) -> None:
    known = domains(distance)

    @settings(max_examples=25, deadline=None)
    @given(tables)
    def bounded(cube: np.ndarray) -> None:
        name, smaller_is_better = requirement.algebra.figure, requirement.algebra.smaller_is_better
        whole = counted(cube.sum(axis=0, keepdims=True))
        best = requirement.check(whole, known).achieved[name]
        achieved = requirement.check(counted(cube), known).achieved[name]
        if smaller_is_better:
            assert best <= achieved + 1e-9
        else:
            assert best >= achieved - 1e-9

    bounded()


SWAMPED = [
    case
    for case in MODELS
    if not (
        case[0].algebra.absorbing
        or case[0].algebra.against_table
        or isinstance(case[0], LinkRequirement)
    )
]


@pytest.mark.parametrize(("requirement", "distance"), SWAMPED, ids=name_of)
def test_what_is_not_called_absorbing_is_not(requirement: Requirement, distance: Distance) -> None:
    """A class of evenly spread values passes, and is swamped by a class of one value."""
    requirement = requirement.model_copy(update={"attribute": "S"})
    even = np.zeros((1, 4, 2), np.int64)
    even[0, :, 1] = 2
    lone = np.zeros((1, 4, 2), np.int64)
    lone[0, 2, 0] = 1000
    assert requirement.passes(counted(even), domains(distance))[0]
    table = np.concatenate([even, lone])
    assert not requirement.passes(counted(merged(table, 0, 1)), domains(distance))[0]


@pytest.mark.parametrize(
    "requirement",
    [TCloseness(t=0.3), BetaLikeness(beta=0.6), DeltaDisclosure(delta=0.6)],
    ids=name_of,
)
def test_leaving_a_class_out_moves_the_reference(requirement: Requirement) -> None:
    cube = np.zeros((3, 4, 2), np.int64)
    cube[:, :, 0] = [[5, 5, 0, 0], [6, 4, 0, 0], [5, 5, 0, 0]]
    cube[0, 0, 0], cube[0, 1, 0] = 200, 10
    known = domains(Distance.EQUAL)
    counts = counted(cube)
    before = requirement.passes(counts, known)
    left = requirement.passes(counts.keep(np.array([False, True, True])), known)
    assert not before[1:].any()
    assert left.all()


@pytest.mark.parametrize(("requirement", "distance"), MODELS, ids=name_of)
@settings(max_examples=10, deadline=None)
@given(cube=tables, data=st.data())
def test_order_of_classes_does_not_matter(
    requirement: Requirement, distance: Distance, cube: np.ndarray, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(cube))))
    known = domains(distance)
    verdict = requirement.check(counted(cube), known)
    shuffled = requirement.check(counted(cube[list(order)]), known)
    assert list(shuffled.passes) == list(verdict.passes[list(order)])
    assert shuffled.achieved == pytest.approx(verdict.achieved)
