import { describe, expect, it } from "vitest";
import { replayedTrial } from "../../../test/support/replayed-trial.js";
import { Forecast, leftText, type UsualTimes } from "./forecast.js";

const CHAIN = `
name: chain
steps:
  a: { type: command, exec: x }
  b: { type: command, exec: x, depends_on: [a] }
  c: { type: command, exec: x, depends_on: [b] }
  d: { type: command, exec: x, depends_on: [a] }
  repair: { type: command, exec: x, start: routed }
transitions: [{ from: d, to: repair, on: failure }]
`;
const usual = new Map<string, UsualTimes>(
  Object.entries({ a: 10_000, b: 20_000, c: 30_000, d: 5_000 }).map(([step, ms]) => [
    step,
    { eachMs: ms, wholeMs: ms },
  ]),
);

/** The estimate `ms` after the first event that `stop` accepts. */
async function leftAfter(
  file: string,
  script: Parameters<typeof replayedTrial>[1],
  stop: (type: string, step: string) => boolean,
  { later = 0, times = usual }: { later?: number; times?: ReadonlyMap<string, UsualTimes> } = {},
): Promise<number | null> {
  const { states } = await replayedTrial(file, script, { capacity: 2 });
  const forecast = new Forecast();
  forecast.expect(times);
  for (const { run, logged } of states()) {
    forecast.hear(run, logged);
    const { event } = logged;
    const step =
      "job" in event ? (run.jobs.find(({ id }) => id === event.job)?.step.definition.id ?? "") : "";
    if (stop(event.type, step)) return forecast.leftMs(run, logged.at + later);
  }
  throw new Error("it never came to that");
}

const takes = (ms: number) => [{ output: 1, takesMs: ms }];

describe("how long a run will still take", () => {
  it("is the longest chain of steps that are left, by what they took before", { tags: ["C3"] }, async () => {
    const script = { a: takes(10_000), b: takes(20_000), c: takes(30_000), d: takes(5_000) };
    const begun = (type: string, step: string) => type === "attempt.started" && step === "a";
    expect(await leftAfter(CHAIN, script, begun)).toBe(65_000);
    expect(await leftAfter(CHAIN, script, begun, { later: 4_000 })).toBe(61_000);
    expect(await leftAfter(CHAIN, script, (type, step) => type === "attempt.succeeded" && step === "b")).toBe(
      30_000,
    );
  });

  it("is 0 where the last step takes longer than before, and unknown where a step was never seen", async () => {
    const script = { a: takes(1), b: takes(1), d: takes(1), c: takes(90_000) };
    const last = (type: string, step: string) => type === "attempt.started" && step === "c";
    expect(await leftAfter(CHAIN, script, last, { later: 40_000 })).toBe(0);
    expect(await leftAfter(CHAIN, script, last, { times: new Map() })).toBeNull();
  });

  it("is shared by the places of a fan-out, by what its first items took", async () => {
    const file = `
name: fan
steps:
  list: { type: command, exec: x, forEach: true }
  each: { type: command, exec: x, depends_on: [list] }
`;
    let done = 0;
    const fourth = (type: string, step: string) =>
      type === "attempt.succeeded" && step === "each" && ++done === 4;
    expect(
      await leftAfter(file, { list: [{ output: [1, 2, 3, 4, 5, 6, 7, 8] }], each: takes(6_000) }, fourth, {
        times: new Map(),
      }),
    ).toBe(12_000);
  });

  it("waits for nobody: while somebody is asked, or the run is held, it is unknown", async () => {
    const held =
      "name: h\nunhandled: hold\nsteps: { a: { type: command, exec: x }, b: { type: command, exec: x } }";
    const script = { a: ["fail" as const], b: takes(60_000) };
    expect(await leftAfter(held, script, (type) => type === "job.held")).toBeNull();
  });

  it.each([
    [0, "longer than expected"],
    [9_999, "a few seconds left"],
    [31_000, "about 40 s left"],
    [150_000, "about 3 min left"],
    [3_600_000, "about 1 h left"],
    [7_900_000, "about 2 h 10 min left"],
  ])("%i ms are told as %s", (ms, text) => {
    expect(leftText(ms)).toBe(text);
  });
});
