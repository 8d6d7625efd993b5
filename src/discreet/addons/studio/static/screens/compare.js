// Several methods and settings on one table: the chart, one sentence of advice, a table; then choose and go on.

import { get, post } from "../lib/api.js";
import { announce, h, replace } from "../lib/dom.js";
import { badge, button, english, failure, field, folded, notice, section, select, table as draw, waiting } from "../lib/pieces.js";
import { figure, legend, scatter } from "../lib/plots.js";
import { previewed } from "../lib/preview.js";
import { verdictWords } from "../lib/release.js";
import { address, note } from "../lib/route.js";
import { followed, latest } from "../lib/run.js";
import { number, percent, t } from "../lib/words.js";

const MEASURES = ["divergence_ratio", "query_error", "loss"];
export default async function show({ body, table, given, draft, signal }) {
  const results = h("div", { id: "results" });
  const said = h("div", { "aria-live": "polite" });
  const tried = h("div", { id: "settings" }, waiting());
  const budget = h("input", { type: "number", min: 5, max: 3600, value: 60 });
  const larger = h("input", { type: "text", placeholder: "10, 20", inputmode: "numeric", id: "k", on: { change: () => plan() } });
  const left = new Set(); // settings that the steward unticked
  const asked = () => ({ k: larger.value.split(/[,;\s]+/).map(Number).filter((one) => Number.isInteger(one) && one > 0) });
  let settings = [];
  const chosenOnes = () => settings.filter((one) => one.infeasible === null && !left.has(one.label)).map((one) => one.label);

  /** Ask which settings can hold, and list them. */
  const plan = async () => {
    try {
      ({ settings } = await post(`/api/tables/${table}/settings`, { ...(await draft.shown()), ...asked() }, signal));
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
      return;
    }
    const box = (one) => {
      const input = h("input", { type: "checkbox", value: one.label, checked: !left.has(one.label), on: { change: () => (input.checked ? left.delete(one.label) : left.add(one.label), count()) } });
      return h("label", { class: "check" }, input, one.label);
    };
    const ruled = settings.filter((one) => one.infeasible !== null);
    const ruledOut = folded(t("compare.ruled_out", { n: ruled.length }), lines(ruled.map((one) => [one.label, one.infeasible])));
    const none = ruled.length === settings.length;
    replace(said, none ? notice("warn", h("p", {}, t("compare.none")), h("p", {}, h("a", { href: address("guarantees", table) }, t("compare.ask_less")))) : null);
    if (none) what.open = ruledOut.open = true;
    replace(tried,
      h("div", { class: "boxes" }, settings.filter((one) => one.infeasible === null).map(box)),
      ruled.length ? ruledOut : null);
    count();
  };
  const count = () => {
    start.disabled = !chosenOnes().length;
    replace(start, t("compare.start", { n: chosenOnes().length }));
  };
  const start = button(t("compare.start", { n: 0 }), async () => {
    replace(said);
    try {
      const { run } = await post(`/api/tables/${table}/runs`, { kind: "compare", ...(await draft.shown()), ...asked(), labels: chosenOnes(), budget: Number(budget.value) || 60 });
      if (signal.aborted) return; // another screen is shown by now
      note({ run, point: "", preview: "" });
      given = { run };
      await showRun(run);
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  }, { class: "main", id: "start", disabled: true });
  const what = folded(t("compare.settings"), tried, h("div", { class: "opening" }, field(t("compare.larger"), larger, t("compare.larger_help"), "k"), field(t("compare.budget"), budget, t("compare.budget_help"))));
  const form = h("form", { on: { submit: (event) => event.preventDefault() } }, h("div", { class: "row" }, start, h("span", { class: "help" }, t("compare.background"))), what);

  const showRun = async (run) => {
    start.disabled = true;
    await followed(run, results, { signal }, (ended) => {
      replace(results, ended.outdated ? notice("warn", h("p", {}, t("compare.outdated"))) : null, pointsOf(run, ended.result));
      results.dataset.done = run;
    });
    if (!signal.aborted) count();
  };

  const pointsOf = (run, found) => {
    const chart = h("div", { class: "wideplot" });
    const list = h("div", {});
    const going = h("div", { class: "footbar" });
    const preview = h("div", { id: "preview" });
    const made = found.points.filter((one) => !one.failure);
    const all = [...made, { ...found.unlinked, label: found.unlinked.label, unlinked: true }];
    const measures = MEASURES.filter((key) => made.some((one) => one[key] !== null && one[key] !== undefined));
    let across = measures.includes(given.across) ? given.across : measures[0];
    let label = given.point ?? "";
    const methods = [...new Set(made.map((one) => one.method))];
    const nameOf = (one) => (one.unlinked ? t("compare.unlinked") : one.label);

    const choose = async (one) => {
      try {
        const { job } = await get(`/api/runs/${run}/point?label=${encodeURIComponent(one.label)}`, signal);
        await draft.use(job);
        label = one.label;
        note({ point: label, preview: "" });
        announce(t("compare.chosen", { name: nameOf(one) }));
        redraw();
        replace(preview);
      } catch (error) {
        if (!signal.aborted) replace(going, failure(error));
      }
    };
    const look = async () => {
      try {
        const { run: id } = await post(`/api/tables/${table}/runs`, { kind: "preview", ...(await draft.shown()) });
        note({ preview: id });
        await showPreview(id);
      } catch (error) {
        if (!signal.aborted) replace(preview, failure(error));
      }
    };
    const showPreview = (id) => followed(id, preview, { signal }, async () => replace(preview, previewed(await get(`/api/runs/${id}/preview`, signal))));

    const redraw = () => {
      const drawn = all.filter((one) => known(one[across]) && known(one.belief_99)).map((one) => ({
        x: one[across], y: one.belief_99, series: one.unlinked ? 5 : methods.indexOf(one.method) % 5, chosen: one.label === label, faint: one.dominated,
        label: t("compare.point", { name: nameOf(one), across: t(`measure.${across}`), x: number(one[across]), y: percent(one.belief_99) }), point: one,
      }));
      const title = t("compare.plot");
      const figures = [
        { name: t("compare.release"), head: true, cell: nameOf },
        { name: t("measure.belief_99"), number: true, cell: (one) => percent(one.belief_99) },
        ...measures.map((key) => ({ name: t(`measure.${key}`), number: true, cell: (one) => (key === "divergence_ratio" ? number(one[key]) : percent(one[key])) })),
        { name: t("measure.suppressed"), number: true, cell: (one) => percent(one.suppressed_share) },
      ];
      const choice = { name: t("compare.choice"), cell: (one) => (one.label === label ? badge(t("compare.is_chosen"), "good") : button(t("compare.choose"), () => choose(one), { "aria-label": t("compare.choose_one", { name: nameOf(one) }), data: { choose: one.label } })) };
      const remark = { name: t("remark"), className: "why", cell: (one) => [one.verdict ? verdictBadge(one.verdict) : null, one.dominated ? badge(t("compare.dominated")) : null, one.note ? english(` ${one.note}`, "span", { class: "reason" }) : null] };
      replace(chart, figure({
        name: "frontier", title, note: t("compare.plot_note"),
        key: legend([...methods, t("compare.unlinked")], [...methods.map((_, place) => place % 5), 5]),
        drawing: scatter({ title, points: drawn, across: t(`measure.${across}`), up: t("measure.belief_99"), ceiling: found.ceiling, choose: (one) => choose(one.point) }),
        columns: figures,
        rows: all,
      }));
      replace(list, draw([figures[0], choice, ...figures.slice(1), remark], all, { caption: t("compare.releases"), className: "points", row: (one) => ({ class: one.label === label ? "chosen" : "" }) }));
      const chosen = all.find((one) => one.label === label);
      replace(going,
        h("span", { class: "line" }, chosen ? t("compare.chosen", { name: nameOf(chosen) }) : t("compare.choose_first")),
        h("span", { class: "ways" }, chosen ? button(t("compare.look"), look, { id: "look" }) : null, h("a", { class: `button${chosen ? " main" : ""}`, id: "next", href: address("publish", table) }, t("next.publish"))));
    };
    if (made.length) redraw();
    if (given.preview) showPreview(given.preview);
    const failed = found.points.filter((one) => one.failure).map((one) => [one.label, one.failure]);
    const untried = (found.untried ?? []).map((one) => one.split(/ \((?=[^(]*$)/)).map(([name, why]) => [name, why?.replace(/\)$/, "") ?? t("compare.no_time")]);
    return [
      h("div", { class: made.length ? "beside" : null }, chart, h("div", {},
        advice(found, all, choose, nameOf),
        measures.length > 1 ? field(t("compare.across"), select(measures.map((key) => [key, t(`measure.${key}`)]), across, (key) => {
          across = key;
          note({ across });
          redraw();
        })) : null)),
      list,
      failed.length || untried.length ? section(t("compare.failed"), lines([...failed, ...untried])) : null,
      preview,
      going,
    ];
  };

  replace(body, said, form, results);
  await plan();
  const run = given.run ?? (await latest(table, "compare"));
  if (run) {
    note({ run });
    showRun(run);
  }
}

const known = (figure) => figure !== null && figure !== undefined;

function verdictBadge(word) {
  const { words, tone } = verdictWords(word);
  return badge(words, tone);
}

/** What failed or was left out, in one line each: its first sentence, all of it on demand. */
function lines(pairs) {
  const alike = new Map();
  for (const [label, reason] of pairs) alike.set(reason, [...(alike.get(reason) ?? []), label]);
  const short = (reason) => reason.replace(/^[a-z-]+: /, "").split(/(?<=[.:;]) |; /)[0];
  const line = (labels, reason) => h("span", {}, h("strong", {}, labels.join(", ")), ": ", english(short(reason)));
  return h("ul", { class: "sentences oneline" }, [...alike].map(([reason, labels]) =>
    h("li", {}, short(reason).length < reason.length - 2 ? h("details", {}, h("summary", {}, line(labels, reason)), english(reason, "p")) : line(labels, reason))));
}

/** One sentence of advice, with the release that it names. */
function advice(found, all, choose, nameOf) {
  if (all.length === 1) return notice("warn", h("p", { id: "advice" }, h("strong", {}, t("compare.none_ended"))));
  const best = all.find((one) => one.label === found.best);
  const base = found.unlinked;
  if (!best) {
    const words = base.belief_99 > found.ceiling ? t("compare.advice_ceiling", { belief: percent(base.belief_99), ceiling: percent(found.ceiling) }) : t("compare.advice_none");
    return notice("warn", h("p", { id: "advice" }, h("strong", {}, words)));
  }
  const words = best.unlinked
    ? t("compare.advice_unlinked")
    : t("compare.advice_best", { name: best.label, error: percent(best.query_error), without: percent(base.query_error), belief: percent(best.belief_99), before: percent(base.belief_99) });
  return notice("good", h("p", { id: "advice" }, h("strong", {}, words), " ", best.verdict ? verdictBadge(best.verdict) : null),
    h("p", {}, button(t("compare.choose_one", { name: nameOf(best) }), () => choose(best), { class: "main", data: { advised: best.label } })));
}
