// The shelf: every document, how it stands, and what can be done about it.

import { call } from "./api.js";
import { closeDetail, openDetail, refreshDetail, startDetail } from "./detail.js";
import { byId, bytes, count, icon, make, problem, sentence, withCode } from "./dom.js";
import { coverageText, gaps, kindOf, ledger, pagesText, strip } from "./ledger.js";
import { offerLanguages } from "./options.js";
import { isLocked, unlock } from "./unlock.js";

const PAGE = 50;
const shelf = byId("shelf");
const filter = byId("state-filter");

/** The contract's states: the icon, and the word people read. */
const STATES = {
  queued: ["queued", "waiting"],
  parsing: ["working", "reading pages"],
  chunking: ["working", "cutting passages"],
  embedding: ["working", "learning meanings"],
  indexing: ["working", "shelving"],
  ready: ["ready", "ready"],
  partial: ["partial", "partly read"],
  failed: ["failed", "failed"],
};

const FORMATS = {
  markdown: "Markdown", text: "plain text", pdf: "PDF", html: "HTML", csv: "table", docx: "Word",
  pptx: "PowerPoint", xlsx: "Excel", xls: "Excel", ods: "OpenDocument table", odt: "OpenDocument text",
  odp: "OpenDocument slides", rtf: "RTF", doc: "Word", ppt: "PowerPoint", epub: "e-book", json: "JSON",
  jsonl: "JSON lines", xml: "XML", notebook: "notebook", asciidoc: "AsciiDoc", rst: "reStructuredText",
  tex: "TeX", subtitles: "subtitles", code: "source text", eml: "e-mail", msg: "e-mail", mbox: "mailbox",
  zip: "ZIP archive", image: "picture",
};

/** Pages of a ledger that a row looks at. */
const MOST_PAGES = 2000;

/** Rows on show: id → { element, seen }, where `seen` is the view it was drawn from, as JSON. */
const rows = new Map();
let wanted = PAGE;
let turn = 0;
let notify = () => {};

/** `onNotice(text)` is told what people should hear of. */
export function startLibrary(onNotice) {
  notify = onNotice;
  filter.addEventListener("change", () => {
    wanted = PAGE;
    refresh();
  });
  byId("shelf-more").addEventListener("click", async () => {
    const before = shelf.children.length;
    wanted += PAGE;
    await refresh();
    shelf.children[before]?.querySelector("button")?.focus();
  });
  byId("retry-all").addEventListener("click", () =>
    act(async () => {
      const { documents } = await call("POST", "/retry", "all_failed");
      return `${count(documents.length, "document")} queued again.`;
    }),
  );
  byId("retry-outdated").addEventListener("click", () =>
    act(async () => {
      const { documents } = await call("POST", "/retry", "outdated");
      return `${count(documents.length, "document")} queued again.`;
    }),
  );
  window.addEventListener("hashchange", openFromAddress);
  openFromAddress();
  startDetail((view) => [
    isLocked(view) ? button("unlock", "Give the password…", `Give the password of ${view.name}`, () => unlock(view)) : null,
    canRetry(view) ? button("retry", "Read again", `Read ${view.name} again`, () => retry(view)) : null,
  ]);
}

/** A link may lead to a document: `/#document=ID`. */
async function openFromAddress() {
  const id = new URLSearchParams(location.hash.slice(1)).get("document");
  if (!id) return;
  try {
    await openDetail(await call("GET", `/documents/${encodeURIComponent(id)}`));
  } catch (error) {
    notify(`${sentence(error.message)} ${sentence(error.remedy)}`);
  }
}

/** Asks for the documents on show and redraws those that changed. */
export async function refresh() {
  const mine = (turn += 1);
  const { documents, total } = await load();
  if (mine !== turn) return;
  draw(documents);
  offerLanguages(documents.map((view) => view.language).filter(Boolean));
  const filtered = filter.value !== "";
  byId("shelf-empty").hidden = filtered || total > 0;
  byId("shelf-none").hidden = !filtered || total > 0;
  byId("shelf-more").hidden = documents.length >= total;
  byId("shelf-more").textContent = `Show more (${(total - documents.length).toLocaleString("en")} left)`;
}

async function load() {
  const documents = [];
  let after = null;
  let total = 0;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(500, wanted - documents.length)) });
    if (filter.value) query.set("state", filter.value);
    if (after) query.set("after", after);
    const page = await call("GET", `/documents?${query}`);
    documents.push(...page.documents);
    ({ next: after, total } = page);
  } while (after && documents.length < wanted);
  return { documents, total };
}

function draw(documents) {
  const kept = new Set(documents.map((view) => view.id));
  for (const [id, row] of rows) {
    if (kept.has(id)) continue;
    inSight.unobserve(row.element);
    row.element.remove();
    rows.delete(id);
  }
  documents.forEach((view, at) => {
    const seen = JSON.stringify(view);
    refreshDetail(view);
    let row = rows.get(view.id);
    if (!row) {
      row = { element: make("li", { className: "document", data: { id: view.id } }), seen: "", pages: null };
      rows.set(view.id, row);
    }
    if (row.seen !== seen) redraw(row, view, seen);
    if (shelf.children[at] !== row.element) shelf.insertBefore(row.element, shelf.children[at] ?? null);
  });
}

