// Building elements. Data only ever becomes text or an attribute of a known kind: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : name === "value" ? String(value) : inOrder(String(value)));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined)
    .map((child) => (child instanceof Node ? child : inOrder(String(child)))));
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
  const shown = inOrder(text);
  if (element.textContent !== shown) element.textContent = shown;
}

// The same with what stands between two ` set apart, such as a command in a sentence.
export function setWords(element, text, parts = (words) => [inOrder(words)]) {
  if (element.words === text) return element;
  element.words = text;
  element.replaceChildren(...text.split(/`([^`\n]+)`/).flatMap((part, index) => (index % 2 ? [h("code", {}, part)] : parts(part))));
  return element;
}

const SETTING = /\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/;
const ADDRESS = /(https:\/\/[^\s]*[^\s.,;:!?)])/;
let wayTo = () => "";

// `way(name)` is the address at which a setting is made, "" for one that is not made in the page.
export function knowSettings(way) {
  wayTo = way;
}

function withSettings(words) {
  return words.split(SETTING).map((part, index) => {
    const way = index % 2 ? wayTo(part) : "";
    return way ? h("a", { class: "setting", href: way }, part) : inOrder(part);
  });
}

// The same, where the name of a setting that is made in the page leads to its field.
export function setLinked(element, text) {
  return setWords(element, text, withSettings);
}

// The service's own words, in which an address can be followed, too.
export function setGuide(element, text) {
  return setWords(element, text, (words) => words.split(ADDRESS).flatMap((part, index) =>
    (index % 2 ? [h("a", { href: part, target: "_blank", rel: "noreferrer" }, part)] : withSettings(part))));
}

// Signs that turn the words around them about are written out: a name of a file that was read off a screen must not
// show another ending than it has.
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

export function inOrder(text) {
  return text.replace(TURNING, (sign) => `‹U+${sign.codePointAt(0).toString(16).toUpperCase()}›`);
}

// Make the children of `parent` the wanted ones, touching only what differs, so that focus and pictures stay.
export function arrange(parent, wanted) {
  const keep = new Set(wanted);
  const held = parent.contains(document.activeElement) ? document.activeElement : null;
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  wanted.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  // What is moved loses the focus.
  if (held?.isConnected && document.activeElement !== held) held.focus({ preventScroll: true });
}

// Where a kept picture or file is; what is drawn when it is looked at has an address of its own.
export function frameUrl(reference) {
  return reference.startsWith("/") ? reference : `/api/frames/${encodeURIComponent(reference)}`;
}

export function uniqueId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The ring around a touched point, in an svg of the picture's own size; nothing without a point.
export function ringOf(ring, mark, width, height) {
  ring.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!mark) {
    ring.replaceChildren();
    return;
  }
  const [cx, cy] = mark;
  const r = Math.max(6, width / 22);
  ring.replaceChildren(svg("circle", { cx, cy, r, fill: "none", stroke: "#fff", "stroke-width": r * 0.62 }),
    svg("circle", { cx, cy, r, fill: "rgb(230 30 60 / 12%)", stroke: "#e61e3c", "stroke-width": r * 0.3 }));
}
