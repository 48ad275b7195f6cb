// The palette: with Ctrl-K or ⌘K to any page, task, phone or command, by a few letters.

import { h, icon, inOrder } from "./dom.js";
import { named } from "./message.js";
import { standing } from "./model.js";
import { href } from "./route.js";
import { say } from "./words.js";

const MOST = 12;
const MAC = /mac|iphone|ipad/i.test(navigator.platform);

export const KEYS = MAC ? "⌘K" : "Ctrl K";

export class Palette {
  // `compose(text)` puts words into the box; `places` are [name, icon] of the pages.
  constructor(dialog, model, places, compose) {
    Object.assign(this, { dialog, model, places, compose });
    this.field = h("input", { type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", "aria-expanded": "true",
      "aria-controls": "palette-list", "aria-label": say("page.palette.open"), placeholder: say("page.palette.like"), maxlength: 200 });
    this.list = h("ul", { id: "palette-list", role: "listbox", "aria-label": say("page.palette.open") });
    this.none = h("p", { class: "note", hidden: true }, say("page.palette.none"));
    dialog.append(h("div", { class: "palette-box" }, h("div", { class: "palette-field" }, icon("search"), this.field), this.list, this.none));
    this.field.addEventListener("input", () => this.draw());
    this.field.addEventListener("keydown", (event) => this.key(event));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || !(MAC ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      if (dialog.open) dialog.close();
      else this.open();
    });
  }

  open() {
    if (document.getElementById("app").inert || document.querySelector("dialog[open]")) return;
    this.field.value = "";
    this.draw();
    this.dialog.showModal();
    this.field.focus();
  }

  found() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (text) => words.every((word) => text.toLowerCase().includes(word));
    const go = (where) => () => (location.hash = where);
    const pages = this.places.map(([name, sign]) => ({ sign, words: say(`page.place.${name}`), about: say("page.palette.page"), act: go(href(name)) }));
    const tasks = this.model.tasks.map((task) => ({ sign: "list", words: task.text, about: `${task.task} · ${named(standing(task))}`, act: go(href("task", task.task)) }));
    const phones = this.model.devices.map((device) => ({ sign: "phone", words: device.name, about: say("page.place.phones"), act: go(href("phones")) }));
    const commands = this.model.commands.map((command) => ({ sign: "command", words: `/${command.name}`, about: command.help, act: () => this.compose(`/${command.name} `) }));
    const all = [...pages, ...tasks.slice(0, words.length ? undefined : 4), ...phones, ...commands];
    return all.filter((one) => fits(`${one.words} ${one.about}`)).slice(0, MOST);
  }

  draw() {
    this.rows = this.found();
    this.at = 0;
    this.list.replaceChildren(...this.rows.map((row, index) => {
      const item = h("li", { role: "option", id: `palette-${index}`, "aria-selected": "false", onclick: () => this.take(index) },
        icon(row.sign), h("span", {}, row.words), h("small", {}, row.about));
      item.addEventListener("pointermove", () => this.select(index));
      return item;
    }));
    this.none.hidden = this.rows.length > 0;
    this.select(0);
  }

  select(at) {
    this.at = at;
    [...this.list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
    this.field.setAttribute("aria-activedescendant", inOrder(this.rows.length ? `palette-${at}` : ""));
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && this.rows.length) {
      event.preventDefault();
      this.select((this.at + by + this.rows.length) % this.rows.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.take(this.at);
    }
  }

  take(at) {
    const row = this.rows[at];
    if (!row) return;
    this.dialog.close();
    row.act();
  }
}
