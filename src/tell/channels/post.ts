import { createHmac } from "node:crypto";
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Message } from "../../core/notices/notice.js";
import { firstChars } from "../../core/text/head-tail.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { SlackChannel, WebhookChannel } from "../../file/settings/channels.js";
import type { Environment } from "./find-secret.js";
import { slackAddress, webhookKey } from "./secrets.js";

const MAX_ANSWER_BYTES = 2_000;
const MAX_ANSWER_CHARS = 200;

interface Post {
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
function post({ url, headers, body, signal, redact }: Post): Promise<string | null> {
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

/** Limit for one section: Slack's own less some room for the code fence. */
const MAX_SECTION_CHARS = 2_900;

/** Posts to an incoming webhook: a title, the message as it is, and a button that opens the page. */
export function sendSlack(
  { secret }: SlackChannel,
  { subject, text, link }: Message,
  { env, ...sending }: { readonly env: Environment } & Pick<Post, "signal" | "redact">,
): Promise<string | null> {
  const title = `*${escaped(subject)}*${link === null ? "" : `\n<${link}|Open in Daruma>`}`;
  const shown = escaped(text).replaceAll("```", "'''");
  const body = JSON.stringify({
    text: escaped(subject),
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: title } },
      {
        type: "section",
        text: { type: "mrkdwn", text: `\`\`\`${firstChars(shown, MAX_SECTION_CHARS)}\`\`\`` },
      },
    ],
  });
  return post({ url: slackAddress(secret, env), headers: {}, body, ...sending });
}

/** Escapes the three special characters of Slack, so that output of steps cannot mention anybody. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const SECOND_MS = 1_000;

/**
 * Posts a message as Standard Webhooks defines it, so the receiver can verify the sender and the time, and recognise
 * repetitions.
 */
export function sendWebhook(
  { url, secret }: WebhookChannel,
  { id, at, kind, subject, text, data }: Message,
  {
    env,
    now,
    ...sending
  }: { readonly env: Environment; readonly now: number } & Pick<Post, "signal" | "redact">,
): Promise<string | null> {
  const key = webhookKey(secret, env);
  const body = JSON.stringify({
    type: `daruma.${kind}`,
    timestamp: new Date(at).toISOString(),
    data: { ...data, subject, text },
  });
  const sentAt = String(Math.floor(now / SECOND_MS));
  const signature = createHmac("sha256", key).update(`${id}.${sentAt}.${body}`).digest("base64");
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": sentAt,
    "webhook-signature": `v1,${signature}`,
  };
  return post({ url: new URL(url), headers, body, ...sending });
}
