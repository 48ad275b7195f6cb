// The form of the model or of a chat: tried before it is kept. Secrets are typed and never shown.

import { LettingIn } from "./connect_letting.js";
import { h, setGuide, setText, uniqueId } from "./dom.js";
import { sent } from "./forms.js";
import { send } from "./service.js";
import { say } from "./words.js";

const MARKS = { good: "✓", note: "·", bad: "✗" };
const MODEL = "model";

export class ConnectForm {
  constructor(name, way) {
    this.name = name;
    this.way = way;
    this.fields = new Map();
    this.title = h("h2", { id: `connect-${name}` });
    this.badge = h("span", { class: "badge" });
    this.about = h("p", { class: "note" });
    this.why = h("p", { class: "connect-why", hidden: true });
    this.preset = h("select", { id: `connect-preset-${name}` });
    this.inputs = h("div", { class: "connect-fields" });
    this.more = h("div", { class: "connect-fields" });
    this.fold = h("details", { class: "connect-fold", hidden: true }, h("summary", {}, say("page.connect.more")), this.more);
    this.names = h("select", { "aria-label": say("page.connect.names"), hidden: true });
    this.names.addEventListener("change", () => this.pick());
    this.findings = h("ul", { class: "connect-findings", role: "status" });
    this.closing = h("p", { class: "note connect-closing", hidden: true });
    this.letting = new LettingIn(name, way);
    this.keep = h("button", { class: "button primary", type: "submit" });
    this.test = h("button", { class: "button", type: "button", onclick: () => this.ask("test") }, say("page.connect.test"));
    this.anyway = h("button", { class: "button", type: "button", hidden: true, onclick: () => this.ask("save", { anyway: true }) }, say("page.connect.anyway"));
    this.end = h("button", { class: "button danger", type: "button", hidden: true, onclick: () => this.disconnect() }, say("page.connect.disconnect"));
    this.presetField = h("div", { class: "connect-field", hidden: true }, h("label", { for: `connect-preset-${name}` }, say("page.connect.preset")), this.preset);
    this.form = h("form", { autocomplete: "off", "aria-labelledby": `connect-${name}` }, this.presetField, this.inputs, this.fold,
      h("div", { class: "row" }, this.keep, this.test, this.anyway, this.end), this.findings);
    sent(this.form, () => this.ask("save"));
    this.preset.addEventListener("change", () => this.fillIn());
    this.root = h("section", { class: "panel connect-panel", "aria-labelledby": `connect-${name}` },
      h("div", { class: "connect-head" }, this.title, this.badge), this.about, this.why, this.form, this.closing, this.letting.root);
  }

  // As one of several, below a line that opens it.
  folded() {
    const summary = h("summary", {}, this.title, this.badge);
    this.root = h("details", { class: "panel connect-role" }, summary, h("div", { class: "connect-panel" }, this.about, this.form));
    return this.root;
  }

  take({ forms, presets, model_state: model, waiting, pairing }) {
    this.now = forms.find((form) => form.name === this.name);
    this.model = this.name === MODEL ? model : null;
    this.of = this.now.endpoint;
    this.presetField.hidden = !this.of;
    setText(this.title, this.now.title);
    setGuide(this.about, this.now.about);
    if (!this.preset.options.length && this.of) {
      this.presets = presets;
      this.preset.append(h("option", { value: "" }, say("page.connect.choose")), ...presets.map((one, index) => h("option", { value: index }, one.title)));
    }
    const { kind, text } = this.now.state;
    const classes = { connected: "succeeded", connecting: "working", closed: "waiting" };
    this.badge.className = `badge ${classes[this.state().kind] ?? ""}`;
    setText(this.badge, this.model?.text ?? (kind === "off" ? this.state().text : say(`page.connect.state.${kind}`)));
    const why = this.model?.remedy || (kind === "closed" ? text : "");
    this.why.hidden = !why;
    setGuide(this.why, why);
    setGuide(this.closing, this.now.closing ?? "");
    this.closing.hidden = !this.now.closing;
    this.letting.take(!this.of && pairing && kind !== "off", waiting);
    for (const field of this.now.fields) this.field(field);
    if (!this.of) this.suggest();
    this.preset.disabled = this.fields.get(this.of?.address)?.now.fixed ?? false;
    const fixed = this.now.fields.every((field) => field.fixed || field.kind === "switch");
    this.keep.hidden = fixed;
    setText(this.keep, say(`page.connect.${this.of || kind !== "off" ? "save" : "connect"}`));
    const token = this.now.fields.find((field) => field.kind === "secret");
    this.end.hidden = kind === "off" || this.clearing(token).length === 0;
  }

