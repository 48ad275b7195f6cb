// What belongs to people: members of the team, rights and tokens.

import { h, setLinked, setText } from "./dom.js";
import { FolderDrop } from "./folder_drop.js";
import { act, careful, choice, copy, field, offer, sent, status, tell } from "./forms.js";
import { send } from "./service.js";
import { moment } from "./when.js";
import { say, whole } from "./words.js";

const RIGHTS = ["use", "approve", "operate", "admin"];

class Listed {
  constructor(name, model, way) {
    this.name = name;
    this.model = model;
    this.way = way;
    this.rows = h("ul", { class: "connect-rows" });
    this.none = h("p", { class: "note" }, say(`page.connect.${name}.none`));
    this.status = status();
    this.root = h("section", { class: "panel connect-panel", "aria-labelledby": `connect-${name}` },
      h("div", { class: "connect-head" }, h("h2", { id: `connect-${name}` }, say(`page.connect.${name}.title`))),
      h("p", { class: "note" }, say(`page.connect.${name}.about`)), this.none, this.rows);
  }

  // Rows are made anew only when they are others, so that a button keeps the focus.
  list(found, row) {
    this.number = found.length;
    this.none.hidden = found.length > 0;
    const mark = JSON.stringify(found);
    if (mark !== this.mark) this.rows.replaceChildren(...found.map(row));
    this.mark = mark;
  }

  state() {
    return { kind: this.number ? "set" : "off", text: this.number ? whole(this.number) : say("page.connect.state.none") };
  }

  async change(path, wish = {}) {
    try {
      tell(this.status, (await send(path, wish)).text);
      await this.way.reload();
      return true;
    } catch (error) {
      tell(this.status, error.message, true);
      return false;
    }
  }

  form(label, give, done, ...fields) {
    const form = h("form", { class: "connect-inline", autocomplete: "off", "aria-label": label }, ...fields, h("button", { class: "button primary", type: "submit" }, give));
    return sent(form, async (given) => {
      if (await done(given)) form.reset();
    });
  }

  field(name, label, properties = {}) {
    return field(`connect-${this.name}-${name}`, label, { name, ...properties });
  }

  choice(name, label, options) {
    return choice(`connect-${this.name}-${name}`, label, options, { name });
  }
}

function row(title, facts, ...actions) {
  return h("li", {}, h("div", { class: "words" }, h("b", {}, title), ...facts.filter(Boolean).map((fact) => h("small", {}, fact))),
    actions.some(Boolean) ? h("div", { class: "row" }, ...actions) : null);
}

export class Members extends Listed {
  constructor(model, way) {
    super("members", model, way);
    this.folder = h("p", { class: "small" });
    this.lacks = setLinked(h("p", { class: "connect-why", hidden: true }), say("page.connect.members.lacks_model"));
    this.refused = h("ul", { class: "connect-rows" });
    this.drop = new FolderDrop("members", () => this.way.reload());
    this.none.before(this.lacks);
    this.root.append(this.refused, this.status, h("h3", {}, say("page.folder.bring")), this.drop.root, this.folder);
  }

  take({ members, refused, folder, model_state: { status } }) {
    this.lacks.hidden = status !== "offline";
    this.list(members, ({ name, description, tools, own }) => row(name, [description, tools.length ? say("page.connect.members.tools", { tools: tools.join(", ") }) : ""],
      own ? careful(say("page.skills.delete"), say("page.skills.sure"), name, () => this.forget(name)) : null));
    const mark = JSON.stringify(refused);
    if (mark !== this.refusedMark) {
      this.refused.replaceChildren(...refused.map(({ folder: name, why }) => row(name, [say("page.connect.members.refused", { why })],
        careful(say("page.skills.delete"), say("page.skills.sure"), name, () => this.forget(name)))));
    }
    this.refusedMark = mark;
    setText(this.folder, say("page.connect.members.folder", { folder }));
  }

  forget(name) {
    return this.change("/api/connect/folders/delete", { kind: "members", name });
  }
}

// Only looked at: mcp.json is written with an editor alone.
export class Servers extends Listed {
  constructor(model, way) {
    super("servers", model, way);
  }

  take({ servers }) {
    this.list(servers, ({ name, why, tools, left_out: left }) => row(name || "mcp.json", [why ? say("page.connect.members.refused", { why }) : say("page.connect.members.tools", { tools: tools.join(", ") }),
      left ? say("page.connect.servers.left_out", { number: left }) : ""],
    h("span", { class: `badge ${why ? "waiting" : "succeeded"}` }, say(`page.connect.state.${why ? "off" : "connected"}`))));
    this.used = servers.filter(({ why }) => !why).length;
  }

  // How many of them can be used, where that is not all.
  state() {
    if (!this.number || this.used === this.number) return { ...super.state(), kind: this.number ? "connected" : "off" };
    return { kind: "closed", text: say("page.connect.servers.used", { number: whole(this.used), all: whole(this.number) }) };
  }
}

