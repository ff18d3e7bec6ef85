import { describe, expect, it } from "vitest";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const DIAMOND = `steps:
  a: { exec: "true" }
  left: { exec: "true", depends_on: a }
  right: { exec: "true", depends_on: a }
  end: { exec: "true", depends_on: [left, right] }`;

describe("retry_step", () => {
  it("of a failed step of a run that is over: reopened, its canceled dependents wait again, the rest is kept", async () => {
    const stage = await Stage.begin(DIAMOND, { left: ["fail", "ok"] });
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("left") })).toBeNull();
    expect((await stage.view()).run).toMatchObject({ status: "running", error: null, finished_at: null });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "left", "right", "left", "end"]);
    expect(trace(run).slice(-7)).toEqual([
      "run reopened",
      "retried left, blocked again end",
      "start left",
      "ok left",
      "start end",
      "ok end",
      "run completed",
    ]);
  });

  it("on a live run while other jobs go on", async () => {
    const stage = await Stage.begin(DIAMOND, {
      left: ["fail", "ok"],
      right: [{ output: null, takesMs: 100 }],
    });
    expect(await stage.statuses("left", "right", "end")).toEqual(["failed", "running", "canceled"]);
    expect(await stage.operate({ type: "step.retry", job: await stage.id("left") })).toBeNull();
    const run = await stage.rest();
    expect(run.order).toEqual(["a", "left", "right", "left", "end"]);
    expect(run.run.status).toBe("completed");
    expect(run.events("run.reopened")).toEqual([]);
  });

  it("gives retries, rules and remediation anew, with a new visit", async () => {
    const stage = await Stage.begin(
      `failure_handlers: [{ name: h, rules: [{ exit_codes: [10], max_retries: 2 }] }]
steps: { a: { exec: "true", failure_handler: h, on_fail: { retry: { max: 1 }, run: [fix] } }, fix: { exec: "true" } }`,
      { a: [{ exit: 10 }, { exit: 11 }, { exit: 12 }, { exit: 13 }] },
    );
    const rungs = async () => (await stage.view()).events("ladder.climbed").map(({ rung }) => rung);
    await stage.rest();
    expect(await rungs()).toEqual(["rule", "retry", "remediate", "fail"]);
    await stage.operate({ type: "step.retry", job: await stage.id("a") });
    const run = await (await stage.resume()).rest();
    expect((await rungs()).slice(4)).toEqual(["retry", "remediate", "fail"]);
    expect(run.job("a")).toMatchObject({ visit: 2, attempt_id: 7 });
  });

  it("says by code why it does not apply", async () => {
    const stage = await Stage.begin(DIAMOND, { left: ["fail"], right: [{ output: null, takesMs: 100 }] });
    const retry = async (step: string) => stage.operate({ type: "step.retry", job: await stage.id(step) });
    expect(await retry("a")).toBe("STEP_COMPLETED");
    expect(await retry("right")).toBe("NOT_RETRYABLE");
    expect(await retry("end")).toBe("DEPENDENCY_FAILED");
    expect(await stage.operate({ type: "step.retry", job: 99 })).toBe("STEP_NOT_FOUND");
    expect((await stage.view()).events("jobs.retried")).toEqual([]);
  });

  it("of a failed forEach step brings its items and their reducer back", async () => {
    const stage = await Stage.begin(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "true", depends_on: list }
  sum: { exec: "true", depends_on: work, fanout: reduce }`,
      { list: ["fail", { output: ["a", "b"] }] },
    );
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("list") });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["list", "list", "work", "work", "sum"]);
    expect(run.run.status).toBe("completed");
  });

  it("of one branch leaves the others alone and decides the join anew", async () => {
    const stage = await Stage.begin(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list }
  sum: { exec: "true", depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b"] }],
        work: ({ variables }, nth) =>
          (variables.foreach as { index: number }).index === 1 && nth === 1 ? "fail" : "ok",
      },
    );
    expect((await stage.rest()).job("sum").error).toMatchObject({ code: "JOIN_UNSATISFIED" });
    await stage.operate({ type: "step.retry", job: await stage.id("work", "root/list[1]") });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["list", "work[0]", "work[1]", "work[1]", "sum"]);
    expect(run.run.status).toBe("completed");
  });

  it("of a branch while another still runs: the join counts what it became", async () => {
    const stage = await Stage.begin(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list }
  sum: { exec: "true", depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b"] }],
        work: ({ variables }, nth) => {
          const { index } = variables.foreach as { index: number };
          return index === 0 ? { output: null, takesMs: 100 } : nth === 1 ? "fail" : "ok";
        },
      },
    );
    await stage.operate({ type: "step.retry", job: await stage.id("work", "root/list[1]") });
    const run = await stage.rest();
    expect(run.events("join.decided")).toMatchObject([{ satisfied: true, completed: 2, failed: 0 }]);
    expect(run.run.status).toBe("completed");
  });

  it("of a step that a decided join also waits for leaves the join decided", async () => {
    const stage = await Stage.begin(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "true", depends_on: list }
  x: { exec: "true" }
  slow: { exec: "true" }
  sum: { exec: "true", depends_on: [work, "x|slow"], fanout: reduce }`,
      { list: [{ output: ["a"] }], x: ["fail", "ok"], slow: [{ output: null, takesMs: 100 }] },
    );
    await stage.operate({ type: "step.retry", job: await stage.id("x") });
    const run = await stage.rest();
    expect(run.job("sum").status).toBe("completed");
    expect(run.run.status).toBe("completed");
  });

  it("of one alternative does not make the or-group lost while the other runs", async () => {
    const stage = await Stage.begin(
      `steps:
  x: { exec: "true" }
  y: { exec: "true" }
  z: { exec: "true", depends_on: "x|y" }`,
      { x: ["fail"], y: [{ output: null, takesMs: 100 }] },
    );
    await stage.operate({ type: "step.retry", job: await stage.id("x") });
    expect(await stage.statuses("x", "z")).toEqual(["failed", "blocked"]);
    expect((await stage.rest()).job("z").status).toBe("completed");
  });

  it("a handler gets the failure context again", async () => {
    const seen: (string | null)[] = [];
    const stage = await Stage.begin(
      `steps: { a: { exec: "true" }, fix: { exec: "true" } }\ntransitions: [{ from: a, to: fix, on: failure }]`,
      {
        a: ["fail"],
        fix: ({ failureSource }, nth) => {
          seen.push(failureSource?.step ?? null);
          return nth === 1 ? "fail" : "ok";
        },
      },
    );
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix") });
    await (await stage.resume()).rest();
    expect(seen).toEqual(["a", "a"]);
  });
});

