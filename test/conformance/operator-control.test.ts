import { describe, expect, it } from "vitest";
import { exitCodeOfStatus } from "../../src/cli/terminal/exit-codes.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const CHAIN = `steps:
  a: { exec: "true" }
  b: { exec: "true", depends_on: a }
  c: { exec: "true", depends_on: b }`;

const slowly = { output: null, takesMs: 100 } as const;

describe("a key", () => {
  it("is taken once: a command that comes again with it changes nothing", async () => {
    const stage = await Stage.begin(`steps: { a: { exec: "true" }, slow: { exec: "true" } }`, {
      a: ["fail"],
      slow: [slowly],
    });
    const retry = { type: "step.retry", job: await stage.id("a"), key: "once" } as const;
    expect(await stage.operate(retry)).toBeNull();
    expect(await stage.operate(retry)).toBeNull();
    const run = await stage.rest();
    expect(run.order).toEqual(["a", "slow", "a"]);
    expect(run.events("jobs.retried")).toMatchObject([{ action: "retry_step", key: "once" }]);
  });
});

describe("pause", () => {
  it("lets what runs end and decides it, but starts nothing until the pause is lifted", async () => {
    const stage = await Stage.begin(CHAIN, { a: [slowly] });
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBeNull();
    const paused = await stage.rest();
    expect(paused.run.status).toBe("paused");
    expect(await stage.statuses("a", "b", "c")).toEqual(["completed", "ready", "blocked"]);
    expect(exitCodeOfStatus(paused.run.status)).toBe(3);
    const run = await (await stage.resume()).rest();
    expect(trace(run)).toEqual([
      "start a",
      "run paused",
      "ok a",
      "run unpaused",
      "start b",
      "ok b",
      "start c",
      "ok c",
      "run completed",
    ]);
  });

  it("is lifted on a live run by its own command, while other jobs go on", async () => {
    const stage = await Stage.begin(`${CHAIN}\n  slow: { exec: "true" }`, {
      slow: [{ output: null, takesMs: 500 }],
      a: [slowly],
    });
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.turn(1);
    expect(await stage.statuses("a", "b", "slow")).toEqual(["completed", "ready", "running"]);
    expect(await stage.operate({ type: "run.unpause" })).toBeNull();
    const run = await stage.rest();
    expect(run.order).toEqual(["a", "slow", "b", "c"]);
    expect(run.times).toEqual([0, 0, 100, 100]);
  });

  it("a backoff that ends meanwhile makes the job ready, not running", async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: "true", on_fail: { retry: { max: 1, backoff: { delay_ms: 50 } } } }, slow: { exec: "true" } }`,
      { a: ["fail", "ok"], slow: [{ output: null, takesMs: 200 }] },
    );
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.turn(1);
    expect(await stage.statuses("a", "slow")).toEqual(["ready", "running"]);
  });

  it("survives a crash of the engine", async () => {
    const stage = await Stage.begin(CHAIN, { a: [slowly] });
    await stage.operate({ type: "run.pause", takeover: false });
    stage.kill();
    expect((await stage.view()).run.status).toBe("paused");
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "a", "b", "c"]);
  });

  const SCRIPTED = `failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true, recovery_script: ./fix.sh, max_retries: 2 }] }]
steps: { a: { exec: "true", failure_handler: h } }`;

  it("that is lifted while no engine is there starts a recovery script that waited, once", async () => {
    const stage = await Stage.begin(SCRIPTED, { a: [{ exit: 1, takesMs: 10 }, "ok"] });
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.rest();
    stage.kill();
    const { runId, store } = stage;
    const command = JSON.stringify({ type: "run.unpause", reason: "because", key: "k" });
    await store.sendCommand({ runId, key: "k", command, at: 1 });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "a script", "a"]);
    expect(run.events("recovery.started")).toHaveLength(1);
  });

  it("a recovery script that would start in the pause waits for its end, with the retry reserved", async () => {
    const stage = await Stage.begin(SCRIPTED, { a: [{ exit: 1, takesMs: 10 }, "ok"] });
    await stage.operate({ type: "run.pause", takeover: false });
    const paused = await stage.rest();
    expect(paused.order).toEqual(["a"]);
    expect(paused.events("rule.reserved")).toHaveLength(1);
    expect(paused.job("a").status).toBe("recovering");
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "a script", "a"]);
  });

  it("is refused on a run that is over or being canceled, and lifting it where there is none", async () => {
    const stage = await Stage.begin(CHAIN);
    await stage.rest();
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBe("RUN_OVER");
    expect(await stage.operate({ type: "run.unpause" })).toBe("NOT_PAUSED");
    expect(await stage.operate({ type: "run.cancel" })).toBe("RUN_OVER");
  });

  it("takeover is a pause that says so", async () => {
    const stage = await Stage.begin(CHAIN, { a: [slowly] });
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.operate({ type: "run.pause", takeover: true });
    await stage.operate({ type: "run.pause", takeover: true });
    const run = await stage.rest();
    expect(run.events("run.paused").map(({ takeover }) => takeover)).toEqual([false, true]);
    expect(run.run.status).toBe("paused");
  });
});

