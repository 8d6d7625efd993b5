// The page: its head with the steps, the screen that the address names, and the job behind one click.

import { download, forget, get, once, post } from "./lib/api.js";
import { Draft } from "./lib/draft.js";
import { announce, h, replace } from "./lib/dom.js";
import { button, english, failure, notice, saveText, select, waiting } from "./lib/pieces.js";
import { address, go, route } from "./lib/route.js";
import { LANGUAGES, current, preferred, speak, t } from "./lib/words.js";
import compare from "./screens/compare.js";
import guarantees from "./screens/guarantees.js";
import hierarchies from "./screens/hierarchies.js";
import judge from "./screens/judge.js";
import publish from "./screens/publish.js";
import releases from "./screens/releases.js";
import roles from "./screens/roles.js";
import table from "./screens/table.js";

const SCREENS = { table, roles, hierarchies, guarantees, compare, publish, releases, judge };
const FREE = new Set(["table", "releases", "judge"]); // need no table
const [ALIVE, MARK] = [20_000, 2000]; // milliseconds

let leaving = new AbortController();
let drafted = null; // the draft of the screen

function head(screen, tableId, draft) {
  const steps = Object.keys(SCREENS).map((name, place) => {
    const words = [name === "judge" ? null : h("b", { "aria-hidden": "true" }, String(place + 1)), t(`${name}.step`)];
    const reachable = tableId || FREE.has(name);
    const link = reachable
      ? h("a", { href: address(name, tableId), "aria-current": name === screen ? "step" : null }, words)
      : h("span", { title: t("steps.no_table") }, words);
    return h("li", { data: { step: name } }, link);
  });
  const language = select(Object.entries(LANGUAGES), current(), change, { "aria-label": t("language"), id: "language" });
  const job = draft ? button(t("job.open"), () => showJob(draft), { id: "open-job" }) : null;
  const about = draft ? t("head.about", { name: draft.info.name, n: draft.info.rows }) : "";
  replace(
    document.getElementById("head"),
    h(
      "div",
      { class: "bar" },
      h("a", { class: "brand", href: "#/table" }, "discreet studio"),
      h("span", { class: "about", title: about }, about),
      h("span", { class: "end" }, job, language, button(t("stop"), stop, { id: "stop" })),
    ),
    h("nav", { "aria-label": t("steps") }, h("ol", { class: "steps" }, steps)),
  );
  centre();
  if (tableId) mark(tableId);
}

/** Show the present step in the middle of a narrow window. */
function centre() {
  // Not scrollIntoView: Chromium then begins at this step when Tab is pressed, instead of at the top of the page.
  const list = document.querySelector(".steps");
  const now = list?.querySelector("[aria-current]");
  if (now) list.scrollLeft = now.offsetLeft - (list.clientWidth - now.offsetWidth) / 2;
}

let marking = 0;
/** Mark the steps whose work goes on, until it has ended. */
async function mark(tableId) {
  clearTimeout(marking);
  const { runs } = await get(`/api/runs?table=${tableId}`).catch(() => ({ runs: [] }));
  const active = new Set(runs.filter((one) => ["waiting", "running"].includes(one.state)).map((one) => one.kind));
  for (const step of document.querySelectorAll(".steps [data-step]")) {
    const busy = active.has(step.dataset.step);
    if (busy !== Boolean(step.querySelector(".busy"))) busy ? step.firstChild.append(h("i", { class: "busy", title: t("run.goes_on") }, h("span", { class: "unseen" }, t("run.goes_on")))) : step.querySelector(".busy").remove();
  }
  if (active.size) marking = setTimeout(() => mark(tableId), MARK);
}

async function change(language) {
  forget("/api/"); // sentences of the server are in the language of the question
  await speak(language, (name) => get(`/strings/${name}.json`));
  await show(false);
  document.getElementById("language").focus();
}

async function stop() {
  leaving.abort();
  clearInterval(breathing);
  await post("/api/stop").catch(() => {});
  drafted = null;
  replace(document.getElementById("head"));
  replace(document.getElementById("main"), h("h1", {}, t("stopped.title")), h("p", {}, t("stopped.text")));
}

