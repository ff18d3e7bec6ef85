import { describe, expect, it } from "vitest";
import { loadRun } from "../../src/run/engine/load-run.js";
import { budgetSentence } from "../../src/tell/words/left-budgets.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const RULE = `unhandled: fail
failure_handlers: [{ name: h, rules: [{ exit_codes: [10], max_retries: 3 }] }]
steps: { a: { exec: make, failure_handler: h } }`;

const ten = { exit: 10 };
const lost = { facts: { lost: true, message: "gone" } } as const;

describe("a retry with max_retries", () => {
  it("is judged where it is decided: of twelve at once one applies, and its answer names the attempt that it begins", {
    tags: ["T8", "T17"],
  }, async () => {
    const stage = await Stage.begin(`steps: { a: { exec: make }, live: { exec: make } }`, {
      a: ["fail"],
      live: [{ output: null, takesMs: 100 }],
    });
    const job = await stage.id("a");
    const taken = await Promise.all(
      Array.from({ length: 12 }, () => stage.take({ type: "step.retry", job, maxAttempts: 2 })),
    );
    expect(taken.flatMap(({ outcome }) => outcome?.changed ?? [])).toEqual([
      { job_id: job, step: "a", scope: "root", from: "failed", to: "ready", attempt_id: 2 },
    ]);
    expect(taken.flatMap(({ refusal }) => refusal?.code ?? [])).toEqual(Array(11).fill("RETRIES_USED_UP"));
    const run = await stage.rest();
    expect(run.order).toEqual(["a", "live", "a"]);
    expect(await stage.operate({ type: "step.retry", job, maxAttempts: 2 })).toBe("RETRIES_USED_UP");
  });

  it("bounds a rule that would begin anew: failed at 3, allowed 4, there is a fourth attempt and no fifth", async () => {
    const stage = await Stage.begin(RULE, { a: [ten] });
    expect((await stage.rest()).order).toHaveLength(3);
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a"), maxAttempts: 4 })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toHaveLength(4);
    expect(trace(run).slice(-6)).toEqual([
      "retried a",
      "start a",
      "fail a EXIT_10",
      "climb a fail",
      "failed a EXIT_10",
      "run failed EXIT_10",
    ]);
    const last = run.events("ladder.climbed").at(-1)!;
    expect(last.recovery).toBe("MaxRetriesExceeded");
    expect(last.considered.find(({ rung }) => rung === "rule")!.reason).toBe(
      "no attempts left of those that the operator's retry allowed (1)",
    );
  });

  it("leaves a rule with less than the bound its own budget", async () => {
    const stage = await Stage.begin(RULE, { a: [ten] });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("a"), maxAttempts: 20 });
    expect((await (await stage.resume()).rest()).order).toHaveLength(6);
  });

  it.each([
    ["retry", `steps: { a: { exec: make, on_fail: { retry: { max: 5 } } } }`],
    ["remediate", `steps: { a: { exec: make, on_fail: { run: [fix] } }, fix: { exec: make } }`],
    ["goto", `steps: { s: { exec: make }, a: { exec: make, depends_on: s, on_fail: { goto: s } } }`],
    ["requeue", `queue: { classes: [application] }\nsteps: { a: { exec: make } }`],
  ])("keeps %s from beginning another attempt", async (rung, file) => {
    const stage = await Stage.begin(file, { a: ["fail"] });
    const before = (await stage.rest()).order.filter((step) => step === "a").length;
    await stage.operate({ type: "step.retry", job: await stage.id("a"), maxAttempts: before + 1 });
    const run = await (await stage.resume()).rest();
    expect(run.order.filter((step) => step === "a")).toHaveLength(before + 1);
    expect(run.run.status).toBe("failed");
    const { considered } = run.events("ladder.climbed").at(-1)!;
    expect(considered.find((each) => each.rung === rung)).toMatchObject({
      applied: false,
      reason: "no attempts left of those that the operator's retry allowed (1)",
    });
  });

  it("still lets a transition take the failure elsewhere", async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: make, on_fail: { retry: { max: 1 } } }, other: { exec: make } }
transitions: [{ from: a, to: other, on: failure }]`,
      { a: ["fail"], other: ["fail", "ok"] },
    );
    expect((await stage.rest()).order).toEqual(["a", "a", "other"]);
    await stage.operate({ type: "step.retry", job: await stage.id("a"), maxAttempts: 3 });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "a", "other", "a", "other"]);
  });

  it("does not count attempts that were lost with their worker", async () => {
    const stage = await Stage.begin(RULE, { a: [ten, ten, ten, lost, lost, ten, "ok"] });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("a"), maxAttempts: 5 });
    const run = await (await stage.resume()).rest();
    expect(run.order).toHaveLength(7);
    expect(run.run.status).toBe("completed");
  });

  it("binds no longer once an operator retries without it, or goes back to the step", async () => {
    for (const type of ["step.retry", "step.resume_from"] as const) {
      const stage = await Stage.begin(`steps: { a: { exec: make, on_fail: { retry: { max: 1 } } } }`, {
        a: ["fail"],
      });
      await stage.rest();
      const job = await stage.id("a");
      await stage.operate({ type: "step.retry", job, maxAttempts: 3 });
      expect((await (await stage.resume()).rest()).order).toHaveLength(3);
      await stage.operate({ type, job });
      expect((await (await stage.resume()).rest()).order).toHaveLength(5);
    }
  });

  it("is refused for a held job, whose hold is to be decided", async () => {
    const stage = await Stage.begin(`unhandled: hold\nsteps: { a: { exec: make } }`, { a: ["fail"] });
    await stage.rest();
    const job = await stage.id("a");
    const { refusal } = await stage.take({ type: "step.retry", job, maxAttempts: 9 });
    expect(refusal).toMatchObject({
      code: "NOT_RETRYABLE",
      hint: {
        asked: expect.stringContaining(`PUT /jobs/${job}`),
        typed: expect.stringContaining("daruma resolve"),
      },
    });
    expect(await stage.operate({ type: "step.retry", job })).toBeNull();
  });
});

describe("explain", () => {
  it("tells how many attempts an operator's retry has left the step", async () => {
    const stage = await Stage.begin(RULE, { a: [ten] });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("a"), maxAttempts: 5 });
    const { run } = await loadRun(stage.store, stage.runId);
    const job = run.jobs[0]!;
    expect(budgetSentence(run, job)).toMatch(/^Left: 2 of 2 attempts that the operator's retry allows, /);
  });
});
