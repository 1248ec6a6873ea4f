// The token, where one is needed: from the address, `/#token=…`, or asked for.

import { call } from "./api.js";
import { byId, problem } from "./dom.js";

const dialog = byId("login");

/** Logs in with the token of the address, and takes it out of there. */
export async function logInFromAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const token = parameters.get("token");
  if (!token) return;
  parameters.delete("token");
  const rest = parameters.toString();
  history.replaceState(null, "", rest ? `#${rest}` : location.pathname);
  try {
    await call("POST", "/login", { token });
  } catch (error) {
    askForToken(error);
  }
}

/** Asks for the token; the page begins again once it is right. */
export function askForToken(error) {
  byId("login-error").replaceChildren(...(error && error.status !== 401 ? [problem(error)] : []));
  if (!dialog.open) dialog.showModal();
}

export function startLogin() {
  byId("login-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await call("POST", "/login", { token: byId("login-token").value.trim() });
      location.reload();
    } catch (error) {
      byId("login-error").replaceChildren(problem(error));
      byId("login-token").select();
    }
  });
  window.addEventListener("ibid:locked", () => askForToken());
}
