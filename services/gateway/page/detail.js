// One document from the inside: how it stands, and its ledger, page by page.

import { call } from "./api.js";
import { byId, count, make, problem, sentence, withCode } from "./dom.js";
import { coverageText, kindOf, ledger, ledgerPart, legend, methodOf, placeOf, strip } from "./ledger.js";
import { openText } from "./reader.js";

/** Rows drawn at once. */
const ROWS = 100;
/** Pages looked at for the strip. */
const MOST = 5000;

const dialog = byId("detail");
const table = byId("detail-rows");
const more = byId("detail-more");
const choice = () => document.querySelector('input[name="detail-filter"]:checked').value;

/** What is on show: `view`, and the pages of the filter chosen. */
let shown = null;
let turn = 0;
let actsOf = () => [];

/** `acts(view)` gives the buttons of a document. */
export function startDetail(acts) {
  actsOf = acts;
  byId("detail-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    shown = null;
  });
  for (const radio of document.querySelectorAll('input[name="detail-filter"]')) {
    radio.addEventListener("change", () => shown && loadRows());
  }
  more.addEventListener("click", () => {
    const before = table.children.length;
    drawRows();
    table.children[before]?.querySelector("button")?.focus();
  });
}

/** Opens the document. */
export async function openDetail(view) {
  shown = { view, pages: [], all: [] };
  document.querySelector('input[name="detail-filter"][value=all]').checked = true;
  byId("detail-title").textContent = view.name;
  byId("detail-original").href = `/api/v1/documents/${view.id}/original`;
  table.replaceChildren();
  byId("detail-picture").replaceChildren();
  if (!dialog.open) dialog.showModal();
  drawHead(view);
  await reload();
}

/** Draws anew when the document on show has changed. */
export function refreshDetail(view) {
  if (!shown || shown.view.id !== view.id) return;
  if (JSON.stringify(shown.view) === JSON.stringify(view)) return;
  shown.view = view;
  drawHead(view);
  reload();
}

/** Closes it when its document is gone. */
export function closeDetail(id) {
  if (shown?.view.id === id) dialog.close();
}

async function reload() {
  const mine = (turn += 1);
  const { view } = shown;
  try {
    const whole = await call("GET", `/documents/${view.id}`);
    if (mine !== turn || !shown) return;
    drawHead(whole);
    if (!whole.searchable) return quiet();
    shown.all = await ledger(view.id, MOST);
    if (mine !== turn || !shown) return;
    const kinds = shown.all.map(kindOf);
    byId("detail-picture").replaceChildren(strip(kinds), legend(kinds));
    await loadRows();
  } catch (error) {
    if (mine === turn) quiet(problem(error));
  }
}

/** No pages to show, or the reason why not. */
function quiet(reason) {
  byId("detail-ledger").hidden = true;
  if (reason) byId("detail-picture").replaceChildren(reason);
}

function drawHead(view) {
  const parts = [
    coverageText(view.pages, view.missing_count) || count(view.pages, "page"),
    count(view.chunks, "passage"),
    view.path,
  ];
  const notes = (view.notes ?? []).map((note) => make("p", { className: "note" }, ...withCode(sentence(note))));
  if (view.outdated) {
    notes.push(make("p", { className: "note" }, "It was read by an earlier version of the program. “Read again” brings it up to date; until then it is found as it is."));
  }
  byId("detail-head").replaceChildren(
    make("p", { className: "document-facts" }, parts.join(" · ")),
    ...(view.error ? [problem(view.error)] : []),
    ...notes,
    make("div", { className: "detail-acts" }, ...actsOf(view).filter(Boolean)),
  );
}

/** The rows of the filter chosen, from the first one on. */
async function loadRows() {
  const mine = turn;
  const wanted = choice();
  const { view } = shown;
  let pages = shown.all;
  if (wanted === "missing") pages = await allMissing(view, pages);
  else if (wanted === "doubtful") pages = pages.filter((page) => ["doubtful", "ocr"].includes(kindOf(page)));
  if (mine !== turn || !shown || choice() !== wanted) return;
  shown.pages = pages;
  table.replaceChildren();
  byId("detail-ledger").hidden = false;
  byId("detail-none").hidden = pages.length > 0;
  byId("detail-table").hidden = pages.length === 0;
  drawRows();
}

/** The missing pages, of a very long document asked for apart. */
async function allMissing(view, pages) {
  if (pages.length < MOST) return pages.filter((page) => page.method === "missing");
  return (await ledgerPart(view.id, 0, true)).pages;
}

function drawRows() {
  const from = table.children.length;
  table.append(...shown.pages.slice(from, from + ROWS).map(row));
  const left = shown.pages.length - table.children.length;
  more.hidden = left <= 0;
  more.textContent = `Show more (${left.toLocaleString("en")} left)`;
}

function row(page) {
  const { view } = shown;
  const place = placeOf(page.locator);
  const name = place || `page ${page.number}`;
  const read = make("button", { type: "button", className: "quiet", aria: { label: `Read ${name}` } }, name);
  read.addEventListener("click", () => openText(view, page, name));
  const remarks = [page.error, ...page.doubts].filter(Boolean).map(sentence);
  const label = (text) => ({ data: { label: text } });
  return make(
    "tr",
    { className: `row-${kindOf(page)}` },
    make("th", { scope: "row" }, page.method === "missing" ? name : read),
    make("td", label("read by"), methodOf(page)),
    make("td", { className: "number", ...label("characters") }, page.characters.toLocaleString("en")),
    make("td", { className: "number", ...label("passages") }, String(page.chunks.length)),
    make("td", { className: "remarks" }, ...withCode(remarks.join(" "))),
  );
}
