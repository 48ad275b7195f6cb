// Below a chat: who writes to the bot gets a code, which is typed here; their id is known from then on.

import { h } from "./dom.js";
import { field, sent, status, tell } from "./forms.js";
import { href } from "./route.js";
import { send } from "./service.js";
import { say } from "./words.js";

export class LettingIn {
  constructor(name, way) {
    this.name = name;
    this.way = way;
    this.waiting = h("ul", { class: "connect-rows" });
    this.status = status();
    this.form = h("form", { class: "connect-inline", autocomplete: "off", "aria-label": say("page.connect.people.pair") },
      field(`connect-code-${name}`, say("page.connect.phones.code"), { name: "code", maxlength: 40, placeholder: "ABCD2345" }),
      h("button", { class: "button primary", type: "submit" }, say("page.connect.people.let_in")));
    sent(this.form, ({ code }) => this.let(code.value.trim()));
    this.root = h("div", { class: "connect-fields", hidden: true }, h("h3", {}, say("page.connect.own_id")), h("p", { class: "note" }, say("page.connect.own_id_how")),
      this.waiting, this.form, this.status, h("p", { class: "note" }, h("a", { href: href("connect", "people") }, say("page.connect.own_id_rights"))));
  }

  take(shown, waiting) {
    this.root.hidden = !shown;
    const own = waiting.filter(({ who }) => who.startsWith(`${this.name}:`));
    const mark = JSON.stringify(own);
    if (mark === this.mark) return;
    this.mark = mark;
    this.waiting.replaceChildren(...own.map(({ who, name, minutes }) => h("li", {}, h("div", { class: "words" }, h("b", {}, name), h("small", {}, say("page.connect.people.waits", { who, minutes }))))));
  }

  async let(code) {
    try {
      tell(this.status, (await send("/api/console/pairing", { code })).text);
      this.form.reset();
      await this.way.reload();
    } catch (error) {
      tell(this.status, error.message, true);
    }
  }
}
