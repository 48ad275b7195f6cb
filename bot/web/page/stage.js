// The phone of the selected task: its screen, what is happening, and the buttons that stop it.

import { h, setText } from "./dom.js";
import { StageHand } from "./hand.js";
import { drawButtons } from "./message.js";
import { Screen } from "./screen.js";
import { duration } from "./when.js";
import { counted, say } from "./words.js";

export class Stage {
  constructor(root, act) {
    this.act = act;
    this.root = root;
    this.screen = new Screen((reference) => act.look(reference));
    this.heading = h("h2");
    this.trouble = h("p", { class: "trouble" });
    this.body = h("p", { class: "body" });
    this.footer = h("p", { class: "footer" });
    this.plan = h("ol", { class: "plan", "aria-label": say("page.stage.plan"), hidden: true });
    this.clock = h("p", { class: "footer clock" });
    this.buttons = h("div", { class: "row", hidden: true });
    root.append(h("div", { class: "card" }, this.screen.root,
      h("div", { class: "caption" }, this.heading, this.clock, this.trouble, this.body, this.buttons, this.plan, this.footer)));
    this.hand = new StageHand(this.screen.root, (picture) => this.keep(picture));
  }

  // `asked` is an open question: what it shows is newer than the card.
  draw(task, phone, asked) {
    const card = task?.card;
    const told = card?.frame || task?.frame || "";
    const reference = asked?.frame || told;
    if (this.told !== told || this.task?.task !== task?.task) this.kept = false;
    this.told = told;
    const over = Boolean(task) && task.outcome !== null;
    this.blank = over && !reference && task.todos.length === 0;
    this.root.hidden = !task || this.blank;
    this.task = task;
    this.hand.draw(task, phone, asked);
    if (!task) return;
    this.root.classList.toggle("blank", over && !reference);
    this.screen.root.disabled = !reference;
    const none = say(`page.stage.${task.outcome ? "never" : task.state === "queued" ? "queued" : "none"}`);
    this.screen.root.setAttribute("aria-label", reference ? say("page.stage.enlarge") : none);
    const mark = reference === card?.frame ? card.mark : null;
    if (!this.kept) this.screen.show(reference, { mark, words: none, alt: phone ? say("page.stage.screen", { phone: phone.name }) : say("page.picture.alt") });
    // The title of the page says what the task is; here stands what holds it.
    setText(this.heading, phone?.name || task.phone_name || (task.state === "queued" ? say("page.stage.waiting") : say("page.task.number", { task: task.task })));
    const away = task.outcome === null && phone !== null && !phone.usable;
    setText(this.trouble, away ? troubleOf(phone) : "");
    // How it ended, and what came of it, is told beside it.
    setText(this.body, card?.body ?? "");
    setText(this.footer, card?.footer ?? "");
    this.drawPlan(task.todos);
    drawButtons(this.buttons, card?.buttons ?? [], (button) => this.act.press(button));
    this.tick();
  }

  // What a person has just left is newer than what the task has told.
  keep(picture) {
    this.kept = true;
    this.screen.keep(picture);
  }

  // The plan where there is one; nothing tells how many steps there will be.
  drawPlan(todos) {
    this.plan.hidden = todos.length === 0;
    const mark = JSON.stringify(todos);
    if (this.plan.dataset.mark === mark) return;
    this.plan.dataset.mark = mark;
    this.plan.replaceChildren(...todos.map((todo) => h("li", { class: todo.state.replaceAll(" ", "-"), "aria-current": todo.state === "in progress" ? "step" : null },
      h("span", { class: "unseen" }, say(`page.todo.${todo.state.replaceAll(" ", "_")}`), " "), todo.title)));
  }

  // Called every second: the time that it takes.
  tick() {
    const task = this.task;
    if (!task) return;
    const end = task.outcome === null ? Date.now() / 1000 : task.ended;
    const took = task.started && end ? duration(end - task.started) : "";
    const steps = task.steps ? counted("step", task.steps) : "";
    setText(this.clock, [took, steps].filter(Boolean).join(" · "));
  }
}

function troubleOf(phone) {
  const reason = phone.reason || say(`page.health.${phone.state.replaceAll(" ", "_")}`);
  return phone.fix ? say("page.stage.trouble", { reason, fix: phone.fix }) : reason;
}
