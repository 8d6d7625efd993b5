// Work that takes a while: start it, follow it by server-sent events, cancel it. Its number is in the
// address, so a reload finds it again.

import { get, post } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { button, english, failure, notice } from "./pieces.js";
import { has, number, percent, t } from "./words.js";

const ENDED = new Set(["done", "failed", "refused", "cancelled"]);
const [SOON, FINE] = [3, 10]; // seconds before an estimate is shown; below which it is exact

/** Return the last run of a kind that a table has, if it is running or its result is about the job as it is. */
export async function latest(table, kind) {
  const { runs } = await get(`/api/runs?table=${table}`);
  const shows = (one) => !ENDED.has(one.state) || (one.state === "done" && (kind !== "publish" || !one.outdated));
  return runs.filter((one) => one.kind === kind && shows(one)).at(-1)?.run;
}

/** The share of a run that is done, by its phases and their usual shares of the time. */
function shareDone(run, phases, reached) {
  if (!phases.length) return run.share;
  const weights = phases.map(([, weight]) => weight);
  const sum = (some) => some.reduce((total, one) => total + one, 0);
  const inside = reached < 0 ? 0 : weights[reached] * (run.share ?? 0);
  return (sum(weights.slice(0, Math.max(reached, 0))) + inside) / sum(weights);
}

/** Seconds until a run ends, at the pace of what is done; null until a tenth is, and some seconds have passed. */
function secondsLeft(run, phases, reached) {
  const done = shareDone(run, phases, reached);
  return !phases.length || done < 0.1 || run.seconds < SOON ? null : (run.seconds / done) * (1 - done);
}

/** The time that is left, in words: by what is done, or by the limit that the run keeps. */
function timeLeft(run, phases, reached) {
  if (run.state !== "running") return null;
  if (run.kind === "compare" && run.budget) return t("run.at_most", { n: Math.max(1, Math.ceil(run.budget - run.seconds)) });
  const seconds = secondsLeft(run, phases, reached);
  return seconds === null ? null : roughly(seconds);
}

function roughly(seconds) {
  if (seconds > 90) return t("run.left_minutes", { n: Math.round(seconds / 60) });
  return t("run.left", { n: seconds < FINE ? Math.max(1, Math.ceil(seconds)) : Math.ceil(seconds / 5) * 5 });
}

/** What a run is doing, in the language of the page where it is known; else its step, with what it tries. */
function doing(run, step) {
  if (has(`phase.${run.phase}`)) return t(`phase.${run.phase}`);
  if (step) return [t(`phase.${step}`), " (", english(run.phase.split(":")[0]), ")"];
  return run.text ? english(run.text) : t("run.waiting");
}

/** The step that a phase belongs to. What methods and attacks call their own phases is not listed. */
function stepOf(phase, phases, reached) {
  const place = (name) => phases.findIndex(([one]) => one === name);
  if (place(phase) >= 0 || phase === "starting") return place(phase);
  return place(reached >= place("writing") ? "attacks" : "searching");
}

/** Show a run in an element until it ends; return it then. `phases` are its phases with their usual shares of the time. */
export async function follow(id, place, { signal, phases = [] }) {
  let run = await get(`/api/runs/${id}`, signal);
  if (ENDED.has(run.state)) {
    replace(place);
    return run;
  }
  const bar = h("progress", { max: 1, "aria-label": t("run.progress") });
  const words = h("p", { class: "doing" });
  const steps = phases.map(([phase]) => h("li", { data: { phase } }, t(`phase.${phase}`)));
  const cancel = button(t("run.cancel"), async () => {
    cancel.disabled = true;
    replace(cancel, t("run.cancelling"));
    await post(`/api/runs/${id}/cancel`).catch(() => {});
  }, { class: "cancel" });
  const status = h("div", { class: "running", data: { run: id } }, words, bar, steps.length ? h("ol", { class: "phases" }, steps) : null, cancel);
  replace(place, status);
  let told = "";
  let reached = -1;
  const show = (now) => {
    run = now;
    const step = now.state === "running" ? stepOf(now.phase, phases, reached) : -1;
    reached = Math.max(reached, step);
    const done = shareDone(now, phases, reached);
    bar.value = done;
    const share = done > 0 ? ` · ${percent(done)}` : "";
    const left = timeLeft(now, phases, reached);
    replace(words, doing(now, phases[reached]?.[0]), `${share} · ${t("run.seconds", { n: Math.round(now.seconds ?? 0) })}`, left === null ? null : h("span", { class: "left" }, ` · ${left}`));
    steps.forEach((one, place) => (one.className = place < reached ? "done" : place === reached ? "now" : ""));
    if (now.phase !== told) announce(has(`phase.${now.phase}`) ? t(`phase.${now.phase}`) : (now.text ?? ""));
    told = now.phase;
  };
  show(run);
  dispatchEvent(new Event("work"));
  return new Promise((resolve, reject) => {
    const events = new EventSource(`/api/runs/${id}/events`);
    const close = () => events.close();
    signal.addEventListener("abort", close);
    events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
    const end = (ended) => {
      replace(place);
      dispatchEvent(new Event("work")); // its step is no longer busy
      announce(t(`state.${ended.state}`));
      resolve(ended);
    };
    events.addEventListener("end", () => {
      close();
      get(`/api/runs/${id}`, signal).then(end, reject); // with its result
    });
    events.addEventListener("error", async () => {
      if (signal.aborted) return;
      try {
        run = await get(`/api/runs/${id}`); // the stream may have been cut: it opens again by itself
        if (!ENDED.has(run.state)) return;
        close();
        end(run);
      } catch (error) {
        close();
        reject(error);
      }
    });
  });
}

/** What to show of a run that did not succeed; nothing for one that did. */
export function outcome(run) {
  if (run.state === "done") return null;
  if (run.state === "cancelled") return notice("warn", h("strong", {}, t("state.cancelled")), h("p", {}, t("run.nothing_left")));
  const title = run.state === "refused" ? t("state.refused") : t("state.failed");
  const said = run.error ?? {};
  const problems = said.problems ?? [];
  return h(
    "div",
    { class: "notice bad", role: "alert", data: { state: run.state } },
    h("strong", {}, title),
    problems.length > 1 ? h("ul", {}, problems.map((one) => english(one, "li"))) : english(said.error ?? "", "p"),
  );
}

/** Follow a run and then show its result, or why there is none. */
export async function followed(id, place, options, show) {
  const status = h("div", {});
  replace(place, status);
  try {
    const run = await follow(id, status, options);
    if (options.signal.aborted) return;
    const problem = outcome(run);
    if (problem) replace(place, problem);
    else await show(run, place);
  } catch (error) {
    if (!options.signal.aborted) replace(place, failure(error));
  }
}

export const tookSeconds = (run) => t("run.took", { n: number(Math.round((run.seconds ?? 0) * 10) / 10) });
