"""From a table to a signed release, as the page asks for it; and again without the page."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.saving import ACCEPTING
from tests.studio.served import SOURCE, Client, Served, served

import discreet as dc


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("flow"), "--demo") as running:
        yield running


@pytest.fixture(scope="module")
def job(client: Client) -> dict:
    assert client.get("/api/session")["opened"] == "t1"
    proposed = client.get("/api/tables/t1/proposal?preset=research")["job"]
    return {
        **proposed,
        "requirements": [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 3}}],
    }


@pytest.fixture(scope="module")
def published(client: Client, job: dict) -> str:
    run = client.post("/api/tables/t1/runs", {"kind": "publish", "job": job, "attack": 3})["run"]
    events = client.events(run)
    assert [event for event, _ in events][-1] == "end"
    assert {"progress", "end"} == {event for event, _ in events}
    assert events[-1][1]["state"] == "done", events[-1]
    shares = [said["share"] for _, said in events]
    assert all(0 <= share <= 1 for share in shares)
    assert len({said["phase"] for _, said in events}) > 2
    return str(client.get(f"/api/runs/{run}")["result"]["release"])


def test_the_table_shows_columns_and_masks_identifiers(client: Client) -> None:
    found = client.get("/api/tables/t1")
    assert found["rows"] == 3000 and found["uploaded"]
    columns = {one["name"]: one for one in found["columns"]}
    assert columns["name"]["masked"] and columns["name"]["top"] == []
    assert columns["sex"]["distinct"] == 2 and columns["birthday"]["type"] == "date"
    assert len(found["first"]) == 20 and {row[0] for row in found["first"]} == {"•••••"}
    assert "Patient 0" not in json.dumps(found)


def test_the_proposal_has_reasons_and_the_guarantees_of_a_preset(client: Client, job: dict) -> None:
    found = client.get("/api/tables/t1/proposal")
    assert found["columns"]["zip"]["reason"] and found["columns"]["zip"]["if_wrong"]
    assert found["job"]["requirements"] == [
        {"k-anonymity": {"k": 5}},
        {"distinct-l-diversity": {"l": 2}},
    ]
    for preset in client.get("/api/choices")["presets"]:
        proposed = client.get(f"/api/tables/t1/proposal?preset={preset['name']}")["job"]
        assert client.post("/api/tables/t1/job", {"job": proposed})["problems"] == [], preset
    assert client.ask("GET", "/api/tables/t1/proposal?preset=x").status == 422


def test_choices_describe_everything_that_a_job_can_name(client: Client) -> None:
    found = client.get("/api/choices")
    names = {one["name"] for one in found["requirements"]}
    assert {"k-anonymity", "t-closeness"} <= names
    assert {"mondrian", "decomposition"} <= {one["name"] for one in found["methods"]}
    assert all(one["text"] for part in ("methods", "requirements") for one in found[part])
    presets = {one["name"]: one for one in found["presets"]}
    assert (presets["public"]["k"], presets["public"]["ell"], presets["public"]["t"]) == (
        10,
        3,
        0.4,
    )
    assert found["attackers_of"]["research"] == ["acquaintance", "colleague"]
    closeness = next(one for one in found["requirements"] if one["name"] == "t-closeness")
    assert closeness["role"] == "sensitive" and "t" in closeness["parameters"]["properties"]


def test_a_release_is_published_with_its_report_and_record(client: Client, published: str) -> None:
    found = client.get(f"/api/releases/{published}")
    assert [one["holds"] for one in found["promises"]] == [True, True]
    assert found["promises"][0]["text"].startswith("Each person is in a group of at least 5")
    assert found["verdict"]["verdict"] in ("Ready to sign", "Look at these", "Do not publish")
    report = client.ask("GET", f"/api/releases/{published}/report")
    assert report.headers["content-type"].startswith("text/html")
    assert "sandbox" in report.headers["content-security-policy"]
    public = client.ask("GET", f"/api/releases/{published}/report?public=1")
    assert public.status == 200 and public.text != report.text
    risk = client.get(f"/api/releases/{published}/risk")
    assert risk["verdict"] == found["verdict"]
    assert all({"row", "attribute", "knows", "belief"} == set(one) for one in risk["rows"])


def test_the_preview_shows_the_same_rows_before_and_after(client: Client, published: str) -> None:
    found = client.get(f"/api/releases/{published}/preview")
    (table,) = found["tables"]
    first = client.get("/api/tables/t1")["first"]
    names = [one["name"] for one in client.get("/api/tables/t1")["columns"]]
    for one in table["rows"]:
        source = dict(zip(names, first[one["row"] - 1], strict=True))
        assert one["before"] == [source[name] for name in table["columns"]]
        changed = dict(zip(table["columns"], one["after"], strict=True))
        assert changed["diagnosis"] == source["diagnosis"]
        assert changed["birthday"] != source["birthday"]
    for one in found["distributions"]:
        assert sum(one["before"]) == 3000 and sum(one["after"]) == pytest.approx(3000, abs=2)
        assert len(one["labels"]) == len(one["before"]) == len(one["after"]) <= 25
    by_name = {one["column"]: one for one in found["distributions"]}
    assert by_name["diagnosis"]["before"] == pytest.approx(by_name["diagnosis"]["after"])


def test_the_downloaded_job_gives_the_same_guarantees_by_the_command_line(
    server: Served, client: Client, published: str, tmp_path: Path
) -> None:
    body = client.ask("GET", f"/api/releases/{published}/download.zip").body
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert "release/manifest.json" in names and "job.yaml" in names
    assert not [name for name in names if "private" in name]
    yaml = client.ask("GET", f"/api/releases/{published}/job.yaml")
    assert (tmp_path / "job.yaml").read_text() == yaml.text
    table = server.private / "t1" / "patients.csv"
    (tmp_path / "patients.csv").write_bytes(table.read_bytes())
    command = [sys.executable, "-m", "discreet", "publish", "job.yaml", "--output", "again",
               "--no-attack", "--json", *ACCEPTING]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    here = dc.Manifest.load(tmp_path / "release")
    there = dc.Manifest.load(tmp_path / "again")

    def promised(manifest: dc.Manifest) -> list:
        return [(one.requirement, one.parameters, one.holds) for one in manifest.promises]

    assert promised(here) == promised(there) and len(promised(here)) == 2
    assert dc.audit(tmp_path / "release", original=tmp_path / "job.yaml").ok


def test_a_release_is_saved_signed_opened_and_examined(
    client: Client, published: str, tmp_path: Path
) -> None:
    unnamed = client.ask("POST", f"/api/releases/{published}/sign", {"name": "  ", "note": "x"})
    assert unnamed.status == 422
    signed = client.post(
        f"/api/releases/{published}/sign", {"name": "A. Steward", "note": "for EMA"}
    )
    assert signed["signed"]["name"] == "A. Steward" and signed["signed"]["verdict"]
    assert client.get(f"/api/releases/{published}")["signed"] == [signed["signed"]]
    place = tmp_path / "kept"
    client.post(f"/api/releases/{published}/save", {"path": str(place)})
    record = tmp_path / "kept.private.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert json.loads(record.read_text())["sign_offs"] == [signed["signed"]]
    assert (tmp_path / "kept.job.yaml").is_file() and (tmp_path / "kept.private.html").is_file()
    assert dc.audit(place).ok
    again = client.ask("POST", f"/api/releases/{published}/save", {"path": str(place)})
    assert again.status == 422 and "already exists" in again.json["error"]
    client.post(f"/api/releases/{published}/save", {"path": str(place), "force": True})
    (tmp_path / "mine").mkdir()
    other = {"path": str(tmp_path / "mine"), "force": True}
    assert client.ask("POST", f"/api/releases/{published}/save", other).status == 422
    opened = client.post("/api/releases", {"path": str(place)})
    assert opened["signed"] == [signed["signed"]] and len(opened["promises"]) == 2
    number = opened["release"]
    assert client.ask("GET", f"/api/releases/{number}/report").status == 200
    audit = client.post(f"/api/releases/{number}/runs", {"kind": "audit"})["run"]
    found = client.done(audit)["result"]
    assert found["ok"] and not found["compared_with_original"]
    assert client.ask("GET", f"/api/runs/{audit}/report").status == 200
    assert client.ask("POST", f"/api/releases/{number}/runs", {"kind": "attack"}).status == 422
    listed = client.get(f"/api/places?path={tmp_path}")["places"]
    assert {"name": "kept", "path": str(place), "kind": "release"} in listed
    (place / "records.csv").write_text("changed")
    audit = client.post(f"/api/releases/{number}/runs", {"kind": "audit"})["run"]
    assert not client.done(audit)["result"]["ok"]
    client.delete(f"/api/releases/{number}")
    assert client.ask("GET", f"/api/releases/{number}").status == 404 and place.exists()


def test_a_published_release_is_audited_attacked_and_measured(
    client: Client, published: str
) -> None:
    runs = [
        client.post(f"/api/releases/{published}/runs", {"kind": kind, "seconds": 2})["run"]
        for kind in ("audit", "attack", "measure")
    ]
    audit, attack, measure = [client.done(run)["result"] for run in runs]
    assert audit["ok"] and audit["compared_with_original"]
    assert attack["findings"] and attack["summary"]
    assert 0 < measure["loss"] < 1
    for run in runs:
        assert client.ask("GET", f"/api/runs/{run}/report").status == 200


def test_methods_are_compared_and_a_point_becomes_the_job(client: Client, job: dict) -> None:
    labels = ["mondrian", "mondrian k=20"]
    given = {"kind": "compare", "job": job, "labels": labels, "k": [5, 20], "budget": 60}
    run = client.post("/api/tables/t1/runs", given)["run"]
    result = client.done(run)["result"]
    points = result["points"]
    assert [one["label"] for one in points] == labels
    assert result["best"] == "unlinked"
    assert not any("failure" in one for one in points)
    chosen = client.get(f"/api/runs/{run}/point?label=mondrian%20k=20")["job"]
    assert chosen["requirements"] == [{"k-anonymity": {"k": 20}}, job["requirements"][1]]
    assert chosen["attributes"] == job["attributes"]
    assert client.post("/api/tables/t1/job", {"job": chosen})["problems"] == []
    assert client.ask("GET", f"/api/runs/{run}/point?label=x").status == 422
    assert client.ask("GET", f"/api/runs/{run}/report").status == 200


def test_a_release_in_several_tables_is_previewed(client: Client, job: dict) -> None:
    method = {"decomposition": {"primary": "diagnosis", "l": {"diagnosis": 3, "income": 3}}}
    mostly_none = ("dependency", "infection")  # one value in more than half of the rows
    attributes = {n: one for n, one in job["attributes"].items() if n not in mostly_none}
    asked = {**job, "attributes": attributes, "requirements": [], "method": method}
    run = client.post("/api/tables/t1/runs", {"kind": "preview", "job": asked})["run"]
    assert client.done(run)["result"]["manifest"]["tables"]
    tables = client.get(f"/api/runs/{run}/preview")["tables"]
    people = next(one for one in tables if one["rows"])
    for one in people["rows"]:
        cells = zip(people["columns"], one["before"], one["after"], strict=True)
        assert all(old == new for name, old, new in cells if name in job["attributes"])
    assert any(not one["rows"] and one["sample"] for one in tables)


def test_a_setting_that_is_said_to_be_infeasible_has_no_release(client: Client, job: dict) -> None:
    found = client.post("/api/tables/t1/settings", {"job": job, "k": [20, 9000]})["settings"]
    possible = {one["label"] for one in found if one["infeasible"] is None}
    assert {"mondrian", "local-recoding", "mondrian k=20"} <= possible
    ruled_out = [one["label"] for one in found if one["infeasible"] is not None]
    assert {"mondrian k=9000", "msa-diversity", "decomposition l=3"} <= {*ruled_out}
    labels = [label for label in ruled_out if not label.startswith("local-recoding")]
    given = {"kind": "compare", "job": job, "k": [20, 9000], "labels": labels, "budget": 120}
    run = client.post("/api/tables/t1/runs", given)["run"]
    points = client.done(run)["result"]["points"]
    assert points and all(one["failure"] for one in points)


def test_a_comparison_of_changed_roles_is_marked(client: Client) -> None:
    rows = "".join(f"p{n},{20 + n % 30},ill {n % 5}\n" for n in range(60))
    table = client.upload("visits.csv", f"person,age,illness\n{rows}".encode())["table"]
    given = {"kind": "compare", "labels": ["mondrian"], "budget": 30}
    run = client.post(f"/api/tables/{table}/runs", given)["run"]
    client.done(run)
    chosen = client.get(f"/api/runs/{run}/point?label=mondrian")["job"]
    edits: list[dict] = [{"job": chosen}]
    for outdated in (False, True):
        client.post(f"/api/tables/{table}/draft", {"edits": edits})
        assert client.get(f"/api/runs/{run}")["outdated"] is outdated
        edits = [{"columns": ["age"], "role": "drop"}]


def test_the_table_of_another_tool_is_judged_as_the_library_judges_it(
    client: Client, tmp_path: Path
) -> None:
    rows = [(20 + n % 40, "fm"[n % 2], f"ill {n % 7}") for n in range(280)]
    original = "age,sex,illness\n" + "".join(f"{a},{s},{i}\n" for a, s, i in rows)
    (tmp_path / "original.csv").write_text(original)
    cells = [f"[{a // 20 * 20}, {a // 20 * 20 + 20}[" for a, *_ in rows]
    written = "".join(f'"{cell}",*,{i}\n' for cell, (_, _, i) in zip(cells, rows, strict=True))
    (tmp_path / "arx.csv").write_text("age,sex,illness\n" + written)
    table, output = (
        client.post("/api/tables", {"path": str(tmp_path / name)})["table"]
        for name in ("original.csv", "arx.csv")
    )
    job = client.get(f"/api/tables/{table}/proposal")["job"]
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"}
    job["attributes"] = {
        name: {"role": role, **({"type": "integer"} if name == "age" else {})}
        for name, role in roles.items()
    }
    given = {"kind": "judge", "job": job, "output": output}
    run = client.post(f"/api/tables/{table}/runs", given)["run"]
    result = client.done(run)["result"]
    assert [one["holds"] for one in result["check"]["requirements"]] == [True, True]
    assert result["check"]["requirements"][0]["achieved"] == {"k": 140}
    named = {"quasi": ["age", "sex"], "sensitive": ["illness"]}
    attacked = dc.attack_table(
        tmp_path / "arx.csv", original=tmp_path / "original.csv", **named
    ).to_dict()
    assert result["attack"]["shape"] == attacked["shape"] == "recoded"
    means = [
        [(one["attack"], one["aim"], one["mean"]) for one in found["exact"]["findings"]]
        for found in (result["attack"], attacked)
    ]
    assert means[0] == means[1]
    for part in ("check", "attack", "measure"):
        assert client.ask("GET", f"/api/runs/{run}/report?part={part}").status == 200
    assert client.ask("GET", f"/api/runs/{run}/report?part=../x").status == 404
    given = {"kind": "judge", "job": job, "output": "t99"}
    assert client.ask("POST", f"/api/tables/{table}/runs", given).status == 404


def test_the_series_of_a_ledger_is_shown_and_audited(client: Client, tmp_path: Path) -> None:
    settings = dc.LedgerSettings(path=tmp_path / "ledger", key=tmp_path / "ledger.key")
    with dc.Ledger.create(settings):
        pass
    rows = "".join(f"p{n},{20 + n % 30},ill {n % 5}\n" for n in range(60))
    table = client.upload("visits.csv", f"person,age,illness\n{rows}".encode())["table"]
    job = {
        "attributes": {
            "person": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "type": "integer"},
            "illness": {"role": "sensitive"},
        },
        "method": {"m-invariance": {"m": 3}},
        "ledger": {"path": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key")},
    }
    given = {"kind": "publish", "job": job}
    refused = client.ask("POST", f"/api/tables/{table}/runs", given)
    assert refused.status == 422 and "ledger" in refused.json["error"]
    for number in (1, 2):
        place = str(tmp_path / f"release-{number}")
        run = client.post(f"/api/tables/{table}/runs", {**given, "output": place})["run"]
        client.done(run)
    ledger = {"path": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key")}
    found = client.post("/api/ledgers", ledger)
    assert [one["number"] for one in found["entries"]] == [1, 2] and found["problems"] == []
    attackers = [one["verdict"]["attackers"] for one in found["entries"]]
    assert attackers == [["acquaintance", "colleague", "archivist"]] * 2
    asked = {"ledger": ledger["path"], "key": ledger["key"]}
    run = client.post("/api/ledgers/runs", asked)["run"]
    assert client.done(run)["result"]
    assert client.ask("GET", f"/api/runs/{run}/report").status == 200
    assert client.ask("POST", "/api/ledgers", {"path": str(tmp_path / "none")}).status == 422


def test_reports_are_in_the_language_of_the_page(client: Client) -> None:
    rows = "".join(f"p{n},{20 + n % 30},ill {n % 5}\n" for n in range(60))
    table = client.upload("visits.csv", f"person,age,illness\n{rows}".encode())["table"]
    german = Client(client.port, {**client.headers, "Accept-Language": "fr, de-CH;q=0.9, en;q=0.8"})
    job = client.get(f"/api/tables/{table}/proposal")["job"]
    assert "language: de" in german.post(f"/api/tables/{table}/job", {"job": job})["yaml"]
    assert "language" not in client.post(f"/api/tables/{table}/job", {"job": job})["yaml"]
    named = {**job, "output": {"path": "release", "language": "tr"}}
    assert "language: tr" in german.post(f"/api/tables/{table}/job", {"job": named})["yaml"]
    asked = {"kind": "publish", "job": job, "attack": None}
    run = german.post(f"/api/tables/{table}/runs", asked)["run"]
    shown = german.done(run)["result"]
    release = f"/api/releases/{shown['release']}"
    audit = german.post(f"{release}/runs", {"kind": "audit"})["run"]
    german.done(audit)
    assert any(one.startswith("60 von 60 Zeilen") for one in shown["explanation"])
    assert any("Kein Angreifer" in one for one in shown["verdict"]["reasons"])
    assert "Personen" in shown["promises"][0]["text"]
    for place in (f"{release}/report", f"{release}/report?public=1", f"/api/runs/{audit}/report"):
        assert 'lang="de"' in german.ask("GET", place).text.replace("'", '"')


def test_a_release_that_must_not_be_published_stays_until_a_reason_is_given(
    client: Client, job: dict, tmp_path: Path
) -> None:
    risky = {**job, "requirements": [{"k-anonymity": {"k": 1}}], "method": "mondrian"}
    run = client.post("/api/tables/t1/runs", {"kind": "publish", "job": risky, "attack": 5})["run"]
    result = client.done(run)["result"]
    assert result["verdict"]["verdict"] == "Do not publish" and result["accepted_risk"] is None
    place, release = tmp_path / "release", f"/api/releases/{result['release']}"
    asked = (
        ("GET", f"{release}/download.zip", None),
        ("GET", f"{release}/download.zip?private=1", None),
        ("POST", f"{release}/save", {"path": str(place)}),
        ("POST", f"{release}/sign", {"name": "A. Steward", "note": ""}),
    )
    for method, path, given in asked:
        refused = client.ask(method, path, given)
        assert refused.status == 422 and "Do not publish" in refused.json["error"], path
    assert not place.exists()
    for reason in ("", "  "):
        assert client.ask("POST", f"{release}/accept", {"reason": reason}).status == 422
    reason = "Synthetic patients, for a course."
    accepted = client.post(f"{release}/accept", {"reason": reason})
    assert accepted == {"accepted_risk": reason}
    for method, path, given in asked:
        assert client.ask(method, path, given).status == 200, path
    record = json.loads((tmp_path / "release.private.json").read_text())
    assert record["accepted_risk"] == reason
    opened = client.post("/api/releases", {"path": str(place)})["release"]
    del record["accepted_risk"]
    (tmp_path / "release.private.json").write_text(json.dumps(record))
    signed = client.ask("POST", f"/api/releases/{opened}/sign", {"name": "A. Steward", "note": ""})
    assert signed.status == 422


def test_a_folder_that_is_named_gets_no_such_release_without_a_reason(
    client: Client, job: dict, tmp_path: Path
) -> None:
    risky = {**job, "requirements": [{"k-anonymity": {"k": 1}}], "method": "mondrian"}
    asked = {"kind": "publish", "job": risky, "attack": 5, "output": str(tmp_path / "release")}
    run = client.post("/api/tables/t1/runs", asked)["run"]
    ended = client.ended(run)
    assert ended["state"] == "refused" and ended["error"]["kind"] == "risk"
    assert ended["error"]["verdict"]["verdict"] == "Do not publish"
    assert not (tmp_path / "release").exists() and (tmp_path / "release.private.html").exists()
    run = client.post("/api/tables/t1/runs", {**asked, "accept_risk": "Synthetic."})["run"]
    assert client.done(run)["result"]["accepted_risk"] == "Synthetic."


def test_a_recorded_release_is_not_replaced_by_saving(
    client: Client, published: str, tmp_path: Path
) -> None:
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / "manifest.json").write_text('{"recorded": true}')
    asked = {"path": str(tmp_path / "series"), "force": True}
    client.ask("POST", f"/api/releases/{published}/accept", {"reason": "Synthetic."})
    refused = client.ask("POST", f"/api/releases/{published}/save", asked)
    assert refused.status == 422 and "a ledger records this release" in refused.json["error"]
    assert [entry.name for entry in (tmp_path / "series").iterdir()] == ["manifest.json"]


def test_releases_survive_the_server_and_leave_when_they_are_removed(tmp_path: Path) -> None:
    library = tmp_path / "library"
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with served(first, "--library", str(library)) as server:
        client = server.sign_in()
        table = client.post("/api/tables", {"demo": True})["table"]
        run = client.post(f"/api/tables/{table}/runs", {"kind": "publish", "attack": None})["run"]
        number = client.done(run)["result"]["release"]
        refused = client.post(
            f"/api/tables/{table}/runs",
            {"kind": "publish", "attack": None,
             "job": {**client.get(f"/api/tables/{table}/draft")["job"],
                     "requirements": [{"k-anonymity": {"k": 9000}}]}},
        )["run"]  # fmt: skip
        assert client.ended(refused)["state"] == "refused"
        (line,) = client.get("/api/releases")["releases"]  # the refused one is not there
        assert line["name"] == "patients.csv" and line["guarantees"][0] == "k-anonymity k = 5"
        late = {"name": "A", "expires": "soon"}
        assert client.ask("POST", f"/api/releases/{number}/sign", late).status == 422
        signer = {"name": "A. Steward", "function": "Data protection", "purpose": "Study 7",
                  "recipient": "Institute X", "expires": "2027-12-31", "note": ""}  # fmt: skip
        client.post(f"/api/releases/{number}/accept", {"reason": "The patients are made up."})
        signed = client.post(f"/api/releases/{number}/sign", signer)["signed"]
        assert {key: signed[key] for key in signer} == signer
        assert signed["declaration"].startswith("I have read the verdict")
    assert stat.S_IMODE(library.stat().st_mode) == 0o700
    for private in library.rglob("*.json"):
        if "release" not in private.parts:
            assert stat.S_IMODE(private.stat().st_mode) == 0o600, private
    with served(second, "--library", str(library)) as server:
        client = server.sign_in()
        (line,) = client.get("/api/releases")["releases"]
        assert line["release"] == number and line["recipient"] == "Institute X"
        assert line["signed"] == [signed] and line["verdict"] == "Look at these"
        place = f"/api/releases/{number}"
        found = client.get(place)
        assert found["has"] == ["preview.json", "risk.json", "job.yaml"] and found["private"]
        assert client.ask("GET", f"{place}/report").text != client.ask(
            "GET", f"{place}/report?public=1"
        ).text  # fmt: skip
        assert client.get(f"{place}/preview")["tables"] and client.get(f"{place}/risk")["verdict"]
        body = client.ask("GET", f"{place}/download.zip").body
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            assert "release/manifest.json" in archive.namelist()
        audit = client.post(f"{place}/runs", {"kind": "audit", "files_only": True})["run"]
        assert client.done(audit)["result"]["ok"]
        pack = {"kind": "evidence", "framework": "gdpr", "files_only": True}
        made = client.post(f"{place}/runs", pack)["run"]
        assert client.done(made)["result"]["framework"] == "gdpr"
        assert client.ask("GET", f"/api/runs/{made}/report").status == 200
        for hostile in ("..", "r1", "r" + "0" * 12, "%2e%2e", number.upper()):
            assert client.ask("GET", f"/api/releases/{hostile}").status in (404, 405)
        client.delete(place)
        assert client.get("/api/releases")["releases"] == []
    assert list(library.iterdir()) == []


def test_a_repair_is_searched_for_and_applied_to_the_draft(client: Client, tmp_path: Path) -> None:
    lines = ["record,age,sex,shoe,illness"]
    lines += [
        f"R{n:04},{20 + n % 5},{'fm'[n % 2]},{n * 7 % 229},{'abcd'[n // 10 % 4]}"
        for n in range(240)
    ]
    table = client.upload("shoes.csv", ("\n".join(lines) + "\n").encode())["table"]
    client.post(f"/api/tables/{table}/draft", {"edits": [
        {"columns": ["age", "sex"], "role": "quasi-identifier"},
        {"columns": ["shoe"], "role": "unchanged"}, {"columns": ["illness"], "role": "sensitive"},
    ]})  # fmt: skip
    asked = {"kind": "repair", "budget": 60}
    run = client.post(f"/api/tables/{table}/runs", asked)["run"]
    found = client.done(run)["result"]
    assert found["verdict"] in (None, "Do not publish")  # None: nothing could be published
    assert found["repairs"], found
    for repair in found["repairs"]:
        before = client.get(f"/api/tables/{table}/draft")
        edit = {"revision": before["revision"], "edits": [{"trails": repair["edits"]}]}
        after = client.post(f"/api/tables/{table}/draft", edit)
        assert after["job"] != before["job"]
        assert client.post(f"/api/tables/{table}/job")["problems"] == []
        client.post(f"/api/tables/{table}/draft", {"edits": [{"job": before["job"]}]})
