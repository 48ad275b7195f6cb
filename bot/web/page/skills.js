// Skills: ways of doing things that tasks follow. A recorded one is run from its parameters, and shows what that has saved.

import { arrange, h, icon, setText } from "./dom.js";
import { FolderDrop } from "./folder_drop.js";
import { act, careful, choice, field, sent, status, tell } from "./forms.js";
import { Looking } from "./looking.js";
import { go, href } from "./route.js";
import { saveSkill } from "./save_skill.js";
import { change, load, remove, send } from "./service.js";
import { duration, tokens } from "./when.js";
import { counted, say, whole } from "./words.js";

export class SkillPage extends Looking {
  constructor(model, way) {
    super(model);
    this.way = way;
    this.cards = new Map();
    this.list = h("ul", { class: "skills" });
    this.none = h("div", { class: "empty", hidden: true }, h("h2", {}, say("page.skills.none")), h("p", {}, say("page.skills.none_hint")));
    this.refused = h("ul", { class: "connect-rows" });
    this.drop = new FolderDrop("skills", () => this.fill());
    this.folder = h("p", { class: "small" });
    this.own = h("section", { class: "panel connect-panel", "aria-labelledby": "skills-own", hidden: true },
      h("h2", { id: "skills-own" }, say("page.skills.bring")), this.refused, this.drop.root, this.folder);
    this.root = h("div", { class: "sheet" }, this.wrong, this.none, this.list, this.own);
  }

  heading() {
    return { title: say("page.place.skills"), about: say("page.skills.about") };
  }

  open(name) {
    this.opened = name;
    super.open();
  }

  async ask() {
    const admin = this.model.may.includes("admin");
    const [skills, refused] = await Promise.all([load("/api/v1/skills"), admin ? load("/api/v1/skills/refused") : null]);
    return { skills: skills.data.items, refused };
  }

  show() {
    const { skills, refused } = this.found;
    // What was recorded here first: that is what one comes for.
    const sorted = [...skills].sort((one, other) => Boolean(other.recording) - Boolean(one.recording) || one.name.localeCompare(other.name));
    arrange(this.list, sorted.map((skill) => this.card(skill)));
    this.none.hidden = skills.some((skill) => skill.recording);
    this.own.hidden = refused === null;
    this.refused.replaceChildren(...(refused?.data.items ?? []).map(({ folder: name, why }) => h("li", {}, h("div", { class: "words" }, h("b", {}, name), h("small", { class: "fix" }, say("page.connect.members.refused", { why }))),
      h("div", { class: "row" }, careful(say("page.skills.delete"), say("page.skills.sure"), name, () => this.forget(name))))));
    setText(this.folder, say("page.skills.folder", { folder: refused?.root ?? "" }));
    const wanted = this.opened && this.cards.get(this.opened);
    if (wanted) {
      wanted.root.firstChild.open = true;
      wanted.root.scrollIntoView({ block: "nearest" });
      this.opened = "";
    }
  }

  card(skill) {
    const mark = JSON.stringify([skill, this.model.devices.map((device) => [device.id, device.name])]);
    const known = this.cards.get(skill.name);
    if (known?.mark === mark) return known.root;
    const { recording, figures } = skill;
    const facts = recording ? [say("page.skills.version", { version: skill.version }), counted("step", recording.steps)] : [];
    const title = h("span", { class: "words" }, h("b", {}, skill.name), h("small", {}, skill.description));
    const share = figures ? figures.succeeded / figures.runs : null;
    const side = h("span", { class: "skill-side" },
      recording ? h("span", { class: `badge ${figures?.proven ? "succeeded" : ""}` }, figures?.proven ? say("page.skills.proven") : say("page.skills.recorded")) : null,
      share === null ? null : h("small", {}, `${Math.round(share * 100)} % · ${counted("run", figures.runs)}`));
    const body = h("div", { class: "skill-body" }, ...this.numbers(skill), this.runForm(skill),
      facts.length ? h("p", { class: "small" }, [...facts, recording.task ? say("page.skills.made_of", { task: recording.task }) : ""].filter(Boolean).join(" · ")) : null,
      ...this.changes(skill));
    const root = h("li", {}, h("details", { class: "skill", open: known?.root.firstChild.open ?? false }, h("summary", {}, icon(recording ? "play" : "skill"), title, side), body));
    this.cards.set(skill.name, { root, mark });
    return root;
  }

