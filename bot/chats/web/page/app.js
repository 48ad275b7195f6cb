// The console: one page, one event stream, one selected place.

import { h, setText, uniqueId } from "./dom.js";
import { badge } from "./message.js";
import { Model, isCard, platformName, standing } from "./model.js";
import { Viewer } from "./picture.js";
import { Say } from "./say.js";
import { Events, load, send } from "./service.js";
import { Side } from "./side.js";
import { Stage } from "./stage.js";
import { Talk } from "./talk.js";

const EXAMPLES = [
  ["do open settings and turn on dark mode", "Give a task to a phone"],
  ["devices", "See the phones and what they need"],
  ["help", "Everything that can be typed here"],
];
const TOAST_MS = 4000;
const AWAY = {
  away: "The service is away. This page connects again by itself.",
  locked: "The service was started anew. Open the address that it printed: it carries the new token.",
};

const at = (id) => document.getElementById(id);
const model = new Model();
const viewer = new Viewer(at("viewer"));
const act = { press, answer, look };
const side = new Side({ home: at("home"), tasks: at("tasks"), phones: at("phones") }, select);
const stage = new Stage(at("stage"), act);
const talk = new Talk({ talk: at("talk"), messages: at("messages"), older: at("older"), latest: at("latest") }, act);
const say = new Say({ form: at("say"), line: at("line"), label: at("line-label"), hint: at("hint") }, give);
const events = new Events({ message: heard, state: told, link });
const loaded = new Set();
let unread = 0;

function selected() {
  return location.hash.startsWith("#task-") ? decodeURIComponent(location.hash.slice(6)) : "";
}

function select(task) {
  location.hash = task ? `#task-${encodeURIComponent(task)}` : "#";
  drawer(false);
  at("line").focus();
}

function here() {
  const id = selected();
  const task = id ? model.task(id) : null;
  return { id, task, thread: id ? (task?.thread ?? null) : "" };
}

function draw() {
  const { id, task, thread } = here();
  const home = id === "";
  const phone = task ? model.phone(task.phone) : null;
  side.draw(model, id);
  at("main").classList.toggle("home", home);
  setText(at("title"), home ? "Console" : (task?.text ?? `Task ${id}`));
  const who = task && task.platform !== "web" ? `${task.person} in ${platformName(task.platform)}` : "";
  setText(at("about"), task ? [`Task ${task.task}`, phone?.name, who].filter(Boolean).join(" · ") : home ? "" : "There is no such task.");
  if (at("badge").dataset.standing !== (task ? standing(task) : "")) {
    at("badge").dataset.standing = task ? standing(task) : "";
    at("badge").replaceChildren(...(task ? [badge(standing(task))] : []));
  }
  stage.draw(task, model.card(thread), phone);
  at("empty").hidden = !home || model.thread("").length > 0;
  talk.draw(model, thread, task);
  say.draw(task, thread, task ? model.questionsOf(task.task) : []);
  const title = home || !task ? "OpenGUI console" : `${task.text} · OpenGUI`;
  document.title = unread ? `(${unread}) ${title}` : title;
}

async function fill() {
  const { task, thread } = here();
  try {
    if (thread !== null && !loaded.has(thread)) {
      loaded.add(thread);
      await older(thread);
    } else if (task && thread === null && task.platform !== "web") {
      talk.foreign.set(task.task, (await load(`/api/tasks/${encodeURIComponent(task.task)}/steps`)).steps);
    }
  } catch (error) {
    loaded.delete(thread);
    if (error.status !== 0) toast(error.message);
  }
  draw();
}

async function older(thread) {
  const first = model.thread(thread)[0];
  const before = model.more.has(thread) && first ? `&before=${first.id}` : "";
  const page = await load(`/api/messages?thread=${encodeURIComponent(thread)}${before}`);
  page.messages.forEach((entry) => model.take(entry));
  model.more.set(thread, page.more);
}

function heard(entry) {
  const fresh = !model.entries.has(entry.id);
  if (!model.take(entry)) return;
  if (fresh && entry.author === "bot" && !entry.deleted && !isCard(entry)) announce(entry);
  draw();
}

