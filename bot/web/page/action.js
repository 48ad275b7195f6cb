// An action of the agent in words.

import { has, say } from "./words.js";

// What is too long ends behind a word, where it has words.
function shortened(text) {
  return text.length > 160 ? `${text.slice(0, 160).replace(/\s+\S*$/, "")}…` : text;
}

function value(data, target) {
  if (typeof data === "string") return `“${shortened(data)}”`;
  if (typeof data === "number") return String(Math.round(data * 100) / 100);
  if (Array.isArray(data)) return data.map((one) => value(one)).join(", ");
  if (data && typeof data === "object") {
    if (target) return `“${shortened(target)}”`;
    if ("element" in data) return say("page.action.element", { number: data.element });
    if ("x" in data) return `${data.x}, ${data.y}`;
  }
  return "";
}

// What a step is called in a list: an end by how it ended, since its words are those of the task's end, and a step that
// a person did not allow as such.
export function stepWords(step) {
  if (step.action?.kind === "finish") return say(`page.action.finish_${step.action.status === "success" ? "success" : "failure"}`);
  const words = step.summary || actionWords(step.action, step.target);
  return step.denied ? say("page.replay.denied", { what: words }) : words;
}

// `action` is the stored decision: `kind` and what belongs to it. Unset and false parts are left out. `target` is what
// people call the thing that was touched, where that is known.
export function actionWords(action, target) {
  if (!action?.kind) return say("page.action.nothing");
  const name = has(`page.action.${action.kind}`) ? say(`page.action.${action.kind}`) : action.kind.replaceAll("_", " ");
  if (action.kind === "finish") return say(`page.action.finish_${action.status === "success" ? "success" : "failure"}`);
  const parts = Object.entries(action).filter(([key]) => key !== "kind" && key !== "duration_ms" && key !== "sensitive");
  const words = parts.map(([key, data]) => (data === true ? (has(`page.action.${key}`) ? say(`page.action.${key}`) : key) : value(data, key === "target" ? target : "")));
  const told = words.filter((word) => word && word !== "“”");
  return told.length ? `${name}: ${told.join(" · ")}` : name;
}