  // What has to go so that it is not used any more; nothing where the environment has it.
  clearing(token) {
    // The model stays typed where it is no more than a name; of a role it alone would be an endpoint.
    const parts = this.of ? [this.of.address, this.of.key, ...(this.name === MODEL ? [] : [this.of.model])] : [];
    const needed = this.of ? this.now.fields.filter((field) => parts.includes(field.name) && field.set) : [token];
    return needed.some((field) => field.fixed) ? [] : needed;
  }

  // Of the model what its last request or test has told, of all else how it is set.
  state() {
    const { kind, text } = this.now.state;
    if (this.model) {
      const { status, model, text: words } = this.model;
      return { kind: { connected: "connected", failing: "closed" }[status] ?? "off", text: model ? `${model} · ${words}` : say("page.connect.state.offline") };
    }
    const off = this.of ? "unset" : "off";
    return { kind, text: this.of && text ? text : say(`page.connect.state.${kind === "off" ? off : kind}`) };
  }

  field(now) {
    let field = this.fields.get(now.name);
    if (!field) {
      const id = `connect-${this.name}-${now.name}`;
      const type = { secret: "password", switch: "checkbox" }[now.kind] ?? "text";
      const input = h("input", { id, type, autocomplete: "off", spellcheck: "false", maxlength: 4000, "aria-describedby": `${id}-hint` });
      const hint = h("p", { class: "small", id: `${id}-hint` });
      const label = h("label", { for: id });
      const setting = h("code", { class: "connect-setting" }, now.name.toUpperCase());
      field = { input, hint, label, touched: false };
      input.addEventListener("input", () => {
        field.touched = true;
        field.suggested = false;
        this.anyway.hidden = true;
        this.findings.replaceChildren();
        this.hint(field);
        if (field.now.kind === "list") this.suggest();
        if (now.name === this.of?.address) this.hint(this.fields.get(this.of.key));
      });
      if (now.name === this.of?.address || now.name === this.of?.key) input.addEventListener("change", () => this.list());
      this.fields.set(now.name, field);
      if (now.more) this.fold.hidden = false;
      (now.more ? this.more : this.inputs).append(now.kind === "switch"
        ? h("div", { class: "connect-field connect-switch" }, input, h("div", {}, label, hint))
        : h("div", { class: "connect-field" }, h("div", { class: "connect-label" }, label, setting), now.name === this.of?.model ? this.names : null, input, hint));
    }
    field.now = now;
    setText(field.label, now.label);
    field.input.disabled = now.fixed;
    // What somebody is typing stays.
    if (!field.touched && now.kind === "switch") field.input.checked = now.value === "true";
    else if (!field.touched && now.kind !== "secret" && field.input.value !== now.value) field.input.value = now.value;
    this.hint(field);
  }

  hint(field) {
    const { name, kind, set, fixed } = field.now;
    const moved = name === this.of?.key && this.moved();
    const key = fixed ? "fixed" : moved ? "key_again" : kind === "secret" && set ? "kept" : "";
    field.input.placeholder = kind === "secret" && set && !moved ? "••••••••••••" : "";
    const where = name === this.of?.key && this.keysAt && !fixed ? say("page.connect.keys_at", { url: this.keysAt }) : "";
    setGuide(field.hint, where || (key ? say(`page.connect.${key}`, { name: name.toUpperCase() }) : ""));
    field.hint.classList.toggle("care", moved);
  }

  // Who lists nobody finds their own id by a code, so codes are offered until somebody decides otherwise.
  suggest() {
    const codes = this.fields.get("pairing");
    if (!codes || codes.now.fixed || this.now.state.kind !== "off" || (codes.touched && !codes.suggested)) return;
    const lists = [...this.fields.values()].some(({ now, input }) => now.kind === "list" && input.value.trim());
    codes.suggested = codes.touched = !lists;
    codes.input.checked = codes.suggested || codes.now.value === "true";
  }

  // Where somebody was sent to set this one.
  focus(name) {
    const field = this.fields.get(name);
    if (!field) return;
    for (const fold of [this.root, this.fold]) if (fold.matches("details") && fold.contains(field.input)) fold.open = true;
    field.input.focus();
  }

