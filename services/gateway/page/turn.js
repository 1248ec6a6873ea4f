// One turn: the question, its streamed answer, the sources it rests on, and who wrote it.

import { count, make, problem, sentence, withCode } from "./dom.js";
import { mark, render } from "./markdown.js";
import { sourceList } from "./sources.js";
import { whySection } from "./why.js";

let turns = 0;

export class Turn {
  /**
   * `say(text)` is read out to those who cannot see the page; `explain(understood)` gives the
   * search's reply with its reasons.
   */
  constructor(question, say, explain) {
    this.explain = explain;
    this.id = `turn-${(turns += 1)}`;
    this.say = say;
    this.markdown = "";
    this.sources = [];
    this.ended = false;
    /** Whether the answer is complete, and so part of the conversation. */
    this.whole = false;
    this.text = make("div", { className: "answer-text", aria: { live: "polite", busy: "true" } });
    this.error = make("div");
    this.list = make("section", { className: "sources", hidden: true, aria: { label: "Sources" } });
    this.notes = make("div", { className: "notes" });
    this.note = make("p", { className: "colophon" });
    const title = make("h3", { id: this.id, className: "answer-question" }, question);
    this.element = make(
      "article",
      { className: "turn waiting", aria: { labelledby: this.id } },
      title,
      this.text,
      this.notes,
      this.error,
      this.list,
      this.note,
    );
  }

  hear(event) {
    if (this.ended) return;
    if (event.event === "sources") this.found(event.sources, event.understood);
    else if (event.event === "token") this.write(event.text);
    else if (event.event === "done") this.finish(event);
    else if (event.event === "error") this.fail(event.error);
  }

  found(sources, understood) {
    this.sources = sources;
    const rewritten = understood?.rewritten ? make("p", { className: "searched" }, "Searched for: ", make("q", {}, understood.text)) : null;
    this.list.hidden = sources.length === 0 && !rewritten;
    const parts = sources.length ? sourceList(sources, this.id) : [];
    if (rewritten) parts.splice(1, 0, rewritten);
    if (sources.length) parts.push(whySection(() => this.explain(understood), this.list));
    this.list.replaceChildren(...parts);
    this.say(sources.length ? `${count(sources.length, "source")} found.` : "");
  }

  write(text) {
    this.markdown += text;
    const told = new Set();
    const cite = (number, alone) => this.citation(number, alone, told);
    this.text.replaceChildren(...render(mark(this.markdown, this.sources), cite));
  }

  finish(event) {
    this.end();
    this.whole = true;
    if (!this.markdown.trim()) this.text.replaceChildren(make("p", {}, "No answer came."));
    for (const { number } of event.citations) {
      this.list.querySelector(`[data-number="${number}"]`)?.classList.add("cited");
    }
    this.list.classList.toggle("some-cited", event.citations.length > 0);
    this.notes.replaceChildren(
      ...(event.notes ?? []).map((note) => make("p", { className: "note" }, ...withCode(sentence(note)))),
    );
    const parts = [voice(event.generator), pace(event), leftOut(event.left_out)];
    this.note.textContent = parts.filter(Boolean).join(" ");
    const end = event.answered ? "The answer is complete." : "The documents do not say.";
    this.say([end, ...(event.notes ?? []).map(sentence)].join(" "));
  }

  fail(error) {
    this.end();
    this.error.replaceChildren(problem(error));
    this.say(`${sentence(error.message)} ${sentence(error.remedy)}`);
  }

  stop() {
    this.end();
    this.note.textContent = this.markdown ? "Stopped here." : "Stopped.";
    this.say("Stopped.");
  }

  /** The stream has ended, which it must not do without a last event. */
  close() {
    if (!this.ended) this.fail({ message: "the answer broke off", remedy: "ask again" });
  }

  end() {
    this.ended = true;
    this.element.classList.remove("waiting");
    this.text.setAttribute("aria-busy", "false");
  }

  /**
   * The mark of source `number`: its number, which leads to it, and, where it stands alone or is
   * met first, its name and page.
   */
  citation(number, alone, told) {
    const source = this.sources[number - 1];
    if (!source) return null;
    const place = source.citation.replace(/^\[|\]$/g, "");
    const link = make(
      "a",
      {
        href: `#${this.id}-source-${number}`,
        className: "mark",
        title: source.label,
        aria: { label: `Source ${number}: ${source.label}` },
      },
      String(number),
    );
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const item = this.list.querySelector(`[data-number="${number}"]`);
      item.focus();
      item.scrollIntoView({ block: "nearest" });
    });
    const first = !told.has(number);
    told.add(number);
    return make(
      "span",
      { className: "mark-box" },
      link,
      alone || first ? make("span", { className: "mark-place" }, place) : null,
    );
  }
}

function voice(generator) {
  return generator === "extractive" ? "Quoted word for word." : `Written by ${generator} from the sources.`;
}

function pace({ timings, usage }) {
  const total = seconds(timings?.total_ms);
  const rate = usage?.tokens_per_second;
  return rate ? `${total} (${rate.toFixed(rate < 10 ? 1 : 0)} tokens a second).` : `${total}.`;
}

const seconds = (ms) =>
  !Number.isFinite(ms) ? "" : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

function leftOut(left) {
  const parts = [
    left?.sources ? `${count(left.sources, "source")} did not fit into the prompt` : null,
    left?.turns ? `${count(left.turns, "earlier turn")} were left out` : null,
  ].filter(Boolean);
  return parts.length ? sentence(parts.join("; ")) : "";
}
