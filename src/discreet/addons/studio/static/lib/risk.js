// The risk of the table as its roles would publish it: a line that is always seen, and its details.

import { h } from "./dom.js";
import { button, cards } from "./pieces.js";
import { bars, figure } from "./plots.js";
import { number, percent, t } from "./words.js";

/** The risk in one line: unchanged columns first, since nothing coarsens them. */
export function riskLine(standing, draft, limit, confirm) {
  const { unchanged, risk, problems } = standing;
  const units = t(standing.persons.count < standing.persons.rows ? "persons.few" : "rows.few");
  const tone = unchanged.share > limit ? "bad" : unchanged.share > 0 ? "warn" : "good";
  const open = unchanged.columns
    ? unchanged.share > 0
      ? t("roles.bar_unchanged", { n: unchanged.columns, share: percent(unchanged.share), worst: unchanged.worst, alone: percent(unchanged.worst_share), units })
      : t("roles.bar_unchanged_none", { n: unchanged.columns })
    : t("roles.bar_no_unchanged");
  const quasi = draft.withRole("quasi-identifier").length;
  const guesses = draft.guesses;
  return [
    problems.length ? h("details", { class: "problems" }, h("summary", { class: "bad" }, t("job.problems", { n: problems.length })), h("ul", {}, problems.map((one) => h("li", { lang: "en" }, one)))) : null,
    h("span", { class: `dot ${tone}`, data: { figure: "unchanged", value: String(unchanged.share) } }, open),
    risk
      ? h("span", { class: "dot", data: { figure: "unique", value: String(risk.unique_share) } }, t("roles.bar_quasi", { n: quasi, share: percent(risk.unique_share), units }))
      : h("span", { class: "dot" }, t("roles.none_quasi")),
    h("span", { class: "dot" }, t("roles.bar_sensitive", { n: draft.withRole("sensitive").length })),
    guesses.length
      ? h("span", { class: "dot warn guesses", title: guesses.join(", ") }, t("roles.bar_guesses", { n: guesses.length }), " ", button(t("roles.confirm_all"), () => confirm(guesses), { class: "plain", id: "confirm-all" }))
      : null,
  ];
}

/** What an attacker who knows some quasi-identifiers finds in the table as it is. */
export function riskInDetail(standing, draft, unknown, know) {
  const found = standing.risk;
  const people = standing.persons.count < standing.persons.rows;
  const boxes = draft.withRole("quasi-identifier").map((name) => {
    const place = draft.names.indexOf(name);
    const box = h("input", { type: "checkbox", checked: !unknown.has(place), on: { change: () => know(place, box.checked) } });
    return h("label", { class: "check" }, box, name);
  });
  const attacker = h("fieldset", { id: "attacker" }, h("legend", {}, t("roles.attacker")), h("p", { class: "help" }, t("roles.attacker_help")), h("div", { class: "boxes" }, boxes.length ? boxes : h("p", {}, t("roles.none_quasi"))));
  if (!found) return [attacker, h("p", {}, t("roles.knows_nothing"))];
  const without = [...found.without].sort((a, b) => a.unique_share - b.unique_share);
  const rows = found.sizes.map((one) => ({
    label: one.from === one.to ? number(one.from) : one.to ? `${number(one.from)}–${number(one.to)}` : `≥ ${number(one.from)}`,
    share: one.share,
    rows: one.rows,
  }));
  return [
    attacker,
    cards([
      { key: "average", name: t("roles.average"), shown: percent(found.average_risk), value: found.average_risk },
      { key: "highest", name: t("roles.highest"), shown: percent(found.highest_risk), value: found.highest_risk },
      { key: "classes", name: t("roles.classes"), shown: number(found.classes), value: found.classes },
    ]),
    without.length
      ? [h("h3", {}, t("roles.without")), h("ul", { class: "sentences" }, without.slice(0, 4).map((one) => h("li", {}, t("roles.without_one", { column: one.column, share: percent(one.unique_share) }))))]
      : null,
    figure({
      name: "sizes",
      title: t("roles.sizes"),
      note: t("roles.sizes_note"),
      drawing: bars({ title: t("roles.sizes"), rows }),
      columns: [
        { name: t("roles.size"), head: true, cell: (one) => one.label },
        { name: people ? t("persons") : t("rows"), number: true, cell: (one) => number(one.rows) },
        { name: t("share"), number: true, cell: (one) => percent(one.share) },
      ],
      rows,
    }),
  ];
}
