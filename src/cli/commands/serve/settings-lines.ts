import { sizeText } from "../../../core/text/amount-text.js";
import { ageText } from "../../../operations/retention/exceeding-runs.js";
import type { LimitSettings } from "../../../settings/limits.js";
import { FINAL_STATUSES, type RetentionRule, type RetentionSettings } from "../../../settings/retention.js";

const LIMIT_WORDS: { readonly [key in keyof LimitSettings]-?: string } = {
  requestsPerMinute: "requests per minute",
  runsPerMinute: "runs per minute",
  streamsPerToken: "streams per token",
  maxConnections: "connections",
  maxParallel: "attempts at a time",
};

/** What a settings file limits, a line each. */
export function limitLines(limits: LimitSettings): string[] {
  return (Object.keys(LIMIT_WORDS) as (keyof LimitSettings)[]).flatMap((key) =>
    limits[key] === undefined ? [] : [`  ${limitText(key, limits[key])}`],
  );
}

function limitText(key: keyof LimitSettings, limit: number): string {
  if (limit > 0) return `at most ${limit} ${LIMIT_WORDS[key]}`;
  return key === "maxParallel" ? "steps run on workers only" : `no limit of ${LIMIT_WORDS[key]}`;
}

/** How long things are kept, a line each. */
export function retentionLines(retention: RetentionSettings): string[] {
  return (["runs", "logs", "artifacts"] as const).flatMap((kind) => {
    const rule = retention[kind];
    return rule === null ? [] : [`  ${kind} are kept ${boundsText(rule)}`];
  });
}

function boundsText({ olderThanMs, keepLast, maxBytes, status }: RetentionRule): string {
  const bounds = [
    ...(olderThanMs === null ? [] : [`for ${ageText(olderThanMs)}`]),
    ...(keepLast === null ? [] : [`for the last ${keepLast} runs of each workflow`]),
    ...(maxBytes === null ? [] : [`up to ${sizeText(maxBytes)}`]),
  ];
  const only = status.length === FINAL_STATUSES.length ? "" : ` (${status.join(", ")})`;
  return bounds.join(", ") + only;
}

/** As the settings file names them. */
export function shownLimits(limits: LimitSettings) {
  return {
    requests_per_minute: limits.requestsPerMinute,
    runs_per_minute: limits.runsPerMinute,
    streams_per_token: limits.streamsPerToken,
    max_connections: limits.maxConnections,
    max_parallel: limits.maxParallel,
  };
}

export function shownRetention({ runs, logs, artifacts }: RetentionSettings) {
  const shown = (rule: RetentionRule | null) =>
    rule === null
      ? null
      : {
          older_than_ms: rule.olderThanMs,
          keep_last: rule.keepLast,
          max_bytes: rule.maxBytes,
          status: rule.status,
        };
  return { runs: shown(runs), logs: shown(logs), artifacts: shown(artifacts) };
}
