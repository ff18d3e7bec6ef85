import { describe, expect, it } from "vitest";
import { exitCodeOfStatus } from "../../src/cli/terminal/exit-codes.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";
import { definitionOf } from "../support/workflow-text.js";

const HELD = `unhandled: hold
failure_handlers: [{ name: h, rules: [{ exit_codes: [10], max_retries: 2 }] }]
steps:
  job: { exec: "true", failure_handler: h }
  child: { exec: "true", depends_on: job }
  beside: { exec: "true" }`;

describe("a hold", () => {
  it("no rule matches: held, the child blocked, exit 3; resolved as retry it completes", {
    tags: ["T23", "T24", "T25", "T27"],
  }, async () => {
    const stage = await Stage.begin(HELD, { job: [{ exit: 7 }, "ok"] });
    const held = await stage.rest();
    expect(held.run).toMatchObject({ status: "held", finished_at: null });
    expect(exitCodeOfStatus(held.run.status)).toBe(3);
    expect(await stage.statuses("job", "child", "beside")).toEqual(["held", "blocked", "completed"]);
    expect(held.job("job").error).toMatchObject({ code: "EXIT_7", exit_code: 7 });
    expect(
      await stage.operate({
        type: "holds.resolve",
        items: [{ job: held.job("job").id, action: "retry", output: null, items: null }],
      }),
    ).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["job", "beside", "job", "child"]);
    expect(run.run.status).toBe("completed");
    expect(trace(run).slice(-8)).toEqual([
      "run held",
      "resolved job retry",
      "retried job",
      "start job",
      "ok job",
      "start child",
      "ok child",
      "run completed",
    ]);
  });

  it("resolved as fail the dependents are canceled and the run fails", { tags: ["T28"] }, async () => {
    const stage = await Stage.begin(HELD, { job: [{ exit: 7 }] });
    const { id } = (await stage.rest()).job("job");
    await stage.operate({
      type: "holds.resolve",
      items: [{ job: id, action: "fail", output: null, items: null }],
    });
    const run = await stage.view();
    expect(await stage.statuses("job", "child")).toEqual(["failed", "canceled"]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "EXIT_7" } });
  });

  it("the run is not over while other work goes on, and held only when nothing else is left", {
    tags: ["T24"],
  }, async () => {
    const stage = await Stage.begin(HELD, { job: [{ exit: 7 }], beside: [{ output: null, takesMs: 50 }] });
    expect((await stage.view()).run.status).toBe("running");
    expect(await stage.statuses("job", "beside")).toEqual(["held", "running"]);
    expect((await stage.rest()).run.status).toBe("held");
  });

  it("reset --failed-only takes held, failed and canceled jobs, and leaves the rest", {
    tags: ["T26"],
  }, async () => {
    const stage = await Stage.begin(
      `${HELD}\n  broken: { exec: "true", failure_handler: h }\n  behind: { exec: "true", depends_on: broken }`,
      { job: [{ exit: 7 }, "ok"], broken: [{ exit: 10 }, { exit: 10 }, "ok"] },
    );
    await stage.rest();
    expect(await stage.statuses("job", "child", "broken", "behind", "beside")).toEqual([
      "held",
      "blocked",
      "failed",
      "canceled",
      "completed",
    ]);
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.run.status).toBe("completed");
    expect(run.order.filter((step) => step === "beside")).toHaveLength(1);
    expect(run.order.slice(-4).toSorted()).toEqual(["behind", "broken", "child", "job"]);
  });

  it("reset --failed-only leaves a failure alone that its edge has handled", { tags: ["T26"] }, async () => {
    const stage = await Stage.begin(
      `steps:
  a: { exec: "true" }
  fallback: { exec: "true" }
  broken: { exec: "true" }
transitions: [{ from: a, to: fallback, on: failure }]`,
      { a: ["fail", "ok"], broken: ["fail", "ok"] },
    );
    await stage.rest();
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.run.status).toBe("completed");
    expect(await stage.statuses("a", "fallback", "broken")).toEqual(["failed", "completed", "completed"]);
    expect(run.order.filter((step) => step !== "broken")).toEqual(["a", "fallback"]);
    expect(run.order.at(-1)).toBe("broken");
  });

  it("after a reset a rule counts its attempts anew", { tags: ["T26"] }, async () => {
    const stage = await Stage.begin(HELD, { job: [{ exit: 10 }] });
    await stage.rest();
    await stage.operate({ type: "run.reset" });
    const run = await (await stage.resume()).rest();
    expect(run.order.filter((step) => step === "job")).toHaveLength(4);
    expect(run.events("attempt.started").at(-1)!.attempt).toBe(4);
  });

  it("a hold survives a restart of its engine", { tags: ["T24"] }, async () => {
    const stage = await Stage.begin(HELD, { job: [{ exit: 7 }] });
    await stage.rest();
    const again = await (await stage.resume()).rest();
    expect(again.run.status).toBe("held");
    expect(again.order).toEqual(["job", "beside"]);
    expect(again.events("run.held")).toHaveLength(1);
  });

  it("a held step of an on_success list holds the run, and its list goes on once it is decided", {
    tags: ["T25"],
  }, async () => {
    const stage = await Stage.begin(
      `unhandled: hold
steps:
  a: { exec: "true", on_success: { run: [tell, log] } }
  tell: { exec: "true" }
  log: { exec: "true" }
  b: { exec: "true", depends_on: a }`,
      { tell: ["fail", "ok"] },
    );
    expect((await stage.rest()).run.status).toBe("held");
    const job = await stage.id("tell");
    await stage.operate({
      type: "holds.resolve",
      items: [{ job, action: "retry", output: null, items: null }],
    });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "tell", "tell", "log", "b"]);
    expect(run.run.status).toBe("completed");
  });

  it("the batch form holds what nothing answers, unless it says otherwise", { tags: ["T36"] }, async () => {
    const batch = `name: sweep
jobs:
  - { name: "work_{i}", command: "./work.sh {i}", parameters: { i: "1:3" } }
  - { name: done, command: ./done.sh, depends_on: [work_1, work_2, work_3] }`;
    expect(definitionOf(batch).unhandled).toBe("hold");
    const stage = await Stage.begin(batch, { work_2: ["fail", "ok"] });
    const held = await stage.rest();
    expect(held.run.status).toBe("held");
    expect(await stage.statuses("work_1", "work_2", "work_3", "done")).toEqual([
      "completed",
      "held",
      "completed",
      "blocked",
    ]);
    await stage.operate({ type: "run.reset" });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["work_1", "work_2", "work_3", "work_2", "done"]);
    expect(run.run.status).toBe("completed");
  });
});
