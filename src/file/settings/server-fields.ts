import { memory } from "../fields/resource-fields.js";
import { parseDuration } from "../read/amounts.js";
import { type Fields, listOf, mapped, named, object, type Schema } from "../read/schema.js";
import { number, oneOf, text } from "../read/schema-scalars.js";
import { quote } from "../read/suggest.js";
import type { LimitSettings } from "./limits.js";
import { FINAL_STATUSES, NO_RETENTION, type RetentionRule, type RetentionSettings } from "./retention.js";

const MAX_COUNT = 1_000_000;
const count = number({ min: 0, max: MAX_COUNT, whole: true });

export const limits: Schema<LimitSettings> = named(
  "limits",
  mapped(
    object({
      requests_per_minute: {
        schema: count,
        doc: "Requests of one token, or of one address without tokens. 0: no limit. `serve --rate-limit` comes first.",
        default: 6_000,
      },
      runs_per_minute: {
        schema: count,
        doc: "Runs that one token starts, forks or imports. 0: no limit. `serve --runs-per-minute` comes first.",
        default: 1_000,
      },
      streams_per_token: {
        schema: count,
        doc: "Event streams that one token has open. 0: no limit. `serve --streams-per-token` comes first.",
        default: 200,
      },
      max_connections: {
        schema: count,
        doc: "Connections. 0: no limit. `serve --max-connections` comes first.",
        default: 4_000,
      },
      max_parallel: {
        schema: number({ min: 0, max: 10_000, whole: true }),
        doc: "Attempts at a time on the server itself; 0: none, workers do all. `serve --max-parallel` comes first.",
      },
    } as const satisfies Fields),
    (given): LimitSettings => ({
      ...(given.requests_per_minute === undefined ? {} : { requestsPerMinute: given.requests_per_minute }),
      ...(given.runs_per_minute === undefined ? {} : { runsPerMinute: given.runs_per_minute }),
      ...(given.streams_per_token === undefined ? {} : { streamsPerToken: given.streams_per_token }),
      ...(given.max_connections === undefined ? {} : { maxConnections: given.max_connections }),
      ...(given.max_parallel === undefined ? {} : { maxParallel: given.max_parallel }),
    }),
  ),
);

const MAX_RUNS = 1_000_000_000;
const HOUR_MS = 3_600_000;
const HINT = "Write an age such as 12h, 30d or P90D, at least 1h.";

/** An age. No timer waits for it, so it may exceed the longest timer. */
const age: Schema<number, string> = mapped(
  text({
    expected: "an age such as `30d`",
    check(written, node, path, { findings }) {
      const ms = parseDuration(written);
      if (ms !== null && ms >= HOUR_MS) return;
      const message = ms === null ? `${quote(written)} is not a duration` : `${quote(written)} is too short`;
      findings.error({ code: "INVALID_VALUE", message, hint: HINT, at: node.at, path });
    },
  }),
  (written) => parseDuration(written) ?? 0,
);

const bounds = {
  older_than: { schema: age, doc: "What ended longer ago is removed. At least 1h." },
  keep_last: {
    schema: number({ min: 0, max: MAX_RUNS, whole: true }),
    doc: "How many runs of each workflow are kept: those that ended last.",
  },
  max_size: {
    schema: memory,
    doc: "The most that the files may take together; the oldest are removed first.",
  },
  status: {
    schema: listOf(oneOf(FINAL_STATUSES), { items: "statuses", notEmpty: true }),
    doc: "Only runs that ended so.",
    default: [...FINAL_STATUSES],
  },
} as const satisfies Fields;

function ruleOf(name: string, noun: string): Schema<RetentionRule> {
  const map = object(bounds);
  const read: Schema<RetentionRule>["read"] = (node, path, context) => {
    const given = map.read(node, path, context);
    if (given === undefined) return undefined;
    const rule: RetentionRule = {
      olderThanMs: given.older_than ?? null,
      keepLast: given.keep_last ?? null,
      maxBytes: given.max_size ?? null,
      status: [...new Set(given.status ?? FINAL_STATUSES)],
    };
    if (rule.olderThanMs !== null || rule.keepLast !== null || rule.maxBytes !== null) return rule;
    context.findings.error({
      code: "INVALID_VALUE",
      message: `retention.${name} has no bound`,
      hint: `Add older_than, keep_last or max_size, or remove it to keep all ${noun}.`,
      at: node.at,
      path,
    });
    return undefined;
  };
  return { ...map, read } as unknown as Schema<RetentionRule>;
}

export const retention: Schema<RetentionSettings> = named(
  "retention",
  mapped(
    object({
      runs: { schema: ruleOf("runs", "runs"), doc: "Runs that are over, with all that belongs to them." },
      logs: { schema: ruleOf("logs", "logs"), doc: "What attempts of runs that are over have printed." },
      artifacts: {
        schema: ruleOf("artifacts", "artifacts"),
        doc: "Other files of runs that are over: large outputs, summaries, contexts, patches, workspaces.",
      },
    } as const satisfies Fields),
    (given): RetentionSettings => ({
      runs: given.runs ?? NO_RETENTION.runs,
      logs: given.logs ?? NO_RETENTION.logs,
      artifacts: given.artifacts ?? NO_RETENTION.artifacts,
    }),
  ),
);
