// A run, step by step: what was seen, thought and done. The arrow keys go through it.

import { actionWords, stepWords } from "./action.js";
import { about } from "./conversation.js";
import { arrange, h, icon, setText } from "./dom.js";
import { settle } from "./route.js";
import { Screen } from "./screen.js";
import { loadSteps, loadTask } from "./service.js";
import { clock, duration, tokens } from "./when.js";
import { say } from "./words.js";

const STEP_MS = 1400;

export class Replay {
  constructor(model, way) {
    this.model = model;
    this.way = way;
    this.steps = [];
    this.rows = [];
    this.at = 0;
    this.screen = new Screen();
    this.slider = h("input", { type: "range", min: 0, value: 0, "aria-label": say("page.replay.position") });
    this.back = button("back", say("page.replay.previous"), () => this.move(-1));
    this.next = button("next", say("page.replay.next"), () => this.move(1));
    this.playing = button("play", say("page.replay.play"), () => (this.timer ? this.pause() : this.play()));
    this.where = h("p", { class: "where", "aria-live": "polite" });
    this.summary = h("h2");
    this.thought = h("p", { class: "thought" });
    this.facts = h("dl", { class: "facts" });
    this.step = h("section", { class: "step-facts", "aria-live": "off" }, this.summary, this.thought, this.facts);
    this.list = h("ol", { class: "steps", "aria-label": say("page.stage.steps") });
    this.empty = h("div", { class: "empty", hidden: true });
    this.body = h("div", { class: "replay" },
      h("div", { class: "seen" }, this.screen.root, h("div", { class: "player" }, this.back, this.playing, this.next, this.slider), this.where),
      h("div", { class: "told" }, this.step, this.list));
    this.root = h("div", {}, this.body, this.empty);
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    this.onkey = (event) => this.key(event);
  }

  heading() {
    const title = this.task?.text ?? say("page.task.number", { task: this.id });
    return { title, about: this.task ? about(this.task, this.model) : "", task: this.task };
  }

  // `query` may name the step to begin with; the first one is 1.
  open(id, query) {
    this.pause();
    const step = Number(query.get("step"));
    this.wanted = Number.isInteger(step) && step > 0 ? step - 1 : null;
    document.removeEventListener("keydown", this.onkey);
    document.addEventListener("keydown", this.onkey);
    if (this.id !== id) {
      this.id = id;
      this.task = null;
      this.steps = [];
      this.at = 0;
      this.list.replaceChildren();
      this.body.hidden = true;
      this.empty.hidden = true;
      this.rows = [];
    }
    if (this.model.ready) this.fill();
  }

  close() {
    this.pause();
    document.removeEventListener("keydown", this.onkey);
  }

  focus() {
    this.slider.focus();
  }

  // Live: the steps of a run that goes on are added, and the newest is shown when the last one was.
  told() {
    const now = this.model.task(this.id);
    if (!this.task || (now && (now.steps !== this.task.steps || now.outcome !== this.task.outcome))) this.fill();
  }

  async fill() {
    const id = this.id;
    try {
      const known = this.task?.task === id ? this.steps : [];
      const [found, steps] = await Promise.all([loadTask(id), loadSteps(id, known)]);
      if (id !== this.id) return;
      const atEnd = this.task !== null && this.task.outcome === null && this.at === this.steps.length - 1;
      this.task = found;
      this.steps = steps;
      this.build();
      const at = this.wanted ?? (atEnd ? steps.length - 1 : this.at);
      this.wanted = null;
      this.tell(say("page.replay.none"), say(found.outcome === null ? "page.replay.soon" : found.steps ? "page.replay.gone" : "page.replay.never"));
      this.show(Math.max(0, Math.min(at, steps.length - 1)));
    } catch (error) {
      if (error.status === 0) return;
      if (error.status === 404) this.tell(say("page.task.unknown"), say("page.task.unknown_hint"));
      else this.tell(say("page.replay.failed"), error.message);
    }
    this.way.draw();
  }

  tell(title, words) {
    this.body.hidden = this.steps.length === 0;
    this.empty.hidden = this.steps.length > 0;
    this.empty.replaceChildren(h("h2", {}, title), h("p", {}, words));
  }

