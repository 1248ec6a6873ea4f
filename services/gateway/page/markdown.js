// The part of Markdown that answers use, built as elements. Whatever is not understood stays as
// the text it is. Links and images are never made: a document must not be able to call home.

import { make } from "./dom.js";

const INLINE = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(\*[^*\s][^*\n]*\*)|(\uE000\d{1,3}\uE001)/g;

/** A line with a citation alone: below a quotation, whence it comes. */
const ATTRIBUTION = /^\uE000(\d{1,3})\uE001\s*$/;

/**
 * `text` with each citation, such as `[handbook.pdf, p.4]`, in place of its number between two
 * private characters. Names may hold anything, so this comes before all other marks. Two sources
 * of one page share a citation, and the first stands for both.
 */
export function mark(text, sources) {
  let marked = text.replace(/[\uE000\uE001]/g, "");
  const seen = new Set();
  for (const { number, citation } of sources) {
    if (seen.has(citation)) continue;
    seen.add(citation);
    marked = marked.replaceAll(citation, `\uE000${number}\uE001`);
  }
  return marked;
}

/**
 * Elements for `text`. `cite(number, alone)` gives the element of a citation mark, or nothing;
 * `alone` where it has a line of its own.
 */
export function render(text, cite) {
  const blocks = [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let at = 0; at < lines.length; ) {
    const [block, next] = readBlock(lines, at, cite);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function readBlock(lines, at, cite) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  const attribution = line.match(ATTRIBUTION);
  const source = attribution && cite(Number(attribution[1]), true);
  if (source) return [make("p", { className: "attribution" }, source), at + 1];
  const fence = line.match(/^\s{0,3}(```+|~~~+)/);
  if (fence) return readFence(lines, at, fence[1]);
  if (/^\s{0,3}>/.test(line)) {
    const [inner, next] = take(lines, at, /^\s{0,3}>/);
    const text = inner.map((quoted) => quoted.replace(/^\s{0,3}> ?/, "")).join("\n");
    return [make("blockquote", {}, ...render(text, cite)), next];
  }
  if (/^\s{0,3}(---+|\*\*\*+|___+)\s*$/.test(line)) return [make("hr"), at + 1];
  const heading = line.match(/^\s{0,3}#{1,6}\s+(.*?)\s*#*$/);
  if (heading) return [make("p", { className: "md-heading" }, ...inline(heading[1], cite)), at + 1];
  if (/^\s{0,3}[-*+]\s+/.test(line)) return readList(lines, at, "ul", /^\s{0,3}[-*+]\s+/, cite);
  if (/^\s{0,3}\d{1,4}[.)]\s+/.test(line)) return readList(lines, at, "ol", /^\s{0,3}\d{1,4}[.)]\s+/, cite);
  if (/^\s{0,3}\|/.test(line)) {
    const [rows, next] = take(lines, at, /^\s{0,3}\|/);
    return [table(rows, cite), next];
  }
  const [text, next] = take(lines, at, /^(?!\s{0,3}(>|```|~~~|#{1,6}\s|\|)).*\S/);
  // A line that opens a block it then does not fill must still move on.
  return next > at
    ? [make("p", {}, ...inline(text.join("\n"), cite)), next]
    : [make("p", {}, ...inline(line, cite)), at + 1];
}

function take(lines, at, pattern) {
  let end = at;
  while (end < lines.length && pattern.test(lines[end])) end += 1;
  return [lines.slice(at, end), end];
}

function readFence(lines, at, mark) {
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end += 1;
  const code = make("code", {}, lines.slice(at + 1, end).join("\n"));
  return [make("pre", { tabIndex: 0 }, code), end + 1];
}

function readList(lines, at, tag, mark, cite) {
  const items = [];
  let end = at;
  while (end < lines.length && lines[end].trim()) {
    if (mark.test(lines[end])) items.push(lines[end].replace(mark, ""));
    else if (/^\s+\S/.test(lines[end])) items[items.length - 1] += `\n${lines[end].trim()}`;
    else break;
    end += 1;
  }
  return [make(tag, {}, ...items.map((item) => make("li", {}, ...inline(item, cite)))), end];
}

function table(rows, cite) {
  const cells = rows.map((row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/));
  const ruled = cells.length > 1 && cells[1].every((cell) => /^\s*:?-+:?\s*$/.test(cell));
  const line = (tag, row) =>
    make("tr", {}, ...row.map((cell) => make(tag, {}, ...inline(cell.trim().replaceAll("\\|", "|"), cite))));
  const body = (ruled ? cells.slice(2) : cells).map((row) => line("td", row));
  const parts = [make("tbody", {}, ...body)];
  if (ruled) parts.unshift(make("thead", {}, line("th", cells[0])));
  return make("div", { className: "md-table", tabIndex: 0 }, make("table", {}, ...parts));
}

function inline(text, cite) {
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, citation] = match;
    const node =
      (code && make("code", {}, code.slice(1, -1))) ||
      (strong && make("strong", {}, strong.slice(2, -2))) ||
      (emphasis && make("em", {}, emphasis.slice(1, -1))) ||
      (citation && cite(Number(citation.slice(1, -1)), false));
    if (!node) continue;
    nodes.push(text.slice(last, match.index), node);
    last = match.index + whole.length;
  }
  nodes.push(text.slice(last));
  return nodes.filter((node) => node !== "");
}
