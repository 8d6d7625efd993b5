// Inputs for the parameters of a requirement or a method, from its JSON Schema.

import { h } from "./dom.js";
import { folded, select } from "./pieces.js";
import { has, t } from "./words.js";

const HIDDEN = new Set(["non_sensitive"]); // follows from the attribute

/** Return the one plain type of a property, or null where it takes several or nested values. */
function plainType(property) {
  const kinds = (property.anyOf ?? [property]).filter((one) => one.type !== "null");
  if (kinds.some((one) => one.enum)) return kinds.length === 1 ? "enum" : null;
  const types = new Set(kinds.map((one) => one.type));
  if (types.size !== 1) return null;
  const [type] = types;
  return ["integer", "number", "string", "boolean"].includes(type) ? type : null;
}

const bounds = (property, key) => property[key] ?? (property.anyOf ?? []).map((one) => one[key]).find((one) => one !== undefined);

/** Return a way to draw the input of one parameter. `change(name, value)` is called with undefined for the default. */
function drawer(schema, given, change, { sensitive = [], of = "" } = {}) {
  return (name, label = null) => {
    const property = schema.properties[name];
    const shared = { data: { parameter: `${of}.${name}` }, title: property.description, "aria-label": label };
    const needed = (schema.required ?? []).includes(name);
    return control(name, property, given[name] ?? property.default, change, { shared, needed, sensitive });
  };
}

const labelOf = (name) => (has(`parameter.${name}`) ? t(`parameter.${name}`) : name);
const shownOf = (schema) => Object.keys(schema.properties ?? {}).filter((name) => !HIDDEN.has(name));

/** Draw an input for each parameter; those that are seldom set are behind a click. */
export function inputs(schema, given, change, options = {}, apart = new Set()) {
  const draw = drawer(schema, given, change, options);
  const usual = (name) => (schema.required ?? []).includes(name) || name in given;
  const all = shownOf(schema).filter((name) => !apart.has(name));
  const drawn = (name) => h("label", {}, labelOf(name), draw(name));
  const more = all.filter((name) => !usual(name));
  return [all.filter(usual).map(drawn), more.length ? folded(t("parameters.more"), more.map(drawn)) : null];
}

/** Draw words with inputs in the place of their gaps, and the other parameters below them. */
export function worded(words, schema, given, change, options = {}) {
  const draw = drawer(schema, given, change, options);
  const known = new Set(Object.keys(schema.properties ?? {}));
  const parts = words.split(/\{(\w+)\}/);
  const gaps = new Set(parts.filter((one, place) => place % 2 && known.has(one)));
  const line = parts.map((one, place) => (place % 2 ? (gaps.has(one) ? draw(one, labelOf(one)) : one) : one));
  const others = inputs(schema, given, change, options, gaps);
  return [h("p", { class: "words" }, line), others.flat().some(Boolean) ? h("div", { class: "inputs" }, others) : null];
}

/** Words with the names of their gaps, to choose from. */
export function plainWords(words) {
  return words.replace(/\{(\w+)\}/g, (_, name) => (name === "attribute" ? t("guarantees.a_sensitive") : labelOf(name)));
}

function control(name, property, value, change, { shared, needed, sensitive }) {
  if (name === "attribute") {
    const now = Array.isArray(value) ? JSON.stringify(value) : (value ?? "");
    const options = [["", t("guarantees.all_sensitive")], ...sensitive.map((one) => [one, one])];
    if (now && !options.some(([one]) => one === now)) options.push([now, [value].flat().join(", ")]);
    return select(options, now, (chosen) => change(name, chosen || undefined), shared);
  }
  const type = plainType(property);
  if (type === "enum") {
    const options = bounds(property, "enum").map((one) => [String(one), String(one)]);
    if (!needed && (value === null || value === undefined)) options.unshift(["", t("default")]);
    return select(options, String(value ?? ""), (chosen) => change(name, chosen || undefined), shared);
  }
  if (type === "boolean") {
    return h("input", { ...shared, type: "checkbox", checked: Boolean(value), on: { change: (event) => change(name, event.target.checked) } });
  }
  if (type === "integer" || type === "number") {
    const least = bounds(property, "minimum") ?? bounds(property, "exclusiveMinimum");
    const most = bounds(property, "maximum") ?? bounds(property, "exclusiveMaximum");
    const number = (text) => (text === "" ? undefined : Number(text));
    return h("input", {
      ...shared,
      type: "number",
      step: type === "integer" ? 1 : "any",
      min: least,
      max: most,
      required: needed,
      value: value ?? "",
      on: { change: (event) => event.target.reportValidity() && change(name, number(event.target.value)) },
    });
  }
  if (type === "string") {
    return h("input", { ...shared, type: "text", value: value ?? "", on: { change: (event) => change(name, event.target.value || undefined) } });
  }
  // A list or a mapping: as JSON, as the job file would hold it.
  const box = h("input", {
    ...shared,
    type: "text",
    placeholder: t("default"),
    value: value === null || value === undefined ? "" : JSON.stringify(value),
    on: {
      change: () => {
        try {
          box.setCustomValidity("");
          change(name, box.value.trim() === "" ? undefined : read(box.value));
        } catch {
          box.setCustomValidity(t("guarantees.not_json"));
          box.reportValidity();
        }
      },
    },
  });
  return box;
}

/** Read JSON, or a word as text. */
function read(text) {
  if (/^\s*[[{"\d-]|^(true|false|null)$/.test(text)) return JSON.parse(text);
  return text.trim();
}
