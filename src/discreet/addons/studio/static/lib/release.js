// One release, wherever it is shown: the verdict first, then repairs, report, signature, and what else there is.

import { get, post, remove } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { badge, button, cards, failure, field, folded, notice, section, select, shortTable } from "./pieces.js";
import { previewed } from "./preview.js";
import { note } from "./route.js";
import { followed } from "./run.js";
import { figures, has, moment, number, percent, t } from "./words.js";

export const VERDICTS = { "Ready to sign": "ready", "Look at these": "look", "Do not publish": "refuse" };
const TONES = { ready: "good", look: "warn", refuse: "bad" };
const [FEW, LISTED, REASONS, GUARANTEES] = [10, 200, 3, 4]; // findings shown and behind a click; reasons of a verdict; guarantees
const KNOWN = ["0", "1", "2", "all"]; // unchanged columns that an attacker knows
const FRAMEWORKS = [["ema", "EMA 0070"], ["hipaa", "HIPAA"], ["nist", "NIST SP 800-188"], ["gdpr", "GDPR"]];
const SIGNER = ["name", "function", "purpose", "recipient", "expires"];

/** The name of a verdict, in the language of the page, and its tone. */
export function verdictWords(word) {
  const level = VERDICTS[word];
  return level ? { level, words: t(`verdict.${level}`), tone: TONES[level] } : { level: "", words: t("verdict.unknown"), tone: "" };
}

/** Draw a release; `repairs` is drawn below a verdict that is not good. */
export async function showRelease(release, place, { signal, given = {}, repairs = null, original = null, removed = null }) {
  const id = release.release;
  const { level } = verdictWords(release.verdict?.verdict);
  const leaving = h("div", { id: "leaving" });
  const risk = h("div", {});
  const preview = h("div", {});
  const allow = () => replace(leaving, section(t("publish.sign"), sign(release)), section(t("publish.hand_over"), handOver(release)));
  const accepted = (reason) => {
    release.accepted_risk = reason;
    allow();
  };
  if (level !== "refuse" || release.accepted_risk) allow();
  else replace(leaving, section(t("publish.accept"), accept(id, accepted)));
  const actions = h("div", { class: "row" },
    level === "refuse" && !release.accepted_risk ? null : h("a", { class: "button main", href: "#sign", on: { click: jump } }, t("publish.to_sign")),
    h("a", { class: "button", href: "#report", on: { click: jump } }, t("publish.to_report")));
  replace(
    place,
    verdictOf(release, actions),
    repairs,
    section(t("guarantees.title"), promisesOf(release.promises)),
    section(t("publish.report"), reports(release)),
    leaving,
    section(t("releases.check"), checks(release, given, signal, original)),
    release.has.includes("risk.json") ? section(t("publish.at_risk"), risk) : null,
    preview,
    section(t("publish.explanation"), h("ul", { class: "sentences" }, (release.explanation ?? []).map((one) => h("li", {}, one)))),
    removed ? h("p", {}, button(t("releases.remove"), async () => {
      await remove(`/api/releases/${id}`);
      removed();
    }, { class: "plain", id: "remove" })) : null,
  );
  place.dataset.done = id;
  const fill = async (where, what, drawn) => {
    if (!release.has.includes(`${what}.json`)) return;
    try {
      replace(where, drawn(await get(`/api/releases/${id}/${what}`, signal)));
    } catch (error) {
      if (!signal.aborted) replace(where, failure(error));
    }
  };
  await fill(risk, "risk", atRisk);
  await fill(preview, "preview", previewed);
}

function jump(event) {
  event.preventDefault();
  const target = document.querySelector(event.target.getAttribute("href"));
  target.scrollIntoView({ block: "start" });
  target.querySelector("input, iframe, button")?.focus();
}

/** The name of an attacker, in the language of the page; a declared one has that of the job. */
export const attackerName = (name) => (has(`attacker.${name}`) ? t(`attacker.${name}`) : name);

