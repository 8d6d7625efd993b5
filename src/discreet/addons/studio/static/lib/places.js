// Choosing a file or a folder of this machine: a path to type, or a list to walk through.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { button, failure, field } from "./pieces.js";
import { t } from "./words.js";

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
