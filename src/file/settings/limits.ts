/** Limits of a server. A missing one is taken from its flag, else from the default. 0 means no limit. */
export interface LimitSettings {
  readonly requestsPerMinute?: number;
  readonly runsPerMinute?: number;
  readonly streamsPerToken?: number;
  readonly maxConnections?: number;
  /** How many attempts the server's own process runs at a time. */
  readonly maxParallel?: number;
}

/** The limits under their names in the settings file. Null means the default. */
export interface ShownLimits {
  readonly requests_per_minute: number | null;
  readonly runs_per_minute: number | null;
  readonly streams_per_token: number | null;
  readonly max_connections: number | null;
  readonly max_parallel: number | null;
}

const LIMIT_WORDS: { readonly [key in keyof ShownLimits]: string } = {
  requests_per_minute: "requests per minute",
  runs_per_minute: "runs per minute",
  streams_per_token: "streams per token",
  max_connections: "connections",
  max_parallel: "attempts at a time",
};

/** Describes the limits that differ from the defaults, for people. */
export function limitTexts(limits: ShownLimits): string[] {
  return (Object.keys(LIMIT_WORDS) as (keyof ShownLimits)[]).flatMap((key) =>
    limits[key] === null ? [] : [limitText(key, limits[key])],
  );
}

function limitText(key: keyof ShownLimits, limit: number): string {
  if (limit > 0) return `at most ${limit} ${LIMIT_WORDS[key]}`;
  return key === "max_parallel" ? "steps run on workers only" : `no limit of ${LIMIT_WORDS[key]}`;
}
