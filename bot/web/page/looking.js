// A page that shows what it asks the service for: when it is opened, and again every `every` milliseconds while it is.

import { h, setText } from "./dom.js";

export class Looking {
  constructor(model, every = 0) {
    this.model = model;
    this.every = every;
    this.found = null;
    this.wrong = h("p", { class: "note", role: "alert", hidden: true });
  }

  open() {
    clearInterval(this.timer);
    if (this.every) this.timer = setInterval(() => !document.hidden && this.fill(), this.every);
    if (this.model.ready) this.fill();
  }

  close() {
    clearInterval(this.timer);
  }

  // The service was away when it was asked, and is back.
  told() {
    if (!this.found) this.fill();
  }

  // `ask` and `show` are those of each page.
  async fill() {
    try {
      this.found = await this.ask();
      this.wrong.hidden = true;
      this.show();
    } catch (error) {
      if (error.status === 0) return; // the page itself says that the service is away, and asks again
      setText(this.wrong, error.message);
      this.wrong.hidden = false;
    }
  }

  draw() {}
}
