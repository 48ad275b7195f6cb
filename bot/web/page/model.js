// What the page knows: messages by id, tasks, phones, questions. The service is right; this only remembers.

import { say } from "./words.js";

const KEPT = 300; // tasks; those before are asked for where they are shown

export class Model {
  constructor() {
    this.entries = new Map();
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

  questionOf(message) {
    return this.questions.find((question) => question.message === String(message)) ?? null;
  }

  questionsOf(task) {
    return this.questions.filter((question) => question.task === task);
  }

  // The live card of a task: the one changed last.
  card(thread, task) {
    if (!thread) return null;
    const cards = this.thread(thread).filter((entry) => isCard(entry) && entry.content.task === task);
    return cards.reduce((latest, card) => (!latest || card.revision > latest.revision ? card : latest), null);
  }
}

function merged(known, changed) {
  const tasks = new Map([...known, ...changed].map((task) => [task.task, task]));
  return [...tasks.values()].sort((one, other) => Number(other.task) - Number(one.task)).slice(0, KEPT);
}

export function isCard(entry) {
  return entry.content.card;
}

// Whether a message tells how its task ended.
export function tellsEnd(entry) {
  return entry.content.final;
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
