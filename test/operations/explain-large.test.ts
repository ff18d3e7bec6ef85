import { describe, expect, it } from "vitest";
import type { EventRange } from "../../src/store/store.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();

/** A step that fails twice and what depends on it, among as many others. */
const among = (others: number): string =>
  [
    "name: large",
    "steps:",
    '  build: { exec: "echo boom >&2; exit 3", on_fail: { retry: { max: 1, backoff: { delay_ms: 0 } } } }',
    "  after: { type: noop, depends_on: [build] }",
    ...Array.from({ length: others }, (_, index) => `  s${index}: { type: noop }`),
  ].join("\n");

describe("explain_run of a large run", () => {
  it("tells of a step, of a plain one and of the whole what a small run with the same failure tells, and reads only part of the log", async () => {
    const [small, large] = [await bench.run(among(5)), await bench.run(among(2_100))];
    const read: EventRange[] = [];
    const { context } = bench;
    const watched = {
      ...context,
      store: {
        ...context.store,
        readEvents: (runId: number, range: EventRange = {}) => {
          read.push(range);
          return context.store.readEvents(runId, range);
        },
      },
    };
    for (const asked of [
      { step: "build" },
      { step: "build", full: true },
      { step: "s3" },
      { step: "after" },
      {},
    ]) {
      const there = await callIn(watched, "explain_run", { run_id: large.run_id, ...asked });
      const here = await bench.call("explain_run", { run_id: small.run_id, ...asked });
      const [overview, ...story] = there.lines;
      expect(overview).toMatch(/: 2100 of 2102 steps completed, 2 failures\.$/);
      const plain = (lines: readonly string[]) =>
        lines.map((line) => line.replace(/\d+ ms|[\d.]+ s\b/g, "TIME").replace(/ \(\d{6,}\)/g, ""));
      expect(plain(story)).toEqual(plain(here.lines.slice(1)));
      expect(there.advice.map(({ kind }) => kind)).toEqual(here.advice.map(({ kind }) => kind));
      expect(there.recoveries.map(({ step, rung, outcome }) => [step, rung, outcome])).toEqual([
        ["build", "retry", "failed"],
      ]);
    }
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter(({ types, job }) => types === undefined && job === undefined)).toEqual([]);
    const unknown = bench.call("explain_run", { run_id: large.run_id, step: "biuld" });
    expect(await refusalOf(unknown)).toBe("STEP_NOT_FOUND");
  });
});
