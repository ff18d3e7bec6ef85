import { createHmac } from "node:crypto";
import type { Message } from "../../core/notices/message.js";
import type { WebhookChannel } from "../../file/settings/channels.js";
import type { Environment } from "./find-secret.js";
import { type Post, post } from "./post.js";
import { webhookKey } from "./secrets.js";

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
