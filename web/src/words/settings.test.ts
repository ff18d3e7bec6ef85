import { expect, it } from "vitest";
import { keptWords, limitWords } from "./settings.js";

it("a rule of retention is a sentence", () => {
  expect(keptWords(null)).toBe("Kept for ever.");
  expect(
    keptWords({
      older_than_ms: 30 * 86_400_000,
      keep_last: 100,
      max_bytes: 5 * 1024 * 1024,
      status: ["completed", "failed"],
    }),
  ).toBe(
    "Removed when older than 30 days, or beyond the last 100 of each workflow, or beyond 5.0 MB in all. Only of completed or failed runs.",
  );
  const all = { older_than_ms: null, keep_last: null, max_bytes: 5 * 1024 ** 3 } as const;
  expect(keptWords({ ...all, status: ["completed", "failed", "canceled"] })).toBe(
    "Removed when beyond 5.0 GiB in all.",
  );
});

it("limits are told where they are not the usual ones", () => {
  const usual = {
    ...{ requests_per_minute: null, runs_per_minute: null, streams_per_token: null },
    ...{ max_connections: null, max_parallel: null },
  };
  expect(limitWords(usual)).toBe("The usual ones.");
  expect(limitWords({ ...usual, runs_per_minute: 60, max_connections: 0, max_parallel: 0 })).toBe(
    "At most 60 runs per minute, no limit of connections, steps run on workers only.",
  );
});
