// The conversation of the selected place.

import { stepWords } from "./action.js";
import { arrange, h, setText } from "./dom.js";
import { MessageView } from "./message.js";
import { isCard, platformName, tellsEnd } from "./model.js";
import { duration } from "./when.js";
import { say } from "./words.js";

const NEAR_END = 80;

export class Talk {
  constructor(parts, act) {
    this.parts = parts;
    this.act = act;
    this.views = new Map();
    this.thread = null;
    this.foreign = new Map();
    parts.latest.addEventListener("click", () => this.toEnd());
    // A picture that arrives late must not push the newest message out of sight.
    new ResizeObserver(() => this.follow && this.toEnd()).observe(parts.messages);
    parts.talk.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  draw(model, thread, task) {
    const opened = this.thread !== thread || this.shown !== task?.task;
    const before = this.parts.messages.lastElementChild;
    this.thread = thread;
    this.shown = task?.task;
    if (opened) this.follow = true;
    const rows = thread === null ? this.steps(task) : this.messages(model, thread, task);
    arrange(this.parts.messages, rows);
    this.parts.older.hidden = thread === null || !model.more.get(thread);
    const grown = before !== this.parts.messages.lastElementChild;
    if (opened || (grown && this.follow)) this.toEnd();
    else if (grown) this.parts.latest.hidden = false;
  }

  messages(model, thread, task) {
    const entries = model.thread(thread).filter((entry) => !isCard(entry));
    const last = task?.outcome ? entries.findLast(tellsEnd) : null;
    if (entries.length === 0 && task?.state === "queued") return [this.note(say("page.task.queued"))];
    const rows = entries.map((entry) => {
      let view = this.views.get(entry.id);
      if (!view) this.views.set(entry.id, (view = new MessageView(this.act)));
      const question = model.questionOf(entry.id);
      view.draw(entry, question, entry === last ? task.outcome : "");
      return { root: view.root, open: question !== null };
    });
    // What waits for an answer stands last, whatever is told after it.
    return [...rows.filter((row) => !row.open), ...rows.filter((row) => row.open)].map((row) => row.root);
  }

  // What stands where nothing was said yet.
  note(words) {
    this.words ??= h("p", { class: "note" });
    this.noted ??= h("li", { class: "message" }, this.words);
    setText(this.words, words);
    return this.noted;
  }

  // A task of another chat: its messages are there, its steps can be shown here.
  steps(task) {
    const steps = this.foreign.get(task?.task) ?? [];
    const elsewhere = task && task.platform !== "web";
    const note = this.note(task?.state === "queued" ? say("page.task.queued")
      : elsewhere ? say("page.task.elsewhere", { person: task.person, platform: platformName(task.platform) }) : "");
    const rows = steps.map((step, index) => {
      const key = `${task.task}/${index}`;
      let view = this.views.get(key);
      if (!view) this.views.set(key, (view = new MessageView(this.act)));
      view.draw(stepEntry(key, step), null, "");
      return view.root;
    });
    return [note, ...rows];
  }

  // Called every second: how long the open questions are still open.
  tick() {
    for (const view of this.views.values()) if (view.question && view.root.isConnected) view.tick();
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

  toEnd() {
    this.parts.talk.scrollTop = this.parts.talk.scrollHeight;
    this.parts.latest.hidden = true;
  }
}

export function stepEntry(key, step) {
  const footer = [step.app_name, step.seconds ? duration(step.seconds) : ""].filter(Boolean).join(" · ");
  const content = { heading: "", body: stepWords(step), footer, picture: step.frame ?? "", files: [], buttons: [], notify: false, reply_to: "" };
  return { id: key, revision: 1, thread: key, author: "bot", content, sent: step.at, edited: null, deleted: false };
}
