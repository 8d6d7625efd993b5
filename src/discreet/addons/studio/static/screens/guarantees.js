// What the release guarantees: who receives it and attacks it, what must hold, and what can hold.

import { get, once, post } from "../lib/api.js";
import { h, newId, paused, replace } from "../lib/dom.js";
import { onChange } from "../lib/draft.js";
import { badge, button, english, failure, field, folded, notice, section, select, shortTable, waiting } from "../lib/pieces.js";
import { inputs, plainWords, worded } from "../lib/parameters.js";
import { address } from "../lib/route.js";
import { figures, has, number, percent, t } from "../lib/words.js";

const AUDIENCES = ["research", "public", "internal"];
const RULES = ["cms-11", "hipaa-safe-harbor"];
const GROUPS = {
  alike: ["k-anonymity", "lkc-privacy", "km-anonymity"],
  values: ["distinct-l-diversity", "p-diversity", "entropy-l-diversity", "recursive-cl-diversity", "multi-attribute-l-diversity", "m-diversity",
    "sa-diversity", "conditional-l-diversity", "pd-recursive-cl-diversity", "npd-recursive-cl-diversity", "alpha-k-anonymity"],
  near: ["t-closeness", "beta-likeness", "delta-disclosure"],
  population: ["k-map", "population-risk", "delta-presence"],
  terms: ["qs-cl-diversity", "qs-t-closeness"],
};
const USUAL = new Set(["k-anonymity", "distinct-l-diversity", "p-diversity", "entropy-l-diversity", "t-closeness"]);
const SERIES = new Set(["m-invariance", "rho-different", "m-invariance-in-series", "rho-different-in-series", "bcf-anonymity-in-series"]);
const FEW = 6; // sensitive columns that are shown at once
const LIKELY = 0.5; // share of one value above which a belief in it is more likely than not

/** The name and parameters of what a job writes as `name` or `{name: {…}}`. */
export function named(written) {
  if (typeof written === "string") return [written, {}];
  const [name, parameters] = Object.entries(written ?? {})[0] ?? ["", {}];
  return [name, parameters ?? {}];
}

const wordsOf = (key, choice) => (has(key) ? t(key) : (choice.text ?? ""));

