// What the page knows: messages by id, tasks and what has happened to them, phones, questions. The service is right; this
// only remembers.

import { say } from "./words.js";

const KEPT = 300; // tasks; those before are asked for where they are shown

export class Model {
  constructor() {
    this.entries = new Map();
    this.logs = new Map(); // of tasks, and of the parts of those for several phones: events by number
    this.whole = new Set(); // those of these that are known from the beginning
    this.tasks = [];
    this.devices = [];
    this.questions = [];
    this.work = [];
    this.commands = [];
    this.may = [];
    this.modelState = null; // how the model is doing, as the service tells it; null while that is not known
    this.heldUp = []; // sentences: what nothing goes on without
    this.settings = {}; // those that are made in Connect, each with the form that has it
    this.more = new Map();
    this.ready = false;
  }

  // Nothing that was heard counts any more; what comes next is loaded anew.
  forget() {
    this.entries.clear();
    this.more.clear();
    this.logs.clear();
    this.whole.clear();
  }

  // Keeps an event of a task; false when it was known.
  happened(event) {
    const known = this.logs.get(event.task)?.has(event.number) ?? false;
    for (const id of [event.task, event.part].filter(Boolean)) {
      if (!this.logs.has(id)) this.logs.set(id, new Map());
      this.logs.get(id).set(event.number, event);
    }
    if (event.number === 1) this.whole.add(event.task);
    return !known;
  }

  // All that was told of a task, from its beginning.
  keepLog(id, events) {
    events.forEach((event) => this.happened(event));
    this.whole.add(id);
  }

  // What has happened to a task or a part, in order; nothing while that is not known from the beginning.
  log(id) {
    const events = this.whole.has(id) ? [...(this.logs.get(id)?.values() ?? [])] : [];
    return events.sort((one, other) => one.number - other.number);
  }

  steps(id) {
    return this.log(id).filter((event) => event.kind === "step");
  }

  // Keeps the newest revision of a message; false when this one is old news.
  take(entry) {
    const known = this.entries.get(entry.id);
    if (known && known.revision >= entry.revision) return false;
    this.entries.set(entry.id, entry);
    return true;
  }

  // How everything stands: the `whole` of it, or what has changed.
  state(state) {
    if (state.tasks) this.tasks = state.whole ? state.tasks : merged(this.tasks, state.tasks);
    // By name: in the order in which they are attached they would change places with every start.
    if (state.devices) state.devices.sort((one, other) => one.name.localeCompare(other.name) || one.id.localeCompare(other.id));
    for (const name of ["devices", "questions", "work", "commands", "may", "settings"]) if (state[name] !== undefined) this[name] = state[name];
    if (state.model_state) this.modelState = state.model_state;
    if (state.held_up) this.heldUp = state.held_up;
  }

  // Whether no model is set, so that the offline pilot works.
  get offline() {
    return this.modelState?.status === "offline";
  }

  get admin() {
    return this.may.includes("admin");
  }

  thread(thread) {
    return [...this.entries.values()]
      .filter((entry) => entry.thread === thread && !entry.deleted)
      .sort((one, other) => one.id - other.id);
  }

  task(id) {
    return this.tasks.find((task) => task.task === id) ?? null;
  }

  // The tasks whose conversation is this thread, the first one first: what follows up a task stays where that was.
  tasksOf(thread) {
    return thread ? this.tasks.filter((task) => task.thread === thread).reverse() : [];
  }

  // Whether it follows up a task in whose thread it is; one that does so from another chat has a thread of its own.
  staysWithFollowed(task) {
    const before = this.task(task.follows);
    return task.follows && (before === null || before.thread === task.thread);
  }

  // The task that a message of the console asked for.
  askedBy(message) {
    return this.tasks.find((task) => task.anchor === String(message)) ?? null;
  }

  phone(id) {
    return this.devices.find((device) => device.id === id) ?? null;
  }

  // The first option of a typed command that only a model could follow, where there is none.
  lacking(line) {
    const [, name, rest] = /^\/(\S+)\s([\s\S]*)$/.exec(line) ?? [];
    const command = this.offline ? this.commands.find((one) => one.name === name?.toLowerCase()) : null;
    const typed = new Set(rest?.split(/\s+/));
    return command?.options.find((option) => option.takes_model && typed.has(`--${option.name}`))?.name ?? "";
  }

  // What holds a phone now, and what waits for that one. A part of a task for several phones counts for its phone.
  workOf(device) {
    const work = this.work.filter((one) => one.phone === device.id);
    return { working: work.find((one) => one.holds) ?? null, waiting: work.filter((one) => one.state === "queued") };
  }

  // An open question, null for one that is over.
  question(id) {
    return this.questions.find((question) => question.question === id) ?? null;
  }

  questionsOf(task) {
    return this.questions.filter((question) => question.task === task);
  }
}

function merged(known, changed) {
  const tasks = new Map([...known, ...changed].map((task) => [task.task, task]));
  return [...tasks.values()].sort((one, other) => Number(other.task) - Number(one.task)).slice(0, KEPT);
}

export function platformName(platform) {
  return platform === "api" ? "API" : platform.charAt(0).toUpperCase() + platform.slice(1);
}

// One word for where a task stands: its outcome once it has one.
export function standing(task) {
  return task.outcome ?? task.state;
}

// The phone that a task has, by the name that it has now or had then, or how many phones it is for.
export function phonesOf(task, model) {
  if (task.phones > 1) return say("page.task.phones", { number: task.phones });
  return model.phone(task.phone)?.name || task.phone_name || task.phone;
}
