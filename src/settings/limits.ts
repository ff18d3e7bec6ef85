/** What a server takes. Missing: its flag, or the usual limit. 0: no limit. */
export interface LimitSettings {
  readonly requestsPerMinute?: number;
  readonly runsPerMinute?: number;
  readonly streamsPerToken?: number;
  readonly maxConnections?: number;
  /** Attempts at a time in the server's own process. */
  readonly maxParallel?: number;
}
