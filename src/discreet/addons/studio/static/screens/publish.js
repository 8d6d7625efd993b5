// Publish: the run, then the verdict with its repairs, the report, the signature.

import { get, post } from "../lib/api.js";
import { h, replace } from "../lib/dom.js";
import { badge, button, english, failure, field, folded, notice } from "../lib/pieces.js";
import { showRelease, verdictWords } from "../lib/release.js";
import { address, note } from "../lib/route.js";
import { followed, latest } from "../lib/run.js";
import { number, percent, t } from "../lib/words.js";
import { named } from "./guarantees.js";

const PHASES = [["reading", 10], ["hierarchies", 2], ["searching", 20], ["audit", 8], ["measures", 10], ["writing", 10], ["reading back", 10], ["attacks", 25], ["preview", 5]]; // with usual shares of the time
const ROLES = ["quasi-identifier", "sensitive", "quasi-sensitive", "unchanged", "weight", "identifier", "household", "drop"];

export default async function show({ body, table, given, draft, signal }) {
  const results = h("div", { id: "results" });
  const said = h("div", { "aria-live": "polite" });
  const seconds = h("input", { type: "number", min: 0, max: 3600, value: 60 });
  const output = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const key = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const reason = h("textarea", { rows: 2 });
  const accepting = h("div", { hidden: true }, field(t("publish.reason"), reason, t("publish.accept_text")));
  const begin = async () => {
    replace(said);
    try {
      const asked = { kind: "publish", ...(await draft.shown()), attack: Number(seconds.value) || null };
      if (output.value.trim()) asked.output = output.value.trim();
      if (!accepting.hidden && reason.value.trim()) asked.accept_risk = reason.value.trim();
      if (key.value.trim()) asked.key = key.value.trim();
      const { run } = await post(`/api/tables/${table}/runs`, asked);
      if (signal.aborted) return; // another screen is shown by now
      given = { run };
      note({ run, repair: "", check: "" });
      await showRun(run);
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  };
  const start = button(t("publish.start"), begin, { class: "main", id: "start" });
  const settings = h("form", { on: { submit: (event) => event.preventDefault() } },
    summary(draft),
    h("div", { class: "opening" },
      field(t("publish.attack"), seconds, t("publish.attack_help")),
      field(t("publish.output"), output, t("publish.output_help")),
      field(t("publish.key"), key, t("publish.key_help"))),
    accepting,
    h("div", { class: "row" }, start));
  const about = h("div", { class: "about-run" }, settings);

  const showRun = async (run) => {
    start.disabled = true;
    replace(about);
    delete results.dataset.done;
    const repairs = h("section", { id: "repairs" });
    let shown = false;
    await followed(run, results, { signal, phases: PHASES }, async (ended) => {
      shown = true;
      await showRelease(ended.result, results, { signal, given, repairs });
      mend(repairs, verdictWords(ended.result.verdict?.verdict).level);
    });
    start.disabled = false;
    if (signal.aborted) return;
    const ended = await get(`/api/runs/${run}`, signal).catch(() => ({}));
    accepting.hidden = ended.error?.kind !== "risk"; // a folder was named, and nothing appeared there
    replace(start, t("publish.again"));
    replace(about, shown ? folded(t("publish.settings"), settings) : settings);
    if (!shown && ["refused", "failed"].includes(ended.state)) {
      results.append(repairs);
      mend(repairs, "refuse");
    }
  };

  /** Offer changes of the job after which its release may be published. */
  const mend = (place, level) => {
    if (level === "ready") return;
    const found = h("div", {});
    const search = async () => {
      try {
        const { run } = await post(`/api/tables/${table}/runs`, { kind: "repair", ...(await draft.shown()) });
        if (signal.aborted) return; // another screen is shown by now
        note({ repair: run });
        await follow(run);
      } catch (error) {
        if (!signal.aborted) replace(found, failure(error));
      }
    };
    const follow = (run) => followed(run, found, { signal }, (ended) => replace(found, cardsOf(ended.result, apply)));
    const apply = async (repair) => {
      if (await draft.edit({ trails: repair.edits }).then(() => true, (error) => replace(found, failure(error)) && false)) await begin();
    };
    const guesses = draft.guesses;
    const decide = guesses.length
      ? h("article", { class: "decide", data: { decide: String(guesses.length) } },
          h("p", { class: "after" }, badge(t("repair.decision"), "warn")),
          h("p", {}, t("repair.guesses", { n: guesses.length, names: guesses.join(", ") })),
          h("a", { class: "button", href: address("roles", table) }, t("repair.decide")))
      : null;
    replace(place, h("h2", {}, t("repair.title")), decide, found);
    if (given.repair) follow(given.repair);
    else if (level === "refuse") search();
    else replace(found, button(t("repair.search"), search, { id: "repair" }));
  };

  replace(body, said, results, about);
  const run = given.run ?? (await latest(table, "publish"));
  if (!run) return;
  note({ run });
  showRun(run);
}

/** A card for each repair: what it does, the verdict after it, what it costs. */
function cardsOf(found, apply) {
  if (!found.repairs.length) return notice("warn", h("p", {}, t("repair.none", { n: found.tried })));
  return h("div", { class: "repairs" }, found.repairs.map((one) => {
    const { words, tone } = verdictWords(one.verdict);
    const loss = found.information_loss === null || found.information_loss === undefined ? percent(one.information_loss) : `${percent(found.information_loss)} → ${percent(one.information_loss)}`;
    return h("article", { class: "repair", data: { repair: String(one.number), verdict: one.verdict } },
      h("p", { class: "after" }, badge(words, tone), one.needs_decision ? badge(t("repair.decision"), "warn") : null),
      h("ul", {}, one.changes.map((change) => english(change, "li"))),
      h("p", { class: "soft" }, t("repair.loss", { loss }), " · ", t("repair.rows", { n: one.rows_lost, rows: one.rows })),
      [...new Set(one.cost)].map((cost) => english(cost, "p", { class: "soft" })),
      button(t("repair.apply"), () => apply(one), { class: "main", data: { apply: String(one.number) } }));
  }));
}

/** What is about to be published, in a few lines. */
function summary(draft) {
  const [method] = named(draft.job.method ?? "full-domain");
  const requirements = (draft.job.requirements ?? []).map((one) => {
    const [name, parameters] = named(one);
    const shown = Object.entries(parameters).map(([key, value]) => `${key} = ${typeof value === "object" ? JSON.stringify(value) : value}`);
    return h("li", {}, h("strong", {}, name), shown.length ? ` (${shown.join(", ")})` : "");
  });
  const roles = ROLES.map((role) => [role, draft.withRole(role)])
    .filter(([, names]) => names.length)
    .map(([role, names]) => h("li", {}, h("strong", {}, t(`roles.plural.${role}`)), `: ${number(names.length)}`, names.length <= 8 ? ` · ${names.join(", ")}` : ""));
  return h("div", { class: "opening summary" },
    h("div", {}, h("h2", {}, t("publish.roles")), h("ul", { class: "sentences" }, roles)),
    h("div", {}, h("h2", {}, t("publish.guarantees")), h("ul", { class: "sentences" }, requirements.length ? requirements : h("li", {}, t("publish.by_method"))), h("p", {}, t("publish.method", { name: method })), attackersOf(draft.job)));
}

/** Whom the verdict will be about. */
function attackersOf({ attackers = "research" }) {
  const names = typeof attackers === "string" ? t(`preset.${attackers}`) : Array.isArray(attackers) ? attackers.map((one) => t(`attacker.${one}`)).join(", ") : Object.keys(attackers).join(", ");
  return h("p", {}, t("publish.audience", { names }));
}
