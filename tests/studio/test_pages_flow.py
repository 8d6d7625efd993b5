"""Studio in a real browser: from a table to a signed release, and what may go wrong between."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.report.browser import Browser
from tests.saving import ACCEPTING
from tests.studio.served import SOURCE, Served, served
from tests.studio.tab import Tab, signed_in

import discreet as dc
from discreet.api.demonstrate import make_patients

ROWS = 100_000


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("studio")) as found:
        yield found


@pytest.fixture(scope="module")
def home(browser: Browser, server: Served) -> str:
    return signed_in(browser, server.address)


@pytest.fixture
def tab(browser: Browser, home: str) -> Iterator[Tab]:
    """A tab that must not report an error, nor ask another host for anything."""
    tab = Tab.new(browser, home)
    tab.ready("table")
    yield tab
    assert tab.errors == []
    known = (home, "blob:" + home, "data:")  # data: the browser's own picture in a field for days
    assert [one for one in tab.requests if not one.startswith(known)] == []
    tab.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """A table of 100,000 patients, sorted by their birthday."""
    path = tmp_path_factory.mktemp("large") / "patients.csv"
    make_patients(path, rows=ROWS, seed=4)
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    rows.sort(key=lambda row: row.split(",")[1])
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def open_demo(tab: Tab) -> str:
    tab.click("#demo")
    tab.see("#next")
    return tab.part("table")


def open_path(tab: Tab, path: Path) -> str:
    tab.fill("form input[type=text]", str(path))
    tab.click("form button[type=submit]")
    tab.see("#next")
    return tab.part("table")


def publish(tab: Tab, table: str, attack: int = 0) -> None:
    """Start to publish; attacks only where a test is about them."""
    tab.go("publish", table)
    tab.fill("form input[type=number]", str(attack))
    tab.click("#start")
    tab.wait("location.hash.includes('run=')")


def published(tab: Tab, seconds: float = 120) -> str:
    tab.wait("document.querySelector('#results').dataset.done", seconds)
    tab.see(".verdict")
    return tab.part("run")


def fetched(tab: Tab, path: str) -> bytes:
    """Return a file as the page's own link would save it."""
    numbers = tab.run(
        f"fetch({json.dumps(path)}).then(a => a.arrayBuffer()).then(b => [...new Uint8Array(b)])"
    )
    return bytes(numbers)


def command(folder: Path, *given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "discreet", *given],
        cwd=folder, env={"PYTHONPATH": str(SOURCE), "PATH": ""}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def promises(manifest: dict) -> list[tuple]:
    return sorted(
        (one["requirement"], json.dumps(one["parameters"], sort_keys=True), one["holds"])
        for one in manifest["promises"]
    )


