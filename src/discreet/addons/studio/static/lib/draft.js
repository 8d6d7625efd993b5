// The job that this tab is editing, one for each table. It is kept in the tab's own storage, so that a
// reload keeps it, two tabs never share one, and it is gone with the tab.

import { once } from "./api.js";

const LISTENERS = new Set();
let session = "";

/** Name the server's session: drafts of another one are never read. */
export function inSession(name) {
  session = name;
}

const place = (table) => `discreet ${session} ${table}`;

/** Return a job whose person is written in full. */
function inFull(job) {
  const { person } = job;
  if (typeof person === "string" || Array.isArray(person)) job.person = { column: person, rows: "one" };
  return job;
}

/** The job for a table, with what the table and the proposal for it say. */
export class Draft {
  constructor(table, info, proposal, job) {
    this.table = table;
    this.info = info;
    this.proposal = proposal;
    this.job = inFull(job);
  }

  /** Return the draft for a table: as it was left, else the job it was opened with, else the proposal. */
  static async open(table) {
    const info = await once(`/api/tables/${table}`);
    const proposal = await once(`/api/tables/${table}/proposal`);
    const kept = sessionStorage.getItem(place(table));
    const job = kept ? JSON.parse(kept) : (info.job ?? proposal.job);
    return new Draft(table, info, proposal, structuredClone(job));
  }

  get names() {
    return this.info.columns.map((one) => one.name);
  }

  /** The columns that have a role, in the order of the table. */
  withRole(...roles) {
    return this.names.filter((name) => roles.includes(this.role(name)));
  }

  role(name) {
    return this.job.attributes[name]?.role ?? "drop";
  }

  /** The columns that name a person, if the job has any. */
  get person() {
    const given = this.job.person;
    if (!given) return [];
    return [given.column].flat();
  }

  /** Change the job and keep it. */
  change(edit) {
    edit(this.job);
    this.keep();
  }

  /** Put another job in its place. */
  use(job) {
    this.job = inFull(structuredClone(job));
    this.keep();
  }

  keep() {
    sessionStorage.setItem(place(this.table), JSON.stringify(this.job));
    for (const listener of LISTENERS) listener(this);
  }

  /** Give a column another role: what the proposal knows of it in this role, else what the role needs. */
  setRole(name, role) {
    this.change((job) => {
      const proposed = this.proposal.job.attributes[name];
      const old = job.attributes[name] ?? {};
      if (proposed?.role === role) job.attributes[name] = structuredClone(proposed);
      else {
        const made = { role };
        if (old.type) made.type = old.type;
        if (old.format) made.format = old.format;
        if (role === "quasi-identifier") made.hierarchy = old.hierarchy ?? "automatic";
        job.attributes[name] = made;
      }
    });
    if (role !== "identifier" && this.person.includes(name)) this.setPerson(null);
  }

  /** Say which column names a person, and what becomes of the rows of a person; null for no such column. */
  setPerson(person) {
    this.change((job) => {
      if (person) job.person = person;
      else delete job.person;
      const collapsing = person && person.rows !== "one" && person.rows !== "keep";
      for (const [name, attribute] of Object.entries(job.attributes)) {
        const rule = this.proposal.job.attributes[name]?.collapse;
        if (!collapsing) delete attribute.collapse;
        else if (rule && !attribute.collapse && attribute.role === this.proposal.job.attributes[name].role) attribute.collapse = rule;
      }
    });
  }
}

/** Call a function after every change of a draft, until the signal. */
export function onChange(listener, signal) {
  LISTENERS.add(listener);
  signal.addEventListener("abort", () => LISTENERS.delete(listener));
}
