import type { LimitSettings, ShownLimits } from "../../file/settings/limits.js";
import type { RetentionRule, RetentionSettings } from "../../file/settings/retention.js";

export function shownLimits(limits: LimitSettings): ShownLimits {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    runs_per_minute: limits.runsPerMinute ?? null,
    streams_per_token: limits.streamsPerToken ?? null,
    max_connections: limits.maxConnections ?? null,
    max_parallel: limits.maxParallel ?? null,
  };
}

export function shownRetention({ runs, logs, artifacts }: RetentionSettings) {
  return { runs: shownRule(runs), logs: shownRule(logs), artifacts: shownRule(artifacts) };
}

function shownRule(rule: RetentionRule | null) {
  if (rule === null) return null;
  const { olderThanMs, keepLast, maxBytes, status } = rule;
  return { older_than_ms: olderThanMs, keep_last: keepLast, max_bytes: maxBytes, status };
}
