// What stands above every page: what holds up all work, how a model fails, and what waits for the person who looks.

import { arrange, h, icon, setLinked } from "./dom.js";
import { href } from "./route.js";
import { say } from "./words.js";

const MOST = 3;

export class Banner {
  constructor(root) {
    this.root = root;
    this.rows = new Map();
  }

  draw(model, route) {
    const { modelState: state, admin } = model;
    const held = model.heldUp.map((text) => this.row(`held ${text}`, "bad", text));
    const fails = state?.status === "failing" ? [this.row(`model ${state.text} ${admin}`, "warn",
      [say("page.banner.model", { model: state.model, state: state.text }), admin ? state.remedy : ""].filter(Boolean).join(" "),
      admin && route.name !== "connect" ? h("a", { class: "button", href: href("connect", "model") }, say("page.place.connect")) : null)] : [];
    const asks = model.questions.filter((one) => one.allowed && !(route.name === "task" && route.id === one.task));
    const waits = asks.slice(0, MOST).map((one) => this.row(`asks ${one.question}`, "asks",
      say("page.banner.asks", { text: one.text.trim().split("\n")[0] || model.task(one.task)?.text || "" }),
      h("a", { class: "button", href: href("task", one.task), "aria-label": say("page.banner.answer_of", { task: one.task }) }, say("page.banner.answer"))));
    const more = asks.length > MOST ? [this.row(`more ${asks.length}`, "asks", say("page.banner.more", { number: asks.length - MOST }),
      h("a", { class: "button", href: href("tasks", "", { standing: "waiting" }) }, say("page.place.tasks")))] : [];
    const rows = [...held, ...waits, ...more, ...fails];
    for (const [mark, row] of this.rows) if (!rows.includes(row)) this.rows.delete(mark);
    arrange(this.root, rows);
    this.root.hidden = rows.length === 0;
  }

  // Built once for what it says, so that neither the keyboard nor a reader is disturbed.
  row(mark, kind, text, way = null) {
    let row = this.rows.get(mark);
    if (!row) this.rows.set(mark, (row = h("li", { class: kind }, icon({ asks: "bell", bad: "pause", warn: "spark" }[kind]), setLinked(h("span"), text), way)));
    return row;
  }
}
