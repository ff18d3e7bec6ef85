import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { Stage } from "../support/stage.js";

const MINUTE = 60_000;
const WAITING = `{ deadline: 10m, steps: { a: { exec: make, on_fail: { retry: { max: 9, backoff: { mode: fixed, delay_ms: 240000 } } } } } }`;

/** The types of the events that say how time passed and how the run ended, with the moment since the start. */
function timeline(log: readonly LoggedEvent[]): [string, number][] {
  const start = log[0]!.at;
  return log
    .filter(({ event: { type } }) => /^(time|run)\./.test(type))
    .filter(({ event: { type } }) => type !== "run.created" && type !== "run.resumed")
    .map(({ event, at }) => [event.type, (at - start) / MINUTE]);
}

describe("deadline", () => {
  it("cancels the run at its moment: attempts, events and the code are exact", { tags: ["C1"] }, async () => {
    const stage = await Stage.begin(WAITING, { a: ["fail", "fail", "fail", "fail"] });
    const { run, log } = await stage.rest();
    expect(timeline(log)).toEqual([
      ["run.started", 0],
      ["time.counted", 0],
      ["run.cancel_requested", 10],
      ["run.canceled", 10],
    ]);
    expect(stage.worker.order).toEqual(["a", "a", "a"]);
    expect([run.status, run.error]).toMatchObject([
      "canceled",
      {
        code: "DEADLINE",
        class: "deterministic_policy",
        message: "it took longer than its deadline of 10 min",
      },
    ]);
  });

  it("is nothing to a run that ends in time", async () => {
    const stage = await Stage.begin(WAITING, { a: ["fail", "ok"] });
    const { run, log } = await stage.rest();
    expect(run.status).toBe("completed");
    expect(timeline(log).map(([type]) => type)).toEqual(["run.started", "time.counted", "run.completed"]);
    expect(stage.clock.fireNext()).toBe(false);
  });

  it("does not count while the run is paused", async () => {
    const stage = await Stage.begin(WAITING, { a: ["fail"] });
    await stage.operate({ type: "run.pause", takeover: false });
    stage.clock.advance(60 * MINUTE);
    await stage.operate({ type: "run.unpause" });
    await stage.resume();
    const { log } = await stage.rest();
    expect(timeline(log)).toEqual([
      ["run.started", 0],
      ["time.counted", 0],
      ["run.paused", 0],
      ["time.stopped", 0],
      ["run.unpaused", 60],
      ["time.counted", 60],
      ["run.cancel_requested", 70],
      ["run.canceled", 70],
    ]);
  });

  it("does not count while the run is held, and keeps what it had used before", async () => {
    const text = `{ deadline: 10m, unhandled: hold, steps: { a: { exec: make, on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 240000 } } } } } }`;
    const stage = await Stage.begin(text, { a: ["fail", "fail", "fail", "fail"] });
    await stage.rest();
    stage.clock.advance(60 * MINUTE);
    const hold = { job: await stage.id("a"), action: "retry", output: null, items: null } as const;
    await stage.operate({ type: "holds.resolve", items: [hold] });
    await stage.resume();
    await stage.rest();
    const used = (await stage.view()).log.flatMap(({ event }) =>
      event.type === "time.stopped" ? [event.used_ms / MINUTE] : [],
    );
    expect(used).toEqual([4, 8]);
  });

  it("stays the same moment when the process is killed and another goes on", async () => {
    const stage = await Stage.begin(WAITING, { a: ["fail", "fail", "fail", "fail", "fail"] });
    stage.kill();
    stage.clock.advance(5 * MINUTE);
    await stage.resume();
    expect(timeline((await stage.rest()).log).at(-1)).toEqual(["run.canceled", 10]);
  });

  it("that passed while nobody ran the run cancels it as soon as somebody does", async () => {
    const stage = await Stage.begin(WAITING, { a: ["fail", "fail", "fail", "fail", "fail"] });
    stage.kill();
    stage.clock.advance(30 * MINUTE);
    await stage.resume();
    const { run, log } = await stage.rest();
    expect([run.error?.code, timeline(log).at(-1)]).toEqual(["DEADLINE", ["run.canceled", 30]]);
  });

  it("begins anew for a run that somebody reopens", async () => {
    const stage = await Stage.begin(WAITING, { a: ["fail", "fail", "fail", "fail", "fail", "fail", "fail"] });
    await stage.rest();
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    await stage.resume();
    const { log } = await stage.rest();
    expect(timeline(log).slice(4)).toEqual([
      ["run.reopened", 10],
      ["time.counted", 10],
      ["run.cancel_requested", 20],
      ["run.canceled", 20],
    ]);
  });
});

describe("warn_after", () => {
  it("tells once, and the run goes on, also over a pause", async () => {
    const text = WAITING.replace("deadline: 10m", "warn_after: 5m");
    const stage = await Stage.begin(text, { a: ["fail", "fail", "fail", "fail", "ok"] });
    while (!(await stage.view()).log.some(({ event }) => event.type === "time.warned")) await stage.turn();
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.operate({ type: "run.unpause" });
    await stage.resume();
    const { run, log } = await stage.rest();
    expect(run.status).toBe("completed");
    expect(timeline(log)).toEqual([
      ["run.started", 0],
      ["time.counted", 0],
      ["time.warned", 5],
      ["run.paused", 5],
      ["time.stopped", 5],
      ["run.unpaused", 5],
      ["time.counted", 5],
      ["run.completed", 16],
    ]);
  });
});
