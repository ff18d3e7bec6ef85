import { describe, expect, it } from "vitest";
import { exitCodeOfStatus } from "../../src/cli/terminal/exit-codes.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { reportState } from "../../src/tell/run-report.js";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";
import { problemsOf } from "../support/workflow-text.js";

const bad = { facts: { message: "400 Bad Request", httpStatus: 400 } } as const;
const exists = "{ type: exists, field: { type: field, path: state._last_error } }";

/** The two transitions of scenario 3, in the words of the seed. */
const SCENARIO = `steps:
  call: { exec: "true", execution: { retry_policy: { max_attempts: 2, backoff: none } } }
  good: { exec: "true" }
  handler: { exec: "true", if: "state._last_error.code === 'EXIT_1'" }
transitions:
  - { from_node_id: call, to_node_id: good, priority: 1, condition: { type: not, condition: ${exists} } }
  - { from_node_id: call, to_node_id: handler, priority: 2, condition: ${exists} }`;

describe("failure routing", () => {
  it("NOT exists and exists of _last_error lead to the success path or the handler", {
    tags: ["W8", "W9", "W16", "W22", "W25", "W26"],
  }, async () => {
    const failing = await trial(SCENARIO, { call: ["fail"] });
    expect(trace(failing)).toEqual([
      "start call",
      "fail call EXIT_1",
      "climb call retry",
      "retry call 1/1 +0",
      "start call",
      "fail call EXIT_1",
      "climb call edge",
      "failed call EXIT_1",
      "edge 2 call -> handler on failure",
      "evaluated handler if: true",
      "start handler",
      "ok handler",
      "settled handled [call] unhandled []",
      "skipped good",
      "run completed",
    ]);
    expect(exitCodeOfStatus(failing.run.status)).toBe(0);
    const fine = await trial(SCENARIO, { call: ["fail", "ok"] });
    expect(fine.order).toEqual(["call", "call", "good"]);
    expect(fine.job("handler").status).toBe("skipped");
  });

  it("_last_error is not there while retries go on, and is once they are used up", {
    tags: ["W8"],
  }, async () => {
    const stage = await Stage.begin(
      `steps: { call: { exec: "true", on_fail: { retry: { max: 1, backoff: { delay_ms: 1000 } } } } }`,
      { call: ["fail"] },
    );
    const inspect = async () => reportState((await loadRun(stage.store, stage.runId)).run);
    expect(await stage.statuses("call")).toEqual(["waiting"]);
    expect(await inspect()).toEqual({ root: { _last_error: null } });
    await stage.rest();
    expect(await inspect()).toMatchObject({ root: { _last_error: { code: "EXIT_1", attempt: 2 } } });
  });

  it("in the form of the seed a transition without `on` is tried whatever the outcome", {
    tags: ["W9"],
  }, async () => {
    const text = `steps: { a: { exec: "true" }, b: { exec: "true" } }\ntransitions: [{ from_node_id: a, to_node_id: b }]`;
    expect((await trial(text, { a: ["fail"] })).order).toEqual(["a", "b"]);
    expect((await trial(text)).order).toEqual(["a", "b"]);
  });

  it("a condition on the error with the default `on` would never hold, and is a load error", {
    tags: ["W9"],
  }, () => {
    const text = `steps: { a: { exec: "true" }, b: { exec: "true" } }\ntransitions: [{ from: a, to: b, when: ${exists} }]`;
    expect(problemsOf(text).map(({ code, hint }) => [code, hint])).toEqual([
      ["INVALID_VALUE", "Add `on: failure` or `on: any`."],
    ]);
  });

  it("_last_error is matched by value", { tags: ["W16"] }, async () => {
    const when = `{ type: comparison, operator: "==", left: { type: field, path: state._last_error.code }, right: { type: literal, value: "429" } }`;
    const text = `steps: { call: { exec: "true" }, slow: { exec: "true" }, other: { exec: "true" } }
transitions:
  - { from: call, to: slow, on: failure, when: ${when} }
  - { from: call, to: other, on: failure }`;
    const limited = { facts: { message: "429 Too Many Requests", httpStatus: 429 } } as const;
    expect((await trial(text, { call: [limited] })).order).toEqual(["call", "slow"]);
    expect((await trial(text, { call: [bad] })).order).toEqual(["call", "other"]);
  });

  it("the inspector shows _last_error with step, job, attempt, action, time and class", {
    tags: ["W8", "W14", "W21", "W39"],
  }, async () => {
    const stage = await Stage.begin(`steps: { call: { exec: "true", on_fail: { retry: { max: 1 } } } }`, {
      call: [{ facts: { message: "503", httpStatus: 503, stack: "at here" } }],
    });
    await stage.rest();
    expect(reportState((await loadRun(stage.store, stage.runId)).run)).toEqual({
      root: {
        _last_error: expect.objectContaining({
          code: "503",
          class: "transient_runtime",
          message: "503",
          retryable: true,
          action: "command",
          step_id: "call",
          job_id: await stage.id("call"),
          attempt: 2,
          timestamp: new Date(stage.clock.now()).toISOString(),
          stack_trace: "at here",
        }),
      },
    });
  });

  it("a success clears _last_error before its transitions are tried", { tags: ["W17"] }, async () => {
    const run = await trial(
      `steps:
  a: { exec: "true", continue_on_failure: true }
  b: { exec: "true", depends_on: a, if: "state._last_error !== null" }
  c: { exec: "true" }
  d: { exec: "true", depends_on: b, if: "state._last_error === null" }
transitions:
  - { from: b, to: c, on: any, when: { type: not, condition: ${exists} } }`,
      { a: ["fail"] },
    );
    expect(run.order.toSorted()).toEqual(["a", "b", "c", "d"]);
  });

  it("the failure events carry the error", { tags: ["W18", "W36"] }, async () => {
    const run = await trial(`steps: { a: { exec: "true" } }`, { a: [bad] });
    expect(run.events("attempt.failed")[0]!.error).toMatchObject({ code: "400", retryable: false });
    expect(run.events("job.failed")).toMatchObject([{ code: "400", message: "400 Bad Request" }]);
  });

  it("no transition matches: the workflow fails, and each edge says why it did not", {
    tags: ["W19"],
  }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true" }, b: { exec: "true" } }
transitions: [{ from: a, to: b, on: failure, when: { type: in_set, field: error.code, values: ["503"] } }]`,
      { a: [bad] },
    );
    expect(run.order).toEqual(["a"]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "400" } });
    expect(run.events("ladder.climbed")[0]!.failure_route).toMatchObject({
      attempted: true,
      status: "no_route",
      considered: [{ edge: 1, to: "b", matched: false, why: 'error.code is "400", none of ["503"]' }],
    });
  });

  it("a 400 is not retried but routed to its handler", { tags: ["W24"] }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true", on_fail: { retry: { max: 5 } } }, fallback: { exec: "true" } }
transitions: [{ from: a, to: fallback, on: failure }]`,
      { a: [bad] },
    );
    expect(run.order).toEqual(["a", "fallback"]);
    expect(run.run.status).toBe("completed");
  });

  it("an error in the error handler does not recurse", { tags: ["W30"] }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true" }, handler: { exec: "true" } }
transitions: [{ from: a, to: handler, on: failure }]`,
      { a: ["fail"], handler: ["fail"] },
    );
    expect(run.order).toEqual(["a", "handler"]);
    expect(run.run.status).toBe("failed");
    expect(run.events("run.failed")[0]!.unhandled).toEqual([run.job("a").id, run.job("handler").id]);
  });

  it("handlers that route to each other end by LOOP_BUDGET_EXCEEDED", { tags: ["W30"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 3 }
steps: { a: { exec: "true" }, h1: { exec: "true" }, h2: { exec: "true" } }
transitions:
  - { from: a, to: h1, on: failure }
  - { from: h1, to: h2, on: failure }
  - { from: h2, to: h1, on: failure }`,
      { a: ["fail"], h1: ["fail"], h2: ["fail"] },
    );
    expect(run.order).toEqual(["a", "h1", "h2", "h1", "h2", "h1"]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "LOOP_BUDGET_EXCEEDED" } });
  });

  it("a lost worker is no error of the workflow: no retry, no _last_error, no route", {
    tags: ["W13", "W33"],
  }, async () => {
    const lost = { facts: { message: "gone", lost: true } } as const;
    const run = await trial(
      `routing: { max_loops: 0 }
steps:
  a: { exec: "true", on_fail: { retry: { max: 3 } } }
  handler: { exec: "true" }
  b: { exec: "true", depends_on: a, if: "state._last_error === null && loop === 0" }
transitions: [{ from: a, to: handler, on: failure }]`,
      { a: [lost, lost, "ok"] },
    );
    expect(run.order).toEqual(["a", "a", "a", "b"]);
    expect(run.events("attempt.failed").map(({ error }) => error.class)).toEqual([
      "infrastructure",
      "infrastructure",
    ]);
    expect(run.events("retry.scheduled")).toEqual([]);
    expect(run.run.status).toBe("completed");
  });

  it("an engine that dies loses nothing: the attempt starts again and the workflow goes on", {
    tags: ["W13", "W33"],
  }, async () => {
    const stage = await Stage.begin(
      `steps: { a: { exec: "true", on_fail: { retry: { max: 1 } } }, b: { exec: "true", depends_on: a } }`,
      {
        a: [{ output: 1, takesMs: 100 }],
      },
    );
    stage.kill();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["a", "a", "b"]);
    expect(run.events("restart.granted")).toHaveLength(1);
    expect(run.events("retry.scheduled")).toEqual([]);
    expect(run.run.status).toBe("completed");
  });
});
