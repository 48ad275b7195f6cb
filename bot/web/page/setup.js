// The first visit: a model, or none; then a phone. What is shown here is what Connect has.

import { ConnectForm } from "./connect_form.js";
import { Phones } from "./connect_phones.js";
import { h } from "./dom.js";
import { Looking } from "./looking.js";
import { go, href } from "./route.js";
import { load } from "./service.js";
import { say } from "./words.js";

const LOOK_MS = 4000;
const STEPS = ["model", "phones", "ready"];

export class Setup extends Looking {
  constructor(model, way) {
    super(model, LOOK_MS);
    const back = { ...way, reload: () => this.fill() };
    this.marks = STEPS.map((name) => h("li", {}, say(`page.setup.${name}`)));
    this.form = new ConnectForm("model", { ...back, saved: () => go("setup", "phones") });
    this.phones = new Phones(model, back);
    this.skip = h("a", { class: "button", href: href("setup", "phones") }, say("page.setup.no_model"));
    this.on = h("a", { class: "button primary", href: href("setup", "ready") });
    this.chats = h("ul", { class: "setup-chats" });
    this.end = h("section", { class: "panel connect-panel" }, h("h2", {}, say("page.setup.ready_title")),
      h("div", { class: "row" }, h("a", { class: "button primary", href: href("console") }, say("page.setup.begin"))),
      h("h3", {}, say("page.setup.chats")), this.chats);
    this.parts = { model: [this.form.root, h("div", { class: "row" }, this.skip)], phones: [this.phones.root, h("div", { class: "row" }, this.on)], ready: [this.end] };
    this.body = h("div", { class: "setup-body" });
    this.root = h("div", { class: "sheet setup" }, h("ol", { class: "setup-steps", "aria-label": say("page.setup.steps") }, ...this.marks), this.wrong, this.body);
  }

  heading() {
    return { title: say("page.setup.title"), about: say(`page.setup.${this.step}_about`) };
  }

  open(name) {
    this.step = STEPS.includes(name) ? name : "model";
    this.marks.forEach((mark, at) => {
      mark.className = at < STEPS.indexOf(this.step) ? "done" : "";
      if (STEPS[at] === this.step) mark.setAttribute("aria-current", "step");
      else mark.removeAttribute("aria-current");
    });
    this.body.replaceChildren(...this.parts[this.step]);
    super.open();
    if (this.step === "phones") this.phones.opened();
    if (this.step === "ready") settled();
  }

  async ask() {
    const found = await load("/api/connect");
    this.model.state(found);
    return found;
  }

  show() {
    this.form.take(this.found);
    this.draw();
    const chats = this.found.forms.filter((form) => !form.endpoint);
    if (this.chats.children.length) return;
    this.chats.replaceChildren(...chats.map(({ name, title }) => h("li", {}, h("a", { class: "button", href: href("connect", name) }, title))));
  }

  draw() {
    if (!this.found) return;
    this.phones.take();
    const real = this.model.devices.some((device) => !device.virtual && device.usable);
    const words = say(real ? "page.setup.on" : this.model.devices.length ? "page.setup.on_virtual" : "page.setup.no_phone");
    if (this.on.textContent !== words) this.on.textContent = words;
  }
}

const KEPT = "opengui.setup";

// Whether this browser was through it, or went on without.
export function isSettled() {
  return localStorage.getItem(KEPT) !== null;
}

export function settled() {
  localStorage.setItem(KEPT, "done");
}
