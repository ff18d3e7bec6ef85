import { describe, expect, it } from "vitest";
import { loadRun } from "../../src/run/engine/load-run.js";
import { reusableJobs } from "../../src/tell/lookup/fork-source.js";
import { endingOf } from "../support/ending-text.js";
import { Stage } from "../support/stage.js";

const CHAIN = `
finally: [sweep]
steps:
  a: { exec: x, undo: undo-a }
  b: { exec: x, depends_on: a, undo: undo-b }
  c: { exec: x, depends_on: b }
  undo-a: { exec: x }
  undo-b: { exec: x }
  sweep: { exec: x }
`;
const slow = [{ output: 1, takesMs: 1_000 }];
const UNDONE = [
  "undo.entered undo-b 1 of b",
  "undo.left b true",
  "undo.entered undo-a 1 of a",
  "undo.left a true",
];

describe("a cancel", () => {
  it("undoes and finishes before the run is canceled; the stop rung is not for these steps", {
    tags: ["U5"],
  }, async () => {
    const text = CHAIN.replace("undo-b: { exec: x }", "undo-b: { exec: x, on_fail: { retry: { max: 1 } } }");
    const stage = await Stage.begin(text, { c: slow, "undo-b": ["fail", "ok"] });
    await stage.operate({ type: "run.cancel" });
    const { run, order } = await stage.rest();
    expect([run.status, run.error?.code]).toEqual(["canceled", "RUN_CANCELED"]);
    expect(order).toEqual(["a", "b", "c", "undo-b", "undo-b", "undo-a", "sweep"]);
    expect(await endingOf(stage)).toEqual([
      "run.cancel_requested",
      "run.ending canceled",
      "undo.started b a",
      ...UNDONE,
      "finally.entered sweep 1",
      "run.canceled",
    ]);
  });

  it("of a paused run undoes, too: it lifts the pause", async () => {
    const stage = await Stage.begin(CHAIN, { c: slow });
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.operate({ type: "run.cancel" });
    const { run, order } = await stage.rest();
    expect([run.status, order.slice(3)]).toEqual(["canceled", ["undo-b", "undo-a", "sweep"]]);
  });

  it("does not stop what is being undone, and a pause of it can be lifted", { tags: ["U5"] }, async () => {
    const stage = await Stage.begin(CHAIN, { c: ["fail"], "undo-b": slow });
    await stage.turn(0);
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBeNull();
    expect((await stage.rest()).order).toEqual(["a", "b", "c", "undo-b"]);
    expect(await stage.operate({ type: "run.unpause" })).toBeNull();
    await stage.resume();
    const { run, order } = await stage.rest();
    expect([run.status, run.error?.step_id, order.slice(3)]).toEqual([
      "failed",
      "c",
      ["undo-b", "undo-a", "sweep"],
    ]);
    expect(await endingOf(stage)).not.toContain("run.cancel_requested");
  });

  it("at once undoes nothing and runs no finally", { tags: ["U5"] }, async () => {
    const stage = await Stage.begin(CHAIN, { c: slow });
    await stage.operate({ type: "run.cancel", now: true });
    expect((await stage.rest()).order).toEqual(["a", "b", "c"]);
    expect(await endingOf(stage)).toEqual(["run.cancel_requested", "run.canceled"]);
  });

  it("at once, asked for while processes still end, undoes nothing either", async () => {
    const stage = await Stage.begin(CHAIN, { c: slow });
    stage.worker.deaf = true;
    await stage.operate({ type: "run.cancel" });
    await stage.operate({ type: "run.cancel", now: true });
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["canceled", ["a", "b", "c"]]);
  });

  it("at once ends the step that undoes, and leaves the rest", { tags: ["U5"] }, async () => {
    const stage = await Stage.begin(CHAIN, { c: slow, "undo-b": slow });
    await stage.operate({ type: "run.cancel" });
    await stage.turn(0);
    await stage.operate({ type: "run.cancel", now: true });
    const { run, order } = await stage.rest();
    expect([run.status, order, stage.worker.stopped]).toEqual([
      "canceled",
      ["a", "b", "c", "undo-b"],
      ["c", "undo-b"],
    ]);
    expect((await endingOf(stage)).slice(-4)).toEqual([
      "undo.entered undo-b 1 of b",
      "run.cancel_requested",
      "undo.left b false",
      "run.canceled",
    ]);
    expect(await stage.statuses("undo-b")).toEqual(["canceled"]);
  });

  it("at once of a held undo of a failed run ends it as failed", async () => {
    const stage = await Stage.begin(CHAIN, { c: ["fail"], "undo-b": ["fail"] });
    await stage.rest();
    await stage.operate({ type: "run.cancel", now: true });
    const { run, order } = await stage.view();
    expect([run.status, run.error?.step_id, order]).toEqual(["failed", "c", ["a", "b", "c", "undo-b"]]);
  });

  it("at once while a completed run finishes makes it canceled", async () => {
    const stage = await Stage.begin(CHAIN, { sweep: slow });
    await stage.turn(0);
    await stage.operate({ type: "run.cancel", now: true });
    expect((await stage.rest()).run.status).toBe("canceled");
  });
});

