"""The roles of wide tables in a real browser, and random edits: page, job and server agree."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.report.browser import Browser
from tests.studio.served import Served, served
from tests.studio.tab import Tab, signed_in

EDITS = int(os.environ.get("DISCREET_STUDIO_PAGE_EDITS", "60"))
HIDDEN = ("identifier", "household", "drop")
# What the controls show, as a person reads them.
SHOWN = """(() => {
  const rows = [...document.querySelectorAll('tr[data-column]')];
  const found = {};
  for (const row of rows) {
    const detail = row.nextElementSibling?.matches('.detail') ? row.nextElementSibling : null;
    const type = detail?.querySelector('[data-type]');
    found[row.dataset.column] = {
      role: row.querySelector('.segments input:checked')?.value,
      chosen: detail?.querySelector('.inline select')?.value,
      type: type?.disabled ? null : type?.value,
      collapse: detail?.querySelector('[data-collapse]')?.value ?? null,
      harmless: [...row.querySelectorAll('.chip[aria-pressed=true]')].map(e => e.dataset.harmless),
    };
  }
  const person = document.getElementById('person');
  return {columns: found, person: person.value, rows: document.getElementById('person-rows')?.value
    ?? null, persons: document.getElementById('persons-answer').dataset.persons,
    unit: document.querySelector('#persons [type=checkbox]')?.checked ?? null,
    guesses: [...document.querySelectorAll('[data-confirm]')].map(e => e.dataset.confirm)};
})()"""
# One random edit by the controls themselves; returns what was done, or nothing.
ACT = """((kind, pick, other) => {
  const rows = [...document.querySelectorAll('tr[data-column]')];
  const one = list => list[Math.floor(pick * list.length)];
  const choose = (select, value) => {
    select.value = value; select.dispatchEvent(new Event('change', {bubbles: true})); return value;
  };
  const at = (list, share) => list[Math.floor(share * list.length)];
  const any = select => choose(select, at([...select.options], other).value);
  const row = one(rows);
  const detail = row.nextElementSibling;
  if (kind === 'segment') {
    const inputs = [...row.querySelectorAll('label:not([hidden]) > input')];
    const input = inputs[Math.floor(other * inputs.length)];
    if (input.checked) return null;
    input.click();
    return [row.dataset.column, input.value];
  }
  if (kind === 'role') return [row.dataset.column, any(detail.querySelector('.inline select'))];
  if (kind === 'type' || kind === 'collapse') {
    const controls = [...document.querySelectorAll(`[data-${kind}]`)].filter(e => !e.disabled);
    return controls.length ? [one(controls).dataset[kind], any(one(controls))] : null;
  }
  if (kind === 'harmless') {
    const chips = [...document.querySelectorAll('.chip')];
    if (!chips.length) return null;
    one(chips).click();
    return one(chips).dataset.harmless;
  }
  if (kind === 'confirm') {
    const buttons = [...document.querySelectorAll('[data-confirm]')];
    if (!buttons.length) return null;
    one(buttons).click();
    return 'confirm';
  }
  if (kind === 'secret') {
    const buttons = [...document.querySelectorAll('[data-secret]')];
    if (!buttons.length) return null;
    one(buttons).click();
    return 'secret';
  }
  if (kind === 'person') return any(document.getElementById('person'));
  if (kind === 'rows') {
    const rows = document.getElementById('person-rows');
    return rows ? any(rows) : null;
  }
  if (kind === 'selected') {
    document.querySelectorAll('td.pick :checked').forEach(e => e.click());
    rows.slice(0, 1 + Math.floor(pick * 4)).forEach(e => e.querySelector('.pick input').click());
    const buttons = [...document.querySelectorAll('[data-act]')];
    const button = buttons[Math.floor(other * buttons.length)];
    button.click();
    return button.dataset.act;
  }
  document.getElementById('reset').click();
  return 'reset';
})"""
KINDS = (
    *["segment"] * 8, *["role"] * 2, *["type"] * 3, *["collapse"] * 3, *["harmless"] * 3, "secret",
    "confirm", *["person"] * 2, *["rows"] * 3, *["selected"] * 2, "reset",
)  # fmt: skip
SETTLED = """(async () => {
  const body = document.querySelector('.body');
  for (let n = 0; n < 2000; n++) {
    if (document.getElementById('main').ariaBusy === 'true') {
      await new Promise(done => setTimeout(done, 5));
      continue;
    }
    const server = await (await fetch(`/api/tables/${TABLE}/draft`)).json();
    const still = document.getElementById('risk').classList.contains('stale');
    if (!still && Number(body.dataset.revision ?? 1) === server.revision && body.dataset.judged
        === String(server.revision)) return server;
    await new Promise(done => setTimeout(done, 10));
  }
  throw new Error('the page does not follow the server');
})()"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("studio")) as found:
        yield found


