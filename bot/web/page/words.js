// The page's words. They come once, in the language that the service chose for this browser.

const answer = await fetch("/page/words.json").then((response) => (response.ok ? response.json() : null)).catch(() => null);
const words = answer?.words ?? {};

export const language = answer?.language ?? "en";
// Dates and numbers as the reader writes them, as far as that is the page's language.
export const locale = navigator.language.startsWith(language) ? navigator.language : language;
const numbers = new Intl.NumberFormat(locale);
document.documentElement.lang = language === "zh" ? "zh-Hans" : language;

// The sentence for a key, its {placeholders} filled in. An unknown key shows itself: the page stays usable.
export function say(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export function has(key) {
  return key in words;
}

// A number with its noun in the right form, such as "1 step" or "3 steps".
export function counted(noun, number) {
  return (words[`count.${noun}.${number === 1 ? "one" : "other"}`] ?? `{number} ${noun}`).replace("{number}", whole(number));
}

export function whole(number) {
  return numbers.format(number);
}

// Fills in what index.html leaves to the catalogue: data-say is the text, data-label the accessible name.
export function translate(root) {
  for (const element of root.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const element of root.querySelectorAll("[data-label]")) element.setAttribute("aria-label", say(element.dataset.label));
}
