"""A thousand hostile requests: each is answered or refused; none is a defect or quotes a cell."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.studio.served import Client, Served
from tests.studio.test_refusals import CANARY, GOOD, NAME

REQUESTS = 1000
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 3, 1e308, "", " ", "x", "x" * 5000, "\0", "../../etc/passwd", "/dev/zero",
    "<script>alert(1)</script>", "${7*7}", "' OR 1=1 --", "\u202e\ud7ff", [], [[]], ["x"], {},
    {"": {}}, {"a": {"b": {"c": []}}}, [{"columns": ["age"], "role": "drop"}], CANARY[::-1], "u1",
    "t1", "r1",
)  # fmt: skip
KEYS = {
    "/api/tables": ("path", "options", "demo"),
    "/api/tables/{t}/draft": ("revision", "edits"),
    "/api/tables/{t}/hierarchy": ("attribute", "hierarchy", "type", "role", "at_most"),
    "/api/tables/{t}/hierarchy/edit": ("attribute", "hierarchy", "type", "edits"),
    "/api/tables/{t}/job": ("job", "revision"),
    "/api/tables/{t}/job.zip": ("job", "revision"),
    "/api/tables/{t}/job/read": ("yaml",),
    "/api/tables/{t}/feasibility": ("job", "revision"),
    "/api/tables/{t}/settings": ("job", "revision", "k"),
    "/api/tables/{t}/runs": (
        "kind",
        "job",
        "attack",
        "output",
        "revision",
        "accept_risk",
        "key",
        "labels",
        "k",
        "suppressed",
        "budget",
    ),
    "/api/releases": ("path",),
    "/api/releases/{r}/runs": ("kind", "original", "table", "seconds", "framework"),
    "/api/releases/{r}/sign": ("name", "function", "expires", "note"),
    "/api/releases/{r}/accept": ("reason",),
    "/api/releases/{r}/save": ("path", "force"),
    "/api/runs/{r}/cancel": ("x",),
    "/api/ledgers": ("path", "key"),
    "/api/ledgers/runs": ("path", "key"),
}
EDITS = ("columns", "role", "type", "collapse", "harmless", "person", "unit", "secret", "job",
         "reset", "trails", "stated", "confirm")  # fmt: skip
ASKED = (
    "/api/tables/{t}", "/api/tables/{t}/draft", "/api/tables/{t}/standing?unknown={r}",
    "/api/tables/{t}/proposal?preset={r}", "/api/runs/{r}", "/api/runs/{r}/report",
    "/api/runs/{r}/point?label={r}", "/api/releases/{r}", "/api/releases/{r}/report?public={r}",
    "/api/releases/{r}/download.zip", "/api/places?path={r}", "/static/{r}", "/strings/{r}", "/{r}",
)  # fmt: skip


def hostile(rng: random.Random, table: str) -> tuple[str, str, Any]:
    """Draw a request: a known address with wrong names in it, and wrong values under known keys."""
    name = quote(str(rng.choice(VALUES))[:200], safe="")
    places = {"t": rng.choice((table, table, name)), "r": name}
    if rng.random() < 0.3:
        method = rng.choice(("GET", "GET", "DELETE", "PUT", "HEAD"))
        place = rng.choice(ASKED)
        if method == "DELETE":
            places["t"] = name  # the table itself is needed further on
        return method, place.format(**places), None
    place, keys = rng.choice(list(KEYS.items()))
    given: Any = {key: rng.choice(VALUES) for key in keys if rng.random() < 0.8}
    if place.endswith("/draft"):
        edit = {key: rng.choice(VALUES) for key in rng.sample(EDITS, rng.randrange(1, 4))}
        edit.setdefault("columns", rng.choice((["age"], ["diagnosis", "zip"], [CANARY])))
        given = {"edits": [edit] if rng.random() < 0.8 else rng.choice(VALUES)}
    if "kind" in given:
        given["kind"] = rng.choice(
            ("preview", "repair", "audit", "evidence", "compare", "judge", "rm", 3)
        )
        given.setdefault("job", {"attributes": {"age": rng.choice(VALUES)}})
    return "POST", place.format(**places), given


def test_a_thousand_hostile_requests(server: Served, client: Client, tmp_path: Path) -> None:
    table = client.upload("people.csv", GOOD.encode())["table"]
    rng = random.Random(1000)
    bad: list[tuple[Any, ...]] = []
    refused = 0
    for number in range(REQUESTS):
        method, place, given = hostile(rng, table)
        found = client.ask(method, place, given)
        refused += found.status >= 400
        if found.status >= 500 or (
            found.status >= 400 and (CANARY in found.text or NAME in found.text)
        ):
            bad.append((number, method, place, given, found.status, found.text[:300]))
        if place == "/api/tables" and found.status == 200:
            client.delete(f"/api/tables/{found.json['table']}")
        if place.endswith("/runs") and found.status == 200:
            client.ask("POST", f"/api/runs/{found.json['run']}/cancel", {})
    assert not bad, f"{len(bad)}: {bad}"
    assert refused > REQUESTS / 2
    # the job is still one that can be edited, shown and run, and nothing was logged
    client.post(f"/api/tables/{table}/draft", {"edits": [{"reset": True}]})
    assert client.post(f"/api/tables/{table}/job")["problems"] == []
    assert client.get(f"/api/tables/{table}/standing")["problems"] == []
    logged = server.logs.read_text()
    assert CANARY not in logged and NAME not in logged
