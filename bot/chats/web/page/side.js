// The list on the left: the console itself, tasks, phones.

import { ago, arrange, h, icon, setText } from "./dom.js";
import { standing } from "./model.js";

export class Side {
  constructor(parts, select) {
    this.parts = parts;
    this.select = select;
    this.items = new Map();
    this.phones = new Map();
    this.groups = ["Now", "Earlier"].map((name) => {
      const id = `group-${name.toLowerCase()}`;
      const list = h("ul", { "aria-labelledby": id });
      return { block: h("section", {}, h("h2", { id }, name), list), list };
    });
    this.home = h("button", { class: "item", type: "button", onclick: () => select("") },
      icon("home"), h("span", { class: "words" }, h("b", {}, "Console"), h("small", {}, "Commands and their answers")));
    parts.home.append(h("li", {}, this.home));
    this.none = h("p", { class: "none" }, "No tasks yet.");
  }

  draw(model, selected) {
    mark(this.home, selected === "");
    const rows = model.tasks.map((task) => ({ task, row: this.row(task, model, selected) }));
    const now = rows.filter(({ task }) => task.outcome === null).map(({ row }) => row);
    const earlier = rows.filter(({ task }) => task.outcome !== null).map(({ row }) => row);
    arrange(this.groups[0].list, now);
    arrange(this.groups[1].list, earlier);
    const blocks = [];
    if (now.length) blocks.push(this.groups[0].block);
    if (earlier.length) blocks.push(this.groups[1].block);
    arrange(this.parts.tasks, blocks.length ? blocks : [this.none]);
    arrange(this.parts.phones, model.devices.length
      ? model.devices.map((device) => this.phone(device, model))
      : [this.noPhone ??= h("li", { class: "none" }, "No phone is attached.")]);
  }

  row(task, model, selected) {
    let item = this.items.get(task.task);
    if (!item) {
      const dot = h("span", { "aria-hidden": "true" });
      const name = h("b");
      const line = h("small");
      const button = h("button", { class: "item", type: "button", onclick: () => this.select(task.task) },
        dot, h("span", { class: "words" }, name, line));
      item = { row: h("li", {}, button), dot, name, line, button };
      this.items.set(task.task, item);
    }
    const asked = model.questionsOf(task.task).length > 0;
    const phone = model.phone(task.phone)?.name ?? "";
    const step = task.outcome === null && task.steps ? `step ${task.steps}` : "";
    const when = task.outcome === null ? "" : ago(task.ended ?? task.created);
    item.dot.className = `dot ${standing(task)}`;
    setText(item.name, task.text);
    setText(item.line, asked ? "needs your answer" : [standing(task), step, phone, when].filter(Boolean).join(" · "));
    item.line.className = asked ? "needs" : "";
    mark(item.button, selected === task.task);
    return item.row;
  }

  phone(device, model) {
    let item = this.phones.get(device.id);
    if (!item) {
      const name = h("span");
      const battery = h("small");
      const line = h("p");
      item = { row: h("li", { class: "device" }, icon("phone"), h("div", { class: "words" }, h("b", {}, name, battery), line)), name, battery, line };
      this.phones.set(device.id, item);
    }
    const working = device.tasks.map((id) => model.task(id)).find((task) => task && task.state !== "queued");
    const waiting = device.tasks.map((id) => model.task(id)).filter((task) => task && task.state === "queued").length;
    const wrong = !device.usable || device.reason !== "";
    const busy = working ? `busy with task ${working.task}` : device.state;
    const line = wrong ? [device.reason || device.state, device.fix].filter(Boolean).join(" ")
      : [busy, waiting ? `${waiting} waiting` : "", device.app].filter(Boolean).join(" · ");
    setText(item.name, device.name);
    setText(item.battery, device.battery === null ? "" : `${device.battery} %`);
    setText(item.line, line);
    item.line.className = wrong ? "wrong" : "";
    return item.row;
  }
}

function mark(button, selected) {
  if (selected) button.setAttribute("aria-current", "page");
  else button.removeAttribute("aria-current");
}
