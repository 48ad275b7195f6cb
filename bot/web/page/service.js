// The way to the service: requests, and the event stream that reconnects by itself.

import { say } from "./words.js";

export class Refused extends Error {
  constructor(status, sentence, answer = {}) {
    super(sentence);
    this.status = status;
    this.signIn = answer.details?.sign_in === true;
  }
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Refused(0, say("page.send.unreachable"));
  }
  let answer = {};
  try {
    answer = await response.json();
  } catch {
    // A body that is no JSON: the status alone tells.
  }
  if (!response.ok) throw new Refused(response.status, answer.message || say("page.send.answered", { status: response.status }), answer);
  return answer;
}

export function load(path) {
  return request(path, {});
}

// With a `key` the same request sent again is done once.
export function send(path, body, key = "") {
  const headers = { "Content-Type": "application/json", ...(key ? { "Idempotency-Key": key } : {}) };
  return request(path, { method: "POST", headers, body: JSON.stringify(body) });
}

export function change(path, body) {
  return request(path, { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

export function remove(path) {
  return request(path, { method: "DELETE" });
}

// All of a list of the API, page by page.
export async function loadAll(path, cursor = "") {
  const found = [];
  while (cursor !== null) {
    const { data } = await load(`${path}?limit=100&cursor=${encodeURIComponent(cursor)}`);
    found.push(...data.items);
    cursor = data.next_cursor;
  }
  return found;
}

// The bytes of one file for a later task; the answer has their reference as `content`.
export function handIn(file) {
  return request("/api/v1/files", { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
}

// Tasks and their steps as the API tells them, in the words of the live state.
const known = (info) => ({ ...info, task: info.id, frame: info.picture, person: info.person_name });

export async function loadTask(id) {
  return known(await load(`/api/v1/tasks/${encodeURIComponent(id)}`));
}

// A page of those that are looked for; `more` tells whether there are others behind `last`.
export async function loadTasks(wish, last) {
  const asked = Object.entries({ ...wish, limit: 100, cursor: last }).filter(([, value]) => value);
  const { data } = await load(`/api/v1/tasks?${new URLSearchParams(asked)}`);
  return { tasks: data.items.map(known), more: data.has_more };
}

// The log of a task from its beginning: what was asked, done, said and found.
export async function loadLog(id) {
  const found = [];
  for (let after = 0; after !== null;) {
    const { events, next } = await load(`/api/console/log?task=${encodeURIComponent(id)}&after=${after}`);
    found.push(...events);
    after = next;
  }
  return found;
}

// The steps that are known, and those behind them.
export async function loadSteps(id, known = []) {
  const steps = await loadAll(`/api/v1/tasks/${encodeURIComponent(id)}/steps`, known.length ? known.length - 1 : "");
  return known.concat(steps.map((step) => ({ ...step, frame: step.picture, app_name: step.app })));
}

// Which version of the page the service has, "" while that is not known.
export async function version() {
  try {
    return (await fetch("/", { method: "HEAD" })).headers.get("ETag") ?? "";
  } catch {
    return "";
  }
}

const SOON_MS = 300;
const AGAIN_MS = 1500;

// Calls `on.message`, `on.event`, `on.state`, `on.reset` when too much was missed to be told one by one, and `on.link`
// with "on", "away" or "locked". `on.back` is waited for when the service answers again.
export class Events {
  constructor(on) {
    this.on = on;
    this.cursor = "";
    this.source = null;
  }

  open(cursor) {
    this.cursor = cursor;
    this.source?.close();
    const source = new EventSource(`/api/events?since=${cursor}`);
    this.source = source;
    source.addEventListener("open", () => this.on.link("on"));
    for (const name of ["message", "event", "reset"]) {
      source.addEventListener(name, (event) => {
        this.cursor = event.lastEventId;
        this.on[name](JSON.parse(event.data));
      });
    }
    source.addEventListener("state", (event) => this.on.state(JSON.parse(event.data)));
    source.addEventListener("error", () => this.lost(source));
  }

  // The browser's own way back gives up on some errors and waits long on others, so this one replaces it.
  lost(source) {
    source.close();
    if (source !== this.source) return;
    this.source = null;
    this.on.link("away");
    setTimeout(() => this.back(), SOON_MS);
  }

  // Looks at once: somebody has just signed in.
  hurry() {
    clearTimeout(this.again);
    if (this.source === null) this.back();
  }

  // Looks for the service until it answers; then the stream goes on behind the last event that was seen.
  async back() {
    try {
      await load("/api/state");
      await this.on.back();
      this.open(this.cursor);
      return;
    } catch (error) {
      this.on.link(error.status === 401 ? "locked" : "away", error);
    }
    this.again = setTimeout(() => this.back(), AGAIN_MS);
  }
}
