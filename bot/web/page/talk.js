// The conversation of the selected place: what was said, the steps of each task, and how it ended.

import { arrange, h, icon, setText } from "./dom.js";
import { Filmstrip } from "./filmstrip.js";
import { TaskCard } from "./home.js";
import { MessageView } from "./message.js";
import { isCard, platformName, tellsEnd } from "./model.js";
import { Result } from "./result.js";
import { href } from "./route.js";
import { say } from "./words.js";

const NEAR_END = 80;
const ABOVE = 12;

export class Talk {
  constructor(parts, act) {
    this.parts = parts;
    this.act = act;
    this.views = new Map();
    this.results = new Map();
    this.cards = new Map();
    this.films = new Map();
    this.files = new Map();
    this.steps = new Map(); // of a task, as far as they were loaded
    this.thread = null;
    this.unknown = h("li", { class: "empty" }, h("h2", {}, say("page.task.unknown")), h("p", {}, say("page.task.unknown_hint")),
      h("a", { class: "button", href: href("tasks") }, say("page.place.tasks")));
    parts.latest.addEventListener("click", () => this.toEnd());
    // A picture that arrives late must not push the newest message out of sight.
    new ResizeObserver(() => this.follow && this.toEnd()).observe(parts.messages);
    parts.talk.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  // `sought`: the task was looked for; without one, there is none.
  draw(model, thread, task, sought) {
    const opened = this.thread !== thread || this.shown !== task?.task;
    const before = this.parts.messages.lastElementChild;
    this.thread = thread;
    this.shown = task?.task;
    if (opened) this.follow = true;
    const rows = thread === null ? this.elsewhere(task, sought) : thread === "" ? this.home(model) : this.messages(model, thread, task);
    arrange(this.parts.messages, rows);
    this.parts.older.hidden = thread === null || !model.more.get(thread);
    const grown = before !== this.parts.messages.lastElementChild;
    if (opened) this.put = this.top = this.parts.talk.scrollTop = 0;
    if (opened || (grown && this.follow)) this.toEnd();
    else if (grown) this.parts.latest.hidden = false;
  }

  // The console itself: each task stands below the words that asked for it; one that was asked for elsewhere, such as
  // by a schedule or once more, where it began.
  home(model) {
    const entries = model.thread("");
    const anchored = new Set(entries.map((entry) => String(entry.id)));
    const since = model.more.get("") ? entries[0]?.sent ?? 0 : 0;
    const loose = model.tasks.filter((task) => (task.platform === "web" || task.thread) && !model.staysWithFollowed(task) && !anchored.has(task.anchor) && task.created >= since);
    const rows = entries.flatMap((entry) => {
      const made = entry.author === "operator" ? model.askedBy(entry.id) : null;
      const row = { at: entry.sent, root: this.view(entry, model.questionOf(entry.id), "") };
      return made ? [row, { at: entry.sent, root: this.card(made, model, false) }] : [row];
    });
    return [...rows, ...loose.map((task) => ({ at: task.created, root: this.card(task, model, true) }))]
      .sort((one, other) => one.at - other.at).map((row) => row.root);
  }

  messages(model, thread, task) {
    const entries = model.thread(thread).filter((entry) => !isCard(entry));
    const tasks = model.tasksOf(thread);
    if (task && !tasks.some((one) => one.task === task.task)) tasks.push(task);
    const files = tasks.filter((one) => one.files.length).map((one) => this.chips(one));
    if (entries.length === 0 && task?.state === "queued") return [...files, this.note(say("page.task.queued"))];
    const last = task?.outcome ? entries.findLast(tellsEnd) : null;
    const rows = entries.flatMap((entry) => {
      const question = model.questionOf(entry.id);
      const of = tellsEnd(entry) && !question ? tasks.find((one) => one.task === entry.content.task) ?? (entry === last ? task : null) : null;
      if (of?.outcome) return [...this.film(of), { root: this.result(entry, of) }];
      return [{ root: this.view(entry, question, ""), open: question !== null }];
    });
    for (const one of tasks) if (one.outcome === null) rows.push(...this.film(one));
    // What waits for an answer stands last, whatever is told after it.
    return [...files, ...[...rows.filter((row) => !row.open), ...rows.filter((row) => row.open)].map((row) => row.root)];
  }

  view(entry, question, final) {
    let view = this.views.get(entry.id);
    if (!view) this.views.set(entry.id, (view = new MessageView(this.act)));
    view.draw(entry, question, final);
    return view.root;
  }

  result(entry, task) {
    let result = this.results.get(entry.id);
    if (!result) this.results.set(entry.id, (result = new Result(this.act)));
    result.draw(entry, task);
    return result.root;
  }

  card(task, model, titled) {
    let card = this.cards.get(task.task);
    if (!card) this.cards.set(task.task, (card = new TaskCard()));
    card.draw(task, model, titled);
    return card.root;
  }

  film(task) {
    const steps = this.steps.get(task.task) ?? [];
    if (steps.length === 0) return [];
    let film = this.films.get(task.task);
    if (!film) this.films.set(task.task, (film = new Filmstrip((...what) => this.act.lookThrough(...what))));
    if (film.steps !== steps) film.draw(steps);
    return [{ root: film.root }];
  }

  // The files that came with a task, and what became of them: they are on the phone before its first step.
  chips(task) {
    let row = this.files.get(task.task);
    if (!row) this.files.set(task.task, (row = h("li", { class: "message" })));
    const put = task.steps ? "put" : task.outcome === null ? "goes" : "left";
    if (row.dataset.put === put) return row;
    row.dataset.put = put;
    row.replaceChildren(h("ul", { class: "chips", "aria-label": say("page.file.list") }, ...task.files.map((file) =>
      h("li", { class: "chip still" }, icon("file"), h("span", {}, file.name), h("small", {}, say(`page.file.${put}`))))));
    return row;
  }

  // What stands where nothing was said yet.
  note(words) {
    this.words ??= h("p", { class: "note" });
    this.noted ??= h("li", { class: "message" }, this.words);
    setText(this.words, words);
    return this.noted;
  }

  // A task of another chat: its messages are there; its steps and its answer can be shown here.
  elsewhere(task, sought) {
    if (!task) return sought ? [this.unknown] : [];
    const words = task.state === "queued" ? say("page.task.queued")
      : task.platform !== "web" ? say("page.task.elsewhere", { person: task.person, platform: platformName(task.platform) }) : "";
    const files = task.files.length ? [this.chips(task)] : [];
    const rows = [...files, ...(words ? [this.note(words)] : []), ...this.film(task).map((row) => row.root)];
    return task.outcome ? [...rows, this.result(endOf(task), task)] : rows;
  }

  // Called every second: how long the open questions are still open, and how long the tasks take.
  tick() {
    for (const view of this.views.values()) if (view.question && view.root.isConnected) view.tick();
    for (const card of this.cards.values()) if (card.task.outcome === null && card.root.isConnected) card.tick();
  }

  // Where a code goes that is asked for here; null where none is.
  get codeField() {
    const asking = [...this.views.values()].filter((view) => view.root.isConnected && view.codeField);
    return asking.at(-1)?.codeField ?? null;
  }

  // Only a person scrolls up: growing content never lowers scrollTop.
  scrolled() {
    const top = this.parts.talk.scrollTop;
    if (this.atEnd()) {
      this.follow = true;
      this.parts.latest.hidden = true;
    } else if (top < (this.top ?? 0)) {
      this.follow = false;
    }
    this.top = top;
  }

  atEnd() {
    const talk = this.parts.talk;
    return talk.scrollHeight - talk.scrollTop - talk.clientHeight < NEAR_END;
  }

  // What a newcomer reads begins at its top, and so does a question, an end or a reply that is higher than the view; the
  // strip that stays above covers none of it.
  toEnd() {
    const { talk, messages, latest, welcome } = this.parts;
    const last = messages.lastElementChild;
    const read = last && (this.thread === "" || last.matches(".question, .final"));
    const end = talk.scrollHeight - talk.clientHeight;
    const top = read ? last.getBoundingClientRect().top - messages.getBoundingClientRect().top + messages.offsetTop - ABOVE - welcome.offsetHeight : last ? end : 0;
    // Who has scrolled on meanwhile is not taken back.
    talk.scrollTop = Math.max(talk.scrollTop === this.put ? 0 : talk.scrollTop, Math.min(top, end));
    this.put = this.top = talk.scrollTop;
    latest.hidden = true;
  }
}

// The end of a task that was told elsewhere, as if it had been told here.
function endOf(task) {
  const content = { picture: task.frame ?? "", files: [], buttons: [] };
  return { id: `end ${task.task}`, revision: task.ended ?? 0, content };
}
