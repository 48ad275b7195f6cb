// The phone of the selected task: its screen, what is happening, and the buttons that stop it.

import { h, setText } from "./dom.js";
import { StageHand } from "./hand.js";
import { drawButtons } from "./message.js";
import { Screen } from "./screen.js";
import { duration } from "./when.js";
import { say } from "./words.js";

export class Stage {
  constructor(root, act) {
    this.act = act;
    this.root = root;
    this.screen = new Screen((reference) => act.look(reference));
    this.heading = h("h2");
    this.trouble = h("p", { class: "trouble" });
    this.body = h("p", { class: "body" });
    this.footer = h("p", { class: "footer" });
    this.fill = h("i");
    this.bar = h("div", { class: "bar", role: "progressbar", "aria-label": say("page.stage.steps"), "aria-valuemin": 0 }, this.fill);
    this.clock = h("p", { class: "footer" });
    this.buttons = h("div", { class: "row", hidden: true });
    root.append(h("div", { class: "card" }, this.screen.root,
      h("div", { class: "caption" }, this.heading, this.trouble, this.bar, this.buttons, this.body, this.footer, this.clock)));
    this.hand = new StageHand(this.screen.root);
  }

  // `asked` is an open question: what it shows is newer than the card.
  draw(task, card, phone, asked) {
    this.root.hidden = !task;
    this.task = task;
    this.hand.draw(task, phone);
    if (!task) return;
    this.card = card;
    const content = card?.content;
    const reference = asked?.frame || content?.picture || task.frame || "";
    this.screen.root.disabled = !reference;
    this.screen.root.setAttribute("aria-label", say(reference ? "page.stage.enlarge" : "page.stage.none"));
    this.screen.show(reference, { words: say(`page.stage.${task.outcome ? "never" : task.state === "queued" ? "queued" : "none"}`), alt: phone ? say("page.stage.screen", { phone: phone.name }) : say("page.picture.alt") });
    // The title of the page says what the task is; here stands what holds it.
    setText(this.heading, phone?.name || task.phone_name || (task.state === "queued" ? say("page.stage.waiting") : say("page.task.number", { task: task.task })));
    const away = task.outcome === null && phone !== null && !phone.usable;
    setText(this.trouble, away ? troubleOf(phone) : "");
    setText(this.body, content?.body || (task.outcome ? task.summary : ""));
    setText(this.footer, content?.footer || "");
    const part = task.outcome === "succeeded" ? 1 : Math.min(1, task.steps / Math.max(1, task.max_steps));
    this.bar.hidden = task.outcome !== null || task.started === null;
    this.bar.setAttribute("aria-valuenow", task.steps);
    this.bar.setAttribute("aria-valuemax", task.max_steps);
    this.fill.style.width = `${Math.round(part * 100)}%`;
    drawButtons(this.buttons, content?.buttons ?? [], (button) => this.act.press(this.card, button));
    this.tick();
  }

  // Called every second: the time that it takes.
  tick() {
    const task = this.task;
    if (!task) return;
    const end = task.outcome === null ? Date.now() / 1000 : task.ended;
    const took = task.started && end ? duration(end - task.started) : "";
    setText(this.clock, took);
  }
}

function troubleOf(phone) {
  const reason = phone.reason || say(`page.health.${phone.state.replaceAll(" ", "_")}`);
  return phone.fix ? say("page.stage.trouble", { reason, fix: phone.fix }) : reason;
}