/** Show the screen of the address. */
async function show(moved = true) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { screen: named, table: tableId, given } = route();
  const screen = named in SCREENS ? named : "table";
  const main = document.getElementById("main");
  document.getElementById("skip").textContent = t("skip");
  replace(main, waiting());
  drafted = null;
  try {
    const draft = tableId ? await Draft.open(tableId) : null;
    if (signal.aborted) return;
    if (!draft && !FREE.has(screen)) return void go("table");
    drafted = draft;
    head(screen, tableId, draft);
    document.title = `${t(`${screen}.title`)} · discreet studio`;
    const body = h("div", { class: "body", data: { screen } });
    replace(main, h("h1", {}, t(`${screen}.title`)), h("p", { class: "intro" }, t(`${screen}.intro`)), body);
    if (moved) main.focus();
    await SCREENS[screen]({ body, table: tableId, given, draft, signal });
  } catch (error) {
    if (signal.aborted) return;
    head(screen, "", null);
    const gone = error.status === 404 ? notice("warn", h("p", {}, t("error.gone"))) : failure(error);
    replace(main, h("h1", {}, t(`${screen}.title`)), gone, h("p", {}, h("a", { href: "#/table" }, t("error.start"))));
  }
  if (!signal.aborted) main.dataset.ready = `${screen} ${current()}`;
}

/** Show the job that this page would run: to read, to edit as text, to save, to run by the command line. */
async function showJob(draft) {
  const dialog = document.getElementById("job");
  const title = h("h2", { id: "job-title" }, t("job.title"));
  const place = h("div", {}, waiting());
  const close = button(t("close"), () => dialog.close(), { class: "main" });
  replace(dialog, title, h("p", {}, t("job.intro")), place, h("div", { class: "row end" }, close));
  dialog.showModal();
  try {
    const found = await post(`/api/tables/${draft.table}/job`, await draft.shown());
    const said = h("div", { "aria-live": "polite" });
    const edit = h("textarea", { "aria-label": t("job.text"), spellcheck: "false", value: found.yaml, rows: "18" });
    edit.value = found.yaml;
    const use = button(t("job.use"), async () => {
      try {
        const read = await post(`/api/tables/${draft.table}/job/read`, { yaml: edit.value });
        if (read.problems?.length) return void replace(said, problemList(read.problems));
        await draft.use(read.job);
        dialog.close();
        await show(false);
        announce(t("job.used"));
      } catch (error) {
        replace(said, failure(error));
      }
    });
    const save = button(t("job.save"), () => saveText("job.yaml", edit.value));
    const zip = found.files?.length
      ? button(t("job.zip"), async () => download(`/api/tables/${draft.table}/job.zip`, await draft.shown(), "job.zip"))
      : null;
    replace(
      place,
      found.problems?.length ? problemList(found.problems) : notice("good", h("p", {}, t("job.sound"))),
      h("p", {}, t("job.command")),
      h("pre", { tabindex: "0" }, h("code", {}, found.command)),
      edit,
      said,
      h("div", { class: "row" }, use, save, zip),
    );
  } catch (error) {
    replace(place, failure(error));
  }
}

function problemList(problems) {
  return notice("bad", h("strong", {}, t("job.problems", { n: problems.length })), h("ul", {}, problems.map((one) => english(one, "li"))));
}

let breathing = 0;

async function begin() {
  await speak(preferred(), (name) => get(`/strings/${name}.json`));
  const session = await once("/api/session");
  if (session.opened && !location.hash) history.replaceState(null, "", address("table", session.opened));
  addEventListener("hashchange", () => show());
  addEventListener("resize", centre);
  addEventListener("work", () => route().table && mark(route().table));
  breathing = setInterval(() => post("/api/alive").catch(() => {}), ALIVE);
  await show(false);
}

begin().catch((error) => {
  replace(document.getElementById("main"), h("h1", {}, "discreet studio"), failure(error));
});
