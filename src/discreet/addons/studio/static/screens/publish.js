// Publish: follow the run, read the verdict and the report, hand over the folder, sign.

import { get, post } from "../lib/api.js";
import { announce, h, replace } from "../lib/dom.js";
import { badge, button, cards, english, failure, field, folded, notice, section, table as draw } from "../lib/pieces.js";
import { previewed } from "../lib/preview.js";
import { address, note } from "../lib/route.js";
import { followed, tookSeconds } from "../lib/run.js";
import { moment, number, percent, t } from "../lib/words.js";
import { named } from "./guarantees.js";

const PHASES = ["reading", "hierarchies", "searching", "audit", "measures", "writing", "reading back", "attacks", "preview"];
const VERDICTS = { "Ready to sign": "ready", "Look at these": "look", "Do not publish": "refuse" };
const [FEW, LISTED] = [10, 200]; // findings that are shown, and those behind a click
const KNOWN = ["0", "1", "2", "all"]; // unchanged columns that an attacker knows
const TONES = { ready: "good", look: "warn", refuse: "bad" };

export default async function show({ body, table, given, draft, signal }) {
  const results = h("div", { id: "results" });
  const said = h("div", { "aria-live": "polite" });
  const seconds = h("input", { type: "number", min: 0, max: 3600, value: 60 });
  const output = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const key = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const reason = h("textarea", { rows: 2 });
  const accepting = h("div", { hidden: true }, field(t("publish.reason"), reason, t("publish.accept_text")));
  const start = button(t("publish.start"), async () => {
    replace(said);
    const asked = { kind: "publish", job: draft.job, attack: Number(seconds.value) || null };
    if (output.value.trim()) asked.output = output.value.trim();
    if (!accepting.hidden && reason.value.trim()) asked.accept_risk = reason.value.trim();
    if (key.value.trim()) asked.key = key.value.trim();
    try {
      const { run } = await post(`/api/tables/${table}/runs`, asked);
      note({ run });
      await showRun(run);
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  }, { class: "main", id: "start" });
  const showRun = async (run) => {
    start.disabled = true;
    await followed(run, results, { signal, phases: PHASES }, (ended) => showRelease(ended, results, signal));
    start.disabled = false;
    if (signal.aborted) return;
    const ended = await get(`/api/runs/${run}`, signal).catch(() => ({}));
    accepting.hidden = ended.error?.kind !== "risk"; // a folder was named, and nothing appeared there
    if (!signal.aborted) replace(start, t("publish.again"));
  };
  replace(
    body,
    summary(draft),
    h("form", { on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "opening" },
        field(t("publish.attack"), seconds, t("publish.attack_help")),
        field(t("publish.output"), output, t("publish.output_help")),
        field(t("publish.key"), key, t("publish.key_help"))),
      accepting,
      h("div", { class: "row" }, start)),
    said,
    results,
  );
  if (given.run) await showRun(given.run);
}

/** What is about to be published, in a few lines. */
function summary(draft) {
  const [method] = named(draft.job.method ?? "full-domain");
  const requirements = (draft.job.requirements ?? []).map((one) => {
    const [name, parameters] = named(one);
    const shown = Object.entries(parameters).map(([key, value]) => `${key} = ${typeof value === "object" ? JSON.stringify(value) : value}`);
    return h("li", {}, h("strong", {}, name), shown.length ? ` (${shown.join(", ")})` : "");
  });
  const roles = ["quasi-identifier", "sensitive", "quasi-sensitive", "insensitive", "weight", "identifier", "household", "drop"]
    .map((role) => [role, draft.withRole(role)])
    .filter(([, names]) => names.length)
    .map(([role, names]) => h("li", {}, h("strong", {}, t(`roles.plural.${role}`)), `: ${names.join(", ")}`));
  return h("div", { class: "opening summary" },
    h("div", {}, h("h2", {}, t("publish.roles")), h("ul", { class: "sentences" }, roles)),
    h("div", {}, h("h2", {}, t("publish.guarantees")), h("ul", { class: "sentences" }, requirements.length ? requirements : h("li", {}, t("publish.by_method"))), h("p", {}, t("publish.method", { name: method }))));
}

/** The name of a verdict, in the language of the page, and its tone. */
export function verdictWords(verdict) {
  const level = VERDICTS[verdict?.verdict];
  return level ? { level, words: t(`verdict.${level}`), tone: TONES[level] } : { level: "", words: verdict?.verdict ?? "–", tone: "" };
}

