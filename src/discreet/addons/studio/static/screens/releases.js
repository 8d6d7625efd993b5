// All releases of this account and of opened folders; each with its verdict, report, signature and checks.

import { get, post } from "../lib/api.js";
import { h, replace } from "../lib/dom.js";
import { badge, button, english, failure, field, folded, notice, section, select, table as draw } from "../lib/pieces.js";
import { placeForm } from "../lib/places.js";
import { attackerName, headline, showRelease, verdictWords } from "../lib/release.js";
import { address, go, note } from "../lib/route.js";
import { followed } from "../lib/run.js";
import { moment, number, t } from "../lib/words.js";

export default async function show({ body, table, given, draft, signal }) {
  if (given.release) return showOne({ body, table, given, draft, signal });
  const { releases } = await get("/api/releases", signal);
  const columns = [
    { name: t("releases.time"), head: true, cell: (one) => h("a", { href: address("releases", table, { release: one.release }) }, moment(one.made)) },
    { name: t("table.name"), cell: (one) => [one.name, one.path ? h("span", { class: "reason" }, one.path) : null] },
    { name: t("verdict"), cell: (one) => {
      if (one.gone) return badge(t("releases.gone"), "warn");
      return [verdictBadge(one), one.accepted_risk ? h("span", { class: "reason" }, t("publish.accepted"), ` ${one.accepted_risk}`) : null];
    } },
    { name: t("publish.guarantees"), cell: (one) => (one.guarantees ?? []).map((line) => h("div", {}, line)) },
    { name: t("publish.recipient"), cell: (one) => one.recipient ?? "" },
    { name: t("releases.signed"), cell: (one) => (one.signed ?? []).map((line) => h("div", {}, `${line.name}, ${moment(line.time)}`)) },
  ];
  replace(
    body,
    releases.length ? h("div", { id: "releases" }, draw(columns, releases, { caption: t("releases.title") })) : notice("", h("p", {}, t("releases.none"))),
    section(t("releases.another"), placeForm({
      name: t("releases.path"),
      help: t("releases.path_help"),
      kinds: ["release"],
      action: t("releases.open"),
      choose: async (path) => go("releases", table, { release: (await post("/api/releases", { path })).release }),
    })),
    section(t("releases.ledger"), h("p", {}, t("releases.ledger_text")), ledger(given, signal)),
  );
}

async function showOne({ body, table, given, draft, signal }) {
  const found = await get(`/api/releases/${given.release}`, signal);
  const place = h("div", { id: "results" });
  replace(
    body,
    h("p", {}, h("a", { href: address("releases", table) }, t("releases.back"))),
    h("p", { class: "soft" }, found.name, " · ", moment(found.made), " · ", t("releases.rows"), " ", h("span", { data: { figure: "published-rows", value: String(found.manifest.published_rows) } }, number(found.manifest.published_rows))),
    place,
  );
  await showRelease(found, place, { signal, given, original: () => original(found, table, draft), removed: () => go("releases", table) });
}

/** Which original a check compares with. */
function original(found, table, draft) {
  const known = found.has.includes("job.yaml");
  const path = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const pathField = field(t("releases.original_path"), path, t("releases.original_help"));
  pathField.hidden = true;
  const options = [
    ...(known ? [["own", t("releases.own_original")]] : []),
    ["", t("releases.no_original")],
    ...(draft ? [["table", t("releases.this_table", { name: draft.info.name })]] : []),
    ["path", t("releases.by_path")],
  ];
  const whose = select(options, options[0][0], (value) => (pathField.hidden = value !== "path"));
  const given = async () => {
    if (whose.value === "table") return { table, ...(await draft.shown()) };
    if (whose.value === "path") return { original: path.value.trim() };
    return whose.value === "" ? { files_only: true } : {};
  };
  return { form: folded(t("releases.original"), field(t("releases.original"), whose, t("releases.original_text")), pathField), given };
}

function verdictBadge({ verdict }) {
  const { words, tone } = verdictWords(verdict?.verdict ?? verdict);
  return badge(words, tone);
}

function entriesOf(entries) {
  if (!entries?.length) return h("p", {}, t("releases.no_entries"));
  return draw(
    [
      { name: t("releases.number"), head: true, number: true, cell: (one) => number(one.number) },
      { name: t("releases.folder"), cell: (one) => h("code", {}, one.folder ?? "") },
      { name: t("guarantees.method"), cell: (one) => one.method ?? "" },
      { name: t("verdict"), cell: (one) => (one.verdict ? [verdictBadge(one), h("span", { class: "reason" }, one.verdict.attackers.map(attackerName).join(", "))] : "") },
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
