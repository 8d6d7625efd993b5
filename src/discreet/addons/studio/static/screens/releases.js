// Releases that exist: read one, audit, attack and measure it; the releases of a ledger together.

import { get, post } from "../lib/api.js";
import { h, replace } from "../lib/dom.js";
import { badge, button, cards, english, failure, field, notice, section, select, table as draw } from "../lib/pieces.js";
import { placeForm } from "../lib/places.js";
import { address, go, note } from "../lib/route.js";
import { followed } from "../lib/run.js";
import { moment, number, t } from "../lib/words.js";
import { promisesOf, verdictWords } from "./publish.js";

export default async function show({ body, table, given, draft, signal }) {
  if (given.release) return showRelease({ body, table, given, draft, signal });
  if (given.from) return showPublished({ body, table, given, signal });
  const [{ releases = [] }, { runs = [] }] = await Promise.all([get("/api/releases", signal), get("/api/runs", signal)]);
  const made = runs.filter((one) => one.kind === "publish" && one.state === "done");
  const opened = releases.length
    ? draw(
        [
          { name: t("releases.release"), head: true, cell: (one) => h("a", { href: address("releases", table, { release: one.release }) }, one.name) },
          { name: t("releases.folder"), cell: (one) => h("code", {}, one.path) },
        ],
        releases,
        { caption: t("releases.opened") },
      )
    : null;
  const here = made.length
    ? draw(
        [
          { name: t("releases.release"), head: true, cell: (one) => h("a", { href: address("releases", one.table, { from: one.run }) }, one.result?.manifest?.method?.name ?? one.run) },
          { name: t("table.name"), cell: (one) => one.name ?? one.table },
          { name: t("verdict"), cell: (one) => { const { words, tone } = verdictWords(one.result?.verdict); return badge(words, tone); } },
        ],
        made,
        { caption: t("releases.here") },
      )
    : null;
  replace(
    body,
    placeForm({
      name: t("releases.path"),
      help: t("releases.path_help"),
      kinds: ["release"],
      action: t("releases.open"),
      choose: async (path) => go("releases", table, { release: (await post("/api/releases", { path })).release }),
    }),
    opened ? section(t("releases.opened"), opened) : null,
    here ? section(t("releases.here"), here) : null,
    section(t("releases.ledger"), h("p", {}, t("releases.ledger_text")), ledger(given, signal)),
  );
}

const back = (table) => h("p", {}, h("a", { href: address("releases", table) }, t("releases.back")));

async function showRelease({ body, table, given, draft, signal }) {
  const found = await get(`/api/releases/${given.release}`, signal);
  const { manifest } = found;
  const original = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const whose = draft
    ? select([["", t("releases.no_original")], ["table", t("releases.this_table", { name: draft.info.name })], ["path", t("releases.by_path")]], "", (value) => (pathField.hidden = value !== "path"))
    : select([["", t("releases.no_original")], ["path", t("releases.by_path")]], "", (value) => (pathField.hidden = value !== "path"));
  const pathField = field(t("releases.original_path"), original, t("releases.original_help"));
  pathField.hidden = true;
  const from = () => {
    if (whose.value === "table") return { table, job: draft.job };
    return whose.value === "path" ? { original: original.value.trim() } : {};
  };
  replace(
    body,
    back(table),
    h("h2", {}, found.name),
    cards([
      { key: "published-rows", name: t("releases.rows"), shown: number(manifest.published_rows), value: manifest.published_rows },
      { key: "suppressed-rows", name: t("measure.suppressed"), shown: number(manifest.suppressed_rows ?? 0), value: manifest.suppressed_rows ?? 0 },
    ]),
    section(t("guarantees.title"), promisesOf(found.promises)),
    section(t("releases.check"), field(t("releases.original"), whose, t("releases.original_text")), pathField, actions(`/api/releases/${given.release}/runs`, from, given, signal)),
    section(t("publish.report"), h("iframe", { title: t("publish.public"), src: `/api/releases/${given.release}/report` })),
    section(t("publish.explanation"), h("ul", { class: "sentences" }, (found.explanation ?? []).map((one) => english(one, "li")))),
    found.series ? section(t("releases.series"), entriesOf(found.series.entries)) : null,
  );
}

