import { sizeText } from "../../../core/text/amount-text.js";
import type { OutputOf } from "../../../operations/client.js";
import { ageText } from "../../../operations/retention/exceeding-runs.js";
import { FINAL_STATUSES } from "../../../settings/retention.js";

type Shown = OutputOf<"get_settings">;
type Limits = Shown["limits"];
type Rule = NonNullable<Shown["retention"]["runs"]>;

const LIMIT_WORDS: { readonly [key in keyof Limits]: string } = {
  requests_per_minute: "requests per minute",
  runs_per_minute: "runs per minute",
  streams_per_token: "streams per token",
  max_connections: "connections",
  max_parallel: "attempts at a time",
};

export function clusterLines(clusters: Shown["clusters"]): string[] {
  return clusters.map(({ name, type, tags }) => `  ${name} (${type}), tags ${tags.join(", ")}`);
}

/** What is limited, a line each. */
export function limitLines(limits: Limits): string[] {
  return (Object.keys(LIMIT_WORDS) as (keyof Limits)[]).flatMap((key) =>
    limits[key] === null ? [] : [`  ${limitText(key, limits[key])}`],
  );
}

function limitText(key: keyof Limits, limit: number): string {
  if (limit > 0) return `at most ${limit} ${LIMIT_WORDS[key]}`;
  return key === "max_parallel" ? "steps run on workers only" : `no limit of ${LIMIT_WORDS[key]}`;
}

/** How long things are kept, a line each. */
export function retentionLines(retention: Shown["retention"]): string[] {
  return (["runs", "logs", "artifacts"] as const).flatMap((kind) => {
    const rule = retention[kind];
    return rule === null ? [] : [`  ${kind} are kept ${boundsText(rule)}`];
  });
}

function boundsText({ older_than_ms, keep_last, max_bytes, status }: Rule): string {
  const bounds = [
    ...(older_than_ms === null ? [] : [`for ${ageText(older_than_ms)}`]),
    ...(keep_last === null ? [] : [`for the last ${keep_last} runs of each workflow`]),
    ...(max_bytes === null ? [] : [`up to ${sizeText(max_bytes)}`]),
  ];
  const only = status.length === FINAL_STATUSES.length ? "" : ` (${status.join(", ")})`;
  return bounds.join(", ") + only;
}

export function channelLines(channels: Shown["channels"]): string[] {
  return channels.map(({ name, type, target }) => `  ${name} (${type}), to ${target}`);
}

export function notifyLines(notify: readonly Pick<Shown["notify"][number], "on" | "to">[]): string[] {
  return notify.map(({ on, to }) => `  notifies ${to.join(", ")} of ${on.join(", ")}`);
}
