// The output of another tool beside its original: what it guarantees, reveals and is worth.

import { get, post } from "../lib/api.js";
import { h, replace } from "../lib/dom.js";
import { badge, button, cards, failure, field, folded, notice, section, select, shortTable, table as draw } from "../lib/pieces.js";
import { dropZone, placeForm } from "../lib/places.js";
import { address, go, note } from "../lib/route.js";
import { followed, latest } from "../lib/run.js";
import { figures, number, percent, t } from "../lib/words.js";

const PARTS = ["check", "attack", "measure"];
const FEW = 10; // attackers that are shown at once
const MOST = 20; // columns of a role that are named at once
const PHASES = [["reading", 20], ["attacks", 45], ["measures", 25], ["checking", 10]];

export default async function show({ body, table, given, draft, signal }) {
  const session = await get("/api/session", signal);
  const { tables } = await get("/api/tables", signal);
  const said = h("div", { "aria-live": "polite" });
  const results = h("div", { id: "results" });
  const place = (words, opened) => {
    const byPath = placeForm({ name: t("table.path"), kinds: ["table"], action: t("table.open"), choose: async (path) => opened(await post("/api/tables", { path }, signal)) });
    return h("div", {}, dropZone({ words, limit: session.upload_limit, said, signal, opened }), folded(t("judge.by_path"), byPath));
  };
  if (!draft) {
    const open = tables.map((one) => h("li", {}, h("a", { href: address("judge", one.table) }, one.name), ` · ${t("head.rows", { n: one.rows })}`));
    return void replace(body, h("h2", {}, t("judge.original")), place(t("judge.drop_original"), (found) => go("judge", found.table)), said,
      open.length ? section(t("judge.or_open"), h("ul", { class: "sentences" }, open)) : null);
  }
  const suppressed = h("input", { type: "text", value: "*", autocomplete: "off", spellcheck: "false" });
  const start = async (output, name) => {
    replace(said);
    try {
      const tokens = suppressed.value.split(/\s+/).filter(Boolean);
      const { run } = await post(`/api/tables/${table}/runs`, { kind: "judge", ...(await draft.shown()), output, suppressed: tokens });
      if (signal.aborted) return; // another screen is shown by now
      note({ run, name });
      given = { ...given, run, name };
      await showRun(run);
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  };
  const showRun = (run) => followed(run, results, { signal, phases: PHASES }, (ended) => {
    replace(results, ended.outdated ? notice("warn", h("p", {}, t("judge.outdated"))) : null, judged(run, ended.result));
    results.dataset.done = run;
  });
  const roles = (role) => {
    const names = draft.withRole(role);
    const rest = names.slice(MOST);
    return rest.length ? [`${names.slice(0, MOST).join(", ")} `, folded(t("publish.more_listed", { n: rest.length }), rest.join(", "))] : names.join(", ") || "–";
  };
  const others = tables.filter((one) => one.table !== table);
  const known = others.length ? field(t("judge.open_output"), select([["", "–"], ...others.map((one) => [one.table, one.name])], "", (one) => one && start(one, others.find((other) => other.table === one).name))) : null;
  replace(
    body,
    h("div", { class: "beside" },
      h("div", {}, h("h2", {}, t("judge.original")), h("p", {}, h("strong", {}, draft.info.name), ` · ${t("head.rows", { n: draft.info.rows })}`),
        h("ul", { class: "sentences" }, ["quasi-identifier", "sensitive"].map((role) => h("li", {}, h("strong", {}, t(`roles.plural.${role}`)), ": ", roles(role)))),
        h("p", {}, h("a", { href: address("roles", table) }, t("judge.roles")))),
      h("div", {}, h("h2", {}, t("judge.output")), place(t("judge.drop_output"), (found) => start(found.table, found.name)), known,
        folded(t("judge.reading"), field(t("judge.suppressed"), suppressed, t("judge.suppressed_help"))))),
    said,
    results,
  );
  const run = given.run ?? (await latest(table, "judge"));
  if (!run) return;
  note({ run });
  showRun(run);
}

/** The three judgements: headlines first, then their pages. */
function judged(run, { check, attack, measure }) {
  const frame = h("iframe", { title: t("judge.attack"), src: `/api/runs/${run}/report?part=attack` });
  const tabs = PARTS.map((part) => button(t(`judge.${part}`), (event) => {
    frame.src = `/api/runs/${run}/report?part=${part}`;
    frame.title = t(`judge.${part}`);
    for (const one of event.target.parentElement.children) one.setAttribute("aria-pressed", String(one === event.target));
  }, { "aria-pressed": String(part === "attack"), data: { part } }));
  const exact = attack.exact?.singling_out?.unique?.["0"];
  const unique = exact === undefined ? null : exact / Math.max(1, attack.exact.singling_out.counted);
  const requirements = [
    { name: t("guarantee"), head: true, cell: (one) => one.requirement },
    { name: t("judge.asked"), cell: (one) => figures(one.parameters) },
    { name: t("guarantee.achieved"), cell: (one) => figures(one.achieved) },
    { name: t("guarantee.holds"), cell: (one) => (one.holds ? badge(t("guarantee.yes"), "good") : badge(t("guarantee.no"), "bad")) },
  ];
  const best = [...attack.attackers].sort((a, b) => b.success.rate - b.baseline.rate - (a.success.rate - a.baseline.rate));
  const attackers = [
    { name: t("judge.attacker"), head: true, cell: (one) => one.attack },
    { name: t("judge.aim"), cell: (one) => one.aim },
    { name: t("publish.knows"), className: "cut", cell: (one) => h("span", { title: one.knowledge }, one.knowledge) },
    { name: t("judge.success"), number: true, cell: (one) => percent(one.success.rate) },
    { name: t("judge.interval"), number: true, cell: (one) => one.success.interval.map(percent).join(" – ") },
    { name: t("judge.without"), number: true, cell: (one) => percent(one.baseline.rate) },
  ];
  return [
    section(t("judge.found"),
      notice("", h("p", {}, h("strong", {}, t(`shape.${attack.shape}`)), ` ${t("judge.rows", { n: attack.rows, of: attack.original_rows })}`), attack.summary ? h("p", {}, attack.summary) : null),
      cards([
        ...(unique === null ? [] : [{ key: "unique", name: t("judge.unique"), shown: percent(unique), value: unique, tone: unique > 0 ? "bad" : "good" }]),
        { key: "copies", name: t("judge.copies"), shown: number(attack.unique_copies), value: attack.unique_copies, tone: attack.unique_copies ? "warn" : "good" },
        { key: "loss", name: t("measure.loss"), shown: percent(measure.loss), value: measure.loss },
        ...(measure.query_error ? [{ key: "queries", name: t("measure.query_error"), shown: percent(measure.query_error.median), value: measure.query_error.median }] : []),
      ])),
    check.requirements.length ? section(t("guarantees.title"), draw(requirements, check.requirements, { caption: t("guarantees.title") })) : null,
    attack.attackers.length ? section(t("judge.guesses"), shortTable(attackers, best, FEW, { caption: t("judge.guesses") })) : null,
    section(t("publish.report"), h("div", { class: "tabs" }, tabs), frame),
  ];
}
