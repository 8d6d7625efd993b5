// What the release guarantees: presets in words, all parameters, what is possible, and what it costs.

import { get, once, post } from "../lib/api.js";
import { h, newId, paused, replace } from "../lib/dom.js";
import { onChange } from "../lib/draft.js";
import { badge, button, english, failure, field, notice, section, select, table as draw, waiting } from "../lib/pieces.js";
import { inputs } from "../lib/parameters.js";
import { bars, figure } from "../lib/plots.js";
import { address, note } from "../lib/route.js";
import { followed } from "../lib/run.js";
import { has, number, percent, t } from "../lib/words.js";

const PRESETS = ["alike-5-3", "research", "public", "internal", "cms-11", "hipaa-safe-harbor"];
const SERIES = new Set(["m-invariance", "rho-different", "m-invariance-in-series", "rho-different-in-series", "bcf-anonymity-in-series"]);

/** The name and parameters of what a job writes as `name` or `{name: {…}}`. */
export function named(written) {
  if (typeof written === "string") return [written, {}];
  const [name, parameters] = Object.entries(written ?? {})[0] ?? ["", {}];
  return [name, parameters ?? {}];
}

const wordsOf = (key, choice) => (has(key) ? t(key) : english(choice.text ?? ""));

export default async function show({ body, table, given, draft, signal }) {
  const choices = await once("/api/choices");
  const presetPlace = h("div", {});
  const requirementPlace = h("div", {});
  const methodPlace = h("div", {});
  const feasible = h("div", { "aria-live": "polite", id: "feasibility" }, waiting());
  const costs = h("div", { id: "costs" });
  const requirementsOf = () => (draft.job.requirements ?? []);
  let preset = given.preset ?? "";

  // --- presets
  const choose = async (name) => {
    preset = name;
    note({ preset });
    try {
      const found = await get(`/api/tables/${table}/proposal?preset=${encodeURIComponent(name)}`, signal);
      if (name === "hipaa-safe-harbor") await draft.use(found.job);
      else {
        await draft.change((job) => {
          job.requirements = structuredClone(found.job.requirements ?? []);
          if (found.job.verify) job.verify = found.job.verify;
          else delete job.verify;
          if (!fits(job)) job.method = structuredClone(found.job.method);
        });
      }
    } catch (error) {
      if (!signal.aborted) replace(feasible, failure(error));
    }
  };
  const fits = (job) => ["full-domain", "mondrian", "local-recoding"].includes(named(job.method)[0]);
  const known = PRESETS.filter((name) => choices.presets.some((one) => one.name === name));
  const group = newId("preset");
  replace(
    presetPlace,
    h(
      "fieldset",
      { class: "presets" },
      h("legend", { class: "unseen" }, t("guarantees.presets")),
      known.map((name) =>
        h("label", { class: "preset" },
          h("b", {}, h("input", { type: "radio", name: group, value: name, checked: name === preset, data: { preset: name }, on: { change: () => choose(name) } }), t(`preset.${name}`)),
          h("span", {}, t(`preset.${name}.text`))),
      ),
    ),
  );

  // --- requirements
  const edited = () => {
    preset = "";
    note({ preset: "" });
    for (const radio of presetPlace.querySelectorAll("input")) radio.checked = false;
  };
  const showRequirements = () => {
    const rows = requirementsOf().map((written, place) => {
      const [name, parameters] = named(written);
      const choice = choices.requirements.find((one) => one.name === name) ?? { name, parameters: {} };
      const set = (key, value) => {
        draft.change((job) => {
          const now = { ...named(job.requirements[place])[1] };
          if (value === undefined) delete now[key];
          else now[key] = value;
          job.requirements[place] = { [name]: now };
        });
        edited();
      };
      const drop = button(t("guarantees.remove"), () => {
        draft.change((job) => job.requirements.splice(place, 1));
        edited();
      }, { class: "plain", "aria-label": t("guarantees.remove_one", { name }) });
      return h(
        "div",
        { class: "requirement", data: { requirement: name } },
        h("div", {}, h("strong", {}, name), " ", h("span", { class: "soft" }, wordsOf(`requirement.${choice.name}`, choice))),
        drop,
        h("div", { class: "inputs" }, inputs(choice.parameters ?? {}, parameters, set, { sensitive: draft.withRole("sensitive"), of: name })),
      );
    });
    const left = choices.requirements.filter((one) => !SERIES.has(one.name));
    const adder = select([["", t("guarantees.add")], ...left.map((one) => [one.name, one.name])], "", (name) => {
      if (!name) return;
      const choice = left.find((one) => one.name === name);
      draft.change((job) => (job.requirements ??= []).push({ [name]: first(choice) }));
      edited();
    }, { id: "add-requirement", "aria-label": t("guarantees.add") });
    replace(requirementPlace, rows.length ? rows : notice("warn", h("p", {}, t("guarantees.none"))), h("div", { class: "row" }, adder));
  };

  // --- the method
  const showMethod = () => {
    const [name, parameters] = named(draft.job.method ?? "full-domain");
    const choice = choices.methods.find((one) => one.name === name);
    const chooser = select(choices.methods.map((one) => [one.name, one.name]), name, (other) => {
      draft.change((job) => (job.method = { [other]: {} }));
    });
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
      choice && Object.keys(choice.parameters?.properties ?? {}).length
        ? h("div", { class: "inputs" }, inputs(choice.parameters, parameters, set, { sensitive: draft.withRole("sensitive"), of: name }))
        : null,
    );
  };

  // --- feasibility, after every change
  let asking = new AbortController();
  signal.addEventListener("abort", () => asking.abort());
  const judge = async () => {
    asking.abort();
    asking = new AbortController();
    feasible.classList.add("stale");
    try {
      showFeasible(await post(`/api/tables/${table}/feasibility`, {}, asking.signal));
    } catch (error) {
      if (error.name !== "AbortError" && !signal.aborted) replace(feasible, failure(error));
    } finally {
      feasible.classList.remove("stale");
    }
  };
  const later = paused(150, judge);
  const showFeasible = (found) => {
    const verdict = (one) =>
      one.feasible === false ? badge(t("guarantees.impossible"), "bad") : one.holds_now ? badge(t("guarantees.holds_now"), "good") : badge(t("guarantees.possible"), "good");
    replace(
      feasible,
      found.problems?.length ? notice("bad", h("strong", {}, t("job.problems", { n: found.problems.length })), h("ul", {}, found.problems.map((one) => english(one, "li")))) : null,
      h("ul", { class: "plainlist" }, found.requirements.map((one) =>
        h("li", { data: { feasible: String(one.feasible) } },
          h("strong", {}, one.requirement), one.attribute ? ` · ${[one.attribute].flat().join(", ")}` : "", " ", verdict(one),
          one.text ? english(one.text, "span", { class: "reason" }) : null,
          one.failing_share_now > 0 ? h("span", { class: "reason" }, t("guarantees.suppressed_now", { share: percent(one.failing_share_now) })) : null),
      )),
      found.sensitive?.length ? sensitiveTable(found.sensitive) : null,
    );
  };

  // --- what each step costs
  const price = async () => {
    try {
      const { run } = await post(`/api/tables/${table}/runs`, { kind: "costs" });
      note({ costs: run });
      await showCosts(run);
    } catch (error) {
      if (!signal.aborted) replace(costs, failure(error));
    }
  };
  const showCosts = (run) => followed(run, costs, { signal }, (ended) => replace(costs, costPlots(ended.result)));
  const ask = button(t("guarantees.price"), price, { id: "price" });

  showRequirements();
  showMethod();
  onChange((_, error) => {
    if (error) replace(feasible, failure(error));
    const parameter = body.querySelector("[data-parameter]:focus")?.dataset.parameter;
    showRequirements();
    showMethod();
    if (parameter) body.querySelector(`[data-parameter="${CSS.escape(parameter)}"]`)?.focus();
    later();
  }, signal);
  replace(
    body,
    h(
      "div",
      { class: "two" },
      h("div", {},
        presetPlace,
        section(t("guarantees.requirements"), requirementPlace),
        section(t("guarantees.how"), methodPlace),
        section(t("guarantees.costs"), h("p", {}, t("guarantees.costs_text")), ask, costs),
        h("div", { class: "row end" },
          h("a", { class: "button main", id: "next", href: address("publish", table) }, t("next.publish")),
          h("a", { class: "button", href: address("compare", table) }, t("next.compare")))),
      h("aside", { class: "aside", "aria-label": t("guarantees.feasible") }, h("h2", {}, t("guarantees.feasible")), feasible),
    ),
  );
  if (given.costs) showCosts(given.costs);
  await judge();
}

