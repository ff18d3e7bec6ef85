import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

/** How a step can come out, and what makes it so: `canceled` by a failing step before it, `skipped` by its `if`. */
const ENDS = ["completed", "failed", "skipped", "canceled"] as const;
type End = (typeof ENDS)[number];

function stepThatIs(id: string, end: End): string {
  if (end === "canceled")
    return `  ${id}-before: { exec: make }\n  ${id}: { exec: make, depends_on: ${id}-before }\n`;
  return `  ${id}: { exec: make${end === "skipped" ? ", if: 'false'" : ""} }\n`;
}

function outcomes(id: string, end: End): { [step: string]: Outcome[] } {
  if (end === "canceled") return { [`${id}-before`]: ["fail"] };
  return end === "failed" ? { [id]: ["fail"] } : {};
}

/** Met by one completed member; else canceled if a failure is behind it, skipped if not. */
function expected(first: End, second: End): End {
  if (first === "completed" || second === "completed") return "completed";
  return first === "skipped" && second === "skipped" ? "skipped" : "canceled";
}

describe("depends_on", () => {
  const pairs = ENDS.flatMap((first) => ENDS.map((second) => [first, second] as const));

  it.each(pairs)("b %s | c %s", async (first, second) => {
    const run = await trial(
      `steps:\n${stepThatIs("b", first)}${stepThatIs("c", second)}  d: { exec: make, depends_on: ["b|c"] }\n  e: { exec: make, depends_on: d }`,
      {
        ...outcomes("b", first),
        ...outcomes("c", second),
      },
    );
    const end = expected(first, second);
    expect(run.job("d").status).toBe(end);
    expect(run.job("e").status).toBe(end);
    const failed = [first, second].some((status) => status === "failed" || status === "canceled");
    expect(run.run.status).toBe(failed ? "failed" : "completed");
  });

  it.each(pairs)("b %s and c %s", async (first, second) => {
    const run = await trial(
      `steps:\n${stepThatIs("b", first)}${stepThatIs("c", second)}  d: { exec: make, depends_on: [b, c] }`,
      {
        ...outcomes("b", first),
        ...outcomes("c", second),
      },
    );
    const both = [first, second];
    if (both.every((status) => status === "completed")) expect(run.job("d").status).toBe("completed");
    else if (both.every((status) => status === "skipped" || status === "completed"))
      expect(run.job("d").status).toBe("skipped");
    else expect(["canceled", "skipped"]).toContain(run.job("d").status);
    if (!both.includes("skipped") && both.some((status) => status === "failed" || status === "canceled"))
      expect(run.job("d").status).toBe("canceled");
  });

  it("an or-group starts with its first member and is not started twice by the second", async () => {
    const run = await trial(
      `steps:
  quick: { exec: make }
  slow: { exec: make }
  then: { exec: make, depends_on: ["quick|slow"] }`,
      { slow: [{ output: null, takesMs: 50 }] },
    );
    expect(trace(run)).toEqual([
      "start quick",
      "start slow",
      "ok quick",
      "start then",
      "ok then",
      "ok slow",
      "run completed",
    ]);
  });

  it("an or-group is lost only when its last member has settled without completing", async () => {
    const run = await trial(
      `steps:
  quick: { exec: make }
  slow: { exec: make }
  then: { exec: make, depends_on: ["quick|slow"] }`,
      { quick: ["fail"], slow: [{ exit: 1, takesMs: 50 }] },
    );
    expect(trace(run).slice(-3)).toEqual([
      "failed slow EXIT_1",
      "canceled then DEPENDENCY_FAILED",
      "run failed EXIT_1",
    ]);
  });

  it("and and or together: a and (b or c)", async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make }
  c: { exec: make }
  d: { exec: make, depends_on: [a, "b|c"] }`,
      { b: ["fail"], a: [{ output: null, takesMs: 20 }], c: [{ output: null, takesMs: 10 }] },
    );
    expect(run.order.at(-1)).toBe("d");
    expect(run.times.at(-1)).toBe(20);
    expect(run.run.status).toBe("failed");
  });
});

describe("needs: settled", () => {
  const pairs = ENDS.flatMap((first) => ENDS.map((second) => [first, second] as const));

  it.each(pairs)("runs after b %s and c %s, and takes nothing from how they ended", async (first, second) => {
    const run = await trial(
      `steps:\n${stepThatIs("b", first)}${stepThatIs("c", second)}  d: { exec: make, depends_on: [b, c], needs: settled }\n  e: { exec: make, depends_on: d }`,
      { ...outcomes("b", first), ...outcomes("c", second) },
    );
    expect(run.order.slice(-2)).toEqual(["d", "e"]);
    expect(run.job("e").status).toBe("completed");
    const failed = [first, second].some((status) => status === "failed" || status === "canceled");
    expect(run.run.status).toBe(failed ? "failed" : "completed");
  });

  it("waits until the last of them has ended", async () => {
    const run = await trial(
      `steps:
  quick: { exec: make }
  slow: { exec: make }
  then: { exec: make, depends_on: [quick, slow], needs: settled }`,
      { quick: ["fail"], slow: [{ output: null, takesMs: 50 }] },
    );
    expect(trace(run)).toEqual([
      "start quick",
      "start slow",
      "fail quick EXIT_1",
      "climb quick fail",
      "failed quick EXIT_1",
      "ok slow",
      "start then",
      "ok then",
      "run failed EXIT_1",
    ]);
    expect(run.times.at(-1)).toBe(50);
  });

  it("starts an or-group with the first that completes, or when none is left to", async () => {
    const text = `steps:
  quick: { exec: make }
  slow: { exec: make }
  then: { exec: make, depends_on: ["quick|slow"], needs: settled }`;
    const one = await trial(text, { slow: [{ output: null, takesMs: 50 }] });
    expect(trace(one).slice(2, 4)).toEqual(["ok quick", "start then"]);
    const none = await trial(text, { quick: ["fail"], slow: [{ exit: 1, takesMs: 50 }] });
    expect(trace(none).slice(-4)).toEqual([
      "failed slow EXIT_1",
      "start then",
      "ok then",
      "run failed EXIT_1",
    ]);
  });

  it("waits for the rungs of a failure, and stays done when an operator retries what failed", async () => {
    const stage = await Stage.begin(
      `steps:
  work: { exec: make, on_fail: { retry: { max: 1 } } }
  report: { exec: make, depends_on: work, needs: settled }`,
      { work: ["fail", "fail", "ok"] },
    );
    const failed = await stage.rest();
    expect(failed.order).toEqual(["work", "work", "report"]);
    expect(failed.run.status).toBe("failed");
    await stage.operate({ type: "step.retry", job: failed.job("work").id });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["work", "work", "report", "work"]);
    expect(run.run.status).toBe("completed");
  });

  it("stays blocked behind a hold, and runs when the hold is resolved as failed", async () => {
    const stage = await Stage.begin(
      `unhandled: hold
steps:
  work: { exec: make }
  report: { exec: make, depends_on: work, needs: settled }`,
      { work: ["fail"] },
    );
    const held = await stage.rest();
    expect(await stage.statuses("work", "report")).toEqual(["held", "blocked"]);
    await stage.operate({
      type: "holds.resolve",
      items: [{ job: held.job("work").id, action: "fail", output: null, items: null }],
    });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["work", "report"]);
    expect(run.run.status).toBe("failed");
  });

  it("is canceled with the run: fail_fast leaves nothing to start", async () => {
    const run = await trial(
      `failure_policy: fail_fast
steps:
  work: { exec: make }
  report: { exec: make, depends_on: work, needs: settled }`,
      { work: ["fail"] },
    );
    expect(run.order).toEqual(["work"]);
    expect(run.job("report").status).toBe("canceled");
  });

  it("sees null for the output of what did not complete", async () => {
    const run = await trial(
      `steps:
  good: { exec: make }
  bad: { exec: make }
  report: { exec: make, depends_on: [good, bad], needs: settled, if: "outputs.good === 1 && outputs.bad === null" }`,
      { good: [{ output: 1 }], bad: ["fail"] },
    );
    expect(run.job("report").status).toBe("completed");
  });
});

describe("if", () => {
  it("runs the step where it holds, skips it and its dependents where not", async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  yes: { exec: make, depends_on: a, if: "outputs.a === 1" }
  no: { exec: make, depends_on: a, if: "outputs.a === 2" }
  after: { exec: make, depends_on: no }`,
      { a: [{ output: 1 }] },
    );
    expect(run.order).toEqual(["a", "yes"]);
    expect(run.job("no").status).toBe("skipped");
    expect(run.job("after").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });

  it("that cannot be evaluated fails the job without an attempt", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, if: "nothing.here", on_fail: { retry: { max: 3 } } }
  b: { exec: make, depends_on: a }`,
    );
    expect(run.order).toEqual([]);
    expect(run.job("a")).toMatchObject({ status: "failed", attempt_id: 0, error: { code: "IF_FAILED" } });
    expect(run.job("b").status).toBe("canceled");
    expect(run.run.error?.code).toBe("IF_FAILED");
  });

  it("is decided once a visit: not again for a retry, again after a goto", async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, if: "true", on_fail: { retry: { max: 1 }, goto: a } }`,
      { b: ["fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["a", "b", "b", "a", "b"]);
    expect(run.events("evaluation.finished").map(({ purpose }) => purpose)).toEqual(["if", "if"]);
  });

  it("that is false for a repair step counts as done", async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make, if: "false" }`,
      { build: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "build"]);
    expect(run.run.status).toBe("completed");
  });
});

describe("continue_on_failure", () => {
  it("lets dependents run with output null and counts as handled", async () => {
    const seen: unknown[] = [];
    const run = await trial(
      `steps:
  lint: { exec: make, continue_on_failure: true, on_fail: { retry: { max: 1 } } }
  after: { exec: "after {{ outputs.lint | json }}", depends_on: lint }`,
      {
        lint: ["fail"],
        after: ({ action }) => {
          seen.push(action.exec);
          return "ok";
        },
      },
    );
    expect(run.order).toEqual(["lint", "lint", "after"]);
    expect(seen).toEqual(["after null"]);
    expect(run.job("lint")).toMatchObject({ status: "failed", handled: true });
    expect(run.run.status).toBe("completed");
    expect(run.events("run.completed")[0]!.handled).toEqual([run.job("lint").id]);
  });

  it("passes over a failed remediation too, but not over the loop budget", async () => {
    const text = `steps:
  build: { exec: make, continue_on_failure: true, on_fail: { run: [fix] } }
  fix: { exec: make }
  after: { exec: make, depends_on: build }`;
    const failed = await trial(text, { build: ["fail"], fix: ["fail"] });
    expect(failed.order).toEqual(["build", "fix", "after"]);
    expect(failed.run.status).toBe("completed");
    expect(failed.job("fix").handled).toBe(true);
    const exceeded = await trial(text, { build: ["fail"] }, { options: { max_loops: 0 } });
    expect(exceeded.order).toEqual(["build"]);
    expect(exceeded.run.status).toBe("failed");
  });
});

describe("failure_policy", () => {
  const text = (policy: string) => `failure_policy: ${policy}
