// Several methods on one table: risk against utility, and what the chosen one does to rows and columns.

import { get, once, post } from "../lib/api.js";
import { announce, h, replace } from "../lib/dom.js";
import { badge, button, english, failure, field, folded, notice, section, select, table as draw } from "../lib/pieces.js";
import { figure, legend, scatter } from "../lib/plots.js";
import { previewed } from "../lib/preview.js";
import { address, note } from "../lib/route.js";
import { followed } from "../lib/run.js";
import { number, percent, t } from "../lib/words.js";
import { named } from "./guarantees.js";

const MEASURES = ["divergence_ratio", "query_error", "loss"];
const OTHERS = new Set(["m-invariance", "rho-different", "quasi-sensitive"]); // need a ledger or a knowledge table

export default async function show({ body, table, given, draft, signal }) {
  const choices = await once("/api/choices");
  const results = h("div", { id: "results" });
  const said = h("div", { "aria-live": "polite" });
  const chosen = new Set();
  const boxes = choices.methods
    .filter((one) => !OTHERS.has(one.name))
    .map((one) => {
      const box = h("input", { type: "checkbox", value: one.name, on: { change: () => (box.checked ? chosen.add(one.name) : chosen.delete(one.name)) } });
      return h("label", { class: "check" }, box, one.name);
    });
  const vary = h("input", { type: "text", placeholder: "2, 3, 5", inputmode: "numeric" });
  const budget = h("input", { type: "number", min: 5, max: 3600, value: 60 });
  const start = button(t("compare.start"), async () => {
    replace(said);
    const values = vary.value.split(/[,;\s]+/).filter(Boolean).map(Number);
    const asked = { kind: "compare", ...(await draft.shown()), budget: Number(budget.value) || 60 };
    if (chosen.size) asked.methods = [...chosen];
    if (values.length) {
      asked.vary = { l: values };
      asked.methods ??= [named(draft.job.method ?? "full-domain")[0]];
    }
    try {
      const { run } = await post(`/api/tables/${table}/runs`, asked);
      note({ run, point: "", preview: "" });
      given = { run };
      await showRun(run);
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  }, { class: "main", id: "start" });

  const showRun = (run) => followed(run, results, { signal }, async (ended) => {
    const found = await get(`/api/runs/${run}/points`, signal);
    replace(results, pointsOf(run, found, ended));
  });

  const pointsOf = (run, found) => {
    const place = h("div", {});
    const preview = h("div", { id: "preview" });
    const measures = MEASURES.filter((key) => found.points.some((one) => one[key] !== null && one[key] !== undefined && !one.failure));
    let across = measures.includes(given.across) ? given.across : measures[0];
    let label = given.point ?? "";
    const made = found.points.filter((one) => !one.failure);
    const methods = [...new Set(made.map((one) => one.method))];

    const choose = async (one) => {
      try {
        const { job } = await get(`/api/runs/${run}/point?label=${encodeURIComponent(one.label)}`, signal);
        await draft.use(job);
        label = one.label;
        note({ point: label, preview: "" });
        announce(t("compare.chosen", { name: label }));
        redraw();
        await look();
      } catch (error) {
        if (!signal.aborted) replace(preview, failure(error));
      }
    };
    const look = async () => {
      try {
        const asked = await post(`/api/tables/${table}/runs`, { kind: "preview", ...(await draft.shown()) });
        note({ preview: asked.run });
        await showPreview(asked.run);
      } catch (error) {
        if (!signal.aborted) replace(preview, failure(error));
      }
    };
    const showPreview = (id) => followed(id, preview, { signal }, async () => replace(preview, previewed(await get(`/api/runs/${id}/preview`, signal))));

    const redraw = () => {
      const drawn = made.filter((one) => one[across] !== null && one.belief_99 !== null).map((one) => ({
        ...one, x: one[across], y: one.belief_99, series: methods.indexOf(one.method), chosen: one.label === label, faint: one.dominated,
        label: t("compare.point", { name: one.label, across: t(`measure.${across}`), x: number(one[across]), y: percent(one.belief_99) }), point: one,
      }));
      const names = [...methods];
      if (found.unlinked?.[across] !== undefined && found.unlinked[across] !== null) {
        drawn.push({ x: found.unlinked[across], y: found.unlinked.belief_99, series: 5, can: false, label: t("compare.unlinked") });
      }
      const title = t("compare.plot");
      const columns = [
        { name: t("compare.release"), head: true, cell: (one) => one.label },
        { name: t("compare.choice"), cell: (one) => (one.failure ? "" : one.label === label ? badge(t("compare.is_chosen"), "good") : button(t("compare.choose"), () => choose(one), { "aria-label": t("compare.choose_one", { name: one.label }), data: { choose: one.label } })) },
        { name: t("measure.belief_99"), number: true, cell: (one) => percent(one.belief_99) },
        ...measures.map((key) => ({ name: t(`measure.${key}`), number: true, cell: (one) => number(one[key]) })),
        { name: t("measure.suppressed"), number: true, cell: (one) => percent(one.suppressed_share) },
        { name: t("remark"), cell: (one) => (one.failure ? english(one.failure) : [one.dominated ? badge(t("compare.dominated")) : null, one.note ? english(` ${one.note}`) : null]) },
      ];
      replace(
        place,
        h("div", { class: "wideplot" }, figure({
          name: "frontier", title, note: t("compare.plot_note"),
          key: legend([...names, ...(drawn.some((one) => one.can === false) ? [t("compare.unlinked")] : [])], [...names.keys(), 5]),
          drawing: scatter({ title, points: drawn, across: t(`measure.${across}`), up: t("measure.belief_99"), ceiling: found.ceiling, choose: (one) => choose(one.point) }),
          columns: columns.filter((one, place) => place !== 1 && place < 3 + measures.length),
          rows: [...made, { ...found.unlinked, label: t("compare.unlinked") }],
        })),
        draw(columns, found.points, { caption: t("compare.releases"), className: "points", row: (one) => ({ class: one.label === label ? "chosen" : "" }) }),
      );
    };
    redraw();
    if (given.preview) showPreview(given.preview);
    return [
      recommended(found, made, choose),
      field(t("compare.across"), select(measures.map((key) => [key, t(`measure.${key}`)]), across, (key) => {
        across = key;
        note({ across });
        redraw();
      })),
      place,
      found.untried?.length ? notice("warn", h("p", {}, t("compare.untried", { names: found.untried.join(", ") }))) : null,
      preview,
    ];
  };

  replace(
    body,
    h("form", { on: { submit: (event) => event.preventDefault() } },
      folded(t("compare.settings"),
        h("fieldset", {}, h("legend", {}, t("compare.methods")), h("p", { class: "help" }, t("compare.methods_help")), h("div", { class: "boxes" }, boxes)),
        field(t("compare.vary"), vary, t("compare.vary_help")),
        field(t("compare.budget"), budget)),
      h("div", { class: "row" }, start)),
    said,
    results,
    h("div", { class: "row end" }, h("a", { class: "button main", id: "next", href: address("publish", table) }, t("next.publish"))),
  );
  if (given.run) await showRun(given.run);
}

function recommended(found, made, choose) {
  const lines = (found.recommendations ?? []).map((one) => {
    const point = made.find((other) => other.label === one.label);
    const words = english(one.sentence.replace(/^Recommended for [a-z]+: /, "")); // the line begins with the use
    return h("li", {}, h("strong", {}, t(`use.${one.for}`)), ": ", words, point ? [" ", button(t("compare.choose"), () => choose(point), { class: "plain", "aria-label": t("compare.choose_one", { name: one.label }) })] : null);
  });
  return lines.length ? section(t("compare.recommended"), h("ul", { class: "sentences" }, lines)) : null;
}
