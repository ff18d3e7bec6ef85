import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const same = { exit: 1, stderr: "the test fails", diffHash: "d1" };
const lost = { facts: { lost: true, message: "gone" } };
const outage = { facts: { httpStatus: 503, message: "unavailable" } };
const file = (steps: string, ...keys: string[]): string =>
  `name: queue\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const HEAL = "workspace: {}\nself_heal: true";

describe("requeue", () => {
  it("waits 15 s, 30 s, 60 s and so on up to 600 s between the rounds of a job", {
    tags: ["M4", "M24"],
  }, async () => {
    const run = await trial(file("  call: { type: noop }", "queue: { max_attempts: 9 }"), {
      call: [outage],
    });
    expect(run.events("requeue.scheduled").map(({ delay_ms: delayMs }) => delayMs / 1000)).toEqual([
      15, 30, 60, 120, 240, 480, 600, 600,
    ]);
    expect(run.times).toEqual([0, 15, 45, 105, 225, 465, 945, 1545, 2145].map((seconds) => seconds * 1000));
    expect(run.events("job.dead_lettered")).toMatchObject([{ code: "503", queue_attempts: 9 }]);
    expect(run.run.status).toBe("failed");
  });

  it("spends its attempts on an outage, and none on a worker that is lost", { tags: ["M45"] }, async () => {
    const run = await trial(file("  call: { type: noop }", "queue: { max_attempts: 2 }"), {
      call: [lost, lost, outage, lost, outage],
    });
    expect(run.events("attempt.failed").map(({ error }) => error.class)).toEqual([
      ...["infrastructure", "infrastructure", "transient_runtime"],
      ...["infrastructure", "transient_runtime"],
    ]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      ...["restart", "restart", "requeue", "restart", "fail"],
    ]);
    expect(run.times).toEqual([0, 0, 0, 15_000, 15_000]);
    expect(run.events("job.dead_lettered")).toMatchObject([{ code: "503", queue_attempts: 2 }]);
  });

  it("lets other branches go on meanwhile", async () => {
    const run = await trial(
      file(
        "  call: { type: noop }\n  other: { type: noop }\n  next: { type: noop, depends_on: [other] }",
        "queue: {}",
      ),
      { call: [outage, "ok"], other: [{ output: null, takesMs: 1000 }] },
    );
    expect(run.order).toEqual(["call", "other", "next", "call"]);
    expect(run.run.status).toBe("completed");
  });

  it("goes from soft to hard reset, then to the queue with fresh workspaces, then to the dead letters", {
    tags: ["M1", "M4", "M24"],
  }, async () => {
    const run = await trial(
      file("  edit: { exec: edit }", HEAL, "queue: { max_attempts: 2 }", "unhandled: hold"),
      { edit: [same] },
    );
    expect(trace(run)).toEqual([
      "start edit",
      "fail edit EXIT_1",
      "climb edit retry",
      "retry edit 1/2 +0",
      "start edit",
      "fail edit EXIT_1",
      "climb edit reset",
      "reset edit for no_progress 1/1",
      "rebuild 1 for edit from []",
      "rebuilt 1 ok",
      "start edit",
      "fail edit EXIT_1",
      "climb edit requeue",
      "requeue edit 1/1 +15000",
      "discarded 1",
      "reset edit for requeue",
      "rebuild 2 for edit from []",
      "rebuilt 2 ok",
      "start edit",
      "fail edit EXIT_1",
      "climb edit retry",
      "retry edit 1/2 +0",
      "start edit",
      "fail edit EXIT_1",
      "climb edit hold",
      "dead letter edit after 2",
      "held edit EXIT_1",
      "discarded 2",
      "run held",
    ]);
    expect(run.job("edit").status).toBe("held");
  });

  it("puts back only the classes that are named, and fails otherwise", { tags: ["M11"] }, async () => {
    const run = await trial(
      file("  a: { type: noop }\n  b: { type: noop }", "queue: { classes: [application] }"),
      {
        a: ["fail", "ok"],
        b: [outage],
      },
    );
    expect(run.order).toEqual(["a", "b", "a"]);
    expect(run.job("b").status).toBe("failed");
  });

  it("takes what no edge takes: an edge comes first", async () => {
    const run = await trial(
      `name: queue
