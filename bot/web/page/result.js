// How a task ended: the answer first, one picture that plays the recap, and what one may do with it.

import { frameUrl, h, icon, setLinked, setText } from "./dom.js";
import { badge } from "./message.js";
import { show } from "./picture.js";
import { go } from "./route.js";
import { saveSkill } from "./save_skill.js";
import { duration, inARow, tokens } from "./when.js";
import { counted, say } from "./words.js";

// What went well, as far as is known, is worth doing again by itself.
const SAVABLE = new Set(["succeeded", "unverified"]);

// What a person wanted to know, and below it what was done; the second is "" where that is all.
export function answerOf(task) {
  const summary = task.summary || say(`page.standing.${task.outcome}`);
  return task.data ? [task.data, summary] : [summary, ""];
}

export function factsOf(task) {
  const took = task.started && task.ended ? duration(task.ended - task.started) : "";
  const used = task.tokens.calls ? say("page.tokens", { number: tokens(task.tokens) }) : "";
  return inARow([task.steps ? counted("step", task.steps) : "", took, used]);
}

// `act` has press(button), look(reference), compose(text) and toast(words).
export class Result {
  constructor(act) {
    this.act = act;
    this.badge = h("span");
    this.facts = h("span", { class: "small" });
    this.answer = h("div", { class: "answer" });
    this.done = h("p", { class: "done" });
    this.choices = h("div", { class: "row", role: "group", "aria-label": say("page.result.instead") });
    this.instead = h("div", { class: "instead", hidden: true }, h("p", { class: "small" }, say("page.result.instead")), this.choices);
    this.row = h("div", { class: "row deeds" });
    this.picture = h("button", { class: "thumb", type: "button", "aria-label": say("page.picture.show"), onclick: () => this.enlarge() });
    this.player = h("button", { class: "play-recap", type: "button", hidden: true, onclick: () => this.play(!this.playing) });
    this.aside = h("div", { class: "end-picture" }, this.picture, this.player);
    this.root = h("li", { class: "message" }, this.aside, h("div", { class: "inner" },
      h("div", { class: "kind" }, this.badge, this.facts), this.answer, this.done, this.instead, this.row));
  }

  // `buttons` are those of its end, `steps` what was done.
  draw(task, buttons, steps) {
    const mark = `${task.outcome} ${task.steps} ${steps.length} ${buttons.length}`;
    if (this.mark === mark) return;
    this.mark = mark;
    this.task = task;
    this.root.className = `message loud final result ${task.outcome}`;
    this.badge.replaceChildren(badge(task.outcome));
    setText(this.facts, factsOf(task));
    const [answer, done] = answerOf(task);
    setLinked(this.answer, answer);
    setLinked(this.done, done);
    const drawn = `/api/console/tasks/${task.task}`;
    this.recap = steps.filter((step) => step.frame).length > 1 ? `${drawn}/recap.gif` : "";
    this.last = task.phones > 1 ? `${drawn}/screens.jpg` : task.frame ?? "";
    this.player.hidden = !this.recap;
    this.aside.hidden = !this.last && !this.recap;
    this.play(false);
    // What can be done without a model has a button each, before the one for the same once more.
    const choices = task.needs_model?.choices ?? [];
    this.instead.hidden = choices.length === 0 || buttons.length <= choices.length;
    this.choices.replaceChildren(...choices.map((words, index) => deed("spark", words, () => this.act.press(buttons[index]), "")));
    const again = buttons[choices.length];
    this.row.replaceChildren(
      deed("copy", say("page.result.copy"), () => this.copy()),
      deed("share", say("page.result.share"), () => this.share()),
      ...(again ? [deed("again", again.label, () => this.act.press(again))] : []),
      deed("edit", say("page.result.edit"), () => this.act.compose(task.text)),
      ...(SAVABLE.has(task.outcome) ? [deed("clock", say("page.result.daily"), () => go("schedules", "", { what: task.text }))] : []),
      // Of several phones there is no one way that could be done again.
      ...(SAVABLE.has(task.outcome) && task.steps && task.phones <= 1 ? [deed("skill", say("page.result.save"), () => saveSkill(task, this.act))] : []));
  }

  play(playing) {
    this.playing = playing;
    const shown = playing ? this.recap : this.last || this.recap;
    show(this.picture, shown, say("page.picture.alt"), () => document.createTextNode(say("page.picture.gone")));
    this.picture.classList.toggle("playing", playing);
    this.player.setAttribute("aria-pressed", String(playing));
    this.player.replaceChildren(icon(playing ? "pause" : "play"), say(playing ? "page.result.still" : "page.result.play"));
  }

  enlarge() {
    const reference = this.playing ? this.recap : this.last || this.recap;
    if (reference) this.act.look(reference);
  }

  words() {
    return answerOf(this.task).filter(Boolean).join("\n\n");
  }

  async copy() {
    this.act.toast(say((await copied(this.words())) ? "page.result.copied" : "page.result.not_copied"));
  }

  // With what the computer shares with; where it has nothing, the moving picture is saved for it.
  async share() {
    const reference = this.recap || this.last;
    const data = { title: this.task.text, text: `${this.task.text}\n\n${this.words()}` };
    if (navigator.share) {
      try {
        if (reference) {
          const blob = await (await fetch(frameUrl(reference))).blob();
          const file = new File([blob], this.recap ? "recap.gif" : "screen.jpg", { type: blob.type });
          if (navigator.canShare?.({ ...data, files: [file] })) data.files = [file];
        }
        await navigator.share(data);
      } catch (error) {
        if (error.name !== "AbortError") this.act.toast(say("page.result.not_shared"));
      }
      return;
    }
    if (reference) h("a", { href: frameUrl(reference), download: this.recap ? "recap.gif" : "screen.jpg" }).click();
    this.act.toast(say((await copied(data.text)) ? "page.result.shared_by_hand" : "page.result.not_shared"));
  }
}

// By the clipboard where the page may use it (https or this machine), else as one would by hand.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

function deed(sign, label, act, kind = "quiet") {
  const button = h("button", { class: `button ${kind}`, type: "button" }, icon(sign), label);
  button.addEventListener("click", async () => {
    // Not `disabled`: that would take the focus away.
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    await act();
    button.removeAttribute("aria-disabled");
  });
  return button;
}
