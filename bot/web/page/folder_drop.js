// Bringing in a folder of a member or a skill: dropped, or chosen as a folder or a zip file.

import { h, icon } from "./dom.js";
import { act, status, tell } from "./forms.js";
import { send } from "./service.js";
import { say } from "./words.js";

const MOST_BYTES = 2_000_000; // as the service has it: more is not even read here
const THERE = 412;

export class FolderDrop {
  constructor(kind, done) {
    this.kind = kind;
    this.done = done;
    this.status = status();
    this.replace = h("div", { class: "row", hidden: true });
    const pick = (label, properties) => {
      const input = h("input", { type: "file", hidden: true, "aria-label": label, ...properties });
      input.addEventListener("change", () => {
        this.take([...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
        input.value = "";
      });
      return [input, h("button", { class: "button", type: "button", onclick: () => input.click() }, label)];
    };
    const zone = h("div", { class: "folder-drop" }, icon("skill"), h("p", {}, say(`page.folder.${kind}`)),
      h("div", { class: "row" }, ...pick(say("page.folder.folder"), { webkitdirectory: true }), ...pick(say("page.folder.zip"), { accept: ".zip,application/zip" })));
    zone.addEventListener("dragover", (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", async (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      const plain = [...event.dataTransfer.files].map((file) => ({ path: file.name, file }));
      this.take(entries.some((entry) => entry.isDirectory) ? (await Promise.all(entries.map((entry) => below(entry)))).flat() : plain);
    });
    this.root = h("div", { class: "folder-bring" }, zone, this.status, this.replace);
  }

  async take(files) {
    this.replace.hidden = true;
    if (files.length === 0) return;
    if (files.reduce((sum, { file }) => sum + file.size, 0) > MOST_BYTES) {
      tell(this.status, say("page.folder.large", { most: MOST_BYTES / 1_000_000 }), true);
      return;
    }
    tell(this.status, say("page.folder.checking"));
    const packed = files.length === 1 && files[0].path.toLowerCase().endsWith(".zip");
    const wish = packed ? { zip: await base64(files[0].file) }
      : { files: await Promise.all(files.map(async ({ path, file }) => ({ path, data: await base64(file) }))) };
    await this.bring({ kind: this.kind, ...wish });
  }

  async bring(wish) {
    this.replace.hidden = true;
    try {
      tell(this.status, (await send("/api/connect/folders", wish)).text);
      await this.done();
    } catch (error) {
      tell(this.status, error.message, true);
      this.replace.hidden = error.status !== THERE;
      this.replace.replaceChildren(act(say("page.folder.replace"), "", () => this.bring({ ...wish, replace: true })));
    }
  }
}

// Every file below what was dropped, with its path.
async function below(entry) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [{ path: entry.fullPath.replace(/^\//, ""), file }];
  }
  const reader = entry.createReader();
  const found = [];
  // It gives a hundred at a time, and none at the end.
  for (let some = null; some === null || some.length > 0;) {
    some = await new Promise((done, failed) => reader.readEntries(done, failed));
    for (const one of some) found.push(...await below(one));
  }
  return found;
}

function base64(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => failed(reader.error));
    reader.readAsDataURL(file);
  });
}
