// What several screens are made of.

import { h, newId } from "./dom.js";
import { t } from "./words.js";

/** Text of the library, which is English in every language of the page. */
export function english(words, tag = "span", props = {}) {
  return h(tag, { ...props, lang: "en" }, words ?? "");
}

/** A table; a column is {name, cell(row), number, head, className}. */
export function table(columns, rows, { caption, className = "", row = () => ({}) } = {}) {
  const top = columns.map((one) => h("th", { scope: "col", class: one.number ? "number" : null }, one.name));
  const body = rows.map((given, place) =>
    h(
      "tr",
      row(given, place),
      columns.map((one) =>
        h(one.head ? "th" : "td", { class: one.number ? "number" : (one.className ?? null), scope: one.head ? "row" : null }, one.cell(given, place)),
      ),
    ),
  );
  const label = caption ? h("caption", { class: "unseen" }, caption) : null;
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption ?? t("table") },
    h("table", { class: className }, label, h("thead", {}, h("tr", {}, top)), h("tbody", {}, body)),
  );
}

/** A table of which the first rows are shown, and the others when asked for. */
export function shortTable(columns, rows, few, options) {
  const rest = rows.slice(few);
  return [table(columns, rows.slice(0, few), options), rest.length ? folded(t("publish.more_listed", { n: rest.length }), table(columns, rest, options)) : null];
}

/** Headline figures; one is {key, name, shown, value, note, tone}. */
export function cards(shown) {
  return h(
    "dl",
    { class: "cards" },
    shown.map((one) =>
      h(
        "div",
        { class: `card ${one.tone ?? ""}`, data: { figure: one.key, value: String(one.value ?? one.shown) } },
        h("dt", {}, one.name),
        h("dd", { class: "value" }, one.shown),
        one.note ? h("dd", { class: "note" }, one.note) : null,
      ),
    ),
  );
}

export function badge(words, tone = "", props = {}) {
  return h("span", { class: `badge ${tone}`, ...props }, words);
}

/** A message in a box. */
export function notice(tone, ...contents) {
  return h("div", { class: `notice ${tone}`, role: tone === "bad" ? "alert" : null }, contents);
}

/** An error of the server as a message: all its problems. */
export function failure(error) {
  const problems = error.problems?.length > 1 ? h("ul", {}, error.problems.map((one) => english(one, "li"))) : null;
  return notice("bad", h("strong", {}, t("error.title")), problems ?? english(error.message, "p"));
}

/** A labelled field. */
export function field(name, control, help, id = newId("field")) {
  const said = help ? newId("help") : null;
  control.id = id;
  if (said) control.setAttribute("aria-describedby", said);
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, name),
    control,
    help ? h("span", { class: "help", id: said }, help) : null,
  );
}

/** A choice; options are [value, shown]. */
export function select(options, value, change, props = {}) {
  return h(
    "select",
    { ...props, value, on: { change: (event) => change(event.target.value) } },
    options.map(([one, shown]) => h("option", { value: one, selected: one === value }, shown)),
  );
}

export function button(words, action, props = {}) {
  return h("button", { type: "button", ...props, on: { click: action } }, words);
}

/** Something that is shown when asked for. */
export function folded(title, ...contents) {
  return h("details", {}, h("summary", {}, title), contents);
}

/** A place that is being filled. */
export function waiting(words = t("loading")) {
  return h("p", { class: "waiting", role: "status" }, words);
}

/** A section with a heading. */
export function section(title, ...contents) {
  const id = newId("part");
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), contents);
}

/** Save text as a file. */
export function saveText(name, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/yaml" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