/** The verdict: which attackers it is about, why, and what stronger attackers would learn. */
function verdictOf(verdict, singling) {
  if (!verdict) return null;
  const { level, words, tone } = verdictWords(verdict);
  const reasons = verdict.reasons ?? [];
  return h("div", { class: `notice ${tone} verdict`, data: { verdict: level } },
    h("h2", {}, words),
    verdict.attackers?.length ? h("p", { id: "attackers" }, t("verdict.attackers", { names: verdict.attackers.join(", ") })) : null,
    reasons.length ? h("ul", {}, reasons.map((one) => english(one, "li"))) : null,
    singledOut(singling),
    verdict.stronger?.length ? h("div", { id: "stronger" }, h("h3", {}, t("verdict.stronger")), h("ul", {}, verdict.stronger.map((one) => english(one, "li")))) : null);
}

/** The share of persons who are unique by quasi-identifiers and none, one, two or all unchanged columns. */
function singledOut(found) {
  if (!found) return null;
  const shown = KNOWN.map((known) => {
    const share = found.unique[known] / Math.max(found.counted, 1);
    const upper = known === "2" && found.at_most ? ` – ${percent(found.at_most / found.counted)}` : "";
    return { key: `singled-${known}`, name: t(`singled.${known}`), shown: percent(share) + upper, value: share, note: found.columns?.[known]?.join(", ") };
  });
  return [h("h3", {}, t("singled.title")), cards(shown)];
}

export function promisesOf(promises) {
  return draw(
    [
      { name: t("guarantee"), head: true, cell: (one) => [one.requirement, one.text ? english(one.text, "span", { class: "reason" }) : null] },
      { name: t("guarantee.achieved"), cell: (one) => achieved(one.achieved) },
      { name: t("guarantee.holds"), cell: (one) => (one.holds === null || one.holds === undefined ? badge(t("guarantee.unknown")) : one.holds ? badge(t("guarantee.yes"), "good") : badge(t("guarantee.no"), "bad")) },
    ],
    promises,
    { caption: t("guarantees.title") },
  );
}

function achieved(given) {
  if (given === null || given === undefined) return "–";
  if (typeof given === "number") return number(given);
  if (typeof given === "object") return Object.entries(given).map(([key, value]) => `${key} ${typeof value === "number" ? number(value) : value}`).join(", ");
  return String(given);
}

async function showRelease(run, place, signal) {
  const { result } = run;
  const id = run.run;
  const risk = h("div", {});
  const preview = h("div", {});
  const leaving = h("div", { id: "leaving" });
  const allow = () => replace(leaving,
    result.accepted_risk ? h("p", { id: "accepted" }, h("strong", {}, t("publish.accepted")), ` ${result.accepted_risk}`) : null,
    section(t("publish.hand_over"), handOver(run)),
    section(t("publish.sign"), sign(run)));
  if (VERDICTS[result.verdict?.verdict] !== "refuse" || result.accepted_risk) allow();
  else replace(leaving, section(t("publish.accept"), accept(run, allow)));
  replace(
    place,
    h("p", { class: "soft" }, tookSeconds(run)),
    verdictOf(result.verdict, result.singling_out),
    section(t("guarantees.title"), promisesOf(result.promises)),
    leaving,
    section(t("publish.report"), reports(id)),
    section(t("publish.at_risk"), risk),
    preview,
    section(t("publish.explanation"), h("ul", { class: "sentences" }, (result.explanation ?? []).map((one) => english(one, "li")))),
    h("div", { class: "row end" }, h("a", { class: "button", href: address("releases", run.table ?? "", { from: id }) }, t("next.releases"))),
  );
  place.dataset.done = id;
  try {
    replace(risk, atRisk(await get(`/api/runs/${id}/risk`, signal)));
  } catch (error) {
    if (!signal.aborted) replace(risk, failure(error));
  }
  try {
    replace(preview, previewed(await get(`/api/runs/${id}/preview`, signal)));
  } catch (error) {
    if (!signal.aborted) replace(preview, failure(error));
  }
}

function atRisk(found) {
  if (!found.rows.length) return h("p", {}, t("publish.no_risk"));
  const columns = [
    { name: t("row"), number: true, cell: (one) => number(one.row) },
    { name: t("column"), cell: (one) => one.attribute },
    { name: t("publish.knows"), cell: (one) => english(one.knows ?? "") },
    { name: t("publish.belief"), number: true, cell: (one) => percent(one.belief) },
  ];
  const [few, rest] = [found.rows.slice(0, FEW), found.rows.slice(FEW, LISTED)];
  const left = found.rows.length + (found.more ?? 0) - few.length - rest.length;
  return [
    h("p", {}, t("publish.at_risk_text", { n: found.rows.length + (found.more ?? 0) })),
    draw(columns, few, { caption: t("publish.at_risk") }),
    rest.length ? folded(t("publish.more_listed", { n: rest.length }), draw(columns, rest, { caption: t("publish.at_risk") })) : null,
    left ? h("p", { class: "soft" }, t("publish.more_rows", { n: left })) : null,
  ];
}

