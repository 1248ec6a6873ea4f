// A question, its streamed answer, and the passages it rests on.

import { events } from "./api.js";
import { byId, make, problem, sentence } from "./dom.js";
import { render } from "./markdown.js";

const question = byId("question");
const answer = byId("answer");
const text = byId("answer-text");
const stopButton = byId("ask-stop");
const askButton = byId("ask-button");

let running = null;

export function startAsking() {
  byId("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    ask(question.value.trim());
  });
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("ask-form").requestSubmit();
  });
  question.addEventListener("input", fit);
  stopButton.addEventListener("click", () => {
    running?.abort();
    question.focus();
  });
  window.addEventListener("hashchange", askFromAddress);
  askFromAddress();
}

/** A link or bookmark may carry a question: `/#q=what+is+the+notice+period`. What stands behind
 * the `#` stays in the browser. */
function askFromAddress() {
  const asked = new URLSearchParams(location.hash.slice(1)).get("q")?.trim();
  if (!asked) return;
  question.value = asked;
  fit();
  ask(asked);
}

/** Offers a choice of collection once there is more than one. */
export function offerCollections(names) {
  const select = byId("ask-collection");
  const known = [...select.options].slice(1).map((option) => option.value);
  if (known.join() === names.join()) return;
  const chosen = select.value;
  select.replaceChildren(select.options[0], ...names.map((name) => make("option", { value: name }, name)));
  if (names.includes(chosen)) select.value = chosen;
  byId("scope").hidden = names.length < 2;
}

/** As high as its text. */
function fit() {
  question.style.height = "auto";
  question.style.height = `${question.scrollHeight}px`;
}

function say(message) {
  byId("ask-status").textContent = message;
}

async function ask(asked) {
  if (!asked) {
    question.focus();
    return;
  }
  running?.abort();
  const turn = new AbortController();
  running = turn;
  begin(asked);
  const state = { markdown: "", passages: [], ended: false };
  try {
    const collection = byId("ask-collection").value;
    const filter = collection ? { collections: [collection] } : {};
    for await (const event of events("/ask", { text: asked, filter }, turn.signal)) {
      if (running !== turn) return;
      hear(event, state);
    }
    if (!state.ended) {
      fail({ message: "the answer broke off", remedy: "ask again" }, state);
    }
  } catch (error) {
    if (running !== turn) return;
    if (error.name === "AbortError") stopped(state);
    else fail(error, state);
  } finally {
    if (running === turn) end();
  }
}

function begin(asked) {
  byId("ask-empty").hidden = true;
  answer.hidden = false;
  answer.classList.add("waiting");
  byId("answer-question").textContent = asked;
  text.replaceChildren();
  text.setAttribute("aria-busy", "true");
  byId("answer-error").replaceChildren();
  byId("answer-note").textContent = "";
  byId("sources").hidden = true;
  byId("source-list").replaceChildren();
  stopButton.hidden = false;
  askButton.hidden = true;
  say("Searching your documents.");
}

function end() {
  running = null;
  answer.classList.remove("waiting");
  text.setAttribute("aria-busy", "false");
  const focused = document.activeElement === stopButton;
  stopButton.hidden = true;
  askButton.hidden = false;
  if (focused) askButton.focus();
}

function hear(event, state) {
  if (event.event === "sources") {
    state.passages = event.passages;
    showSources(event.passages);
    say(event.passages.length ? `${event.passages.length} sources found.` : "");
  } else if (event.event === "token") {
    state.markdown += event.text;
    text.replaceChildren(...render(state.markdown, (number) => citation(number, state)));
  } else if (event.event === "done") {
    state.ended = true;
    finish(event, state);
  } else if (event.event === "error") {
    fail(event.error, state);
  }
}

