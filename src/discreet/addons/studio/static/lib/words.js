// The strings of the page, one file a language, all in /strings. A missing string shows its key.

export const LANGUAGES = { en: "English", de: "Deutsch", tr: "Türkçe" };
const KEPT = "discreet-language";

let words = {};
let language = "en";
let plurals = new Intl.PluralRules("en");

/** The language of the page. */
export function current() {
  return language;
}

/** Return the language that was chosen before, else the browser's, else English. */
export function preferred() {
  const wanted = [localStorage.getItem(KEPT), ...navigator.languages.map((one) => one.slice(0, 2))];
  return wanted.find((one) => one in LANGUAGES) ?? "en";
}

/** Load the strings of a language and remember the choice. */
export async function speak(chosen, load) {
  words = await load(chosen);
  language = chosen;
  plurals = new Intl.PluralRules(chosen);
  localStorage.setItem(KEPT, chosen);
  document.documentElement.lang = chosen;
}

/** Return a string by its key; `{name}` is filled from `given`, and `n` chooses singular or plural. */
export function t(key, given = {}) {
  let found = words[key];
  if (found === undefined) return key;
  if (typeof found === "object") found = found[plurals.select(given.n ?? 0)] ?? found.other;
  return found.replace(/\{(\w+)\}/g, (whole, name) => (name in given ? shown(given[name]) : whole));
}

/** Whether a string exists. */
export function has(key) {
  return key in words;
}

function shown(value) {
  return typeof value === "number" ? number(value) : String(value);
}

/** A number in the language of the page. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const places = Number.isInteger(value) ? 0 : Math.abs(value) >= 100 ? 0 : digits;
  return new Intl.NumberFormat(language, { maximumFractionDigits: places }).format(value);
}

/** Figures with their names; one that JSON lacks is infinite. */
export function figures(given) {
  const shown = Object.entries(given).map(([name, value]) => `${name} = ${value === null ? "∞" : typeof value === "number" ? number(value) : [value].flat().join(", ")}`);
  return shown.join("; ") || "–";
}

/** A share in percent; small ones keep a digit, and none but 0 shows as 0. */
export function percent(share) {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  const digits = share > 0 && share < 0.1 ? 1 : share > 0.999 && share < 1 ? 2 : 1;
  const least = 10 ** -(digits + 2);
  const style = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: digits });
  return share > 0 && share < least ? `< ${style.format(least)}` : style.format(share);
}

/** A size of a file. */
export function bytes(size) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const step = size < 1 ? 0 : Math.min(3, Math.floor(Math.log10(size) / 3));
  const options = { style: "unit", unit: units[step], maximumFractionDigits: step ? 1 : 0 };
  return new Intl.NumberFormat(language, options).format(size / 1000 ** step);
}

/** A moment. */
export function moment(text) {
  const found = new Date(text);
  if (Number.isNaN(found.getTime())) return String(text);
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(found);
}
