// What the console itself shows beside its messages: what works here, examples, and each task with what came of it.

import { frameUrl, h, setText, setWords } from "./dom.js";
import { badge } from "./message.js";
import { phonesOf, standing } from "./model.js";
import { factsOf } from "./result.js";
import { href } from "./route.js";
import { isSettled, settled } from "./setup.js";
import { ago, duration, inARow } from "./when.js";
import { counted, say } from "./words.js";

const EXAMPLES = ["search", "dark", "note", "screen", "message", "ask"];

// The strip, and examples that work with the offline pilot and the virtual phone as well as with a model.
export class Welcome {
  constructor(root, take) {
    this.root = root;
    this.take = (line) => {
      if (!this.empty) this.turn(false);
      take(line);
    };
    this.strip = h("div", { class: "strip", role: "note" });
    this.title = h("h2", {}, say("page.home.question"));
    this.how = h("p", {}, say("page.home.how"));
    this.examples = h("div", { class: "examples", role: "group", "aria-label": say("page.home.examples") }, ...EXAMPLES.map((name) => {
      const line = say(`page.example.${name}`);
      return h("button", { type: "button", onclick: () => this.take(line) }, line, h("small", {}, say(`page.example.${name}_is`)));
    }));
    this.fold = h("button", { class: "link-button", type: "button", "aria-expanded": "false", onclick: () => this.turn(this.examples.hidden) }, say("page.home.examples"));
    this.start = h("a", { class: "button primary", href: href("setup") }, say("page.setup.start"));
    this.without = h("button", { class: "button", type: "button", onclick: () => {
      settled();
      this.draw(...this.drawn);
    } }, say("page.setup.without"));
    root.append(this.strip, this.title, this.how, this.examples);
  }

  turn(open) {
    this.examples.hidden = !open;
    this.fold.setAttribute("aria-expanded", String(open));
  }

  // `empty`: nothing was said yet.
  draw(model, empty) {
    this.drawn = [model, empty];
    const first = empty && model.admin && !isSettled();
    const offline = model.ready && model.offline;
    this.root.classList.toggle("first", empty);
    this.root.hidden = !model.ready || (!empty && !offline);
    this.strip.hidden = !offline;
    this.title.hidden = this.how.hidden = !empty;
    this.fold.hidden = empty;
    if (this.empty !== empty) this.turn(empty);
    this.empty = empty;
    const phones = model.devices.length;
    const virtual = phones > 0 && model.devices.every((device) => device.virtual);
    const words = say(virtual ? "page.strip.virtual" : phones ? "page.strip.phone" : "page.strip.none");
    const mark = `${first} ${model.admin} ${words}`;
    if (this.strip.dataset.mark === mark) return;
    this.strip.dataset.mark = mark;
    const ways = first ? [this.without, this.start] : [this.fold, ...(model.admin ? [h("a", { href: href("connect", "model") }, say("page.strip.connect"))] : [])];
    this.strip.classList.toggle("starts", first);
    this.strip.replaceChildren(h("span", {}, h("b", {}, say("page.strip.title")), " ", words), h("span", { class: "ways" }, ...ways));
  }
}

// A task below the words that asked for it: how it stands, and its answer once it has one.
export class TaskCard {
  constructor() {
    this.badge = h("span");
    this.facts = h("span", { class: "small" });
    this.title = h("p", { class: "title" });
    this.answer = h("p", { class: "answer" });
    this.thumb = h("img", { alt: "" });
    this.link = h("a", { class: "task-card" }, h("span", { class: "words" }, h("span", { class: "kind" }, this.badge, this.facts), this.title, this.answer), this.thumb);
    this.root = h("li", { class: "message" }, this.link);
  }

  // `titled`: nothing above says what was asked.
  draw(task, model, titled) {
    this.task = task;
    this.link.setAttribute("href", href("task", task.task));
    const question = model.questionsOf(task.task).at(-1);
    const mark = standing(task);
    if (this.badge.dataset.mark !== mark) {
      this.badge.dataset.mark = mark;
      this.badge.replaceChildren(badge(mark));
    }
    this.link.className = `task-card ${mark}`;
    this.title.hidden = !titled;
    setText(this.title, task.text);
    const plan = task.todos.find((todo) => todo.state === "in progress");
    setWords(this.answer, task.outcome ? task.data || task.summary : question ? question.text : plan ? plan.title : "");
    this.phone = phonesOf(task, model);
    const frame = question?.frame || task.frame;
    this.thumb.hidden = !frame;
    if (frame && this.thumb.dataset.reference !== frame) {
      this.thumb.dataset.reference = frame;
      this.thumb.loading = "lazy";
      this.thumb.src = frameUrl(frame);
    }
    this.tick();
  }

  // Called every second: the time that it takes.
  tick() {
    const task = this.task;
    const live = task.started && task.outcome === null;
    const parts = task.outcome ? [factsOf(task), this.phone, ago(task.ended)]
      : [live ? duration(Date.now() / 1000 - task.started) : "", task.steps ? counted("step", task.steps) : "", this.phone];
    setText(this.facts, inARow(parts));
  }
}