describe("cancel", () => {
  it("on a held run ends it", async () => {
    const stage = await Stage.begin(`unhandled: hold\n${CHAIN}`, { a: ["fail"] });
    await stage.rest();
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    expect((await stage.view()).run.status).toBe("canceled");
    expect(await stage.statuses("a", "b", "c")).toEqual(["canceled", "canceled", "canceled"]);
  });

  it("on a paused run ends what runs, and the run", async () => {
    const stage = await Stage.begin(CHAIN, { a: [slowly] });
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.operate({ type: "run.cancel" });
    const run = await stage.rest();
    expect(stage.worker.stopped).toEqual(["a"]);
    expect(run.run).toMatchObject({
      status: "canceled",
      error: { code: "RUN_CANCELED", message: "because" },
    });
    expect(exitCodeOfStatus(run.run.status)).toBe(4);
  });

  it("a canceled run that is reset goes on from where it was, not paused, and routed steps wait to be routed to", async () => {
    const stage = await Stage.begin(
      `${CHAIN}\n  fix: { exec: "true" }\ntransitions: [{ from: c, to: fix, on: failure }]`,
      { b: [slowly, "ok"] },
    );
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.operate({ type: "run.cancel" });
    await stage.rest();
    expect(await stage.statuses("a", "b", "c", "fix")).toEqual([
      "completed",
      "canceled",
      "canceled",
      "canceled",
    ]);
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    expect(await stage.operate({ type: "run.unpause" })).toBe("NOT_PAUSED");
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "b", "b", "c"]);
    expect(run.job("fix").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });
});

describe("an idempotency key", () => {
  it("is taken once, whatever the run is when it comes again, and is no refusal", async () => {
    const stage = await Stage.begin(CHAIN, { a: ["fail", "fail", "ok"] });
    await stage.rest();
    const job = await stage.id("a");
    expect(await stage.operate({ type: "step.retry", job, key: "k1" })).toBeNull();
    await (await stage.resume()).rest();
    expect(await stage.operate({ type: "step.retry", job, key: "k1" })).toBeNull();
    const run = await stage.view();
    expect(run.order).toEqual(["a", "a"]);
    expect(run.events("jobs.retried")).toMatchObject([{ key: "k1", reason: "because" }]);
  });

  it("is remembered by every command that has one", async () => {
    const stage = await Stage.begin(CHAIN, { a: [slowly] });
    for (let again = 0; again < 2; again += 1) {
      expect(await stage.operate({ type: "run.pause", takeover: false, key: "p" })).toBeNull();
    }
    await stage.operate({ type: "run.unpause", key: "u" });
    expect(await stage.operate({ type: "run.pause", takeover: false, key: "p" })).toBeNull();
    expect((await stage.view()).run.status).toBe("running");
    const run = await stage.rest();
    expect(run.events("run.paused")).toHaveLength(1);
  });
});
