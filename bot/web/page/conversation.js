// The console itself, or a task: its phone, its messages, and the box to type in.

import { h, uniqueId } from "./dom.js";
import { pictures } from "./filmstrip.js";
import { Welcome } from "./home.js";
import { badge } from "./message.js";
import { phonesOf, platformName, standing } from "./model.js";
import { Viewer } from "./picture.js";
import { go, href } from "./route.js";
import { Say } from "./say.js";
import { load, loadLog, loadTask } from "./service.js";
import { Stage } from "./stage.js";
import { pictureOf, Talk } from "./talk.js";
import { say } from "./words.js";

// `way` has post(path, body, key), which tells when something was not sent, and toast(words).
export class Conversation {
  constructor(model, at, way) {
    this.model = model;
    this.at = at;
    this.way = way;
    this.loaded = new Set();
    this.single = new Map();
    this.reading = new Map();
    const act = {
      press: (...what) => this.press(...what),
      answer: (...what) => this.answer(...what),
      look: (reference) => this.look(reference),
      lookThrough: (...what) => this.viewer.open(...what),
      compose: (text) => this.compose(text),
      toast: way.toast,
    };
    this.viewer = new Viewer(at("viewer"));
    this.stage = new Stage(at("stage"), act);
    this.talk = new Talk({ talk: at("talk"), messages: at("messages"), older: at("older"), latest: at("latest"), welcome: at("welcome") }, act);
    this.line = new Say({ form: at("say"), line: at("line"), label: at("line-label"), hint: at("hint"), completion: at("completion"),
      list: at("chips"), button: at("attach"), file: at("file"), drop: at("drop"), device: at("device") },
    model, (...what) => this.give(...what), way.toast);
    this.welcome = new Welcome(at("welcome"), (line) => this.line.fill(line));
    at("older").addEventListener("click", () => this.showOlder());
    setInterval(() => {
      this.stage.tick();
      this.talk.tick();
    }, 1000);
  }

  // The task with this id, also one that is too old for the list; null when it is not known (yet).
  task(id) {
    return this.model.task(id) ?? this.single.get(id) ?? null;
  }

  thread() {
    return this.id ? (this.task(this.id)?.thread ?? null) : "";
  }

  heading() {
    const task = this.task(this.id);
    if (!this.id) return { title: say("page.console"), about: "" };
    if (!task) return { title: say("page.task.number", { task: this.id }), about: "" };
    return { title: task.text, about: about(task, this.model), task };
  }

  open(id) {
    this.id = id;
    this.sought = false;
    this.line.goTo(id);
    this.fill();
  }

  // Words into the box of the console itself, to be changed there and sent.
  compose(text) {
    go("console");
    this.open("");
    this.line.fill(text);
    this.line.completion.draw();
  }

  focus() {
    (this.talk.codeField ?? this.at("line")).focus();
  }

  // A code is typed where nobody can read it: the keyboard goes there, unless somebody is in the middle of a line.
  toCode() {
    const field = this.talk.codeField;
    const idle = document.activeElement === document.body || (document.activeElement === this.at("line") && !this.at("line").value);
    if (field && field !== this.code && idle && !this.at("app").inert) field.focus({ preventScroll: true });
    this.code = field;
  }

  draw() {
    const task = this.task(this.id);
    const thread = this.thread();
    const home = !this.id;
    const unknown = !home && !task && this.sought;
    this.at("say").hidden = unknown;
    const asked = task ? this.model.questionsOf(task.task).at(-1) : null;
    this.stage.draw(task, task ? this.model.phone(task.phone) : null, asked);
    // Where there is no phone to be seen, the words have the room.
    this.at("main").classList.toggle("home", home || unknown || this.stage.blank);
    if (home) this.welcome.draw(this.model, this.model.thread("").length === 0 && this.model.tasks.length === 0);
    else this.at("welcome").hidden = true;
    this.talk.draw(this.model, home ? "" : thread, task, this.sought, home);
    this.line.draw(task, thread, task ? this.model.questionsOf(task.task) : []);
    this.toCode();
  }

  // The state told that something has changed; a task of another chat may have new steps.
  told(before) {
    const now = this.task(this.id);
    if (!now) return;
    if (before?.thread !== now.thread || !this.loaded.has(now.thread) || this.around(now).some((task) => !this.model.whole.has(task.task))) this.fill();
  }

  // The task, and those of the same conversation.
  around(task) {
    const others = task.thread ? this.model.tasksOf(task.thread) : [];
    return others.some((one) => one.task === task.task) ? others : [...others, task];
  }

