"""The ledger: keys, seals, what is refused and what is found."""

from __future__ import annotations

import json
import stat

import numpy as np
import polars as pl
import pytest
from tests.ledger.publisher import ATTRIBUTES, job_of, publish_next, table
from tests.saving import UNATTACKED

import discreet as dc
from discreet.errors import InputError, JobError, ReleaseError
from discreet.io.databases import connect
from discreet.ledger.ledger import MIGRATIONS, Ledger
from discreet.ledger.settings import LedgerSettings, create_key, hash_people


def job_for(settings: LedgerSettings) -> dc.Job:
    return job_of(settings.model_dump(exclude_none=True))


def database_of(settings: LedgerSettings):
    url = settings.url or f"sqlite:///{settings.path}"
    return connect(url, settings.key.parent.parent.__class__("/"))


def test_a_release_is_recorded_with_everybody_s_group(settings, tmp_path):
    publish_next(job_for(settings), tmp_path)
    with Ledger.open(settings) as ledger:
        (entry,) = ledger.entries()
        contents = ledger.contents(entry)
        people = hash_people(table(1)["name"].to_list(), ledger.key)
        exported = ledger.export()
    assert entry.published_rows == len(people) == len(contents.people)
    assert {row.tobytes() for row in people} == {row.tobytes() for row in contents.people}
    assert sorted(np.unique(contents.group)) == list(range(entry.groups))
    groups = pl.read_csv(tmp_path / "r1" / "sensitive.csv")
    for group in range(entry.groups):
        published = sorted(groups.filter(pl.col("group") == group + 1)["disease"])
        kept = [
            one["value"]
            for one in exported["releases"][0]["signatures"]["disease"]
            if one["group"] == group + 1
        ]
        assert sorted(kept) == published
    assert "P1" not in json.dumps(exported)


def test_files_are_for_their_owner_alone(tmp_path):
    made = LedgerSettings(path=tmp_path / "people.ledger").located(tmp_path)
    with Ledger.create(made):
        pass
    publish_next(job_for(made), tmp_path)
    for name in ("people.ledger", "people.ledger.key", "people.ledger.lock", "r1.private.json"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600, name


def test_wrong_key_is_refused(settings, tmp_path):
    publish_next(job_for(settings), tmp_path)
    create_key(tmp_path / "other.key")
    wrong = settings.model_copy(update={"key": tmp_path / "other.key"})
    with pytest.raises(InputError, match="is not the key of the ledger"):
        Ledger.open(wrong)
    with pytest.raises(InputError, match="is not the key of the ledger"):
        publish_next(job_for(wrong), tmp_path)


def test_missing_readable_and_broken_keys_are_refused(settings, tmp_path):
    absent = settings.model_copy(update={"key": tmp_path / "absent.key"})
    with pytest.raises(InputError, match="there is no such file"):
        Ledger.open(absent)
    settings.key.chmod(0o644)
    with pytest.raises(InputError, match="other users can read it"):
        Ledger.open(settings)
    settings.key.chmod(0o600)
    settings.key.write_text("no key")
    with pytest.raises(InputError, match="not a valid key file"):
        Ledger.open(settings)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE discreet_release SET counterfeits = counterfeits + 1 WHERE number = 1",
        "UPDATE discreet_release SET folder_hash = seal WHERE number = 2",
        "DELETE FROM discreet_release WHERE number = 1",
        "DELETE FROM discreet_release WHERE number = 2",
        "UPDATE discreet_release SET contents = (SELECT contents FROM discreet_release "
        "WHERE number = 1) WHERE number = 2",
    ],
)
def test_an_edited_ledger_is_found_and_not_built_on(settings, tmp_path, edit):
    publish_next(job_for(settings), tmp_path)
    publish_next(job_for(settings), tmp_path)
    database = database_of(settings)
    database.run(edit)
    database.close()
    with Ledger.open(settings) as ledger:
        assert ledger.verify() != []
    with pytest.raises(InputError, match="is damaged"):
        dc.publish(table(3), job_for(settings))


