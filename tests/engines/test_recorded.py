"""A ledger records the same of a release on every engine: each person's group and its values."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from tests.saving import UNATTACKED

import discreet as dc
from discreet.addons.spark.recording import Numbering, recorded_groups, stage_record
from discreet.errors import AuditError, InputError, ReleaseError
from discreet.io.frames import code_frame
from discreet.job.model import Job
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import BCF_ANONYMITY
from discreet.ledger.settings import LedgerSettings, hash_people
from discreet.methods.base import CellColumn, Generalized, Task
from discreet.pipeline.run import publish_folder
from discreet.table.coded_table import CodedTable
from discreet.table.roles import ColumnSpec, Role

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ENGINES = ["local", "spark"]


@pytest.fixture
def published(request, tmp_path):
    """Publish a job with a new ledger on an engine."""
    settings = LedgerSettings(path=tmp_path / "people.ledger").located(tmp_path)
    with Ledger.create(settings):
        pass

    def publish(engine: str, text: str, folder, place: str = "release", **further):
        ledger = json.dumps({"path": str(settings.path), **further})
        job = Job.parse(f"{text}\nledger: {ledger}\n", folder=folder)
        return publish_folder(
            None, job, tmp_path / place, engine=_engine(request, engine), seed=1, **UNATTACKED
        )

    publish.settings = settings
    return publish


def _engine(request, name: str):
    if name == "local":
        return None
    from discreet.addons.spark.spark_engine import SparkEngine

    return SparkEngine.temporary(request.getfixturevalue("spark"))


@pytest.mark.parametrize("name", ["full-domain", "mondrian", "buckets", "anatomy"])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_person_is_recorded_in_the_published_group(published, people, tmp_path, engine, name):
    made = published(engine, (people / f"{name}.yaml").read_text(), people)
    assert made.audit.ok
    source = pl.read_csv(people / "people.csv", infer_schema=False)
    with Ledger.open(published.settings) as ledger:
        (entry,) = ledger.entries()
        contents = ledger.contents(entry)
        hashes = hash_people(source["name"].to_list(), ledger.key)
        ledger.require_sound()
    group_of = {
        person.tobytes(): int(group)
        for person, group in zip(contents.people, contents.group, strict=True)
    }
    group = np.array([group_of[person.tobytes()] for person in hashes])
    assert len(group_of) == len(source)
    assert (entry.published_rows, entry.held_back) == ((group >= 0).sum(), (group < 0).sum())
    assert entry.held_back == made.manifest.suppressed_rows == len(made.private["held_back"])
    assert sorted(set(group[group >= 0])) == list(range(entry.groups))
    signature = contents.signatures["diagnosis"]
    members = source.with_columns(pl.Series("group", group))
    for number in range(entry.groups):
        own = slice(signature.start[number], signature.start[number + 1])
        values = [signature.values[code] for code in signature.value[own]]
        recorded = dict(zip(values, signature.count[own].tolist(), strict=True))
        assert recorded == Counter(members.filter(pl.col("group") == number)["diagnosis"])
    if engine == "local":
        with pytest.raises(RuntimeError, match="Read their files"):
            made.tables.keys()
    tables = _written(made, tmp_path / "release") if engine == "local" else _collected(made)
    if "group" in tables[next(iter(tables))].columns:  # the numbers are the published ones
        shown = tables["sensitive"].select("group", "diagnosis").with_columns(pl.all().cast(str))
        there = members.select((pl.col("group") + 1).cast(str), "diagnosis")
        if name == "buckets":  # a row for each person
            assert sorted(shown.rows()) == sorted(there.rows())
        else:
            assert set(shown.rows()) == set(there.rows())
    else:  # classes as large as those in the table
        quasi = ["age", "zip", "sex"]
        sizes = tables["records"].group_by(quasi).len()["len"].sort().to_list()
        assert sizes == sorted(np.bincount(group[group >= 0]).tolist())


def _written(made, folder):
    return {
        name: pl.read_csv(folder / table.file, infer_schema=False)
        for name, table in made.manifest.tables.items()
    }


def _collected(made):
    return {name: pl.from_arrow(frame.toArrow()) for name, frame in made.tables.items()}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_guarantee_of_the_series_is_judged_and_recorded(published, people, engine):
    made = published(engine, (people / "anatomy.yaml").read_text(), people, bcf_anonymity=2)
    held = {promise.requirement: promise.holds for promise in made.manifest.promises}
    assert held["bcf-anonymity-in-series"]
    with Ledger.open(published.settings) as ledger:
        (entry,) = ledger.entries()
    assert entry.parameters[BCF_ANONYMITY] == 2
    with pytest.raises(InputError, match="bcf_anonymity needs releases with numbered groups"):
        published(engine, (people / "mondrian.yaml").read_text(), people, "b", bcf_anonymity=2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ENGINES)
def test_attacks_a_series_and_measures_go_together(published, people, tmp_path, engine, ending):
    """A job with `verify` and a guarantee of the series; its folder is measured and attacked."""
    table = pl.read_csv(people / "people.csv", infer_schema=False)
    getattr(table, f"write_{ending}")(tmp_path / f"people.{ending}")
    text = (people / "anatomy.yaml").read_text().replace("people.csv", f"people.{ending}")
    text += "verify: {attacks: [linking], ceiling: 1.0}\n"
    made = published(engine, text, tmp_path, bcf_anonymity=2)
    assert made.attacks is not None and made.attacks.findings
    promised = {promise.requirement: promise.holds for promise in made.manifest.promises}
    assert promised["bcf-anonymity-in-series"]
    job = made.job  # with the ledger, whose settings ask for the guarantee of the series
    assert dc.audit(tmp_path / "release", original=job).ok
    measures = dc.measure(tmp_path / "release", original=job)
    assert measures.loss == pytest.approx(made.private["utility"]["loss"], rel=1e-9)
    assert measures.divergence is not None
    assert dc.attack(tmp_path / "release", original=job, attacks=["linking"]).findings
    strict = text.replace("ceiling: 1.0", "ceiling: 0.01")
    with pytest.raises(AuditError, match="attacks go too far"):
        published(engine, strict, tmp_path, "refused", bcf_anonymity=2)
    assert not (tmp_path / "refused").exists()
    with Ledger.open(published.settings) as ledger:
        assert len(ledger.entries()) == 1  # a refused release is not recorded


@pytest.mark.parametrize("engine", ENGINES)
def test_a_collapsed_person_is_recorded_once(published, encounters, engine):
    text = (encounters / "full-domain.yaml").read_text().replace('missing: ["?"]', "missing: [x]")
    table = pl.read_csv(encounters / "encounters.csv", infer_schema=False)
    named = table.filter(pl.col("patient") != "").with_columns(pl.col("stay").replace("?", "1"))
    named.write_csv(published.settings.path.parent / "encounters.csv")
    made = published(engine, text, published.settings.path.parent)
    pairs = sorted({"\x1f".join(row) for row in named.select("hospital", "patient").rows()})
    with Ledger.open(published.settings) as ledger:
        (entry,) = ledger.entries()
        contents = ledger.contents(entry)
        hashes = hash_people(pairs, ledger.key)
    assert {row.tobytes() for row in contents.people} == {row.tobytes() for row in hashes}
    assert len(contents.people) == len(pairs) == made.manifest.source_rows


@pytest.mark.parametrize("engine", ENGINES)
def test_persons_without_a_name_or_with_two_rows_are_refused(published, people, tmp_path, engine):
    text = (people / "mondrian.yaml").read_text()
    table = pl.read_csv(people / "people.csv", infer_schema=False)
    unnamed = table.with_columns(pl.when(pl.int_range(pl.len()) < 3).then(pl.lit(""))
                                 .otherwise("name").alias("name"))  # fmt: skip
    unnamed.write_csv(tmp_path / "people.csv")
    with pytest.raises(InputError, match="Column 'name': 3 rows have no identifier"):
        published(engine, text, tmp_path)
    pl.concat([table, table.head(2)]).write_csv(tmp_path / "people.csv")
    with pytest.raises(InputError, match="2 rows repeat an identifier"):
        published(engine, text, tmp_path)
    with Ledger.open(published.settings) as ledger:
        assert not ledger.entries()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_ledger_cannot_record_is_refused(published, people, tmp_path, engine):
    with pytest.raises(InputError, match="each row is in one group"):
        published(engine, (people / "decomposition.yaml").read_text(), people)
    published(engine, (people / "mondrian.yaml").read_text(), people)
    with pytest.raises(ReleaseError):  # what was published cannot be taken back
        published(engine, (people / "mondrian.yaml").read_text(), people)
    assert json.loads((tmp_path / "release" / "manifest.json").read_text())["kind"]


def test_classes_of_parts_with_the_same_cells_are_one_group(tmp_path):
    records = []
    for part, (labels, row) in enumerate([(("a", "b"), [0, 2]), (("b", "c"), [1, 3])]):
        frame = pl.DataFrame({"q": ["x", "y"], "s": ["0", "1"]})
        specs = {"q": ColumnSpec(Role.QUASI_IDENTIFIER), "s": ColumnSpec(Role.SENSITIVE)}
        table: CodedTable = code_frame(frame, specs)
        cells = CellColumn(np.array([0, 1], np.int32), labels, np.zeros(2))
        outcome = Generalized(np.array([0, 1], np.int32), {"q": cells})
        task = Task(table, {}, (), np.random.default_rng(0))
        path = tmp_path / f"{part}.arrow"
        records.append(stage_record(outcome, {}, task, np.array(row), part, path))
    group, (values,) = recorded_groups(
        records, Numbering.of({0: 0, 1: 0}, 1), 4, {0: 0}, 1 << 33, [table["s"]]
    )
    assert group.tolist() == [0, 1, 1, 2]  # rows 1 and 2 are published as 'b'
    assert values.codes.tolist() == [0, 0, 1, 1]