export default async function show({ body, table, draft, signal }) {
  const choices = await once("/api/choices");
  const presets = Object.fromEntries(choices.presets.map((one) => [one.name, one]));
  const presetPlace = h("div", {});
  const attackerPlace = h("div", { id: "attackers" });
  const requirementPlace = h("div", { id: "requirements" });
  const methodPlace = h("div", {});
  const valuePlace = h("div", { id: "values" }, waiting());
  const said = h("div", { "aria-live": "polite" });
  const options = (of) => ({ sensitive: draft.withRole("sensitive"), of });
  let feasible = null; // what the server said of the job that is shown

  // --- presets
  const choose = async (name) => {
    try {
      const found = await get(`/api/tables/${table}/proposal?preset=${encodeURIComponent(name)}`, signal);
      if (name === "hipaa-safe-harbor") return await draft.use(found.job);
      await draft.change((job) => {
        for (const key of ["requirements", "attackers", "verify"]) {
          if (found.job[key] === undefined) delete job[key];
          else job[key] = structuredClone(found.job[key]);
        }
        if (!["full-domain", "mondrian", "local-recoding"].includes(named(job.method)[0])) job.method = structuredClone(found.job.method);
      });
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  };
  const group = newId("preset");
  const showPresets = () => {
    const now = presetOf(draft.job, presets);
    const card = (name) =>
      h("label", { class: "preset" },
        h("b", {}, h("input", { type: "radio", name: group, value: name, checked: name === now, data: { preset: name }, on: { change: () => choose(name) } }), t(`preset.${name}`)),
        h("span", {}, t(`preset.${name}.text`)),
        presets[name]?.k ? h("ul", {}, facts(presets[name], choices.attackers_of).map((one) => h("li", {}, one))) : null,
        h("span", { class: "why" }, t(`preset.${name}.why`)));
    const rules = folded(t("guarantees.rules"), h("div", { class: "presets" }, RULES.map(card)));
    rules.open = RULES.includes(now);
    replace(presetPlace, h("fieldset", { class: "plain" }, h("legend", { class: "unseen" }, t("guarantees.presets")), h("div", { class: "presets" }, AUDIENCES.map(card)), rules));
  };

  // --- attackers
  const showAttackers = () => {
    const written = draft.job.attackers ?? "research";
    if (typeof written === "object" && !Array.isArray(written)) {
      return void replace(attackerPlace, h("p", {}, t("guarantees.declared", { names: Object.keys(written).join(", ") })));
    }
    const now = new Set(typeof written === "string" ? choices.attackers_of[written] : written);
    const box = (name) => {
      const input = h("input", { type: "checkbox", checked: now.has(name), data: { attacker: name }, on: { change: () => set(name, input.checked) } });
      return h("label", { class: "check" }, input, h("span", {}, h("strong", {}, t(`attacker.${name}`)), ` ${t(`attacker.${name}.knows`)}`));
    };
    const set = (name, on) => {
      on ? now.add(name) : now.delete(name);
      if (!now.size) now.add("acquaintance");
      const listed = choices.attackers.filter((one) => now.has(one));
      const known = AUDIENCES.find((one) => String(choices.attackers_of[one]) === String(listed));
      draft.change((job) => (job.attackers = known ?? listed));
    };
    const open = attackerPlace.querySelector("details")?.open;
    const list = folded(t("guarantees.change_attackers"), choices.attackers.map(box));
    list.open = Boolean(open);
    const names = choices.attackers.filter((one) => now.has(one)).map((one) => t(`attacker.${one}`)).join(", ");
    replace(attackerPlace, h("p", {}, t("guarantees.attackers", { names })), now.has("archivist") && !draft.job.ledger ? h("p", { class: "help" }, t("guarantees.archivist")) : null, list);
  };

  // --- requirements, each with what can hold
  const showRequirements = () => {
    const rows = (draft.job.requirements ?? []).map((written, place) => {
      const [name, parameters] = named(written);
      const choice = choices.requirements.find((one) => one.name === name) ?? { name, parameters: {} };
      const set = (key, value) =>
        draft.change((job) => {
          const now = { ...named(job.requirements[place])[1] };
          if (value === undefined) delete now[key];
          else now[key] = value;
          job.requirements[place] = { [name]: now };
        });
      const drop = button(t("guarantees.remove"), () => draft.change((job) => job.requirements.splice(place, 1)), { class: "plain", "aria-label": t("guarantees.remove_one", { name }) });
      return h("div", { class: "requirement", data: { requirement: name } },
        h("div", {}, worded(wordsOf(`requirement.${name}`, choice), choice.parameters ?? {}, parameters, set, options(name))),
        h("div", { class: "end" }, h("code", {}, name), drop),
        possible(feasible?.[place]));
    });
    const shown = choices.requirements.filter((one) => !SERIES.has(one.name)).map((one) => one.name);
    const grouped = Object.entries(GROUPS);
    const others = shown.filter((one) => !grouped.some(([, names]) => names.includes(one)));
    const entry = (name) => {
      const choice = choices.requirements.find((one) => one.name === name);
      const add = () => draft.change((job) => (job.requirements ??= []).push({ [name]: first(choice) }));
      return h("li", {}, button(plainWords(wordsOf(`requirement.${name}`, choice)), add, { class: "plain", data: { add: name } }), " ", h("code", {}, name));
    };
    const listed = (names) => (names.length ? h("ul", { class: "plainlist adding" }, names.map(entry)) : null);
    const part = ([key, names]) => {
      const known = names.filter((one) => shown.includes(one));
      const rare = known.filter((one) => !USUAL.has(one));
      if (!known.length) return null;
      return h("div", {}, h("h3", {}, t(`guarantees.group_${key}`)), listed(known.filter((one) => USUAL.has(one))), rare.length ? folded(t("guarantees.rare", { n: rare.length }), listed(rare)) : null);
    };
    const open = requirementPlace.querySelector("#add")?.open;
    const adding = folded(t("guarantees.add"), h("div", { class: "presets" }, [...grouped, ["other", others]].map(part)));
    adding.id = "add";
    adding.open = Boolean(open);
    replace(requirementPlace, rows.length ? rows : notice("warn", h("p", {}, t("guarantees.none"))), adding);
  };

  // --- the method
  const showMethod = () => {
    const [name, parameters] = named(draft.job.method ?? "full-domain");
    const choice = choices.methods.find((one) => one.name === name);
    const chooser = select(choices.methods.map((one) => [one.name, one.name]), name, (other) => draft.change((job) => (job.method = { [other]: {} })));
    const set = (key, value) =>
      draft.change((job) => {
        const now = { ...named(job.method)[1] };
        if (value === undefined) delete now[key];
        else now[key] = value;
        job.method = { [name]: now };
      });
    replace(
      methodPlace,
      field(t("guarantees.method"), chooser, choice ? wordsOf(`method.${choice.name}`, choice) : "", "method"),
      choice ? h("div", { class: "inputs" }, inputs(choice.parameters, parameters, set, options(name))) : null,
    );
  };

  // --- what can hold, after every change
  let asking = new AbortController();
  signal.addEventListener("abort", () => asking.abort());
  const judge = async () => {
    asking.abort();
    asking = new AbortController();
    try {
      const found = await post(`/api/tables/${table}/feasibility`, {}, asking.signal);
      feasible = found.problems?.length ? null : found.requirements;
      replace(said, found.problems?.length ? notice("bad", h("strong", {}, t("job.problems", { n: found.problems.length })), h("ul", {}, found.problems.map((one) => english(one, "li")))) : null);
      replace(valuePlace, valuesOf(found, table));
      for (const [place, row] of [...requirementPlace.querySelectorAll(".requirement")].entries()) {
        row.querySelector(".possible")?.remove();
        if (feasible) row.append(possible(feasible[place]));
      }
    } catch (error) {
      if (error.name !== "AbortError" && !signal.aborted) replace(said, failure(error));
    }
  };
  const later = paused(150, judge);
  const showAll = () => {
    const focused = body.contains(document.activeElement) ? document.activeElement.dataset : {};
    showPresets();
    showAttackers();
    showRequirements();
    showMethod();
    for (const [key, value] of Object.entries(focused)) body.querySelector(`[data-${key}="${CSS.escape(value)}"]`)?.focus();
  };
  onChange((_, error) => {
    feasible = null;
    showAll();
    if (error) replace(said, failure(error));
    else later();
  }, signal);
  showAll();
  replace(
    body,
    presetPlace,
    said,
    section(t("guarantees.who"), attackerPlace),
    section(t("guarantees.requirements"), requirementPlace),
    section(t("guarantees.best"), valuePlace),
    section(t("guarantees.how"), methodPlace),
    h("div", { class: "footbar" },
      h("span", { class: "line soft" }, t("guarantees.derived")),
      h("span", { class: "ways" }, h("a", { class: "button", href: address("compare", table) }, t("next.compare")), h("a", { class: "button main", id: "next", href: address("publish", table) }, t("next.publish")))),
  );
  await judge();
}

/** The preset that a job agrees with; empty if it agrees with none. */
function presetOf(job, presets) {
  const asked = (job.requirements ?? []).map(named);
  if (!asked.length && named(job.method)[0] === "full-domain" && named(job.method)[1].levels) return "hipaa-safe-harbor";
  const of = (name, key) => asked.filter(([one]) => one === name).map(([, parameters]) => parameters[key]);
  return Object.values(presets).filter((one) => one.k).find((one) => {
    const [k, l, close] = [of("k-anonymity", "k"), of("distinct-l-diversity", "l"), of("t-closeness", "t")];
    const audience = AUDIENCES.includes(one.name) ? one.name : "research";
    return k.length + l.length + close.length === asked.length && String(k) === String(one.k) && l.every((value) => value <= one.ell)
      && (close[0] ?? null) === one.t && (job.attackers ?? "research") === audience;
  })?.name ?? "";
}

/** What a preset asks for, in words. */
function facts(preset, attackersOf) {
  const names = (attackersOf[preset.name] ?? attackersOf.research).map((one) => t(`attacker.${one}`)).join(", ");
  return [
    t("preset.attackers", { names }),
    t("preset.k", { k: preset.k, share: percent(1 / preset.k) }),
    t("preset.l", { l: preset.ell }),
    ...(preset.t ? [t("preset.t", { t: number(preset.t) })] : []),
  ];
}

/** Whether a requirement can hold, in one line. */
function possible(found) {
  if (!found) return h("p", { class: "possible" });
  const tone = found.feasible === false ? "bad" : found.feasible ? "good" : "";
  const words = found.feasible === false ? "impossible" : found.feasible === null ? "unknown" : found.holds_now ? "holds_now" : "possible";
  const line = found.feasible === null ? english(found.text) : t(found.feasible ? "guarantees.reach" : "guarantees.no_reach", { best: figures(found.best) });
  const failing = found.feasible && found.failing_share_now > 0 ? ` ${t("guarantees.failing_now", { share: percent(found.failing_share_now) })}` : "";
  return h("p", { class: "possible", data: { feasible: String(found.feasible) } }, badge(t(`guarantees.${words}`), tone), " ", h("span", { class: "soft" }, line, failing));
}

/** Parameters to begin with: those that are required, at a usual value. */
function first(choice) {
  const usual = { k: 5, l: 2, t: 0.4, c: 3, c1: 3, c2: 0.1, alpha: 0.5, p: 2, e: 1000, n: 1000, epsilon: 0.5, m: 2, lower: 0, upper: 0.5, beta: 2, delta: 1.5, at_most: 0.1 };
  const needed = choice.parameters?.required ?? [];
  return Object.fromEntries(needed.filter((name) => name in usual).map((name) => [name, usual[name]]));
}

/** What the values of each sensitive column allow at best. */
function valuesOf(found, table) {
  if (!found.sensitive.length) return notice("warn", h("p", {}, t("guarantees.no_sensitive")));
  const remark = (one) => [
    one.harmless_values ? t("guarantees.harmless", { n: one.harmless_values }) : "",
    one.largest_share > LIKELY ? [t("guarantees.likely"), " ", h("a", { href: address("roles", table) }, t("guarantees.mark"))] : null,
  ];
  const columns = [
    { name: t("column"), head: true, cell: (one) => one.name },
    { name: t("guarantees.values"), number: true, cell: (one) => number(one.values) },
    { name: t("guarantees.belief"), number: true, cell: (one) => percent(one.largest_share) },
    { name: t("remark"), className: "why", cell: remark },
  ];
  const sorted = [...found.sensitive].sort((a, b) => b.largest_share - a.largest_share);
  return [
    h("p", { class: "help" }, t("guarantees.best_help")),
    shortTable(columns, sorted, FEW, { caption: t("guarantees.best") }),
  ];
}
