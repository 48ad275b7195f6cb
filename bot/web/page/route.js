// Where the page is: the part behind the # of the address, such as #task-5, #replay-5?step=3 or #tasks?standing=failed.

const NAMES = new Set(["task", "replay", "tasks", "phones", "hand", "usage", "check", "connect", "setup", "skills", "schedules"]);
const LATER_MS = 250;

let later = null;

export function here() {
  const [, name, rest, query] = /^#([a-z]+)(?:-([^?]+))?(?:\?(.*))?$/.exec(location.hash) ?? [];
  try {
    if (NAMES.has(name)) return { name, id: decodeURIComponent(rest ?? ""), query: new URLSearchParams(query ?? "") };
  } catch {
    // An address that was cut off in the middle of a letter.
  }
  return { name: "console", id: "", query: new URLSearchParams() };
}

// `values` that are "" are left out.
export function href(name, id = "", values = {}) {
  if (name === "console") return "#";
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
  return `#${name}${id ? `-${encodeURIComponent(id)}` : ""}${query ? `?${query}` : ""}`;
}

export function go(name, id = "", values = {}) {
  location.hash = href(name, id, values);
}

// The address tells where on this page one is, without a step for the way back. A moment later: while a key is held
// down it changes often, and browsers allow so much only.
export function settle(name, id, values) {
  clearTimeout(later);
  later = setTimeout(() => {
    const now = here();
    if (now.name === name && now.id === id) history.replaceState(history.state, "", href(name, id, values));
  }, LATER_MS);
}
