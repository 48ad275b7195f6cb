// Fields with their labels, as the forms of all pages have them.

import { h, setText } from "./dom.js";
import { say } from "./words.js";

export function field(id, label, properties = {}, hint = "") {
  return h("div", { class: "connect-field" }, h("label", { for: id }, label),
    h("input", { id, required: true, maxlength: 2000, spellcheck: "false", autocomplete: "off", ...properties }), hint ? h("p", { class: "small" }, hint) : null);
}

export function choice(id, label, options, properties = {}) {
  return h("div", { class: "connect-field" }, h("label", { for: id }, label),
    h("select", { id, ...properties }, ...options.map(([value, words]) => h("option", { value }, words))));
}

// A button whose name says what it is for, where there are several alike.
export function act(label, name, does, kind = "") {
  return h("button", { class: `button ${kind}`, type: "button", "aria-label": say("page.connect.of", { action: label, name }), onclick: does }, label);
}

// One that asks once more in its own place before it does what cannot be undone.
export function careful(label, sure, name, does) {
  const button = act(label, name, () => {
    if (button.dataset.sure) return does();
    button.dataset.sure = "yes";
    button.textContent = sure;
    button.setAttribute("aria-label", say("page.connect.of", { action: sure, name }));
    return undefined;
  }, "danger");
  button.addEventListener("blur", () => {
    delete button.dataset.sure;
    button.textContent = label;
    button.setAttribute("aria-label", say("page.connect.of", { action: label, name }));
  });
  return button;
}

// What came of a form, below it.
export function status() {
  return h("p", { class: "connect-status", role: "status" });
}

export function tell(element, text, wrong = false) {
  setText(element, text);
  element.classList.toggle("wrong", wrong);
}

// A form that does this with its fields when it is sent.
export function sent(form, does) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    does(form.elements);
  });
  return form;
}

// By the clipboard where the page may use it (https or this machine); else it is chosen, to be copied by hand.
export async function copy(input, way) {
  try {
    await navigator.clipboard.writeText(input.value);
    way.toast(say("page.connect.tokens.copied"));
  } catch {
    input.select();
  }
}

// The phones that a list does not offer yet.
export function offer(list, devices) {
  for (const { id, name } of devices) {
    if (![...list.options].some((option) => option.value === id)) list.append(h("option", { value: id }, name));
  }
}
