"""Who may ask: tokens, cookies, hosts, origins; and what a refusal says."""

from __future__ import annotations

import http.client
import stat
from pathlib import Path

import pytest
from tests.studio.served import Client, Served

from discreet.addons.studio.access import Gate

PLACES = ["/", "/roles", "/static/index.html", "/strings/en.json", "/api/session", "/api/tables",
          "/api/places?path=/", "/api/runs/u1/events", "/api/releases/r1/download.zip"]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_answered_without_the_cookie(server: Served, client: Client, place: str) -> None:
    for cookie in ("", "discreet-studio=1", f"discreet-studio-{server.port}=wrong", "a=b; ;=;\"'"):
        found = Client(server.port).ask("GET", place, Cookie=cookie)
        assert found.status == 401
        assert "can be used once" in found.text
        assert client.headers["Cookie"].partition("=")[2] not in found.text
        assert "set-cookie" not in found.headers


def test_a_token_opens_one_browser_once(server: Served, client: Client) -> None:
    assert client.get("/api/session")["version"]
    again = Client(server.port).ask("GET", server.token_path)
    assert again.status == 401 and "set-cookie" not in again.headers
    for token in ("", "x", server.token_path[-43:-1], "%C3%A9", "%00"):
        assert Client(server.port).ask("GET", f"/?token={token}").status in (400, 401)
    # The browser that has the cookie may open the address again, from its history.
    assert client.ask("GET", server.token_path).status == 303


def test_a_wrong_token_does_not_void_the_right_one() -> None:
    gate = Gate(1234)
    token = gate.address().partition("token=")[2]
    assert not gate.redeem("x" * 43) and not gate.redeem("")
    assert gate.redeem(token)
    assert not gate.redeem(token)
    newer = gate.address().partition("token=")[2]
    assert newer != token and not gate.redeem(token) and gate.redeem(newer)


def test_the_cookie_is_for_this_server_alone_and_hidden_from_scripts(server: Served) -> None:
    gate = Gate(server.port)
    from starlette.responses import Response

    cookie = gate.sign_in(Response()).headers["set-cookie"]
    assert cookie.startswith(f"discreet-studio-{server.port}=")
    assert "HttpOnly" in cookie and "samesite=strict" in cookie.lower() and "Path=/" in cookie
    assert "Domain" not in cookie


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", ""],
)
def test_a_foreign_host_is_refused(server: Served, client: Client, host: str) -> None:
    found = client.ask("GET", "/api/session", Host=host.format(port=server.port))
    assert found.status in (400, 403)
    assert "version" not in found.text


def test_localhost_is_this_server(server: Served, client: Client) -> None:
    host = f"localhost:{server.port}"
    assert client.ask("GET", "/api/session", Host=host).status == 200
    assert client.ask("POST", "/api/alive", {}, Host=host, Origin=f"http://{host}").status == 200
    assert client.ask("POST", "/api/alive", {}, Host=host).status == 403  # from the other name


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", ""],
)
def test_a_foreign_origin_is_refused(server: Served, client: Client, origin: str) -> None:
    origin = origin.format(port=server.port)
    for method, place in (
        ("POST", "/api/stop"),
        ("DELETE", "/api/tables/t1"),
        ("GET", "/api/session"),
    ):
        found = client.ask(method, place, Origin=origin)
        assert found.status == 403, (method, found.text)
    assert client.get("/api/session")["version"]  # it has not stopped


def test_a_change_must_say_that_it_comes_from_our_page(server: Served, client: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/api/stop", b"{}", {"Cookie": client.headers["Cookie"]})
    assert connection.getresponse().status == 403
    connection.close()
    for site in ("cross-site", "same-site"):
        assert client.ask("GET", "/api/session", Sec_Fetch_Site=site).status == 403
        assert client.ask("POST", "/api/stop", Sec_Fetch_Site=site).status == 403
    assert client.ask("GET", "/api/session", Sec_Fetch_Site="same-origin").status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert client.ask(method, "/api/session").status in (400, 403, 405)


@pytest.mark.parametrize(
    "place",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fpyproject.toml",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/strings/../access.py",
        "/strings/..%5caccess.py",
        "/static/%00",
    ],
)
def test_no_path_leads_out_of_the_pages(client: Client, place: str) -> None:
    found = client.ask("GET", place)
    assert "import" not in found.text and "root:" not in found.text
    assert found.status in (400, 404) or found.text.lower().startswith("<!doctype html>")


@pytest.mark.parametrize(
    "name", ["../x.csv", "..", ".hidden.csv", "/etc/x.csv", "a/b.csv", "a\\b.csv", "C:x.csv", "",
             "x\n.csv", "x" * 300 + ".csv"],
)  # fmt: skip
def test_an_upload_has_a_plain_file_name(server: Served, client: Client, name: str) -> None:
    from urllib.parse import quote

    before = sorted(server.private.rglob("*"))
    found = client.ask("POST", f"/api/tables?name={quote(name, safe='')}", body=b"a,b\n1,2\n")
    assert found.status == 422 and "file name" in found.json["error"]
    assert sorted(server.private.rglob("*")) == before


@pytest.mark.parametrize("number", ["t99", "..", "%2e%2e", "t1%00"])
def test_unknown_numbers_are_not_found(client: Client, number: str) -> None:
    for place in (f"/api/tables/{number}", f"/api/runs/{number}", f"/api/releases/{number}"):
        found = client.ask("GET", place)
        assert found.status in (400, 404), (place, found.text)


def test_every_answer_has_the_headers_that_browsers_enforce(client: Client, server: Served) -> None:
    stranger = Client(server.port)
    answers = [
        client.ask("GET", "/"),
        client.ask("GET", "/api/session"),
        client.ask("GET", "/api/nothing"),
        client.ask("GET", "/static/nothing.js"),
        stranger.ask("GET", "/"),
        client.ask("GET", "/", Host="evil.example"),
    ]
    for found in answers:
        policy = found.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert found.headers["cache-control"] == "no-store"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert "server" not in found.headers
        assert "access-control-allow-origin" not in found.headers


def test_it_listens_on_loopback_alone(server: Served) -> None:
    wanted = f":{server.port:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    lines += Path("/proc/net/tcp6").read_text().splitlines()[1:]
    local = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert [one for one in local if one.endswith(wanted)] == [f"0100007F{wanted}"]


def test_the_private_folder_is_for_its_owner(server: Served, client: Client) -> None:
    number = client.upload("people.csv", b"name,age\nAnna,31\nBen,44\n")["table"]
    for folder in (server.private, server.private / number):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    client.delete(f"/api/tables/{number}")
    assert not (server.private / number).exists()
