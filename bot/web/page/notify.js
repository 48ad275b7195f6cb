// When somebody is wanted and does not look: a notice of the browser, where that was allowed.

import { say } from "./words.js";

const POSSIBLE = "Notification" in window && window.isSecureContext;

// The button that asks for leave; it is there until the browser was asked.
export function offerNotices(button) {
  const draw = () => (button.hidden = !POSSIBLE || Notification.permission !== "default");
  button.addEventListener("click", async () => {
    await Notification.requestPermission();
    draw();
  });
  draw();
}

// `open` is called when the notice is clicked.
export function notice(title, body, tag, open) {
  if (!POSSIBLE || !document.hidden || Notification.permission !== "granted") return;
  try {
    const shown = new Notification(title || say("page.title"), { body: body.slice(0, 240), tag, icon: "/page/icon.svg" });
    shown.addEventListener("click", () => {
      window.focus();
      open();
      shown.close();
    });
  } catch {
    // Browsers on phones show notices from service workers only; the title still tells.
  }
}
