// Building elements. Text reaches the page only as text nodes, so nothing a document says can
// become markup.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/**
 * An element with properties and children. A child is a node, a text, or nothing.
 * Properties are set as properties; `data` and `aria` take objects of attributes.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  const { data = {}, aria = {}, ...plain } = properties;
  Object.assign(element, plain);
  Object.assign(element.dataset, data);
  for (const [name, value] of Object.entries(aria)) element.setAttribute(`aria-${name}`, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon of the page's symbols; the text beside it says the same, so it is hidden to readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** What went wrong and what to do about it. */
export function problem(error) {
  const box = make("div", { className: "problem" }, make("p", {}, ...withCode(sentence(error.message))));
  if (error.remedy) box.append(make("p", { className: "remedy" }, ...withCode(sentence(error.remedy))));
  if (error.traceId) box.append(make("p", { className: "trace" }, `trace ${error.traceId}`));
  return box;
}

/** Names stand between backticks in our messages, as in `ibid status`. */
export function withCode(text) {
  return text.split(/`([^`]+)`/).map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

/** Our own messages are lower case without a full stop; people read sentences. */
export function sentence(text) {
  const trimmed = String(text ?? "").trim();
  if (!trimmed) return "";
  const upper = trimmed[0].toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(upper) ? upper : `${upper}.`;
}

/** `1 file`, `2 files`. */
export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** `3.4 MB`. */
export function bytes(n) {
  const units = ["bytes", "kB", "MB", "GB"];
  let at = 0;
  let value = n;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  const digits = at === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[at]}`;
}

/** `about 20 s left`; empty while nothing is known. */
export function timeLeft(seconds) {
  if (!Number.isFinite(seconds) || seconds < 0) return "";
  if (seconds < 60) return `about ${Math.max(1, Math.ceil(seconds))} s left`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min left`;
  return `about ${(seconds / 3600).toFixed(1)} h left`;
}
