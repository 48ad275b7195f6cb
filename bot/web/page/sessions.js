// Who is signed in, and the way to end that for all others.

import { h, setText } from "./dom.js";
import { load, send } from "./service.js";
import { inARow, moment } from "./when.js";
import { say } from "./words.js";

export class SignedIn {
  constructor(way) {
    this.way = way;
    this.rows = h("ul", { class: "sessions", tabindex: 0, "aria-labelledby": "sessions-title" });
    this.end = h("button", { class: "button danger", type: "button", onclick: () => this.endOthers() }, say("page.sessions.end"));
    this.root = h("section", { class: "panel", "aria-labelledby": "sessions-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "sessions-title" }, say("page.sessions.title")), this.end), this.rows);
  }

  async fill() {
    const { sessions } = await load("/api/sessions");
    this.rows.replaceChildren(...sessions.map(row));
    this.end.hidden = !sessions.some((one) => !one.own);
  }

  async endOthers() {
    this.end.disabled = true;
    try {
      const { ended } = await send("/api/sign-out", { others: true });
      this.way.toast(say("page.sessions.ended", { number: ended }));
      await this.fill();
    } catch (error) {
      this.way.toast(error.message);
    }
    this.end.disabled = false;
  }
}

function row(one) {
  const name = h("b");
  setText(name, say(`page.sessions.by_${one.way}`, { address: one.address, name: one.name }));
  const own = one.own ? h("span", { class: "badge working" }, say("page.sessions.own")) : null;
  const times = inARow([say("page.sessions.begun", { time: moment(one.begun) }), say("page.sessions.used", { time: moment(one.used) })]);
  return h("li", {}, h("div", { class: "words" }, name, h("small", {}, times)), own);
}
