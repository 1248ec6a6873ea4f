// The page ledger: how each page of a document was read, in words and as a picture.

import { call } from "./api.js";
import { count, make } from "./dom.js";

const PART = 500;
const SVG = "http://www.w3.org/2000/svg";

/** The kinds of pages, in the order of the legend. */
export const KINDS = {
  read: "read",
  doubtful: "read with doubts",
  ocr: "read by OCR",
  missing: "missing",
};

const METHODS = {
  native: "its own text",
  text_layer: "text layer",
  fallback: "second reader",
  ocr: "OCR",
  missing: "missing",
};

export const methodOf = (page) => METHODS[page.method] ?? page.method;

export function kindOf(page) {
  if (page.method === "missing") return "missing";
  if (page.method === "ocr") return "ocr";
  return page.method === "fallback" || page.doubts.length > 0 ? "doubtful" : "read";
}

/** Where a page stands, as the command line tells it: `p.iv (4)`, `slide 3`; nothing where its document has no places. */
export function placeOf({ kind, ...at }) {
  switch (kind) {
    case "pdf_page":
      return at.label && at.label !== String(at.physical) ? `p.${at.label} (${at.physical})` : `p.${at.physical}`;
    case "slide":
      return `slide ${at.number}`;
    case "sheet":
      return `${at.name} rows ${at.rows[0]}–${at.rows[1]}`;
    case "message":
      return `message ${at.number}`;
    case "part":
      return at.name;
    case "entry":
      return [at.path, placeOf(at.inner)].filter(Boolean).join(", ");
    case "section":
      return at.heading;
    default:
      return "";
  }
}

/** A part of the ledger: pages after number `after`. */
export function ledgerPart(id, after, missing = false, limit = PART) {
  const query = new URLSearchParams({ text: "false", after: String(after), limit: String(limit) });
  if (missing) query.set("missing", "true");
  return call("GET", `/documents/${id}/pages?${query}`);
}

/** The ledger from its first page on, at most `most` pages. */
export async function ledger(id, most) {
  const pages = [];
  let after = 0;
  do {
    const part = await ledgerPart(id, after);
    pages.push(...part.pages);
    after = part.next;
  } while (after && pages.length < most);
  return pages;
}

/** `3–7, 9` */
export function ranges(numbers) {
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] + 1 === number) last[1] = number;
    else found.push([number, number]);
  }
  const told = found.slice(0, 12).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  const left = found.slice(12).reduce((sum, [from, to]) => sum + to - from + 1, 0);
  return [...told, left ? `and ${left.toLocaleString("en")} more` : null].filter(Boolean).join(", ");
}

/** `Pages 3–7` */
export const pagesText = (numbers) => `${numbers.length === 1 ? "Page" : "Pages"} ${ranges(numbers)}`;

/** The missing among `pages` by reason, each `{ reason, numbers }`. */
export function gaps(pages) {
  const found = new Map();
  for (const page of pages) {
    if (page.method !== "missing") continue;
    const reason = page.error ?? "";
    if (!found.has(reason)) found.set(reason, []);
    found.get(reason).push(page.number);
  }
  return [...found].map(([reason, numbers]) => ({ reason, numbers }));
}

/** How many pages of each kind there are. */
export function tally(kinds) {
  const sums = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]));
  for (const kind of kinds) sums[kind] += 1;
  return sums;
}

/** `113 of 311 pages readable`; nothing when all are. */
export function coverageText(pages, missing) {
  if (!missing) return "";
  const readable = (pages - missing).toLocaleString("en");
  return `${readable} of ${count(pages, "page")} readable`;
}

/** The strip's heights tell the kinds apart without colours: from full for what was read to an outline for what is missing. */
const SHAPES = { read: [0, 10], doubtful: [3, 7], ocr: [5, 5], missing: [9, 1] };

/** All pages as one strip, in order; what it shows is said in words to those who do not see it. */
export function strip(kinds) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "strip");
  svg.setAttribute("viewBox", `0 0 ${kinds.length} 10`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", stripText(kinds));
  let from = 0;
  for (let at = 1; at <= kinds.length; at += 1) {
    if (kinds[at] === kinds[from]) continue;
    const [top, height] = SHAPES[kinds[from]];
    const run = document.createElementNS(SVG, "rect");
    run.setAttribute("class", `page-${kinds[from]}`);
    run.setAttribute("x", from);
    run.setAttribute("width", at - from);
    run.setAttribute("y", top);
    run.setAttribute("height", height);
    svg.append(run);
    from = at;
  }
  return svg;
}

function stripText(kinds) {
  const sums = tally(kinds);
  const parts = Object.entries(KINDS)
    .filter(([kind]) => sums[kind] > 0)
    .map(([kind, word]) => `${sums[kind].toLocaleString("en")} ${word}`);
  return `${count(kinds.length, "page")}: ${parts.join(", ")}`;
}

/** What the strip's shapes mean, with the number of pages of each kind. */
export function legend(kinds) {
  const sums = tally(kinds);
  const items = Object.entries(KINDS)
    .filter(([kind]) => sums[kind] > 0)
    .map(([kind, word]) =>
      make("li", {}, make("span", { className: `swatch swatch-${kind}`, aria: { hidden: "true" } }),
        `${sums[kind].toLocaleString("en")} ${word}`),
    );
  return make("ul", { className: "legend" }, ...items);
}
