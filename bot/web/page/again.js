// Pictures that could not be loaded while the service was away: loaded anew when it is back, once each time.

const waiting = new Map();

// `act` replaces what was kept for this element before.
export function onReturn(element, act) {
  waiting.set(element, act);
}

export function returned() {
  const acts = [...waiting.entries()].filter(([element]) => element.isConnected);
  waiting.clear();
  for (const [, act] of acts) act();
}