/** Both reports of a release, one at a time. */
export function reports(id) {
  const frame = h("iframe", { title: t("publish.private"), src: `/api/runs/${id}/report` });
  const tabs = [["", "publish.private"], ["?public=1", "publish.public"]].map(([query, key], place) =>
    button(t(key), (event) => {
      for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab === event.currentTarget));
      frame.title = t(key);
      frame.src = `/api/runs/${id}/report${query}`;
    }, { "aria-pressed": String(place === 0) }),
  );
  return [h("div", { class: "row tabs" }, tabs, h("a", { href: `/api/runs/${id}/report`, target: "_blank", rel: "noopener" }, t("publish.new_tab"))), frame];
}

/** Ask for a reason before a release that should not be published can be saved or signed. */
function accept(run, allow) {
  const said = h("div", { "aria-live": "polite" });
  const reason = h("textarea", { rows: 3, required: true });
  const submit = async (event) => {
    event.preventDefault();
    replace(said);
    try {
      const { accepted_risk } = await post(`/api/runs/${run.run}/accept`, { reason: reason.value.trim() });
      run.result.accepted_risk = accepted_risk;
      allow();
    } catch (error) {
      replace(said, failure(error));
    }
  };
  return [
    h("p", {}, t("publish.accept_text")),
    h("form", { id: "accept", on: { submit } }, field(t("publish.reason"), reason), h("button", { type: "submit" }, t("publish.accept_now"))),
    said,
  ];
}

function handOver(run) {
  const id = run.run;
  const said = h("div", { "aria-live": "polite" });
  const path = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const force = h("input", { type: "checkbox" });
  const save = button(t("publish.save"), async () => {
    replace(said);
    try {
      const saved = await post(`/api/runs/${id}/save`, { path: path.value.trim(), force: force.checked });
      replace(said, notice("good", h("p", {}, t("publish.saved"), " ", h("code", {}, saved.path))));
    } catch (error) {
      replace(said, failure(error));
    }
  }, { id: "save" });
  return [
    h("p", {}, t("publish.hand_over_text")),
    h("div", { class: "row" },
      h("a", { class: "button main", id: "download", href: `/api/runs/${id}/download.zip`, download: "release.zip" }, t("publish.download")),
      h("a", { class: "button", href: `/api/runs/${id}/download.zip?private=1`, download: "release.private.zip" }, t("publish.download_private")),
      h("a", { class: "button", id: "download-job", href: `/api/runs/${id}/job.yaml`, download: "job.yaml" }, t("job.save"))),
    run.result.folder ? h("p", {}, t("publish.saved"), " ", h("code", {}, run.result.folder)) : null,
    field(t("publish.folder"), path, t("publish.folder_help")),
    h("label", { class: "check" }, force, t("publish.force")),
    h("div", { class: "row" }, save),
    said,
  ];
}

function sign(run) {
  const list = h("ul", { class: "sentences", id: "signed" });
  const said = h("div", { "aria-live": "polite" });
  const show = (signed) => replace(list, signed.map((one) => h("li", {}, h("strong", {}, one.name), ` · ${moment(one.time)}`, one.note ? ` · ${one.note}` : "")));
  const signed = [...(run.result.signed ?? [])];
  show(signed);
  const name = h("input", { type: "text", autocomplete: "name", required: true });
  const remark = h("textarea", { rows: 3 });
  const submit = async (event) => {
    event.preventDefault();
    replace(said);
    try {
      const made = await post(`/api/runs/${run.run}/sign`, { name: name.value.trim(), note: remark.value.trim() });
      signed.push(made.signed);
      show(signed);
      announce(t("publish.is_signed"));
      event.target.reset();
    } catch (error) {
      replace(said, failure(error));
    }
  };
  return [
    h("p", {}, t("publish.sign_text")),
    list,
    h("form", { id: "sign", on: { submit } }, field(t("publish.name"), name), field(t("publish.note"), remark), h("button", { type: "submit" }, t("publish.sign_now"))),
    said,
  ];
}
