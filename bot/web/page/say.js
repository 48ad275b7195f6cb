// The box at the bottom: a command in the console itself, an answer or a note in a task's view.

import { h, uniqueId } from "./dom.js";
import { say } from "./words.js";

const MAX_PX = 220;
const DRAFT = "draft";

export class Say {
  constructor(parts, give) {
    this.parts = parts;
    this.give = give;
    this.past = [];
    this.at = 0;
    this.pending = null;
    parts.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    parts.line.addEventListener("input", () => this.fit());
    parts.line.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.send();
    }
    const browsing = this.parts.line.value === (this.past[this.at] ?? "");
    if (event.key === "ArrowUp" && browsing && this.at > 0) this.recall(this.at - 1, event);
    if (event.key === "ArrowDown" && browsing && this.at < this.past.length) this.recall(this.at + 1, event);
  }

  recall(at, event) {
    event.preventDefault();
    this.at = at;
    this.fill(this.past[at] ?? "");
  }

  fill(text) {
    this.parts.line.value = text;
    this.fit();
    this.parts.line.focus();
  }

  // Over a reload of the page. A code is never kept.
  keep() {
    if (!this.secret && this.parts.line.value) sessionStorage.setItem(DRAFT, this.parts.line.value);
  }

  restore() {
    const draft = sessionStorage.getItem(DRAFT);
    sessionStorage.removeItem(DRAFT);
    if (draft) this.fill(draft);
  }

  fit() {
    const line = this.parts.line;
    line.style.height = "auto";
    line.style.height = `${Math.min(line.scrollHeight, MAX_PX)}px`;
  }

  async send() {
    const text = this.parts.line.value.trim();
    if (!text || this.busy) return;
    // The same words sent again after a lost connection are the same message, not a second task.
    if (this.pending?.text !== text) this.pending = { text, event: uniqueId() };
    this.busy = true;
    const sent = await this.give(text, this.pending.event);
    this.busy = false;
    if (!sent) return;
    this.pending = null;
    if (!this.secret) this.past.push(text);
    this.at = this.past.length;
    if (this.parts.line.value.trim() === text) this.parts.line.value = "";
    this.fit();
  }

  // What the box is for, here and now.
  draw(task, thread, questions) {
    // A code typed here must not come back with the arrow key.
    this.secret = questions.some((question) => question.kind === "secret");
    const [label, placeholder, hint] = words(task, thread, questions);
    this.parts.label.textContent = label;
    this.parts.line.placeholder = placeholder;
    if (this.parts.hint.dataset.words === label + placeholder) return;
    this.parts.hint.dataset.words = label + placeholder;
    this.parts.hint.replaceChildren(...hint);
  }
}

// A sentence with the commands in it set apart: they stand between two ` in the catalogue.
function told(sentence) {
  return sentence.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

function words(task, thread, questions) {
  const kind = !task ? "command" : task.outcome !== null ? "over" : thread === null ? "elsewhere" : questions.some((question) => question.kind === "secret") ? "code" : questions.length ? "answer" : "note";
  const label = say(kind === "answer" || kind === "code" ? "page.box.answer" : kind === "note" ? "page.box.note" : "page.box.command");
  const values = { task: task?.task ?? "" };
  return [label, say(`page.box.${kind}_like`, values), told(say(`page.box.${kind}_hint`, values))];
}
