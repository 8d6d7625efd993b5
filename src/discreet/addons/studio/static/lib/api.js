// Questions to the server. What the paths answer is in API.md.

import { current } from "./words.js";

/** A refusal of the server. */
export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `HTTP ${status}`);
    this.status = status;
    this.kind = body.kind ?? "";
    this.problems = body.problems ?? [];
  }
}

async function ask(method, path, { body, type, signal } = {}) {
  const headers = { "Accept-Language": current(), ...(type ? { "Content-Type": type } : {}) };
  const answer = await fetch(path, { method, body, headers, signal, credentials: "same-origin" });
  const text = await answer.text();
  let found = {};
  try {
    found = text ? JSON.parse(text) : {};
  } catch {
    found = { error: `${answer.status} ${answer.statusText}` };
  }
  if (!answer.ok) throw new Refused(answer.status, found);
  return found;
}

export const get = (path, signal) => ask("GET", path, { signal });
export const remove = (path) => ask("DELETE", path);
export const post = (path, given = {}, signal) =>
  ask("POST", path, { body: JSON.stringify(given), type: "application/json", signal });
export const upload = (path, file, signal) => ask("POST", path, { body: file, type: "application/octet-stream", signal });

/** Fetch a file by POST and hand it to the person. */
export async function download(path, given, name) {
  const headers = { "Accept-Language": current(), "Content-Type": "application/json" };
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(given), headers, credentials: "same-origin" });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const kept = new Map();
/** Ask once and keep the answer for this page. */
export function once(path) {
  if (!kept.has(path)) {
    const asked = get(path);
    kept.set(path, asked);
    asked.catch(() => kept.delete(path));
  }
  return kept.get(path);
}

/** Forget a kept answer. */
export function forget(path) {
  for (const one of [...kept.keys()]) if (one.startsWith(path)) kept.delete(one);
}
