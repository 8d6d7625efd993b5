// How the values of a column become coarser: a tree with the rows of each node, and ways to change it.

import { once, post, upload } from "../lib/api.js";
import { announce, h, newId, replace } from "../lib/dom.js";
import { badge, button, failure, field, notice, section, select, table as draw, waiting } from "../lib/pieces.js";
import { address, note } from "../lib/route.js";
import { has, number, t } from "../lib/words.js";

const UNITS = ["month", "quarter", "year", "decade"];
const KINDS = ["automatic", "intervals", "mask", "dates", "groups", "standard", "suppress", "tree", "file"];
const FEW = 5; // rows below which a node is marked: smaller groups than most guarantees ask for
const MOST = 300; // nodes of the tree that are listed below one node

/** Return how a job writes a hierarchy, by name. */
function kindOf(written) {
  if (written === undefined || written === null) return "automatic";
  if (typeof written === "string") return ["automatic", "suppress"].includes(written) ? written : "file";
  return Object.keys(written).find((name) => KINDS.includes(name)) ?? (written.path ? "file" : "automatic");
}

export default async function show({ body, table, given, draft, signal }) {
  const named = draft.withRole("quasi-identifier", "sensitive").filter(
    (name) => draft.role(name) === "quasi-identifier" || draft.job.attributes[name].hierarchy !== undefined,
  );
  if (!named.length) return void replace(body, notice("warn", h("p", {}, t("hierarchies.none"))), next(table));
  const asked = draft.names[Number(given.column)];
  let attribute = named.includes(asked) ? asked : named[0];
  const choices = await once("/api/choices");
  const list = h("ul", { class: "list" });
  const place = h("div", {});

  const showList = () => {
    replace(list, named.map((name) => {
      const column = String(draft.names.indexOf(name));
      const choose = (event) => {
        event.preventDefault();
        attribute = name;
        note({ column });
        showList();
        edit();
      };
      const kind = kindOf(draft.job.attributes[name].hierarchy);
      return h("li", {}, h("a", { href: address("hierarchies", table, { column }), "aria-current": name === attribute ? "true" : null, on: { click: choose } }, name, h("small", {}, t(`hierarchy.${kind}`))));
    }));
  };

  const written = () => draft.job.attributes[attribute].hierarchy ?? "automatic";
  const type = () => draft.types[attribute];

  const edit = () => {
    const name = attribute;
    const view = h("div", { "aria-live": "polite" }, waiting());
    const said = h("div", { "aria-live": "polite" });
    const form = h("div", { class: "editor" });

    let asked = 0; // only the answer to the last question is shown
    const answered = async (question, keep, then = () => {}) => {
      const number = (asked += 1);
      const late = () => signal.aborted || name !== attribute || number !== asked;
      replace(said);
      view.classList.add("stale");
      try {
        const found = await question;
        if (late()) return;
        await accept(found, keep);
        then();
      } catch (error) {
        if (late()) return;
        replace(said, failure(error));
        if (!keep) replace(view);
      } finally {
        if (number === asked) view.classList.remove("stale");
      }
    };
    const load = (hierarchy, keep) =>
      answered(post(`/api/tables/${table}/hierarchy`, { attribute: name, hierarchy, type: type(), at_most: MOST }, signal), keep);
    const accept = async (found, keep) => {
      if (keep) {
        await draft.change((job) => (job.attributes[name].hierarchy = found.hierarchy));
        showList();
        announce(t("hierarchies.saved", { column: name }));
      }
      replace(view, pictured(found));
    };

    const pictured = (found) => [
      section(
        t("hierarchies.levels"),
        draw(
          [
            { name: t("hierarchies.level"), head: true, cell: (one) => (one.name ? `${one.level} · ${has(`unit.${one.name}`) ? t(`unit.${one.name}`) : one.name}` : String(one.level)) },
            { name: t("hierarchies.nodes"), number: true, cell: (one) => number(one.nodes) },
            { name: t("hierarchies.fewest"), number: true, cell: (one) => (one.fewest < FEW ? h("span", { class: "warn" }, number(one.fewest)) : number(one.fewest)) },
            { name: t("hierarchies.most"), number: true, cell: (one) => number(one.most) },
            { name: t("hierarchies.example"), className: "examples", cell: (one) => one.shown.slice(0, 3).map((node) => node.label).join(", ") },
          ],
          found.levels,
          { caption: t("hierarchies.levels") },
        ),
      ),
      section(t("hierarchies.tree"), h("p", {}, t("hierarchies.tree_help", { few: FEW })), treeEditor(found)),
    ];

    const treeEditor = (found) => {
      const chosen = new Map(); // the node of each ticked box
      const into = h("input", { type: "text", id: newId("into"), autocomplete: "off" });
      const act = button("", () => run(), { disabled: true, id: "apply-edit" });
      const refresh = () => {
        const nodes = [...chosen.values()];
        const levels = new Set(nodes.map((one) => one.level));
        const parents = new Set(nodes.map((one) => one.parent));
        act.disabled = !nodes.length || levels.size > 1 || parents.size > 1 || (nodes.length > 1 && nodes[0].level === 0);
        const name = nodes.length > 1 ? t("hierarchies.merge", { n: nodes.length }) : t("hierarchies.rename");
        replace(act, nodes.length === 1 && nodes[0].level === 0 ? t("hierarchies.rename") : name);
        if (nodes.length === 1 && nodes[0].level === 0) act.disabled = true;
        const why = !nodes.length ? "" : levels.size > 1 || parents.size > 1 ? t("hierarchies.same_parent") : nodes[0].level === 0 ? t("hierarchies.leaves") : "";
        hint.textContent = why;
      };
      const hint = h("span", { class: "help", role: "status" });
      const run = async () => {
        const nodes = [...chosen.values()];
        const label = into.value.trim() || nodes.map((one) => one.label).join(" / ");
        const one = nodes.length > 1
          ? { merge: nodes.map((node) => node.label), level: nodes[0].level, into: label }
          : { rename: nodes[0].label, level: nodes[0].level, into: label };
        const given = { attribute: name, hierarchy: found.hierarchy, type: type(), edits: [one] };
        await answered(post(`/api/tables/${table}/hierarchy/edit`, given, signal), true, showForm);
      };
      const branch = (node, parent, depth) => {
        const box = h("input", {
          type: "checkbox",
          "aria-label": t("hierarchies.choose", { node: node.label }),
          on: {
            change: () => {
              if (box.checked) chosen.set(box, { ...node, parent });
              else chosen.delete(box);
              refresh();
            },
          },
        });
        const words = [node.label === "" ? t("missing") : (node.label ?? t("missing")), h("span", { class: `count${node.rows < FEW ? " few" : ""}` }, number(node.rows))];
        const tickable = node.level > 0 && parent !== null;
        if (!node.children?.length) return h("li", {}, tickable ? box : null, words);
        const more = node.more ? h("li", { class: "soft" }, t("hierarchies.more", { n: node.more })) : null;
        const inner = h("ul", {}, node.children.map((one) => branch(one, node.label, depth + 1)), more);
        return h("li", {}, tickable ? box : null, h("details", { open: depth === 0, class: tickable ? "beside" : "" }, h("summary", {}, words), inner));
      };
      refresh();
      return h(
        "div",
        {},
        h("ul", { class: "tree", tabindex: "0", "aria-label": t("hierarchies.tree") }, branch(found.tree, null, 0)),
        h("div", { class: "row" }, h("label", { for: into.id }, t("hierarchies.into")), into, act, hint),
      );
    };

    const showForm = () => {
      const now = written();
      const kind = kindOf(now);
      const options = KINDS.filter((one) => one !== "tree" || kind === "tree").map((one) => [one, t(`hierarchy.${one}`)]);
      const inputs = h("div", {});
      const chooser = select(options, kind, (one) => {
        replace(inputs, editors[one](one === kindOf(written()) ? written() : undefined));
      });
      replace(inputs, editors[kind](now));
      replace(form, field(t("hierarchies.kind"), chooser, null, "hierarchy-kind"), inputs);
    };

    const apply = (make) => button(t("hierarchies.apply"), () => load(make(), true), { class: "apply" });
    const numbers = (text) => text.split(/[,;\s]+/).filter(Boolean).map(Number).filter((one) => one > 0);
    const star = (checked) => h("input", { type: "checkbox", checked });
    const listed = (given, key) => (given?.[key] ?? []).filter((one) => one !== "*");
    const listEditor = (key, usual, help) => (given) => {
      const values = listed(given, key);
      const input = h("input", { type: "text", value: (values.length ? values : usual).join(", "), inputmode: "numeric" });
      const top = star(given ? given[key].includes("*") : true);
      const extra = given?.order ? { order: given.order } : {};
      return [
        field(t(`hierarchies.${key}`), input, t(help)),
        h("label", { class: "check" }, top, t("hierarchies.top")),
        apply(() => ({ [key]: [...numbers(input.value), ...(top.checked ? ["*"] : [])], ...extra })),
      ];
    };
    const plain = (value) => () => [h("p", { class: "help" }, t(`hierarchy.${value}.text`)), apply(() => value)];
    const editors = {
      automatic: plain("automatic"),
      suppress: plain("suppress"),
      intervals: listEditor("intervals", [5, 10, 20], "hierarchies.intervals_help"),
      groups: listEditor("groups", [2, 4], "hierarchies.groups_help"),
      mask: (given) => {
        const side = select([["right", t("mask.right")], ["left", t("mask.left")]], given?.mask ?? "right", () => {});
        return [field(t("hierarchies.mask"), side, t("hierarchy.mask.text")), apply(() => ({ mask: side.value }))];
      },
      dates: (given) => {
        const boxes = UNITS.map((unit) => [unit, h("input", { type: "checkbox", checked: given ? given.dates.includes(unit) : unit !== "decade" })]);
        const top = star(given ? given.dates.includes("*") : true);
        return [
          h("fieldset", {}, h("legend", {}, t("hierarchies.dates")), boxes.map(([unit, box]) => h("label", { class: "check" }, box, t(`unit.${unit}`))), h("label", { class: "check" }, top, t("hierarchies.top"))),
          apply(() => ({ dates: [...boxes.filter(([, box]) => box.checked).map(([unit]) => unit), ...(top.checked ? ["*"] : [])] })),
        ];
      },
      standard: (given) => {
        const pick = select(choices.standards.map((name) => [name, [name, t(`standard.${name}`)].join(" · ")]), given?.standard ?? choices.standards[0], () => {});
        return [field(t("hierarchies.standard"), pick, t("hierarchy.standard.text")), apply(() => ({ standard: pick.value }))];
      },
      tree: () => [h("p", { class: "help" }, t("hierarchy.tree.text"))],
      file: (given) => {
        const input = h("input", {
          type: "file",
          accept: ".csv,.txt,.tsv",
          on: {
            change: () => {
              const file = input.files[0];
              const query = new URLSearchParams({ attribute: name, name: file?.name ?? "" });
              if (file) answered(upload(`/api/tables/${table}/hierarchy/file?${query}`, file, signal), true, showForm);
            },
          },
        });
        const path = typeof given === "string" ? given : given?.path;
        return [path ? h("p", {}, badge(path)) : null, field(t("hierarchies.file"), input, t("hierarchy.file.text"))];
      },
    };
    showForm();
    replace(place, h("h2", {}, name), form, said, view);
    load(written(), false);
  };

  showList();
  replace(body, h("div", { class: "columns" }, h("nav", { "aria-label": t("columns") }, list), place), next(table));
  edit();
}

function next(table) {
  return h("div", { class: "footbar" }, h("span", {}), h("a", { class: "button main", id: "next", href: address("guarantees", table) }, t("next.guarantees")));
}
