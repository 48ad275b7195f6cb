// The phones with what they show now, and the queue before them.

import { arrange, h, setText, setWords } from "./dom.js";
import { named } from "./message.js";
import { platformName } from "./model.js";
import { href } from "./route.js";
import { load } from "./service.js";
import { Screen } from "./screen.js";
import { ago } from "./when.js";
import { counted, say } from "./words.js";

const GLANCE_MS = 4000;
const SHOWING = new Set(["ready", "low battery"]);

export class Fleet {
  constructor(model) {
    this.model = model;
    this.cards = new Map();
    this.rows = new Map();
    this.turn = 0;
    this.grid = h("ul", { class: "fleet" });
    this.none = h("div", { class: "empty", hidden: true }, h("h2", {}, say("page.phones.none")), setWords(h("p"), say("page.phones.none_hint")),
      this.how = h("a", { class: "button hand-link", href: href("connect", "phones") }, say("page.hand.connect")));
    this.queue = h("ol", { class: "queue" });
    this.empty = h("p", { class: "note" }, say("page.queue.none"));
    this.root = h("div", { class: "sheet wide" }, this.none, this.grid,
      this.waiting = h("section", { class: "panel", "aria-labelledby": "queue-title" }, h("h2", { id: "queue-title" }, say("page.queue.title")), this.empty, this.queue));
  }

  heading() {
    const { devices, work } = this.model;
    const busy = devices.filter((device) => this.model.workOf(device).working).length;
    const usable = devices.filter((device) => device.usable).length;
    const waiting = work.filter((one) => one.state === "queued").length;
    return { title: say("page.place.phones"), about: devices.length ? say("page.phones.about", { usable, busy, waiting }) : "" };
  }

  open() {
    this.look();
    clearInterval(this.timer);
    this.timer = setInterval(() => this.look(), GLANCE_MS);
  }

  close() {
    clearInterval(this.timer);
  }

  // New pictures are asked for only while somebody can see them.
  look() {
    if (document.hidden) return;
    this.turn += 1;
    this.draw();
  }

  draw() {
    const { devices, work } = this.model;
    this.how.hidden = !this.model.may.includes("admin");
    this.none.hidden = devices.length > 0 || !this.model.ready;
    arrange(this.grid, devices.map((device) => this.card(device)));
    const waiting = work.filter((one) => one.state === "queued").sort((one, other) => (one.place ?? 1e9) - (other.place ?? 1e9) || one.created - other.created);
    arrange(this.queue, waiting.map((one) => this.row(one)));
    this.empty.hidden = waiting.length > 0;
    this.waiting.hidden = waiting.length === 0 && devices.length === 0;
  }

  card(device) {
    let card = this.cards.get(device.id);
    if (!card) {
      const part = (tag, name) => h(tag, { class: name });
      card = { screen: new Screen(), name: h("h2"), battery: part("span", "battery"), state: part("span", "state"), reason: part("p", "reason"),
        fix: part("p", "fix"), user: part("p", "user"), facts: part("p", "small"), link: part("a", "button hand-link"), app: "", turn: 0 };
      card.root = h("li", { class: "phone panel" }, card.screen.root,
        h("div", { class: "words" }, h("div", { class: "head" }, card.name, card.battery), card.state, card.user, card.reason, card.fix, card.facts, card.link));
      this.cards.set(device.id, card);
    }
    const { working, waiting } = this.model.workOf(device);
    setText(card.name, device.name);
    setText(card.battery, device.battery === null ? "" : `${device.battery} %`);
    card.battery.classList.toggle("low", device.battery !== null && device.battery < 20);
    const asked = working !== null && this.model.questionsOf(working.task).length > 0;
    const kind = !device.usable ? "wrong" : asked ? "care" : working ? "busy" : device.state === "ready" ? "ready" : "care";
    card.state.className = `state ${kind}`;
    setText(card.state, !device.usable ? say(`page.health.${device.state.replaceAll(" ", "_")}`) : asked ? say("page.side.asks") : working ? named(working.state) : say(`page.health.${device.state.replaceAll(" ", "_")}`));
    setText(card.reason, device.reason);
    setText(card.fix, device.fix);
    // One that cannot be reached cannot be touched; what to do about it stands above, and in Connect step by step.
    card.link.hidden = !device.usable && !this.model.may.includes("admin");
    card.link.setAttribute("href", device.usable ? href("hand", device.id) : href("connect", "phones"));
    setText(card.link, say(device.usable ? "page.hand.open" : "page.hand.connect"));
    this.picture(card, device, working);
    this.facts(card, device);
    this.user(card.user, working, waiting);
    return card.root;
  }

  facts(card, device) {
    setText(card.facts, [card.app ? say("page.phones.shows", { app: card.app }) : "", device.model === device.name ? "" : device.model,
      device.android ? `Android ${device.android}` : "", device.virtual ? say("page.phones.virtual") : "", device.serial].filter(Boolean).join(" · "));
  }

  user(line, working, waiting) {
    const mark = `${working?.called} ${working?.text} ${waiting.length}`;
    if (line.dataset.mark === mark) return;
    line.dataset.mark = mark;
    const more = waiting.length ? [h("span", { class: "small" }, say("page.phone.waiting", { number: waiting.length }))] : [];
    line.replaceChildren(...(working ? [h("a", { href: href("task", working.task) }, working.text), h("span", { class: "small" }, whose(working))] : []), ...more);
  }

  // A run's own picture while a task holds the phone; else a look at it, when it may be looked at. Which app is shown is
  // told of the picture that is shown, and of no other.
  picture(card, device, working) {
    const alt = say("page.stage.screen", { phone: device.name });
    const may = !working && SHOWING.has(device.state);
    if (!may) card.app = "";
    if (working) {
      card.screen.show(working.frame ?? "", { alt, words: say("page.phones.soon") });
    } else if (!may) {
      card.screen.show("", { words: say(`page.health.${device.state.replaceAll(" ", "_")}`) });
    } else if (card.turn !== this.turn) {
      card.turn = this.turn;
      this.glance(card, device, alt);
    }
  }

  async glance(card, device, alt) {
    let seen = { picture: "", app_name: "" };
    let words = "";
    try {
      seen = await load(`/api/devices/${encodeURIComponent(device.id)}/glance`);
    } catch (error) {
      if (error.status === 0) return;
      words = error.message;
    }
    if (this.model.workOf(device).working) return;
    const shown = await card.screen.show(seen.picture, { alt, url: seen.picture, words });
    if (this.model.workOf(device).working) return;
    card.app = shown ? seen.app_name : "";
    this.facts(card, this.model.phone(device.id) ?? device);
  }

  row(one) {
    let row = this.rows.get(one.called);
    if (!row) {
      row = { place: h("span", { class: "place-number" }), line: h("small") };
      row.root = h("li", {}, h("a", { class: "past", href: href("task", one.task) }, row.place, h("div", { class: "words" }, h("b", {}, one.text), row.line)));
      this.rows.set(one.called, row);
    }
    const phone = one.phone ? (this.model.phone(one.phone)?.name ?? one.phone) : say("page.queue.any");
    setText(row.place, one.place === null ? "–" : String(one.place));
    setText(row.line, [say("page.task.number", { task: one.called }), phone, whose(one), ago(one.created)].filter(Boolean).join(" · "));
    return row.root;
  }
}

function whose(one) {
  const steps = one.steps ? counted("step", one.steps) : "";
  const who = one.platform === "web" ? "" : say("page.task.given", { person: one.person, platform: platformName(one.platform) });
  return [steps, who].filter(Boolean).join(" · ");
}
