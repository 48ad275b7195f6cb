// Schedules, and watches: schedules that read one value and tell it only when it matters.

import { arrange, h } from "./dom.js";
import { act, careful, choice, field, offer, sent, status, tell } from "./forms.js";
import { Looking } from "./looking.js";
import { platformName } from "./model.js";
import { href, settle } from "./route.js";
import { RuleFields } from "./rule_fields.js";
import { loadAll, remove, send } from "./service.js";
import { TriggerPanel } from "./triggers.js";
import { WebhookPanel } from "./webhooks.js";
import { moment } from "./when.js";
import { say } from "./words.js";

const ALL = "/api/v1/schedules";
const LOOK_MS = 5000;
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const CONDITIONS = ["changes", "below", "at_most", "above", "at_least", "contains", "becomes"];

export class SchedulePage extends Looking {
  constructor(model, way) {
    super(model, LOOK_MS);
    this.way = way;
    this.rows = new Map();
    this.watches = h("ul", { class: "watches" });
    this.list = h("ul", { class: "connect-rows" });
    this.none = h("div", { class: "empty", hidden: true }, h("h2", {}, say("page.schedules.none")), h("p", {}, say("page.schedules.none_hint")));
    this.runs = h("section", { class: "panel connect-panel", "aria-labelledby": "schedules-runs", hidden: true }, h("h2", { id: "schedules-runs" }, say("page.schedules.runs")), this.list);
    this.triggers = new TriggerPanel(model, () => this.fill());
    this.webhooks = new WebhookPanel(model, () => this.fill());
    this.root = h("div", { class: "sheet" }, this.wrong, this.none, this.watches, this.runs,
      h("section", { class: "panel connect-panel", "aria-labelledby": "schedules-new" }, h("h2", { id: "schedules-new" }, say("page.schedules.new")), this.making()), this.triggers.root, this.webhooks.root);
  }

  heading() {
    return { title: say("page.place.schedules"), about: say("page.schedules.about") };
  }

  // The address may say what is to be planned: a task that is to run daily from now on.
  open(_, query) {
    super.open();
    const what = query.get("what");
    if (!what) return;
    settle("schedules", "", {});
    this.what.value = what;
    this.form.scrollIntoView({ block: "center" });
    this.when.often.focus({ preventScroll: true });
  }

  ask() {
    return Promise.all([loadAll(ALL), this.triggers.ask(), this.webhooks.ask()]);
  }

  show() {
    const [schedules, triggers, webhooks] = this.found;
    this.triggers.show(triggers);
    this.webhooks.show(webhooks);
    const [watches, plain] = [schedules.filter((one) => one.watch), schedules.filter((one) => !one.watch)];
    arrange(this.watches, watches.map((one) => this.once(one, () => this.watch(one))));
    arrange(this.list, plain.map((one) => this.once(one, () => this.schedule(one))));
    this.runs.hidden = plain.length === 0;
    this.none.hidden = schedules.length > 0;
  }

  // Made anew only when something of it has changed, so that a button keeps the focus.
  once(one, make) {
    const mark = JSON.stringify(one);
    const known = this.rows.get(one.id);
    if (known?.mark === mark) return known.root;
    const root = make();
    this.rows.set(one.id, { root, mark });
    return root;
  }

  facts(one) {
    const who = one.platform === "web" || one.platform === "page" ? "" : say("page.task.given", { person: one.person_name, platform: platformName(one.platform) });
    const device = one.options.device ? this.model.phone(one.options.device)?.name ?? one.options.device : "";
    // A rule with a time of day is in its own zone; when it comes next is told in the reader's.
    const rule = /\d:\d/.test(one.rule) && one.zone !== ZONE ? `${one.rule} (${one.zone})` : one.rule;
    return [rule, device, one.paused ? say("page.connect.schedules.paused") : one.due ? say("page.connect.schedules.next", { time: moment(one.due) }) : "", who].filter(Boolean).join(" · ");
  }

  deeds(one, end) {
    return h("div", { class: "row" },
      act(say(`page.connect.schedules.${one.paused ? "resume" : "pause"}`), one.text, () => this.turn(one, one.paused ? "resume" : "pause")),
      careful(end, say("page.schedules.sure"), one.text, () => this.end(one)));
  }

  schedule(one) {
    return h("li", {}, h("div", { class: "words" }, h("b", {}, one.text), h("small", {}, this.facts(one)),
      one.task ? h("small", {}, h("a", { href: href("task", one.task) }, say("page.schedules.last"))) : null), this.deeds(one, say("page.connect.schedules.remove")));
  }

