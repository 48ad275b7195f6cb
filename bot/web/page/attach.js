// Files that go with a task: dropped, pasted or picked, sent to the service at once, and kept until the task is given.

import { h, icon } from "./dom.js";
import { handIn } from "./service.js";
import { say } from "./words.js";

const MOST = 10;
const MOST_BYTES = 20 * 1024 * 1024;

export class Attachments {
  // `parts`: list, button, file and drop (shown while something is dragged over the page); `toast` tells what was not taken.
  constructor(parts, toast) {
    this.parts = parts;
    this.toast = toast;
    this.files = [];
    this.wanted = true;
    parts.button.addEventListener("click", () => parts.file.click());
    parts.file.addEventListener("change", () => {
      this.add([...parts.file.files]);
      parts.file.value = "";
    });
    const carries = (event) => this.wanted && !parts.button.closest("form").hidden && [...(event.dataTransfer?.types ?? [])].includes("Files");
    window.addEventListener("dragover", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      parts.drop.hidden = false;
    });
    window.addEventListener("dragleave", (event) => event.relatedTarget === null && (parts.drop.hidden = true));
    window.addEventListener("drop", (event) => {
      parts.drop.hidden = true;
      if (!carries(event)) return;
      event.preventDefault();
      this.add([...event.dataTransfer.files]);
    });
  }

  // True when files were pasted.
  paste(event) {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!this.wanted || files.length === 0) return;
    event.preventDefault();
    this.add(files);
  }

  // Whether files are of use where one is; what was attached stays until it is taken out.
  show(wanted) {
    this.wanted = wanted;
    this.parts.button.hidden = !wanted;
    this.parts.list.hidden = !wanted || this.files.length === 0;
  }

  add(files) {
    for (const file of files) {
      if (this.files.length >= MOST) {
        this.toast(say("page.file.too_many", { most: MOST }));
        break;
      }
      if (file.size > MOST_BYTES) this.toast(say("page.file.too_large", { name: file.name, most: MOST_BYTES / 1024 / 1024 }));
      else this.files.push({ name: file.name || "picture.png", file, content: "", wrong: "" });
    }
    this.draw();
    for (const one of this.files) if (!one.content && !one.sending) this.send(one);
  }

  async send(one) {
    one.wrong = "";
    one.sending = (async () => {
      try {
        one.content = (await handIn(one.file)).content;
      } catch (error) {
        one.wrong = error.message;
      }
      one.sending = null;
      this.draw();
    })();
    this.draw();
    await one.sending;
  }

  // What goes with the task, once all of it is there; null when something is not, which its chip tells.
  async ready() {
    if (!this.wanted) return [];
    await Promise.all(this.files.map((one) => one.sending ?? (one.content ? null : this.send(one))));
    return this.files.every((one) => one.content) ? this.files.map(({ name, content }) => ({ name, content })) : null;
  }

  clear() {
    this.files = [];
    this.draw();
  }

  draw() {
    this.parts.list.replaceChildren(...this.files.map((one) => h("li", { class: one.wrong ? "chip wrong" : one.content ? "chip" : "chip sending" },
      icon("file"), h("span", {}, one.name), one.wrong ? h("small", {}, one.wrong) : null,
      h("button", { class: "plain", type: "button", "aria-label": say("page.file.remove", { name: one.name }), onclick: () => {
        this.files = this.files.filter((other) => other !== one);
        this.draw();
      } }, icon("close")))));
    this.show(this.wanted);
  }
}
