// Roles: one line a column, the question what a person is, and a bar with the risk as it would be published.

import { get } from "../lib/api.js";
import { announce, h, newId, paused, replace } from "../lib/dom.js";
import { NOT_PUBLISHED, onChange } from "../lib/draft.js";
import { badge, button, failure, field, folded, notice, select } from "../lib/pieces.js";
import { personQuestion } from "../lib/persons.js";
import { riskInDetail, riskLine } from "../lib/risk.js";
import { address, note } from "../lib/route.js";
import { number, percent, t } from "../lib/words.js";

const SHOWN = ["identifier", "quasi-identifier", "sensitive", "unchanged", "drop"]; // as segments
const RARE = ["quasi-sensitive", "weight", "household"]; // only where a column has it, or by its details
const TYPES = ["text", "integer", "number", "date"];
const COLLAPSE = ["", "first", "last", "most-frequent", "min", "max", "sum", "mean", "count", "set", "constant"];
const LETTERS = { i: "identifier", q: "quasi-identifier", s: "sensitive", u: "unchanged", n: "drop" };
const SURE = { high: 2, medium: 1, low: 0 };
const TONE = { high: "good", medium: "", low: "warn" };
export const TOO_UNIQUE = 0.05; // the share from which a verdict refuses unless the job says otherwise