/** The verdict: which attackers it is about, why, and what stronger attackers would learn. */
function verdictOf(release, actions) {
  const { verdict } = release;
  const { level, words, tone } = verdictWords(verdict?.verdict);
  const reasons = (verdict?.reasons ?? []).map((one) => h("li", {}, one));
  return h("div", { class: `notice ${tone} verdict`, data: { verdict: level } },
    h("h2", {}, words),
    verdict ? null : h("p", {}, t("verdict.unknown_text")),
    reasons.length ? h("ul", {}, reasons.slice(0, REASONS)) : null,
    reasons.length > REASONS ? folded(t("publish.more_listed", { n: reasons.length - REASONS }), h("ul", {}, reasons.slice(REASONS))) : null,
    release.accepted_risk ? h("p", { id: "accepted" }, h("strong", {}, t("publish.accepted")), ` ${release.accepted_risk}`) : null,
    actions,
    verdict ? folded(t("verdict.about"),
      verdict.attackers?.length ? h("p", { id: "attackers" }, t("verdict.attackers", { names: verdict.attackers.map(attackerName).join(", ") })) : null,
      singledOut(release.singling_out),
      verdict.stronger?.length ? h("div", { id: "stronger" }, h("h3", {}, t("verdict.stronger")), h("ul", {}, verdict.stronger.map((one) => h("li", {}, one)))) : null) : null);
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

function promisesOf(promises) {
  return shortTable(
    [
      { name: t("guarantee"), head: true, cell: (one) => [one.requirement, one.text ? h("span", { class: "reason" }, one.text) : null] },
      { name: t("guarantee.achieved"), cell: (one) => figures(one.achieved ?? {}) },
      { name: t("guarantee.holds"), cell: (one) => (one.holds === null || one.holds === undefined ? badge(t("guarantee.unknown")) : one.holds ? badge(t("guarantee.yes"), "good") : badge(t("guarantee.no"), "bad")) },
    ],
    promises,
    GUARANTEES,
    { caption: t("guarantees.title") },
  );
}

function atRisk(found) {
  if (!found.rows.length) return h("p", {}, t("publish.no_risk"));
  const columns = [
    { name: t("row"), number: true, cell: (one) => number(one.row) },
    { name: t("column"), cell: (one) => one.attribute },
    { name: t("publish.knows"), cell: (one) => one.knows ?? "" },
    { name: t("publish.belief"), number: true, cell: (one) => percent(one.belief) },
  ];
  const listed = found.rows.slice(0, LISTED);
  const left = found.rows.length + (found.more ?? 0) - listed.length;
  return [
    h("p", {}, t("publish.at_risk_text", { n: found.rows.length + (found.more ?? 0) })),
    shortTable(columns, listed, FEW, { caption: t("publish.at_risk") }),
    left ? h("p", { class: "soft" }, t("publish.more_rows", { n: left })) : null,
  ];
}

/** Both reports of a release, one at a time. */
function reports(release) {
  const source = `/api/releases/${release.release}/report`;
  const kinds = [...(release.private ? [["", "publish.private"]] : []), ["?public=1", "publish.public"]];
  const frame = h("iframe", { title: t(kinds[0][1]), src: source + kinds[0][0] });
  const link = h("a", { href: frame.getAttribute("src"), target: "_blank", rel: "noopener" }, t("publish.new_tab"));
  const tabs = kinds.map(([query, key], place) =>
    button(t(key), (event) => {
      frame.src = source + query;
      frame.title = t(key);
      link.href = frame.src;
      for (const one of event.target.parentElement.children) one.setAttribute("aria-pressed", String(one === event.target));
    }, { "aria-pressed": String(place === 0) }));
  return h("div", { id: "report" }, h("div", { class: "tabs" }, tabs), frame, h("p", {}, link));
}

/** Accept the risk with a reason, without which nothing is handed over or signed. */
function accept(id, accepted) {
  const reason = h("textarea", { rows: 2, required: true });
  const said = h("div", { "aria-live": "polite" });
  const submit = async (event) => {
    event.preventDefault();
    replace(said);
    try {
      accepted((await post(`/api/releases/${id}/accept`, { reason: reason.value })).accepted_risk);
    } catch (error) {
      replace(said, failure(error));
    }
  };
  return [h("p", {}, t("publish.accept_text")), h("form", { id: "accept", on: { submit } }, field(t("publish.reason"), reason), h("button", { type: "submit" }, t("publish.accept_now"))), said];
}

function handOver(release) {
  const id = release.release;
  const said = h("div", { "aria-live": "polite" });
  const path = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const force = h("input", { type: "checkbox" });
  const save = button(t("publish.save"), async () => {
    replace(said);
    try {
      const saved = await post(`/api/releases/${id}/save`, { path: path.value.trim(), force: force.checked });
      replace(said, notice("good", h("p", {}, t("publish.saved"), " ", h("code", {}, saved.path))));
    } catch (error) {
      replace(said, failure(error));
    }
  }, { id: "save" });
  return [
    h("p", {}, t("publish.hand_over_text")),
    h("div", { class: "row" },
      h("a", { class: "button main", id: "download", href: `/api/releases/${id}/download.zip`, download: "release.zip" }, t("publish.download")),
      release.private ? h("a", { class: "button", href: `/api/releases/${id}/download.zip?private=1`, download: "release.private.zip" }, t("publish.download_private")) : null,
      release.has.includes("job.yaml") ? h("a", { class: "button", id: "download-job", href: `/api/releases/${id}/job.yaml`, download: "job.yaml" }, t("job.save")) : null),
    release.folder ? h("p", {}, t("publish.saved"), " ", h("code", {}, release.folder)) : null,
    folded(t("publish.folder"), field(t("publish.folder"), path, t("publish.folder_help")), h("label", { class: "check" }, force, t("publish.force")), h("div", { class: "row" }, save), said),
  ];
}

function sign(release) {
  const list = h("ul", { class: "sentences", id: "signed" });
  const said = h("div", { "aria-live": "polite" });
  const signed = [...(release.signed ?? [])];
  const words = (one) => [one.function, one.purpose, one.recipient ? t("publish.for", { name: one.recipient }) : "", one.expires ? t("publish.until", { day: one.expires }) : "", one.note].filter(Boolean).join(" · ");
  const show = () => replace(list, signed.map((one) => h("li", {}, h("strong", {}, one.name), ` · ${moment(one.time)}`, words(one) ? ` · ${words(one)}` : "")));
  show();
  const inputs = Object.fromEntries(SIGNER.map((key) => [key, h("input", { type: key === "expires" ? "date" : "text", name: key, autocomplete: key === "name" ? "name" : "off", required: key === "name" })]));
  const remark = h("textarea", { rows: 2, name: "note" });
  const submit = async (event) => {
    event.preventDefault();
    replace(said);
    try {
      const given = Object.fromEntries(SIGNER.map((key) => [key, inputs[key].value.trim()]));
      signed.push((await post(`/api/releases/${release.release}/sign`, { ...given, note: remark.value.trim() })).signed);
      show();
      announce(t("publish.is_signed"));
      event.target.reset();
    } catch (error) {
      replace(said, failure(error));
    }
  };
  return [
    list,
    h("form", { id: "sign", on: { submit } },
      h("div", { class: "signer" }, SIGNER.map((key) => field(t(`publish.${key}`), inputs[key]))),
      field(t("publish.note"), remark),
      h("blockquote", { id: "declaration" }, release.declaration.map((one) => h("p", {}, one))),
      h("p", { class: "help" }, t("publish.sign_text")),
      h("button", { type: "submit", class: "main" }, t("publish.sign_now"))),
    said,
  ];
}

/** Audit, attack, measure, evidence: a button each, and the page of the result. */
function checks(release, given, signal, original) {
  const results = h("div", { id: "checked" });
  const whose = original ? original() : null;
  const framework = select(FRAMEWORKS, "ema", () => {}, { "aria-label": t("releases.framework"), id: "framework" });
  const start = (kind) => async () => {
    try {
      const asked = { kind, ...(whose ? await whose.given() : {}) };
      if (kind === "attack" || kind === "evidence") asked.seconds = 60;
      if (kind === "evidence") asked.framework = framework.value;
      const { run } = await post(`/api/releases/${release.release}/runs`, asked);
      note({ check: run });
      await follow(run);
    } catch (error) {
      if (!signal.aborted) replace(results, failure(error));
    }
  };
  const follow = (run) => followed(run, results, { signal }, (ended) => {
    replace(results, headline(ended), h("iframe", { title: t(`releases.${ended.kind}`), src: `/api/runs/${run}/report` }));
    results.dataset.done = run;
  });
  if (given.check) follow(given.check);
  const [audit, attack, measure, evidence] = ["audit", "attack", "measure", "evidence"].map((kind) => button(t(`releases.${kind}`), start(kind), { id: kind }));
  return [whose?.form, h("div", { class: "row" }, audit, attack, measure, evidence, framework), results];
}

export function headline(run) {
  const { result } = run;
  if (result.ok === undefined || !["audit", "series"].includes(run.kind)) return null;
  const problems = [...(result.problems ?? [])];
  return notice(
    result.ok ? "good" : "bad",
    h("strong", {}, result.ok ? t("releases.ok") : t("releases.not_ok")),
    problems.length ? h("ul", {}, problems.map((one) => h("li", {}, one))) : null,
    (result.remarks ?? []).length ? h("ul", {}, result.remarks.map((one) => h("li", {}, one))) : null,
  );
}
