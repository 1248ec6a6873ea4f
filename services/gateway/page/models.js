// Which language model answers.

import { call } from "./api.js";
import { byId, make } from "./dom.js";

const select = byId("ask-model");
const KEY = "ibid.model";

/** The model chosen; empty for the one that the settings choose. */
export const chosenModel = () => select.value;

const NAMES = { extractive: "quotations only" };
const nameOf = (id) => NAMES[id] ?? id.replace("/", ": ");

/** Offers the models there are. What was chosen last is chosen again, while it is there. */
export async function offerModels() {
  const { generators } = await call("GET", "/models");
  const usable = generators.filter((view) => !view.refused);
  const first = usable.find((view) => view.is_default);
  const standard = make("option", { value: "" }, first ? `${nameOf(first.id)} (standard)` : "standard");
  const others = usable.filter((view) => view !== first);
  const chosen = select.value || remembered();
  select.replaceChildren(
    standard,
    ...others.map((view) => make("option", { value: view.id }, nameOf(view.id))),
  );
  if (others.some((view) => view.id === chosen)) select.value = chosen;
  byId("voice").hidden = others.length === 0;
}

export function startModels() {
  select.addEventListener("change", () => {
    try {
      localStorage.setItem(KEY, select.value);
    } catch {
      // A browser that keeps nothing asks again next time.
    }
  });
  // Who starts or ends a model server comes back to this page after it.
  select.addEventListener("focus", () => offerModels().catch(() => {}));
  offerModels().catch(() => {});
}

function remembered() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
