import { describe, expect, it } from "vitest";
import { replayedTrial } from "../../test/support/replayed-trial.js";
import type { Script } from "../../test/support/scripted-worker.js";
import { type RunStats, StatsCounter } from "./run-stats.js";

async function statsOf(file: string, script: Script): Promise<RunStats> {
  const { runAt, log, jobs } = await replayedTrial(file, script);
  const counter = new StatsCounter();
  const stepOf = (id: number): string => jobs.find((job) => job.id === id)?.step ?? "";
  await counter.addRun(
    runAt().definition,
    stepOf,
    (async function* () {
      yield log;
    })(),
  );
  return counter.result();
}

describe("the statistics of runs", () => {
  it("counts the attempts of each completion by itself: a goto is no failed try of its target", {
    tags: ["W38"],
  }, async () => {
    const file = `
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto: a } }
`;
    const stats = await statsOf(file, { b: ["fail", "ok"] });
    // a completes twice at its first try, b at its second.
    expect(stats).toMatchObject({ attempts: 4, retries: 0, attempts_until_success: 4 / 3 });
  });

  it("keeps time spent running apart from time spent waiting for a retry", { tags: ["W37"] }, async () => {
    const file =
      "steps: { a: { type: noop, on_fail: { retry: { max: 2, backoff: { mode: linear, delay_ms: 1000 } } } } }";
    const stats = await statsOf(file, {
      a: [
        { exit: 1, takesMs: 30 },
        { exit: 1, takesMs: 30 },
        { output: 1, takesMs: 40 },
      ],
    });
    expect(stats).toMatchObject({ running_ms: 100, retry_waiting_ms: 3_000, retries: 2 });
  });

  it("has rates of zero, not of nothing by nothing, where nothing ran", () => {
    expect(new StatsCounter().result()).toMatchObject({
      runs: 0,
      retry_rate: 0,
      attempts_until_success: null,
    });
  });
});
