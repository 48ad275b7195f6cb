// A phone in one's own hands: its live picture, which is touched, the keys beside it and what is typed.

import { h, icon, setText, uniqueId } from "./dom.js";
import { sent } from "./forms.js";
import { Stills } from "./hand_stream.js";
import { go, href } from "./route.js";
import { send } from "./service.js";
import { plays, Video } from "./video.js";
import { say } from "./words.js";

const NEAR_PX = 10;
const LONG_MS = 500;
const TYPING_MS = 150;
const WHEEL_MS = 400;
const SWIPE_MS = [50, 2000];
const KEYS = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", Enter: "enter", Backspace: "delete" };

// `on.done(picture)` is called once one has let go of the phone, with the last picture of it, null where none may be
// shown; `on.over(words)` once one has it no longer for another reason.
export class Hand {
  constructor(on) {
    this.on = on;
    this.turn = Promise.resolve();
    this.canvas = h("canvas", { tabindex: 0, role: "application", "aria-label": "" });
    this.ring = h("span", { class: "hand-ring", hidden: true });
    this.why = h("p", { class: "hand-why" });
    this.before = h("img", { alt: "", hidden: true });
    this.glass = h("div", { class: "hand-glass" }, this.before, this.canvas, this.ring, this.why);
    this.told = h("p", { class: "hand-told", role: "status" });
    const key = (name) => h("button", { type: "button", class: "button", onclick: () => this.key(name) }, say(`page.hand.${name}`));
    this.line = h("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: 4000,
      placeholder: say("page.hand.type"), "aria-label": say("page.hand.type"), title: say("page.hand.kept") });
    this.form = h("form", { class: "hand-type" }, this.line, h("button", { type: "submit", class: "button" }, say("page.hand.send")));
    sent(this.form, () => {
      if (this.line.value) this.type(this.line.value);
      else this.key("enter");
      this.line.value = "";
    });
    this.root = h("div", { class: "hand", hidden: true }, this.glass, h("div", { class: "hand-side" }, this.told,
      h("div", { class: "hand-keys row" }, key("back"), key("home"), key("recents"), key("delete"), key("enter")),
      this.form, h("button", { type: "button", class: "button primary hand-done", onclick: () => this.done() }, icon("check"), say("page.hand.done_long"))));
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointerup", (event) => this.up(event));
    this.canvas.addEventListener("pointercancel", () => (this.from = null));
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.pressed(event));
  }

  // Takes the phone. False when it cannot be had; then `on.over` was told why. `before` is the address of the picture that
  // is seen until the first live one comes, "" for none.
  async open(phone, before = "") {
    this.close();
    this.before.hidden = !before;
    if (before) this.before.src = before;
    this.root.hidden = false;
    this.why.hidden = false;
    setText(this.why, say("page.hand.loading"));
    setText(this.told, "");
    try {
      const held = await send("/api/hand", { phone });
      this.hold = held.hand;
      this.canvas.setAttribute("aria-label", say("page.hand.picture", { phone: held.name }));
      setText(this.told, say(held.task ? "page.hand.yours_task" : "page.hand.yours", { phone: held.name }));
      const video = plays() ? new Video(this.canvas) : null;
      this.video = video;
      this.stills = new Stills(held.hand, {
        video: video && ((head, unit) => video.take(head, unit)),
        still: (number, blob) => this.show(number, blob),
        lost: () => setText(this.told, say("page.hand.lost")),
        over: () => this.on.over(say("page.hand.over")),
      });
      this.canvas.focus({ preventScroll: true });
      return true;
    } catch (error) {
      this.on.over(error.message);
      return false;
    }
  }

  // Looks no longer; who holds the phone and goes away loses it after a while.
  close() {
    this.stills?.close();
    this.stills = null;
    this.video?.close();
    this.video = null;
    this.hold = null;
    this.still = 0;
    this.from = null;
    delete this.canvas.dataset.still;
    delete this.canvas.dataset.video;
    this.canvas.width = 0;
    this.root.hidden = true;
  }

  async done() {
    const hold = this.hold;
    await this.turn;
    const picture = this.last();
    this.close();
    try {
      if (hold) await send(`/api/hand/${hold}/done`, {});
      this.on.done(picture);
    } catch (error) {
      this.on.over(error.message);
    }
  }

  // What is seen now, as a picture of its own.
  last() {
    if (!this.picture || !this.canvas.width) return null;
    const copy = h("canvas", { width: this.canvas.width, height: this.canvas.height });
    copy.getContext("2d").drawImage(this.canvas, 0, 0);
    return copy;
  }

  async show(number, blob) {
    const picture = blob ? await createImageBitmap(blob) : null;
    if (!this.hold) return;
    this.picture?.close();
    this.picture = picture;
    this.still = number;
    this.why.hidden = picture !== null;
    this.before.hidden = true;
    if (!picture) {
      setText(this.why, say("page.hand.hidden"));
      this.video?.hide();
      this.canvas.width = 0;
      return;
    }
    const paint = () => this.canvas.getContext("2d").drawImage(picture, 0, 0);
    if (this.canvas.width !== picture.width || this.canvas.height !== picture.height) {
      this.canvas.width = picture.width;
      this.canvas.height = picture.height;
      this.glass.style.setProperty("--ratio", picture.width / picture.height);
      paint();
    }
    if (this.video) this.video.still(picture, paint);
    else paint();
    this.canvas.dataset.still = number;
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const share = (at, size) => Math.min(0.9999, Math.max(0, at / size));
    return { x: share(event.clientX - box.left, box.width), y: share(event.clientY - box.top, box.height) };
  }

  down(event) {
    if (!event.isPrimary || event.button !== 0 || !this.still) return;
    if (this.video?.stale(this.place(event))) {
      setText(this.told, say("page.hand.moved"));
      return;
    }
    this.canvas.setPointerCapture(event.pointerId);
    this.from = { ...this.place(event), left: event.clientX, top: event.clientY, at: event.timeStamp, still: this.still };
  }

  up(event) {
    const from = this.from;
    this.from = null;
    if (!from || !event.isPrimary) return;
    const to = this.place(event);
    const took = event.timeStamp - from.at;
    this.mark(to);
    if (Math.hypot(event.clientX - from.left, event.clientY - from.top) < NEAR_PX) {
      this.touch({ kind: took < LONG_MS ? "tap" : "long_press", x: from.x, y: from.y, still: from.still });
      return;
    }
    const milliseconds = Math.round(Math.min(SWIPE_MS[1], Math.max(SWIPE_MS[0], took)));
    // A finger that has rested first drags what is below it.
    const kind = took > 3 * LONG_MS ? "drag" : "swipe";
    this.touch({ kind, x: from.x, y: from.y, to_x: to.x, to_y: to.y, milliseconds, still: from.still });
  }

  wheel(event) {
    event.preventDefault();
    if (!this.still || event.timeStamp < (this.rolled ?? 0) + WHEEL_MS) return;
    this.rolled = event.timeStamp;
    const { x } = this.place(event);
    const far = event.deltaY > 0 ? [0.7, 0.35] : [0.35, 0.7];
    this.touch({ kind: "swipe", x, y: far[0], to_x: x, to_y: far[1], milliseconds: 200 });
  }

  // Tab and Escape stay the page's own: nobody is caught in the picture.
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (KEYS[event.key]) {
      event.preventDefault();
      this.flush();
      this.key(KEYS[event.key]);
    } else if (event.key.length === 1) {
      event.preventDefault();
      this.typed = (this.typed ?? "") + event.key;
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.flush(), TYPING_MS);
    }
  }

  flush() {
    clearTimeout(this.typing);
    if (this.typed) this.type(this.typed);
    this.typed = "";
  }

  key(key) {
    this.touch({ kind: "key", key });
  }

  type(text) {
    this.touch({ kind: "type", text });
  }

  mark(at) {
    this.ring.hidden = false;
    this.ring.style.left = `${at.x * 100}%`;
    this.ring.style.top = `${at.y * 100}%`;
    this.ring.getAnimations?.().forEach((animation) => animation.cancel());
    this.ring.animate?.([{ opacity: 1, transform: "translate(-50%, -50%) scale(.6)" }, { opacity: 0, transform: "translate(-50%, -50%) scale(1.3)" }], { duration: 450, fill: "forwards" });
  }

  // One after the other, in the order in which they were done.
  touch(what) {
    const hold = this.hold;
    if (!hold || !this.still) return;
    this.turn = this.turn.then(async () => {
      try {
        const reply = await send(`/api/hand/${hold}/touch`, { event: uniqueId(), still: what.still ?? this.still, ...what });
        setText(this.told, reply.asked ? say("page.hand.asks", { what: reply.asked }) : "");
      } catch (error) {
        setText(this.told, error.message);
      }
    });
  }
}

