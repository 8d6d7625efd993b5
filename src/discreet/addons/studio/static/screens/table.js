// Open a table, and look at it.

import { forget, get, post, remove } from "../lib/api.js";
import { h, replace } from "../lib/dom.js";
import { badge, button, cards, english, failure, field, folded, notice, section, table as draw, waiting } from "../lib/pieces.js";
import { dropZone, placeForm } from "../lib/places.js";
import { address, go } from "../lib/route.js";
import { number, percent, t } from "../lib/words.js";

export default async function show({ body, table, draft, signal }) {
  if (draft) looked(body, table, draft);
  else await opening(body, signal);
}

async function opening(body, signal) {
  const session = await get("/api/session", signal);
  const { tables } = await get("/api/tables", signal);
  const said = h("div", { "aria-live": "polite" });
  const opened = (found) => go("table", found.table);
  const chosen = {};
  const option = (name) =>
    field(t(`option.${name}`), h("input", { type: "text", autocomplete: "off", spellcheck: "false", on: { change: (event) => (chosen[name] = event.target.value) } }), t(`option.${name}.text`));
  const options = () => Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== ""));
  const drop = dropZone({ words: t("table.drop"), limit: session.upload_limit, options, said, signal, opened });
  const demo = button(t("table.demo"), async () => {
    replace(said, waiting());
    try {
      opened(await post("/api/tables", { demo: true }, signal));
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  }, { id: "demo" });
  const byPath = placeForm({
    name: t("table.path"),
    help: t("table.path_help"),
    kinds: ["table", "job"],
    action: t("table.open"),
    choose: async (path) => opened(await post("/api/tables", { path, options: options() }, signal)),
  });
  const known = tables.length
    ? section(
        t("table.open_ones"),
        draw(
          [
            { name: t("table.name"), head: true, cell: (one) => h("a", { href: address("table", one.table) }, one.name) },
            { name: t("rows"), number: true, cell: (one) => number(one.rows) },
            { name: t("columns"), number: true, cell: (one) => number(one.columns) },
          ],
          tables,
          { caption: t("table.open_ones") },
        ),
      )
    : null;
  replace(
    body,
    drop,
    said,
    folded(t("table.options"), h("div", { class: "opening" }, ["encoding", "delimiter", "decimal", "sheet"].map(option))),
    h(
      "div",
      { class: "opening" },
      h("div", {}, byPath),
      h("div", {}, h("p", {}, h("strong", {}, t("table.try"))), h("p", {}, t("table.demo_text")), demo),
    ),
    known,
  );
}

function looked(body, table, draft) {
  const { info } = draft;
  const missing = info.columns.reduce((sum, one) => sum + one.missing, 0);
  const close = button(t("table.close"), async () => {
    await remove(`/api/tables/${table}`);
    forget(`/api/tables/${table}`);
    go("table");
  }, { id: "close-table" });
  const cell = (column, text) =>
    text === null ? h("span", { class: "soft" }, t("missing")) : column.masked ? h("span", { class: "soft" }, text) : text;
  const columns = [
    { name: t("column"), head: true, cell: (one) => one.name },
    { name: t("type"), cell: (one) => t(`type.${one.type}`) },
    { name: t("roles.proposed"), cell: (one) => badge(t(`role.${one.role}`)) },
    { name: t("table.missing"), number: true, cell: (one) => (one.missing ? `${number(one.missing)} (${percent(one.missing / Math.max(1, info.rows))})` : "0") },
    { name: t("table.distinct"), number: true, cell: (one) => number(one.distinct) },
    { name: t("table.top"), className: "top", cell: (one) => topValues(one) },
  ];
  const rows = info.columns.map((column, place) => ({ name: column.name, cell: (row) => cell(column, row[place]) }));
  replace(
    body,
    cards([
      { key: "rows", name: t("rows"), shown: number(info.rows), value: info.rows },
      { key: "columns", name: t("columns"), shown: number(info.columns.length), value: info.columns.length },
      { key: "missing", name: t("table.missing"), shown: number(missing), value: missing },
    ]),
    info.warnings?.length ? notice("warn", h("ul", {}, info.warnings.map((one) => english(one, "li")))) : null,
    h("p", { class: "soft" }, info.uploaded ? t("table.kept") : t("table.in_place"), info.path ? [" ", h("code", {}, info.path)] : null),
    section(t("columns"), draw(columns, info.columns, { caption: t("columns") })),
    section(t("table.first"), h("p", {}, t("table.masked")), draw(rows, info.first, { caption: t("table.first"), className: "rows" })),
    h("div", { class: "footbar" },
      h("span", { class: "ways" }, h("a", { class: "button", href: "#/table" }, t("table.other")), close),
      h("a", { class: "button main", id: "next", href: address("roles", table) }, t("next.roles"))),
  );
}

function topValues(column) {
  if (column.masked) return h("span", { class: "soft" }, t("table.hidden"));
  const shown = (column.top ?? []).slice(0, 3);
  return shown.map(([value, count], place) => [place ? ", " : "", value ?? t("missing"), h("span", { class: "soft" }, ` ${number(count)}`)]);
}
