// The line at the foot: what is running, what is indexed, what is still to do.

import { call } from "./api.js";
import { byId, count, sentence, timeLeft, withCode } from "./dom.js";
import { coverageText } from "./ledger.js";

/** The services a whole Ibid consists of. */
const SERVICES = ["parser", "chunker", "embedder", "indexer", "query", "gateway"];

/** When the current stretch of work was first seen, and how much there was to do. */
let stretch = null;

/** Asks how Ibid is and shows it. Gives back the catalog's status, or nothing. */
export async function refreshStatus() {
  try {
    const { services, catalog, error } = await call("GET", "/status");
    showLine(services, catalog, error);
    showShelf(catalog);
    showWork(catalog);
    return catalog;
  } catch (error) {
    line("bad", `${sentence(error.message)} ${sentence(error.remedy)}`);
    return null;
  }
}

/** Whether documents wait or are being worked on. */
export const inWork = (catalog) => (catalog ? catalog.documents.queued + catalog.documents.working : 0);

function line(kind, text) {
  byId("status-dot").dataset.kind = kind;
  byId("status-text").replaceChildren(...withCode(text));
}

function showLine(services, catalog, error) {
  const ready = new Set(services.filter((service) => service.ready).map((service) => service.service));
  const away = SERVICES.filter((name) => !ready.has(name));
  const notes = [...new Set(services.flatMap((service) => service.notes ?? []))].map(sentence);
  if (!catalog) {
    line("bad", `${sentence(error?.message ?? "the catalog does not answer")} ${sentence(error?.remedy)}`);
  } else if (away.length > 0) {
    line("warn", [`Not ready: ${away.join(", ")}.`, ...notes].join(" "));
  } else {
    line("good", [`All services ready. Words are found by ${catalog.keyword_engine}, meanings by ${catalog.vector_engine}.`, ...notes].join(" "));
  }
}

function showShelf(catalog) {
  if (!catalog) return;
  const { queued, working, ready, partial, failed } = catalog.documents;
  const total = queued + working + ready + partial + failed;
  byId("shelf-count").textContent = total
    ? [
        count(total, "document"),
        coverageText(catalog.pages, catalog.missing_pages) || count(catalog.pages, "page"),
        count(catalog.chunks, "passage"),
      ].join(" · ")
    : "";
  byId("retry-all").hidden = failed === 0;
  byId("retry-outdated").hidden = !catalog.outdated;
  byId("retry-outdated").textContent = `Read ${count(catalog.outdated ?? 0, "outdated document")} again`;
}

function showWork(catalog) {
  const open = inWork(catalog);
  const text = byId("work-text");
  text.hidden = open === 0;
  if (open === 0) {
    stretch = null;
    return;
  }
  if (!stretch || open > stretch.open) stretch = { open, began: performance.now() };
  const done = stretch.open - open;
  const elapsed = (performance.now() - stretch.began) / 1000;
  const left = done > 0 ? timeLeft((open * elapsed) / done) : "";
  const { working, queued } = catalog.documents;
  text.textContent = [`${working} in work`, `${queued} waiting`, left].filter(Boolean).join(" · ");
}
