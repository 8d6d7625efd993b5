"""One suite for both engines: the same job, the same promise, the same or nearly the same loss."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching
from tests.saving import UNATTACKED

import discreet as dc
from discreet.errors import AuditError, InfeasibleError, InputError
from discreet.job.model import Job
from discreet.pipeline.run import publish_folder
from discreet.releases.audit.persons import packed_rows, unpacked_rows
from discreet.releases.frames import read_release

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
EXACT = ["full-domain", "codip"]
OTHERS = ["mondrian", "msa-diversity", "buckets", "anatomy", "decomposition"]


def on_spark(spark, job, place, **further):
    from discreet.addons.spark.spark_engine import SparkEngine

    engine = SparkEngine.temporary(spark)
    return publish_folder(None, job, place, engine=engine, seed=1, **{**UNATTACKED, **further})


KINDS = ["mondrian", "codip", "buckets", "decomposition"]  # one method for each kind of release


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_release_is_audited_attacked_measured_drawn_and_saved(
    request, people, tmp_path, engine, name
):
    job = Job.load(people / f"{name}.yaml")
    if engine == "spark":
        session = request.getfixturevalue("spark")
        frame = session.read.csv(str(people / "people.csv"), header=True, escape='"')
        frame = frame.fillna("")
    else:
        frame = pl.read_csv(people / "people.csv", infer_schema=False)
    release = dc.publish(frame, job, seed=2)
    assert isinstance(release, dc.Release)
    audit = dc.audit(release)
    assert audit.ok
    assert audit.compared
    assert list(release.tables) == list(release.manifest.tables)
    assert "<svg" in release._repr_html_()
    asked = ["link-through-sensitive-table" if name == "decomposition" else "linking"]
    attacks = dc.attack(release, original=frame, attacks=asked)
    assert attacks.ok
    assert attacks.findings
    measures = dc.measure(release, original=frame)
    stated = release.private["utility"]
    assert measures.loss == pytest.approx(stated["loss"], rel=1e-9)
    assert measures.kl_divergence is not None

    release.save(tmp_path / "release", **UNATTACKED)
    audited = dc.audit(tmp_path / "release", original=job)
    assert audited.ok, audited.problems
    assert [p.model_dump() for p in audited.promises] == [p.model_dump() for p in audit.promises]
    assert audited.readers == audit.readers
    assert audited.singling_out == audit.singling_out == release.manifest.singling_out
    assert_same_picture(audit.picture, audited.picture)
    again = dc.attack(tmp_path / "release", original=job, attacks=asked)
    assert again == attacks
    assert dc.measure(tmp_path / "release", original=job).to_dict() == measures.to_dict()
    figures = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert figures.keys() >= {"promises", "utility", "coverage", "report_sha256"}
    assert bool(figures.get("readers")) == (name == "decomposition")


def rows_of(folder: Path) -> dict[str, list]:
    """The rows of each table in an order of their own."""
    return {
        name: sorted(map(str, frame.select(sorted(frame.columns)).rows()))
        for name, frame in read_release(folder, sets=False).items()
    }


def assert_same_picture(there, here):
    """What the report draws is counted in shards as it is in one piece."""
    assert there.sizes == here.sizes
    assert any(there.sizes.values())
    assert there.alike == here.alike
    assert there.beliefs.keys() == here.beliefs.keys()
    for name, shares in there.beliefs.items():
        assert shares.histogram == here.beliefs[name].histogram
        assert shares.mean == pytest.approx(here.beliefs[name].mean)
        assert shares.greatest == here.beliefs[name].greatest


@pytest.mark.parametrize("name", EXACT)
def test_what_follows_from_counts_is_the_same(spark, people, tmp_path, name):
    job = Job.load(people / f"{name}.yaml")
    made = on_spark(spark, job, tmp_path / "spark", format="csv")
    dc.publish(None, job, seed=1).save(tmp_path / "local", **UNATTACKED)
    assert rows_of(tmp_path / "spark") == rows_of(tmp_path / "local")
    there, here = (
        json.loads((tmp_path / engine / "manifest.json").read_text())
        for engine in ("spark", "local")
    )
    assert there["method"] == here["method"]
    assert there["promises"] == here["promises"]
    assert there["attributes"] == here["attributes"]
    assert there["utility"] == here["utility"]
    assert there["coverage"] == here["coverage"]
    there, here = (
        json.loads((tmp_path / f"{engine}.private.json").read_text())["utility"]
        for engine in ("spark", "local")
    )
    assert there.keys() <= here.keys()  # divergences need the whole table
    assert there["loss"] == pytest.approx(here["loss"], rel=1e-9)
    audit = dc.audit(tmp_path / "spark", original=job)
    assert audit.ok
    assert_same_picture(made.audit.picture, audit.picture)
    assert made.private["engine"] == "spark"


@pytest.mark.parametrize("name", OTHERS)
def test_parts_keep_the_promise_at_nearly_the_same_loss(spark, people, tmp_path, name):
    job = Job.load(people / f"{name}.yaml")
    made = on_spark(spark, job, tmp_path / "spark", format="parquet")
    local = dc.publish(None, job, seed=1)
    audit = dc.audit(tmp_path / "spark", original=job)
    assert audit.ok, audit.problems
    assert_same_picture(made.audit.picture, audit.picture)
    assert [p.requirement for p in audit.promises] == [
        p.requirement for p in made.manifest.promises
    ]
    assert made.manifest.suppressed_rows <= local.manifest.suppressed_rows + 30
    for figure in ("loss", "loss_sensitive", "class_size"):
        there, here = made.private["utility"][figure], local.private["utility"][figure]
        # groups of msa-diversity do not exchange members across the borders of parts
        assert there <= here * (1.1 if name == "msa-diversity" else 1.05) + 1e-9, figure
    assert len(list((tmp_path / "spark").glob("*.parquet/*.parquet"))) > len(made.manifest.tables)


@pytest.mark.parametrize("here", [0, 100_000])
def test_the_figures_are_those_that_a_local_measure_of_the_same_folder_finds(
    spark, people, tmp_path, monkeypatch, here
):
    monkeypatch.setattr("discreet.addons.spark.spark_tables.FIGURE_ROWS", here)
    job = Job.load(people / "buckets.yaml")
    made = on_spark(spark, job, tmp_path / "spark")
    found = dc.measure(tmp_path / "spark", original=job).to_dict()
    divergence = made.private["utility"].pop("divergence", None)
    assert (divergence is None) == (not here)
    if divergence is not None:
        assert divergence["ratio"] == pytest.approx(found["divergence"]["ratio"], rel=1e-9)
    for figure, value in made.private["utility"].items():
        assert found[figure] == pytest.approx(value, rel=1e-9), figure


def test_who_is_singled_out_is_counted_in_parts(spark, tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    pl.DataFrame(
        {
            "age": rng.integers(20, 60, 3000),
            "illness": rng.choice(["a", "b", "c"], 3000),
            "weight": rng.integers(40, 120, 3000),  # a column of the table, not a number of rows
            "height": rng.integers(150, 200, 3000),
            "shoe": rng.integers(35, 47, 3000),
        }
    ).write_csv(tmp_path / "people.csv")
    job = Job.parse(
        "source: {path: people.csv}\nattributes:\n"
        "  age: {role: quasi-identifier, type: integer}\n  illness: {role: sensitive}\n"
        "  weight: {role: unchanged}\n  height: {role: unchanged}\n  shoe: {role: unchanged}\n"
        "requirements: [k-anonymity: {k: 20}]\nmethod: mondrian\n",
        folder=tmp_path,
    )
    made = on_spark(spark, job, tmp_path / "exact")
    found = dc.audit(tmp_path / "exact").singling_out
    assert made.manifest.singling_out == found and found.drawn is None
    assert found.columns["1"] == ["weight"] and found.unique["2"] > found.unique["1"] > 0
    monkeypatch.setattr("discreet.releases.singling_out.PAIR_CELLS", 0)
    estimated = on_spark(spark, job, tmp_path / "drawn").manifest.singling_out
    assert estimated.drawn >= 2000 and estimated.at_most >= estimated.unique["2"]
    audited = dc.audit(tmp_path / "drawn")
    assert audited.ok, audited.problems


def test_groups_have_all_numbers_once_and_in_no_order(spark, people, tmp_path):
    job = Job.load(people / "anatomy.yaml")
    made = on_spark(spark, job, tmp_path / "spark")
    numbers = read_release(tmp_path / "spark")["quasi_identifiers"]["group"].cast(pl.Int64)
    groups = made.manifest.method.groups
    assert sorted(set(numbers.to_list())) == list(range(1, groups + 1))


def test_quasi_sensitive_groups_are_independent(spark, tmp_path):
    examples = Path(__file__).resolve().parents[2] / "examples" / "quasi-sensitive"
    job = Job.load(examples / "job.yaml")
    on_spark(spark, job, tmp_path / "spark")
    audit = dc.audit(tmp_path / "spark", original=job)
    assert audit.ok, audit.problems


def test_a_spark_data_frame_in_spark_data_frames_out(spark, people, tmp_path):
    job = Job.load(people / "mondrian.yaml")
    frame = spark.read.csv(str(people / "people.csv"), header=True, escape='"')
    release = dc.publish(frame, job, seed=2)
    assert release.audit.ok
    assert release.tables["records"].count() == release.manifest.published_rows
    release.save(tmp_path / "release", **UNATTACKED)
    assert dc.audit(tmp_path / "release", original=job).ok


def test_a_table_that_spark_knows_is_a_source(spark, people, tmp_path):
    spark.read.csv(str(people / "people.csv"), header=True, escape='"').createOrReplaceTempView(
        "known"
    )
    text = (people / "mondrian.yaml").read_text().replace("path: people.csv", "table: known")
    job = Job.parse(text, folder=people)
    assert on_spark(spark, job, tmp_path / "spark").audit.ok
    with pytest.raises(InputError, match="--engine spark"):
        dc.publish(None, job)


def test_sets_become_bits_there_too(spark, tmp_path):
    cells = [["a|b", "b", "", "a|c", "c|b|a"][number % 5] for number in range(60)]
    pl.DataFrame({"age": [20 + n % 3 for n in range(60)], "ills": cells}).write_csv(
        tmp_path / "t.csv"
    )
    job = Job.parse(
        "source: {path: t.csv}\nattributes:\n  age: {role: quasi-identifier, type: integer}\n"
        "  ills: {role: sensitive, multi_valued: '|'}\nrequirements: [k-anonymity: {k: 2}]\n"
        "method: mondrian\n",
        folder=tmp_path,
    )
    on_spark(spark, job, tmp_path / "spark")
    sets = read_release(tmp_path / "spark")["records"]["ills"].to_list()
    assert sorted(map(str, sets)) == sorted("a|b|c" if c == "c|b|a" else c for c in cells)


def test_what_is_not_supported_is_refused_by_name(spark, people, tmp_path):
    job = Job.load(people / "mondrian.yaml")
    with pytest.raises(InputError, match=r"does not run local-recoding.*mondrian"):
        on_spark(spark, job.using(dc.LocalRecoding()), tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_text_without_a_header_and_with_dates_of_another_format(spark, tmp_path):
    rows = [f"{1 + n % 28:02}.0{1 + n % 9}.19{50 + n % 3};{n % 5},5" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = (
        "source: {path: t.csv, header: false, decimal: ','}\nattributes:\n"
        "  column_1: {role: quasi-identifier, type: date, format: '%d.%m.%Y'}\n"
        "  column_2: {role: ROLE, type: number}\nrequirements: [k-anonymity: {k: 4}]\n"
        "method: mondrian\n"
    )
    job = Job.parse(text.replace("ROLE", "sensitive"), folder=tmp_path)
    assert on_spark(spark, job, tmp_path / "spark").audit.ok
    assert dc.audit(tmp_path / "spark", original=job).ok
    cells = read_release(tmp_path / "spark")["records"]["column_2"].to_list()
    assert sorted(cells) == sorted(f"{n % 5}.5" for n in range(60))
    job = Job.parse(text.replace("ROLE", "insensitive"), folder=tmp_path)
    with pytest.raises(InputError, match="attributes.column_2: .* without `format:`"):
        on_spark(spark, job, tmp_path / "r")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_pattern_of_files(spark, tmp_path, ending):
    for part in range(3):
        frame = pl.DataFrame({"age": [part, part] * 4, "ill": ["a", "b"] * 4}).cast(pl.String)
        getattr(frame, f"write_{ending}")(tmp_path / f"2024-{part}.{ending}")
    job = Job.parse(
        f"source: {{path: '2024-[01].{ending}'}}\nattributes:\n  age: {{role: quasi-identifier}}\n"
        "  ill: {role: sensitive}\nrequirements: [k-anonymity: {k: 4}]\nmethod: mondrian\n",
        folder=tmp_path,
    )
    assert on_spark(spark, job, tmp_path / "spark").audit.ok
    assert len(read_release(tmp_path / "spark")["records"]) == 16


def test_attacks_run_before_a_release_appears(spark, people, tmp_path):
    job = Job.load(people / "mondrian.yaml")
    asked = dc.Verify(attacks=("linking",), ceiling=1.0)
    made = on_spark(spark, job.model_copy(update={"verify": asked}), tmp_path / "kept")
    assert made.attacks is not None
    assert made.attacks.findings
    strict = job.model_copy(update={"verify": dc.Verify(attacks=("linking",), ceiling=0.01)})
    with pytest.raises(AuditError, match="attacks go too far"):
        on_spark(spark, strict, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


def test_a_small_release_in_parts_is_attacked_for_its_report(spark, people, tmp_path, monkeypatch):
    job = Job.load(people / "mondrian.yaml")
    made = on_spark(spark, job, tmp_path / "small", attack=30)
    assert made.review.attacks is not None
    assert made.review.attacks.findings
    monkeypatch.setattr("discreet.pipeline.prove.FIGURE_ROWS", 5)
    made = on_spark(spark, job, tmp_path / "large", attack=30)
    assert made.review.attacks is None
    assert "rows are more than the 5 that" in made.review.not_attacked
    page = (tmp_path / "large.private.html").read_text(encoding="utf-8")
    assert "rows are more than the 5 that" in page


def test_tables_go_to_a_database(spark, people, tmp_path):
    job = Job.load(people / "buckets.yaml")
    place = f"sqlite:///{tmp_path / 'out.db'}"
    output = job.output.model_copy(update={"url": place, "prefix": "p_"})
    made = on_spark(spark, job.model_copy(update={"output": output}), tmp_path / "spark")
    with closing(sqlite3.connect(tmp_path / "out.db")) as database:
        for name, frame in read_release(tmp_path / "spark", sets=False).items():
            names = ",".join(f"[{column}]" for column in frame.columns)
            rows = database.execute(f"SELECT {names} FROM p_{name}")
            assert sorted(map(str, rows)) == sorted(map(str, frame.rows()))
    assert made.audit.ok


def test_infeasible_requirements_are_said_as_they_are_here(spark, people, tmp_path):
    text = (people / "mondrian.yaml").read_text().replace("k: 4", "k: 9000")
    job = Job.parse(text, folder=people)
    with pytest.raises(InfeasibleError, match="not even the whole table"):
        on_spark(spark, job, tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_the_driver_is_not_collected(spark, people, tmp_path):
    spark.conf.set("spark.discreet.collectedTuples", "300")
    try:
        with pytest.raises(InputError, match=r"distinct tuples.*may hold 300"):
            on_spark(spark, Job.load(people / "full-domain.yaml"), tmp_path / "r")
        assert on_spark(spark, Job.load(people / "mondrian.yaml"), tmp_path / "m").audit.ok
    finally:
        spark.conf.unset("spark.discreet.collectedTuples")
    assert not (tmp_path / "r").exists()


def test_a_broken_record_stops_the_job_without_its_cells(spark, people, tmp_path):
    (tmp_path / "people.csv").write_text(
        (people / "people.csv").read_text() + "person x,44,00001,f,secret illness\n"
    )
    job = Job.parse((people / "mondrian.yaml").read_text(), folder=tmp_path)
    with pytest.raises(InputError, match="people.csv, line 3002: the row has 5 cells") as raised:
        on_spark(spark, job, tmp_path / "r")
    assert "secret" not in str(raised.value)
    assert not (tmp_path / "r").exists()


def test_text_that_tasks_cannot_cut_is_read_file_by_file(spark, people, tmp_path):
    table = pl.read_csv(people / "people.csv", infer_schema=False)
    text = (people / "mondrian.yaml").read_text()
    (tmp_path / "people.csv").write_bytes(table.write_csv().encode("latin-1"))
    job = Job.parse(text.replace("{path", "{encoding: latin-1, path"), folder=tmp_path)
    assert on_spark(spark, job, tmp_path / "latin").audit.ok
    note = pl.format("{}\n\n{}", "note", pl.lit("x" * 9000))  # so long that one is at a border
    broken = table.with_columns(note.alias("note"))
    broken.write_csv(tmp_path / "people.csv")
    assert on_spark(spark, Job.parse(text, folder=tmp_path), tmp_path / "broken").audit.ok
    notes = read_release(tmp_path / "broken")["records"]["note"]
    assert sorted(notes) == sorted(broken["note"])


def test_a_file_that_changes_before_the_audit_is_refused(spark, people, tmp_path, monkeypatch):
    from discreet.addons.spark import spark_tables

    def swapped(*arguments):
        files = spark_write(*arguments)
        first, second = files["records"][:2]
        Path(second.path).write_bytes(Path(first.path).read_bytes())
        return files

    spark_write = spark_tables.write_tables
    monkeypatch.setattr(spark_tables, "write_tables", swapped)
    with pytest.raises(AuditError, match="does not have the rows that were formed"):
        on_spark(spark, Job.load(people / "mondrian.yaml"), tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("change", ["a row more", "another value"])
def test_what_is_audited_is_the_file_of_the_release(spark, people, tmp_path, monkeypatch, change):
    """One CSV file is put together from what all tasks wrote; it is read again, not its parts."""
    from discreet.addons.spark import spark_tables

    def altered(files, folder, name, format):
        found = put_together(files, folder, name, format)
        lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        if change == "a row more":
            lines.append(lines[-1])
        else:
            place = len(lines[-1].rstrip('"\n')) - 1
            other = "8" if lines[-1][place] != "8" else "9"
            lines[-1] = lines[-1][:place] + other + lines[-1][place + 1 :]
        (folder / f"{name}.csv").write_text("".join(lines), encoding="utf-8")
        return found

    put_together = spark_tables.put_together
    monkeypatch.setattr(spark_tables, "put_together", altered)
    with pytest.raises(AuditError, match="bytes that no task wrote|rows that were formed"):
        on_spark(spark, Job.load(people / "mondrian.yaml"), tmp_path / "r", format="csv")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [("codip", "is related to that of"), ("decomposition", "which links them")],
)
def test_orders_that_link_tables_are_refused(spark, people, tmp_path, monkeypatch, name, said):
    """The same rows in the same files, but in an order that lets a reader join them."""
    from discreet.addons.spark import spark_tables

    def ordered(files, folder, table, format):
        found = put_together(files, folder, table, format)
        path = folder / f"{table}.csv"
        header, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if name == "codip":
            lines.sort()  # by the quasi-identifiers, in every table
        elif table == "sensitive":
            lines = beside_their_groups(folder, lines)
        path.write_text("".join([header, *lines]), encoding="utf-8")
        return found

    text = (people / f"{name}.yaml").read_text().replace(", t-closeness: {t: 0.4}", "")
    job = Job.parse(text, folder=people)  # tables of codip with the same cells
    put_together = spark_tables.put_together
    monkeypatch.setattr(spark_tables, "put_together", ordered)
    spark.conf.set("spark.discreet.rowsOfPart", "10000")  # every table in one file
    try:
        with pytest.raises(AuditError, match=said):
            on_spark(spark, job, tmp_path / "r", format="csv")
    finally:
        spark.conf.set("spark.discreet.rowsOfPart", "1500")
    assert not (tmp_path / "r").exists()


def beside_their_groups(folder: Path, lines: list[str]) -> list[str]:
    """The rows of a decomposition's sensitive table, each at a place whose group has its values."""
    values = pl.read_csv(folder / "group_values.csv", infer_schema=False)
    sets = {key: set(own["value"]) for key, own in values.group_by("group", "attribute")}
    groups = pl.read_csv(folder / "groups.csv", infer_schema=False)["group"].to_list()
    fits = np.ones((len(groups), len(lines)), bool)
    for column in pl.read_csv(folder / "sensitive.csv", infer_schema=False):
        distinct, code = np.unique(column.to_list(), return_inverse=True)
        fits &= np.array([[v in sets[g, column.name] for v in distinct] for g in groups])[:, code]
    place = maximum_bipartite_matching(csr_matrix(fits), perm_type="column")
    assert (place >= 0).all()
    return [lines[number] for number in place]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_values_of_the_suppressed_alone_are_nowhere_in_a_release(spark, tmp_path, format):
    """Their set member has no column, though each part knows the members of the whole table."""
    rows = 3000
    secret = "a value that one suppressed person has"
    frame = pl.DataFrame(
        {
            "age": [30 + n % 2 for n in range(rows)] + [90],
            "ill": [("flu", "flu|gout", "", "gout")[n % 4] for n in range(rows)] + [secret],
            "note": [f"note {n % 7}" for n in range(rows)] + [secret],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    job = Job(
        source={"path": tmp_path / "people.csv"},
        attributes={
            "age": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "ill": {"role": "sensitive", "multi_valued": "|"},
            "note": {"role": "insensitive"},
        },
        requirements=[{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": 0.9, "attribute": "ill"}}],
        method={"full-domain": {"suppression": 0.01}},
    )
    made = on_spark(spark, job, tmp_path / "spark", format=format)
    assert made.manifest.suppressed_rows == 1
    assert list(made.manifest.bitmaps["ill"].members) == ["ill=flu", "ill=gout"]
    files = [path for path in (tmp_path / "spark").rglob("*") if path.is_file()]
    assert len(files) >= 3
    for file in files:
        assert secret.encode() not in file.read_bytes(), file.name
    assert dc.audit(tmp_path / "spark", original=job).ok


def test_spellings_of_one_number_are_one_value_on_spark(spark, tmp_path):
    rows = 3000
    pays = ("7", "07", "7.0", " 7 ", "8", "+8")
    frame = pl.DataFrame(
        {"age": [f"{n % 2:02}" for n in range(rows)], "pay": [pays[n % 6] for n in range(rows)]}
    )
    frame.write_csv(tmp_path / "people.csv")
    job = Job(
        source={"path": tmp_path / "people.csv"},
        attributes={
            "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": "suppress"},
            "pay": {"role": "sensitive", "type": "number"},
        },
        requirements=[{"distinct-l-diversity": {"l": 2}}],
        method="full-domain",
    )
    made = on_spark(spark, job, tmp_path / "spark", format="parquet")
    assert made.manifest.promises[0].achieved == {"l": 2}
    assert set(read_release(tmp_path / "spark")["records"]["pay"]) == {"7", "8"}
    assert dc.audit(tmp_path / "spark", original=job).ok
    with pytest.raises(InfeasibleError):
        asked = [dc.DistinctLDiversity(l=3)]
        on_spark(spark, job.model_copy(update={"requirements": asked}), tmp_path / "again")


@pytest.mark.parametrize("name", ["full-domain", "codip"])
def test_collapsed_tables_are_the_same(spark, encounters, tmp_path, name):
    job = Job.load(encounters / f"{name}.yaml")
    on_spark(spark, job, tmp_path / "spark", format="csv")
    dc.publish(None, job, seed=1).save(tmp_path / "local", **UNATTACKED)
    assert rows_of(tmp_path / "spark") == rows_of(tmp_path / "local")
    there, here = (
        json.loads((tmp_path / engine / "manifest.json").read_text())
        for engine in ("spark", "local")
    )
    for key in ("unit", "person", "promises", "attributes", "utility", "coverage"):
        assert there[key] == here[key], key
    there, here = (
        json.loads((tmp_path / f"{engine}.private.json").read_text())["persons"]
        for engine in ("spark", "local")
    )
    assert there == here
    assert dc.audit(tmp_path / "spark", original=job).ok


@pytest.mark.parametrize("name", ["mondrian", "msa-diversity", "anatomy", "decomposition"])
def test_parts_of_a_collapsed_table_keep_the_guarantee(spark, encounters, tmp_path, name):
    job = Job.load(encounters / f"{name}.yaml")
    made = on_spark(spark, job, tmp_path / "spark", format="parquet")
    assert made.manifest.unit == "person"
    audit = dc.audit(tmp_path / "spark", original=job)
    assert audit.ok, audit.problems
    assert not audit.unproved


def test_rules_are_checked_over_all_parts(spark, encounters, tmp_path):
    text = (encounters / "mondrian.yaml").read_text(encoding="utf-8")
    job = Job.parse(text.replace(" collapse: last,", ""), folder=encounters)
    said = []
    for engine in ("spark", "local"):
        with pytest.raises(dc.JobError) as raised:
            if engine == "spark":
                on_spark(spark, job, tmp_path / "spark")
            else:
                dc.publish(None, job)
        said.append(str(raised.value))
    assert said[0] == said[1]
    assert "persons have rows with different values" in said[0]
    one = text.replace("rows: {count: visits}, order: admitted", "rows: one")
    lines = [line for line in one.splitlines() if "visits" not in line]
    bare = re.sub(r",? collapse: [a-z-]+", "", "\n".join(lines))
    job = Job.parse(bare, folder=encounters)
    with pytest.raises(dc.InputError, match="one person has"):
        on_spark(spark, job, tmp_path / "spark")


@pytest.mark.parametrize(("name", "k"), [("mondrian", 4), ("msa-diversity", 3)])
def test_all_rows_of_persons_are_in_one_group_of_enough_persons(
    spark, encounters, tmp_path, name, k
):
    job = Job.load(encounters / f"kept-{name}.yaml")
    made = on_spark(spark, job, tmp_path / "spark", format="parquet")
    assert made.audit.ok and not made.audit.unproved
    assert made.private["persons"] == dc.publish(None, job, seed=1).private["persons"]
    results = made.formed.results
    assert len(results) > 1
    staged = pl.concat([pl.read_parquet(result.persons) for result in results])
    columns = results[0].person_columns
    rows = staged.rename({f"c{place}": column for place, column in enumerate(columns)})
    published = read_release(tmp_path / "spark")["records"]
    there, here = (
        sorted(map(str, frame.select(published.columns).rows())) for frame in (rows, published)
    )
    assert there == here
    groups = rows.group_by("age", "zip").agg(pl.col("person").n_unique())
    assert groups["person"].min() >= k
    own = rows.group_by("person").agg(pl.struct("age", "zip").n_unique().alias("groups"))
    assert own["groups"].max() == 1
    assert len(own) == made.private["persons"]["persons"]
    found = dc.audit(tmp_path / "spark", original=job)
    assert found.ok, found.problems
    assert not found.unproved  # the private file has the source row of every published row
    assert found.singling_out == made.audit.singling_out
    assert found.persons_singled_out == made.audit.persons_singled_out
    assert made.audit.persons_singled_out.counted == len(own)
    achieved = [promise.achieved for promise in made.audit.promises]
    assert [promise.achieved for promise in found.promises] == achieved
    private = tmp_path / "spark.private.json"
    said = json.loads(private.read_text())
    other = pl.read_csv(encounters / "encounters.csv").height - 1
    rows = unpacked_rows(said["source_rows"]["records"], len(published))
    assert sorted(rows) == list(range(other + 1))
    said["source_rows"]["records"] = packed_rows(other - rows)  # other persons' rows
    private.write_text(json.dumps(said))
    assert not dc.audit(tmp_path / "spark", original=job).ok
    private.unlink()
    found = dc.audit(tmp_path / "spark", original=job)
    assert len(found.unproved) == len(found.promises)  # no file says whose rows they are


def test_persons_that_spark_cannot_keep_are_refused_by_name(spark, encounters, tmp_path):
    text = (encounters / "kept-mondrian.yaml").read_text(encoding="utf-8")
    for old, new, said in [
        ("rows: keep", "rows: keep, link: pseudonym", "link: none"),
        ("k-anonymity: {k: 4}", "t-closeness: {t: 0.5}", "t-closeness"),
        ("method: mondrian", "method: full-domain", "by mondrian or msa-diversity"),
    ]:
        with pytest.raises(InputError, match=said):
            on_spark(spark, Job.parse(text.replace(old, new), folder=encounters), tmp_path / "s")
