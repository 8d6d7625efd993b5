// A role for each column, and what an attacker who knows some of them could single out.

import { post } from "../lib/api.js";
import { h, paused, replace } from "../lib/dom.js";
import { onChange } from "../lib/draft.js";
import { badge, button, cards, english, failure, field, folded, notice, section, select, table as draw, waiting } from "../lib/pieces.js";
import { bars, figure } from "../lib/plots.js";
import { address, note } from "../lib/route.js";
import { number, percent, t } from "../lib/words.js";

const ROLES = ["identifier", "quasi-identifier", "sensitive", "quasi-sensitive", "insensitive", "weight", "household", "drop"];
const TONE = { high: "good", medium: "", low: "warn" };
const COLLAPSE = ["", "first", "last", "most-frequent", "min", "max", "sum", "mean", "count", "set", "constant"];

export default async function show({ body, table, given, draft, signal }) {
  const risk = h("div", { "aria-live": "polite", id: "risk" }, waiting());
  const problems = h("div", { "aria-live": "polite" });
  const attackerPlace = h("div", {});
  const columnsPlace = h("div", {});
  const personPlace = h("div", {});
  // The columns that the attacker does not know, by number: the address holds no text of the table.
  let unknown = new Set((given.unknown ?? "").split(",").filter(Boolean).map(Number));
  const alone = new Map();

  const known = () => draft.withRole("quasi-identifier").filter((name) => !unknown.has(draft.names.indexOf(name)));

  let asking = new AbortController();
  const judge = async () => {
    asking.abort();
    asking = new AbortController();
    risk.classList.add("stale");
    const quasi = known();
    const person = draft.person.length === 1 ? draft.person[0] : null;
    try {
      if (!quasi.length) return void replace(risk, h("p", {}, t("roles.knows_nothing")));
      const found = await post(`/api/tables/${table}/risk`, { quasi, person }, asking.signal);
      for (const one of found.alone) alone.set(one.column, one);
      showRisk(found);
      for (const cell of columnsPlace.querySelectorAll("[data-alone]")) showAlone(cell);
    } catch (error) {
      if (error.name !== "AbortError" && !signal.aborted) replace(risk, failure(error));
    } finally {
      risk.classList.remove("stale");
    }
  };
  signal.addEventListener("abort", () => asking.abort());

  const showAlone = (cell) => {
    const found = alone.get(cell.dataset.alone);
    const shown = found && draft.role(cell.dataset.alone) === "quasi-identifier";
    cell.textContent = shown ? percent(found.unique_share) : "";
  };

  const showRisk = (found) => {
    const tone = found.unique_share > 0.05 ? "bad" : found.unique_share > 0 ? "warn" : "good";
    const people = found.persons !== null && found.persons !== undefined;
    const all = people ? found.persons : found.rows;
    const without = [...found.without].sort((a, b) => a.unique_share - b.unique_share);
    const rows = found.sizes.map((one) => ({
      label: one.from === one.to ? number(one.from) : one.to ? `${number(one.from)}–${number(one.to)}` : `≥ ${number(one.from)}`,
      share: one.share,
      rows: one.rows,
    }));
    replace(
      risk,
      cards([
        { key: "unique", name: t(people ? "roles.unique_persons" : "roles.unique"), shown: percent(found.unique_share), value: found.unique_share, note: t("roles.of", { part: found.unique, whole: all }), tone },
        { key: "average", name: t("roles.average"), shown: percent(found.average_risk), value: found.average_risk },
        { key: "highest", name: t("roles.highest"), shown: percent(found.highest_risk), value: found.highest_risk },
        { key: "classes", name: t("roles.classes"), shown: number(found.classes), value: found.classes },
      ]),
      without.length
        ? [
            h("h3", {}, t("roles.without")),
            h("ul", { class: "sentences" }, without.slice(0, 4).map((one) => h("li", {}, t("roles.without_one", { column: one.column, share: percent(one.unique_share) })))),
          ]
        : null,
      figure({
        name: "sizes",
        title: t("roles.sizes"),
        note: t("roles.sizes_note"),
        drawing: bars({ title: t("roles.sizes"), rows, width: 340 }),
        columns: [
          { name: t("roles.size"), head: true, cell: (one) => one.label },
          { name: people ? t("persons") : t("rows"), number: true, cell: (one) => number(one.rows) },
          { name: t("share"), number: true, cell: (one) => percent(one.share) },
        ],
        rows,
      }),
    );
  };

  const check = paused(250, async () => {
    try {
      const found = await post(`/api/tables/${table}/job`, { job: draft.job }, signal);
      replace(problems, found.problems.length ? notice("warn", h("strong", {}, t("job.problems", { n: found.problems.length })), h("ul", {}, found.problems.map((one) => english(one, "li")))) : null);
    } catch (error) {
      if (!signal.aborted) replace(problems, failure(error));
    }
  });

  const showAttacker = () => {
    const quasi = draft.withRole("quasi-identifier");
    const boxes = quasi.map((name) => {
      const place = draft.names.indexOf(name);
      const box = h("input", {
        type: "checkbox",
        checked: !unknown.has(place),
        on: {
          change: () => {
            if (box.checked) unknown.delete(place);
            else unknown.add(place);
            note({ unknown: [...unknown].join(",") });
            judge();
          },
        },
      });
      return h("label", { class: "check" }, box, name);
    });
    replace(attackerPlace, h("fieldset", { id: "attacker" }, h("legend", {}, t("roles.attacker")), h("p", { class: "help" }, t("roles.attacker_help")), boxes.length ? boxes : h("p", {}, t("roles.none_quasi"))));
  };

  const showPerson = () => {
    const column = draft.person[0] ?? "";
    const counted = draft.proposal.persons;
    const identifiers = draft.withRole("identifier");
    const options = [["", t("person.none")], ...identifiers.map((name) => [name, name])];
    const rows = draft.job.person?.rows ?? "one";
    const mode = typeof rows === "string" ? rows : "count";
    const choose = (name) => {
      const rows = counted ? "collapse" : "one";
      draft.setPerson(name ? { ...(draft.person.length ? draft.job.person : { rows }), column: name } : null);
      showPerson();
      showColumns();
    };
    const become = (value) => {
      const { column, order } = draft.job.person;
      draft.setPerson({ column, rows: value, ...(order ? { order } : {}) });
      showColumns();
    };
    const modes = ["one", "collapse", "keep"].map((one) => [one, t(`person.${one}`)]);
    if (mode === "count") modes.push(["count", t("person.count")]);
    const unit = h("input", {
      type: "checkbox",
      checked: draft.job.unit === "rows",
      on: { change: (event) => draft.change((job) => (event.target.checked ? (job.unit = "rows") : delete job.unit)) },
    });
    replace(
      personPlace,
      field(t("person.column"), select(options, column, choose), t("person.help"), "person"),
      column ? field(t("person.rows"), select(modes, mode, become), null, "person-rows") : null,
      column && counted ? h("p", { class: "help" }, t("person.counted", { persons: counted.persons ?? counted.count ?? 0, most: counted.most ?? 0 })) : null,
      column ? null : h("label", { class: "check" }, unit, t("person.unit")),
    );
  };

  const showColumns = () => {
    const collapsing = draft.job.person?.rows === "collapse";
    const columns = [
      { name: t("column"), head: true, cell: (one) => one.name },
      {
        name: t("role"),
        cell: (one) =>
          select(ROLES.filter((role) => role !== "quasi-sensitive" || draft.role(one.name) === role).map((role) => [role, t(`role.${role}`)]), draft.role(one.name), (role) => {
            draft.setRole(one.name, role);
            showAttacker();
            showPerson();
            judge();
            for (const cell of columnsPlace.querySelectorAll("[data-alone]")) showAlone(cell);
          }, { "aria-label": t("roles.role_of", { column: one.name }), data: { role: one.name } }),
      },
      {
        name: t("type"),
        cell: (one) =>
          select(["text", "integer", "number", "date"].map((type) => [type, t(`type.${type}`)]), draft.job.attributes[one.name]?.type ?? (one.type === "text" ? "text" : one.type), (type) =>
            draft.change((job) => ((job.attributes[one.name] ??= { role: "drop" }).type = type)),
          { "aria-label": t("roles.type_of", { column: one.name }) }),
      },
    ];
    if (collapsing) {
      columns.push({
        name: t("person.rule"),
        cell: (one) =>
          ["identifier", "drop"].includes(draft.role(one.name)) ? "" :
          select(COLLAPSE.map((rule) => [rule, t(`collapse.${rule || "default"}`)]), draft.job.attributes[one.name]?.collapse ?? "", (rule) =>
            draft.change((job) => (rule ? (job.attributes[one.name].collapse = rule) : delete job.attributes[one.name].collapse)),
          { "aria-label": t("person.collapse_of", { column: one.name }), data: { collapse: one.name } }),
      });
    }
    columns.push(
      { name: t("roles.alone"), number: true, cell: (one) => {
        const cell = h("span", { data: { alone: one.name } });
        showAlone(cell);
        return cell;
      } },
      { name: t("roles.why"), className: "why", cell: (one) => why(draft.proposal.columns[one.name]) },
    );
    replace(columnsPlace, draw(columns, draft.info.columns, { caption: t("columns"), className: "roles" }));
  };

  const again = button(t("roles.reset"), () => {
    draft.use(draft.proposal.job);
    showColumns();
    showAttacker();
    showPerson();
    judge();
  }, { id: "reset" });

  showColumns();
  showAttacker();
  showPerson();
  onChange(() => check(), signal);
  check();
  replace(
    body,
    h(
      "div",
      { class: "two" },
      h(
        "div",
        {},
        problems,
        columnsPlace,
        section(t("person.title"), personPlace),
        folded(t("roles.meaning"), h("ul", { class: "sentences" }, ROLES.map((role) => h("li", {}, h("strong", {}, t(`role.${role}`)), `: ${t(`role.${role}.text`)}`)))),
        h("div", { class: "row end" }, h("a", { class: "button main", id: "next", href: address("hierarchies", table) }, t("next.hierarchies")), again),
      ),
      h("aside", { class: "aside", "aria-label": t("roles.risk") }, attackerPlace, h("h2", {}, t("roles.risk")), risk),
    ),
  );
  await judge();
}

function why(proposal) {
  if (!proposal) return "";
  return [
    badge(t(`confidence.${proposal.confidence}`), TONE[proposal.confidence]),
    " ",
    english(proposal.reason),
    proposal.if_wrong ? folded(t("roles.if_wrong"), english(proposal.if_wrong)) : null,
  ];
}