/** Parameters to begin with: those that are required, at a usual value. */
function first(choice) {
  const usual = { k: 5, l: 2, t: 0.4, c: 3, c1: 3, c2: 0.1, alpha: 0.5, p: 2, e: 1000, n: 1000, epsilon: 0.5, m: 2, lower: 0, upper: 0.5, beta: 2, delta: 1.5 };
  const needed = choice.parameters?.required ?? [];
  return Object.fromEntries(needed.filter((name) => name in usual).map((name) => [name, usual[name]]));
}

function sensitiveTable(sensitive) {
  const columns = [
    { name: t("role.sensitive"), head: true, cell: (one) => one.name },
    { name: t("guarantees.values"), number: true, cell: (one) => number(one.values) },
    { name: t("guarantees.largest"), number: true, cell: (one) => percent(one.largest_share) },
    { name: t("guarantees.l_per"), number: true, cell: (one) => number(one.l_per) },
  ];
  return [h("h3", {}, t("guarantees.best")), h("p", { class: "help" }, t("guarantees.best_help")), draw(columns, sensitive, { caption: t("guarantees.best") })];
}

function costPlots(result) {
  const kinds = new Map();
  for (const step of result.steps) {
    const key = [step.requirement, step.parameter, step.attribute].filter(Boolean).join(" ");
    kinds.set(key, [...(kinds.get(key) ?? []), step]);
  }
  return [
    h("p", { class: "soft" }, t("guarantees.sample", { n: result.rows })),
    h("div", { class: "charts" }, [...kinds].map(([key, steps]) => {
      const title = t("guarantees.cost_of", { name: key });
      const rows = steps.map((step) => ({
        label: `${step.parameter} = ${number(step.value)}${step.chosen ? ` (${t("guarantees.chosen")})` : ""}`,
        share: step.failure ? null : step.loss,
        shown: step.failure ? t("guarantees.impossible") : percent(step.loss),
        tone: step.chosen ? "" : "faint",
        step,
      }));
      return figure({
        name: `cost-${steps[0].requirement}`,
        title,
        note: t("guarantees.cost_note"),
        drawing: bars({ title, rows }),
        columns: [
          { name: steps[0].parameter, head: true, cell: (one) => number(one.step.value) },
          { name: t("measure.loss"), number: true, cell: (one) => (one.step.failure ? "–" : percent(one.step.loss)) },
          { name: t("measure.suppressed"), number: true, cell: (one) => (one.step.failure ? "–" : percent(one.step.suppressed_share)) },
          { name: t("remark"), cell: (one) => (one.step.failure ? english(one.step.failure) : "") },
        ],
        rows,
      });
    })),
  ];
}
