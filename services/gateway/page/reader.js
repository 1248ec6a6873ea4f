// A page of a document as it was read, with the passage marked.

import { call } from "./api.js";
import { byId, make, problem } from "./dom.js";

const dialog = byId("reader");
const body = byId("reader-body");

/** Shows the page on which `source` begins. */
export async function openPage(source) {
  byId("reader-title").textContent = source.citation.replace(/^\[|\]$/g, "");
  byId("reader-original").href = `/api/v1/documents/${source.document_id}/original`;
  body.replaceChildren(make("p", { className: "hint" }, "Reading…"));
  if (!dialog.open) dialog.showModal();
  const span = source.spans[0];
  try {
    const page = await call("GET", `/documents/${source.document_id}/pages/${span.page}`);
    show(page.markdown, span);
  } catch (error) {
    body.replaceChildren(problem(error));
  }
}

/** Spans count bytes of UTF-8. */
function show(markdown, { start, end }) {
  const bytes = new TextEncoder().encode(markdown);
  const part = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
  const marked = make("mark", { tabIndex: -1 }, part(start, end));
  body.replaceChildren(make("pre", {}, part(0, start), marked, part(end, bytes.length)));
  marked.focus({ preventScroll: true });
  marked.scrollIntoView({ block: "center" });
}

/** Shows a page of the document `view` as it was read. */
export async function openText(view, page, name) {
  byId("reader-title").textContent = `${view.name}, ${name}`;
  byId("reader-original").href = `/api/v1/documents/${view.id}/original`;
  body.replaceChildren(make("p", { className: "hint" }, "Reading…"));
  if (!dialog.open) dialog.showModal();
  try {
    const { markdown } = await call("GET", `/documents/${view.id}/pages/${page.number}`);
    body.replaceChildren(make("pre", {}, markdown || "The page is blank."));
  } catch (error) {
    body.replaceChildren(problem(error));
  }
}

export function startReading() {
  byId("reader-close").addEventListener("click", () => dialog.close());
}
