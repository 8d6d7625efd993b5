"""Input that must be refused: with a message, nothing leaked, nothing left, server alive."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.studio.served import Client, Served

CANARY = "Zx-canary-7731"
NAME = "Quxley Canaryman"
GOOD = "name,age,zip,diagnosis\n" + "".join(
    f"{NAME} {n},{20 + n % 50},{10000 + n % 7},{CANARY if n % 5 == 0 else f'illness {n % 4}'}\n"
    for n in range(200)
)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\n\n\n", id="blank"),
        pytest.param(b"name,age\n", id="only a header"),
        pytest.param(f"name,age\n{CANARY},1\n{CANARY}\n".encode(), id="a short row"),
        pytest.param(f"name,age\n{CANARY},1,2,3\n".encode(), id="a long row"),
        pytest.param(f'name,age\n"{CANARY},1\nx,2\n'.encode(), id="an open quote"),
        pytest.param(f"{CANARY},1980-02-03\n{CANARY},1990-07-01\n".encode(), id="no header"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + CANARY.encode(), id="a picture"),
        pytest.param(b"a,b\n\xff\xfe\xfa,\x81\x8d\n", id="not UTF-8"),
        pytest.param(b"PK\x03\x04" + CANARY.encode() * 10, id="half a zip"),
    ],
)
@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.xlsx"])
def test_a_file_that_is_no_table_is_refused(
    server: Served, client: Client, name: str, body: bytes
) -> None:
    before = sorted(server.private.iterdir())
    found = client.ask("POST", f"/api/tables?name={name}", body=body)
    assert found.status == 422, found.text
    assert found.json["error"].strip() and found.json["kind"] == "input"
    assert CANARY not in found.text
    assert sorted(server.private.iterdir()) == before
    assert client.get("/api/session")["version"]


@pytest.mark.parametrize("chunked", [False, True])
def test_an_upload_beyond_the_limit_is_refused(
    server: Served, client: Client, chunked: bool
) -> None:
    import http.client as http

    before = sorted(server.private.iterdir())
    block = (b"x" * 99 + b"\n") * 1000
    connection = http.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {**client.headers, "Origin": f"http://127.0.0.1:{server.port}"}
    try:
        if chunked:
            connection.request(
                "POST", "/api/tables?name=x.csv", (block for _ in range(100)), headers,
                encode_chunked=True,
            )  # fmt: skip
        else:
            connection.request("POST", "/api/tables?name=x.csv", block * 100, headers)
        found = connection.getresponse()
        assert found.status == 413
        assert "4,194,304 bytes" in json.loads(found.read())["error"]
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server closed the connection before it had read everything
    finally:
        connection.close()
    assert sorted(server.private.iterdir()) == before
    assert client.get("/api/session")["version"]


def test_an_upload_that_unpacks_beyond_the_limit_is_refused(
    server: Served, client: Client, tmp_path: Path
) -> None:
    before = sorted(server.private.iterdir())
    packed = gzip.compress(b"name,age\n" + b"x,1\n" * 2_000_000)
    assert len(packed) < 100_000
    found = client.ask("POST", "/api/tables?name=people.csv.gz", body=packed)
    assert found.status == 422, found.text
    assert "unpacks to more than 4,194,304 bytes" in found.json["error"]
    assert sorted(server.private.iterdir()) == before
    place = tmp_path / "people.csv.gz"
    place.write_bytes(packed)
    found = client.ask("POST", "/api/tables", {"path": str(place)})
    assert found.status == 422 and "unpacks to more than" in found.json["error"]
    assert client.get("/api/session")["version"]


def test_json_that_is_none_or_too_large_is_refused(client: Client) -> None:
    for body in (b"{", b"[1]", b'"x"', b"\xff", b"[" * 100_000):
        assert client.ask("POST", "/api/ledgers", body=body).status in (400, 422)
    try:
        found = client.ask("POST", "/api/ledgers", body=b'{"path": "' + b"x" * 2**25 + b'"}')
        assert found.status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert client.get("/api/session")["version"]


def test_paths_that_are_no_tables_are_refused(client: Client, tmp_path: Path) -> None:
    for path in ("relative.csv", "/etc", "/nowhere/x.csv", "/dev/zero", str(tmp_path), "\0"):
        found = client.ask("POST", "/api/tables", {"path": path})
        assert found.status in (422, 500) and found.json["error"], (path, found.text)
    for option in ("path", "url", "nothing"):
        place = f"/api/tables?name=x.csv&option.{option}=/etc/passwd"
        assert client.ask("POST", place, body=GOOD.encode()).status == 422
    for given in ({}, {"path": 3}, {"path": ["x"]}, {"path": "/etc/passwd", "options": 3}):
        assert client.ask("POST", "/api/tables", given).status == 422
    assert client.ask("POST", "/api/releases", {"path": str(tmp_path)}).status == 422


@pytest.fixture(scope="module")
def table(client: Client) -> str:
    return client.upload("people.csv", GOOD.encode())["table"]


def job_of(client: Client, table: str) -> dict:
    return client.get(f"/api/tables/{table}/proposal")["job"]


def test_a_canary_is_in_no_error_no_log_and_no_address(
    server: Served, client: Client, table: str
) -> None:
    job = job_of(client, table)
    assert job["attributes"]["diagnosis"]["role"] == "sensitive"

    def changed(**attribute: object) -> dict:
        return {**job, "attributes": {**job["attributes"], **attribute}}

    tree = {"tree": {"all": ["illness 0", "illness 1"]}}
    sensitive = {"role": "sensitive"}
    jobs = [
        changed(diagnosis={**sensitive, "type": "integer"}),
        changed(diagnosis={**sensitive, "type": "date", "format": "%d.%m.%Y"}),
        changed(diagnosis={**sensitive, "hierarchy": tree, "distance": "hierarchical"}),
        changed(diagnosis={**sensitive, "hierarchy": {"standard": "icd-10"}}),
        changed(name={"role": "insensitive", "type": "number"}),
        changed(name={"role": "insensitive"}),
        changed(nothing={"role": "sensitive"}),
        {**job, "requirements": [{"distinct-l-diversity": {"l": 50}}]},
        {**job, "requirements": [{"k-anonymity": {"k": 500}}]},
        {**job, "method": {"anatomy": {"l": 40}}},
        {**job, "person": "diagnosis"},
    ]
    answers = [
        client.ask("POST", f"/api/tables/{table}/{verb}", {"job": one})
        for one in jobs
        for verb in ("job", "feasibility")
    ]
    answers += [
        client.ask(
            "POST",
            f"/api/tables/{table}/{verb}",
            {"attribute": column, "hierarchy": hierarchy, "type": kind, "edits": [
                {"merge": ["x", "y"], "level": 1, "into": "z"}]},
        )
        for verb in ("hierarchy", "hierarchy/edit")
        for column in ("diagnosis", "name")
        for hierarchy, kind in (
            (tree, "text"), ({"intervals": [5]}, "integer"), ({"standard": "icd-10"}, "text"),
            ({"dates": ["year"]}, "date"), ({"groups": [2], "order": ["a"]}, "text"),
        )
    ]  # fmt: skip
    answers += [
        client.ask(
            "POST", f"/api/tables/{table}/draft", {"edits": [{"columns": [NAME], "role": "drop"}]}
        )
    ]
    refused = [one for one in answers if one.status != 200]
    assert len(refused) > 15
    for found in refused:
        assert CANARY not in found.text and NAME not in found.text
    for found in answers[: 2 * len(jobs)]:
        assert CANARY not in found.text and NAME not in found.text
    ended = []
    for one in jobs:
        started = client.ask("POST", f"/api/tables/{table}/runs", {"kind": "publish", "job": one})
        assert CANARY not in started.text and NAME not in started.text
        if started.status == 200:
            ended.append(client.ended(started.json["run"]))
    assert {"failed", "refused"} <= {one["state"] for one in ended}
    for one in ended:
        if one["state"] != "done":
            said = json.dumps(one)
            assert one["error"]["error"] and one["error"]["kind"] != "defect", one["error"]
            assert CANARY not in said and NAME not in said
    for run in client.get("/api/runs")["runs"]:
        client.delete(f"/api/runs/{run['run']}")
    logged = server.logs.read_text()
    assert CANARY not in logged and NAME not in logged
    assert server.token_path.partition("=")[2] not in logged


def test_a_table_that_cannot_be_made_safe_is_refused_and_nothing_appears(
    client: Client, table: str, tmp_path: Path
) -> None:
    asked = [{"k-anonymity": {"k": 5}}, {"distinct-l-diversity": {"l": 30}}]
    job = {**job_of(client, table), "requirements": asked}
    said = client.post(f"/api/tables/{table}/feasibility", {"job": job})["requirements"]
    assert [one["feasible"] for one in said] == [True, False]
    assert said[1]["best"] == {"l": 5}
    place = tmp_path / "release"
    given = {"kind": "publish", "job": job, "output": str(place)}
    before = client.get("/api/releases")
    run = client.post(f"/api/tables/{table}/runs", given)["run"]
    found = client.ended(run)
    assert found["state"] == "refused" and found["error"]["kind"] == "infeasible"
    assert list(tmp_path.iterdir()) == []
    for what in ("report", "preview"):
        assert client.ask("GET", f"/api/runs/{run}/{what}").status == 409
    assert client.get("/api/releases") == before


def test_a_job_with_problems_is_refused_before_it_runs(client: Client, table: str) -> None:
    job = {**job_of(client, table), "requirements": [{"k-anonimity": {"k": 5}}]}
    said = client.post(f"/api/tables/{table}/job", {"job": job})
    (problem,) = said["problems"]
    number = int(problem.removeprefix("line ").partition(",")[0])
    assert "k-anonimity" in said["yaml"].splitlines()[number - 1]
    assert "Did you mean k-anonymity" in problem
    found = client.ask("POST", f"/api/tables/{table}/runs", {"kind": "publish", "job": job})
    assert found.status == 422 and found.json["problems"] == said["problems"]
    assert client.ask("POST", f"/api/tables/{table}/runs", {"kind": "rm", "job": job}).status == 422


def test_a_hierarchy_file_that_does_not_fit_is_refused_and_removed(
    server: Served, client: Client, table: str
) -> None:
    place = f"/api/tables/{table}/hierarchy/file?attribute=diagnosis&name=d.csv"
    found = client.ask("POST", place, body=b"illness 0;all\nillness 1;all\n")
    assert found.status == 422 and CANARY not in found.text
    assert not list((server.private / table / "hierarchies").iterdir())
    assert not [one for one in (server.private / table).iterdir() if one.name.startswith(".")]
    bad = f"/api/tables/{table}/hierarchy/file?attribute=diagnosis&name={quote('../d.csv')}"
    assert client.ask("POST", bad, body=b"x").status == 422
