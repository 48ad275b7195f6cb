// Times and sizes in words.

import { locale, say, whole } from "./words.js";

// Made once: each of them takes longer to make than a hundred to write.
const dayAndTime = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export function duration(seconds) {
  const all = Math.max(0, Math.floor(seconds));
  if (all < 60) return say("page.time.seconds", { seconds: all });
  if (all < 3600) return say("page.time.minutes", { minutes: Math.floor(all / 60), seconds: all % 60 });
  return say("page.time.hours", { hours: Math.floor(all / 3600), minutes: Math.floor((all % 3600) / 60) });
}

export function ago(unix) {
  const seconds = Date.now() / 1000 - unix;
  if (seconds < 60) return say("page.time.now");
  if (seconds < 3600) return say("page.time.minutes_ago", { minutes: Math.floor(seconds / 60) });
  if (seconds < 86400) return say("page.time.hours_ago", { hours: Math.floor(seconds / 3600) });
  return new Date(unix * 1000).toLocaleDateString(locale, { day: "numeric", month: "short" });
}

export function moment(unix) {
  return dayAndTime.format(unix * 1000);
}

export function clock(unix) {
  return new Date(unix * 1000).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

// Facts one behind the other; a line breaks between them and not within one.
export function inARow(facts) {
  return facts.filter(Boolean).map((fact) => fact.replaceAll(/ (?!· )(?<!· )/g, "\u00a0")).join(" · ");
}

// Tokens of a task or step: 940, 12.4k, 1.2M.
export function tokens(used) {
  const all = (used?.input ?? 0) + (used?.output ?? 0);
  if (all < 1000) return whole(all);
  const [part, unit] = all < 999_950 ? [all / 1000, "k"] : [all / 1_000_000, "M"];
  return `${part.toFixed(1).replace(/\.0$/, "")}${unit}`;
}
