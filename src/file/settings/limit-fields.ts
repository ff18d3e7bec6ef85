import { type Fields, mapped, named, object, type Schema } from "../read/schema.js";
import { number } from "../read/schema-scalars.js";
import type { LimitSettings } from "./limits.js";

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
