"""The built-in methods and kinds of release pass the conformance kit that plugins use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiments.rivals import Gal, LiYe, Mmdcf
from tests.conformance.samples import quasi_sensitive

import discreet as dc
from discreet.methods.base import CellColumn, Generalized
from discreet.methods.mondrian.mondrian import Mondrian
from discreet.methods.registry import METHODS
from discreet.methods.shared.grouped_rows import with_cells
from discreet.releases.kinds.generalized import GeneralizedKind
from discreet.releases.registry import KINDS
from discreet.testing import check_kind, check_method
from discreet.testing.sample_tables import ATTRIBUTES, sample_table

ONE = {name: entry for name, entry in ATTRIBUTES.items() if name != "salary"}


def without_salary(seed):
    return sample_table(seed).drop("salary")


CASES = {
    "full-domain": (dc.FullDomain(suppression=0.1), {}),
    "mondrian": (dc.Mondrian(), {}),
    "top-down": (dc.TopDown(), {}),
    "local-recoding": (dc.LocalRecoding(), {}),
    "msa-diversity": (
        dc.MsaDiversity(),
        {"requirements": [dc.MDiversity(l=2)], "impossible": [dc.MDiversity(l=9)]},
    ),
    "decomposition": (
        dc.Decomposition(l={"diagnosis": 2, "salary": 2}),
        {"requirements": [], "impossible": dc.Decomposition(l={"diagnosis": 9})},
    ),
    "anatomy": (
        dc.Anatomy(l=2),
        {
            "requirements": [], "impossible": dc.Anatomy(l=9),
            "attributes": ONE, "make_table": without_salary,
        },
    ),
    "unlinked": (dc.Unlinked(), {"impossible": [dc.PDiversity(l=99)]}),
    "codip": (dc.Codip(), {}),
    "m-invariance": (
        dc.MInvariance(m=2),
        {
            "requirements": [], "impossible": dc.MInvariance(m=9),
            "attributes": ONE, "make_table": without_salary,
        },
    ),
    "quasi-sensitive": (
        dc.QuasiSensitive(),
        {
            "requirements": [dc.QsClDiversity(c=3, l=2)],
            "impossible": [dc.QsClDiversity(c=0.1, l=9)],
        },
    ),
    "rho-different": (
        dc.RhoDifferent(rho=0.5),
        {
            "requirements": [], "impossible": dc.RhoDifferent(rho=0.01),
            "attributes": ONE, "make_table": without_salary,
        },
    ),
    "li-ye": (
        LiYe(alpha_qi=2, alpha_sa=2),
        {"requirements": [], "impossible": LiYe(alpha_qi=99, alpha_sa=2)},
    ),
    "gal": (Gal(k=2, l=2), {"requirements": [], "impossible": Gal(k=2, l=9)}),
    "mmdcf": (Mmdcf(l=2), {"requirements": [], "impossible": Mmdcf(l=9)}),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS.built_in)
def test_conformance(name, tmp_path):
    method, given = CASES[name]
    if name == "quasi-sensitive":
        given = {**given, "attributes": quasi_sensitive(tmp_path)}
    check_method(method, **given)


class Unseeded(Mondrian):
    """A method that draws on randomness of its own."""

    def run(self, task):
        random = np.random.default_rng()
        return super().run(task) if random.random() < 0.5 else _whole(task)


class Careless(Mondrian):
    """A method that ignores the requirements."""

    def run(self, task):
        return super().run(_without_requirements(task))


def _whole(task):
    cells = {
        column.name: CellColumn(np.zeros(1, np.int32), ("*",), np.ones(1))
        for column in task.table.quasi_identifiers
    }
    return Generalized(np.zeros(task.table.rows, np.int32), cells)


def _without_requirements(task):
    return replace(task, requirements=[dc.KAnonymity(k=1)])


def test_a_careless_method_is_refused():
    with pytest.raises(dc.AuditError, match="k-anonymity"):
        check_method(Careless())


def test_a_method_without_its_seed_is_refused():
    with pytest.raises(AssertionError, match="one seed"):
        check_method(Unseeded(), tables=20)


class CoarseBuckets(dc.MsaDiversity):
    """Numbered groups with the tightest cells, without a ledger."""

    def run(self, task):
        return with_cells(task, super().run(task))


KIND_CASES = {
    "generalized": (dc.Mondrian(), {"requirements": [dc.KAnonymity(k=2)]}),
    "bucketized": (dc.MsaDiversity(publish="buckets"), {"requirements": [dc.MDiversity(l=2)]}),
    "generalized-buckets": (
        CoarseBuckets(publish="buckets"),
        {"requirements": [dc.MDiversity(l=2)]},
    ),
    "decomposed": (dc.Decomposition(l={"diagnosis": 2, "salary": 2}), {}),
    "projected": (dc.Codip(), {"requirements": [dc.KAnonymity(k=2)]}),
}


@pytest.mark.parametrize("name", KINDS.built_in)
def test_conformance_of_kinds(name):
    method, given = KIND_CASES[name]
    check_kind(KINDS[name](), method, **given)


class Blind(GeneralizedKind):
    """A kind that calls every release consistent."""

    def shard_problems(self, tables, manifest):
        return []

    def joined_problems(self, manifest, tally, evidence):
        return []

    def changes(self, tables, task, manifest, source_rows=None, *, part=False):
        return []


class Empty(GeneralizedKind):
    """A kind that counts nothing."""

    def views(self, tables, domains, *, refined):
        return []


def test_a_kind_without_counts_is_refused():
    with pytest.raises(AssertionError, match="no view of its counts"):
        check_kind(Empty(), dc.Mondrian(), requirements=[dc.KAnonymity(k=2)])


def test_a_kind_that_overlooks_forgeries_is_refused(monkeypatch):
    monkeypatch.setitem(KINDS.built_in, "generalized", Blind)
    monkeypatch.setattr("discreet.releases.audit.audit.miscounted", lambda tables, manifest: [])
    with pytest.raises(AssertionError, match="does not notice a row of 'records'"):
        check_kind(Blind(), dc.Mondrian(), requirements=[dc.KAnonymity(k=2)])


def test_a_method_of_another_kind_is_refused():
    kind = KINDS["bucketized"]()
    with pytest.raises(AssertionError, match="releases of the kind generalized"):
        check_kind(kind, dc.Mondrian(), requirements=[dc.KAnonymity(k=2)])
