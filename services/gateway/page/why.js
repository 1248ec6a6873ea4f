// Why the passages of an answer are its passages: ranks and scores, asked for when looked at.

import { count, make, problem, sentence, withCode } from "./dom.js";

/** Candidates shown beside the passages. */
const MOST_OTHERS = 20;

/**
 * A part that opens on request. `ask()` gives the reply of a search that explains itself; `list` is
 * the list of sources, whose items get their ranks and scores.
 */
export function whySection(ask, list) {
  const body = make("div", { className: "why-body", aria: { live: "polite" } });
  const section = make("details", { className: "why" }, make("summary", {}, "Why these passages?"), body);
  let asked = false;
  section.addEventListener("toggle", async () => {
    if (!section.open || asked) return;
    asked = true;
    body.replaceChildren(make("p", { className: "hint" }, "Looking…"));
    try {
      show(await ask(), body, list);
    } catch (error) {
      asked = false;
      body.replaceChildren(problem(error));
    }
  });
  return section;
}

function show(reply, body, list) {
  const explanation = reply.explanation;
  if (!explanation) {
    body.replaceChildren(make("p", { className: "hint" }, "The search did not say."));
    return;
  }
  const shown = new Map([...list.querySelectorAll("[data-chunk]")].map((item) => [item.dataset.chunk, item]));
  const others = [];
  for (const candidate of explanation.candidates) {
    const item = shown.get(candidate.chunk_id);
    if (item) note(item, candidate);
    else others.push(candidate);
  }
  const rest = others.length - MOST_OTHERS;
  body.replaceChildren(
    make("p", {}, ...withCode(weighed(explanation.weighing))),
    others.length ? make("h5", { className: "aside-label" }, "Also looked at") : "",
    make("ol", { className: "others" }, ...others.slice(0, MOST_OTHERS).map(other)),
    rest > 0 ? make("p", { className: "hint" }, `and ${count(rest, "more", "more")}`) : "",
  );
}

function weighed({ method, semantic_weight: share, reason }) {
  const how = method === "rrf" ? "by rank" : "by score";
  const meaning = Math.round(share * 100);
  const told = `Fused ${how}: ${100 - meaning} % keywords, ${meaning} % meaning.`;
  return reason ? `${told} ${sentence(reason)}` : told;
}

/** Beside a source that is shown: how it came there. */
function note(item, candidate) {
  item.querySelector(".standings")?.remove();
  item.append(make("p", { className: "standings" }, ...withCode([standings(candidate), outcome(candidate)].filter(Boolean).join("; "))));
}

function other(candidate) {
  const facts = [outcome(candidate), standings(candidate)].filter(Boolean).join("; ");
  return make("li", {}, make("cite", {}, candidate.label), " ", make("span", { className: "standings" }, ...withCode(facts)));
}

function standings(candidate) {
  const told = [
    ["keywords", candidate.keyword, 2],
    ["meaning", candidate.vector, 3],
    ["fused", candidate.fused, 4],
    ["reranked", candidate.reranked, 2],
  ].filter(([, standing]) => standing);
  return told
    .map(([name, { rank, score }, digits]) => `${name} ${rank ? `no. ${rank}` : "beyond its list"} (${score.toFixed(digits)})`)
    .join(" · ");
}

function outcome({ outcome: kind, position, reason, gate }) {
  const words = {
    packed: `passage ${position}`,
    merged: `part of passage ${position}`,
    duplicate: "the same text as another passage",
    dropped: `left out: ${reason}`,
    not_found: `not found: ${reason}`,
  };
  return [words[kind], gate === false ? "below the relevance gate" : null].filter(Boolean).join(", ");
}
