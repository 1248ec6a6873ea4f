// Files to add, from the two buttons or dropped on the page. Each is `{ file, name }`, where the
// name is relative to what was picked, so that a folder keeps its shape.

import { byId } from "./dom.js";

/** Names that no one means to add: hidden files and folders. */
const hidden = (name) => name.split("/").some((part) => part.startsWith("."));

/** Calls `add(picked)` whenever people choose files. */
export function startPicking(add) {
  for (const [button, input] of [["pick-files", "files"], ["pick-folder", "folder"]]) {
    byId(button).addEventListener("click", () => byId(input).click());
    byId(input).addEventListener("change", (event) => {
      const picked = [...event.target.files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));
      event.target.value = "";
      add(picked.filter(({ name }) => !hidden(name)));
    });
  }
  startDropping(add);
}

function startDropping(add) {
  const zone = byId("drop");
  const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  // The whole page takes the drop: a near miss must not make the browser open the file instead.
  let depth = 0;
  const show = () => zone.classList.toggle("over", depth > 0);
  document.addEventListener("dragenter", (event) => {
    if (!carriesFiles(event)) return;
    depth += 1;
    show();
  });
  document.addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    show();
  });
  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  document.addEventListener("drop", async (event) => {
    depth = 0;
    show();
    if (!carriesFiles(event)) return;
    event.preventDefault();
    add(await dropped(event.dataTransfer));
  });
}

async function dropped(transfer) {
  // Entries must be taken before the first wait; the browser empties the list afterwards.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return [...transfer.files].map((file) => ({ file, name: file.name }));
  const found = [];
  for (const entry of entries) await walk(entry, found);
  return found.filter(({ name }) => !hidden(name));
}

async function walk(entry, found) {
  const name = entry.fullPath.replace(/^\//, "");
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ file, name });
    return;
  }
  const reader = entry.createReader();
  // A reader gives at most 100 entries at a time, and none at the end.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const inner of some) await walk(inner, found);
  }
}
