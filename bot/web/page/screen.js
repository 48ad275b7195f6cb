// A phone's screen: the picture, the ring where it was touched, or words for why there is none.

import { onReturn } from "./again.js";
import { frameUrl, h, icon, ringOf, svg } from "./dom.js";
import { say } from "./words.js";

export class Screen {
  // `look`, when given, makes it a button that opens the picture large.
  constructor(look = null) {
    this.reference = null;
    this.mark = null;
    this.ring = svg("svg", { class: "ring", "aria-hidden": "true" });
    this.inside = h("span", { class: "inside" }, icon("phone"));
    this.root = look
      ? h("button", { class: "screen", type: "button", onclick: () => this.reference && look(this.reference) }, this.inside)
      : h("div", { class: "screen" }, this.inside);
  }

  // The new picture takes the old one's place only once it is decoded; `words` tell why there is none.
  // `url` is where it comes from, the frame store unless told otherwise. True when it is shown.
  async show(reference, { mark = null, alt = "", words = "", url = null } = {}) {
    if (this.reference === reference && String(this.mark) === String(mark)) {
      if (!reference) this.empty(words);
      return Boolean(reference);
    }
    this.reference = reference;
    this.mark = mark;
    if (!reference) {
      this.empty(words);
      return false;
    }
    const next = h("img", { src: url ?? frameUrl(reference), alt });
    try {
      await next.decode();
    } catch {
      if (this.reference !== reference) return false;
      this.empty(say("page.picture.gone"));
      onReturn(this.root, () => {
        if (this.reference !== reference) return;
        this.reference = null;
        this.show(reference, { mark, alt, words, url });
      });
      return false;
    }
    if (this.reference !== reference || this.mark !== mark) return false;
    this.root.style.aspectRatio = `${next.naturalWidth} / ${next.naturalHeight}`;
    this.inside.replaceChildren(next, ...this.drawn(next.naturalWidth, next.naturalHeight));
    return true;
  }

  // A picture that has no reference; it stays until one is shown.
  keep(picture) {
    this.reference = "";
    this.root.style.aspectRatio = `${picture.width} / ${picture.height}`;
    this.inside.replaceChildren(picture);
  }

  drawn(width, height) {
    if (!this.mark) return [];
    ringOf(this.ring, this.mark, width, height);
    return [this.ring];
  }

  empty(words) {
    this.root.style.aspectRatio = "";
    this.inside.replaceChildren(icon("phone"), ...(words ? [h("span", { class: "why" }, words)] : []));
  }
}
