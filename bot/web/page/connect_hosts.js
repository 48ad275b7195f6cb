// Hosts: machines with phones of their own. One joins with a command that is shown once.

import { h, setText, setWords } from "./dom.js";
import { careful, copy, field, sent, status, tell } from "./forms.js";
import { change, load, remove, send } from "./service.js";
import { moment } from "./when.js";
import { say, whole } from "./words.js";

const ALL = "/api/v1/hosts";
const NAME = "[a-z0-9]([a-z0-9\\-]{0,30}[a-z0-9])?";

export class Hosts {
  constructor(model, way) {
    this.way = way;
    this.rows = h("ul", { class: "connect-rows" });
    this.none = h("p", { class: "note", hidden: true }, say("page.connect.hosts.none"));
    this.status = status();
    this.line = h("textarea", { id: "connect-hosts-line", rows: 4, readonly: true, autocomplete: "off", spellcheck: "false" });
    this.made = h("div", { class: "connect-made", hidden: true }, this.label = h("label", { for: "connect-hosts-line" }), this.line,
      h("div", { class: "row" }, h("button", { class: "button", type: "button", onclick: () => copy(this.line, this.way) }, say("page.connect.tokens.copy"))));
    this.form = h("form", { class: "connect-inline", autocomplete: "off", "aria-label": say("page.connect.hosts.add") },
      field("connect-hosts-name", say("page.connect.hosts.name"), { name: "name", maxlength: 32, pattern: NAME, placeholder: "basement", autocapitalize: "off" }),
      h("button", { class: "button primary", type: "submit" }, say("page.connect.hosts.invite")));
    sent(this.form, (given) => this.invite(given));
    this.on = h("div", { class: "connect-fields", hidden: true }, h("h3", {}, say("page.connect.hosts.add")), this.form, this.made);
    this.off = h("div", { class: "note", hidden: true }, h("p", {}, say("page.connect.hosts.off")), h("pre", {}, this.steps = h("code")), setWords(h("p"), say("page.connect.hosts.off_then")));
    this.root = h("section", { class: "panel connect-panel", "aria-labelledby": "connect-hosts" },
      h("div", { class: "connect-head" }, h("h2", { id: "connect-hosts" }, say("page.connect.hosts.title"))), h("p", { class: "note" }, say("page.connect.hosts.about")),
      this.none, this.rows, this.on, this.off, this.status);
  }

  // Asked with each look at the page, so that a host that has just joined is seen.
  take(looked) {
    if (looked === this.looked) return;
    this.looked = looked;
    this.ask();
  }

  async ask() {
    try {
      const { data, switched_on: on, install, conflicts } = await load(ALL);
      this.found = data.items;
      this.conflicts = conflicts;
      this.on.hidden = !on;
      this.off.hidden = on;
      setText(this.steps, [install, "FLEET_URL=nats://127.0.0.1:4222"].filter(Boolean).join("\n"));
      this.none.hidden = !on || this.found.length > 0;
      this.list();
    } catch (error) {
      if (error.status !== 0) tell(this.status, error.message, true);
    }
  }

  list() {
    const mark = JSON.stringify([this.found, this.conflicts]);
    if (mark === this.mark) return;
    this.mark = mark;
    this.rows.replaceChildren(...this.found.map((host) => h("li", {}, h("div", { class: "words" }, h("b", {}, host.name),
      h("small", {}, [host.phones.join(", "), host.version, say("page.connect.hosts.joined", { time: moment(host.joined) })].filter(Boolean).join(" · "))),
    h("span", { class: `badge ${host.usable ? "succeeded" : "waiting"}` }, host.state),
    careful(say("page.connect.hosts.revoke"), say("page.connect.hosts.sure"), host.name, () => this.revoke(host.name)))), ...this.conflicts.map((one) => h("li", {}, h("div", { class: "words" }, h("b", {}, one.phone), h("small", {}, one.text)),
    careful(say("page.connect.hosts.move"), say("page.connect.hosts.move_sure"), one.phone, () => this.move(one)))));
    // Who has joined has used the command up.
    if (this.found.some((host) => host.name === this.invited)) this.forget();
  }

  state() {
    const usable = (this.found ?? []).filter((host) => host.usable).length;
    return { kind: usable ? "connected" : "off", text: !this.found ? "" : this.found.length ? whole(this.found.length) : say("page.connect.state.none") };
  }

  async invite({ name }) {
    try {
      const { command, minutes } = await send(ALL, { name: name.value.trim() });
      this.invited = this.found.some((host) => host.name === name.value.trim()) ? "" : name.value.trim();
      this.line.value = command;
      setText(this.label, say("page.connect.hosts.once", { minutes }));
      this.made.hidden = false;
      tell(this.status, "");
      this.form.reset();
      this.line.focus();
      this.line.select();
    } catch (error) {
      tell(this.status, error.message, true);
    }
  }

  async move({ phone, claimant }) {
    try {
      await change(`${ALL}/phones/${encodeURIComponent(phone)}`, { host: claimant });
      await this.ask();
    } catch (error) {
      tell(this.status, error.message, true);
    }
  }

  async revoke(name) {
    try {
      await remove(`${ALL}/${encodeURIComponent(name)}`);
      tell(this.status, say("page.connect.hosts.revoked", { name }));
      await this.ask();
    } catch (error) {
      tell(this.status, error.message, true);
    }
  }

  forget() {
    this.invited = "";
    this.line.value = "";
    this.made.hidden = true;
  }

  opened() {
    this.forget();
  }
}
