// "Save as skill": what would be saved of a task is shown with its parameters, which can be changed, and then confirmed.

import { h, icon } from "./dom.js";
import { field, sent, status, tell } from "./forms.js";
import { go } from "./route.js";
import { send } from "./service.js";
import { counted, say } from "./words.js";

const NAME = "[a-z0-9]+(-[a-z0-9]+)*";

// `done` is called once it is saved; without it the page of skills is opened.
export function saveSkill(task, way, name = "", done = null) {
  const dialog = h("dialog", { class: "sheet-dialog", "aria-labelledby": "save-skill-title" });
  const said = status();
  const proposal = h("div", { class: "connect-fields" });
  const call = field("save-skill-name", say("page.save.name"), { pattern: NAME, maxlength: 64, value: name || proposed(task.text ?? ""), placeholder: "order-coffee" }, say("page.save.name_hint"));
  const give = h("button", { class: "button primary", type: "submit" }, say("page.save.look"));
  const form = h("form", { autocomplete: "off" }, h("div", { class: "connect-head" }, h("h2", { id: "save-skill-title" }, say("page.save.title")),
    h("button", { class: "plain", type: "button", "aria-label": say("page.save.close"), onclick: () => dialog.close() }, icon("close"))),
  h("p", { class: "note" }, say("page.save.about")), call, proposal, said, h("div", { class: "row" }, give));
  const input = call.querySelector("input");
  let draft = null;

  const rows = () => [...proposal.querySelectorAll(".parameter")].map((row) => [row.children[0].querySelector("input").value.trim(), row.children[1].querySelector("input").value.trim()]);
  const stale = () => {
    draft = null;
    give.textContent = say("page.save.look");
  };
  const parameter = (one, index) => {
    const row = h("div", { class: "parameter" }, field(`save-skill-p${index}`, say("page.save.parameter"), { value: one.name, pattern: "[a-z][a-z0-9_]{0,39}", maxlength: 40 }),
      field(`save-skill-v${index}`, say("page.save.value"), { value: one.example, maxlength: 4000 }),
      h("button", { class: "plain", type: "button", "aria-label": say("page.save.remove", { name: one.name }), onclick: () => {
        row.remove();
        stale();
      } }, icon("close")));
    return row;
  };
  const show = (made) => {
    draft = made.id;
    const facts = [counted("step", made.steps), made.by_model ? say("page.save.by_model", { number: made.by_model }) : "", ...made.always.map((text) => say("page.save.always", { text }))];
    const add = h("button", { class: "link-button", type: "button", onclick: () => {
      add.before(parameter({ name: "", example: "" }, rows().length + 100));
      stale();
    } }, say("page.save.add"));
    proposal.replaceChildren(h("blockquote", { class: "save-task" }, made.text), ...(made.parameters.length ? [] : [h("p", { class: "note" }, say("page.save.fixed"))]),
      ...made.parameters.map(parameter), add, h("p", { class: "small" }, facts.filter(Boolean).join(" · ")));
    give.textContent = say("page.save.save", { name: made.name });
  };

  dialog.addEventListener("input", stale);
  sent(form, async () => {
    give.setAttribute("aria-disabled", "true");
    tell(said, draft ? "" : say("page.save.looking"));
    try {
      if (draft) {
        const saved = await send(`/api/v1/skills/drafts/${draft}/save`, {});
        way.toast(say("page.save.saved", saved));
        dialog.close();
        if (done) await done();
        else go("skills", input.value.trim());
      } else {
        const parameters = proposal.children.length ? Object.fromEntries(rows()) : null;
        show(await send("/api/v1/skills/drafts", { task: task.task, name: input.value.trim(), parameters }));
        tell(said, "");
      }
    } catch (error) {
      tell(said, error.message, true);
    }
    give.removeAttribute("aria-disabled");
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  input.select();
}

// A name from the first words of what was asked.
function proposed(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, " ").trim().split(" ").slice(0, 4).join("-").slice(0, 40);
}