def test_from_the_demo_table_to_a_signed_release_that_the_command_line_repeats(tab, tmp_path):
    table = open_demo(tab)
    assert "•••••" in tab.text("table.rows") and "Patient 0" not in tab.text()
    tab.click("#next")
    tab.ready("roles")

    # Roles: fewer quasi-identifiers, less risk, at once.
    tab.see("[data-figure=unique]")
    before = float(tab.run("document.querySelector('[data-figure=unique]').dataset.value"))
    tab.role("occupation", "unchanged")
    tab.role("ward", "unchanged")
    shown = "Number(document.querySelector('[data-figure=unique]').dataset.value)"
    tab.wait(f"{shown} < {before}")
    tab.click(".folds summary")
    tab.click("#attacker label:nth-of-type(1) input")  # the attacker does not know the birthday
    tab.wait(f"{shown} < 0.5")
    assert tab.part("unknown") == "1"
    tab.click("#next")
    tab.ready("hierarchies")

    # Hierarchies: other parts of the calendar, then two decades in one.
    tab.choose("#hierarchy-kind", "dates")
    tab.click(".editor .apply")
    tab.wait("document.querySelector('.list [aria-current] small').innerText.includes('calendar')")
    tab.see(".tree details details")
    for number in (1, 2):
        tab.click(f".tree ul > li:nth-child({number}) > input")
    tab.fill(".row input[type=text]", "two years")
    tab.click("#apply-edit")
    tab.wait("document.querySelector('.tree').innerText.includes('two years')")
    tab.click("#next")
    tab.ready("guarantees")

    # Guarantees: a preset in words, then one parameter.
    tab.click("[data-preset='internal']")
    tab.wait("document.querySelector(\"[data-parameter='k-anonymity.k']\").value === '3'")
    tab.click("[data-preset='research']")
    tab.wait("document.querySelector(\"[data-parameter='k-anonymity.k']\").value === '5'")
    tab.fill("[data-parameter='distinct-l-diversity.l']", "3")
    tab.wait("!document.querySelector('[data-preset]:checked')")
    tab.fill("[data-parameter='k-anonymity.k']", "6")
    tab.wait("document.querySelectorAll('#requirements [data-feasible=true]').length === 2")
    tab.click("#open-job")
    tab.see("#job textarea")
    assert "k-anonymity: {k: 6}" in tab.run("document.querySelector('#job textarea').value")
    tab.press("Escape")
    tab.wait("!document.getElementById('job').open")
    assert tab.run("document.activeElement.id") == "open-job"
    tab.click("#next")
    tab.ready("publish")

    tab.fill("form input[type=number]", "10")
    tab.click("#start")
    published(tab)
    heading = "document.querySelector('iframe').contentDocument.querySelector('h1')"
    assert tab.text(".verdict h2") in tab.wait(f"{heading}.innerText")
    tab.see("[data-chart='distribution-zip'] svg")
    assert tab.run("document.querySelectorAll('table.pairs tbody tr').length") >= 10

    # Accept the risk with a reason, sign, then hand over.
    assert tab.text(".verdict h2") == "Do not publish"
    assert not tab.run("!!document.querySelector('#sign')")
    tab.fill("#accept :is(input, textarea)", "The patients are made up.")
    tab.click("#accept button")
    tab.fill("#sign input", "A. Steward")
    tab.fill("#sign textarea", "For the registry.")
    tab.click("#sign button")
    tab.wait("document.querySelector('#signed').innerText.includes('A. Steward')")
    href = tab.run("document.querySelector('#download').getAttribute('href')")
    with zipfile.ZipFile(io.BytesIO(fetched(tab, href))) as whole:
        names = whole.namelist()
        whole.extractall(tmp_path)
    assert not [name for name in names if "private" in name]
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert dc.audit(tmp_path / "release").ok
    private = fetched(tab, f"{href}?private=1")
    with zipfile.ZipFile(io.BytesIO(private)) as whole:
        (record,) = [n for n in whole.namelist() if n.endswith("release.private.json")]
        assert json.loads(whole.read(record))["sign_offs"][0]["note"] == "For the registry."

    # The downloaded job, published again by the command line, guarantees the same.
    make_patients(tmp_path / "patients.csv")
    (tmp_path / "release").rename(tmp_path / "first")
    again = command(tmp_path, "publish", "job.yaml", "--no-attack", "--quiet", *ACCEPTING)
    assert again.returncode == 0, again.stderr
    repeated = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert promises(repeated) == promises(manifest)
    assert all(holds for *_, holds in promises(manifest))
    assert "Patient 0" not in tab.text()
    assert table == tab.part("table")


def test_a_large_table_sorted_by_date_and_a_reload_during_the_publish(tab, large):
    table = open_path(tab, large)
    assert tab.run("document.querySelector('[data-figure=rows]').dataset.value") == str(ROWS)
    tab.go("roles", table)
    tab.see("[data-figure=unique]")
    publish(tab, table)
    run = tab.part("run")
    tab.see(".running")
    tab.reload()
    assert tab.part("run") == run
    assert published(tab) == run
    assert "k-anonymity" in tab.text("#results table")
    tab.reload()  # an ended run is found again too
    assert published(tab) == run


def test_cancel_during_a_search_leaves_nothing(tab, large, tmp_path, server):
    table = open_path(tab, large)
    tab.go("guarantees", table)
    tab.choose("#method", "full-domain")
    tab.go("publish", table)
    tab.fill("form .field:nth-child(2) input", str(tmp_path / "release"))
    tab.click("#start")
    tab.wait("document.querySelector('.phases .now')?.dataset.phase === 'searching'")
    tab.click(".cancel")
    tab.wait("document.querySelector('#results').innerText.includes('Cancelled')", 20)
    assert list(tmp_path.iterdir()) == []
    run = json.loads(fetched(tab, f"/api/runs/{tab.part('run')}"))
    assert run["state"] == "cancelled"


def test_a_file_that_is_no_table_and_a_guarantee_that_cannot_hold_are_refused(tab, tmp_path):
    broken = tmp_path / "broken.csv"
    broken.write_text('name,age\n"Ann,4\nBob,5,6,7\n', encoding="utf-8")
    tab.upload("input[type=file]", broken)
    tab.see(".notice.bad")
    assert tab.run("location.hash") in ("", "#/table")
    table = open_demo(tab)
    tab.go("guarantees", table)
    tab.fill("[data-parameter='distinct-l-diversity.l']", "40")
    tab.wait("document.querySelector('#requirements [data-feasible=false]')")
    publish(tab, table)
    tab.see("[data-state=refused]", 60)
    assert "nothing was published" in tab.text("[data-state=refused]")
    tab.errors[:] = [one for one in tab.errors if "422" not in one]  # the upload that was refused