export default async function show({ body, table, given, draft, signal }) {
  const said = h("div", { "aria-live": "polite", id: "said" });
  const person = h("div", { id: "persons" });
  const bar = h("div", { class: "line", "aria-live": "polite", id: "risk" });
  const detail = h("div", { id: "risk-detail" });
  const lines = new Map();
  const selected = new Set();
  let standing = null;
  let guesses = new Set(); // columns whose roles nobody has confirmed
  let anchor = null; // the line from which a range is selected
  let unknown = new Set((given.unknown ?? "").split(",").filter(Boolean).map(Number));

  // --- one line a column
  const edit = (...edits) => draft.edit(...edits).catch(() => {}); // a refusal is shown by onChange
  const setRole = (names, role) => edit({ columns: names, role });
  const confirm = (names) => edit({ columns: names, confirm: true });

  const line = (column) => {
    const { name } = column;
    const proposal = draft.proposal.columns[name] ?? {};
    const group = newId("role");
    const segments = h("span", { class: "segments", role: "radiogroup", "aria-label": t("roles.role_of", { column: name }) });
    const segment = (role) => {
      const input = h("input", { type: "radio", name: group, value: role, on: { change: () => setRole([name], role) } });
      return h("label", { data: { role }, title: t(`role.${role}.text`) }, input, h("span", {}, t(`roles.short.${role}`)));
    };
    replace(segments, SHOWN.map(segment));
    const box = h("input", {
      type: "checkbox",
      "aria-label": t("roles.select", { column: name }),
      on: { click: (event) => select_(name, box.checked, event.shiftKey) },
    });
    const open = button([h("span", { class: "mark", "aria-hidden": "true" }), name], () => expand(own), { class: "name", "aria-expanded": "false", title: name });
    const about = h("td", { class: "about" });
    const alone = h("td", { class: "number alone" });
    const sure = h("td", { class: "sure" });
    const row = h("tr", { data: { column: name } },
      h("td", { class: "pick" }, box),
      h("th", { scope: "row" }, open),
      h("td", { class: "role" }, segments),
      about,
      sure,
      alone);
    const own = { name, column, proposal, row, box, open, about, alone, sure, segments, segment, group, detail: null, shown: "" };
    return own;
  };

  /** Draw what the job and the server say of a column, where it differs from what is drawn. */
  const draw = (own) => {
    const { name } = own;
    const role = draft.role(name);
    const attribute = draft.job.attributes[name] ?? {};
    const share = standing?.alone[name];
    const secret = role === "sensitive" ? standing?.secrets.find((one) => one.columns.includes(name)) : null;
    const harmless = role === "sensitive" ? standing?.harmless[name] : null;
    const rule = collapsing() ? attribute.collapse : undefined;
    const guessed = guesses.has(name);
    const now = JSON.stringify([role, attribute, draft.types[name], share, guessed, secret?.columns, harmless?.values, collapsing(), draft.job.secrets]);
    if (own.shown === now) return;
    own.shown = now;
    if (RARE.includes(role) && !own.segments.querySelector(`[value="${role}"]`)) own.segments.append(own.segment(role));
    for (const input of own.segments.querySelectorAll("input")) input.checked = input.value === role;
    for (const label of own.segments.querySelectorAll("label")) label.hidden = RARE.includes(label.dataset.role) && label.dataset.role !== role;
    own.row.dataset.now = role;
    const high = role === "unchanged" && share > 0;
    own.alone.className = `number alone${high ? (share > TOO_UNIQUE ? " bad" : " warn") : ""}`;
    own.alone.title = high ? t("roles.costs", { column: name, share: percent(share) }) : "";
    replace(own.alone, share === undefined ? "" : percent(share));
    replace(own.sure, guessed ? button(t("roles.confirm"), () => confirm([name]), { class: "confirm", "aria-label": t("roles.confirm_one", { column: name }), title: t("roles.confirm_help"), data: { confirm: name } }) : surety(own.proposal, name));
    const tagged = role === "sensitive" ? chips(name, attribute, harmless, secret).flat().filter(Boolean) : [];
    replace(own.about,
      high && share > TOO_UNIQUE ? h("span", { class: "bad" }, t("roles.costs_short", { share: percent(share) })) : null,
      tagged,
      rule ? h("span", { class: "tag" }, t(`collapse.${rule}`)) : null,
      tagged.length || (high && share > TOO_UNIQUE) ? null : h("span", { class: "soft", title: own.proposal.reason }, own.proposal.reason));
    if (own.detail) replace(own.detail.firstChild, details(own));
  };

  /** How sure the proposal is; a guess that is no longer one was confirmed. */
  const confirmed = (name) => draft.proposal.job.unconfirmed?.includes(name) && !guesses.has(name);
  const surety = ({ confidence }, name) => {
    if (confirmed(name)) return badge(t("confidence.confirmed"), "good");
    return confidence ? badge(t(`confidence.${confidence}`), TONE[confidence]) : null;
  };

  const harmlessOf = (attribute) => attribute.non_sensitive_values ?? [];
  const chip = (name, value, marked, reason) =>
    button(value === "" ? t("missing") : value, () => {
      const now = harmlessOf(draft.job.attributes[name]);
      edit({ columns: [name], harmless: marked ? now.filter((one) => one !== value) : [...now, value] });
    }, { class: "chip", "aria-pressed": String(marked), title: reason ?? t("roles.harmless_help"), data: { harmless: value } });
  const chips = (name, attribute, harmless, secret) => {
    const marked = harmlessOf(attribute).map(String);
    const proposed = (harmless?.values ?? []).filter((one) => !marked.includes(one));
    return [
      secret ? h("span", { class: "tag", title: secret.sentence }, t("roles.secret_with", { names: secret.columns.filter((one) => one !== name).join(", ") })) : null,
      marked.length || proposed.length ? h("span", { class: "soft" }, t("roles.harmless")) : null,
      marked.map((value) => chip(name, value, true)),
      proposed.map((value) => chip(name, value, false, harmless.reason)),
    ];
  };

  const collapsing = () => !["one", "keep"].includes(draft.job.person?.rows ?? "one");

  const details = (own) => {
    const { name, column, proposal } = own;
    const role = draft.role(name);
    const attribute = draft.job.attributes[name] ?? {};
    const published = !NOT_PUBLISHED.has(role);
    const roles = [...SHOWN, ...RARE].map((one) => [one, t(`role.${one}`)]);
    const type = select(TYPES.map((one) => [one, t(`type.${one}`)]), draft.types[name], (one) => edit({ columns: [name], type: one }), { disabled: !published, data: { type: name } });
    const collapse = select(COLLAPSE.map((rule) => [rule, t(`collapse.${rule || "default"}`)]), attribute.collapse ?? "", (rule) => edit({ columns: [name], collapse: rule || null }), { data: { collapse: name } });
    const secret = role === "sensitive" ? standing?.secrets.find((one) => one.columns.includes(name)) : null;
    const stated = (draft.job.secrets ?? []).some((one) => one.includes(name));
    const values = (column.top ?? []).slice(0, 8);
    return [
      h("div", { class: "inline" },
        field(t("role"), select(roles, role, (one) => setRole([name], one))),
        field(t("type"), type),
        collapsing() && published ? field(t("person.rule"), collapse) : null),
      h("p", {}, proposal.reason, proposal.if_wrong ? [" ", h("span", { class: "soft" }, t("roles.if_wrong"), ": ", proposal.if_wrong)] : null),
      h("p", { class: "soft" }, t("roles.values", { n: column.distinct, missing: column.missing })),
      column.masked ? h("p", { class: "soft" }, t("table.masked")) : h("p", { class: "values" }, values.map(([value, count]) =>
        role === "sensitive" ? chip(name, String(value), harmlessOf(attribute).map(String).includes(String(value))) : h("span", { class: "tag" }, String(value), h("span", { class: "soft" }, ` ${number(count)}`)))),
      secret ? h("p", {}, secret.sentence, " ", button(t(stated ? "roles.secret_apart" : "roles.secret_one"), () => edit({ secret: secret.columns, stated: !stated }), { class: "plain", data: { secret: name } })) : null,
      stated && !secret ? h("p", {}, button(t("roles.secret_apart"), () => edit({ secret: [name], stated: false }), { class: "plain" })) : null,
    ];
  };

  const expand = (own) => {
    if (own.detail) {
      own.detail.remove();
      own.detail = null;
    } else {
      own.detail = h("tr", { class: "detail" }, h("td", { colspan: "6" }, details(own)));
      own.row.after(own.detail);
    }
    own.open.setAttribute("aria-expanded", String(own.detail !== null));
  };

  // --- search, filters, selection
  const search = h("input", { type: "search", placeholder: t("roles.search"), "aria-label": t("roles.search"), id: "search", on: { input: () => arrange() } });
  const byRole = select([["", t("roles.every_role")], ...[...SHOWN, ...RARE].map((one) => [one, t(`role.${one}`)])], "", () => arrange(), { "aria-label": t("roles.by_role"), id: "by-role" });
  const unsure = h("input", { type: "checkbox", id: "unsure", on: { change: () => arrange() } });
  const all = h("input", { type: "checkbox", "aria-label": t("roles.select_all"), id: "select-all", on: { change: () => select_(null, all.checked) } });
  const count = h("span", { class: "soft", id: "count", role: "status" });
  const acting = h("span", { class: "segments acting", role: "group", "aria-label": t("roles.set_selected") },
    SHOWN.map((role) => button(t(`roles.short.${role}`), () => setRole([...selected], role), { title: t(`role.${role}`), data: { act: role } })));
  const rows = h("tbody", {});
  let visible = [];

  const arrange = () => {
    const word = search.value.trim().toLowerCase();
    visible = [...lines.values()].filter((own) => own.name.toLowerCase().includes(word) && (!byRole.value || draft.role(own.name) === byRole.value));
    const sure = (own) => (confirmed(own.name) ? SURE.high : (SURE[own.proposal.confidence] ?? 0));
    if (unsure.checked) visible.sort((a, b) => sure(a) - sure(b));
    replace(rows, visible.flatMap((own) => [own.row, own.detail]));
    const shown = new Set(visible.map((own) => own.name));
    for (const name of [...selected]) if (!shown.has(name)) selected.delete(name); // what is not seen is not changed
    mark();
  };
  const mark = () => {
    for (const own of lines.values()) {
      own.box.checked = selected.has(own.name);
      own.row.classList.toggle("chosen", own.box.checked);
    }
    all.checked = visible.length > 0 && selected.size === visible.length;
    all.indeterminate = selected.size > 0 && !all.checked;
    for (const one of acting.children) one.disabled = !selected.size;
    replace(count, selected.size ? t("roles.selected", { n: selected.size }) : t("roles.shown", { part: visible.length, n: lines.size }));
  };
  const select_ = (name, checked, range = false) => {
    const names = visible.map((own) => own.name);
    let chosen = name === null ? names : [name];
    if (range && anchor !== null && names.includes(anchor)) {
      const [from, to] = [names.indexOf(anchor), names.indexOf(name)].sort((a, b) => a - b);
      chosen = names.slice(from, to + 1);
    }
    anchor = name;
    for (const one of chosen) checked ? selected.add(one) : selected.delete(one);
    mark();
  };

  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const own = lines.get(event.target.closest("tr[data-column]")?.dataset.column);
    if (!own || event.target.matches("input[type=text], select")) return;
    const place = visible.indexOf(own);
    const act = {
      ArrowDown: () => focus(visible[place + 1], event.target),
      ArrowUp: () => focus(visible[place - 1], event.target),
      x: () => select_(own.name, !selected.has(own.name), event.shiftKey),
      o: () => expand(own),
      c: () => confirm(selected.has(own.name) ? [...selected] : [own.name]),
    }[event.key];
    const role = LETTERS[event.key];
    if (!act && !role) return;
    event.preventDefault();
    if (act) return act();
    const names = selected.has(own.name) ? [...selected] : [own.name];
    setRole(names, role);
    announce(t("roles.set", { n: names.length, role: t(`role.${role}`) }));
  };
  const focus = (own, from) => {
    if (!own) return;
    const chosen = from.matches("[type=checkbox]") ? own.box : from.matches(".name") ? own.open : own.segments.querySelector("input:checked");
    chosen.focus();
    chosen.scrollIntoView({ block: "nearest" });
  };

  // --- after every answer
  let asking = new AbortController();
  signal.addEventListener("abort", () => asking.abort());
  const judge = async () => {
    asking.abort();
    asking = new AbortController();
    bar.classList.add("stale");
    try {
      const query = unknown.size ? `?unknown=${[...unknown].join(",")}` : "";
      standing = await get(`/api/tables/${table}/standing${query}`, asking.signal);
      bar.classList.remove("stale");
      drawAll();
      body.dataset.judged = standing.revision;
    } catch (error) {
      if (error.name !== "AbortError" && !signal.aborted) replace(bar, failure(error));
    }
  };
  const drawAll = () => {
    guesses = new Set(draft.guesses);
    for (const own of lines.values()) draw(own);
    if (!standing) return;
    replace(person, personQuestion(draft, standing.persons, edit));
    replace(bar, riskLine(standing, draft, TOO_UNIQUE, confirm));
    replace(detail, riskInDetail(standing, draft, unknown, (column, known) => {
      if (known) unknown.delete(column);
      else unknown.add(column);
      note({ unknown: [...unknown].join(",") });
      judge();
    }));
  };
  const later = paused(60, judge);
  onChange((_, error) => {
    replace(said,
      error ? failure(error) : null,
      !error && draft.also.length ? notice("warn", h("ul", {}, draft.also.map((one) => h("li", {}, t(`also.${one.what}`, one))))) : null);
    drawAll();
    if (byRole.value) arrange();
    body.dataset.revision = draft.revision;
    later();
  }, signal);

  for (const column of draft.info.columns) lines.set(column.name, line(column));
  drawAll();
  arrange();
  const tools = h("div", { class: "tools" }, search, byRole, h("label", { class: "check" }, unsure, t("roles.unsure")), count, h("span", { class: "soft" }, t("roles.set_selected")), acting);
  const head = h("thead", {}, h("tr", {},
    h("th", { scope: "col", class: "pick" }, all),
    h("th", { scope: "col" }, t("column")),
    h("th", { scope: "col" }, t("role")),
    h("th", { scope: "col", class: "about" }, t("roles.why")),
    h("th", { scope: "col", class: "sure" }, t("roles.confidence")),
    h("th", { scope: "col", class: "number", title: t("roles.alone") }, t("roles.u1"))));
  const again = button(t("roles.reset"), () => edit({ reset: true }), { id: "reset", class: "plain" });
  replace(
    body,
    person,
    said,
    tools,
    h("table", { class: "grid", on: { keydown: keys } }, h("caption", { class: "unseen" }, t("columns")), head, rows),
    h("div", { class: "folds" }, folded(t("roles.risk"), detail),
    folded(t("roles.meaning"),
      h("ul", { class: "sentences" }, [...SHOWN, ...RARE].map((role) => h("li", {}, h("strong", {}, t(`role.${role}`)), `: ${t(`role.${role}.text`)}`))),
      h("p", { class: "soft" }, t("roles.keys"))),
      again),
    h("div", { class: "footbar" }, bar, h("a", { class: "button main", id: "next", href: address("hierarchies", table) }, t("next.hierarchies"))),
  );
  const slash = (event) => {
    if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    search.focus();
  };
  addEventListener("keydown", slash, { signal });
  const measured = new ResizeObserver(() => {
    const top = document.getElementById("head").offsetHeight;
    document.documentElement.style.setProperty("--head", `${top}px`);
    document.documentElement.style.setProperty("--tools", `${tools.offsetHeight}px`);
  });
  measured.observe(document.getElementById("head"));
  measured.observe(tools);
  signal.addEventListener("abort", () => measured.disconnect());
  await judge();
}
