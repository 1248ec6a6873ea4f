// Ties the page's parts together and keeps them fresh.

import { offerCollections, startAsking } from "./ask.js";
import { byId, make, withCode } from "./dom.js";
import { refresh, startLibrary } from "./library.js";
import { logInFromAddress, startLogin } from "./login.js";
import { startModels } from "./models.js";
import { startOptions } from "./options.js";
import { startPicking } from "./pick.js";
import { startReading } from "./reader.js";
import { inWork, refreshStatus } from "./status.js";
import { startUnlocking } from "./unlock.js";
import { startUploads } from "./uploads.js";

const BUSY_MS = 1500;
const CALM_MS = 10000;
/** The contract's rule for the name of a collection. */
const COLLECTION = /^[a-z0-9][a-z0-9_-]{0,63}$/;

let timer = null;

function notice(text) {
  byId("notice").replaceChildren(...withCode(text));
}

/** Refreshes now, and again sooner while something is in work. */
async function tick() {
  clearTimeout(timer);
  const [catalog] = await Promise.all([refreshStatus(), refresh().catch(() => {})]);
  if (catalog) showCollections(catalog.collections.map(([name]) => name));
  clearTimeout(timer);
  timer = setTimeout(tick, inWork(catalog) > 0 && !document.hidden ? BUSY_MS : CALM_MS);
}

function showCollections(names) {
  offerCollections(names);
  byId("collections").replaceChildren(...names.map((name) => make("option", { value: name })));
}

/** The collection to add to; nothing, and a word about it, when the name cannot be one. */
function chosenCollection() {
  const input = byId("collection");
  const name = input.value.trim() || "default";
  const fine = COLLECTION.test(name);
  input.setAttribute("aria-invalid", String(!fine));
  if (fine) return name;
  notice("A collection's name has lower-case letters, digits, “_” and “-”, and begins with a letter or digit.");
  input.focus();
  return null;
}

let soon = null;
const add = startUploads(() => {
  // Many small files finish in one breath; one refresh serves them all.
  clearTimeout(soon);
  soon = setTimeout(tick, 300);
});

startLogin();
await logInFromAddress();
startModels();
startOptions();
startAsking();
startReading();
startLibrary(notice);
startUnlocking((text) => {
  notice(text);
  tick();
});
startPicking((picked) => {
  if (picked.length === 0) return notice("There was no file to add.");
  const collection = chosenCollection();
  if (collection) add(picked, collection);
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) tick();
});
tick();
