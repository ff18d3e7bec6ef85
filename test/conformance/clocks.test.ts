import { describe, expect, it } from "vitest";
import { Stage } from "../support/stage.js";

const HOURS_3 = 3 * 3_600_000;
const RETRY = `steps: { a: { exec: make, on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 4000 } } } } }`;
const QUEUE = `{ queue: { max_attempts: 2, classes: [application], backoff: { mode: fixed, delay_ms: 4000 } }, steps: { a: { exec: make } } }`;
const ASK = `steps: { a: { type: human, prompt: go?, choices: [yes, no], timeout_ms: 4000 } }`;

/** Until the run rests, and how much time that took by a clock that nobody sets. */
async function rest(stage: Stage) {
  const since = stage.clock.elapsed();
  const { run, log } = await stage.rest();
  return { status: run.status, tookMs: stage.clock.elapsed() - since, log };
}

describe("a wait of 4 s lasts 4 s", () => {
  it.each([
    ["the backoff of a retry", RETRY, "completed"],
    ["the backoff of the queue", QUEUE, "completed"],
    ["the time for an answer", ASK, "failed"],
  ])("though the clock is set back 3 h within %s", async (_, text, status) => {
    const stage = await Stage.begin(text, { a: ["fail", "ok"] });
    stage.clock.set(-HOURS_3);
    expect(await rest(stage)).toMatchObject({ status, tookMs: 4_000 });
  });

  it.each([
    ["the backoff of a retry", RETRY, "completed"],
    ["the backoff of the queue", QUEUE, "completed"],
    ["the time for an answer", ASK, "failed"],
  ])(
    "at most, where the process was killed in %s and the clock was set back before it went on",
    async (_, text, status) => {
      const stage = await Stage.begin(text, { a: ["fail", "ok"] });
      stage.kill();
      stage.clock.set(-HOURS_3);
      await stage.resume();
      expect(await rest(stage)).toMatchObject({ status, tookMs: 4_000 });
    },
  );

  it("and no more where it went on late", async () => {
    const stage = await Stage.begin(RETRY, { a: ["fail", "ok"] });
    stage.kill();
    stage.clock.advance(3_000);
    await stage.resume();
    expect(await rest(stage)).toMatchObject({ status: "completed", tookMs: 1_000 });
  });
});

it("no duration on record is less than nothing, though the clock was set back", async () => {
  const stage = await Stage.begin(ASK);
  stage.clock.set(-HOURS_3);
  const { log } = await rest(stage);
  const durations = log.flatMap(({ event }) => ("duration_ms" in event ? [event.duration_ms] : []));
  expect(durations).toEqual([0]);
});