def test_an_edited_or_removed_folder_is_found(settings, tmp_path):
    publish_next(job_for(settings), tmp_path)
    publish_next(job_for(settings), tmp_path)
    with (tmp_path / "r1" / "sensitive.csv").open("a") as file:
        file.write("1,z\n")
    (tmp_path / "r2").rename(tmp_path / "elsewhere")
    with Ledger.open(settings) as ledger:
        first, second = ledger.verify()
    assert "release 1" in first
    assert "not those that were published" in first
    assert "there is no folder" in second


def test_a_published_release_is_never_replaced(settings, tmp_path):
    job = job_for(settings)
    publish_next(job, tmp_path)
    with pytest.raises(ReleaseError, match="cannot be withdrawn"):
        dc.publish(table(2), job).save(tmp_path / "r1", force=True, **UNATTACKED)


def test_a_newer_ledger_is_refused_and_an_empty_database_is_none(settings):
    database = database_of(settings)
    database.run(
        "UPDATE discreet_ledger SET value = ? WHERE name = 'version'", (str(len(MIGRATIONS) + 1),)
    )
    with pytest.raises(InputError, match="Use a newer discreet"):
        Ledger.open(settings)
    database.run("DROP TABLE discreet_ledger")
    database.run("DROP TABLE discreet_release")
    database.close()
    with pytest.raises(InputError, match="contains no ledger"):
        Ledger.open(settings)


def test_people_must_have_one_identifier_each(settings):
    job = job_for(settings)
    twice = pl.concat([table(1), table(1).head(1)])
    with pytest.raises(InputError, match="1 rows repeat an identifier"):
        dc.publish(twice, job)
    nameless = table(1).with_columns(
        name=pl.when(pl.col("age") == 20).then(None).otherwise(pl.col("name"))
    )
    with pytest.raises(InputError, match="1 rows have no identifier"):
        dc.publish(nameless, job)


def test_which_identifier_names_a_person(settings):
    other = {**ATTRIBUTES, "card": {"role": "identifier"}}
    frame = table(1).with_columns(card=pl.col("name").reverse())
    plain = settings.model_dump(exclude_none=True)
    unnamed = dc.Job(attributes=other, method=dc.MInvariance(), ledger=dc.LedgerSettings(**plain))
    with pytest.raises(JobError, match="must name an identifier"):
        dc.publish(frame, unnamed)
    named = dc.Job(
        attributes=other,
        method=dc.MInvariance(),
        ledger=dc.LedgerSettings(**plain, person="card"),
    )
    assert dc.publish(frame, named).draft is not None


def test_every_grouping_method_can_be_recorded(settings, tmp_path):
    job = dc.Job(
        attributes={**ATTRIBUTES, "age": {"role": "quasi-identifier", "hierarchy": "suppress"}},
        requirements=[dc.KAnonymity(k=2)],
        method=dc.FullDomain(),
        ledger=settings,
    )
    dc.publish(table(1), job).save(tmp_path / "r1", **UNATTACKED)
    with Ledger.open(settings) as ledger:
        assert ledger.entries()[0].method == "full-domain"
        assert ledger.verify() == []


def test_a_method_of_republication_needs_a_ledger():
    job = dc.Job(attributes=ATTRIBUTES, method=dc.MInvariance())
    with pytest.raises(InputError, match="ledger init"):
        dc.publish(table(1), job)


def test_a_password_in_a_url_is_refused_and_never_repeated():
    for url in (
        "postgresql://user:hunter2@host/db",
        "postgresql://host/db?password=hunter2",
    ):
        with pytest.raises(JobError) as caught:
            dc.Job(attributes=ATTRIBUTES, method="m-invariance", ledger={"url": url})
        assert "PGPASSWORD" in str(caught.value)
        assert "hunter2" not in str(caught.value)
