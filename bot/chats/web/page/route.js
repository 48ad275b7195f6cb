// Where the page is: the part behind the # of the address, such as #task-5, #replay-5 or #phones.

export function here() {
  const [, name, rest] = /^#([a-z]+)(?:-(.+))?$/.exec(location.hash) ?? ["", "console", ""];
  try {
    return { name, id: decodeURIComponent(rest ?? "") };
  } catch {
    return { name: "console", id: "" };
  }
}

export function href(name, id = "") {
  return name === "console" ? "#" : id ? `#${name}-${encodeURIComponent(id)}` : `#${name}`;
}

export function go(name, id = "") {
  location.hash = href(name, id);
}