  watch(one) {
    const { value: found, read, before, now, when, misses } = one.readings;
    const value = found || say(misses ? "page.watch.not_found" : "page.watch.no_value");
    return h("li", { class: `panel watch ${one.paused ? "paused" : ""}` },
      h("div", { class: "watch-head" }, h("h2", {}, one.watch.result.name), h("span", { class: `badge ${one.paused ? "paused" : "working"}` }, say(`page.watch.${one.paused ? "paused" : "on"}`))),
      h("p", { class: found ? "watch-value" : "watch-value unread" }, value),
      found && read ? h("p", { class: "small" }, say("page.watch.read", { time: moment(read) })) : null,
      found && misses ? h("p", { class: "small missed" }, say("page.watch.missed")) : null,
      before ? h("p", { class: "small" }, say("page.watch.changed", { before, now })) : null,
      h("p", {}, say("page.watch.tells", { when })), h("p", { class: "watch-task" }, one.text), h("p", { class: "small" }, this.facts(one)),
      h("div", { class: "row" }, one.task ? h("a", { class: "button", href: href("task", one.task) }, say("page.watch.reading")) : null, this.deeds(one, say("page.watch.stop"))));
  }

  making() {
    const phone = choice("plan-phone", say("page.box.device"), [["", say("page.box.any_phone")]], { name: "phone" });
    this.phone = phone.querySelector("select");
    this.when = new RuleFields("plan");
    const task = field("plan-what", say("page.connect.schedules.what"), { name: "what", placeholder: say("page.schedules.what_like") });
    this.what = task.querySelector("input");
    const tells = choice("plan-tells", say("page.schedules.tells"), [["always", say("page.schedules.always")], ...CONDITIONS.map((name) => [name, say(`page.watch.when.${name}`)])], { name: "tells" });
    const what = field("plan-value", say("page.watch.what"), { name: "value", placeholder: say("page.watch.what_like") });
    const limit = field("plan-limit", say("page.watch.limit"), { name: "limit", placeholder: "50" });
    this.status = status();
    this.review = h("div", { class: "watch-review", hidden: true });
    const form = this.form = h("form", { autocomplete: "off", "aria-labelledby": "schedules-new" },
      task, h("div", { class: "connect-inline" }, ...this.when.roots, phone),
      h("div", { class: "connect-inline" }, tells, what, limit), h("div", { class: "row" }, h("button", { class: "button primary", type: "submit" }, say("page.connect.schedules.add"))), this.status, this.review);
    const turn = () => {
      const kind = form.elements.tells.value;
      for (const [part, shown] of [[what, kind !== "always"], [limit, !["always", "changes"].includes(kind)]]) {
        part.hidden = !shown;
        part.querySelector("input").disabled = !shown;
      }
    };
    form.addEventListener("change", turn);
    form.addEventListener("focusin", () => offer(this.phone, this.model.devices));
    turn();
    return sent(form, async (given) => {
      if (!(await this.make(given))) return;
      form.reset();
      turn();
      this.when.turn();
    });
  }

  async make({ what, tells, value, limit, phone }) {
    const watched = tells.value !== "always";
    const told = watched ? say(`page.watch.say.${tells.value}`, { value: value.value.trim(), limit: limit.value.trim() }) : "";
    const wish = { rule: this.when.rule, zone: ZONE, text: what.value.trim(), tell_me_when: told, phone: phone.value };
    const made = await this.order(() => send(ALL, wish));
    if (made && watched) this.confirm(made);
    return made !== null;
  }

  // Nothing is watched before a person has seen what is read and when it is told.
  confirm(one) {
    const done = (order) => async () => {
      if (await order()) this.review.hidden = true;
    };
    const begin = h("button", { class: "button primary", type: "button", onclick: done(() => this.turn(one, "resume")) }, say("page.watch.begin"));
    tell(this.status, "");
    this.review.replaceChildren(h("h3", {}, say("page.watch.right")), h("p", {}, say("page.watch.reads", { what: one.readings.reads })), h("p", {}, say("page.watch.tells", { when: one.readings.when })),
      h("p", { class: "small" }, `${one.rule} · ${one.text}`), h("div", { class: "row" }, begin, h("button", { class: "button", type: "button", onclick: done(() => this.end(one)) }, say("page.watch.discard"))));
    this.review.hidden = false;
    begin.focus();
  }

  // Its row says then how it stands, and when it comes next in the reader's own time.
  turn(one, deed) {
    return this.order(async () => ({ ...(await send(`${at(one)}/${deed}`, {})), told: "" }));
  }

  end(one) {
    return this.order(() => remove(at(one)), say("page.schedules.ended"));
  }

  // What was answered, or null where it was refused; what there is to say of it is told.
  async order(give, done = "") {
    try {
      const answer = await give();
      tell(this.status, answer.told ?? done);
      await this.fill();
      return answer;
    } catch (error) {
      tell(this.status, error.message, true);
      return null;
    }
  }
}

const at = (one) => `${ALL}/${encodeURIComponent(one.id)}`;
