// The list on the left: the pages, the tasks of now and of late, the phones.

import { arrange, h, icon, setText } from "./dom.js";
import { named } from "./message.js";
import { phonesOf, standing } from "./model.js";
import { href } from "./route.js";
import { ago } from "./when.js";
import { say } from "./words.js";

export const PLACES = [["console", "home"], ["tasks", "list"], ["phones", "phone"], ["skills", "skill"], ["schedules", "clock"], ["usage", "chart"], ["connect", "plug"], ["check", "check"]];
const EARLIER = 12;

export class Side {
  constructor(parts) {
    this.parts = parts;
    this.items = new Map();
    this.phones = new Map();
    this.groups = ["now", "earlier"].map((name) => {
      const id = `group-${name}`;
      const list = h("ul", { "aria-labelledby": id });
      return { block: h("section", {}, h("h2", { id }, say(`page.side.${name}`)), list), list };
    });
    this.places = new Map(PLACES.map(([name, sign]) =>
      [name, h("a", { class: "place", href: href(name) }, icon(sign), h("span", {}, say(`page.place.${name}`)))]));
    parts.places.append(...[...this.places.values()].map((link) => h("li", {}, link)));
    this.none = h("p", { class: "none" }, say("page.side.no_tasks"));
    this.brain = { name: h("b"), line: h("p") };
    this.brain.link = h("a", { class: "device" }, icon("spark"), h("div", { class: "words" }, this.brain.name, this.brain.line));
    parts.model.append(this.brain.link);
  }

  draw(model, route) {
    for (const [name, link] of this.places) mark(link, route.name === name);
    // What the service itself is set to is for its operators.
    for (const name of ["check", "connect"]) this.places.get(name).parentElement.hidden = !model.admin;
    const open = route.name === "task" || route.name === "replay" ? route.id : "";
    const earlier = model.tasks.filter((task) => task.outcome !== null).slice(0, EARLIER);
    // What waits for an answer stands first.
    const asks = (task) => Number(model.questionsOf(task.task).length > 0);
    const now = model.tasks.filter((task) => task.outcome === null).sort((one, other) => asks(other) - asks(one));
    arrange(this.groups[0].list, now.map((task) => this.row(task, model, open)));
    arrange(this.groups[1].list, earlier.map((task) => this.row(task, model, open)));
    const blocks = [];
    if (now.length) blocks.push(this.groups[0].block);
    if (earlier.length) blocks.push(this.groups[1].block);
    arrange(this.parts.tasks, blocks.length || !model.ready ? blocks : [this.none]);
    this.drawModel(model);
    // Before the service has answered nothing is known, least of all that there is none.
    arrange(this.parts.phones, model.devices.length || !model.ready
      ? model.devices.map((device) => this.phone(device, model))
      : [this.noPhone ??= h("li", { class: "none" }, say("page.side.no_phones"))]);
  }

  drawModel({ modelState: state, admin }) {
    const { link, name, line } = this.brain;
    link.hidden = state === null;
    if (state === null) return;
    if (admin) link.setAttribute("href", href("connect", "model"));
    setText(name, state.model || say("page.side.pilot"));
    setText(line, state.text);
    line.className = state.status === "failing" ? "wrong" : "";
  }

  row(task, model, open) {
    let item = this.items.get(task.task);
    if (!item) {
      const dot = h("span", { "aria-hidden": "true" });
      const name = h("b");
      const line = h("small");
      const link = h("a", { class: "item", href: href("task", task.task) }, dot, h("span", { class: "words" }, name, line));
      item = { row: h("li", {}, link), dot, name, line, link };
      this.items.set(task.task, item);
    }
    const asked = model.questionsOf(task.task).length > 0;
    const phone = phonesOf(task, model);
    const step = task.outcome === null && task.steps ? say("page.side.step", { step: task.steps }) : "";
    const when = task.outcome === null ? "" : ago(task.ended ?? task.created);
    item.dot.className = `dot ${standing(task)}`;
    setText(item.name, task.text);
    setText(item.line, asked ? say("page.side.asks") : [named(standing(task)), step, phone, when].filter(Boolean).join(" · "));
    item.line.className = asked ? "needs" : "";
    mark(item.link, open === task.task);
    return item.row;
  }

  phone(device, model) {
    let item = this.phones.get(device.id);
    if (!item) {
      const name = h("span");
      const battery = h("small");
      const line = h("p");
      const link = h("a", { class: "device", href: href("phones") }, icon("phone"), h("div", { class: "words" }, h("b", {}, name, battery), line));
      item = { row: h("li", {}, link), name, battery, line };
      this.phones.set(device.id, item);
    }
    const { working, waiting } = model.workOf(device);
    const wrong = !device.usable || device.reason !== "";
    const busy = working ? say("page.phone.busy", { task: working.called }) : say(`page.health.${device.state.replaceAll(" ", "_")}`);
    const line = wrong && !working ? device.reason || busy
      : [device.usable ? "" : say(`page.health.${device.state.replaceAll(" ", "_")}`), busy, waiting.length ? say("page.phone.waiting", { number: waiting.length }) : ""].filter(Boolean).join(" · ");
    setText(item.name, device.name);
    setText(item.battery, device.battery === null ? "" : `${device.battery} %`);
    setText(item.line, line);
    item.line.className = !device.usable || (wrong && !working) ? "wrong" : "";
    return item.row;
  }
}

function mark(link, selected) {
  if (selected) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}
