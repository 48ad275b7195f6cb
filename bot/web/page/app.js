// The page: one event stream, one view at a time.

import { returned } from "./again.js";
import { Banner } from "./banner.js";
import { Check } from "./check.js";
import { Connect } from "./connect.js";
import { Conversation, sides } from "./conversation.js";
import { h, inOrder, knowSettings, setLinked, setText } from "./dom.js";
import { Entry } from "./entry.js";
import { Fleet } from "./fleet.js";
import { HandPage } from "./hand.js";
import { History } from "./history.js";
import { Model, standing } from "./model.js";
import { notice, offerNotices } from "./notify.js";
import { KEYS, Palette } from "./palette.js";
import { Replay } from "./replay.js";
import { go, here, href } from "./route.js";
import { SchedulePage } from "./schedules.js";
import { Events, load, send, version } from "./service.js";
import { PLACES, Side } from "./side.js";
import { Setup } from "./setup.js";
import { SkillPage } from "./skills.js";
import { Title } from "./title.js";
import { Consumption } from "./usage.js";
import { say, translate } from "./words.js";

const TOAST_MS = 4000;
const TALK = new Set(["console", "task"]);

const at = (id) => document.getElementById(id);
translate(document);
const model = new Model();
const way = { post, toast, draw: () => draw() };
const side = new Side({ places: at("places"), tasks: at("task-list"), phones: at("phone-list"), model: at("model") });
const banner = new Banner(at("banner"));
knowSettings((name) => {
  const form = model.settings[name.toLowerCase()];
  return form ? href("connect", form, { field: name.toLowerCase() }) : "";
});
const headline = new Title({ title: at("title"), about: at("about"), whole: at("whole") });
const conversation = new Conversation(model, at, way);
const pages = {
  tasks: new History(model),
  replay: new Replay(model, way),
  phones: new Fleet(model),
  hand: new HandPage(model),
  usage: new Consumption(model),
  check: new Check(model, way),
  connect: new Connect(model, way),
  setup: new Setup(model, way),
  skills: new SkillPage(model, way),
  schedules: new SchedulePage(model, way),
};
const entry = new Entry({ root: at("entry"), app: at("app") }, () => {
  clearTimeout(begin.timer);
  if (model.ready) events.hurry();
  else begin();
});
const events = new Events({ message: heard, event: happened, state: told, link, reset, back });
const palette = new Palette(at("palette"), model, PLACES, (text) => conversation.compose(text));
const scrolled = new Map();
let page = null;
let unread = 0;
let mark = ""; // the version of the page that is loaded

function view() {
  return pages[here().name] ?? conversation;
}

function turn() {
  const { id, query } = here();
  const next = view();
  if (page !== next) {
    if (page) scrolled.set(page, at("view").scrollTop);
    page?.close?.();
  }
  page = next;
  const talks = page === conversation;
  at("main").classList.toggle("paged", !talks);
  for (const part of ["talk", "say"]) at(part).hidden = !talks;
  at("view").hidden = talks;
  if (talks) at("main").classList.remove("paged");
  else {
    at("stage").hidden = true;
    at("main").classList.remove("home");
    at("view").replaceChildren(page.root);
  }
  page.open(id, query);
  const hadFocus = at("side").classList.contains("open");
  drawer(false);
  draw();
  // The list of tasks is found again as it was left.
  at("view").scrollTop = page === pages.tasks ? (scrolled.get(page) ?? 0) : 0;
  if (model.ready && page.focus) page.focus();
  else if (hadFocus) at("view").focus();
}

function draw() {
  const route = here();
  const held = at("main").contains(document.activeElement) ? document.activeElement : null;
  page.draw();
  const heading = page.heading();
  headline.draw(heading, route);
  side.draw(model, route);
  banner.draw(model, route);
  const shown = heading.task ? `${route.name} ${heading.task.task} ${standing(heading.task)}` : "";
  if (at("badge").dataset.mark !== shown) {
    at("badge").dataset.mark = shown;
    at("badge").replaceChildren(...(heading.task ? sides(heading.task, route.name) : []));
  }
  const title = route.name === "console" ? say("page.title") : `${heading.title} · OpenGUI`;
  // What waits for an answer counts whether the page is looked at or not.
  const wanted = model.questions.length + unread;
  document.title = inOrder(wanted ? `(${wanted}) ${title}` : title);
  // What was pressed or typed in may be gone with the answer; the keyboard goes on in the box then.
  if (held && held.getClientRects().length === 0 && page.focus && !at("app").inert) page.focus();
}

