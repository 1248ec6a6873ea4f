// Sending files, a few at a time, and saying how far they are.

import { ApiError, upload } from "./api.js";
import { byId, bytes, count, make, problem, timeLeft } from "./dom.js";

const AT_ONCE = 3;
/** How often one file is sent again while the server is busy or a service starts anew. */
const TRIES = 15;
const PASSING = ["busy", "unavailable"];

const panel = byId("uploads");
const list = byId("uploads-list");
const bar = byId("uploads-bar");

let batch = null;

/** Readies the panel; `onAdded` is called after each file taken in. */
export function startUploads(onAdded) {
  byId("uploads-stop").addEventListener("click", () => batch?.stop.abort());
  byId("uploads-close").addEventListener("click", () => {
    panel.hidden = true;
    byId("pick-files").focus();
  });
  return (picked, collection) => add(picked, collection, onAdded);
}

function add(picked, collection, onAdded) {
  if (picked.length === 0) return;
  if (!batch) {
    batch = {
      queue: [], total: 0, bytes: 0, sent: 0, partly: new Map(), began: performance.now(),
      added: 0, unchanged: 0, refused: 0, workers: 0, stop: new AbortController(),
    };
    list.replaceChildren();
    panel.hidden = false;
    byId("uploads-stop").hidden = false;
    byId("uploads-close").hidden = true;
    say(`Adding ${count(picked.length, "file")}.`);
  }
  for (const { file, name } of picked) {
    batch.queue.push({ file, name, collection });
    batch.total += 1;
    batch.bytes += file.size;
  }
  show();
  while (batch.workers < AT_ONCE && batch.workers < batch.total) {
    batch.workers += 1;
    work(batch, onAdded);
  }
}

async function work(mine, onAdded) {
  while (mine.queue.length > 0 && !mine.stop.signal.aborted) {
    await sendOne(mine, mine.queue.shift());
    onAdded();
  }
  mine.workers -= 1;
  if (mine.workers === 0) finish(mine);
}

async function sendOne(mine, { file, name, collection }) {
  const progress = make("progress", { max: 1, value: 0, aria: { label: `Sending ${name}` } });
  const row = make("li", {}, make("span", { className: "upload-name", title: name }, name), progress);
  list.prepend(row);
  const onProgress = (sent) => {
    progress.value = file.size ? Math.min(1, sent / file.size) : 1;
    mine.partly.set(row, Math.min(sent, file.size));
    show();
  };
  try {
    const { outcome } = await patiently(mine, () => upload(formOf(file, name, collection), onProgress, mine.stop.signal));
    if (outcome === "unchanged") mine.unchanged += 1;
    else mine.added += 1;
    row.remove();
  } catch (error) {
    if (error.name === "AbortError") {
      row.remove();
      return;
    }
    mine.refused += 1;
    row.classList.add("refused");
    progress.replaceWith(problem(error));
    list.append(row);
  } finally {
    mine.partly.delete(row);
    mine.sent += file.size;
    show();
  }
}

function formOf(file, name, collection) {
  const form = new FormData();
  form.append("path", `upload://${collection}/${name}`);
  form.append("collection", collection);
  if (file.lastModified) form.append("modified", String(file.lastModified));
  form.append("file", file, file.name);
  return form;
}

/** Sends again while what is in the way will pass. */
async function patiently(mine, attempt) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      const passes = error instanceof ApiError && PASSING.includes(error.code);
      if (!passes || tried >= TRIES || mine.stop.signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

function show() {
  const mine = batch;
  if (!mine) return;
  const sent = mine.sent + [...mine.partly.values()].reduce((sum, n) => sum + n, 0);
  const done = mine.added + mine.unchanged + mine.refused;
  const elapsed = (performance.now() - mine.began) / 1000;
  const left = elapsed > 1 && sent > 0 ? timeLeft(((mine.bytes - sent) * elapsed) / sent) : "";
  bar.value = mine.bytes ? sent / mine.bytes : done / mine.total;
  byId("uploads-title").textContent = `Adding ${count(mine.total, "file")}`;
  byId("uploads-text").textContent =
    [`${done} of ${mine.total}`, `${bytes(sent)} of ${bytes(mine.bytes)}`, left].filter(Boolean).join(" · ");
}

function finish(mine) {
  const stopped = mine.stop.signal.aborted;
  const parts = [
    `${count(mine.added, "file")} added`,
    mine.unchanged ? `${mine.unchanged} already indexed, skipped` : null,
    mine.refused ? `${mine.refused} not taken` : null,
  ].filter(Boolean);
  byId("uploads-title").textContent = stopped ? "Stopped" : "Added";
  byId("uploads-text").textContent = parts.join(" · ");
  bar.value = 1;
  const held = document.activeElement === byId("uploads-stop");
  byId("uploads-stop").hidden = true;
  byId("uploads-close").hidden = false;
  if (held) byId("uploads-close").focus();
  say(`${stopped ? "Stopped. " : ""}${parts.join(", ")}.`);
  batch = null;
}

function say(message) {
  byId("uploads-status").textContent = message;
}
