// The job of a table, which the server has: this is a copy of its last answer. Every change is a question
// to the server, one after the other, and what the page shows is drawn from the answer.

import { get, once, post } from "./api.js";

const LISTENERS = new Set();
const QUEUES = new Map(); // the last question about each table: the next one, and the next screen, wait for it

export const NOT_PUBLISHED = new Set(["identifier", "household", "drop"]);

/** The job for a table, with what the table and the proposal for it say. */
export class Draft {
  constructor(table, info, proposal, state) {
    this.table = table;
    this.info = info;
    this.proposal = proposal;
    this.names = info.columns.map((one) => one.name);
    this.take(state);
  }

  /** Return the draft for a table, as the server has it. */
  static async open(table) {
    await QUEUES.get(table);
    const [info, proposal, state] = await Promise.all([
      once(`/api/tables/${table}`),
      once(`/api/tables/${table}/proposal`),
      get(`/api/tables/${table}/draft`),
    ]);
    return new Draft(table, info, proposal, state);
  }

  take({ revision, job, types, also }) {
    Object.assign(this, { revision, job, types, also });
  }

  /** The columns that have a role, in the order of the table. */
  withRole(...roles) {
    return this.names.filter((name) => roles.includes(this.role(name)));
  }

  role(name) {
    return this.job.attributes[name]?.role ?? "drop";
  }

  /** The published columns whose roles are guesses of the proposal, which nobody has confirmed. */
  get guesses() {
    return this.names.filter((name) => this.job.unconfirmed?.includes(name) && !NOT_PUBLISHED.has(this.role(name)));
  }

  /** The columns that name a person, if the job has any. */
  get person() {
    return this.job.person?.column ?? [];
  }

  /** Ask the server for some edits; they are made all together, or none of them. */
  edit(...edits) {
    return this.queue(() => edits);
  }

  /** Change the job as a function does with a copy of it. */
  change(edit) {
    return this.queue(() => {
      const job = structuredClone(this.job);
      edit(job);
      return JSON.stringify(job) === JSON.stringify(this.job) ? null : [{ job }];
    });
  }

  /** Put another job in its place. */
  use(job) {
    return this.edit({ job });
  }

  /** Wait until the server has answered all edits; return the revision that the page then shows. */
  async shown() {
    await QUEUES.get(this.table);
    return { revision: this.revision };
  }

  queue(edits) {
    busy(1);
    const asked = (QUEUES.get(this.table) ?? Promise.resolve()).then(async () => {
      const place = `/api/tables/${this.table}/draft`;
      const wanted = edits();
      if (!wanted) return; // nothing would change
      try {
        this.take(await post(place, { revision: this.revision, edits: wanted }));
      } catch (error) {
        if (error.status === 409) this.take(await get(place));
        for (const listener of LISTENERS) listener(this, error);
        throw error;
      }
      for (const listener of LISTENERS) listener(this, null);
    });
    QUEUES.set(this.table, asked.catch(() => {}).finally(() => busy(-1)));
    return asked;
  }
}

let open = 0;
/** Mark the page while an answer is awaited. */
function busy(more) {
  open += more;
  document.getElementById("main").setAttribute("aria-busy", String(open > 0));
}

/** Call a function after every answer about a draft, with the error if it was refused, until the signal. */
export function onChange(listener, signal) {
  LISTENERS.add(listener);
  signal.addEventListener("abort", () => LISTENERS.delete(listener));
}