queue: {}
steps: { call: { type: noop }, other: { type: noop }, rescue: { type: noop } }
transitions: [{ from: call, to: rescue, on: failure }]`,
      { call: [outage], other: [outage, "ok"] },
    );
    expect(run.order).toEqual(["call", "other", "rescue", "other"]);
    expect(run.events("ladder.climbed").map(({ job, rung }) => [job, rung])).toEqual([
      [run.job("call").id, "edge"],
      [run.job("other").id, "requeue"],
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("climbs on where the fresh workspace for a round cannot be built", async () => {
    const run = await trial(
      file("  edit: { exec: edit }", HEAL, "queue: {}"),
      { edit: [{ facts: { timeout: "wall", message: "slow", diffHash: "1" } }] },
      { rebuilds: ["fail"] },
    );
    expect(trace(run).slice(-12)).toEqual(
      [
        "start edit",
        "fail edit TIMEOUT",
        "climb edit reset",
        "reset edit for no_progress 1/1",
        "rebuild 1 for edit from []",
        "rebuilt 1 failed",
        "climb edit requeue",
        "requeue edit 1/2 +15000",
        "reset edit for requeue",
        "rebuild 2 for edit from []",
        "rebuilt 2 failed",
        "climb edit fail",
        "failed edit TIMEOUT",
        "run failed TIMEOUT",
      ].slice(-12),
    );
    expect(
      run
        .events("ladder.climbed")
        .at(-1)
        ?.considered.find(({ rung }) => rung === "requeue"),
    ).toEqual({
      rung: "requeue",
      applied: false,
      kind: "rebuild_failed",
      reason: "the workspace could not be rebuilt: patch 1 does not apply",
    });
  });

  it("gives a dead letter the queue's attempts anew when it is redriven, in a fresh workspace", async () => {
    const stage = await Stage.begin(file("  edit: { exec: edit }", HEAL, "queue: { max_attempts: 1 }"), {
      edit: [same, same, same, "ok"],
    });
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "step.redrive", job: await stage.id("edit") })).toBeNull();
    await stage.resume();
    const run = await stage.rest();
    expect(run.run.status).toBe("completed");
    expect(trace(run).slice(trace(run).indexOf("retried edit"))).toEqual([
      "retried edit",
      "reset edit for operator",
      "rebuild 2 for edit from []",
      "rebuild 2 for edit from [] try 2",
      "rebuilt 2 ok",
      "start edit",
      "ok edit",
      "promoted 2",
      "run completed",
    ]);
    expect(await stage.operate({ type: "step.redrive", job: await stage.id("edit") })).toBe(
      "NOT_DEAD_LETTER",
    );
  });

  it("counts the rounds of a redriven dead letter from the first", async () => {
    const stage = await Stage.begin(file("  call: { type: noop }", "queue: { max_attempts: 2 }"), {
      call: [outage],
    });
    await stage.rest();
    await stage.operate({ type: "step.redrive", job: await stage.id("call") });
    const run = await (await stage.resume()).rest();
    expect(trace(run)).toEqual([
      ...["start call", "fail call 503", "climb call requeue", "requeue call 1/1 +15000"],
      ...["start call", "fail call 503", "climb call fail", "dead letter call after 2", "failed call 503"],
      ...["run failed 503", "run reopened", "retried call"],
      ...["start call", "fail call 503", "climb call requeue", "requeue call 1/1 +15000"],
      ...["start call", "fail call 503", "climb call fail", "dead letter call after 2", "failed call 503"],
      "run failed 503",
    ]);
  });

  it("cancels in the middle of the wait", { tags: ["M21"] }, async () => {
    const stage = await Stage.begin(file("  call: { type: noop }", "queue: {}"), { call: [outage] });
    expect(await stage.statuses("call")).toEqual(["waiting"]);
    await stage.operate({ type: "run.cancel" });
    const run = await stage.rest();
    expect(run.run.status).toBe("canceled");
    expect(run.order).toEqual(["call"]);
  });

  it("waits for the recorded time after a crash", async () => {
    const stage = await Stage.begin(file("  call: { type: noop }", "queue: {}"), { call: [outage, "ok"] });
    stage.kill();
    await stage.resume();
    const run = await stage.rest();
    expect(run.times).toEqual([0, 15_000]);
    expect(run.run.status).toBe("completed");
  });
});

describe("a dead letter that is held", () => {
  it.each(["fail", "skip", "complete", "retry"] as const)(
    "is none any more once it is decided by %s",
    async (action) => {
      const stage = await Stage.begin(
        file("  call: { type: noop }", "queue: { max_attempts: 1 }", "unhandled: hold"),
        { call: [outage, "ok"] },
      );
      expect((await stage.rest()).job("call")).toMatchObject({ status: "held", dead_letter: true });
      const job = await stage.id("call");
      const items = [{ job, action, output: null, items: null }];
      expect(await stage.operate({ type: "holds.resolve", items })).toBeNull();
      expect((await stage.view()).job("call").dead_letter).toBe(false);
      expect(await stage.operate({ type: "step.redrive", job })).toBe("NOT_DEAD_LETTER");
    },
  );
});