  build() {
    this.slider.max = Math.max(0, this.steps.length - 1);
    this.rows = this.steps.map((step, index) => this.rows[index] ?? h("li", { class: step.denied ? "denied" : null }, h("button", { type: "button", onclick: () => this.show(index) },
      h("span", { class: "number" }, String(index + 1)), h("span", { class: "words" }, stepWords(step)),
      this.task.phones > 1 ? h("small", {}, step.phone) : null)));
    arrange(this.list, this.rows);
  }

  move(by) {
    this.show(Math.max(0, Math.min(this.steps.length - 1, this.at + by)));
  }

  show(index) {
    const step = this.steps[index];
    if (!step) return;
    settle("replay", this.id, { step: index + 1 });
    this.rows[this.at]?.firstChild.removeAttribute("aria-current");
    this.at = index;
    this.rows[index].firstChild.setAttribute("aria-current", "step");
    this.reveal(this.rows[index]);
    this.slider.value = index;
    const words = say("page.replay.of", { number: index + 1, all: this.steps.length });
    this.slider.setAttribute("aria-valuetext", words);
    setText(this.where, words);
    this.back.disabled = index === 0;
    this.next.disabled = index === this.steps.length - 1;
    setText(this.summary, stepWords(step));
    const ended = step.action?.kind === "finish";
    setText(this.thought, ended ? step.thought || step.summary : step.summary.endsWith(step.thought) ? "" : step.thought);
    this.facts.replaceChildren(...facts(step));
    this.step.querySelectorAll(".unfold").forEach((button) => button.remove());
    this.step.querySelectorAll(".thought, dd span").forEach(fold);
    const why = say(step.frame ? "page.picture.gone" : "page.replay.no_picture");
    this.screen.show(step.frame, { mark: step.mark, alt: say("page.replay.screen", { number: index + 1 }), words: why });
    this.screen.root.classList.toggle("blank", !step.frame);
  }

  // Scrolls the list alone: on a narrow screen the picture has to stay where it is.
  reveal(row) {
    const [top, bottom] = [row.offsetTop - this.list.offsetTop, row.offsetTop - this.list.offsetTop + row.offsetHeight];
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (bottom > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = bottom - this.list.clientHeight;
  }

  play() {
    if (this.at === this.steps.length - 1) this.show(0);
    this.timer = setInterval(() => (this.at < this.steps.length - 1 ? this.move(1) : this.pause()), STEP_MS);
    this.dress("pause", say("page.replay.pause"));
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.dress("play", say("page.replay.play"));
  }

  dress(sign, label) {
    this.playing.replaceChildren(icon(sign));
    this.playing.setAttribute("aria-label", label);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.steps.length === 0) return;
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.pause();
    this.move(to - this.at);
  }

  draw() {}
}

function button(sign, label, act) {
  return h("button", { class: "plain", type: "button", "aria-label": label, onclick: act }, icon(sign));
}

function facts(step) {
  const rows = [
    [say("page.replay.action"), actionWords(step.action, step.target)],
    [say("page.replay.effect"), step.effect],
    [say("page.replay.phone"), step.phone],
    [say("page.replay.app"), step.app_name],
    [say("page.replay.time"), [clock(step.at), step.seconds ? duration(step.seconds) : ""].filter(Boolean).join(" · ")],
    [say("page.replay.tokens"), step.tokens.calls ? say("page.replay.tokens_of", { input: tokens({ input: step.tokens.input }), output: tokens({ input: step.tokens.output }) }) : ""],
  ];
  return rows.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, h("span", {}, value))));
}

// What is long is cut, so that the list below stays where it is; a press shows all of it.
function fold(text) {
  text.classList.remove("whole");
  if (text.scrollHeight <= text.clientHeight + 1) return;
  const button = h("button", { class: "link-button unfold", type: "button", "aria-expanded": "false", onclick: () => {
    const whole = text.classList.toggle("whole");
    button.setAttribute("aria-expanded", String(whole));
    setText(button, say(whole ? "page.title_less" : "page.film.all"));
  } }, say("page.film.all"));
  text.after(button);
}