export class People extends Listed {
  constructor(model, way) {
    super("people", model, way);
    const give = say("page.connect.people.give");
    this.phone = this.choice("phone", say("page.connect.people.phone"), [["", say("page.connect.people.all_phones")]]);
    this.waiting = h("ul", { class: "connect-rows" });
    this.pair = this.form(say("page.connect.people.pair"), say("page.connect.people.let_in"), ({ code }) => this.change("/api/console/pairing", { code: code.value.trim() }),
      this.field("code", say("page.connect.people.code"), { maxlength: 40, placeholder: "ABCD2345" }));
    this.pairing = h("p", { class: "note" });
    this.root.append(h("h3", {}, say("page.connect.people.add")),
      this.form(say("page.connect.people.add"), give, ({ who, right, phone }) => this.change("/api/console/people", { who: who.value.trim(), right: right.value, phone: phone.value }),
        this.field("who", say("page.connect.people.who"), { placeholder: "telegram:123456789" }),
        this.choice("right", say("page.connect.people.right"), RIGHTS.map((right) => [right, say(`page.connect.right.${right}`)])), this.phone),
      h("h3", {}, say("page.connect.people.pair")), this.pairing, this.waiting, this.pair, this.status);
  }

  take({ people, waiting, pairing }) {
    this.list(people, ({ who, right, phone, given }) => row(who, [[say(`page.connect.right.${right}`), phone, given ? "" : say("page.connect.people.settings")].filter(Boolean).join(" · ")],
      given ? act(say("page.connect.people.take"), who, () => this.change("/api/console/people/deny", { who, phone }), "danger") : null));
    offer(this.phone.querySelector("select"), this.model.devices);
    this.pair.hidden = !pairing;
    setText(this.pairing, say(`page.connect.people.pairing_${pairing ? "on" : "off"}`));
    this.waiting.replaceChildren(...waiting.map(({ who, name, minutes }) => row(name, [say("page.connect.people.waits", { who, minutes })])));
  }
}

export class Tokens extends Listed {
  constructor(model, way) {
    super("tokens", model, way);
    const rights = h("fieldset", { class: "connect-rights" }, h("legend", {}, say("page.connect.tokens.rights")), ...RIGHTS.map((right) =>
      h("label", {}, h("input", { type: "checkbox", name: "right", value: right, ...(right === "use" ? { checked: true } : {}) }), say(`page.connect.right.${right}`))));
    this.secret = h("input", { id: "connect-tokens-secret", readonly: true, autocomplete: "off", spellcheck: "false" });
    this.copy = h("button", { class: "button", type: "button", onclick: () => copy(this.secret, this.way) }, say("page.connect.tokens.copy"));
    this.made = h("div", { class: "connect-made", hidden: true }, h("label", { for: "connect-tokens-secret" }, say("page.connect.tokens.once")),
      h("div", { class: "row" }, this.secret, this.copy));
    this.add = this.form(say("page.connect.tokens.add"), say("page.connect.tokens.make"), (given) => this.make(given),
      this.field("name", say("page.connect.tokens.name"), { maxlength: 40, placeholder: "home-assistant", pattern: "[a-z0-9][a-z0-9_\\-]*" }),
      this.field("days", say("page.connect.tokens.days"), { type: "number", min: 1, max: 3650, value: 90 }), rights);
    this.others = h("p", { class: "note" }, say("page.connect.tokens.operator"));
    this.root.append(this.made, this.add, this.others, this.status);
  }

  take({ tokens, makes_tokens: makes }) {
    this.list(tokens, ({ name, rights, owner, phones, expires, expired, used }) => row(name, [
      [rights.map((right) => say(`page.connect.right.${right}`)).join(", "), owner, phones.join(", ")].filter(Boolean).join(" · "),
      [say(`page.connect.tokens.${expired ? "expired" : "until"}`, { time: moment(expires) }), used ? say("page.connect.tokens.used", { time: moment(used) }) : say("page.connect.tokens.unused")].join(" · ")],
    act(say("page.connect.tokens.revoke"), name, () => this.change(`/api/console/tokens/${encodeURIComponent(name)}/revoke`), "danger")));
    this.add.hidden = !makes;
    this.others.hidden = makes;
  }

  // The secret comes this once, and leaves the page with the next look at another section.
  async make({ name, days }) {
    const rights = [...this.add.querySelectorAll("[name=right]:checked")].map((box) => box.value);
    try {
      const made = await send("/api/tokens", { name: name.value.trim(), days: Number(days.value), rights });
      this.secret.value = made.secret;
      this.made.hidden = false;
      this.secret.focus();
      this.secret.select();
      tell(this.status, "");
      await this.way.reload();
      return true;
    } catch (error) {
      tell(this.status, error.message, true);
      return false;
    }
  }

  opened() {
    this.secret.value = "";
    this.made.hidden = true;
  }
}