describe("the deadline", () => {
  it("undoes and finishes, and does not count for that", { tags: ["U5"] }, async () => {
    const text = `deadline: 2s\n${CHAIN}`;
    const long = [{ output: 1, takesMs: 60_000 }];
    const stage = await Stage.begin(text, { c: long, "undo-b": long, sweep: long });
    const { run, order, log } = await stage.rest();
    expect([run.status, run.error?.code]).toEqual(["canceled", "DEADLINE"]);
    expect(order.slice(3)).toEqual(["undo-b", "undo-a", "sweep"]);
    const types = log.map(({ event }) => event.type).filter((type) => /^(time|run)\./.test(type));
    expect(types).toEqual([
      "run.created",
      "run.started",
      "time.counted",
      "run.cancel_requested",
      "run.ending",
      "time.stopped",
      "run.canceled",
    ]);
  });

  it("does not cancel a run that failed and is being undone", async () => {
    const stage = await Stage.begin(`deadline: 2s\n${CHAIN}`, {
      c: ["fail"],
      "undo-a": [{ output: 1, takesMs: 60_000 }],
    });
    const { run } = await stage.rest();
    expect([run.status, run.error?.code]).toEqual(["failed", "EXIT_1"]);
  });
});

describe("after an undo", () => {
  it("nothing of the run begins again: RUN_UNDONE", { tags: ["U8"] }, async () => {
    const stage = await Stage.begin(CHAIN, { c: ["fail"] });
    await stage.rest();
    const job = await stage.id("c");
    expect([
      await stage.operate({ type: "step.retry", job }),
      await stage.operate({ type: "step.retry", job, force: true }),
      await stage.operate({ type: "step.resume_from", job: await stage.id("a") }),
      await stage.operate({ type: "step.hard_reset", job }),
      await stage.operate({ type: "run.reset" }),
      await stage.operate({ type: "jobs.recover", items: [{ job }] }),
      await stage.operate({ type: "step.retry", job: await stage.id("undo-a") }),
      await stage.operate({ type: "step.retry", job: await stage.id("sweep") }),
    ]).toEqual(Array(8).fill("RUN_UNDONE"));
  });

  it("the same is refused while it is undone, but not for the step that has its turn", async () => {
    const stage = await Stage.begin(CHAIN, { c: ["fail"], "undo-b": ["fail"] });
    await stage.rest();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("c") })).toBe("RUN_UNDONE");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("undo-b") })).toBeNull();
  });

  it("a fork runs the undone steps again, and what depends on them", { tags: ["U8"] }, async () => {
    const text = `{ steps: {
      a: { exec: x }, b: { exec: x, undo: ub }, c: { exec: x, depends_on: b }, d: { exec: x, depends_on: [a, c] },
      ub: { exec: x } } }`;
    const stage = await Stage.begin(text, { d: ["fail"] });
    await stage.rest();
    const { run } = await loadRun(stage.store, stage.runId);
    expect(reusableJobs(run, "d", run.graph).map(({ step }) => step.definition.id)).toEqual(["a"]);
  });

  it("a step whose undo did not work counts as done for a fork", async () => {
    const stage = await Stage.begin(
      CHAIN,
      { c: ["fail"], "undo-b": ["fail"] },
      { options: { failure_routing: false } },
    );
    await stage.rest();
    const { run } = await loadRun(stage.store, stage.runId);
    expect(reusableJobs(run, "c", run.graph).map(({ step }) => step.definition.id)).toEqual([]);
    expect(run.ending?.items?.map(({ job, undone }) => `${job.step.definition.id} ${undone}`)).toEqual([
      "b false",
      "a true",
    ]);
  });
});

