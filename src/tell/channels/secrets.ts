import { DarumaError } from "../../core/errors/errors.js";
import { type SecretPlace, secretPlaceName } from "../../core/text/secret-place.js";
import { type ChannelSettings, secretOf } from "../../file/settings/channels.js";
import { type Environment, findSecret } from "./find-secret.js";

/** A key in the format of Standard Webhooks. */
const WEBHOOK_KEY = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/;

/** Reads a secret at the time of use and keeps it nowhere. Throws if it cannot be used. */
export function readSecret(place: SecretPlace, env: Environment): string {
  const found = findSecret(place, env);
  if ("problem" in found) throw new DarumaError("CHANNEL_SECRET", found.problem);
  return found.value;
}

/** Decodes a key. Throws if invalid; the message never contains the key. */
export function webhookKey(place: SecretPlace, env: Environment): Buffer {
  const [, key] = WEBHOOK_KEY.exec(readSecret(place, env)) ?? [];
  if (key === undefined)
    throw new DarumaError("CHANNEL_SECRET", `${secretPlaceName(place)} is no key of Standard Webhooks`, {
      hint: 'It begins with whsec_ and goes on with at least 24 bytes in base64. Make one with: echo "whsec_$(openssl rand -base64 32)"',
    });
  return Buffer.from(key, "base64");
}

export function slackAddress(place: SecretPlace, env: Environment): URL {
  const text = readSecret(place, env);
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new DarumaError(
      "CHANNEL_SECRET",
      `${secretPlaceName(place)} is no address of an incoming webhook`,
      {
        hint: "Slack shows it where the app has Incoming Webhooks: it begins with https://hooks.slack.com/services/.",
      },
    );
  return new URL(text);
}

/** Throws if the channel's secret cannot be used. */
export function checkSecret(channel: ChannelSettings, env: Environment): void {
  const place = secretOf(channel);
  if (place === null) return;
  if (channel.type === "webhook") webhookKey(place, env);
  else if (channel.type === "slack") slackAddress(place, env);
  else readSecret(place, env);
}

/** What is wrong with a channel's secret; null if it can be used. */
export function secretProblem(channel: ChannelSettings, env: Environment): string | null {
  try {
    checkSecret(channel, env);
    return null;
  } catch (error) {
    if (error instanceof DarumaError) return error.message;
    throw error;
  }
}
