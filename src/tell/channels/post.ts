import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { firstChars } from "../../core/text/head-tail.js";
import { oneLine } from "../../core/text/plain-text.js";

const MAX_ANSWER_BYTES = 2_000;
const MAX_ANSWER_CHARS = 200;

export interface Post {
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  /** Ends the request. The caller has set a time limit on it. */
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
}

/**
 * Posts a message. Returns null if the receiver has it (2xx), else the reason. Redirects are not followed: the message
 * is for this address only. Each message has its own connection, and only the beginning of an error's answer is read.
 */
export function post({ url, headers, body, signal, redact }: Post): Promise<string | null> {
  return new Promise((resolve) => {
    const send = url.protocol === "https:" ? requestSecure : requestPlain;
    const bytes = Buffer.from(body);
    const fixed = { "content-type": "application/json", "user-agent": "daruma", connection: "close" };
    const sent = send(url, {
      method: "POST",
      agent: false,
      headers: { ...fixed, "content-length": bytes.length, ...headers },
    });
    const stop = (): void => void sent.destroy(new Error("aborted"));
    const end = (failure: string | null): void => {
      signal.removeEventListener("abort", stop);
      resolve(failure);
      sent.destroy();
    };
    sent.on("error", (error: NodeJS.ErrnoException) => end(reasonOf(error, signal)));
    sent.on("response", (response) => {
      const { statusCode: status = 0 } = response;
      if (status >= 200 && status < 300) return end(null);
      if (status >= 300 && status < 400)
        return end(`it answered ${status} with a redirect, which is not followed`);
      const read: Buffer[] = [];
      let size = 0;
      const tell = (): void => {
        const said = oneLine(firstChars(redact(Buffer.concat(read).toString("utf8")), MAX_ANSWER_CHARS));
        end(`it answered ${status}${said === "" ? "" : `: ${said}`}`);
      };
      response.on("data", (chunk: Buffer) => {
        read.push(chunk.subarray(0, MAX_ANSWER_BYTES));
        size += chunk.length;
        if (size >= MAX_ANSWER_BYTES) tell();
      });
      response.on("end", tell);
      response.on("error", tell);
    });
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    sent.end(bytes);
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException, signal: AbortSignal): string {
  if (signal.aborted) return "it gave no answer in time";
  return code === undefined ? oneLine(message, MAX_ANSWER_CHARS) : code;
}
