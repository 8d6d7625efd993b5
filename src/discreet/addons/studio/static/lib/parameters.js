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

/** Draw an input for each parameter; those that are seldom set are behind a click. `change(name, value)` is called with undefined for the default. */
export function inputs(schema, given, change, { sensitive = [], of = "" } = {}) {
  const all = Object.entries(schema.properties ?? {}).filter(([name]) => !HIDDEN.has(name));
  const usual = (name) => (schema.required ?? []).includes(name) || name === "attribute" || name in given;
  const draw = ([name, property]) => {
    const value = given[name] ?? property.default;
    const label = has(`parameter.${name}`) ? t(`parameter.${name}`) : name;
    const shared = { data: { parameter: `${of}.${name}` }, title: property.description };
    const needed = (schema.required ?? []).includes(name);
    return h("label", {}, label, control(name, property, value, change, { shared, needed, sensitive }));
  };
  const [shown, more] = [all.filter(([name]) => usual(name)), all.filter(([name]) => !usual(name))];
  return [shown.map(draw), more.length ? folded(t("parameters.more"), more.map(draw)) : null];
}

function control(name, property, value, change, { shared, needed, sensitive }) {
  if (name === "attribute") {
    const now = Array.isArray(value) ? JSON.stringify(value) : (value ?? "");
    const options = [["", t("guarantees.all_sensitive")], ...sensitive.map((one) => [one, one])];
    if (now && !options.some(([one]) => one === now)) options.push([now, now]);
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
