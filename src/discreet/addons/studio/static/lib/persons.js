// The question what a person is, with the evidence that the table gives.

import { h } from "./dom.js";
import { field, folded, notice, select } from "./pieces.js";
import { number, t } from "./words.js";

/** Ask what a person is; `facts` are of the key that the job has now. */
export function personQuestion(draft, facts, edit) {
  const { person, unit } = draft.job;
  const key = draft.person.join(", ");
  const [tone, answer] = answered(facts, key, unit);
  const column = draft.person.length === 1 ? draft.person[0] : key;
  const rows = person?.rows ?? "one";
  const mode = typeof rows === "string" ? rows : "count";
  const options = [["", t("person.none")], ...draft.names.filter((name) => draft.role(name) === "identifier" || name === column).map((name) => [name, name])];
  if (draft.person.length > 1) options.push([column, column]);
  const modes = ["one", "collapse", "keep"].map((one) => [one, t(`person.${one}`)]);
  if (mode === "count") modes.push(["count", t("person.count")]);
  const set = (changes) => edit({ person: { ...(person ?? { rows: "one" }), ...changes } });
  const choice = select(options, column, (name) => (name ? set({ column: name }) : edit({ person: null })));
  const unitBox = h("input", { type: "checkbox", checked: unit === "rows", on: { change: (event) => edit({ unit: event.target.checked ? "rows" : null }) } });
  const form = folded(t("person.change"),
    h("div", { class: "inline" },
      field(t("person.column"), choice, t("person.help"), "person"),
      person ? field(t("person.rows"), select(modes, mode, (value) => set({ rows: value })), null, "person-rows") : null,
      person ? null : h("label", { class: "check" }, unitBox, t("person.unit"))));
  form.open = tone === "warn";
  form.classList.add("change");
  return notice(tone, h("p", { class: "question" }, h("strong", {}, t("person.title")), " ", h("span", { id: "persons-answer", data: { persons: String(facts.count) } }, answer)), form);
}

function answered(facts, key, unit) {
  if (key && facts.count < facts.rows) return ["", t("person.several", { key, n: facts.count, rows: facts.rows, most: facts.most })];
  if (key) return ["good", t("person.own", { key })];
  if (unit === "rows") return ["", t("person.unit_rows")];
  if (facts.unique.length) return ["good", t("person.unique", { key: facts.unique.slice(0, 2).join(", "), rows: number(facts.rows) })];
  return ["warn", t("person.unknown")];
}
