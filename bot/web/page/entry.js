// Who is not signed in: a password where the console was opened from elsewhere, else the way in; over everything else.

import { h, setText, setWords } from "./dom.js";
import { send } from "./service.js";
import { say } from "./words.js";

export class Entry {
  // `entered` is called after the right password.
  constructor(parts, entered) {
    this.parts = parts;
    this.entered = entered;
    this.field = h("input", { type: "password", name: "password", autocomplete: "current-password", required: true, maxlength: 1024,
      "aria-label": say("page.sign.password"), placeholder: say("page.sign.password"), "aria-describedby": "entry-wrong" });
    this.wrong = h("p", { class: "wrong", id: "entry-wrong", role: "alert" });
    this.give = h("button", { class: "button primary", type: "submit" }, say("page.sign.in"));
    // Password managers want a name to keep the password under.
    const name = h("input", { type: "text", name: "username", autocomplete: "username", value: "operator", hidden: true, readonly: true });
    this.how = h("p");
    const form = h("form", { class: "panel", onsubmit: (event) => this.try(event) }, h("img", { src: "/page/icon.svg", alt: "", width: 44, height: 44 }),
      h("h1", { id: "entry-title" }, say("page.title")), this.how, name, this.field, this.wrong, this.give);
    parts.root.append(form);
  }

  // `signIn`: there is a password. Without one the address that the service printed is the only way in.
  show(signIn) {
    if (!this.parts.root.hidden) return;
    const old = location.hash === "#old-address";
    if (old) history.replaceState(history.state, "", "#");
    setWords(this.how, say(signIn ? "page.sign.how" : old ? "page.link.old_address" : "page.link.locked_long"));
    this.how.setAttribute("role", signIn ? "note" : "alert");
    this.field.hidden = this.wrong.hidden = this.give.hidden = !signIn;
    this.parts.root.hidden = false;
    this.parts.app.inert = true;
    this.field.focus();
  }

  // True when it was shown: then the focus has nowhere to be.
  hide() {
    if (this.parts.root.hidden) return false;
    this.parts.root.hidden = true;
    this.parts.app.inert = false;
    this.field.value = "";
    setText(this.wrong, "");
    return true;
  }

  async try(event) {
    event.preventDefault();
    this.give.disabled = true;
    setText(this.wrong, "");
    try {
      await send("/api/sign-in", { password: this.field.value });
      this.field.value = "";
      this.entered();
    } catch (error) {
      setText(this.wrong, error.message);
      this.field.select();
    }
    this.give.disabled = false;
  }
}
