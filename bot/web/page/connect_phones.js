// Phones: how each is attached and what to do about it, and those over Wi-Fi by code.

import { h, svg } from "./dom.js";
import { sent, status, tell } from "./forms.js";
import { href } from "./route.js";
import { load, send } from "./service.js";
import { say } from "./words.js";

const ASK_MS = 2000;
const QUIET = 4;

export class Phones {
  constructor(model, way) {
    this.model = model;
    this.way = way;
    this.rows = h("ul", { class: "connect-rows" });
    this.none = h("p", { class: "note" }, say("page.connect.phones.none"));
    this.status = status();
    this.seen = h("ul", { class: "connect-rows" });
    this.pairing = this.form("pair", [["address", "page.connect.phones.pair_address"], ["code", "page.connect.phones.code"]]);
    this.dialling = this.form("dial", [["address", "page.connect.phones.address"]]);
    this.show = h("button", { class: "button", type: "button", onclick: () => this.invite() }, say("page.connect.phones.qr"));
    this.code = h("figure", { class: "connect-qr", hidden: true });
    const steps = ["one", "two", "three"].map((step) => h("li", {}, say(`page.connect.phones.usb_${step}`)));
    this.root = h("section", { class: "panel connect-panel", "aria-labelledby": "connect-phones" },
      h("div", { class: "connect-head" }, h("h2", { id: "connect-phones" }, say("page.connect.phones.title"))),
      this.none, this.rows,
      h("h3", {}, say("page.connect.phones.usb")), h("ol", { class: "connect-steps" }, ...steps),
      h("h3", {}, say("page.connect.phones.wifi")), h("p", { class: "note" }, say("page.connect.phones.wifi_about")), this.seen,
      this.pairing, this.dialling, h("div", {}, this.show), this.code, this.status);
  }

  form(name, fields) {
    const inputs = fields.map(([field, label]) => {
      const id = `connect-${name}-${field}`;
      return h("div", { class: "connect-field" }, h("label", { for: id }, say(label)),
        h("input", { id, name: field, autocomplete: "off", spellcheck: "false", maxlength: 300, required: true,
          inputmode: field === "code" ? "numeric" : null, placeholder: field === "code" ? "123456" : "192.168.1.20:37045" }));
    });
    const give = h("button", { class: `button ${name === "pair" ? "primary" : ""}`, type: "submit" }, say(`page.connect.phones.${name}`));
    const form = h("form", { class: "connect-inline", autocomplete: "off", "aria-label": say(`page.connect.phones.${name}`) }, ...inputs, give);
    return sent(form, () => this.give(form, give, Object.fromEntries(new FormData(form))));
  }

  async give(form, button, wish) {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    tell(this.status, say("page.connect.phones.asking"));
    try {
      const { text } = await send("/api/connect/phones", wish);
      form.reset();
      tell(this.status, text);
      await this.look();
    } catch (error) {
      tell(this.status, error.message, true);
    }
    button.removeAttribute("aria-disabled");
  }

  take() {
    const { devices } = this.model;
    this.none.hidden = devices.length > 0;
    const mark = JSON.stringify(devices);
    if (this.mark === mark) return;
    this.mark = mark;
    this.rows.replaceChildren(...devices.map((device) => {
      const kind = !device.usable ? "failed" : device.state === "ready" ? "succeeded" : "waiting";
      const facts = [device.virtual ? say("page.phones.virtual") : "", device.model === device.name ? "" : device.model, device.serial].filter(Boolean).join(" · ");
      return h("li", {}, h("div", { class: "words" }, h("a", { href: href("phones") }, device.name), h("small", {}, facts),
        device.reason ? h("p", {}, device.reason) : null, device.fix ? h("p", { class: "fix" }, device.fix) : null),
      h("span", { class: `badge ${kind}` }, say(`page.health.${device.state.replaceAll(" ", "_")}`)));
    }));
  }

  state() {
    const usable = this.model.devices.filter((device) => device.usable).length;
    return { kind: usable ? "connected" : "off", text: usable ? say("page.connect.phones.usable", { number: usable }) : say("page.side.no_phones") };
  }

  opened() {
    this.look();
  }

  // A press fills the address in; the code stands on the phone alone.
  async look() {
    try {
      const { announced } = await load("/api/connect/phones");
      this.seen.replaceChildren(...announced.map(({ kind, address }) => {
        const form = kind === "pairing" ? this.pairing : this.dialling;
        const use = h("button", { class: "button", type: "button", onclick: () => {
          form.elements.address.value = address;
          (form.elements.code ?? form.querySelector("button")).focus();
        } }, say("page.connect.phones.use"));
        return h("li", {}, h("div", { class: "words" }, h("b", {}, address), h("small", {}, say(`page.connect.phones.announces_${kind}`))), use);
      }));
    } catch (error) {
      tell(this.status, error.message, true);
    }
  }

  async invite() {
    clearTimeout(this.timer);
    try {
      const { rows } = await send("/api/connect/phones/invitation", {});
      const size = rows.length + 2 * QUIET;
      const dark = rows.flatMap((row, y) => [...row].map((one, x) => (one === "1" ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")));
      this.code.replaceChildren(svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": say("page.connect.phones.qr_label"), "shape-rendering": "crispEdges" },
        svg("path", { d: `M0 0h${size}v${size}h-${size}z`, fill: "#fff" }), svg("path", { d: dark.join(""), fill: "#000" })),
      h("figcaption", { class: "note" }, say("page.connect.phones.qr_about")));
      this.code.hidden = false;
      tell(this.status, "");
      this.timer = setTimeout(() => this.ask(), ASK_MS);
    } catch (error) {
      tell(this.status, error.message, true);
    }
  }

  // Asked while the QR code can be seen.
  async ask() {
    if (!this.root.isConnected) {
      this.code.hidden = true;
      return;
    }
    try {
      const { state, text } = await load("/api/connect/phones/invitation");
      this.code.hidden = state !== "waiting";
      tell(this.status, text, state === "over");
      if (state === "waiting") this.timer = setTimeout(() => this.ask(), ASK_MS);
    } catch (error) {
      this.code.hidden = true;
      tell(this.status, error.message, true);
    }
  }
}
