// The conversation: a question goes out, a turn streams in above the earlier ones.

import { call, events } from "./api.js";
import { byId, make } from "./dom.js";
import { chosenModel } from "./models.js";
import { chosenOptions, keptCollection, takeOptions } from "./options.js";
import { Turn } from "./turn.js";

const question = byId("question");
const turns = byId("turns");
const stopButton = byId("ask-stop");
const askButton = byId("ask-button");
const freshButton = byId("ask-fresh");

/** What the model may be told of earlier turns; the server reads the last six. */
const MOST_TURNS = 6;

let running = null;
/** Whole turns only: a failed or stopped answer is none. */
let history = [];

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
  freshButton.addEventListener("click", startAfresh);
  window.addEventListener("hashchange", askFromAddress);
  askFromAddress();
}

/** A link or bookmark may carry a question with its search options:
 * `/#q=what+is+the+notice+period&type=PDF`. What stands behind the `#` stays in the browser. */
function askFromAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const asked = parameters.get("q")?.trim();
  if (!asked) return;
  takeOptions(parameters);
  question.value = asked;
  fit();
  ask(asked);
}

/** Offers a choice of collection once there is more than one. */
export function offerCollections(names) {
  const select = byId("ask-collection");
  const known = [...select.options].slice(1).map((option) => option.value);
  if (known.join() === names.join()) return;
  const chosen = select.value || keptCollection();
  select.replaceChildren(select.options[0], ...names.map((name) => make("option", { value: name }, name)));
  if (names.includes(chosen)) select.value = chosen;
  select.dispatchEvent(new Event("change"));
  byId("scope").hidden = names.length < 2;
}

/** As high as its text. */
function fit() {
  question.style.height = "auto";
  const edges = question.offsetHeight - question.clientHeight;
  question.style.height = `${question.scrollHeight + edges}px`;
}

function say(message) {
  byId("ask-status").textContent = message;
}

/** Forgets the earlier turns, on the page and for the model. */
function startAfresh() {
  running?.abort();
  history = [];
  turns.replaceChildren();
  freshButton.hidden = true;
  byId("ask-empty").hidden = false;
  question.value = "";
  fit();
  question.focus();
}

async function ask(asked) {
  if (!asked) {
    question.focus();
    return;
  }
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const options = chosenOptions();
  const turn = new Turn(asked, say, (understood) => explained(understood?.text || asked, options));
  begin(turn);
  try {
    const body = { ...options, text: asked, history: history.slice(-MOST_TURNS) };
    const model = chosenModel();
    if (model) body.generator = model;
    for await (const event of events("/ask", body, mine.signal)) turn.hear(event);
    turn.close();
  } catch (error) {
    if (error.name === "AbortError") turn.stop();
    else turn.fail(error);
  }
  if (turn.whole) {
    history.push({ question: asked, answer: turn.markdown });
    // The next question starts with an empty line, unless one is being typed already.
    if (question.value.trim() === asked) question.value = "";
    fit();
  }
  if (running === mine) end();
}

/** The search behind an answer once more, with the reasons. */
const explained = (text, options) => call("POST", "/search", { ...options, text, explain: true });

function begin(turn) {
  byId("ask-empty").hidden = true;
  for (const earlier of turns.children) earlier.classList.add("earlier");
  turns.prepend(turn.element);
  freshButton.hidden = false;
  stopButton.hidden = false;
  askButton.hidden = true;
  say("Searching your documents.");
}

function end() {
  running = null;
  const focused = document.activeElement === stopButton;
  stopButton.hidden = true;
  askButton.hidden = false;
  if (focused) askButton.focus();
}