  numbers({ figures, recording }) {
    if (!figures) return recording ? [h("p", { class: "small" }, say("page.skills.not_run"))] : [];
    const sums = [["success", `${Math.round((figures.succeeded / figures.runs) * 100)} %`], ["time", duration(figures.seconds)],
      ["tokens", tokens({ input: Math.max(0, figures.tokens), output: 0 })], ...(figures.money === null ? [] : [["money", whole(Math.round(figures.money * 100) / 100)]])];
    return [h("dl", { class: "sums" }, ...sums.map(([name, value]) => h("div", {}, h("dt", {}, say(`page.skills.${name}`)), h("dd", {}, value))))];
  }

  runForm(skill) {
    const id = `skill-${skill.name}`;
    const { parameters } = skill;
    const fields = skill.recording ? parameters.map((one) => field(`${id}-${one.name}`, one.name.replaceAll("_", " "), { name: one.name, placeholder: one.example, maxlength: 4000 }, one.about))
      : [field(`${id}-with`, say("page.skills.with"), { name: "with", required: false, placeholder: say("page.skills.with_like") })];
    const phone = this.model.devices.length > 1 ? choice(`${id}-phone`, say("page.box.device"), [["", say("page.box.any_phone")], ...this.model.devices.map((device) => [device.id, device.name])], { name: "phone" }) : null;
    const form = h("form", { class: "connect-inline", autocomplete: "off", "aria-label": say("page.connect.of", { action: say("page.skills.run"), name: skill.name }) }, ...fields, phone,
      h("button", { class: "button primary", type: "submit" }, say("page.skills.run")));
    return sent(form, async (given) => {
      const values = given.with?.value.trim() ?? "";
      const args = Object.fromEntries(parameters.map((one) => [one.name, given[one.name].value.trim()]));
      // What no parameter takes is for a model.
      const text = values ? say("page.skills.wish_with", { name: skill.name, values }) : "";
      const made = await this.way.post("/api/v1/tasks", { skill: skill.name, arguments: skill.recording ? args : {}, text, phone: given.phone?.value ?? "" });
      if (made) go("task", made.id);
    });
  }

  changes(skill) {
    if (!skill.may_change) return [];
    const said = status();
    const again = skill.figures?.again ? [h("p", { class: "connect-why" }, say("page.skills.again", { step: skill.figures.step }), " ",
      h("button", { class: "link-button", type: "button", onclick: () => saveSkill({ task: skill.figures.again }, this.way, skill.name, () => this.fill()) }, say("page.skills.again_save")))] : [];
    if (!skill.recording) return [h("div", { class: "row" }, careful(say("page.skills.delete"), say("page.skills.sure"), skill.name, () => this.forget(skill.name, said))), said];
    const name = h("input", { class: "new-name", value: skill.name, maxlength: 64, pattern: "[a-z0-9]+(-[a-z0-9]+)*", "aria-label": say("page.skills.new_name"), spellcheck: "false", autocomplete: "off" });
    const renaming = h("form", { class: "row", hidden: true }, name, h("button", { class: "button primary", type: "submit" }, say("page.skills.rename")));
    sent(renaming, () => this.order(() => change(at(skill.name), { name: name.value.trim() }), say("page.skills.renamed", { name: name.value.trim() }), said));
    const begin = act(say("page.skills.rename"), skill.name, () => {
      renaming.hidden = !renaming.hidden;
      if (!renaming.hidden) name.select();
    });
    return [...again, h("div", { class: "row" }, begin, careful(say("page.skills.delete"), say("page.skills.sure"), skill.name, () => this.order(() => remove(at(skill.name)), say("page.skills.deleted", { name: skill.name }), said)),
      skill.recording.task ? h("a", { class: "button", href: href("task", skill.recording.task) }, say("page.skills.source")) : null), renaming, said];
  }

  async order(give, done, said) {
    try {
      await give();
      this.way.toast(done);
      await this.fill();
    } catch (error) {
      tell(said, error.message, true);
    }
  }

  // A folder that code cannot do again, or that cannot be read at all.
  forget(name, said = this.drop.status) {
    return this.order(() => send("/api/connect/folders/delete", { kind: "skills", name }), say("page.skills.deleted", { name }), said);
  }
}

const at = (name) => `/api/v1/skills/${encodeURIComponent(name)}`;