// Beside the picture of a task: a button that takes its phone into one's hands, and the live picture in its place; its
// last one is given to `keep`.
export class StageHand {
  constructor(screen, keep) {
    this.screen = screen;
    this.keep = keep;
    this.hand = new Hand({ done: (picture) => this.close("", picture), over: (words) => this.close(words) });
    this.said = h("p", { class: "hand-told", role: "status" });
    this.button = h("button", { type: "button", class: "button hand-take", hidden: true, onclick: () => this.take() }, icon("phone"), say("page.hand.take"));
    this.screen.after(this.button, this.said);
  }

  // A task that has asked for something else waits for that answer.
  draw(task, phone, asked) {
    const may = (!asked || asked.kind === "take over") && task !== null && task !== undefined && task.outcome === null && phone !== null && phone.usable && ["working", "paused", "waiting"].includes(task.state);
    this.phone = may ? phone.id : "";
    if (this.open && (!may || this.open !== task.task)) this.close();
    if (this.task !== task?.task) setText(this.said, "");
    this.task = task?.task ?? "";
    this.button.hidden = !may || Boolean(this.open);
  }

  async take() {
    this.open = this.task;
    this.button.hidden = true;
    this.screen.hidden = true;
    this.screen.after(this.hand.root);
    setText(this.said, "");
    await this.hand.open(this.phone, this.screen.querySelector("img")?.src);
  }