function announce(entry) {
  at("news").append(h("p", {}, [entry.content.heading, entry.content.body].filter(Boolean).join(". ").slice(0, 400)));
  while (at("news").children.length > 5) at("news").firstChild.remove();
  if (document.hidden && entry.content.notify) unread += 1;
}

function told(state) {
  const steps = here().task?.steps;
  const unknown = here().thread === null;
  model.state(state);
  const now = here();
  if (now.task && (now.task.steps !== steps || unknown || !loaded.has(now.thread))) fill();
  else draw();
}

function link(kind) {
  at("link").className = `link ${kind === "on" ? "on" : "off"}`;
  setText(at("link"), kind === "on" ? "Connected" : kind === "locked" ? "Signed out" : "Reconnecting…");
  at("away").hidden = kind === "on";
  setText(at("away"), AWAY[kind] ?? "");
}

function toast(text) {
  const box = at("toast");
  box.textContent = text;
  box.classList.add("on");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.classList.remove("on"), TOAST_MS);
}

async function post(path, body) {
  try {
    const reply = await send(path, body);
    if (reply.toast) toast(reply.toast);
    return reply;
  } catch (error) {
    if (error.status === 401) link("locked");
    toast(`Not sent. ${error.message}`);
    return null;
  }
}

async function give(text, event) {
  const { thread } = here();
  if (thread === null && !text.startsWith("/")) {
    // Without a thread of its own the words would be read as a command of the console.
    toast("Not sent. Here a command begins with /.");
    return false;
  }
  const reply = await post("/api/say", { text, thread: thread ?? "", event });
  if (reply?.task) select(reply.task);
  return reply !== null;
}

async function answer(entry, text, secret) {
  return (await post("/api/say", { text, thread: entry.thread, event: uniqueId(), reply_to: String(entry.id), secret })) !== null;
}

async function press(entry, button) {
  const reply = await post("/api/press", { data: button.data, message: String(entry.id), thread: entry.thread, event: uniqueId() });
  if (reply?.task) select(reply.task);
}

function look(reference) {
  const { task, thread } = here();
  const entries = thread === null ? [] : model.thread(thread).filter((entry) => entry.content.picture);
  const steps = (thread === null ? talk.foreign.get(task?.task) ?? [] : []).filter((step) => step.frame);
  const pictures = [
    ...entries.map((entry) => ({ reference: entry.content.picture, words: entry.content.heading || entry.content.body.slice(0, 140) })),
    ...steps.map((step) => ({ reference: step.frame, words: step.summary })),
  ];
  if (!pictures.some((picture) => picture.reference === reference)) pictures.push({ reference, words: "" });
  viewer.open(pictures, reference);
}

function drawer(open) {
  at("side").classList.toggle("open", open);
  at("menu").setAttribute("aria-expanded", String(open));
}

function wire() {
  at("menu").addEventListener("click", () => {
    drawer(true);
    at("close").focus();
  });
  at("close").addEventListener("click", () => {
    drawer(false);
    at("menu").focus();
  });
  at("veil").addEventListener("click", () => drawer(false));
  at("side").addEventListener("keydown", (event) => event.key === "Escape" && at("close").click());
  at("older").addEventListener("click", async () => {
    const { thread } = here();
    const height = at("talk").scrollHeight;
    await older(thread);
    talk.follow = false;
    draw();
    at("talk").scrollTop += at("talk").scrollHeight - height;
  });
  at("empty").append(h("h2", {}, "What should the phone do?"), h("p", {}, "Type it below, or begin with one of these."),
    h("div", { class: "examples" }, ...EXAMPLES.map(([line, what]) =>
      h("button", { type: "button", onclick: () => say.fill(line) }, line, h("small", {}, what)))));
  window.addEventListener("hashchange", () => {
    draw();
    fill();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) unread = 0;
    draw();
  });
  setInterval(() => stage.tick(), 1000);
}

async function begin() {
  try {
    const state = await load("/api/state");
    model.state(state);
    events.open(state.revision);
    await fill();
    at("line").focus();
  } catch (error) {
    link(error.status === 401 ? "locked" : "away");
    setTimeout(begin, 2000);
  }
}

wire();
draw();
begin();
