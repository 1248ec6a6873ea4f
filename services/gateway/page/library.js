// The shelf: every document, how it stands, and what can be done about it.

import { call } from "./api.js";
import { byId, bytes, count, icon, make, problem, sentence } from "./dom.js";

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

const FORMATS = { pdf: "PDF", markdown: "Markdown", text: "plain text", html: "HTML", csv: "table", docx: "Word" };

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
}

/** Asks for the documents on show and redraws those that changed. */
export async function refresh() {
  const mine = (turn += 1);
  const { documents, total } = await load();
  if (mine !== turn) return;
  draw(documents);
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
    row.element.remove();
    rows.delete(id);
  }
  documents.forEach((view, at) => {
    const seen = JSON.stringify(view);
    let row = rows.get(view.id);
    if (!row) {
      row = { element: make("li", { className: "document" }), seen: "" };
      rows.set(view.id, row);
    }
    if (row.seen !== seen) redraw(row, view, seen);
    if (shelf.children[at] !== row.element) shelf.insertBefore(row.element, shelf.children[at] ?? null);
  });
}

/** Draws a row anew and gives focus back to the button that had it. */
function redraw(row, view, seen) {
  const held = row.element.contains(document.activeElement) ? document.activeElement.dataset.act : null;
  row.seen = seen;
  row.element.dataset.state = view.state;
  row.element.replaceChildren(...parts(view));
  if (held) row.element.querySelector(`[data-act="${held}"]`)?.focus();
}

function parts(view) {
  const [symbol, word] = STATES[view.state] ?? ["queued", view.state];
  const retryable = view.state === "failed" || view.state === "partial";
  return [
    make("p", { className: `state state-${symbol}` }, icon(symbol), word),
    make(
      "div",
      { className: "document-acts" },
      retryable ? button("retry", "Retry", `Retry ${view.name}`, () => retry(view)) : null,
      button("delete", "Delete", `Delete ${view.name}`, () => remove(view)),
    ),
    make(
      "div",
      { className: "document-body" },
      make("p", { className: "document-name", title: view.path }, view.name),
      make("p", { className: "document-facts" }, facts(view)),
      missing(view),
      view.error ? problem(view.error) : null,
    ),
  ];
}

function facts(view) {
  const older = view.searchable && !["ready", "partial"].includes(view.state);
  return [
    FORMATS[view.format] ?? view.format,
    view.pages ? count(view.pages, "page") : null,
    view.chunks ? count(view.chunks, "passage") : null,
    bytes(view.bytes),
    view.collection === "default" ? null : `in ${view.collection}`,
    older ? "an older version can be asked meanwhile" : null,
  ].filter(Boolean).join(" · ");
}

function missing(view) {
  const pages = view.missing_pages ?? [];
  if (pages.length === 0) return null;
  const some = pages.slice(0, 12).join(", ");
  const rest = pages.length > 12 ? ` and ${pages.length - 12} more` : "";
  const noun = pages.length === 1 ? "Page" : "Pages";
  return make("p", { className: "missing" }, `${noun} ${some}${rest} could not be read.`);
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
