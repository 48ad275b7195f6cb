// What the list of tasks is narrowed down to: words, how a task stands, its phone, its person.

import { h } from "./dom.js";
import { named } from "./message.js";
import { platformName } from "./model.js";
import { load } from "./service.js";
import { say } from "./words.js";

const STANDINGS = ["working", "waiting", "queued", "paused", "interrupted", "succeeded", "answered", "unverified", "declined", "blocked", "failed", "cancelled"];
const TYPING_MS = 200;

// `changed` is called with the new wish some time after it was typed, at once when it was chosen.
export class Finding {
  constructor(changed) {
    this.changed = changed;
    this.text = h("input", { type: "search", maxlength: 200, "aria-label": say("page.find.label"), placeholder: say("page.find.like"),
      "aria-keyshortcuts": "/", spellcheck: "false", autocomplete: "off" });
    this.standing = choice(say("page.find.standing"), say("page.find.any_standing"));
    this.phone = choice(say("page.find.phone"), say("page.find.any_phone"));
    this.person = choice(say("page.find.person"), say("page.find.any_person"));
    fill(this.standing, STANDINGS.map((standing) => [standing, named(standing)]));
    this.clear = h("button", { class: "button", type: "button", onclick: () => this.empty() }, say("page.find.clear"));
    this.root = h("form", { class: "narrow", role: "search", onsubmit: (event) => event.preventDefault() },
      this.text, this.standing, this.phone, this.person, this.clear);
    this.text.addEventListener("input", () => this.typed());
    this.text.addEventListener("keydown", (event) => event.key === "Escape" && this.text.value && this.empty(event));
    for (const list of this.lists()) list.addEventListener("change", () => this.now());
  }

  lists() {
    return [this.standing, this.phone, this.person];
  }

  wish() {
    return { text: this.text.value.trim(), standing: this.standing.value, phone: this.phone.value, person: this.person.value };
  }

  // From the address. A phone or person that is not among the choices (yet) is kept as it is.
  set(query) {
    const wish = this.wish();
    if ((query.get("text") ?? "") !== wish.text) this.text.value = query.get("text") ?? "";
    for (const [name, list] of [["standing", this.standing], ["phone", this.phone], ["person", this.person]]) pick(list, query.get(name) ?? "");
    this.dress();
  }

  async choices() {
    const { phones, people } = await load("/api/choices");
    fill(this.phone, phones.map((phone) => [phone.id, phone.name || phone.id]));
    fill(this.person, people.map((one) => [one.id, one.platform === "web" ? one.name : say("page.task.given", { person: one.name, platform: platformName(one.platform) })]));
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), TYPING_MS);
  }

  now() {
    clearTimeout(this.timer);
    this.dress();
    this.changed(this.wish());
  }

  empty(event) {
    event?.preventDefault();
    this.text.value = "";
    for (const list of this.lists()) list.value = "";
    this.text.focus();
    this.now();
  }

  dress() {
    this.clear.hidden = Object.values(this.wish()).every((value) => value === "");
    for (const list of this.lists()) list.classList.toggle("chosen", list.value !== "");
  }
}

function choice(label, any) {
  return h("select", { "aria-label": label }, h("option", { value: "" }, any));
}

function fill(list, options) {
  const chosen = list.value;
  list.replaceChildren(list.firstElementChild, ...options.map(([value, words]) => h("option", { value }, words)));
  pick(list, chosen);
}

function pick(list, value) {
  if (![...list.options].some((option) => option.value === value)) list.append(h("option", { value }, value));
  list.value = value;
}