async function showPublished({ body, table, given, signal }) {
  const run = await get(`/api/runs/${given.from}`, signal);
  if (run.state !== "done") return void replace(body, back(table), notice("warn", h("p", {}, t(`state.${run.state}`))));
  replace(
    body,
    back(table),
    h("h2", {}, t("releases.published_here")),
    section(t("guarantees.title"), promisesOf(run.result.promises)),
    section(t("releases.check"), actions(`/api/runs/${given.from}/runs`, () => ({}), given, signal)),
    section(t("publish.report"), h("iframe", { title: t("publish.public"), src: `/api/runs/${given.from}/report?public=1` })),
  );
}

/** Audit, attack and measure: a button each, and the page of the result. */
function actions(place, from, given, signal) {
  const results = h("div", { id: "results" });
  const start = (kind) => async () => {
    try {
      const asked = { kind, ...from() };
      if (kind === "attack") asked.seconds = 60;
      const { run } = await post(place, asked);
      note({ run });
      await follow(run);
    } catch (error) {
      if (!signal.aborted) replace(results, failure(error));
    }
  };
  const follow = (run) => followed(run, results, { signal }, (ended) => {
    replace(results, headline(ended), h("iframe", { title: t(`releases.${ended.kind}`), src: `/api/runs/${run}/report` }));
    results.dataset.done = run;
  });
  if (given.run) follow(given.run);
  return [h("div", { class: "row" }, ["audit", "attack", "measure"].map((kind) => button(t(`releases.${kind}`), start(kind), { id: kind }))), results];
}

function headline(run) {
  const { result } = run;
  if (result.ok === undefined || !["audit", "series"].includes(run.kind)) return null;
  const problems = [...(result.problems ?? [])];
  return notice(
    result.ok ? "good" : "bad",
    h("strong", {}, result.ok ? t("releases.ok") : t("releases.not_ok")),
    problems.length ? h("ul", {}, problems.map((one) => english(one, "li"))) : null,
    (result.remarks ?? []).length ? h("ul", {}, result.remarks.map((one) => english(one, "li"))) : null,
  );
}

function entriesOf(entries) {
  if (!entries?.length) return h("p", {}, t("releases.no_entries"));
  return draw(
    [
      { name: t("releases.number"), head: true, number: true, cell: (one) => number(one.number) },
      { name: t("releases.folder"), cell: (one) => h("code", {}, one.folder ?? "") },
      { name: t("guarantees.method"), cell: (one) => one.method ?? "" },
      { name: t("releases.time"), cell: (one) => (one.time ? moment(one.time) : "") },
      { name: t("releases.rows"), number: true, cell: (one) => number(one.published_rows) },
      { name: t("releases.held_back"), number: true, cell: (one) => number(one.held_back) },
    ],
    entries,
    { caption: t("releases.series") },
  );
}

function ledger(given, signal) {
  const said = h("div", { "aria-live": "polite" });
  const results = h("div", {});
  const path = h("input", { type: "text", autocomplete: "off", spellcheck: "false", required: true });
  const key = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const asked = () => ({ path: path.value.trim(), key: key.value.trim() || null });
  const follow = (run) => followed(run, results, { signal }, (ended) =>
    replace(results, headline(ended), h("iframe", { title: t("releases.audit_series"), src: `/api/runs/${run}/report` })));
  const audit = async () => {
    try {
      const { run } = await post("/api/ledgers/runs", { ledger: asked().path, key: asked().key });
      note({ series: run });
      await follow(run);
    } catch (error) {
      if (!signal.aborted) replace(results, failure(error));
    }
  };
  const read = async (event) => {
    event.preventDefault();
    replace(results);
    try {
      const found = await post("/api/ledgers", asked(), signal);
      const problems = found.problems?.length ? notice("bad", h("ul", {}, found.problems.map((one) => english(one, "li")))) : null;
      const more = found.entries.length ? h("div", { class: "row" }, button(t("releases.audit_series"), audit, { id: "audit-series" })) : null;
      replace(said, problems, entriesOf(found.entries), more);
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  };
  if (given.series) follow(given.series);
  return [
    h("form", { id: "ledger", on: { submit: read } },
      field(t("releases.ledger_path"), path),
      field(t("releases.key"), key, t("releases.key_help")),
      h("button", { type: "submit" }, t("releases.read_ledger"))),
    said,
    results,
  ];
}
