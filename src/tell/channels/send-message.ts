import type { Message } from "../../core/notices/notice.js";
import { createRedactor, type Secret } from "../../core/redaction/redaction.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { secretPlaceName } from "../../core/text/secret-place.js";
import { type ChannelSettings, secretOf } from "../../file/settings/channels.js";
import { runCommand } from "./command.js";
import { sendEmail } from "./email.js";
import type { Environment } from "./find-secret.js";
import { sendSlack, sendWebhook } from "./post.js";
import { readSecret } from "./secrets.js";

export interface Sending {
  readonly env: Environment;
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

/**
 * Sends a message. Returns null once it has arrived, else the reason, without any secret. Never rejects, and takes no
 * longer than the channel allows.
 */
export async function sendMessage(
  channel: ChannelSettings,
  message: Message,
  { env, now, signal }: Sending,
): Promise<string | null> {
  const limit = AbortSignal.timeout(channel.timeoutMs);
  const { redact } = createRedactor(secretsOf(channel, env));
  const how = {
    ...{ env, now: now(), redact },
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  };
  try {
    const failure = await send(channel, redacted(message, channel, env), how);
    return failure === null ? null : redact(failure);
  } catch (error) {
    return redact(messageOf(error));
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
  /** Redacts a text before it is cut short, since half a secret would not be recognised. */
  readonly redact: (text: string) => string;
}

/** Secrets that only the channel knows. Its error messages may contain them. */
function secretsOf(channel: ChannelSettings, env: Environment): Secret[] {
  if (channel.type === "command") return channel.env.map((name) => ({ name, value: env[name] ?? "" }));
  const source = secretOf(channel);
  if (source === null) return [];
  try {
    return [{ name: secretPlaceName(source), value: readSecret(source, env) }];
  } catch {
    // A missing secret is reported by the code that sends.
    return [];
  }
}

/**
 * Redacts the channel's own secrets and whatever looks like a secret; workers have already redacted what steps print.
 * The id stays unchanged, because receivers recognise repeated messages by it. Variables of a program are not redacted:
 * they may hold ordinary words, and the program gets them anyway.
 */
function redacted(message: Message, channel: ChannelSettings, env: Environment): Message {
  const redactor = createRedactor(channel.type === "command" ? [] : secretsOf(channel, env));
  const { id, subject, text, data } = message;
  const redact = (json: Json): Json => redactor.redactJson(json, "ownRecord");
  return {
    ...message,
    subject: String(redact(subject)),
    text: String(redact(text)),
    data: { ...(redact(data) as Message["data"]), id },
  };
}
