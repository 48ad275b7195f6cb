// What the tasks have used: by day as bars, by person, phone, role and model as tables.

import { bar, dayChart, dayName } from "./chart.js";
import { h, setText } from "./dom.js";
import { load } from "./service.js";
import { duration, tokens } from "./when.js";
import { say, whole } from "./words.js";

const GROUPS = ["day", "person", "phone", "role", "model"];
const SPANS = [7, 30, 90];

export class Consumption {
  constructor(model) {
    this.model = model;
    this.by = "day";
    this.days = 30;
    this.groups = choice(say("page.usage.by"), GROUPS.map((by) => [by, say(`page.usage.by_${by}`)]), (by) => this.pick({ by }));
    this.spans = choice(say("page.usage.span"), SPANS.map((days) => [days, say("page.usage.days", { days })]), (days) => this.pick({ days }));
    this.sums = h("dl", { class: "sums" });
    this.body = h("div", { class: "used" });
    this.wrong = h("p", { class: "note", role: "alert", hidden: true });
    this.root = h("div", { class: "sheet" }, h("div", { class: "choices" }, this.groups.root, this.spans.root), this.wrong, this.sums, this.body);
  }

  heading() {
    return { title: say("page.place.usage"), about: say("page.usage.about") };
  }

  open() {
    if (this.model.ready) this.fill();
  }

  // The service was away when it was asked, and is back.
  told() {
    if (this.away) this.fill();
  }

  pick(wish) {
    Object.assign(this, wish);
    this.fill();
  }

  async fill() {
    const { by, days } = this;
    this.groups.mark(by);
    this.spans.mark(days);
    try {
      const { data, total } = await load(`/api/v1/statistics?by=${by}&days=${days}`);
      if (by !== this.by || days !== this.days) return;
      this.wrong.hidden = true;
      this.away = false;
      this.show({ rows: data.items, total });
    } catch (error) {
      this.away = error.status === 0;
      setText(this.wrong, error.message);
      this.wrong.hidden = false;
    }
  }

  show({ rows, total }) {
    this.sums.hidden = rows.length === 0;
    this.sums.replaceChildren(...sums(total).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    if (rows.length === 0) {
      this.body.replaceChildren(h("div", { class: "empty" }, h("h2", {}, say("page.usage.none")), h("p", {}, say("page.usage.none_hint"))));
      return;
    }
    const named = rows.map((row) => ({ ...row, name: this.name(row) }));
    const chart = this.by === "day" && total.tokens.input + total.tokens.output > 0 ? [h("div", { class: "panel" }, dayChart(everyDay(rows, this.days)))] : [];
    this.body.replaceChildren(...chart, table(this.by === "day" ? named.reverse() : named, say(`page.usage.by_${this.by}`)));
  }

  name(row) {
    if (this.by === "day") return dayName(row.key);
    if (this.by === "role") return roleName(row.key);
    if (this.by === "phone") return this.model.phone(row.key)?.name || row.label || say("page.usage.no_phone");
    return row.label || say("page.usage.no_model");
  }

  draw() {}
}

const ROLES = new Set(["vision", "basic", "reasoning", "guard"]);

// A member of the team has its own name.
export function roleName(role) {
  if (role === "") return say("page.role.unknown");
  return ROLES.has(role) ? say(`page.role.${role}`) : role;
}

// What a single role took is often less than a hundredth.
function money(cost) {
  return cost.toFixed(cost > 0 && cost < 1 ? 4 : 2);
}

function sums(total) {
  return [
    [say("page.place.tasks"), whole(total.tasks)],
    [say("page.stage.steps"), whole(total.steps)],
    [say("page.replay.time"), duration(total.seconds)],
    [say("page.replay.tokens"), tokens(total.tokens)],
    [say("page.usage.cost"), total.tokens.cost === null ? (total.tokens.input + total.tokens.output ? say("page.usage.unknown") : "–") : money(total.tokens.cost)],
  ];
}

// Every day of the span, those without tasks too, the last one today.
function everyDay(rows, days) {
  const known = new Map(rows.map((row) => [row.key, row]));
  const last = new Date(`${[localDay(new Date()), rows.at(-1).key].sort().at(-1)}T12:00:00`);
  return Array.from({ length: days }, (_, index) => {
    const date = new Date(last);
    date.setDate(last.getDate() - (days - 1 - index));
    const row = known.get(localDay(date));
    return { day: localDay(date), input: row?.tokens.input ?? 0, output: row?.tokens.output ?? 0, tasks: row?.tasks ?? 0 };
  });
}

function localDay(date) {
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function table(rows, group) {
  const most = Math.max(1, ...rows.map((row) => row.tokens.input + row.tokens.output));
  const heads = [group, "", say("page.replay.tokens"), say("page.place.tasks"), say("page.stage.steps"), say("page.replay.time"), say("page.usage.cost")];
  return h("div", { class: "panel scrolls", tabindex: 0, role: "region", "aria-label": group }, h("table", {},
    h("thead", {}, h("tr", {}, ...heads.map((name) => (name ? h("th", { scope: "col" }, name) : h("td"))))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.name), h("td", { class: "bars" }, bar((row.tokens.input + row.tokens.output) / most)),
      ...[tokens(row.tokens), whole(row.tasks), whole(row.steps), duration(row.seconds), row.tokens.cost === null ? "–" : money(row.tokens.cost)]
        .map((value) => h("td", {}, value)))))));
}

// One of a few, as buttons that stay pressed.
function choice(label, options, pick) {
  const buttons = options.map(([value, words]) => [value, h("button", { type: "button", onclick: () => pick(value) }, words)]);
  const root = h("div", { class: "tabs", role: "group", "aria-label": label }, ...buttons.map(([, button]) => button));
  return { root, mark: (now) => buttons.forEach(([value, button]) => button.setAttribute("aria-pressed", String(value === now))) };
}
