// The settings check: what is well, what is wrong and how to mend it, and what is set.

import { finding } from "./connect_form.js";
import { h, setText } from "./dom.js";
import { load, send } from "./service.js";
import { SignedIn } from "./sessions.js";
import { say } from "./words.js";

const AREAS = ["service", "phone", "model", "chat", "files", "adb", "computer"];

export class Check {
  constructor(model, way) {
    this.model = model;
    this.signedIn = new SignedIn(way);
    this.near = [];
    this.far = null;
    this.list = h("div", { class: "findings" });
    this.ask = h("button", { class: "button primary", type: "button", onclick: () => this.try() }, say("page.check.ask"));
    this.wrong = h("p", { class: "note", role: "alert", hidden: true });
    this.sum = h("p", { class: "sum", role: "status" });
    this.settings = h("tbody");
    this.usual = h("tbody");
    this.others = h("summary");
    this.root = h("div", { class: "sheet" },
      h("div", { class: "choices" }, this.sum, this.ask), h("p", { class: "note" }, say("page.check.ask_hint")), this.wrong, this.list, this.signedIn.root,
      h("section", { class: "panel scrolls", tabindex: 0, "aria-labelledby": "settings-title" }, h("h2", { id: "settings-title" }, say("page.check.settings")),
        h("table", { class: "settings" }, this.settings),
        (this.more = h("details", { hidden: true }, this.others, h("table", { class: "settings" }, this.usual)))));
  }

  heading() {
    return { title: say("page.place.check"), about: say("page.check.about") };
  }

  open() {
    if (this.model.ready) this.fill();
  }

  // The service was away when it was asked, and is back.
  told() {
    if (this.away) this.fill();
  }

  async fill() {
    try {
      const { findings, settings } = await load("/api/check");
      this.near = findings;
      const usual = settings.filter((one) => one.default);
      this.settings.replaceChildren(...settings.filter((one) => !one.default).map(row));
      this.usual.replaceChildren(...usual.map(row));
      this.more.hidden = usual.length === 0;
      setText(this.others, say("page.check.others", { number: usual.length }));
      this.wrong.hidden = true;
      this.away = false;
      this.show();
      await this.signedIn.fill();
    } catch (error) {
      this.fail(error);
    }
  }

  async try() {
    this.ask.disabled = true;
    setText(this.ask, say("page.check.asking"));
    try {
      this.far = (await send("/api/check", {})).findings;
      await this.fill();
    } catch (error) {
      this.fail(error);
    }
    setText(this.ask, say("page.check.ask"));
    this.ask.disabled = false;
  }

  fail(error) {
    this.away = error.status === 0;
    setText(this.wrong, error.message);
    this.wrong.hidden = false;
  }

  show() {
    // What was tried for real says more than what is set.
    const tried = new Set((this.far ?? []).map((one) => one.area));
    const found = [...this.near.filter((one) => !tried.has(one.area)), ...(this.far ?? [])];
    const bad = found.filter((one) => one.verdict === "bad").length;
    setText(this.sum, bad ? say("page.check.bad", { number: bad }) : say(this.far ? "page.check.well" : "page.check.well_so_far"));
    this.sum.classList.toggle("wrong", bad > 0);
    const groups = AREAS.map((area) => [area, found.filter((one) => one.area === area)]).filter(([, ones]) => ones.length);
    this.list.replaceChildren(...groups.map(([area, ones]) => h("section", { class: "panel" }, h("h2", {}, say(`page.check.area.${area}`)), h("ul", {}, ...ones.map(finding)))));
  }

  draw() {}
}

function row({ name, kind, text }) {
  const value = kind === "value" ? text : say(`page.check.kind.${kind}`, { text });
  return h("tr", {}, h("th", { scope: "row" }, h("code", {}, name)), h("td", {}, value));
}
