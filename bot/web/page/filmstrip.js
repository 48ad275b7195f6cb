// The steps of a task as a strip of whole screens, with a mark where each was touched; the newest is at the right.

import { stepWords } from "./action.js";
import { arrange, h } from "./dom.js";
import { Screen } from "./screen.js";
import { counted, say } from "./words.js";

const SHOWN = 12;

// `look(pictures, reference)` opens the pictures large.
export class Filmstrip {
  constructor(look) {
    this.look = look;
    this.items = new Map();
    this.all = false;
    this.more = h("button", { class: "link-button", type: "button", onclick: () => this.turn() });
    this.title = h("h2");
    this.list = h("ol", { tabindex: 0, "aria-label": say("page.stage.steps") });
    this.root = h("li", { class: "message film" }, h("div", { class: "film-head" }, this.title, this.more), this.list);
  }

  turn() {
    this.all = !this.all;
    this.draw(this.steps);
  }

  draw(steps) {
    const grown = steps.length !== this.steps?.length;
    this.steps = steps;
    const seen = this.all ? steps : steps.slice(-SHOWN);
    const first = steps.length - seen.length;
    this.title.textContent = counted("step", steps.length);
    this.more.hidden = steps.length <= SHOWN;
    this.more.textContent = say(this.all ? "page.film.fewer" : "page.film.all");
    arrange(this.list, seen.map((step, index) => this.item(step, first + index)));
    this.root.hidden = steps.length === 0;
    if (grown) requestAnimationFrame(() => (this.list.scrollLeft = this.list.scrollWidth));
  }

  item(step, index) {
    const known = this.items.get(index);
    if (known) return known;
    const words = stepWords(step);
    const screen = new Screen();
    screen.show(step.frame, { mark: step.mark, alt: "" });
    const picture = h("button", { type: "button", class: "shot", "aria-label": say("page.film.step", { number: index + 1, words }),
      onclick: () => this.open(index) }, screen.root);
    if (!step.frame) picture.disabled = true;
    const item = h("li", { class: step.denied ? "denied" : null }, picture, h("span", { class: "number" }, String(index + 1)),
      h("span", { class: "words", title: words }, words));
    this.items.set(index, item);
    return item;
  }

  open(index) {
    this.look(pictures(this.steps), this.steps[index].frame);
  }
}

export function pictures(steps) {
  return steps.map((step, index) => ({ reference: step.frame, mark: step.mark, words: `${index + 1}. ${stepWords(step)}` }))
    .filter((picture) => picture.reference);
}