  async fill() {
    const id = this.id;
    if (id && !this.task(id)) {
      await this.seek(id);
      this.way.draw();
    }
    const task = this.task(id);
    const thread = this.thread();
    try {
      if (thread !== null && !this.loaded.has(thread)) {
        this.loaded.add(thread);
        await this.older(thread);
      }
      if (task) await Promise.all(this.around(task).map((one) => this.log(one)));
    } catch (error) {
      this.loaded.delete(thread);
      // That nobody is signed in, or that the service is away, stands above.
      if (error.status !== 0 && error.status !== 401) this.way.toast(error.message);
    }
    this.way.draw();
  }

  // What has happened to a task so far; what comes is told by the stream.
  async log({ task }) {
    if (this.model.whole.has(task)) return;
    const reading = this.reading;
    if (!reading.has(task)) reading.set(task, loadLog(task).finally(() => reading.delete(task)));
    const log = await reading.get(task);
    // What was read before everything was forgotten may be of another record.
    if (reading === this.reading) this.model.keepLog(task, log);
  }

  async seek(id) {
    try {
      this.single.set(id, await loadTask(id));
    } catch (error) {
      if (error.status !== 404) return;
    }
    this.sought = true;
  }

  async older(thread) {
    const first = this.model.thread(thread)[0];
    const before = this.model.more.has(thread) && first ? `&before=${first.id}` : "";
    const page = await load(`/api/console/messages?thread=${encodeURIComponent(thread)}${before}`);
    page.messages.forEach((entry) => this.model.take(entry));
    this.model.more.set(thread, page.more);
  }

  async showOlder() {
    const talk = this.at("talk");
    const height = talk.scrollHeight;
    await this.older(this.thread());
    this.talk.follow = false;
    this.way.draw();
    talk.scrollTop += talk.scrollHeight - height;
  }

  // Everything is loaded anew: the service could not tell what has changed.
  forget() {
    this.loaded.clear();
    this.single.clear();
    this.reading = new Map();
    this.fill();
  }

  async give(text, event, { files, device }) {
    const thread = this.thread();
    const task = this.task(this.id);
    const command = text.startsWith("/");
    const over = task !== null && task.outcome !== null;
    if (thread === null && !command && !over) {
      // Without a thread of its own the words would be a task of the console.
      this.way.toast(say("page.send.slash"));
      return false;
    }
    if (thread === null && !command) {
      // What follows up a task of another chat is asked for here.
      const follows = this.model.offline ? "" : task.task;
      const made = await this.way.post("/api/v1/tasks", { text, follows, phone: device, files }, event);
      if (made) go("task", made.id);
      return made !== null;
    }
    const reply = await this.way.post("/api/console/messages", { text, thread: thread ?? "", event, files, device: command ? "" : device });
    if (reply?.task) go("task", reply.task);
    return reply !== null;
  }

  async answer(asked, text) {
    this.talk.follow = true;
    return (await this.way.post(`/api/v1/tasks/${asked.task}/answer`, { text, question: asked.question })) !== null;
  }

  // What comes of it is seen, wherever one has scrolled to. A button that a task's log has names what it is about by itself.
  async press(button, entry = null) {
    this.talk.follow = true;
    const body = { data: button.data, message: Number.isInteger(entry?.id) ? String(entry.id) : "", thread: this.thread() ?? "", event: uniqueId() };
    const reply = await this.way.post("/api/console/presses", body);
    if (reply?.task) go("task", reply.task);
  }

  look(reference) {
    const thread = this.thread();
    const entries = thread === null ? [] : this.model.thread(thread).filter((entry) => entry.content.picture);
    const asked = this.model.log(this.id).filter((event) => event.kind === "asked" && pictureOf(event));
    const steps = pictures(this.model.steps(this.id));
    const shown = [
      ...steps,
      ...[...entries.map(({ content }) => ({ reference: content.picture, words: content.heading || content.body.slice(0, 140) })),
        ...asked.map((event) => ({ reference: pictureOf(event), words: event.text.slice(0, 140) }))]
        .filter((picture) => !steps.some((step) => step.reference === picture.reference)),
    ];
    if (!shown.some((picture) => picture.reference === reference)) shown.push({ reference, words: "" });
    this.viewer.open(shown, reference);
  }
}

// The line below a task's title: its number, its phone, and who gave it elsewhere.
export function about(task, model) {
  const who = task.platform !== "web" ? say("page.task.given", { person: task.person, platform: platformName(task.platform) }) : "";
  return [say("page.task.number", { task: task.task }), phonesOf(task, model), who].filter(Boolean).join(" · ");
}

// What stands at the right of a task's title: the way to its other page, and where it stands.
export function sides(task, page) {
  const links = [["task", say("page.task.talk")], ["replay", say("page.task.replay")]];
  const tabs = h("nav", { class: "tabs", "aria-label": say("page.task.pages") }, ...links.map(([name, words]) =>
    h("a", { href: href(name, task.task), "aria-current": name === page ? "page" : null }, words)));
  return [badge(standing(task)), tabs];
}
