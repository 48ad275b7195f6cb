// Webhooks: addresses that are told when tasks end or ask.

import { arrange, h } from "./dom.js";
import { act, careful, field, sent } from "./forms.js";
import { remove, send } from "./service.js";
import { Panel } from "./triggers.js";
import { moment } from "./when.js";
import { say } from "./words.js";

const ALL = "/api/v1/webhooks";
const EVENTS = ["ended", "asked", "watched"];

export class WebhookPanel extends Panel {
  constructor(model, changed) {
    super(model, changed, ALL);
    this.secret = h("input", { id: "webhook-secret", readonly: true, autocomplete: "off", spellcheck: "false" });
    this.made = h("div", { class: "connect-made", hidden: true }, h("label", { for: "webhook-secret" }, say("page.webhooks.secret")), this.secret);
    this.root = h("section", { class: "panel connect-panel", "aria-labelledby": "webhooks-title", hidden: true },
      h("h2", { id: "webhooks-title" }, say("page.webhooks.title")), h("p", { class: "small" }, say("page.webhooks.about")), this.list, this.making(), this.status, this.made);
  }

  show(webhooks) {
    this.root.hidden = webhooks === null;
    this.everybody.hidden = !this.model.may.includes("admin");
    arrange(this.list, (webhooks ?? []).map((one) => this.row(one)));
  }

  row(one) {
    const what = EVENTS.filter((event) => one[event]).map((event) => say(`page.webhooks.${event}`)).join(", ");
    const off = one.off ? say(`page.webhooks.off.${one.off}`) : one.failing ? say("page.webhooks.failing", { time: moment(one.failing) }) : "";
    return h("li", {}, h("div", { class: "words" }, h("b", {}, one.url), h("small", {}, [what, one.everybody ? say("page.webhooks.everybody") : ""].filter(Boolean).join(" · ")), off ? h("small", {}, off) : null),
      h("div", { class: "row" }, act(say("page.webhooks.test"), one.url, () => this.test(one)),
        act(say(`page.webhooks.turn_${one.off ? "on" : "off"}`), one.url, () => this.order(() => send(`${this.at(one)}/${one.off ? "on" : "off"}`, {}))),
        careful(say("page.connect.schedules.remove"), say("page.schedules.sure"), one.url, () => this.order(() => remove(this.at(one))))));
  }

  making() {
    const boxes = EVENTS.map((event) => box(event, say(`page.webhooks.when_${event}`), { checked: true }));
    this.everybody = box("everybody", say("page.webhooks.for_everybody"));
    const form = h("form", { autocomplete: "off", "aria-labelledby": "webhooks-title" },
      field("webhook-url", say("page.webhooks.url"), { name: "url", type: "url", placeholder: "https://example.com/hook" }),
      h("fieldset", { class: "connect-rights" }, h("legend", {}, say("page.webhooks.told")), ...boxes, this.everybody), h("div", { class: "row" }, h("button", { class: "button primary", type: "submit" }, say("page.webhooks.add"))));
    return sent(form, async ({ url, ended, asked, watched, everybody }) => {
      const wish = { url: url.value.trim(), ended: ended.checked, asked: asked.checked, watched: watched.checked, everybody: everybody.checked };
      const made = await this.order(() => send(ALL, wish));
      if (!made) return;
      this.secret.value = made.secret;
      this.made.hidden = false;
      this.secret.select();
      form.reset();
    });
  }

  test(one) {
    return this.order(async () => {
      const { arrived, status: answered } = await send(`${this.at(one)}/test`, {});
      return { told: arrived ? say("page.webhooks.arrived", { status: answered }) : answered ? say("page.webhooks.refused", { status: answered }) : say("page.webhooks.silent"), wrong: !arrived };
    });
  }

  order(give) {
    this.made.hidden = true;
    this.secret.value = "";
    return super.order(give);
  }
}

function box(name, label, properties = {}) {
  return h("label", {}, h("input", { type: "checkbox", name, ...properties }), label);
}
