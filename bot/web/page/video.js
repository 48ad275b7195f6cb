// A phone's video, where the browser decodes it (https or this machine): pictures between the stills, which stay what is touched.

const IDLE_MS = 600;
const MOVING_MS = 2000;
const SMALL = [90, 200];
const AROUND = 0.08;
const CELL = 5;
const UNLIKE = 24;

export const plays = () => typeof VideoDecoder === "function";

// Draws what `take` is given on the canvas of a hand, between its stills.
export class Video {
  constructor(canvas) {
    this.canvas = canvas;
    this.drawn = -Infinity;
    this.stills = [];
  }

  close() {
    clearTimeout(this.resting);
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
  }

  take(head, unit) {
    try {
      if (head.codec) this.begin(head.codec);
      if (this.decoder?.state !== "configured") return;
      this.decoder.decode(new EncodedVideoChunk({ type: head.key ? "key" : "delta", timestamp: performance.now() * 1000, data: unit }));
    } catch (error) {
      console.warn("no video", error); // stills go on
      this.close();
    }
  }

  begin(codec) {
    this.close();
    const decoder = new VideoDecoder({ output: (frame) => this.draw(frame, decoder), error: (error) => console.warn("no video", error) });
    this.decoder = decoder;
    decoder.configure({ codec, optimizeForLatency: true });
  }

  draw(frame, decoder) {
    if (decoder === this.decoder && this.stills.length) {
      this.canvas.getContext("2d").drawImage(frame, 0, 0, this.canvas.width, this.canvas.height);
      this.drawn = performance.now();
      this.canvas.dataset.video = Number(this.canvas.dataset.video ?? 0) + 1;
    }
    frame.close();
  }

  // A still has come: `paint` draws it as soon as video rests, which shows what is newer until then.
  still(picture, paint) {
    this.stills = [{ small: pixels(picture), at: performance.now() }, ...this.stills.slice(0, 2)];
    this.rest(paint);
  }

  // The screen may not be shown.
  hide() {
    clearTimeout(this.resting);
    this.stills = [];
  }

  rest(paint) {
    clearTimeout(this.resting);
    const left = this.drawn + IDLE_MS - performance.now();
    if (left <= 0) paint();
    else this.resting = setTimeout(() => this.rest(paint), left);
  }

  // Whether what is seen at this place is not what the last still shows: video that comes late shows what was. What
  // differs from still to still moves by itself, and may be touched.
  stale({ x, y }) {
    const now = performance.now();
    if (now - this.drawn > IDLE_MS || !this.stills.length) return false;
    const [last, ...before] = this.stills;
    const moves = before.length === 2 && now - before[1].at < MOVING_MS && unlike(last.small, before[0].small, x, y) && unlike(before[0].small, before[1].small, x, y);
    return !moves && unlike(pixels(this.canvas), last.small, x, y);
  }
}

function pixels(picture) {
  const small = new OffscreenCanvas(...SMALL).getContext("2d", { willReadFrequently: true });
  small.drawImage(picture, 0, 0, ...SMALL);
  return small.getImageData(0, 0, ...SMALL).data;
}

// Whether two pictures differ by more than an encoder does in any cell around the place.
function unlike(one, other, x, y) {
  const [width, height] = SMALL;
  const from = (at, size) => Math.max(0, Math.floor((at - AROUND) * size));
  const to = (at, size) => Math.min(size, Math.ceil((at + AROUND) * size));
  for (let top = from(y, height); top < to(y, height); top += CELL) {
    for (let left = from(x, width); left < to(x, width); left += CELL) {
      let sum = 0;
      let count = 0;
      for (let row = top; row < Math.min(height, top + CELL); row++) {
        for (let at = (row * width + left) * 4; at < (row * width + Math.min(width, left + CELL)) * 4; at++) {
          sum += Math.abs(one[at] - other[at]);
          count++;
        }
      }
      if (sum > UNLIKE * count) return true;
    }
  }
  return false;
}
