// Triggers: tasks that a notification or an SMS of a phone begins.

import { arrange, h } from "./dom.js";
import { act, careful, choice, field, offer, sent, status, tell } from "./forms.js";
import { loadAll, remove, send } from "./service.js";
import { say } from "./words.js";

const ALL = "/api/v1/triggers";
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

// A list of things at one address that a person makes, changes and removes.
export class Panel {
  constructor(model, changed, all) {
    this.model = model;
    this.changed = changed;
    this.all = all;
    this.list = h("ul", { class: "connect-rows" });
    this.status = status();
  }

  // A service may come without them: there is nothing to show then.
  async ask() {
    try {
      return await loadAll(this.all);
    } catch {
      return null;
    }
  }

  at(one) {
    return `${this.all}/${encodeURIComponent(one.id)}`;
  }

  // What was answered, or null where it was refused; what there is to say of it is told.
  async order(give) {
    try {
      const answer = (await give()) ?? {};
      tell(this.status, answer.told ?? "", answer.wrong);
      await this.changed();
      return answer;
    } catch (error) {
      tell(this.status, error.message, true);
      return null;
    }
  }
}

export class TriggerPanel extends Panel {
  constructor(model, changed) {
    super(model, changed, ALL);
    this.root = h("section", { class: "panel connect-panel", "aria-labelledby": "triggers-title", hidden: true },
      h("h2", { id: "triggers-title" }, say("page.triggers.title")), h("p", { class: "small" }, say("page.triggers.about")), this.list, this.making(), this.status);
  }

  show(triggers) {
    this.root.hidden = triggers === null;
    offer(this.phone, this.model.devices);
    arrange(this.list, (triggers ?? []).map((one) => this.row(one)));
  }

  row(one) {
    const facts = [say("page.triggers.per_hour", { number: one.per_hour }), one.quiet ? say("page.triggers.quiet_at", { hours: one.quiet }) : "", one.paused ? say("page.connect.schedules.paused") : ""];
    const deed = one.paused ? "resume" : "pause";
    return h("li", {}, h("div", { class: "words" }, h("b", {}, one.text), h("small", {}, one.rule), h("small", {}, facts.filter(Boolean).join(" · "))),
      h("div", { class: "row" }, act(say(`page.connect.schedules.${deed}`), one.text, () => this.order(() => send(`${this.at(one)}/${deed}`, {}))),
        careful(say("page.connect.schedules.remove"), say("page.schedules.sure"), one.text, () => this.order(() => remove(this.at(one))))));
  }

  making() {
    const phone = choice("trigger-phone", say("page.triggers.phone"), [], { name: "phone", required: true });
    this.phone = phone.querySelector("select");
    const form = h("form", { autocomplete: "off", "aria-labelledby": "triggers-title" },
      h("div", { class: "connect-inline" }, phone,
        field("trigger-app", say("page.triggers.app"), { name: "app", required: false, placeholder: "WhatsApp" }, say("page.triggers.app_hint")),
        field("trigger-words", say("page.triggers.words"), { name: "words", required: false })),
      field("trigger-what", say("page.triggers.what"), { name: "what" }),
      h("div", { class: "connect-inline" }, field("trigger-quiet", say("page.triggers.quiet"), { name: "quiet", required: false, placeholder: "22:00-07:00" }),
        field("trigger-limit", say("page.triggers.limit"), { name: "limit", type: "number", min: 1, max: 60, value: 6 })),
      h("div", { class: "row" }, h("button", { class: "button primary", type: "submit" }, say("page.triggers.add"))));
    return sent(form, async ({ phone: source, app, words, what, quiet, limit }) => {
      const wish = { source: source.value, app: app.value.trim(), words: words.value.trim() ? [words.value.trim()] : [], text: what.value.trim(), quiet: quiet.value.trim(), per_hour: Number(limit.value), zone: ZONE };
      if (await this.order(() => send(ALL, wish))) form.reset();
    });
  }
}
