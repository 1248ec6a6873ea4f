// The passages that an answer may rest on, each with its place and a way into the document.

import { make } from "./dom.js";
import { coverageText } from "./ledger.js";
import { render } from "./markdown.js";
import { openPage } from "./reader.js";

/** Heading and list for `sources`; ids begin with `prefix`. */
export function sourceList(sources, prefix) {
  return [
    make("h4", { className: "aside-label" }, "Sources"),
    make("ol", { className: "source-list" }, ...sources.map((source) => item(source, prefix))),
  ];
}

function item(source, prefix) {
  const place = placeOf(source);
  const read = make(
    "button",
    { type: "button", className: "quiet", aria: { label: `Read ${source.citation} in its page` } },
    "Read in its page",
  );
  read.addEventListener("click", () => openPage(source));
  return make(
    "li",
    { id: `${prefix}-source-${source.number}`, tabIndex: -1, className: "source", data: { number: source.number, chunk: source.chunk_id } },
    make(
      "p",
      { className: "source-label" },
      make("span", { className: "source-number", aria: { hidden: "true" } }, String(source.number)),
      make("cite", { title: source.path }, source.name),
      place.page && make("span", { className: "source-page" }, place.page),
      place.headings && make("span", { className: "source-headings" }, place.headings),
    ),
    source.coverage ? make("p", { className: "missing" }, `${coverageText(source.coverage.pages, source.coverage.pages - source.coverage.readable)}; what the other pages say is not known.`) : null,
    make("blockquote", { className: "passage" }, ...render(source.preview, () => null)),
    make("p", { className: "ranks" }, read, " ", ranks(source)),
  );
}

/**
 * The place within the document, taken from the label `[name, p.4 — A > B]`, which the query
 * service alone knows how to write.
 */
function placeOf(source) {
  const { name } = source;
  const inner = source.label.replace(/^\[/, "").replace(/\]$/, "");
  const rest = inner.startsWith(name) ? inner.slice(name.length) : inner;
  const [place, ...headings] = rest.split(" — ");
  return { page: place.replace(/^,\s*/, "").trim(), headings: headings.join(" — ").trim() };
}

function ranks(source) {
  const found = [
    source.keyword_rank ? `by its words no. ${source.keyword_rank}` : null,
    source.vector_rank ? `by its meaning no. ${source.vector_rank}` : null,
  ].filter(Boolean);
  const score = `score ${source.score.toFixed(4)}`;
  return [found.length ? `found ${found.join(", ")}` : null, score].filter(Boolean).join(" · ");
}
