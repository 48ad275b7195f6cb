// One message of the conversation: built once, then changed in place.

import { arrange, frameUrl, h, icon, setLinked, setText, setWords } from "./dom.js";
import { show } from "./picture.js";
import { drawMenu } from "./menu.js";
import { duration } from "./when.js";
import { has, say } from "./words.js";

const KINDS = { "ask": "ask", "approve": "approve", "take over": "take_over", "secret": "secret" };

const PICTURE = /\.(gif|webp|png|jpe?g)$/i;

// `act` has press(button, entry), answer(question, text) and look(reference).
export class MessageView {
  constructor(act) {
    this.act = act;
    this.kind = h("div", { class: "kind", hidden: true });
    this.heading = h("h2");
    this.text = h("div", { class: "text" });
    this.files = h("div", { class: "files", hidden: true });
    this.reply = h("form", { class: "reply", hidden: true });
    this.buttons = h("div", { class: "row", hidden: true });
    this.menu = h("form", { class: "menu", hidden: true });
    this.sand = h("i");
    this.left = h("div", { class: "left", role: "timer", hidden: true });
    this.wrong = h("p", { class: "wrong-code", role: "alert", hidden: true });
    this.footer = h("div", { class: "footer" });
    this.thumb = h("button", { class: "thumb", type: "button", "aria-label": say("page.picture.show"), hidden: true,
      onclick: () => this.entry.content.picture && act.look(this.entry.content.picture) });
    this.glass = h("div", { class: "glass", "aria-hidden": "true", hidden: true }, this.sand);
    this.inner = h("div", { class: "inner" }, this.kind, this.heading, this.text, this.files, this.wrong, this.menu, this.reply, this.buttons,
      this.glass, this.left, this.footer);
    this.root = h("li", { class: "message" }, this.thumb, this.inner);
  }

  // `question` is the open question that it asks, null for any other.
  draw(entry, question) {
    const changed = this.entry?.revision !== entry.revision;
    this.entry = entry;
    const content = entry.content;
    const operator = entry.author === "operator";
    const loud = !operator && content.notify;
    this.root.className = ["message", operator ? "operator" : "", loud ? "loud" : "",
      question ? `question ${KINDS[question.kind] ?? "ask"}` : "", content.picture && loud ? "pictured" : ""].filter(Boolean).join(" ");
    this.root.dataset.id = entry.id;
    this.drawQuestion(question);
    // The line above says what kind of question it is, and the page's title of which task. What is asked is always read.
    this.heading.hidden = question !== null && content.heading !== question.text.trim() && Boolean(content.body);
    setText(this.heading, content.heading);
    if (!changed) {
      this.withhold(question);
      return;
    }
    setLinked(this.text, content.body);
    setWords(this.footer, content.footer);
    this.thumb.hidden = !content.picture;
    if (content.picture) show(this.thumb, content.picture, content.heading || say("page.picture.alt"), () => this.lost());
    this.files.hidden = content.files.length === 0;
    this.files.replaceChildren(...content.files.map((file) => this.file(file)));
    drawMenu(this.menu, content.menu, (choice) => this.act.press(choice, this.entry));
    drawButtons(this.buttons, content.buttons, (button) => this.act.press(button, this.entry));
    this.withhold(question);
  }

  // Who may not answer it is offered no answer, and told who does.
  withhold(question) {
    const withheld = question !== null && question.allowed === false;
    this.buttons.hidden = withheld || this.buttons.children.length === 0;
    this.footer.hidden = withheld;
    if (withheld) setText(this.kind, say("page.question.not_allowed"));
  }

  // A picture among the files, such as the recap of a run, is shown; who wants no motion gets its name alone.
  file(file) {
    const link = h("a", { href: frameUrl(file.reference), download: file.name }, icon("file"), file.name);
    if (!PICTURE.test(file.name) || matchMedia("(prefers-reduced-motion: reduce)").matches) return link;
    const thumb = h("button", { class: "thumb", type: "button", "aria-label": say("page.picture.open", { name: file.name }),
      onclick: () => this.act.look(file.reference) });
    show(thumb, file.reference, file.name, () => document.createTextNode(say("page.picture.gone")));
    return h("div", { class: "shown" }, thumb, link);
  }