def test_a_table_in_which_persons_repeat_is_refused_until_the_job_says_what_to_do(tab, tmp_path):
    path = tmp_path / "visits.csv"
    ill = ("flu", "asthma", "gout")
    rows = [
        f"P{n % 40:03},{20 + n % 30},{'fm'[n % 40 // 20]},{ill[n % 40 % 3]}" for n in range(120)
    ]
    path.write_text("\n".join(["patient_id,age,sex,diagnosis", *rows]) + "\n", encoding="utf-8")
    tab.upload("input[type=file]", path)
    tab.see("#next")
    table = tab.part("table")
    tab.go("roles", table)
    tab.click("#persons summary")
    tab.choose("#person", "")  # the repeated identifiers then say that persons repeat
    tab.see("#persons .notice.warn")
    publish(tab, table)
    tab.see("[data-state]", 60)
    assert tab.run("document.querySelector('[data-state]').dataset.state") in ("refused", "failed")
    tab.go("roles", table)
    tab.choose("#person", "patient_id")
    tab.wait("document.querySelector('#persons-answer').dataset.persons === '40'")
    tab.click("#persons summary")
    tab.choose("#person-rows", "collapse")
    tab.wait("document.querySelector('.body').dataset.revision === '4'")
    for column in ("age", "sex", "diagnosis"):
        tab.click(f"tr[data-column={column}] button.name")
        tab.choose(f"[data-collapse={column}]", "most-frequent")
    publish(tab, table)
    published(tab)


def test_two_tabs_with_two_tables_do_not_mix(browser, home, tab, tmp_path):
    first = open_demo(tab)
    other = Tab.new(browser, home)
    other.ready("table")
    path = tmp_path / "other.csv"
    make_patients(path, rows=300, seed=9)
    second = open_path(other, path)
    assert first != second
    tab.go("roles", first)
    tab.role("ward", "drop")
    other.go("roles", second)
    other.see("[data-figure=unique]")
    ward = "document.querySelector('tr[data-column=ward]').dataset.now"
    assert other.run(ward) == "quasi-identifier"
    assert "300" in other.text(".about") and "3,000" in tab.text(".about")
    tab.reload()
    assert tab.run(ward) == "drop"
    assert other.errors == []
    other.close()


def test_compare_choose_a_point_and_see_the_same_rows_before_and_after(tab, tmp_path):
    path = tmp_path / "patients.csv"
    make_patients(path, rows=600, seed=3)
    table = open_path(tab, path)
    tab.go("compare", table)
    tab.wait("!document.querySelector('#start').disabled")
    tab.click("details summary")
    tab.fill("#k", "10")
    tab.see("#settings [value='mondrian k=10']")
    offered = tab.run("[...document.querySelectorAll('#settings input')].map(one => one.value)")
    assert "msa-diversity" not in offered  # which has no release of this table
    chosen = ("mondrian", "mondrian k=10")
    for one in offered:
        if one not in chosen:
            tab.click(f"#settings [value='{one}']")
    tab.click("#start")
    tab.wait("document.querySelector('.steps [data-step=compare] .busy')")
    tab.go("roles", table)  # it goes on
    tab.go("compare", table)
    tab.see("[data-chart=frontier] svg", 120)
    shown = tab.run("[...document.querySelectorAll('table.points tbody th')].map(e => e.innerText)")
    assert shown == [*chosen, "tables without any link"]
    assert tab.run("document.querySelectorAll('[data-chart=frontier] .point.live').length") == 3
    order = tab.run(
        "[...document.querySelectorAll('#advice, [data-chart=frontier], table.points')]"
        ".map(one => one.dataset.chart ?? (one.id || one.className))"
    )
    assert order == ["frontier", "advice", "points"]
    tab.click("[data-choose='mondrian k=10']")
    tab.click("#look")
    tab.see("#preview [data-chart='distribution-zip']", 120)
    label = tab.run("document.querySelector('tr.chosen th').innerText")
    tab.click("#open-job")
    tab.see("#job textarea")
    text = tab.run("document.querySelector('#job textarea').value")
    assert label == "mondrian k=10" and "k-anonymity: {k: 10}" in text
    tab.press("Escape")
    tab.reload()
    tab.see("#preview [data-chart='distribution-zip']", 60)
    assert tab.run("document.querySelector('tr.chosen th').innerText") == label