function heard(entry) {
  const fresh = !model.entries.has(entry.id);
  if (!model.take(entry)) return;
  const { heading, body, notify } = entry.content;
  const task = model.tasks.find((one) => one.thread && one.thread === entry.thread);
  if (fresh && entry.author === "bot" && !entry.deleted) announce(heading, body, { notify, task: task?.task });
  draw();
}

function happened(event) {
  if (!model.happened(event)) return;
  const { kind, task } = event;
  const text = model.task(task)?.text ?? say("page.task.number", { task });
  if (kind === "asked") announce(event.text, event.detail, { notify: true, asks: true, task });
  else if (kind === "final") announce(text, event.text, { notify: !event.quiet, task });
  else if (kind === "state") announce(text, event.text, { notify: true, task });
  else if (kind === "file") announce(text, event.name, { task });
  draw();
}

// What asks is counted as long as it is open, whether it is read or not.
function announce(heading, body, { notify = false, asks = false, task = "" }) {
  at("news").append(h("p", {}, [heading, body].filter(Boolean).join(". ").slice(0, 400)));
  while (at("news").children.length > 5) at("news").firstChild.remove();
  if (!document.hidden || !notify) return;
  if (!asks) unread += 1;
  notice(heading || model.task(task)?.text, body, `task ${task}`, () => task && go("task", task));
}

function told(state) {
  const before = here().id ? conversation.task(here().id) : null;
  model.state(state);
  page.told?.(before);
  draw();
}

function link(kind, error = null) {
  if (kind === "on") returned();
  if (kind === "on" && entry.hide()) page.focus?.();
  else if (kind === "locked") entry.show(error?.signIn ?? false);
  at("link").className = `link ${kind === "on" ? "on" : "off"}`;
  setText(at("link"), say(`page.link.${kind}`));
  at("away").hidden = kind !== "away";
  setText(at("away"), kind === "away" ? say("page.link.away_long") : "");
}

// Too much has changed to be told one by one. What comes from now on is told as ever, so nothing falls in between.
function reset() {
  model.forget();
  conversation.forget();
  draw();
}

// After an update of the service its page is loaded anew; a line that was begun stays. Who is about to answer a question
// is left alone until the next time.
async function back() {
  const now = await version();
  const typing = [...document.querySelectorAll(".reply input")].some((field) => field.value !== "");
  if (!now || !mark || now === mark || typing) return;
  location.reload();
  await new Promise(() => {});
}

function toast(text) {
  const box = at("toast");
  setLinked(box, text);
  box.classList.add("on");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.classList.remove("on"), TOAST_MS);
}

async function post(path, body, key) {
  try {
    const reply = await send(path, body, key);
    if (reply.toast) toast(reply.toast);
    return reply;
  } catch (error) {
    if (error.status === 401) link("locked", error);
    toast(say("page.send.failed", { why: error.message }));
    return null;
  }
}

function drawer(open) {
  at("side").classList.toggle("open", open);
  at("menu").setAttribute("aria-expanded", String(open));
}

function wire() {
  // The part behind the # is where the page is; a jump within it must not change that.
  at("skip").addEventListener("click", (event) => {
    event.preventDefault();
    if (page.focus) page.focus();
    else at("view").focus();
  });
  at("menu").addEventListener("click", () => {
    drawer(true);
    at("close").focus();
  });
  at("close").addEventListener("click", () => {
    drawer(false);
    at("menu").focus();
  });
  at("seek").addEventListener("click", () => palette.open());
  at("seek-key").textContent = KEYS;
  offerNotices(at("bell"));
  at("veil").addEventListener("click", () => drawer(false));
  at("side").addEventListener("keydown", (event) => event.key === "Escape" && at("close").click());
  at("leave").addEventListener("click", async () => {
    await post("/api/sign-out", {});
    location.reload();
  });
  window.addEventListener("hashchange", turn);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) unread = 0;
    draw();
  });
}

async function begin() {
  try {
    const state = await load("/api/state");
    model.state({ ...state, whole: true });
    model.ready = true;
    at("leave").hidden = !state.signed_in;
    events.open(state.cursor);
    turn();
  } catch (error) {
    link(error.status === 401 ? "locked" : "away", error);
    begin.timer = setTimeout(begin, 2000);
  }
}

wire();
turn();
begin();
mark = await version();
