// Connect: what the service works with, one section each: the model, chats, phones, and what belongs to people.

import { ConnectForm } from "./connect_form.js";
import { Hosts } from "./connect_hosts.js";
import { Phones } from "./connect_phones.js";
import { Members, People, Servers, Tokens } from "./connect_people.js";
import { h, icon, setText } from "./dom.js";
import { Looking } from "./looking.js";
import { href } from "./route.js";
import { load } from "./service.js";
import { say } from "./words.js";

const LOOK_MS = 4000;
const OWN = [["phones", "phone", Phones], ["hosts", "plug", Hosts], ["members", "people", Members], ["servers", "plug", Servers],
  ["people", "people", People], ["tokens", "key", Tokens]];

// The model that works the phone, and below it what can have an endpoint of its own.
class Models {
  constructor(forms, way) {
    this.forms = forms.filter((form) => form.endpoint).map((form) => new ConnectForm(form.name, way));
    this.root = h("div", { class: "connect-models" }, this.forms[0].root,
      h("h2", { class: "connect-more" }, say("page.connect.roles")), ...this.forms.slice(1).map((form) => form.folded()));
  }

  take(found) {
    for (const form of this.forms) form.take(found);
  }

  state() {
    return this.forms[0].state();
  }

  focus(name) {
    for (const form of this.forms) form.focus(name);
  }
}

export class Connect extends Looking {
  constructor(model, way) {
    super(model, LOOK_MS);
    this.way = { ...way, reload: () => this.fill() };
    this.list = h("ul");
    this.section = h("div", { class: "connect-section" });
    this.root = h("div", { class: "sheet connect" }, this.wrong, h("div", { class: "connect-halves" },
      h("nav", { class: "connect-list", "aria-label": say("page.connect.things") }, this.list), this.section));
    this.sections = new Map();
    this.links = new Map();
    this.name = "";
  }

  heading() {
    return { title: say("page.place.connect"), about: say("page.connect.about") };
  }

  open(name, query) {
    this.name = name || "model";
    this.field = query.get("field") ?? "";
    super.open();
    if (this.found) this.show();
  }

  async ask() {
    const found = await load("/api/connect");
    this.model.state(found);
    return found;
  }

  // Chats are known from the service alone, so the list is made when it has answered.
  build() {
    if (this.sections.size) return;
    const forms = this.found.forms.filter((form) => form.name === "model" || !form.endpoint)
      .map(({ name, title }) => name === "model" ? [name, title, "spark", new Models(this.found.forms, this.way)] : [name, title, "chat", new ConnectForm(name, this.way)]);
    const own = OWN.map(([name, sign, Section]) => [name, say(`page.connect.${name}.title`), sign, new Section(this.model, this.way)]);
    for (const [name, title, sign, section] of [...forms, ...own]) {
      this.sections.set(name, section);
      const state = h("small");
      const link = h("a", { class: "connect-thing", href: href("connect", name) }, icon(sign), h("span", { class: "words" }, h("b", {}, title), state));
      this.links.set(name, { link, state, title });
      this.list.append(h("li", {}, link));
    }
  }

  show() {
    this.build();
    const name = this.sections.has(this.name) ? this.name : "model";
    for (const [other, { link, state }] of this.links) {
      if (other === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      const section = this.sections.get(other);
      section.take(this.found);
      const { kind, text } = section.state();
      link.dataset.kind = kind;
      setText(state, text);
    }
    const section = this.sections.get(name);
    if (this.section.firstElementChild !== section.root) {
      this.section.replaceChildren(section.root);
      this.links.get(name).link.scrollIntoView({ block: "nearest", inline: "center" });
      section.opened?.();
    }
    if (this.field) section.focus?.(this.field);
    this.field = "";
  }

  draw() {
    if (this.found) this.show();
  }
}
