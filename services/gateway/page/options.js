// Search options: where to look, and how to rank. Kept while the tab is open, and shown as chips.

import { byId, make } from "./dom.js";

const KEY = "ibid.options";
const collection = byId("ask-collection");
const weight = byId("option-weight");
const automatic = byId("option-automatic");

/** Types by the name people know; some are several formats. */
const TYPES = {
  PDF: ["pdf"], Word: ["docx", "doc"], PowerPoint: ["pptx", "ppt"], Excel: ["xlsx", "xls"],
  "OpenDocument text": ["odt"], "OpenDocument table": ["ods"], "OpenDocument slides": ["odp"],
  RTF: ["rtf"], "e-book": ["epub"], "web page": ["html"], "e-mail": ["eml", "msg", "mbox"],
  Markdown: ["markdown"], text: ["text"], "table as text": ["csv"], JSON: ["json", "jsonl"],
  XML: ["xml"], notebook: ["notebook"], "source text": ["code"], TeX: ["tex"],
  AsciiDoc: ["asciidoc"], reStructuredText: ["rst"], subtitles: ["subtitles"], picture: ["image"],
  "ZIP archive": ["zip"],
};

/** Languages that can be told of a text, by ISO 639-1 code. */
const LANGUAGES = ("af ak am ar az be bg bn ca cs cy da de el en eo es et fa fi fr gu he hi hr hu hy " +
  "id it ja jv ka km kn ko la lt lv mk ml mr my nb ne nl or pa pl pt ro ru si sk sl sn sr sv ta " +
  "te th tk tl tr uk ur uz vi yi zh zu").split(" ");
const names = new Intl.DisplayNames(["en"], { type: "language" });
const nameOf = (code) => names.of(code) ?? code;

/** One option each: its control, what it says when it is set, and what it adds to a question. */
const OPTIONS = [
  {
    name: "type",
    control: byId("option-type"),
    chip: (value) => `type: ${value}`,
    apply: (body, value) => narrow(body, { formats: TYPES[value] ?? [value] }),
  },
  {
    name: "language",
    control: byId("option-language"),
    chip: (value) => `language: ${nameOf(value)}`,
    apply: (body, value) => narrow(body, { languages: [value] }),
  },
  {
    name: "path",
    control: byId("option-path"),
    chip: (value) => `path: ${value}…`,
    apply: (body, value) => narrow(body, { path_prefix: value }),
  },
  {
    name: "from",
    control: byId("option-from"),
    chip: (value) => `from ${value}`,
    apply: (body, value) => narrow(body, { from: value }),
  },
  {
    name: "to",
    control: byId("option-to"),
    chip: (value) => `to ${value}`,
    apply: (body, value) => narrow(body, { to: value }),
  },
  {
    name: "rerank",
    control: byId("option-rerank"),
    chip: (value) => (value === "on" ? "reranked" : "not reranked"),
    apply: (body, value) => Object.assign(body, { rerank: value === "on" }),
  },
];

/** A collection that was chosen before this page was loaded, until there is a choice again. */
let pending = "";

const narrow = (body, part) => Object.assign((body.filter ??= {}), part);

export function startOptions() {
  const type = byId("option-type");
  type.append(...Object.keys(TYPES).map((name) => make("option", { value: name }, name)));
  offerLanguages([]);
  restore();
  for (const { control } of OPTIONS) control.addEventListener("change", changed);
  collection.addEventListener("change", () => {
    pending = "";
    changed();
  });
  automatic.addEventListener("change", changed);
  weight.addEventListener("input", () => {
    automatic.checked = false;
    changed();
  });
  byId("option-clear").addEventListener("click", clear);
  changed();
}

/** What the options say, as part of a question's body. */
export function chosenOptions() {
  const body = {};
  if (collection.value) narrow(body, { collections: [collection.value] });
  for (const { control, apply } of OPTIONS) {
    const value = control.value.trim();
    if (value) apply(body, value);
  }
  if (!automatic.checked) body.semantic_weight = Number(weight.value);
  return body;
}

/** Sets the options that a link names, such as `#q=…&type=PDF&from=2026-01-01`. */
export function takeOptions(parameters) {
  for (const { name, control } of OPTIONS) if (parameters.has(name)) control.value = parameters.get(name);
  if (parameters.has("weight")) {
    weight.value = parameters.get("weight");
    automatic.checked = false;
  }
  changed();
}

/** Languages of the documents on the shelf come first. */
export function offerLanguages(present) {
  const select = byId("option-language");
  const first = [...new Set(present)].sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
  if (select.dataset.first === first.join()) return;
  select.dataset.first = first.join();
  const chosen = select.value;
  const option = (code) => make("option", { value: code }, nameOf(code));
  const rest = LANGUAGES.filter((code) => !first.includes(code));
  rest.sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
  const group = (label, codes) => (codes.length ? make("optgroup", { label }, ...codes.map(option)) : null);
  const groups = [group("in the library", first), group(first.length ? "others" : "all", rest)];
  select.replaceChildren(select.options[0], ...groups.filter(Boolean));
  select.value = chosen;
}

function changed() {
  weight.setAttribute("aria-valuetext", automatic.checked ? "automatic" : balance());
  byId("option-balance").textContent = automatic.checked ? "automatic" : balance();
  byId("option-weight-row").classList.toggle("is-automatic", automatic.checked);
  showChips();
  keep();
}

function balance() {
  const share = Math.round(Number(weight.value) * 100);
  if (share === 0) return "keywords only";
  if (share === 100) return "meaning only";
  return `${100 - share} % keywords, ${share} % meaning`;
}

function showChips() {
  const chips = OPTIONS.filter(({ control }) => control.value.trim()).map(({ control, chip }) =>
    chipFor(chip(control.value.trim()), () => (control.value = "")),
  );
  if (collection.value) chips.unshift(chipFor(`in ${collection.value}`, () => (collection.value = "")));
  if (!automatic.checked) chips.push(chipFor(balance(), () => (automatic.checked = true)));
  byId("chips").replaceChildren(...chips.map((chip) => make("li", {}, chip)));
  byId("chips").hidden = chips.length === 0;
  byId("option-clear").hidden = chips.length === 0;
}

function chipFor(text, remove) {
  const button = make("button", { type: "button", className: "chip", aria: { label: `Remove ${text}` } }, text, make("span", { aria: { hidden: "true" } }, " ×"));
  button.addEventListener("click", () => {
    remove();
    changed();
    (byId("chips").querySelector("button") ?? byId("options").querySelector("summary")).focus();
  });
  return button;
}

function clear() {
  for (const { control } of OPTIONS) control.value = "";
  collection.value = "";
  automatic.checked = true;
  changed();
  byId("options").querySelector("summary").focus();
}

function keep() {
  const kept = Object.fromEntries(OPTIONS.map(({ name, control }) => [name, control.value]));
  if (!automatic.checked) kept.weight = weight.value;
  kept.collection = collection.value || pending;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing begins afresh.
  }
}

/** The collection to be chosen again once there is a choice. */
export const keptCollection = () => pending;

function restore() {
  const kept = read();
  for (const { name, control } of OPTIONS) control.value = kept[name] ?? "";
  pending = kept.collection ?? "";
  automatic.checked = kept.weight === undefined;
  if (kept.weight !== undefined) weight.value = kept.weight;
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}
