// Where the page is: the part behind the # of the address, such as #task-5, #replay-5 or #phones.

const NAMES = new Set(["task", "replay", "tasks", "phones", "usage", "check"]);
const CONSOLE = { name: "console", id: "" };

export function here() {
  const [, name, rest] = /^#([a-z]+)(?:-(.+))?$/.exec(location.hash) ?? [];
  try {
    return NAMES.has(name) ? { name, id: decodeURIComponent(rest ?? "") } : CONSOLE;
  } catch {
    return CONSOLE; // an address that was cut off in the middle of a letter
  }
}

export function href(name, id = "") {
  return name === "console" ? "#" : id ? `#${name}-${encodeURIComponent(id)}` : `#${name}`;
}

export function go(name, id = "") {
  location.hash = href(name, id);
}
