// Pictures that change without a flicker, and the viewer that shows them large.

import { onReturn } from "./again.js";
import { frameUrl, h, icon, inOrder, ringOf, setText, svg } from "./dom.js";
import { say } from "./words.js";

const WIDE = 0.7;

// Shows `reference` in `holder`: the new picture takes the old one's place only once it is decoded.
export async function show(holder, reference, alt, otherwise) {
  if (holder.dataset.reference === reference) {
    holder.querySelector("img")?.setAttribute("alt", alt);
    return;
  }
  holder.dataset.reference = reference;
  if (!reference) {
    holder.replaceChildren(otherwise());
    return;
  }
  const next = h("img", { src: frameUrl(reference), alt });
  try {
    await next.decode();
  } catch {
    if (holder.dataset.reference !== reference) return;
    if (!holder.querySelector("img")) holder.replaceChildren(otherwise());
    onReturn(holder, () => {
      if (holder.dataset.reference !== reference) return;
      delete holder.dataset.reference;
      show(holder, reference, alt, otherwise);
    });
    return;
  }
  if (holder.dataset.reference !== reference) return;
  holder.classList.remove("lost");
  // Two screens side by side, or one lying on its side, need more room to be read.
  holder.classList.toggle("wide", next.naturalWidth > WIDE * next.naturalHeight);
  holder.replaceChildren(next);
}

export class Viewer {
  constructor(dialog) {
    this.dialog = dialog;
    this.pictures = [];
    this.at = 0;
    this.image = h("img", { alt: "" });
    this.ring = svg("svg", { class: "ring", "aria-hidden": "true" });
    this.image.addEventListener("load", () => this.drawMark());
    this.words = h("figcaption");
    this.back = h("button", { class: "plain back", type: "button", "aria-label": say("page.picture.previous"), onclick: () => this.move(-1) }, icon("back"));
    this.next = h("button", { class: "plain next", type: "button", "aria-label": say("page.picture.next"), onclick: () => this.move(1) }, icon("next"));
    const shut = h("button", { class: "plain shut", type: "button", "aria-label": say("page.picture.close"), onclick: () => dialog.close() }, icon("close"));
    dialog.append(h("figure", {}, h("div", { class: "frame" }, this.image, this.ring), this.words), this.back, this.next, shut);
    dialog.addEventListener("click", (event) => ["FIGURE", "DIV"].includes(event.target.tagName) && dialog.close());
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft") this.move(-1);
      if (event.key === "ArrowRight") this.move(1);
    });
  }

  // `pictures`: {reference, words, mark} in order; opens at `reference`. With the arrow keys this is the replay of a run.
  open(pictures, reference) {
    this.pictures = pictures;
    const last = pictures.map((picture) => picture.reference).lastIndexOf(reference);
    this.at = Math.max(0, last);
    this.draw();
    this.dialog.showModal();
  }

  move(by) {
    const to = this.at + by;
    if (to < 0 || to >= this.pictures.length) return;
    this.at = to;
    this.draw();
  }

  draw() {
    const picture = this.pictures[this.at];
    const count = this.pictures.length > 1 ? say("page.picture.of", { number: this.at + 1, all: this.pictures.length }) : "";
    this.ring.replaceChildren();
    this.image.src = frameUrl(picture.reference);
    this.image.alt = inOrder(picture.words || say("page.picture.alt"));
    setText(this.words, [count, picture.words].filter(Boolean).join(" · "));
    this.back.disabled = this.at === 0;
    this.next.disabled = this.at === this.pictures.length - 1;
  }

  // Where the step touched the screen.
  drawMark() {
    const { mark } = this.pictures[this.at] ?? {};
    ringOf(this.ring, mark, this.image.naturalWidth, this.image.naturalHeight);
  }
}