/** Draws a row anew and gives focus back to the button that had it. */
function redraw(row, view, seen) {
  const held = row.element.contains(document.activeElement) ? document.activeElement.dataset.act : null;
  const version = `${view.generation} ${view.indexed_ms}`;
  if (row.version !== version) row.pages = null;
  Object.assign(row, { seen, version, view });
  row.element.dataset.state = view.state;
  row.element.replaceChildren(...parts(view, row.pages));
  if (held) row.element.querySelector(`[data-act="${held}"]`)?.focus();
  // The ledger is asked for only by rows that are looked at.
  inSight.unobserve(row.element);
  if (!row.pages && view.searchable && view.pages > 0) inSight.observe(row.element);
}

const inSight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    inSight.unobserve(entry.target);
    const row = rows.get(entry.target.dataset.id);
    if (row) waiting.push(row);
  }
  look();
}, { rootMargin: "400px" });

/** Rows whose ledgers are to be asked for, one at a time. */
const waiting = [];
let looking = false;

async function look() {
  if (looking) return;
  looking = true;
  while (waiting.length > 0) {
    const row = waiting.shift();
    const { version, view } = row;
    try {
      const pages = await ledger(view.id, MOST_PAGES);
      if (row.version !== version || rows.get(view.id) !== row) continue;
      row.pages = pages;
      redraw(row, row.view, row.seen);
    } catch {
      // The row shows what the listing tells.
    }
  }
  looking = false;
}

const canRetry = (view) => view.state === "failed" || view.state === "partial" || view.outdated;

function parts(view, pages) {
  const [symbol, word] = STATES[view.state] ?? ["queued", view.state];
  return [
    make("p", { className: `state state-${symbol}` }, icon(symbol), word),
    make(
      "div",
      { className: "document-acts" },
      isLocked(view) ? button("unlock", "Unlock…", `Give the password of ${view.name}`, () => unlock(view)) : null,
      canRetry(view) ? button("retry", "Read again", `Read ${view.name} again`, () => retry(view)) : null,
      button("delete", "Delete", `Delete ${view.name}`, () => remove(view)),
    ),
    make(
      "div",
      { className: "document-body" },
      make("p", { className: "document-name", title: view.path }, nameButton(view)),
      make("p", { className: "document-facts" }, facts(view)),
      picture(view, pages),
      ...missing(view, pages),
      view.error ? problem(view.error) : null,
    ),
  ];
}

function facts(view) {
  const older = view.searchable && !["ready", "partial"].includes(view.state);
  return [
    FORMATS[view.format] ?? view.format,
    coverageText(view.pages, view.missing_count) || (view.pages ? count(view.pages, "page") : null),
    view.chunks ? count(view.chunks, "passage") : null,
    bytes(view.bytes),
    view.collection === "default" ? null : `in ${view.collection}`,
    older ? "an older version can be asked meanwhile" : null,
    view.outdated ? "read by an earlier version of the program" : null,
  ].filter(Boolean).join(" · ");
}

function nameButton(view) {
  const open = button("open", view.name, `${view.name}: how its pages were read`, () => openDetail(view));
  open.className = "name-button";
  return open;
}

/** The strip of the pages: all kinds once the ledger is there, until then what the listing knows. */
function picture(view, pages) {
  if (!view.searchable || view.pages === 0) return null;
  if (pages && pages.length >= Math.min(view.pages, MOST_PAGES)) return strip(pages.map(kindOf));
  if (view.missing_count !== (view.missing_pages ?? []).length) return null;
  const gone = new Set(view.missing_pages);
  return strip(Array.from({ length: view.pages }, (_, at) => (gone.has(at + 1) ? "missing" : "read")));
}

function missing(view, pages) {
  if (!view.missing_count) return [];
  const found = pages ? gaps(pages) : [{ reason: "could not be read", numbers: view.missing_pages ?? [] }];
  const told = found.map(({ reason, numbers }) => `${pagesText(numbers)}${pages ? ":" : ""} ${reason || "could not be read"}`);
  return told.map((text) => make("p", { className: "missing" }, ...withCode(sentence(text))));
}

function button(act, text, label, onclick) {
  return make("button", { type: "button", className: "quiet", onclick, data: { act }, aria: { label } }, text);
}

const retry = (view) =>
  act(async () => {
    await call("POST", `/documents/${view.id}/retry`);
    return `${view.name} is queued again.`;
  });

async function remove(view) {
  if (!(await confirmed(view))) return;
  const row = rows.get(view.id)?.element;
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  await act(async () => {
    const receipt = await call("DELETE", `/documents/${view.id}`);
    closeDetail(view.id);
    const waiting = receipt.stores.filter((store) => store.purged_ms === null).map((store) => store.store);
    return waiting.length
      ? `${view.name} is hidden; ${waiting.join(", ")} will be purged shortly.`
      : `${view.name} is gone from ${receipt.stores.map((store) => store.store).join(", ")}.`;
  });
  (next?.querySelector("[data-act=delete]") ?? byId("pick-files")).focus();
}

function confirmed(view) {
  const dialog = byId("confirm");
  const uploaded = view.path.startsWith("upload://");
  byId("confirm-text").textContent = uploaded
    ? `“${view.name}”, its stored copy and everything made from it are removed from this machine.`
    : `“${view.name}” and everything made from it are removed from Ibid. The file itself stays where it is: ${view.path}`;
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "delete"), { once: true });
  });
}

async function act(work) {
  try {
    notify(await work());
  } catch (error) {
    notify(`${sentence(error.message)} ${sentence(error.remedy)}`);
  }
  await refresh().catch(() => {});
}
