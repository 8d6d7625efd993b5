// The state of the page is in its address: #/SCREEN/TABLE?key=value. Reload and Back work by that.

/** Return the parts of the address. */
export function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [screen = "", table = ""] = path.split("/").map(decodeURIComponent);
  return { screen, table, given: Object.fromEntries(new URLSearchParams(query)) };
}

/** Return the address of a screen. */
export function address(screen, table = "", given = {}) {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = kept.length ? `?${new URLSearchParams(kept)}` : "";
  return `#/${[screen, table].filter(Boolean).map(encodeURIComponent).join("/")}${query}`;
}

/** Go to a screen. */
export function go(screen, table, given) {
  location.hash = address(screen, table, given);
}

/** Change what the address says of this screen, without a new entry in the history or a new drawing. */
export function note(changes) {
  const here = route();
  history.replaceState(history.state, "", address(here.screen, here.table, { ...here.given, ...changes }));
}
