// The page's title: one line, two on a narrow screen. The rest of a long one is shown on demand.

import { icon, setText } from "./dom.js";
import { say } from "./words.js";

export class Title {
  constructor(parts) {
    this.parts = parts;
    this.open = false;
    parts.whole.append(icon("more"));
    parts.whole.addEventListener("click", () => this.turn(!this.open));
    new ResizeObserver(() => this.fit()).observe(parts.title);
  }

  draw({ title, about }, route) {
    const shown = `${route.name} ${route.id}`;
    if (this.shown !== shown) this.turn(false);
    this.shown = shown;
    setText(this.parts.about, about);
    if (this.text === title) return;
    this.text = title;
    setText(this.parts.title, title);
    this.fit();
  }

  turn(open) {
    this.open = open;
    this.parts.title.classList.toggle("whole", open);
    this.parts.whole.setAttribute("aria-expanded", String(open));
    this.parts.whole.setAttribute("aria-label", say(open ? "page.title_less" : "page.title_whole"));
    this.fit();
  }

  fit() {
    const title = this.parts.title;
    this.parts.whole.hidden = !this.open && title.scrollHeight <= title.clientHeight + 2;
  }
}