@pytest.fixture(scope="module")
def home(browser: Browser, server: Served) -> str:
    return signed_in(browser, server.address)


@pytest.fixture
def tab(browser: Browser, home: str) -> Iterator[Tab]:
    tab = Tab.new(browser, home, width=1280)
    tab.resize(1280, 800)
    tab.ready("table")
    yield tab
    assert tab.errors == []
    tab.close()


def wide(path: Path, columns: int, rows: int = 600) -> Path:
    rng = random.Random(columns)
    names = ["record", "age", "sex", *(f"measure_{n:03}" for n in range(columns - 4)), "diagnosis"]
    lines = [",".join(names)]
    for row in range(rows):
        cells = [f"R{row:05}", rng.randrange(20, 80), rng.choice("fm")]
        cells += [rng.randrange(2 + 5 * n % 97) for n in range(columns - 4)]
        lines.append(",".join(map(str, [*cells, rng.choice(("none", "flu", "gout"))])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def roles(tab: Tab, path: Path) -> str:
    tab.fill("form input[type=text]", str(path))
    tab.click("form button[type=submit]")
    tab.see("#next")
    table = tab.part("table")
    tab.go("roles", table)
    tab.see("[data-figure=unique], .dot")
    return table


def test_53_columns_fit_in_two_screens(tab: Tab, tmp_path: Path) -> None:
    roles(tab, wide(tmp_path / "wide.csv", 53))
    assert tab.run("document.querySelectorAll('tr[data-column]').length") == 53
    assert tab.run("document.documentElement.scrollHeight") <= 1600
    tab.run("scrollTo(0, 700)")
    for sticky in ("table.grid thead th", "#search", "#risk", "#next"):
        place = tab.run(
            f"(() => {{ const b = document.querySelector('{sticky}').getBoundingClientRect();"
            " return [b.top, b.bottom] })()"
        )
        assert 0 <= place[0] < place[1] <= 800, sticky


def test_150_columns_change_within_100_milliseconds(tab: Tab, tmp_path: Path) -> None:
    table = roles(tab, wide(tmp_path / "wide.csv", 150))
    took = tab.run(
        """(async () => {
          const took = [];
          for (const row of [...document.querySelectorAll('tr[data-column]')].slice(4, 44)) {
            const to = row.dataset.now === 'sensitive' ? 'drop' : 'sensitive';
            const label = row.querySelector(`label[data-role=${to}]`);
            const before = document.querySelector('.body').dataset.revision ?? 1;
            const begun = performance.now();
            label.click();
            while ((document.querySelector('.body').dataset.revision ?? 1) === before
              && performance.now() - begun < 3000)
              await new Promise(requestAnimationFrame);
            row.getBoundingClientRect();  // laid out anew
            took.push(performance.now() - begun);
          }
          return took.sort((a, b) => a - b);
        })()"""
    )
    assert took[0] <= 100, f"best {took[0]:.0f} ms, median {took[20]:.0f} ms"
    shown = tab.run("[...document.querySelectorAll('tr[data-column]')].map(e => e.dataset.now)")
    answer = json.loads(tab.run(f"fetch('/api/tables/{table}/draft').then(a => a.text())"))
    assert shown == [one["role"] for one in answer["job"]["attributes"].values()]


def test_search_filters_selection_and_keyboard(tab: Tab, tmp_path: Path) -> None:
    roles(tab, wide(tmp_path / "wide.csv", 20))
    shown = "[...document.querySelectorAll('tr[data-column]')].map(e => e.dataset.column)"
    now = "[...document.querySelectorAll('tr[data-column]')].map(e => e.dataset.now)"
    everything = tab.run(shown)
    tab.fill("#search", "measure_00")
    tab.run("document.getElementById('search').dispatchEvent(new Event('input'))")
    assert tab.run(shown) == [f"measure_{n:03}" for n in range(10)]
    tab.click("tr[data-column=measure_002] .pick input")
    tab.click("tr[data-column=measure_005] .pick input")
    assert "2" in tab.text("#count")
    tab.click("[data-act=unchanged]")
    tab.wait(f"{now}.filter(one => one === 'unchanged').length === 2")
    tab.choose("#by-role", "unchanged")
    assert tab.run(shown) == ["measure_002", "measure_005"]
    assert "2" in tab.text("#count")  # what is no longer shown is no longer selected
    tab.choose("#by-role", "")
    tab.run("document.getElementById('search').value = ''")
    tab.run("document.getElementById('search').dispatchEvent(new Event('input'))")
    tab.click("#unsure")
    sure = tab.run("[...document.querySelectorAll('td.sure')].map(e => e.innerText)")
    sure = [word.replace("confirmed", "sure") for word in sure]
    assert sure == sorted(sure, key=("confirm", "likely", "sure").index)
    tab.click("#unsure")
    assert tab.run(shown) == everything
    # By keyboard: move with arrows, set by a letter, select, set all selected.
    tab.run("document.querySelector('tr[data-column=measure_007] .segments input:checked').focus()")
    tab.press("ArrowDown")
    held = "document.activeElement.closest('tr').dataset.column"
    assert tab.run(held) == "measure_008"
    tab.press("s")
    tab.wait("document.querySelector('tr[data-column=measure_008]').dataset.now === 'sensitive'")
    assert tab.run(held) == "measure_008"
    tab.press("x")
    tab.press("ArrowDown")
    tab.press("x")
    tab.press("s")
    tab.wait("document.querySelector('tr[data-column=measure_009]').dataset.now === 'sensitive'")
    assert tab.run("document.querySelectorAll('tr.chosen').length") >= 2


def test_guessed_roles_are_seen_and_confirmed(tab: Tab, tmp_path: Path) -> None:
    table = roles(tab, wide(tmp_path / "wide.csv", 12))
    shown = "[...document.querySelectorAll('[data-confirm]')].map(e => e.dataset.confirm)"
    draft = f"fetch('/api/tables/{table}/draft').then(a => a.json()).then(d => d.job.unconfirmed)"
    guessed = tab.run(shown)
    assert len(guessed) > 3 and set(guessed) <= set(tab.run(draft))
    first, second, third = guessed[:3]
    tab.click(f"[data-confirm={first}]")
    tab.wait(f"!document.querySelector('[data-confirm={first}]')")
    tab.role(second, "drop")  # a decision too
    tab.run(f"document.querySelector('tr[data-column={third}] .segments input:checked').focus()")
    tab.press("c")
    tab.wait(f"!document.querySelector('[data-confirm={third}]')")
    assert tab.run(shown) == guessed[3:]
    assert not {first, second, third} & set(tab.run(draft))
    tab.click("#confirm-all")
    tab.wait("!document.querySelector('#confirm-all')")
    assert tab.run(shown) == []


def test_random_edits_of_the_page_are_the_job_and_the_server_s(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    ill = ("none", "asthma", "gout", "flu")
    lines = ["patient_id,card,age,sex,diagnosis,drug,ward"]
    for n in range(120):
        cells = (
            f"P{n % 40:03}", f"C{n:04}", 20 + n % 30, "fm"[n % 2], ill[n % 4], "wxyz"[n % 4], n % 5,
        )  # fmt: skip
        lines.append(",".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = roles(tab, path)
    tab.run("document.querySelectorAll('button.name').forEach(one => one.click())")
    rng = random.Random(41)
    done = 0
    for number in range(EDITS):
        kind = rng.choice(KINDS)
        tab.run("document.querySelector('#persons details').open = true")
        act = tab.run(f"{ACT}({json.dumps(kind)}, {rng.random()}, {rng.random()})")
        server = tab.run(SETTLED.replace("${TABLE}", table))
        done += act is not None
        compare(tab, server, table, (number, kind, act))
    assert done > EDITS / 2


def compare(tab: Tab, server: dict[str, Any], table: str, what: object) -> None:
    """The controls, the answer of the server, and the job that would run say the same."""
    page, job = tab.run(SHOWN), server["job"]
    said = tab.run(
        f"fetch('/api/tables/{table}/job', {{method: 'POST', body: '{{}}'}}).then(a => a.json())"
    )
    written = yaml.safe_load(said["yaml"])
    written.pop("source")
    assert written == job, what
    person = job.get("person")
    collapsing = person is not None and person["rows"] not in ("one", "keep")
    for name, attribute in job["attributes"].items():
        shown = page["columns"][name]
        hidden = attribute["role"] in HIDDEN
        assert shown["role"] == shown["chosen"] == attribute["role"], (what, name)
        assert shown["type"] == (None if hidden else attribute.get("type", "text")), (what, name)
        expected = attribute.get("collapse", "") if collapsing and not hidden else None
        assert shown["collapse"] == expected, (what, name)
        harmless = attribute.get("non_sensitive_values", [])
        assert shown["harmless"] == list(map(str, harmless)), (what, name)
    assert page["person"] == ("" if person is None else person["column"][0]), what
    assert page["rows"] == (None if person is None else person["rows"]), what
    persons = {None: 120, "patient_id": 40, "card": 120, "age": 30, "sex": 2, "diagnosis": 4,
               "drug": 4, "ward": 5}  # fmt: skip
    assert int(page["persons"]) == persons[None if person is None else person["column"][0]], what
    guesses = job.get("unconfirmed", [])
    published = [name for name, one in job["attributes"].items() if one["role"] not in HIDDEN]
    assert page["guesses"] == [name for name in published if name in guesses], what
    if person is None:
        assert page["unit"] == (job.get("unit") == "rows"), what
