"""m-invariance and ρ-different on small tables: worked examples, borders and errors."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED
from tests.series_readers import all_beliefs, series_of
from tests.tables import coded_table

import discreet as dc
from discreet.attacks.series_beliefs import joint
from discreet.methods.base import Past, Task
from discreet.methods.series.beliefs.correlation import Correlation
from discreet.methods.shared.different_values import group_different, most_that_group
from discreet.pipeline.run import make_release
from discreet.releases.manifest import Manifest
from discreet.requirements.judge import stated
from discreet.table.past_releases import History, PastRelease

TABLE_33 = [(["Bob", "Ken"], "ab"), (["Sam", "Jane"], "ab"), (["Linda", "Alice"], "ac")]
TABLE_34_T2 = {
    "Bob": "a", "Sam": "a", "Alice": "c", "Mandy": "b", "David": "a", "Tom": "c", "Carol": "a",
}  # fmt: skip
ATTRIBUTES = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi-identifier", "type": "integer"},
    "ill": {"role": "sensitive"},
}


def past(groups, number: dict[str, int], values: str) -> PastRelease:
    start, entries = [0], []
    person, group = [], []
    for at, (names, published) in enumerate(groups):
        entries += sorted(values.index(letter) for letter in published)
        start.append(len(entries))
        person += [number[name] for name in names]
        group += [at] * len(names)
    return PastRelease(
        np.array(person, np.int32),
        np.array(group, np.int32),
        np.array(start, np.int64),
        np.array(entries, np.int32),
        np.ones(len(entries), np.int32),
    )


def task_of(table: dict[str, str], releases, values: str) -> Task:
    names = dict.fromkeys(n for groups in releases for people, _ in groups for n in people)
    number = {name: at for at, name in enumerate(dict.fromkeys([*names, *table]))}
    cells = {"age": list(range(len(table))), "ill": list(table.values())}
    coded = coded_table(cells, "qs")
    column = coded["ill"].with_domain(set(values))
    coded = type(coded)({**coded.columns, "ill": column}, coded.rows)
    history = History(
        tuple(past(groups, number, values) for groups in releases),
        np.array([number[name] for name in table], np.int32),
        len(number),
        tuple(values),
    )
    return Task(coded, {}, (), np.random.default_rng(0), past=Past(history))


def groups_of(task: Task, outcome, names) -> list[tuple[set[str], str]]:
    letters = task.table["ill"].text.to_list()
    codes = task.table["ill"].codes
    result = []
    for group in range(int(outcome.group_of_row.max()) + 1):
        rows = np.flatnonzero(outcome.group_of_row == group)
        fakes = outcome.counterfeits.value["ill"][outcome.counterfeits.group == group]
        held = sorted(letters[code] for code in [*codes[rows], *fakes])
        result.append(({names[row] for row in rows}, "".join(held)))
    return result


def test_table_35_needs_one_counterfeit():
    task = task_of(TABLE_34_T2, [TABLE_33], "abc")
    outcome = dc.MInvariance(m=2).run(task)
    groups = groups_of(task, outcome, list(TABLE_34_T2))
    signature = {name: values for names, values in groups for name in names}
    assert (signature["Bob"], signature["Sam"], signature["Alice"]) == ("ab", "ab", "ac")
    assert outcome.facts["counterfeits"] == 1
    assert outcome.facts["held_back"] == 0
    assert outcome.facts["changed_signatures"] == 0


def test_table_36_a_by_equal_multiplicities():
    table = {"Bob": "a", "Ken": "b", "Sam": "a", "Jane": "b", "Linda": "a", "Alice": "c"}
    history = [[*TABLE_33]]
    task = task_of(table, history, "abc")
    outcome = dc.MInvariance(m=2, buckets="equal-multiplicity").run(task)
    assert sorted(values for _, values in groups_of(task, outcome, list(table))) == ["aabb", "aacc"]
    assert outcome.facts["counterfeits"] == 2


def test_a_returner_after_a_gap_keeps_the_signature():
    second = [(["Ken", "Mandy"], "ab")]
    task = task_of({"Bob": "a", "Zoe": "c", "Yuri": "b"}, [TABLE_33, second], "abc")
    outcome = dc.MInvariance(m=2).run(task)
    groups = groups_of(task, outcome, ["Bob", "Zoe", "Yuri"])
    signature = {name: values for names, values in groups for name in names}
    assert signature["Bob"] == "ab"


def test_a_changed_value_gets_a_signature_that_shares_nothing():
    table = {"Bob": "d", "Ken": "c", "Zoe": "e", "Yuri": "c"}
    task = task_of(table, [TABLE_33], "abcde")
    outcome = dc.MInvariance(m=2).run(task)
    signature = {n: v for names, v in groups_of(task, outcome, list(table)) for n in names}
    assert not set(signature["Bob"]) & set("ab")
    assert not set(signature["Ken"]) & set("ab")
    assert outcome.facts["changed_signatures"] == 2


def test_most_that_group_is_the_bound():
    for counts in ([5, 1, 1], [4, 4, 4], [9, 2, 2, 2], [1], [3, 3], [2, 2, 2, 2], [7, 7, 1]):
        for size in (2, 3, 4):
            kept = most_that_group(np.array(counts), size)
            total = int(kept.sum())
            assert all(count * size <= total for count in kept)
            best = max(
                k
                for k in range(sum(counts) + 1)
                if sum(min(count, k // size) for count in counts) >= k
            )
            assert total >= best


@pytest.mark.parametrize("seed", range(30))
def test_nobody_is_left_over_where_all_can_be_grouped(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    values = int(rng.integers(size, 8))
    codes = rng.integers(0, values, int(rng.integers(size, 60))).astype(np.int32)
    quota = most_that_group(np.bincount(codes, minlength=values), size)
    rows = np.concatenate([np.flatnonzero(codes == v)[: quota[v]] for v in range(values)])
    group = group_different(rows, codes, rng.permutation(len(codes)), values, size)
    assert (group >= 0).all()
    for number in range(int(group.max(initial=-1)) + 1):
        own = codes[rows[group == number]]
        assert len(np.unique(own)) == len(own) >= size


def test_blank_groups_move_no_belief():
    odds = Correlation.of([("a", "a", 0.4), ("b", "b", 0.4), ("c", "c", 0.4)], "spread")
    first = [(["p", "q", "r"], list("abc"))]
    again = [(["p", "q"], list("ab"))]
    blank = [(["p"], list("abc")), (["q"], list("abc"))]
    before = all_beliefs(series_of([first]), odds)
    after = all_beliefs(series_of([first, blank]), odds)
    assert after["p"][0] == pytest.approx(before["p"][0])
    assert after["r"][0] == pytest.approx(before["r"][0])
    assert joint(series_of([first, blank, again]), odds, 0.5).exact == 1


def test_what_is_missing_from_the_last_group_comes_back_at_once():
    """One left and one changed: c or d alone tells who had the other; both tell nothing."""
    letters = "abcdefgh"
    odds = Correlation.of([(x, x, 0.95 - at / 100) for at, x in enumerate(letters)], "spread")
    first = [(["p", "q", "r", "s"], "abcd")]
    table = {"p": "a", "q": "b", "r": "e"}
    task = task_of(table, [first], letters)
    task = replace(task, past=replace(task.past, correlation=odds))
    outcome = dc.RhoDifferent(rho=0.5).run(task)
    assert groups_of(task, outcome, list(table)) == [({"p", "q", "r"}, "abcde")]
    for alone in ("abe", "abce", "abde"):
        releases = [first, [(list(table), list(alone))]]
        assert max(joint(series_of(releases), odds, 0.5).greatest) > 0.5
    assert joint(series_of([first, [(list(table), list("abcde"))]]), odds, 0.5).above == 0


def many(names: int, letters: str) -> list[tuple[list[str], str]]:
    return [([f"p{number}" for number in range(names)], letters)]


@pytest.mark.parametrize(("absent", "published"), [(0, 12), (1, 10), (2, 10), (11, 0)])
def test_a_family_too_large_to_enumerate_is_published_by_cohorts(absent, published):
    """ρ = 0.5 and counts of 1: those who are there and those who are not are two or more each."""
    letters = "abcdefghijkl"
    table = {f"p{number}": letters[number] for number in range(absent, 12)} | {"z": "a"}
    task = task_of(table, [many(12, letters)], letters)
    outcome = dc.RhoDifferent(rho=0.5).run(task)
    known = outcome.group_of_row[: 12 - absent]
    assert int((known >= 0).sum()) == published
    groups = groups_of(task, outcome, list(table))
    releases = [many(12, letters), [(sorted(who), list(what)) for who, what in groups]]
    found = joint(series_of(releases), Correlation(), 0.5)
    assert found.above == 0


def test_a_cohort_whose_values_agree_is_published_blank():
    letters = "abcdefghijkl"
    table = dict.fromkeys((f"p{number}" for number in range(12)), "a")
    task = task_of(table, [many(12, letters)], letters)
    outcome = dc.RhoDifferent(rho=0.5).run(task)
    groups = groups_of(task, outcome, list(table))
    assert [what for _, what in groups] == [letters] * 12
    releases = [many(12, letters), [(sorted(who), list(what)) for who, what in groups]]
    series = series_of(releases)
    found = joint(series, Correlation(), 0.5)
    assert (found.exact, found.bounded, found.above) == (0, 1, 0)
    again = task_of(table, releases, letters)  # once blank, blank for good
    outcome = dc.RhoDifferent(rho=0.5).run(again)
    assert [what for _, what in groups_of(again, outcome, list(table))] == [letters] * 12


@pytest.fixture
def job(tmp_path):
    def make(method, **attributes):
        ledger = dc.LedgerSettings(path=tmp_path / "people.ledger").located(tmp_path)
        if not (tmp_path / "people.ledger").exists():
            with dc.Ledger.create(ledger):
                pass
        return dc.Job(attributes={**ATTRIBUTES, **attributes}, method=method, ledger=ledger)

    return make


def frame(values) -> pl.DataFrame:
    return pl.DataFrame(
        {"name": [f"P{i}" for i in range(len(values))], "age": range(len(values)), "ill": values}
    )


def test_one_row_and_one_value_are_infeasible_for_m_invariance(job):
    with pytest.raises(dc.InfeasibleError, match="Less would exclude nothing"):
        dc.publish(frame(["flu"]), job(dc.MInvariance(m=2)))
    with pytest.raises(dc.InfeasibleError, match="no row can be published") as caught:
        dc.publish(frame(["flu"] * 9), job(dc.MInvariance(m=2)))
    assert caught.value.failures[0]["feasible"] == {}  # m = 1 would exclude nothing
    assert "flu" not in str(caught.value)


def test_rho_needs_values_enough(job):
    with pytest.raises(dc.InfeasibleError, match="needs 4 different values, and there are 2"):
        dc.publish(frame(["flu", "gout"] * 4), job(dc.RhoDifferent(rho=0.25)))


def test_one_person_is_published_among_counterfeits(job, tmp_path):
    odds = tmp_path / "odds.csv"
    odds.write_text("old,new,probability\nflu,gout,0\nmumps,ulcer,0\n")
    method = dc.RhoDifferent(rho=0.5, correlation=str(odds))
    release = dc.publish(frame(["flu"]), job(method))
    assert release.manifest.method.counterfeits == 3
    assert release.manifest.method.held_back == 0


def test_counterfeits_make_no_group_larger_and_other_requirements_are_judged_first(job, tmp_path):
    made = job(dc.MInvariance(m=2))
    asked = made.model_copy(update={"requirements": (dc.KAnonymity(k=2),)})
    people = frame(["flu", "gout"] * 3)
    first = dc.publish(people, asked)
    first.save(tmp_path / "r1", **UNATTACKED)
    assert first.audit.promises[0].achieved == {"k": 2}
    gone = people.filter(pl.col("ill") == "flu")  # each is left alone with a counterfeit
    with pytest.raises(dc.InfeasibleError, match="do not meet all requirements of the job") as told:
        dc.publish(gone, asked)
    assert told.value.failures[0]["requirement"] == "k-anonymity"
    alone = dc.publish(gone, made)
    assert alone.manifest.method.counterfeits == 3


def test_missing_values_dates_and_unicode(job, tmp_path):
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)]
    cells = [*days, None] * 4
    made = job(dc.MInvariance(m=3))
    first = dc.publish(frame(cells), made)
    first.save(tmp_path / "ä r1", **UNATTACKED)
    later = frame(cells).filter(pl.col("ill").is_not_null() & (pl.col("ill") != days[0]))
    second = dc.publish(later, made)  # counterfeits with values that the table no longer has
    place = second.save(tmp_path / "r2", **UNATTACKED)
    assert second.manifest.method.counterfeits > 0
    assert dc.audit(place).ok
    assert dc.measure(second, original=None).structure.classes > 0


def test_numbers_stay_numbers_where_counterfeits_bring_values_back(job, tmp_path):
    made = job(dc.MInvariance(m=2), ill={"role": "sensitive", "type": "integer"})
    dc.publish(frame([1, 2, 10, 20] * 3), made).save(tmp_path / "r1", **UNATTACKED)
    second = dc.publish(frame([1, 2, 10, 20] * 3).filter(pl.col("ill") < 10), made)
    second.save(tmp_path / "r2", format="parquet", **UNATTACKED)
    published = pl.read_parquet(tmp_path / "r2" / "sensitive.parquet")
    assert published["ill"].dtype == pl.Int64
    assert dc.audit(tmp_path / "r2").ok


def test_two_sensitive_attributes_are_refused(job):
    with pytest.raises(dc.InputError, match="follows one sensitive attribute"):
        dc.publish(
            frame(["flu", "gout"]).with_columns(other=pl.lit("x")),
            job(dc.MInvariance(), other={"role": "sensitive"}),
        )


def test_a_survivor_s_unheard_of_value_is_refused(job, tmp_path):
    made = job(dc.RhoDifferent(rho=0.5))
    dc.publish(frame(["flu", "gout", "ulcer", "mumps"] * 2), made).save(
        tmp_path / "r1", **UNATTACKED
    )
    with pytest.raises(dc.InputError, match="1 rows have a value outside the domain") as caught:
        dc.publish(frame(["unheard", "gout", "ulcer", "mumps"] * 1), made)
    assert "unheard" not in str(caught.value)


def test_a_survivor_s_value_that_no_reader_can_know_of_is_refused(job, tmp_path):
    dc.publish(frame(["flu", "gout", "ulcer", "mumps"] * 2), job(dc.Anatomy(l=4))).save(
        tmp_path / "r1", **UNATTACKED
    )
    table = frame(["unheard", "gout", "ulcer", "mumps"])
    with pytest.raises(dc.InputError, match="1 published records now have") as caught:
        dc.publish(table, job(dc.RhoDifferent(rho=0.5)))
    assert "unheard" not in str(caught.value)
    dc.publish(table, job(dc.RhoDifferent(rho=0.5, domain=("unheard",))))


def table_of(people: dict[int, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"name": [f"P{i}" for i in people], "age": list(people), "ill": list(people.values())}
    )


@pytest.fixture
def growing(job, tmp_path):
    """A job, and three tables of which the last has twenty new values."""
    odds = tmp_path / "odds.csv"
    odds.write_text("old,new,probability\na,c,.1\na,a,.9\nb,a,.5\ne,c,.5\ne,f,.1\n")
    method = dc.RhoDifferent(rho=0.5, group_size=2, correlation=str(odds))
    newcomers = {10 + number: f"g{number}" for number in range(20)}
    tables = [{1: "e", 2: "f"}, {2: "f", 3: "a", 4: "c"}, {3: "a", 4: "c", **newcomers}]
    return job, method, odds, tables


def test_a_domain_that_grows_breaks_no_earlier_release(growing, tmp_path):
    """Twenty new values in the third release raised the belief about the first to 0.765."""
    job, method, odds, tables = growing
    made = job(method)
    for number, table in enumerate(tables[:2]):
        dc.publish(table_of(table), made, seed=1).save(tmp_path / f"r{number}", **UNATTACKED)
    with pytest.raises(dc.InputError, match="20 rows have a value outside the domain") as caught:
        dc.publish(table_of(tables[2]), made, seed=1)
    assert "g1" not in str(caught.value)
    known = {person: value if value in "ac" else "b" for person, value in tables[2].items()}
    dc.publish(table_of(known), made, seed=1).save(tmp_path / "r2", **UNATTACKED)
    with dc.Ledger.open(made.ledger) as ledger:
        found = dc.audit_series(ledger=ledger, correlation=odds)
    assert found.ok
    assert max(found.joint.greatest) <= 0.5 + 1e-9


def test_a_declared_domain_holds_values_that_come_later(growing, tmp_path):
    job, method, odds, tables = growing
    declared = tuple(f"g{number}" for number in range(20))
    made = job(method.model_copy(update={"domain": declared}))
    for number, table in enumerate(tables):
        release = dc.publish(table_of(table), made, seed=1)
        place = release.save(tmp_path / f"r{number}", **UNATTACKED)
        assert release.manifest.method.parameters["domain"] == list(declared)
    with dc.Ledger.open(made.ledger) as ledger:
        found = dc.audit_series(ledger=ledger, correlation=odds)
    assert found.ok
    assert max(found.joint.greatest) <= 0.5 + 1e-9
    assert dc.audit(place).ok
    more = job(method.model_copy(update={"domain": (*declared, "later")}))
    with pytest.raises(dc.InputError, match="names 1 values outside the domain"):
        dc.publish(table_of(tables[0]), more)


def test_the_series_is_judged_before_a_release_appears(growing, tmp_path, monkeypatch):
    """Without a fixed domain, the judgement of the whole series still refuses the release."""
    monkeypatch.setattr("discreet.pipeline.series.domain_of_series", lambda *_: None)
    job, method, _, tables = growing
    made = job(method)
    for number, table in enumerate(tables[:2]):
        dc.publish(table_of(table), made, seed=1).save(tmp_path / f"r{number}", **UNATTACKED)
    with pytest.raises(dc.AuditError, match="believes with more than 0.5: up to 0.765"):
        dc.publish(table_of(tables[2]), made, seed=1)
    with dc.Ledger.open(made.ledger) as ledger:
        release = make_release(table_of(tables[2]), made, seed=1, ledger=ledger)
    with pytest.raises(dc.AuditError, match="up to 0.765"):
        release.save(tmp_path / "r2", **UNATTACKED)
    assert not (tmp_path / "r2").exists()
    with dc.Ledger.open(made.ledger) as ledger:
        assert len(ledger.entries()) == 2


def test_the_terms_of_a_series_stay(growing, tmp_path):
    job, method, odds, tables = growing
    dc.publish(table_of(tables[0]), job(method)).save(tmp_path / "r0", **UNATTACKED)
    for change, message in (
        ({"rho": 0.6}, "Use at most 0.5"),
        ({"unstated": "stay"}, "Use 'spread'"),
        ({"correlation": None}, "another correlation table"),
    ):
        with pytest.raises(dc.InputError, match=message):
            dc.publish(table_of(tables[1]), job(method.model_copy(update=change)))
    for other in (dc.MInvariance(m=2), dc.Anatomy(l=2)):
        with pytest.raises(dc.InputError, match="guarantees rho-different for the whole series"):
            dc.publish(table_of(tables[1]), job(other))
    text = odds.read_text()
    odds.write_text("\n".join(["old,new,probability", *reversed(text.splitlines()[1:])]))
    dc.publish(table_of(tables[1]), job(method))  # the same table, other file
    odds.write_text(text.replace(".9", ".8"))
    with pytest.raises(dc.InputError, match="another correlation table"):
        dc.publish(table_of(tables[1]), job(method))
    with (
        dc.Ledger.open(job(method).ledger) as ledger,
        pytest.raises(dc.InputError, match="not the table that the releases were published with"),
    ):
        dc.audit_series(ledger=ledger, correlation=odds)


def test_another_method_cannot_break_m_invariance_of_the_series(job, tmp_path):
    values = ["flu", "gout", "ulcer", "mumps"] * 4
    dc.publish(frame(values), job(dc.MInvariance(m=2)), seed=1).save(tmp_path / "r1", **UNATTACKED)
    with pytest.raises(dc.AuditError, match="only some values are new"):
        dc.publish(frame(values[::-1]), job(dc.Anatomy(l=3)), seed=1)


def test_one_folder_does_not_prove_the_series(job, tmp_path):
    for number, method in enumerate((dc.MInvariance(m=2), dc.RhoDifferent(rho=0.5))):
        ledger = dc.LedgerSettings(path=tmp_path / f"{number}.ledger").located(tmp_path)
        dc.Ledger.create(ledger).__exit__()
        made = job(method).model_copy(update={"ledger": ledger})
        release = dc.publish(frame(["flu", "gout", "ulcer", "mumps"] * 2), made)
        assert [promise.holds for promise in release.audit.promises] == [True, True]
        place = release.save(tmp_path / f"r{number}", **UNATTACKED)
        assert [promise.holds for promise in Manifest.load(place).promises] == [True, True]
        found = dc.audit(place)
        assert found.ok
        assert [promise.holds for promise in found.promises] == [True, False]
        (unproved,) = found.unproved
        assert unproved.requirement == f"{method.name}-in-series"
        assert "--ledger" in unproved.unproved
        alone, series = (stated(promise.to_requirement()) for promise in found.promises)
        assert alone.id.startswith(f"{method.name}.")
        assert series.id == f"{method.name}-in-series"
