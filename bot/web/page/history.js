// All tasks with their outcomes, the latest first, a page at a time; or those that are looked for.

import { arrange, h, setText, setWords } from "./dom.js";
import { Finding } from "./finding.js";
import { badge } from "./message.js";
import { phonesOf, platformName, standing } from "./model.js";
import { href, settle } from "./route.js";
import { loadTasks } from "./service.js";
import { duration, moment, tokens } from "./when.js";
import { counted, say } from "./words.js";

const AGAIN_MS = 1000;

export class History {
  constructor(model) {
    this.model = model;
    this.rows = new Map();
    this.finding = new Finding((wish) => this.wishes(wish));
    this.list = h("ul", { class: "history", "aria-label": say("page.place.tasks") });
    this.none = h("div", { class: "empty", hidden: true });
    this.found = h("p", { class: "unseen", role: "status" });
    this.next = h("button", { class: "button", type: "button", hidden: true, onclick: () => this.load() }, say("page.tasks.more"));
    this.wrong = h("p", { class: "note", role: "alert", hidden: true });
    this.root = h("div", { class: "sheet" }, this.finding.root, this.found, this.none, this.list, this.wrong, this.next);
    this.list.addEventListener("click", (event) => (this.left = event.target.closest("a")));
    this.onkey = (event) => this.key(event);
    this.begin({});
  }

  heading() {
    return { title: say("page.place.tasks"), about: say("page.tasks.about") };
  }

  open(_, query) {
    document.removeEventListener("keydown", this.onkey);
    document.addEventListener("keydown", this.onkey);
    this.finding.set(query);
    if (!this.model.ready) return;
    if (this.more === null || !same(this.wish, this.finding.wish())) this.begin(this.finding.wish());
    if (this.more === null) this.load({ first: true });
    this.finding.choices().catch((error) => this.fail(error));
  }

  close() {
    clearTimeout(this.again);
    document.removeEventListener("keydown", this.onkey);
  }

  // Whoever comes back goes on where the list was left.
  focus() {
    if (this.left?.isConnected) this.left.focus({ preventScroll: true });
  }

  key(event) {
    const typing = event.target.closest("input, textarea, select");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.finding.text.focus();
  }

  begin(wish) {
    this.wish = wish;
    this.narrowed = Object.values(wish).some((value) => value !== "");
    this.older = [];
    this.more = null;
  }

  wishes(wish) {
    settle("tasks", "", wish);
    if (same(this.wish, wish)) return;
    this.begin(wish);
    this.load({ first: true });
  }

  // Whether a task is among those that are looked for is for the service to say; it is asked again when one has changed.
  told() {
    if (this.more === null) this.load({ first: true });
    else if (this.narrowed) this.again ??= setTimeout(() => this.load({ first: true }), AGAIN_MS);
  }

  all() {
    const now = this.narrowed ? [] : this.model.tasks;
    const known = new Map([...this.older, ...now].map((task) => [task.task, this.model.task(task.task) ?? task]));
    return [...known.values()].sort((one, other) => Number(other.task) - Number(one.task));
  }

  // The next page, or the `first` one anew.
  async load({ first = false } = {}) {
    const wish = this.wish;
    const last = first ? null : this.all().at(-1);
    this.next.disabled = true;
    clearTimeout(this.again);
    this.again = null;
    try {
      const page = await loadTasks(wish, last?.task);
      if (wish !== this.wish) return;
      const end = Number(page.tasks.at(-1)?.task ?? 0);
      const others = first ? this.older.filter((task) => page.more && Number(task.task) < end) : this.older;
      this.older = [...others, ...page.tasks];
      if (!first || !others.length) this.more = page.more;
      this.wrong.hidden = true;
    } catch (error) {
      if (wish !== this.wish) return;
      this.fail(error);
    }
    this.next.disabled = false;
    this.draw();
  }

  fail(error) {
    if (error.status === 0) return; // the page itself says that the service is away, and asks again
    setText(this.wrong, error.message);
    this.wrong.hidden = false;
  }

  draw() {
    const tasks = this.more === null && this.narrowed ? [] : this.all();
    arrange(this.list, tasks.map((task) => this.row(task)));
    this.none.hidden = tasks.length > 0 || this.more === null;
    this.finding.root.hidden = !this.none.hidden && !this.narrowed;
    const words = this.narrowed ? ["page.find.none", "page.find.none_hint"] : ["page.tasks.none", "page.tasks.none_hint"];
    if (this.none.dataset.words !== words[0]) {
      this.none.dataset.words = words[0];
      this.none.replaceChildren(h("h2", {}, say(words[0])), h("p", {}, say(words[1])));
    }
    this.next.hidden = !this.more;
    const shown = { number: counted("task", tasks.length) };
    if (this.more !== null) setText(this.found, this.narrowed ? say(this.more ? "page.find.found_more" : "page.find.found", shown) : "");
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
    // Where nothing was said of the end, the badge alone says it.
    const answer = (task.data || task.summary || "").trim().split("\n")[0];
    const replayed = task.outcome !== null && task.steps > 0;
    const link = known?.firstChild ?? h("a", { class: "past" });
    link.setAttribute("href", href(replayed ? "replay" : "task", task.task));
    link.replaceChildren(badge(standing(task)), h("div", { class: "words" }, h("b", {}, task.text), answer ? setWords(h("span", { class: "told" }), answer) : null, h("small", {}, facts)),
      h("time", { datetime: new Date(task.created * 1000).toISOString() }, moment(task.created)));
    const row = known ?? h("li", {}, link);
    row.dataset.mark = mark;
    this.rows.set(task.task, row);
    return row;
  }
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
