import type { Message } from "../core/notify/message.js";
import { createRedactor, type Redactor } from "../core/redaction/redaction.js";
import type { Json } from "../core/text/json.js";
import { messageOf } from "../core/text/message-of.js";
import { type ChannelSettings, secretName, secretOf } from "../settings/channels.js";
import { runCommand } from "./command.js";
import { sendEmail } from "./email.js";
import { type Environment, readSecret } from "./secrets.js";
import { sendSlack } from "./slack.js";
import { sendWebhook } from "./webhook.js";

export interface Sending {
  readonly env: Environment;
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

/** Null: it has arrived; else why not, in words that hold no secret. Never rejects, and takes no longer than the channel allows. */
export async function sendMessage(
  channel: ChannelSettings,
  message: Message,
  { env, now, signal }: Sending,
): Promise<string | null> {
  const limit = AbortSignal.timeout(channel.timeoutMs);
  const how = { env, now: now(), signal: signal === undefined ? limit : AbortSignal.any([limit, signal]) };
  const redactor = redactorOf(channel, env);
  try {
    const failure = await send(channel, redacted(message, redactor), how);
    return failure === null ? null : redactor.redact(failure);
  } catch (error) {
    return redactor.redact(messageOf(error));
  }
}

function send(channel: ChannelSettings, message: Message, sending: SendingNow): Promise<string | null> {
  switch (channel.type) {
    case "webhook":
      return sendWebhook(channel, message, sending);
    case "slack":
      return sendSlack(channel, message, sending);
    case "email":
      return sendEmail(channel, message, sending);
    case "command":
      return runCommand(channel, message, sending);
  }
}

interface SendingNow {
  readonly env: Environment;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Workers have redacted what steps print; this is for what only the channel knows, and for what looks like a secret. */
function redactorOf(channel: ChannelSettings, env: Environment): Redactor {
  const source = secretOf(channel);
  if (source === null) return createRedactor([]);
  try {
    return createRedactor([{ name: secretName(source), value: readSecret(source, env) }]);
  } catch {
    // It is told when it is needed.
    return createRedactor([]);
  }
}

/** What it is called by stays, so that nobody takes it twice. */
function redacted(message: Message, redactor: Redactor): Message {
  const { id, subject, text, data } = message;
  const redact = (json: Json): Json => redactor.redactJson(json, "ownRecord");
  return {
    ...message,
    subject: String(redact(subject)),
    text: String(redact(text)),
    data: { ...(redact(data) as Message["data"]), id },
  };
}