describe("resume_from_step", () => {
  it("of a completed run runs the step and what depends on it again, and nothing else", async () => {
    const stage = await Stage.begin(DIAMOND);
    expect((await stage.rest()).run.status).toBe("completed");
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("left") })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "left", "right", "end", "left", "end"]);
    expect(run.job("left").visit).toBe(2);
    expect(run.run.status).toBe("completed");
    expect(run.routes).toMatchObject([{ rung: "operator", step: "left", reason: "because" }]);
  });

  it("on a live run ends what depends on the step, while other jobs go on", async () => {
    const stage = await Stage.begin(DIAMOND, {
      left: [{ output: null, takesMs: 100 }],
      right: [{ output: null, takesMs: 300 }],
    });
    await stage.operate({ type: "step.resume_from", job: await stage.id("left") });
    const run = await stage.rest();
    expect(stage.worker.stopped).toEqual(["left"]);
    expect(run.order).toEqual(["a", "left", "right", "left", "end"]);
    expect(run.events("attempt.stopped")).toMatchObject([{ because: "superseded" }]);
    expect(run.events("goto.taken")).toEqual([]);
  });

  it("on a failed and on a held run starts there again, and costs no loop", async () => {
    for (const unhandled of ["fail", "hold"]) {
      const stage = await Stage.begin(`routing: { max_loops: 0 }\nunhandled: ${unhandled}\n${DIAMOND}`, {
        right: ["fail", "ok"],
      });
      await stage.rest();
      expect(await stage.operate({ type: "step.resume_from", job: await stage.id("a") })).toBeNull();
      const run = await (await stage.resume()).rest();
      expect(run.order).toEqual(["a", "left", "right", "a", "left", "right", "end"]);
      expect(run.run.status).toBe("completed");
    }
  });

  it("is refused where what the step depends on is not there", async () => {
    const stage = await Stage.begin(DIAMOND, { a: ["fail"] });
    await stage.rest();
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("left") })).toBe(
      "DEPENDENCY_FAILED",
    );
    expect(await stage.operate({ type: "step.resume_from", job: 1 })).toBe("STEP_NOT_FOUND");
  });
});

