import type { SecretPlace } from "../../core/text/secret-place.js";

export const CHANNEL_TYPES = ["webhook", "slack", "email", "command"] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

export interface ChannelLimits {
  readonly name: string;
  /** Time limit for one try. */
  readonly timeoutMs: number;
}

export interface WebhookChannel extends ChannelLimits {
  readonly type: "webhook";
  readonly url: string;
  /** The key for the signature. */
  readonly secret: SecretPlace;
}

export interface SlackChannel extends ChannelLimits {
  readonly type: "slack";
  /** The address of the incoming webhook. It is a secret because anybody who knows it can post. */
  readonly secret: SecretPlace;
}

export const TLS_MODES = ["starttls", "implicit", "none"] as const;

export interface EmailChannel extends ChannelLimits {
  readonly type: "email";
  readonly host: string;
  readonly port: number;
  readonly tls: (typeof TLS_MODES)[number];
  /** The user name; null if the server needs none. */
  readonly user: string | null;
  /** The password. */
  readonly secret: SecretPlace | null;
  readonly from: string;
  readonly to: readonly string[];
}

export interface CommandChannel extends ChannelLimits {
  readonly type: "command";
  readonly command: readonly string[];
  /** Names of variables that the program gets in addition to the usual ones. */
  readonly env: readonly string[];
}

export type ChannelSettings = WebhookChannel | SlackChannel | EmailChannel | CommandChannel;

export function secretOf(channel: ChannelSettings): SecretPlace | null {
  return channel.type === "command" ? null : channel.secret;
}

/** Where a channel sends to, for display. Contains nothing secret. */
export function channelTarget(channel: ChannelSettings): string {
  switch (channel.type) {
    case "webhook":
      return new URL(channel.url).host;
    case "slack":
      return "Slack";
    case "email":
      return channel.to.join(", ");
    case "command":
      return channel.command[0]!;
  }
}

/** A channel as it is written in the file, where its name is the key. */
export type NamelessChannel = ChannelSettings extends infer Channel
  ? Channel extends ChannelSettings
    ? Omit<Channel, "name">
    : never
  : never;