def test_the_output_of_another_tool_is_judged_beside_its_original(tab, tmp_path):
    lines = [f"{20 + n % 40},{'fm'[n % 2]},{('flu', 'gout', 'none')[n % 3]}" for n in range(240)]
    (tmp_path / "original.csv").write_text("\n".join(["age,sex,illness", *lines]) + "\n")
    coarse = [f'"[{20 + n % 40 // 20 * 20}, {40 + n % 40 // 20 * 20}[",*,{line.split(",")[2]}'
              for n, line in enumerate(lines)]  # fmt: skip
    (tmp_path / "arx.csv").write_text("\n".join(["age,sex,illness", *coarse]) + "\n")
    tab.go("judge")
    tab.upload("input[type=file]", tmp_path / "original.csv")
    tab.wait("location.hash.startsWith('#/judge/t')")
    table = tab.part("table")
    tab.go("roles", table)
    for column, role in (("age", "quasi-identifier"), ("sex", "quasi-identifier")):
        tab.role(column, role)
    tab.role("illness", "sensitive")
    tab.go("judge", table)
    tab.upload("input[type=file]", tmp_path / "arx.csv")
    tab.see("#results iframe", 120)
    assert "covers a row of the original" in tab.text("#results")
    assert tab.run("document.querySelector('[data-figure=unique]').dataset.value") == "0"
    assert "k = 120" in tab.text("#results table")
    heading = "document.querySelector('iframe').contentDocument.querySelector('h1')"
    for part in ("check", "measure"):
        before = tab.wait(f"{heading}?.innerText")
        tab.click(f"[data-part={part}]")
        tab.wait(f"{heading}?.innerText !== {json.dumps(before)}")
    tab.go("roles", table)
    tab.go("judge", table)  # the result is found again
    tab.see("#results iframe")


def test_presets_attackers_and_rare_requirements(tab):
    table = open_demo(tab)
    tab.go("guarantees", table)
    checked = "document.querySelector('[data-preset]:checked')?.value"
    assert tab.run(checked) == "research"
    assert "20%" in tab.text(".preset") and "Colleague" in tab.text(".preset")
    tab.click("[data-preset=public]")
    tab.wait("document.querySelector('#attackers').innerText.includes('Archivist')")
    assert tab.run(checked) == "public"
    tab.click("#attackers summary")
    tab.click("[data-attacker=archivist]")
    tab.wait(f"{checked} === undefined")  # no preset asks for this
    tab.click("#add summary")
    assert not tab.run("document.querySelector('[data-add=beta-likeness]').checkVisibility()")
    tab.click("[data-add=p-diversity]")
    tab.see("[data-requirement=p-diversity] [data-feasible=false]")
    values = "[...document.querySelectorAll('#values tbody tr')].map(e => e.innerText)"
    assert any("Is it no secret" in one for one in tab.run(values))
    job = json.loads(fetched(tab, f"/api/tables/{table}/draft"))["job"]
    assert job["attackers"] == ["acquaintance", "colleague", "insider"]
    assert job["requirements"][-1] == {"p-diversity": {"l": 2}}


def test_open_a_release_audit_it_and_find_a_forged_one(tab, tmp_path):
    make_patients(tmp_path / "patients.csv", rows=400)
    made = command(tmp_path, "init", "patients.csv", "--budget", "0s")
    assert made.returncode == 0, made.stderr
    made = command(tmp_path, "publish", "job.yaml", "--no-attack", "--quiet", *ACCEPTING)
    assert made.returncode == 0, made.stderr
    tab.go("releases")
    tab.fill("form input[type=text]", str(tmp_path / "release"))
    tab.click("form button[type=submit]")
    tab.see("[data-figure=published-rows]")
    assert tab.run("document.querySelector('[data-figure=published-rows]').dataset.value") == "400"
    tab.click("#audit")
    tab.see("#checked .notice.good")
    release = tmp_path / "release" / "records.csv"
    lines = release.read_text(encoding="utf-8").splitlines()
    release.write_text("\n".join(lines[:-3]) + "\n", encoding="utf-8")
    tab.click("#audit")
    tab.see("#checked .notice.bad")