function finish(event, state) {
  if (!state.markdown.trim()) {
    text.replaceChildren(make("p", {}, "Nothing in these documents answers that."));
  }
  for (const { number } of event.citations) byId(`source-${number}`)?.classList.add("cited");
  const parts = [voice(event.generator), seconds(event.timings?.total_ms), ...(event.notes ?? []).map(sentence)];
  byId("answer-note").textContent = parts.filter(Boolean).join(" ");
  say(event.answered ? "The answer is complete." : "No answer was found.");
}

const voice = (generator) =>
  generator === "extractive" ? "Quoted word for word." : `Written by ${generator} from the sources.`;

const seconds = (ms) =>
  !Number.isFinite(ms) ? "" : ms < 1000 ? `${Math.round(ms)} ms.` : `${(ms / 1000).toFixed(1)} s.`;

function fail(error, state) {
  state.ended = true;
  byId("answer-error").replaceChildren(problem(error));
  say(`${sentence(error.message)} ${sentence(error.remedy)}`);
}

function stopped(state) {
  byId("answer-note").textContent = state.markdown ? "Stopped here." : "Stopped.";
  say("Stopped.");
}

/** A mark such as `1` that leads to its source; nothing when there is no such source. */
function citation(number, state) {
  const passage = state.passages[number - 1];
  if (!passage) return null;
  const link = make(
    "a",
    { href: `#source-${number}`, className: "mark", title: passage.label, aria: { label: `Source ${number}: ${passage.label}` } },
    String(number),
  );
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const source = byId(`source-${number}`);
    source.focus();
    source.scrollIntoView({ block: "nearest" });
  });
  return make("span", { className: "mark-box" }, link);
}

function showSources(passages) {
  byId("sources").hidden = passages.length === 0;
  byId("source-list").replaceChildren(...passages.map(source));
}

function source(passage, index) {
  const number = index + 1;
  const quote = make("blockquote", { className: "passage" }, ...render(passage.hit.text, () => null));
  const place = placeOf(passage);
  const item = make(
    "li",
    { id: `source-${number}`, tabIndex: -1, className: "source" },
    make(
      "p",
      { className: "source-label" },
      make("span", { className: "source-number", aria: { hidden: "true" } }, String(number)),
      make("cite", { title: passage.hit.path }, passage.hit.name),
      place.page && make("span", { className: "source-page" }, place.page),
      place.headings && make("span", { className: "source-headings" }, place.headings),
    ),
    quote,
    make("p", { className: "ranks" }, ranks(passage)),
  );
  item.querySelector(".ranks").before(...fold(quote));
  return item;
}

/** Long passages show their beginning and a button; a short one needs none. */
function fold(quote) {
  if (quote.textContent.length < 700) return [];
  quote.classList.add("folded");
  const button = make("button", { type: "button", className: "quiet", aria: { expanded: "false" } }, "Whole passage");
  button.addEventListener("click", () => {
    const folded = quote.classList.toggle("folded");
    button.textContent = folded ? "Whole passage" : "Less";
    button.setAttribute("aria-expanded", String(!folded));
  });
  return [button];
}

/**
 * The place within the document, taken from the label `[name, p.4 — A > B]`, which the query
 * service alone knows how to write.
 */
function placeOf(passage) {
  const { name } = passage.hit;
  const inner = passage.label.replace(/^\[/, "").replace(/\]$/, "");
  const rest = inner.startsWith(name) ? inner.slice(name.length) : inner;
  const [place, ...headings] = rest.split(" — ");
  return { page: place.replace(/^,\s*/, "").trim(), headings: headings.join(" — ").trim() };
}

function ranks(passage) {
  const found = [
    passage.keyword_rank ? `by its words no. ${passage.keyword_rank}` : null,
    passage.vector_rank ? `by its meaning no. ${passage.vector_rank}` : null,
  ].filter(Boolean);
  const score = `score ${passage.hit.score.toFixed(4)}`;
  return [found.length ? `found ${found.join(", ")}` : null, score].filter(Boolean).join(" · ");
}
