// Asks for the password of a locked document. It goes to this machine's Ibid and is forgotten here.

import { call } from "./api.js";
import { byId, problem } from "./dom.js";

const dialog = byId("unlock");
const input = byId("unlock-password");

let current = null;

/** `onUnlocked(text)` is told what people should hear of. */
export function startUnlocking(onUnlocked) {
  byId("unlock-cancel").addEventListener("click", () => dialog.close());
  // Whatever closes the dialog, Escape among it: the password does not stay in the page.
  dialog.addEventListener("close", () => {
    input.value = "";
    current = null;
  });
  byId("unlock-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const view = current;
    if (!view || !input.value) return;
    const button = byId("unlock-send");
    button.disabled = true;
    try {
      await call("POST", `/documents/${view.id}/password`, { password: input.value });
      dialog.close();
      onUnlocked(`${view.name} is read with its password.`);
    } catch (error) {
      byId("unlock-error").replaceChildren(problem(error));
      input.select();
    } finally {
      button.disabled = false;
    }
  });
}

/** Asks for the password of `view`. */
export function unlock(view) {
  current = view;
  byId("unlock-text").textContent = `“${view.name}” opens only with its password.`;
  byId("unlock-error").replaceChildren();
  input.value = "";
  dialog.showModal();
  input.focus();
}

/** Whether a password is what `view` lacks. */
export const isLocked = (view) => view.error?.code === "password_needed";
