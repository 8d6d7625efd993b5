// The same people before and after, and the distribution of each column before and after.

import { h } from "./dom.js";
import { folded, section, table as draw } from "./pieces.js";
import { figure, legend, pairedBars } from "./plots.js";
import { number, percent, t } from "./words.js";

const FIRST = 4; // columns that are shown at once
const MOST = 20; // values of a column that are drawn; all are in the table below

const shown = (cell) => (cell === null || cell === undefined ? h("span", { class: "soft" }, t("missing")) : String(cell));

/** Draw what a release does to the table. */
export function previewed(found) {
  return [
    section(t("preview.rows"), h("p", {}, t("preview.rows_text")), found.tables.map(tableOf)),
    section(t("preview.columns"), h("p", {}, t("preview.columns_text")), h("div", { class: "charts" }, found.distributions.slice(0, FIRST).map(distribution)),
      found.distributions.length > FIRST ? folded(t("publish.more_listed", { n: found.distributions.length - FIRST }), h("div", { class: "charts" }, found.distributions.slice(FIRST).map(distribution))) : null),
  ];
}

function tableOf(one) {
  const title = t("preview.table", { name: one.name });
  if (!one.rows.length) {
    const columns = one.columns.map((name, place) => ({ name, cell: (row) => shown(row[place]) }));
    return [h("h3", {}, title), h("p", { class: "soft" }, t("preview.no_rows")), draw(columns, one.sample ?? [], { caption: title, className: "rows" })];
  }
  const lines = one.rows.flatMap((row) => [
    { ...row, cells: row.before, when: t("preview.before"), changes: [] },
    { ...row, cells: row.after, when: t("preview.after"), changes: row.after?.map((cell, place) => cell !== row.before[place]) ?? [] },
  ]);
  const columns = [
    { name: t("row"), number: true, cell: (line) => number(line.row) },
    { name: "", cell: (line) => h("span", { class: "soft" }, line.when) },
    ...one.columns.map((name, place) => ({
      name,
      cell: (line) => (line.cells ? h("span", { class: line.changes[place] ? "changed" : "" }, shown(line.cells[place])) : h("span", { class: "soft" }, t("preview.suppressed"))),
    })),
  ];
  return [h("h3", {}, title), draw(columns, lines, { caption: title, className: "rows pairs" })];
}

function distribution(one) {
  const total = (counts) => counts.reduce((sum, count) => sum + count, 0) || 1;
  const [before, after] = [total(one.before), one.after ? total(one.after) : 1];
  const rows = one.labels.map((label, place) => ({
    label: label ?? t("missing"),
    before: one.before[place] / before,
    after: one.after ? one.after[place] / after : null,
  }));
  const moved = one.after ? rows.reduce((sum, row) => sum + Math.abs(row.before - row.after), 0) / 2 : null;
  const title = t("preview.column", { name: one.column });
  return figure({
    name: `distribution-${one.column}`,
    title,
    note: moved === null ? t("preview.not_published") : t("preview.moved", { share: percent(moved) }),
    key: legend([t("preview.before"), t("preview.after")], [5, 0]),
    drawing: pairedBars({ title, rows: rows.slice(0, MOST) }),
    columns: [
      { name: t("preview.value"), head: true, cell: (row) => row.label },
      { name: t("preview.before"), number: true, cell: (row) => percent(row.before) },
      { name: t("preview.after"), number: true, cell: (row) => (row.after === null ? "–" : percent(row.after)) },
    ],
    rows,
  });
}
