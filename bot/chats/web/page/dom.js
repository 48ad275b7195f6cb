// Building elements. Data only ever becomes text or an attribute of a known kind: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function icon(name) {
  return svg("svg", { "aria-hidden": "true" }, svg("use", { href: `/page/icons.svg#${name}` }));
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Make the children of `parent` the wanted ones, touching only what differs, so that focus and pictures stay.
export function arrange(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  wanted.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

export function frameUrl(reference) {
  return `/api/frames/${encodeURIComponent(reference)}`;
}

export function uniqueId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