steps:
  bad: { exec: make }
  after-bad: { exec: make, depends_on: bad }
  slow: { exec: make }
  after-slow: { exec: make, depends_on: slow }
  waiting: { exec: make, on_fail: { retry: { max: 1, backoff: { delay_ms: 1000 } } } }`;
  const script = {
    bad: [{ exit: 1, takesMs: 10 }],
    slow: [{ output: null, takesMs: 100 }],
    waiting: ["fail", "ok"] as Outcome[],
  };

  it("finish_independent: what does not depend on the failure finishes", async () => {
    const run = await trial(text("finish_independent"), script);
    expect(run.order).toEqual(["bad", "slow", "waiting", "after-slow", "waiting"]);
    expect(run.job("after-bad").status).toBe("canceled");
    expect(run.job("after-slow").status).toBe("completed");
    expect(run.run).toMatchObject({ status: "failed", error: { code: "EXIT_1" } });
  });

  it("fail_fast: what runs is ended, what waits is canceled", async () => {
    const run = await trial(text("fail_fast"), script);
    expect(run.order).toEqual(["bad", "slow", "waiting"]);
    expect(trace(run).slice(-7)).toEqual([
      "fail bad EXIT_1",
      "climb bad fail",
      "failed bad EXIT_1",
      "canceled after-bad DEPENDENCY_FAILED",
      "abandoned root fail_fast",
      "stopped slow fail_fast",
      "run failed EXIT_1",
    ]);
    expect(run.worker.stopped).toEqual(["slow"]);
    expect(run.job("slow")).toMatchObject({ status: "canceled", error: { code: "FAIL_FAST" } });
    expect(run.job("waiting")).toMatchObject({ status: "canceled", error: { code: "FAIL_FAST" } });
  });

  it("fail_fast: a handled failure ends nothing", async () => {
    const run = await trial(
      `failure_policy: fail_fast
steps:
  lint: { exec: make, continue_on_failure: true }
  slow: { exec: make }`,
      { lint: ["fail"], slow: [{ output: null, takesMs: 10 }] },
    );
    expect(run.run.status).toBe("completed");
    expect(run.worker.stopped).toEqual([]);
  });

  it("fail_fast: a failing repair counts once, as its source's failure", async () => {
    const run = await trial(
      `failure_policy: fail_fast
steps:
  build: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make }`,
      { build: ["fail"], fix: ["fail"] },
    );
    expect(run.run.error?.code).toBe("REMEDIATION_FAILED");
    expect(run.events("scope.abandoned")).toHaveLength(1);
  });
});
