import { readFileSync } from "node:fs";
import { DarumaError } from "../core/errors/errors.js";
import { type ChannelSettings, type SecretSource, secretName, secretOf } from "../settings/channels.js";

export type Environment = { readonly [name: string]: string | undefined };

const MAX_SECRET_CHARS = 10_000;
/** As Standard Webhooks writes a key. */
const WEBHOOK_KEY = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/;

/** Read when it is needed and kept nowhere. */
export function readSecret(source: SecretSource, env: Environment): string {
  const found = "variable" in source ? env[source.variable] : readFile(source.file);
  const secret = (found ?? "").trim();
  if (secret === "") throw new DarumaError("CHANNEL_SECRET", `${secretName(source)} is empty or missing`);
  if (secret.length > MAX_SECRET_CHARS || /[\r\n]/.test(secret))
    throw new DarumaError("CHANNEL_SECRET", `${secretName(source)} is not one line`);
  return secret;
}

function readFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** The bytes of a key; throws where it is none, and says nothing of what it is. */
export function webhookKey(source: SecretSource, env: Environment): Buffer {
  const [, key] = WEBHOOK_KEY.exec(readSecret(source, env)) ?? [];
  if (key === undefined)
    throw new DarumaError("CHANNEL_SECRET", `${secretName(source)} is no key of Standard Webhooks`, {
      hint: 'It begins with whsec_ and goes on with at least 24 bytes in base64. Make one with: echo "whsec_$(openssl rand -base64 32)"',
    });
  return Buffer.from(key, "base64");
}

export function slackAddress(source: SecretSource, env: Environment): URL {
  const text = readSecret(source, env);
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new DarumaError("CHANNEL_SECRET", `${secretName(source)} is no address of an incoming webhook`, {
      hint: "Slack shows it where the app has Incoming Webhooks: it begins with https://hooks.slack.com/services/.",
    });
  return new URL(text);
}

/** What is wrong with the secret of a channel; null: it can be used. */
export function secretProblem(channel: ChannelSettings, env: Environment): string | null {
  const source = secretOf(channel);
  if (source === null) return null;
  try {
    if (channel.type === "webhook") webhookKey(source, env);
    else if (channel.type === "slack") slackAddress(source, env);
    else readSecret(source, env);
    return null;
  } catch (error) {
    if (error instanceof DarumaError) return error.message;
    throw error;
  }
}
