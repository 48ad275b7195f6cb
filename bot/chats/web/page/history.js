// All tasks with their outcomes, the latest first, a page at a time.

import { phonesOf } from "./conversation.js";
import { arrange, h, setText } from "./dom.js";
import { badge } from "./message.js";
import { platformName, standing } from "./model.js";
import { href } from "./route.js";
import { load } from "./service.js";
import { duration, moment, tokens } from "./when.js";
import { counted, say } from "./words.js";

export class History {
  constructor(model) {
    this.model = model;
    this.older = [];
    this.more = null;
    this.rows = new Map();
    this.list = h("ul", { class: "history" });
    this.none = h("div", { class: "empty" }, h("h2", {}, say("page.tasks.none")), h("p", {}, say("page.tasks.none_hint")));
    this.next = h("button", { class: "button", type: "button", hidden: true, onclick: () => this.load() }, say("page.tasks.more"));
    this.wrong = h("p", { class: "note", role: "alert", hidden: true });
    this.root = h("div", { class: "sheet" }, this.none, this.list, this.wrong, this.next);
  }

  heading() {
    return { title: say("page.place.tasks"), about: say("page.tasks.about") };
  }

  open() {
    if (this.more === null && this.model.ready) this.load();
  }

  told() {
    if (this.more === null) this.load();
  }

  all() {
    const known = new Map([...this.older, ...this.model.tasks].map((task) => [task.task, task]));
    return [...known.values()].sort((one, other) => Number(other.task) - Number(one.task));
  }

  async load() {
    if (this.loading) return;
    this.loading = true;
    this.next.disabled = true;
    try {
      const last = this.all().at(-1);
      const page = await load(last ? `/api/tasks?before=${encodeURIComponent(last.task)}` : "/api/tasks");
      this.older.push(...page.tasks);
      this.more = page.more;
      this.wrong.hidden = true;
    } catch (error) {
      setText(this.wrong, error.message);
      this.wrong.hidden = false;
    }
    this.loading = false;
    this.next.disabled = false;
    this.draw();
  }

  draw() {
    const tasks = this.all();
    arrange(this.list, tasks.map((task) => this.row(task)));
    this.none.hidden = tasks.length > 0 || this.more === null;
    this.next.hidden = !this.more;
  }

  row(task) {
    const mark = `${standing(task)} ${task.steps} ${phonesOf(task, this.model)}`;
    const known = this.rows.get(task.task);
    if (known?.dataset.mark === mark) return known;
    const phone = phonesOf(task, this.model);
    const took = task.started && task.ended ? duration(task.ended - task.started) : "";
    const used = task.tokens.calls ? say("page.tokens", { number: tokens(task.tokens) }) : "";
    const who = task.platform === "web" ? "" : say("page.task.given", { person: task.person, platform: platformName(task.platform) });
    const facts = [phone, task.steps ? counted("step", task.steps) : "", took, used, who].filter(Boolean).join(" · ");
    const replayed = task.outcome !== null && task.steps > 0;
    const row = h("li", { "data-mark": mark }, h("a", { class: "past", href: href(replayed ? "replay" : "task", task.task) },
      badge(standing(task)), h("div", { class: "words" }, h("b", {}, task.text), h("small", {}, facts)),
      h("time", { datetime: new Date(task.created * 1000).toISOString() }, moment(task.created))));
    if (known) known.replaceWith(row);
    this.rows.set(task.task, row);
    return row;
  }
}
