// The conversation of the selected place: what was said, the steps of each task, and how it ended.

import { arrange, h, icon, setText } from "./dom.js";
import { Filmstrip } from "./filmstrip.js";
import { TaskCard } from "./home.js";
import { MessageView } from "./message.js";
import { platformName } from "./model.js";
import { Result } from "./result.js";
import { href } from "./route.js";
import { say } from "./words.js";

const NEAR_END = 80;
const ABOVE = 12;
const HEADING = 180; // characters of a question that is its own heading

export class Talk {
  constructor(parts, act) {
    this.parts = parts;
    this.act = act;
    this.views = new Map();
    this.results = new Map();
    this.cards = new Map();
    this.films = new Map();
    this.files = new Map();
    this.thread = null;
    this.unknown = h("li", { class: "empty" }, h("h2", {}, say("page.task.unknown")), h("p", {}, say("page.task.unknown_hint")),
      h("a", { class: "button", href: href("tasks") }, say("page.place.tasks")));
    parts.latest.addEventListener("click", () => this.toEnd());
    // A picture that arrives late must not push the newest message out of sight.
    new ResizeObserver(() => this.follow && this.toEnd()).observe(parts.messages);
    parts.talk.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  // `sought`: the task was looked for; without one, there is none. `home`: the console itself is shown.
  draw(model, thread, task, sought, home) {
    const opened = this.thread !== thread || this.shown !== task?.task;
    const before = this.parts.messages.lastElementChild;
    this.thread = thread;
    this.shown = task?.task;
    if (opened) this.follow = true;
    const rows = home ? this.home(model) : task || thread ? this.messages(model, thread, task) : sought ? [this.unknown] : [];
    arrange(this.parts.messages, rows);
    this.parts.older.hidden = thread === null || (!home && thread === "") || !model.more.get(thread);
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
      const row = { at: entry.sent, root: this.view(entry) };
      return made ? [row, { at: entry.sent, root: this.card(made, model, false) }] : [row];
    });
    return [...rows, ...loose.map((task) => ({ at: task.created, root: this.card(task, model, true) }))]
      .sort((one, other) => one.at - other.at).map((row) => row.root);
  }

  // What was said in a place and what has happened to its tasks, as it came; what follows up a task stays where that was.
  messages(model, thread, task) {
    const tasks = model.tasksOf(thread);
    if (task && !tasks.some((one) => one.task === task.task)) tasks.push(task);
    const first = tasks.filter((one) => one.files.length).map((one) => this.chips(one));
    const rows = thread ? model.thread(thread).map((entry) => ({ at: entry.sent, root: this.view(entry) })) : [];
    tasks.forEach((one, number) => rows.push(...this.events(one, model, number > 0)));
    rows.sort((one, other) => one.at - other.at);
    const elsewhere = task && thread === null && task.platform !== "web";
    if (rows.length === 0 && task?.state === "queued") first.push(this.note(say("page.task.queued")));
    else if (elsewhere) first.push(this.note(say("page.task.elsewhere", { person: task.person, platform: platformName(task.platform) })));
    // What waits for an answer stands last, whatever is told after it.
    return [...first, ...[...rows.filter((row) => !row.open), ...rows.filter((row) => row.open)].map((row) => row.root)];
  }

  // `followed`: it follows up another one there, so what was asked is not the title of the page.
  events(task, model, followed) {
    const log = model.log(task.task);
    const closed = new Map(log.filter((event) => event.kind === "question closed").map((event) => [event.question, event]));
    const rows = log.flatMap((event) => {
      const question = event.kind === "asked" ? model.question(event.question) : null;
      const content = event.kind === "accepted" && !followed ? null : contentOf(event, task, question, closed.get(event.question));
      if (content === null) return [];
      const author = event.kind === "accepted" || event.kind === "note" ? "operator" : "bot";
      const entry = { id: `${event.task}.${event.number}`, revision: JSON.stringify(content), author, content };
      return [{ at: event.at, root: this.view(entry, question), open: question !== null }];
    });
    const steps = model.steps(task.task);
    if (task.outcome === null) return [...rows, ...this.film(task, steps, Number.MAX_SAFE_INTEGER)];
    const end = log.find((event) => event.kind === "final");
    const at = end?.at ?? task.ended;
    return [...rows, ...this.film(task, steps, at), { at, root: this.result(task, end?.buttons ?? [], steps) }];
  }


  view(entry, question = null) {
    let view = this.views.get(entry.id);
    if (!view) this.views.set(entry.id, (view = new MessageView(this.act)));
    view.draw(entry, question);
    return view.root;
  }

  result(task, buttons, steps) {
    let result = this.results.get(task.task);
    if (!result) this.results.set(task.task, (result = new Result(this.act)));
    result.draw(task, buttons, steps);
    return result.root;
  }

  card(task, model, titled) {
    let card = this.cards.get(task.task);
    if (!card) this.cards.set(task.task, (card = new TaskCard()));
    card.draw(task, model, titled);
    return card.root;
  }

  film(task, steps, at) {
    if (steps.length === 0) return [];
    let film = this.films.get(task.task);
    if (!film) this.films.set(task.task, (film = new Filmstrip((...what) => this.act.lookThrough(...what))));
    if (film.steps?.length !== steps.length) film.draw(steps);
    return [{ at, root: film.root }];
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

const NOTHING = { heading: "", body: "", footer: "", picture: "", files: [], buttons: [], menu: null, notify: false };

// What an event reads as a message, null for what is drawn otherwise; `open` is a question while that is open, `closed`
// tells what became of it.
function contentOf(event, task, open, closed) {
  if (event.kind === "accepted") return { ...NOTHING, body: event.text };
  if (event.kind === "note") return { ...NOTHING, body: event.text, footer: event.by === task.person ? "" : event.by };
  if (event.kind === "state") return { ...NOTHING, body: event.text, notify: true };
  if (event.kind === "file") return { ...NOTHING, body: say("page.file.found"), files: [{ name: event.name, reference: event.content }] };
  if (event.kind !== "asked") return null;
  const picture = pictureOf(event);
  if (open) return { ...NOTHING, ...open.told, picture, notify: true };
  const long = event.text.length > HEADING || event.text.includes("\n");
  const body = [long ? event.text : "", event.detail].filter(Boolean).join("\n");
  return { ...NOTHING, heading: long ? "" : event.text, body, footer: closed?.text ?? "", picture };
}

// The screen that a question is about; beside that which was allowed before, where it is asked anew.
export function pictureOf({ question, frame, anew }) {
  return frame && anew ? `/api/console/questions/${encodeURIComponent(question)}/screens.jpg` : frame ?? "";
}