  // Whether the address is another than the one that the kept key is for.
  moved() {
    const address = this.fields.get(this.of?.address);
    const key = this.fields.get(this.of?.key);
    return Boolean(address && key?.now.set && address.input.value.trim() !== address.now.value);
  }

  fillIn() {
    const chosen = this.presets[Number(this.preset.value)];
    if (this.preset.value === "" || !chosen) return;
    // Which model there is good for a role is for a person to say.
    for (const [name, value] of [[this.of.address, chosen.address], ...(this.name === MODEL ? [[this.of.model, chosen.model]] : [])]) {
      const field = this.fields.get(name);
      if (field.now.fixed) continue;
      field.input.value = value;
      field.touched = true;
    }
    this.keysAt = chosen.keys;
    this.hint(this.fields.get(this.of.key));
    this.fields.get(this.of.key).input.focus();
    this.list();
  }

  // The models at the address as a menu; where it lists none, the name is typed.
  async list() {
    const asked = this.listed = uniqueId();
    const { names } = await send("/api/connect/models", { form: this.name, values: this.values() }).catch(() => ({ names: [] }));
    if (asked !== this.listed) return;
    const now = this.fields.get(this.of.model).input.value;
    this.names.replaceChildren(h("option", { value: "" }, say("page.connect.names_of", { number: names.length })), ...names.map((name) => h("option", { value: name }, name)));
    this.names.value = names.includes(now) ? now : "";
    this.names.hidden = names.length === 0 || this.fields.get(this.of.model).now.fixed;
  }

  pick() {
    const { input } = this.fields.get(this.of.model);
    if (!this.names.value) return;
    input.value = this.names.value;
    input.dispatchEvent(new Event("input"));
  }

  // Only what was changed is sent. With another address its key goes along, be it none: the kept one stays where it is.
  values() {
    const values = {};
    for (const [name, { input, now, touched }] of this.fields) {
      if (now.fixed) continue;
      const value = now.kind === "switch" ? String(input.checked) : input.value.trim();
      if (now.kind === "secret" ? value || (name === this.of?.key && this.moved()) : touched && value !== now.value) values[name] = value;
    }
    return values;
  }

  async ask(what, more = {}) {
    await this.during(say(`page.connect.${what === "test" ? "testing" : "saving"}`), async () => {
      const { findings, saved } = await send(`/api/connect/${what}`, { form: this.name, values: this.values(), ...more });
      this.show(findings);
      this.anyway.hidden = !(what === "save" && saved === false && this.of);
      if (saved) await this.saved();
      else if (what === "test") await this.way.reload();
      else if (saved === false) this.tell(say(`page.connect.${this.of ? "not_saved" : "not_connected"}`), "bad");
    });
  }

  async disconnect() {
    const token = this.now.fields.find((field) => field.kind === "secret");
    const values = Object.fromEntries(this.clearing(token).map((field) => [field.name, ""]));
    await this.during(say("page.connect.saving"), async () => {
      await send("/api/connect/save", { form: this.name, values });
      this.show([]);
      await this.saved();
    });
  }

  async during(words, work) {
    if (this.busy) return;
    this.busy = true;
    this.findings.replaceChildren(h("li", { class: "note" }, words));
    for (const button of [this.keep, this.test, this.end, this.anyway]) button.setAttribute("aria-disabled", "true");
    try {
      await work();
    } catch (error) {
      this.show([]);
      this.tell(error.message, "bad");
    }
    for (const button of [this.keep, this.test, this.end, this.anyway]) button.removeAttribute("aria-disabled");
    this.busy = false;
  }

  async saved() {
    for (const field of this.fields.values()) {
      field.touched = false;
      if (field.now.kind === "secret") field.input.value = "";
    }
    this.preset.value = "";
    this.anyway.hidden = true;
    await this.way.reload();
    this.tell(say("page.connect.saved"), "good");
    this.way.saved?.();
  }

  show(findings) {
    this.findings.replaceChildren(...findings.map(finding));
  }

  tell(text, verdict) {
    this.findings.append(finding({ verdict, text, fix: "" }));
  }

}

export function finding({ verdict, text, fix }) {
  return h("li", { class: `finding ${verdict}` }, h("span", { class: "sign", role: "img", "aria-label": say(`page.check.verdict.${verdict}`) }, MARKS[verdict]),
    h("div", {}, setGuide(h("p"), text), fix ? setGuide(h("p", { class: "fix" }), fix) : null));
}
