// Choosing a file or a folder: to drop, a path to type, or a list of this machine to walk through.

import { get, upload } from "./api.js";
import { h, newId, replace } from "./dom.js";
import { button, failure, field, notice, waiting } from "./pieces.js";
import { bytes, t } from "./words.js";

/** A place to drop a table, which is uploaded; `opened` gets what the server says of it. */
export function dropZone({ words, limit, options = () => ({}), said, signal, opened }) {
  const send = async (file) => {
    if (!file) return;
    if (file.size > limit) return void replace(said, notice("bad", h("p", {}, t("table.too_large", { limit: bytes(limit) }))));
    replace(said, waiting(t("table.reading", { name: file.name })));
    try {
      const how = Object.entries(options()).map(([name, value]) => [`option.${name}`, value]);
      await opened(await upload(`/api/tables?${new URLSearchParams([["name", file.name], ...how])}`, file, signal));
    } catch (error) {
      if (!signal.aborted) replace(said, failure(error));
    }
  };
  const id = newId("file");
  const input = h("input", { type: "file", id, on: { change: () => send(input.files[0]) } });
  const dropped = (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    send(event.dataTransfer.files[0]);
  };
  const over = (event) => (event.preventDefault(), zone.classList.add("over"));
  const zone = h("div", { class: "drop", on: { dragover: over, dragleave: () => zone.classList.remove("over"), drop: dropped } },
    h("p", {}, h("label", { for: id }, h("strong", {}, words))),
    input,
    h("p", { class: "help" }, t("table.formats", { limit: bytes(limit) })));
  return zone;
}

/** A form for a path; `kinds` are what may be chosen, `choose` gets the path. */
export function placeForm({ name, help, kinds, action, choose, value = "" }) {
  const path = h("input", { type: "text", value, autocomplete: "off", spellcheck: "false", required: true });
  const said = h("div", { "aria-live": "polite" });
  const list = h("div", {});
  const submit = async (event) => {
    event?.preventDefault();
    replace(said);
    if (!path.value.trim()) return;
    try {
      await choose(path.value.trim());
    } catch (error) {
      replace(said, failure(error));
    }
  };
  const walk = async (folder) => {
    try {
      const found = await get(`/api/places${folder ? `?path=${encodeURIComponent(folder)}` : ""}`);
      const up = found.parent && found.parent !== found.path ? entry("..", () => walk(found.parent), "folder") : null;
      const shown = found.places.filter((one) => one.kind === "folder" || kinds.includes(one.kind));
      const items = shown.map((one) =>
        entry(one.name, () => (kinds.includes(one.kind) ? take(one.path) : walk(one.path)), one.kind),
      );
      replace(list, h("p", { class: "soft" }, h("code", {}, found.path)), h("ul", { class: "list places" }, up, items));
    } catch (error) {
      replace(list, failure(error));
    }
  };
  const entry = (shown, open, kind) =>
    h("li", {}, button([shown, " ", h("small", {}, t(`place.${kind}`))], open, { class: "place" }));
  const take = (chosen) => {
    path.value = chosen;
    replace(list);
    return submit();
  };
  return h(
    "form",
    { on: { submit } },
    field(name, path, help),
    h("div", { class: "row" }, h("button", { type: "submit" }, action), button(t("place.browse"), () => walk(path.value.trim()))),
    said,
    list,
  );
}
