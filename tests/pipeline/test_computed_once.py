"""Each expensive value of a publish is computed once, and no file appears that was not derived."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.engines.conftest import job_text, write_people
from tests.saving import UNATTACKED

import discreet as dc
from discreet.attacks import run
from discreet.errors import AuditError
from discreet.hierarchies import coverage
from discreet.ledger.ledger import Store
from discreet.ledger.settings import LedgerSettings
from discreet.pipeline import one_machine
from discreet.pipeline.run import publish_folder
from discreet.releases.audit import audit
from discreet.releases.worlds import sensitive_sets


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """Count the calls of what is expensive."""
    counted: Counter = Counter()

    def count(home, name, key=lambda *_: None):
        real = getattr(home, name)

        def counting(*arguments, **named):
            counted[name, key(*arguments)] += 1
            return real(*arguments, **named)

        monkeypatch.setattr(home, name, counting)

    count(sensitive_sets, "index_signatures")
    count(coverage, "cover", lambda column, *_: column.name)
    count(audit, "read_table", lambda source, *_: source.path.name)
    count(one_machine, "audit_tables")
    count(one_machine, "measure_release")
    count(run, "run_attacks")
    count(Store, "entries")
    return counted


def job_of(folder: Path, name: str, verify: str = "") -> dc.Job:
    write_people(folder / "people.csv", 400)
    text = job_text(name).replace("k: 4", "k: 3")
    return dc.Job.parse(text + verify, folder=folder)


@pytest.mark.parametrize("way", ["folder", "memory"])
def test_a_decomposition_indexes_its_sensitive_rows_once(tmp_path, calls, way):
    job = job_of(tmp_path, "decomposition")
    if way == "folder":
        publish_folder(None, job, tmp_path / "release", seed=1, **UNATTACKED)
    else:
        dc.publish(None, job, seed=1)
    assert calls["index_signatures", None] == 1


def test_a_column_is_covered_once_and_a_file_is_read_back_once(tmp_path, calls):
    job = job_of(tmp_path, "mondrian", "verify: {ceiling: 1.0}\n")
    publish_folder(None, job, tmp_path / "release", seed=1, **UNATTACKED)
    covered = {column: count for (name, column), count in calls.items() if name == "cover"}
    assert covered == dict.fromkeys(("age", "zip", "sex", "diagnosis", "income"), 1)
    assert calls["read_table", "records.csv"] == 1
    assert calls["audit_tables", None] == calls["run_attacks", None] == 1


@pytest.mark.parametrize("name", ["mondrian", "decomposition"])
def test_an_audit_reads_each_file_once(tmp_path, calls, name):
    publish_folder(None, job_of(tmp_path, name), tmp_path / "release", seed=1, **UNATTACKED)
    calls.clear()
    assert dc.audit(tmp_path / "release").ok
    read = {file: count for (name, file), count in calls.items() if name == "read_table"}
    assert set(read.values()) == {1}
    assert len(read) == (1 if name == "mondrian" else 3)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("typed", [False, True])
def test_publish_and_save_audit_measure_and_attack_once(tmp_path, calls, format, typed):
    job = job_of(tmp_path, "mondrian", "verify: {ceiling: 1.0}\n")
    frame = pl.read_csv(tmp_path / "people.csv", infer_schema=typed)
    release = dc.publish(frame, job, seed=1)
    stated = release.manifest.promises
    release.save(tmp_path / "release", format=format, **UNATTACKED)
    for name in ("audit_tables", "measure_release", "run_attacks"):
        assert calls[name, None] == 1, name
    assert calls["read_table", f"records.{format}"] == 1  # and compared cell for cell
    assert release.manifest.promises == stated
    assert dc.audit(tmp_path / "release").ok


def test_a_file_that_says_something_else_is_audited_and_refused(tmp_path, calls, monkeypatch):
    release = dc.publish(None, job_of(tmp_path, "mondrian"), seed=1)
    write = one_machine.write_table

    def altered(file, format_, columns, order, tell):
        write(file, format_, columns, order, tell)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("illness 1", "illness 2"), encoding="utf-8")

    monkeypatch.setattr(one_machine, "write_table", altered)
    with pytest.raises(AuditError, match="correspond to no row of the original"):
        release.save(tmp_path / "release", **UNATTACKED)
    assert calls["audit_tables", None] == 2
    assert not (tmp_path / "release").exists()


def test_a_manifest_that_was_changed_is_proved_again(tmp_path, calls):
    release = dc.publish(None, job_of(tmp_path, "mondrian"), seed=1)
    release.manifest.promises[0].achieved = {"k": 99.0}
    release.save(tmp_path / "release", **UNATTACKED)
    assert calls["audit_tables", None] == 2
    assert release.manifest.promises[0].achieved["k"] < 99
    assert dc.audit(tmp_path / "release").ok


SERIES = """
attributes:
  name: {role: identifier}
  age: {role: quasi-identifier, type: integer}
  diagnosis: {role: sensitive}
method: {rho-different: {rho: 0.6}}
ledger: {path: people.ledger}
"""


@pytest.mark.parametrize("way", ["folder", "memory"])
def test_the_entries_of_a_ledger_are_read_at_most_twice(tmp_path, calls, way):
    from discreet.ledger.ledger import Ledger

    job = dc.Job.parse(SERIES, folder=tmp_path)
    settings = LedgerSettings(path=tmp_path / "people.ledger", key=tmp_path / "people.key")
    job = job.model_copy(update={"ledger": settings})
    Ledger.create(settings).__exit__()
    for number in range(2):
        frame = pl.DataFrame(
            {
                "name": [f"person {n}" for n in range(number * 6, number * 6 + 12)],
                "age": [20 + n % 3 for n in range(12)],
                "diagnosis": [f"illness {n % 4}" for n in range(12)],
            }
        )
        calls.clear()
        place = tmp_path / f"release-{number}"
        if way == "folder":
            publish_folder(frame, job, place, seed=1, **UNATTACKED)
        else:
            dc.publish(frame, job, seed=1).save(place, **UNATTACKED)
        assert calls["entries", None] <= (1 if way == "folder" else 2)
        assert calls["audit_tables", None] == 1


def test_a_folder_frees_the_cells_that_it_has_written_and_memory_keeps_them(tmp_path):
    job = job_of(tmp_path, "decomposition")
    published = publish_folder(None, job, tmp_path / "release", seed=1, **UNATTACKED)
    assert isinstance(published.formed, one_machine.LocalTables)
    assert not any(table.columns for table in published.formed.published.values())
    kept = dc.publish(None, job, seed=1)
    kept.save(tmp_path / "another", **UNATTACKED)
    assert kept.tables["groups"].height == 400