  close(words = "", picture = null) {
    this.open = "";
    this.hand.close();
    this.hand.root.remove();
    this.screen.hidden = false;
    if (picture) this.keep(picture);
    this.button.hidden = !this.phone;
    setText(this.said, words);
  }
}

// A page of its own for one phone: opened to touch it, idle or with a task that is taken over.
export class HandPage {
  constructor(model) {
    this.model = model;
    this.hand = new Hand({ done: () => go("phones"), over: (words) => this.over(words) });
    this.words = h("p");
    this.fix = h("p");
    this.take = h("button", { type: "button", class: "button primary", onclick: () => this.again() }, say("page.hand.take"));
    this.gone = h("div", { class: "empty", hidden: true }, this.words, this.fix, h("div", { class: "row" }, this.take, h("a", { class: "button", href: href("phones") }, say("page.place.phones"))));
    this.root = h("div", { class: "sheet hand-page" }, this.gone, this.hand.root);
  }

  heading() {
    return { title: this.model.phone(this.id)?.name ?? say("page.place.phones"), about: "" };
  }

  open(id) {
    if (this.id !== id || !this.hand.hold) this.wanted = id;
    this.id = id;
    this.draw();
  }

  // The page may be opened before it is known which phones there are. One that cannot be reached is taken once it can.
  draw() {
    if (!this.wanted || !this.model.ready) return;
    const phone = this.model.phone(this.wanted);
    if (!phone) this.over(say("page.hand.unknown"));
    else if (phone.usable) this.again();
    else this.over(phone.reason || say(`page.health.${phone.state.replaceAll(" ", "_")}`), phone.fix);
  }

  again() {
    this.wanted = "";
    this.gone.hidden = true;
    this.hand.open(this.id);
  }

  // Why it is not in one's hands; with a `fix` that is done at the phone, and nothing here helps.
  over(words, fix = "") {
    this.hand.close();
    this.gone.hidden = false;
    this.take.hidden = Boolean(this.wanted);
    setText(this.words, words);
    setText(this.fix, fix);
  }

  focus() {
    this.hand.canvas.focus({ preventScroll: true });
  }

  // Whoever leaves the page lets go of a phone without a task; one with a task waits for Done.
  close() {
    this.wanted = "";
    this.hand.close();
  }
}