  lost() {
    this.thumb.classList.add("lost");
    return document.createTextNode(say("page.picture.gone"));
  }

  drawQuestion(question) {
    this.question = question;
    this.tick();
    this.kind.hidden = !question;
    this.wrong.hidden = !question?.again;
    setText(this.wrong, question?.again ? say("page.question.wrong_code") : "");
    if (question?.to && this.told !== question.question) this.tellMessage(question);
    const writes = question && (question.kind === "ask" || question.kind === "secret");
    if (question) setText(this.kind, say(`page.question.${question.again ? "secret_again" : (KINDS[question.kind] ?? "ask")}`));
    if (writes && this.reply.hidden) this.buildReply(question.kind === "secret");
    this.reply.hidden = !writes;
    if (!writes && this.reply.firstChild) this.reply.replaceChildren();
  }

  // The approval of a message: what goes out, to whom and where; the rest of what the screen says is folded, unless it has
  // changed since it was allowed.
  tellMessage({ question, sends, to, anew }) {
    this.told = question;
    const rows = [["message", sends], ["to", to.name], ["app", to.app_name || to.app]].filter(([, words]) => words);
    const raw = h("details", { class: "approval-details", open: anew }, h("summary", {}, say("page.question.details")));
    this.text.replaceWith(h("dl", { class: "approval" }, ...rows.flatMap(([name, words]) => [h("dt", {}, say(`page.question.${name}`)), h("dd", {}, words)])), raw);
    raw.append(this.text);
  }

  // Called every second: how long the question is still open.
  tick() {
    const expires = this.question?.expires ?? null;
    this.left.hidden = this.glass.hidden = expires === null;
    if (expires === null) return;
    const whole = expires - (this.question.asked ?? expires - 900);
    this.sand.style.width = `${Math.max(0, Math.min(100, (100 * (expires - Date.now() / 1000)) / whole))}%`;
    const seconds = expires - Date.now() / 1000;
    setText(this.left, seconds > 0 ? say("page.question.left", { time: duration(seconds) }) : say("page.question.over"));
  }

  // Where the code goes that is asked for here; null where none is.
  get codeField() {
    return this.question?.kind === "secret" ? this.reply.querySelector("input") : null;
  }

  buildReply(secret) {
    const label = say(secret ? "page.answer.secret" : "page.answer.label");
    const input = h("input", { type: secret ? "password" : "text", placeholder: label, "aria-label": label,
      autocomplete: "off", maxlength: 20000, spellcheck: "false" });
    const give = h("button", { class: "button primary", type: "submit" }, say(secret ? "page.answer.type" : "page.answer.give"));
    this.reply.replaceChildren(input, give);
    this.reply.onsubmit = async (event) => {
      event.preventDefault();
      const text = secret ? input.value : input.value.trim();
      if (!text || give.getAttribute("aria-disabled") === "true") return;
      // Not `disabled`: that would take the focus away.
      give.setAttribute("aria-disabled", "true");
      if (await this.act.answer(this.question, text)) input.value = "";
      give.removeAttribute("aria-disabled");
    };
  }
}

export function drawButtons(row, rows, press) {
  const buttons = rows.flat();
  row.hidden = buttons.length === 0;
  const same = buttons.length === row.children.length && buttons.every((button, index) => row.children[index].dataset.data === button.data);
  if (same) {
    buttons.forEach((button, index) => dress(row.children[index], button));
    return;
  }
  arrange(row, buttons.map((button) => {
    const element = h("button", { type: "button", "data-data": button.data });
    element.addEventListener("click", async () => {
      if (element.getAttribute("aria-disabled") === "true") return;
      // Not `disabled`: that would take the focus away.
      element.setAttribute("aria-disabled", "true");
      await press(button);
      element.removeAttribute("aria-disabled");
    });
    dress(element, button);
    return element;
  }));
}

function dress(element, button) {
  // One button stands out, the one that lets the work go on; one that stops it is there, and quiet.
  const style = { success: "primary", danger: "quiet stop", secondary: "" }[button.style] ?? button.style;
  element.className = `button ${style}`;
  setText(element, button.label);
}

export function badge(word) {
  return h("span", { class: `badge ${word}` }, named(word));
}

// A state or an outcome in words.
export function named(word) {
  return has(`page.standing.${word}`) ? say(`page.standing.${word}`) : word;
}
