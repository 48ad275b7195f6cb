// A list of which one choice is taken: the arrow keys go through it, and a press of Answer gives it.

import { h } from "./dom.js";
import { say } from "./words.js";

export function drawMenu(form, menu, press) {
  form.hidden = !menu;
  const mark = menu ? menu.choices.map((choice) => choice.data).join(" ") : "";
  if (form.dataset.mark === mark) return;
  form.dataset.mark = mark;
  if (!menu) {
    form.replaceChildren();
    return;
  }
  const name = `menu-${menu.choices[0]?.data}`;
  const give = h("button", { class: "button primary", type: "submit", disabled: true }, say("page.answer.take"));
  const options = menu.choices.map((choice, index) => h("label", {}, h("input", { type: "radio", name, value: index }), h("span", {}, choice.label)));
  form.replaceChildren(h("fieldset", {}, h("legend", {}, menu.prompt || say("page.answer.choose")), h("div", { class: "options" }, ...options)), give);
  form.onchange = () => (give.disabled = false);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const taken = new FormData(form).get(name);
    if (taken === null) return;
    give.disabled = true;
    await press(menu.choices[Number(taken)]);
    give.disabled = false;
  };
}
