// The box at the bottom: a task or a command in the console itself; in a task's view an answer, a note, or what follows it.

import { Attachments } from "./attach.js";
import { Completion } from "./completion.js";
import { arrange, h, setLinked, uniqueId } from "./dom.js";
import { sent } from "./forms.js";
import { say } from "./words.js";

const MAX_PX = 220;
const PAST = 60;
const DRAFT = "draft:";
const WITH_FILES = new Set(["command", "over"]);

// `give(text, event, {files, device})` is true when the words were taken; until then they stay in the box.
export class Say {
  constructor(parts, model, give, toast) {
    this.parts = parts;
    this.model = model;
    this.give = give;
    this.typed = [];
    this.at = 0;
    this.recalled = "";
    this.pending = null;
    this.place = "";
    this.files = new Attachments(parts, toast);
    this.completion = new Completion(parts.completion, parts.line, model, (text) => this.fill(text));
    sent(parts.form, () => this.send());
    parts.line.addEventListener("input", () => {
      this.changed();
      this.completion.draw();
      this.drawHint();
    });
    parts.line.addEventListener("paste", (event) => this.files.paste(event));
    parts.line.addEventListener("keydown", (event) => this.completion.key(event) || this.key(event));
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.send();
    }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const past = this.past();
    // In words of one's own the arrow keys move through the lines.
    if (this.parts.line.value !== this.recalled) return;
    if (!this.recalled) this.at = past.length;
    const at = this.at + (event.key === "ArrowUp" ? -1 : 1);
    if (at < 0 || at > past.length) return;
    event.preventDefault();
    this.at = at;
    this.recalled = past[at] ?? "";
    this.fill(this.recalled);
  }

  // What was typed before, the latest last: tasks of this console, of former days too, and all that was typed since.
  past() {
    const tasks = this.model.tasks.filter((task) => task.platform === "web").map((task) => task.text).reverse();
    return [...new Set([...tasks, ...this.typed].reverse())].slice(0, PAST).reverse();
  }

  fill(text) {
    this.parts.line.value = text;
    this.changed();
    this.parts.line.focus();
    this.parts.line.setSelectionRange(text.length, text.length);
  }

  // Every place keeps its own line, over a reload too. A code is never kept.
  changed() {
    const text = this.parts.line.value;
    if (text && !this.secret) sessionStorage.setItem(DRAFT + this.place, text);
    else sessionStorage.removeItem(DRAFT + this.place);
    this.fit();
  }

  goTo(place) {
    if (this.place === place && this.begun) return;
    this.begun = true;
    this.place = place;
    this.recalled = "";
    this.parts.line.value = sessionStorage.getItem(DRAFT + place) ?? "";
    this.completion.close();
    this.fit();
  }

  fit() {
    const line = this.parts.line;
    line.style.height = "auto";
    line.style.height = `${Math.min(line.scrollHeight, MAX_PX)}px`;
  }

  async send() {
    const text = this.parts.line.value.trim();
    if (this.busy) return;
    if (!text) {
      if (this.files.wanted && this.files.files.length) this.files.toast(say("page.file.words"));
      return;
    }
    // The same words sent again after a lost connection are the same message, not a second task.
    if (this.pending?.text !== text || this.pending.place !== this.place) this.pending = { text, place: this.place, event: uniqueId() };
    const { place, event } = this.pending;
    this.completion.close();
    this.busy = true;
    this.parts.form.classList.add("busy");
    try {
      const files = await this.files.ready();
      if (files === null || !(await this.give(text, event, { files, device: this.parts.device.value }))) return;
    } finally {
      this.busy = false;
      this.parts.form.classList.remove("busy");
    }
    this.pending = null;
    if (!this.secret) this.typed.push(text);
    this.recalled = "";
    this.files.clear();
    this.sent(place, text);
  }

  // What was sent leaves the box where it stood; what was typed there meanwhile stays.
  sent(place, text) {
    if (this.place !== place) {
      if (sessionStorage.getItem(DRAFT + place)?.trim() === text) sessionStorage.removeItem(DRAFT + place);
    } else if (this.parts.line.value.trim() === text) {
      this.parts.line.value = "";
      this.changed();
    }
  }

  // What the box is for, here and now.
  draw(task, thread, questions) {
    // A code typed here must not come back with the arrow key, nor be kept as a line that was begun.
    this.secret = questions.some((question) => question.kind === "secret");
    if (this.secret) sessionStorage.removeItem(DRAFT + this.place);
    const kind = kindOf(task, thread, questions);
    this.files.show(WITH_FILES.has(kind) && thread !== null);
    this.drawPhones(WITH_FILES.has(kind) && thread !== null);
    const values = { task: task?.task ?? "" };
    this.usual = say(`page.box.${kind === "over" && this.model.offline ? "over_offline" : kind}_hint`, values);
    const label = say(kind === "answer" || kind === "code" ? "page.box.answer" : kind === "note" ? "page.box.note" : "page.box.command");
    const placeholder = say(`page.box.${kind}_like`, values);
    this.parts.label.textContent = label;
    this.parts.line.placeholder = placeholder;
    this.drawHint();
  }

  // What only a model could do is said before it is sent.
  drawHint() {
    const lacks = this.model.lacking(this.parts.line.value);
    setLinked(this.parts.hint, lacks ? say("page.box.lacks_model", { name: lacks }) : this.usual);
    this.parts.hint.classList.toggle("lacks", Boolean(lacks));
  }

  // Which phone is to do it; one alone needs no choice.
  drawPhones(wanted) {
    const device = this.parts.device;
    device.hidden = !wanted || this.model.devices.length < 2;
    const mark = this.model.devices.map((one) => `${one.id} ${one.name}`).join("\n");
    if (device.dataset.mark === mark) return;
    device.dataset.mark = mark;
    const chosen = device.value;
    const options = [["", say("page.box.any_phone")], ...this.model.devices.map((one) => [one.id, one.name])];
    arrange(device, options.map(([value, name]) => h("option", { value }, name)));
    device.value = options.some(([value]) => value === chosen) ? chosen : "";
  }
}

function kindOf(task, thread, questions) {
  if (!task) return "command";
  if (task.outcome !== null) return "over";
  if (thread === null) return "elsewhere";
  if (questions.some((question) => question.kind === "secret")) return "code";
  return questions.length ? "answer" : "note";
}
