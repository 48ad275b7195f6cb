// When a schedule is due: pickers for what people want most, and a line for their own words, which the service reads.

import { h } from "./dom.js";
import { choice, field } from "./forms.js";
import { say } from "./words.js";

const DAYS = ["day", "weekday", "weekend", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const SHOWN = { period: ["number", "unit"], once: ["date", "time"], words: ["words"] };

export class RuleFields {
  constructor(id) {
    const often = choice(`${id}-often`, say("page.connect.schedules.when"), [...DAYS, "period", "once", "words"].map((name) => [name, say(`page.schedules.often.${name}`)]), { name: "often" });
    const parts = {
      time: field(`${id}-time`, say("page.schedules.time"), { type: "time", value: "08:00" }),
      date: field(`${id}-date`, say("page.schedules.date"), { type: "date" }),
      number: field(`${id}-number`, say("page.schedules.number"), { type: "number", min: 1, max: 999, value: 30 }),
      unit: choice(`${id}-unit`, say("page.schedules.unit"), ["m", "h", "d", "w"].map((unit) => [unit, say(`page.schedules.units.${unit}`)])),
      words: field(`${id}-words`, say("page.schedules.words"), { placeholder: say("page.schedules.words_like") }),
    };
    this.often = often.querySelector("select");
    this.parts = Object.entries(parts).map(([name, root]) => ({ name, root, input: root.querySelector("input, select") }));
    this.roots = [often, ...Object.values(parts)];
    this.often.addEventListener("change", () => this.turn());
    this.turn();
  }

  turn() {
    const shown = SHOWN[this.often.value] ?? ["time"];
    for (const { name, root, input } of this.parts) input.disabled = root.hidden = !shown.includes(name);
  }

  // As one would write it.
  get rule() {
    const { time, date, number, unit, words } = Object.fromEntries(this.parts.map(({ name, input }) => [name, input.value.trim()]));
    switch (this.often.value) {
      case "period": return `every ${number}${unit}`;
      case "once": return `at ${date} ${time}`;
      case "words": return words;
      default: return `every ${this.often.value} ${time}`;
    }
  }
}
