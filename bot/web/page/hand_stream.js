// The live pictures of a phone that one holds: read as they come, and only while the page is looked at.

const AGAIN_MS = 400;

// Calls `on.still(number, blob)`, with null for a screen that may not be shown, `on.lost()` and `on.over()`; and where
// there is an `on.video`, `on.video(head, bytes)` with each picture of the phone's video.
export class Stills {
  constructor(hold, on) {
    this.hold = hold;
    this.on = on;
    this.seen = () => (document.hidden ? this.stop() : this.run());
    document.addEventListener("visibilitychange", this.seen);
    this.seen();
  }

  close() {
    document.removeEventListener("visibilitychange", this.seen);
    this.stop();
  }

  stop() {
    this.abort?.abort();
    this.abort = null;
  }

  async run() {
    this.stop();
    const abort = new AbortController();
    this.abort = abort;
    while (this.abort === abort) {
      try {
        const response = await fetch(`/api/hand/${this.hold}/stills${this.on.video ? "?video=1" : ""}`, { credentials: "same-origin", signal: abort.signal });
        if (response.status === 404) {
          this.close();
          this.on.over();
          return;
        }
        if (response.ok) await this.read(response.body.getReader());
        else this.on.lost();
      } catch {
        if (this.abort !== abort) return;
        this.on.lost();
      }
      await new Promise((again) => setTimeout(again, AGAIN_MS));
    }
  }

  // Four bytes with the length of a line of JSON, the line, and as many bytes of a picture as it says.
  async read(reader) {
    let kept = new Uint8Array(0);
    const take = async (count) => {
      while (kept.length < count) {
        const { done, value } = await reader.read();
        if (done) return null;
        const longer = new Uint8Array(kept.length + value.length);
        longer.set(kept);
        longer.set(value, kept.length);
        kept = longer;
      }
      const taken = kept.subarray(0, count);
      kept = kept.subarray(count);
      return taken;
    };
    for (;;) {
      const length = await take(4);
      if (!length) return;
      const line = await take(new DataView(length.buffer, length.byteOffset).getUint32(0));
      if (!line) return;
      const head = JSON.parse(new TextDecoder().decode(line));
      const picture = await take(head.bytes);
      if (!picture) return;
      if (head.video) this.on.video(head, picture.slice());
      else this.on.still(head.still, head.bytes ? new Blob([picture.slice()], { type: "image/jpeg" }) : null);
    }
  }
}
