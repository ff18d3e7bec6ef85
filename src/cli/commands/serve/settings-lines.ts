import { sizeText } from "../../../core/text/amount-text.js";
import { limitTexts, type ShownLimits } from "../../../file/settings/limits.js";
import { FINAL_STATUSES } from "../../../file/settings/retention.js";
import type { OutputOf } from "../../../operations/client.js";
import { ageText } from "../../../operations/retention/exceeding-runs.js";

type Shown = OutputOf<"get_settings">;
type Rule = NonNullable<Shown["retention"]["runs"]>;

export function clusterLines(clusters: Shown["clusters"]): string[] {
  return clusters.map(({ name, type, tags }) => `  ${name} (${type}), tags ${tags.join(", ")}`);
}

/** Describes the limits, one per line. */
export function limitLines(limits: ShownLimits): string[] {
  return limitTexts(limits).map((text) => `  ${text}`);
}

/** Describes how long things are kept, one per line. */
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
