import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";

const HANDLER = `failure_handlers:
  - name: h
    rules:
      - { match_all_exit_codes: true, max_retries: 2 }
      - { exit_codes: [10, 11], max_retries: 3 }
`;

describe("rules", () => {
  it("gives attempts 1, 2, 3 for max_retries 3, the specific rule before the catch-all", async () => {
    const run = await trial(`${HANDLER}steps: { a: { exec: "true", failure_handler: h } }`, {
      a: [{ exit: 10 }],
    });
    expect(run.order).toEqual(["a", "a", "a"]);
    expect(run.events("rule.reserved").map(({ rule, attempt, next }) => [rule, attempt, next])).toEqual([
      [2, 1, 2],
      [2, 2, 3],
    ]);
    expect(run.run.status).toBe("failed");
    expect(run.events("ladder.climbed").map(({ recovery }) => recovery)).toEqual([
      "Retried",
      "Retried",
      "MaxRetriesExceeded",
    ]);
  });

  it("takes the catch-all for any other code", async () => {
    const run = await trial(`${HANDLER}steps: { a: { exec: "true", failure_handler: h } }`, {
      a: [{ exit: 7 }],
    });
    expect(run.order).toEqual(["a", "a"]);
  });
});

describe("holds", () => {
  it("holds a failure that no rule matches: dependents blocked, the run held", async () => {
    const run = await trial(
      `unhandled: hold\nsteps:\n  a: { exec: "true" }\n  b: { exec: "true", depends_on: a }`,
      { a: ["fail"] },
    );
    expect(run.run.status).toBe("held");
    expect(run.job("a").status).toBe("held");
    expect(run.job("b").status).toBe("blocked");
  });
});

describe("failure edges", () => {
  it("take the first by priority", async () => {
    const run = await trial(
      `steps:
  a: { exec: "true" }
  x: { exec: "true" }
  y: { exec: "true" }
transitions:
  - { from: a, to: x, on: failure, priority: 2 }
  - { from: a, to: y, on: failure, priority: 1 }`,
      { a: ["fail"] },
    );
    expect(run.order).toEqual(["a", "y"]);
    expect(run.run.status).toBe("completed");
    expect(run.job("a")).toMatchObject({ status: "failed", handled: true });
    expect(run.job("x").status).toBe("skipped");
  });

  it("are followed along a chain: a fails to b, b fails to c, c completes, the run is completed", async () => {
    const run = await trial(
      `steps: { a: { exec: "true" }, b: { exec: "true" }, c: { exec: "true" }, d: { exec: "true", depends_on: a } }
transitions:
  - { from: a, to: b, on: failure }
  - { from: b, to: c, on: failure }`,
      { a: ["fail"], b: ["fail"] },
    );
    expect(run.order).toEqual(["a", "b", "c"]);
    expect(run.run.status).toBe("completed");
    expect(run.job("d").status).toBe("skipped");
    expect(run.events("run.completed")[0]!.handled).toHaveLength(2);
  });

  it("fix, then again: the step ends completed and its dependents run", async () => {
    const run = await trial(
      `steps: { a: { exec: "true", start: auto }, fix: { exec: "true" }, d: { exec: "true", depends_on: a } }
transitions:
  - { from: a, to: fix, on: failure }
  - { from: fix, to: a, on: success }`,
      { a: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["a", "fix", "a", "d"]);
    expect(run.run.status).toBe("completed");
    expect(run.job("a").status).toBe("completed");
  });
});
