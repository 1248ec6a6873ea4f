// Talking to the gateway that served this page.

/** An error as the gateway tells it: message, remedy, trace. */
export class ApiError extends Error {
  constructor(body, status) {
    super(body?.message ?? `the server answered with status ${status}`);
    this.code = body?.code ?? "unknown";
    this.remedy = body?.remedy ?? "";
    this.traceId = body?.trace_id ?? "";
    this.status = status;
  }
}

const unreachable = () =>
  new ApiError(
    { code: "unavailable", message: "Ibid does not answer", remedy: "look whether `ibid up` is still running" },
    0,
  );

async function send(method, path, body, signal) {
  let response;
  try {
    response = await fetch(`/api/v1${path}`, {
      method,
      signal,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  // Where a token is needed and none is held, the page asks for it.
  if (response.status === 401 && path !== "/login") window.dispatchEvent(new Event("ibid:locked"));
  throw new ApiError(await response.json().catch(() => null), response.status);
}

/** Sends a request and gives back the decoded answer. */
export async function call(method, path, body, signal) {
  const response = await send(method, path, body, signal);
  return response.status === 204 ? null : response.json();
}

/** Sends a request and gives back the events of its answer, decoded, as they come. */
export async function* events(path, body, signal) {
  const response = await send("POST", path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let step;
    try {
      step = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw unreachable();
    }
    if (step.done) return;
    rest += step.value.replaceAll("\r\n", "\n");
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).replace(/^ /, ""))
        .join("\n");
      if (data) yield JSON.parse(data);
    }
  }
}

/**
 * Uploads one file. `fetch` tells nothing about the bytes on their way, so this is the older
 * request object. `onProgress` hears the bytes sent so far.
 */
export function upload(form, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/api/v1/documents");
    request.responseType = "json";
    request.upload.onprogress = (event) => onProgress(event.loaded);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve(request.response);
      else reject(new ApiError(request.response, request.status));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}
