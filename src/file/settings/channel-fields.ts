import { CHANNEL_NAME, CHANNEL_RULE, type PlacedRules, unknownChannel } from "../fields/notify-fields.js";
import { secret, variable } from "../fields/start/webhook-fields.js";
import { childPath, type Path } from "../read/path.js";
import {
  type Fields,
  listOf,
  located,
  mapOf,
  mapped,
  named,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
  union,
} from "../read/schema.js";
import { duration, number, oneOf, text } from "../read/schema-scalars.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";
import {
  CHANNEL_TYPES,
  type ChannelSettings,
  type ChannelType,
  type NamelessChannel,
  TLS_MODES,
} from "./channels.js";

const MAX_PORT = 65_535;
const MAX_NAME_CHARS = 200;
const MAX_URL_CHARS = 2_000;
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 60_000;
const PORTS = { starttls: 587, implicit: 465, none: 25 } as const;

const url = text({
  expected: "an address such as `https://example.com/hooks/daruma`",
  maxChars: MAX_URL_CHARS,
  pattern: /^https?:\/\/[^\s@/]+(?:\/[^\s]*)?$/,
  rule: "Write an address that begins with https:// or http://, without a user or password in it.",
  check: (value, node, path, context) => {
    if (!URL.canParse(value))
      context.findings.error({
        ...{ code: "INVALID_VALUE", message: `${quote(value)} is not an address` },
        ...{ hint: "Write an address such as `https://example.com/hooks/daruma`.", at: node.at, path },
      });
  },
});
const host = text({
  expected: "a host's name",
  maxChars: MAX_NAME_CHARS,
  pattern: /^[A-Za-z0-9.:_-]+$/,
  rule: "Give the name or address of the mail server, without a port.",
});
const address = text({
  expected: "an address such as `ops@example.com`",
  maxChars: MAX_NAME_CHARS,
  pattern: /^(?:[^\p{Cc}<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/u,
  rule: "Write one address on one line, such as `ops@example.com` or `Daruma <daruma@example.com>`.",
});
const argument = text({
  expected: "a program or an argument",
  mayBeEmpty: true,
  pattern: /^[^\0\n\r]*$/,
  rule: "Use one line.",
});

const channelFields = {
  type: { schema: oneOf(CHANNEL_TYPES), doc: "`webhook`, `slack`, `email` or `command`.", required: true },
  timeout: {
    schema: located(duration({ min: 100 })),
    doc: "How long one try may take, at most a minute.",
    default: "10s",
  },
  secret: {
    schema: secret,
    doc: "Name of the variable, or the file, with the key of a webhook's signature, the address of Slack's incoming webhook, or the password of the mail server.",
  },
  url: { schema: url, doc: "Webhook only: where messages are posted." },
  host: { schema: host, doc: "Email only: the mail server." },
  port: {
    schema: number({ min: 1, max: MAX_PORT, whole: true }),
    doc: "Email only: its port; by default 587, 465 with `tls: implicit`, 25 with `tls: none`.",
  },
  tls: {
    schema: oneOf(TLS_MODES),
    doc: "Email only: `starttls` (refused without it), `implicit`, or `none` for a server on this machine.",
    default: "starttls",
  },
  user: {
    schema: text({ maxChars: MAX_NAME_CHARS }),
    doc: "Email only: the user; its password is the `secret`.",
  },
  from: { schema: address, doc: "Email only: the sender." },
  to: {
    schema: union(
      listOf(address, { items: "addresses", notEmpty: true }),
      mapped(address, (only): readonly string[] => [only]),
    ),
    doc: "Email only: the receivers.",
  },
  command: {
    schema: listOf(argument, { items: "words", notEmpty: true }),
    doc: "Command only: the program and its arguments. It gets the message as JSON on standard input.",
  },
  env: {
    schema: listOf(variable, { items: "variables' names" }),
    doc: "Command only: variables that it gets besides PATH, HOME, LANG and the like.",
  },
} as const satisfies Fields;

type Keys = ReadOf<typeof channelFields>;
type Key = Exclude<keyof Keys, "type" | "timeout">;

const NEEDED: { readonly [type in ChannelType]: readonly Key[] } = {
  webhook: ["url", "secret"],
  slack: ["secret"],
  email: ["host", "from", "to"],
  command: ["command"],
};
const ALLOWED: { readonly [type in ChannelType]: readonly Key[] } = {
  webhook: ["url", "secret"],
  slack: ["secret"],
  email: ["host", "port", "tls", "user", "secret", "from", "to"],
  command: ["command", "env"],
};
const KEYS = Object.keys(channelFields).filter((key): key is Key => key !== "type" && key !== "timeout");

const channelKeys = object(channelFields);

/** One channel, with the rules that involve several keys. */
const channel: Schema<NamelessChannel> = named("channel", {
  ...mapped(channelKeys, (keys) => toChannel(keys) ?? { type: "slack", secret: { file: "" }, timeoutMs: 0 }),
  read(node, path, context) {
    const keys = channelKeys.read(node, path, context);
    if (keys === undefined || node.kind !== "map" || keys.type === undefined) return undefined;
    const before = context.findings.errors.length;
    checkKeys(keys.type, node, path, context);
    const { timeout } = keys;
    if (timeout !== undefined && timeout.value > MAX_TIMEOUT_MS)
      context.findings.error({
        ...{ code: "INVALID_VALUE", message: "one try may take at most a minute" },
        ...{
          hint: "Write at most 60s; a message that fails is tried again.",
          at: timeout.at,
          path: timeout.path,
        },
      });
    return context.findings.errors.length > before ? undefined : (toChannel(keys) ?? undefined);
  },
});

function checkKeys(type: ChannelType, node: SourceMap, path: Path | null, context: ReadContext): void {
  const report = (message: string, hint: string, at: number, where: Path | null) =>
    context.findings.error({ code: "INVALID_VALUE", message, hint, at, path: where });
  for (const key of KEYS) {
    const entry = findEntry(node, key);
    if (entry !== undefined && !ALLOWED[type].includes(key)) {
      const hint =
        type === "slack" && key === "url"
          ? "Who knows the address can write there, so it is a secret: put it into a variable and name that in `secret`."
          : `Remove it. Keys of such a channel: ${["type", ...ALLOWED[type], "timeout"].join(", ")}.`;
      report(`a channel of type ${type} has no \`${key}\``, hint, entry.keyAt, childPath(path, key));
    } else if (entry === undefined && NEEDED[type].includes(key))
      context.findings.error({
        code: "MISSING_KEY",
        message: `a channel of type ${type} needs \`${key}\``,
        hint: `Add \`${key}\`: ${channelFields[key].schema.expected}.`,
        ...{ at: node.at, path },
      });
  }
  const [user, password] = [findEntry(node, "user"), findEntry(node, "secret")];
  if (type === "email" && (user === undefined) !== (password === undefined))
    report(
      "`user` and `secret` belong together",
      "Give both, or neither where the mail server wants no password.",
      (user ?? password)!.keyAt,
      path,
    );
}

/** The channel; null if something is missing, for which a problem has been reported. */
function toChannel(keys: Keys): NamelessChannel | null {
  const { type, secret: given, url: target, host: server, from, to, command } = keys;
  const timeoutMs = keys.timeout?.value ?? DEFAULT_TIMEOUT_MS;
  switch (type) {
    case "webhook":
      return target === undefined || given === undefined
        ? null
        : { type, url: target, secret: given, timeoutMs };
    case "slack":
      return given === undefined ? null : { type, secret: given, timeoutMs };
    case "email": {
      const { tls = "starttls", user = null } = keys;
      if (server === undefined || from === undefined || to === undefined) return null;
      const mail = {
        host: server,
        port: keys.port ?? PORTS[tls],
        tls,
        user,
        secret: given ?? null,
        from,
        to,
      };
      return { type, ...mail, timeoutMs };
    }
    case "command":
      return command === undefined ? null : { type, command, env: keys.env ?? [], timeoutMs };
    default:
      return null;
  }
}

export const channels = mapOf(channel, { keyPattern: CHANNEL_NAME, keyRule: CHANNEL_RULE });

export function toChannels(read: ReadonlyMap<string, NamelessChannel> = new Map()): ChannelSettings[] {
  return [...read].map(([name, rest]) => ({ ...rest, name }) as ChannelSettings);
}

/** Reports names that no channel in the file has. */
export function checkChannels(
  rules: PlacedRules,
  known: readonly ChannelSettings[],
  { findings }: ReadContext,
): void {
  const names = known.map(({ name }) => name);
  for (const { value, at, path } of rules.flatMap(({ to = [] }) => to)) {
    if (names.includes(value)) continue;
    const otherwise = "Fix the name, or define it under `channels`.";
    findings.error({ ...unknownChannel(value, names, findings, otherwise), at, path });
  }
}