describe("while finally steps run", () => {
  it("a retry waits until they have ended; they cannot be gone back to", { tags: ["U8"] }, async () => {
    const text = "{ finally: [sweep], steps: { a: { exec: x }, sweep: { exec: x } } }";
    const stage = await Stage.begin(text, { a: ["fail"], sweep: slow });
    await stage.turn(0);
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a") })).toBe("RUN_OVER");
    await stage.rest();
    const sweep = await stage.id("sweep");
    expect(await stage.operate({ type: "step.resume_from", job: sweep })).toBe("NOT_RETRYABLE");
    expect(await stage.operate({ type: "step.retry", job: sweep })).toBe("NOT_RETRYABLE");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a") })).toBeNull();
  });
});

describe("--only", () => {
  it("runs neither undo nor finally", { tags: ["U8"] }, async () => {
    for (const outcome of ["ok", "fail"] as const) {
      const stage = await Stage.begin(CHAIN, { a: [outcome] }, { options: { only: "a" } });
      expect((await stage.rest()).order).toEqual(["a"]);
    }
  });

  it("can run one of these steps alone", async () => {
    const stage = await Stage.begin(CHAIN, {}, { options: { only: "sweep" } });
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["completed", ["sweep"]]);
  });
});

describe("run_js", () => {
  it("cannot lead to a step that runs when the run ends", async () => {
    const text = `{ steps: { a: { exec: x, undo: ua, on_success: { run_js: "return ['ua']" } }, ua: { exec: x } } }`;
    const stage = await Stage.begin(text);
    expect((await stage.rest()).order).toEqual(["a"]);
  });
});

describe("in a workspace", () => {
  const TREE = `
workspace: { repo: "." }
finally: [sweep]
steps:
  a: { exec: x, undo: undo-a }
  b: { exec: x, depends_on: a }
  undo-a: { exec: x }
  sweep: { exec: x }
`;
  const checkpoint = { commit: "c1", diff_hash: "d1", changed_files: ["f"], patch: "p1" };

  it("these steps find what was left and leave no checkpoint", { tags: ["U6"] }, async () => {
    const stage = await Stage.begin(TREE, {
      a: [{ output: 1, checkpoint }],
      b: ["fail"],
      "undo-a": [{ output: 1, checkpoint: { ...checkpoint, commit: "c2" } }],
    });
    const { order, events } = await stage.rest();
    expect(order).toEqual(["a", "b", "undo-a", "sweep"]);
    expect(events("set_aside.started")).toEqual([]);
    expect(events("attempt.succeeded").map(({ checkpoint: made }) => made?.commit ?? null)).toEqual([
      "c1",
      null,
      null,
    ]);
  });

  it("what a finally step changed is set aside before another step of a reopened run starts", {
    tags: ["U6"],
  }, async () => {
    const text = `
workspace: { repo: "." }
finally: [sweep]
steps:
  a: { exec: x, workspace: false }
  b: { exec: x, depends_on: a }
  sweep: { exec: x }
`;
    const stage = await Stage.begin(text, { a: ["fail", "ok"] });
    await stage.rest();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a") })).toBeNull();
    await stage.resume();
    const { run, order, events } = await stage.rest();
    expect([run.status, order]).toEqual(["completed", ["a", "sweep", "a", "b", "sweep"]]);
    expect(events("set_aside.started").map(({ job, for: next }) => [job, next])).toEqual([
      [await stage.id("sweep"), await stage.id("b")],
    ]);
  });
});