def test_the_verdict_shows_its_attackers_what_stronger_ones_learn_and_who_is_unique(tab, tmp_path):
    path = tmp_path / "doubled.csv"
    lines = []
    for n in range(480):  # the age and one of two secrets determine the other one
        age, illness = n % 4, n // 4 % 3
        cells = (20 + age, "xyz"[illness], "pqr"[(illness + age) % 3], n // 12 % 5, n % 12)
        lines.append(",".join(map(str, cells)))
    path.write_text("\n".join(["age,illness,drug,ward,ward", *lines]) + "\n", encoding="utf-8")
    table = open_path(tab, path)
    assert "'ward' as 'ward_2'" in tab.text(".notice.warn")
    tab.go("roles", table)
    for column, role in (
        ("age", "quasi-identifier"), ("illness", "sensitive"), ("drug", "sensitive"),
        ("ward", "unchanged"), ("ward_2", "unchanged"),
    ):  # fmt: skip
        tab.role(column, role)
    publish(tab, table, attack=30)
    published(tab)
    tab.run("document.querySelectorAll('.verdict details').forEach(one => (one.open = true))")
    assert "Acquaintance, Colleague" in tab.text("#attackers")
    shown = {
        known: float(
            tab.run(f"document.querySelector('[data-figure=singled-{known}]').dataset.value")
        )
        for known in ("0", "1", "2", "all")
    }
    assert shown["0"] == 0 and shown["0"] <= shown["1"] <= shown["2"] <= shown["all"]
    assert "ward" in tab.text("[data-figure=singled-1]") or shown["1"] == 0
    release = tab.run("document.querySelector('#results').dataset.done")
    stronger = json.loads(fetched(tab, f"/api/releases/{release}/risk"))["verdict"]["stronger"]
    listed = tab.run("[...document.querySelectorAll('#stronger li')].map(one => one.innerText)")
    assert listed == stronger and stronger


def test_edit_the_job_as_text(tab):
    table = open_demo(tab)
    tab.go("guarantees", table)
    tab.click("#open-job")
    tab.see("#job textarea")
    text = tab.run("document.querySelector('#job textarea').value")
    tab.fill("#job textarea", text.replace("k: 5", "k: 9").replace("mondrian", "mondrain"))
    tab.click("#job .row:not(.end) button")
    tab.see("#job .notice.bad")
    tab.fill("#job textarea", text.replace("k: 5", "k: 9"))
    tab.click("#job .row:not(.end) button")
    tab.wait("!document.getElementById('job').open")
    tab.wait("document.querySelector(\"[data-parameter='k-anonymity.k']\")?.value === '9'")
    tab.errors[:] = [one for one in tab.errors if "422" not in one]


def test_a_file_in_another_encoding_and_a_hierarchy_from_a_file(tab, tmp_path):
    path = tmp_path / "städte.csv"
    towns = ("Köln", "Münster", "Ulm", "Gera")
    rows = [f"{towns[n % 4]};{20 + n % 9};{('flu', 'gout')[n % 2]}" for n in range(60)]
    path.write_text("\n".join(["town;age;diagnosis", *rows]) + "\n", encoding="latin-1")
    tab.click("details summary")
    tab.fill("details .field:nth-child(1) input", "latin-1")
    tab.upload("input[type=file]", path)
    tab.see("#next")
    assert "Münster" in tab.text("table.rows")
    assert "städte.csv" in tab.text(".about")
    tab.go("hierarchies", tab.part("table"), "?column=0")
    tab.choose("#hierarchy-kind", "file")
    levels = tmp_path / "town.csv"
    regions = ("West", "West", "South", "East")
    lines = [f"{town},{region},*" for town, region in zip(towns, regions, strict=True)]
    levels.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tab.see(".editor input[type=file]")
    tab.upload(".editor input[type=file]", levels)
    tab.wait("document.querySelector('.tree').innerText.includes('West')")
    shown = tab.run("[...document.querySelectorAll('.tree summary')].map(one => one.innerText)")
    assert "West30" in [one.replace(" ", "").replace("\n", "") for one in shown]
    tab.click("#open-job")
    tab.see("#job textarea")
    text = tab.run("document.querySelector('#job textarea').value")
    assert "hierarchies/" in text and "latin-1" in text


def test_read_a_ledger_and_audit_its_series(tab, tmp_path):
    shutil.copytree(SOURCE.parent / "examples" / "series", tmp_path / "series")
    folder = tmp_path / "series"
    for given in (
        ("ledger", "init", "people.ledger"),
        ("publish", "january.yaml", "--no-attack", *ACCEPTING),
    ):
        made = command(folder, *given)
        assert made.returncode == 0, made.stderr
    tab.go("releases")
    tab.fill("#ledger input", str(folder / "people.ledger"))
    tab.click("#ledger button")
    tab.see("#audit-series")
    assert "release-january" in tab.text("main")
    tab.click("#audit-series")
    tab.see(".notice.good")
    assert tab.part("series")
    tab.reload()
    tab.see(".notice.good")