describe("a retry of several", () => {
  const THREE = `steps:
  one: { exec: "true" }
  two: { exec: "true" }
  three: { exec: "true" }
  end: { exec: "true", depends_on: [one, two] }`;
  const FAIL = { one: ["fail", "ok"], two: ["fail", "ok"], three: ["fail", "ok"] } as const;

  it("runs them in one decision, and what waits for them after all of them", { tags: ["R9"] }, async () => {
    const stage = await Stage.begin(THREE, FAIL);
    await stage.rest();
    const [one, two, end] = [await stage.id("one"), await stage.id("two"), await stage.id("end")];
    expect(await stage.operate({ type: "step.retry", job: one, also: [two, end] })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.events("jobs.retried")).toMatchObject([{ action: "retry_step" }]);
    expect(run.order).toEqual(["one", "two", "three", "one", "two", "end"]);
    expect([run.job("three").status, run.run.status]).toEqual(["failed", "failed"]);
  });

  it("is refused altogether where one of them cannot run again", { tags: ["R9"] }, async () => {
    const stage = await Stage.begin(THREE, { ...FAIL, two: ["ok"] });
    await stage.rest();
    const [one, two, end] = [await stage.id("one"), await stage.id("two"), await stage.id("end")];
    expect(await stage.operate({ type: "step.retry", job: one, also: [two] })).toBe("STEP_COMPLETED");
    // Nobody retries what it waits for.
    const three = await stage.id("three");
    expect(await stage.operate({ type: "step.retry", job: three, also: [end] })).toBe("DEPENDENCY_FAILED");
    expect(await stage.operate({ type: "step.retry", job: one, also: [one] })).toBe("USAGE");
    expect((await stage.view()).events("jobs.retried")).toEqual([]);
  });
});

describe("reset --failed-only", () => {
  it("runs the source of a failed route again, not its handler beside it", async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: "true" }, fix: { exec: "true" } }\ntransitions: [{ from: a, to: fix, on: failure }]`,
      { a: ["fail", "ok"], fix: ["fail"] },
    );
    await stage.rest();
    await stage.operate({ type: "run.reset" });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "fix", "a"]);
    expect(run.job("fix").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });

  it("does not run a repair step by itself: the step it was to repair asks for it", async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: "true", on_fail: { run: [fix] } }, fix: { exec: "true" } }`,
      {
        a: ["fail", "ok"],
        fix: ["fail"],
      },
    );
    expect((await stage.rest()).job("a").error).toMatchObject({ code: "REMEDIATION_FAILED" });
    await stage.operate({ type: "run.reset" });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "fix", "a"]);
    expect(run.run.status).toBe("completed");
  });

  it("changes nothing where nothing failed", async () => {
    const stage = await Stage.begin(DIAMOND);
    const before = await stage.rest();
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    expect((await stage.view()).log).toHaveLength(before.log.length);
  });
});

describe("the answer to reset_failed", () => {
  it("names the steps that it changed and nothing that goes on beside them", async () => {
    const stage = await Stage.begin(
      `steps:
  broken: { exec: make }
  behind: { exec: make, depends_on: broken }
  busy: { exec: make }
  later: { exec: make, depends_on: busy }
  waits: { exec: make, on_fail: { retry: { max: 1, backoff: { delay_ms: 900 } } } }`,
      { broken: ["fail", "ok"], busy: [{ output: null, takesMs: 100 }], waits: ["fail", "ok"] },
    );
    const { outcome } = await stage.take({ type: "run.reset" });
    expect(outcome?.changed.map(({ step, from, to }) => `${step} ${from} ${to}`)).toEqual([
      "broken failed ready",
      "behind canceled blocked",
    ]);
    expect((await stage.rest()).run.status).toBe("completed");
  });
});
