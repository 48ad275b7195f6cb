// Bars as plain SVG: days from left to right, stacked tokens in and out.

import { h, svg } from "./dom.js";
import { counted, locale, say } from "./words.js";
import { tokens } from "./when.js";

const HEIGHT = 220;
const LEFT = 46;
const BELOW = 26;
const RIGHT = 14;
const LINES = 4;

// `days` have day (YYYY-MM-DD), input, output and tasks. The table says the same to who does not see the bars.
export function dayChart(days) {
  // On a narrow screen fewer units make larger letters.
  const width = matchMedia("(max-width: 760px)").matches ? 340 : 900;
  const top = rounded(Math.max(1, ...days.map((day) => day.input + day.output)));
  const scale = (value) => ((HEIGHT - BELOW - 10) * value) / top;
  const floor = HEIGHT - BELOW;
  const slot = (width - LEFT - RIGHT) / days.length;
  const wide = Math.min(34, slot * 0.64);
  const chart = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "chart", role: "img", "aria-label": say("page.usage.chart") });
  // Of a few tokens there are no quarters: each line has a number of its own.
  const lines = Math.min(LINES, top);
  for (let line = 0; line <= lines; line += 1) {
    const y = floor - scale((top * line) / lines);
    chart.append(svg("line", { x1: LEFT, x2: width, y1: y, y2: y, class: line ? "grid" : "floor" }));
    chart.append(words(LEFT - 8, y + 4, tokens({ input: Math.round((top * line) / lines) }), "end"));
  }
  const every = Math.ceil(days.length / (width / 110));
  days.forEach((day, index) => {
    const x = LEFT + slot * index + (slot - wide) / 2;
    const group = svg("g", { class: "bar-of-day" });
    group.append(svg("title", {}, title(day)));
    group.append(svg("rect", { x: LEFT + slot * index, y: 0, width: slot, height: floor, class: "hit" }));
    if (day.input) group.append(column(x, floor, wide, scale(day.input), "in"));
    if (day.output) group.append(column(x, floor - scale(day.input), wide, Math.max(1.5, scale(day.output)), "out"));
    chart.append(group);
    // The last one ends where the chart does.
    const last = index === days.length - 1;
    if ((days.length - 1 - index) % every === 0) chart.append(words(last ? width : x + wide / 2, HEIGHT - 7, dayName(day.day), last ? "end" : "middle"));
  });
  return h("figure", {}, chart, h("figcaption", {}, h("i", { class: "in" }), say("page.usage.input"), h("i", { class: "out" }), say("page.usage.output")));
}

export function dayName(day) {
  return new Date(`${day}T12:00:00`).toLocaleDateString(locale, { day: "numeric", month: "short" });
}

// A bar across, for a row of a table: its part of the largest.
export function bar(part) {
  const width = Math.max(0, Math.min(100, part * 100));
  return svg("svg", { class: "part", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 0, width: 100, height: 6, class: "rest" }), svg("rect", { x: 0, y: 0, width, height: 6, class: "in" }));
}

function title(day) {
  return `${dayName(day.day)}: ${say("page.tokens", { number: tokens(day) })}, ${counted("task", day.tasks)}`;
}

function column(x, floor, width, height, name) {
  return svg("rect", { x, y: floor - height, width, height, rx: Math.min(3, height / 2), class: name });
}

function words(x, y, text, anchor) {
  return svg("text", { x, y, "text-anchor": anchor }, text);
}

// The next of 1, 2, 4, 5 and 8 times a power of ten: lines with numbers that can be read.
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}
