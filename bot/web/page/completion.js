// The menu above the box: while a command is typed, the commands, then their options, phones and tasks.

import { h } from "./dom.js";
import { say } from "./words.js";

const MOST = 8;

// What may stand at the end of `line`: {label, about, text}, where `text` is the whole line then.
export function suggestions(line, model) {
  const typed = /^\/(\S*)$/.exec(line);
  if (typed) {
    const fits = (command) => command.name.startsWith(typed[1].toLowerCase());
    return model.commands.filter(fits).map((command) => ({ label: `/${command.name}`, about: command.help, text: `/${command.name} ` }));
  }
  const [, name, rest] = /^\/(\S+)\s([\s\S]*)$/.exec(line) ?? [];
  const command = model.commands.find((one) => one.name === name?.toLowerCase());
  if (!command) return [];
  const word = /\S*$/.exec(line)[0];
  const before = line.slice(0, line.length - word.length);
  const fill = (pairs) => pairs.filter(([value, label]) => `${value} ${label}`.toLowerCase().includes(word.toLowerCase()))
    .map(([value, label, about]) => ({ label, about, text: `${before}${/\s/.test(value) ? `"${value}"` : value} ` }));
  // Options come first; behind other words a dash is part of them.
  const optional = /^(?:--\S+(?:\s+(?!--)\S+)?\s+)*(?:-\S*)?$/.test(rest);
  if (word.startsWith("-") && optional) {
    const used = new Set(rest.match(/--[\w-]+/g) ?? []);
    return command.options.filter((option) => `--${option.name}`.startsWith(word) && !used.has(`--${option.name}`))
      .map((option) => ({ label: `--${option.name}`, about: aboutOf(option, model), text: `${before}--${option.name} ` }));
  }
  const asked = /--([\w-]+)\s+\S*$/.exec(rest)?.[1] ?? (/^\S*$/.test(rest) ? command.argument : "");
  const kind = command.options.find((option) => option.name === asked)?.kind;
  if (kind === "phone") return fill(model.devices.map((device) => [device.name, device.name, say("page.place.phones")]));
  if (kind === "task") return fill(model.tasks.map((task) => [task.task, `${task.task} · ${task.text}`, ""]));
  if (kind === "command") return fill(model.commands.map((one) => [one.name, one.name, one.help]));
  return [];
}

function aboutOf(option, model) {
  return option.takes_model && model.offline ? say("page.box.takes_model", { about: option.help }) : option.help;
}

export class Completion {
  constructor(list, line, model, take) {
    Object.assign(this, { list, line, model, take });
    this.rows = [];
    this.at = 0;
    line.addEventListener("blur", () => this.close());
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
  }

  get open() {
    return this.rows.length > 0;
  }

  draw() {
    const line = this.line;
    const atEnd = line.selectionStart === line.value.length;
    this.show(line.value.startsWith("/") && atEnd ? suggestions(line.value, this.model).slice(0, MOST) : []);
  }

  show(rows) {
    // What stands there already needs no menu.
    this.rows = rows.length === 1 && rows[0].text.trim() === this.line.value.trim() ? [] : rows;
    this.list.hidden = !this.open;
    this.list.replaceChildren(...this.rows.map((row, index) => h("li", { role: "option", id: `completion-${index}`, "aria-selected": "false",
      onclick: () => this.complete(index) }, h("b", {}, row.label), row.about ? h("span", {}, row.about) : null)));
    this.select(0);
  }

  select(at) {
    this.at = at;
    [...this.list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
    if (this.open) this.line.setAttribute("aria-activedescendant", `completion-${at}`);
    else this.line.removeAttribute("aria-activedescendant");
  }

  complete(at) {
    this.take(this.rows[at].text);
    this.draw();
  }

  close() {
    this.show([]);
  }

  // True when the key was for the menu.
  key(event) {
    if (!this.open || event.isComposing) return false;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const whole = this.rows[this.at].text.trim() === this.line.value.trim();
    const named = this.rows.some((row) => row.text.trim() === this.line.value.trim());
    if (by) this.select((this.at + by + this.rows.length) % this.rows.length);
    else if (event.key === "Escape") this.close();
    else if (event.key === "Tab" && !event.shiftKey) this.complete(this.at);
    else if (event.key === "Enter" && !event.shiftKey && !whole && !named && /^\/\S*$/.test(this.line.value)) this.complete(this.at);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
