import { describe, expect, it } from "vitest";
import type { FailureFacts } from "../../src/core/model/failure.js";
import { trial } from "../support/harness.js";
import type { Script } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";
import { definitionOf, problemsOf } from "../support/workflow-text.js";

const status = (httpStatus: number, more: Partial<FailureFacts> = {}) =>
  ({ facts: { message: `HTTP ${httpStatus}`, httpStatus, ...more } }) as const;

const policy = (backoff: string, more = "") => `steps:
  call:
    kind: http
    implementation: { url: "http://127.0.0.1/" }
    execution:
      timeout_ms: 30000
      retry_policy: { max_attempts: 3, backoff: ${backoff}, initial_delay_ms: 1000, max_delay_ms: 10000${more} }`;

describe("retry policies", () => {
  it("flaky 503 twice, then success after 1 s and 2 s; no error is left", {
    tags: ["W1", "W5", "W15", "W20", "W26"],
  }, async () => {
    const run = await trial(
      `${policy("exponential", ", retryable_errors: ['503', '429', TIMEOUT, NETWORK_ERROR]")}
    on_success: { run_js: "return state._last_error === null && error === null ? ['clean'] : []" }
  clean: { exec: "true", start: routed }`,
      { call: [status(503), status(503), { output: "ok" }] },
    );
    expect(run.order).toEqual(["call", "call", "call", "clean"]);
    expect(run.times).toEqual([0, 1000, 3000, 3000]);
    expect(trace(run).slice(0, 10)).toEqual([
      "start call",
      "fail call 503",
      "climb call retry",
      "retry call 1/2 +1000",
      "start call",
      "fail call 503",
      "climb call retry",
      "retry call 2/2 +2000",
      "start call",
      "ok call",
    ]);
    expect(run.job("call")).toMatchObject({ status: "completed", attempt_id: 3, error: null });
    expect(run.run.status).toBe("completed");
  });

  it("gives up after max_attempts, sets _last_error and tells it in the log", {
    tags: ["W1", "W21", "W25", "W26"],
  }, async () => {
    const run = await trial(
      `${policy("none")}
transitions:
  - { from: call, to: look, on: failure, when: "state._last_error.code === '503' && state._last_error.attempt === 3" }`.replace(
        "steps:",
        "steps:\n  look: { exec: 'true' }",
      ),
      { call: [status(503)] },
    );
    expect(run.order).toEqual(["call", "call", "call", "look"]);
    expect(run.events("attempt.failed").map(({ attempt, error }) => [attempt, error.code])).toEqual([
      [1, "503"],
      [2, "503"],
      [3, "503"],
    ]);
    expect(run.events("job.failed")).toMatchObject([{ code: "503", message: "HTTP 503" }]);
    expect(run.job("call")).toMatchObject({ status: "failed", attempt_id: 3 });
  });

  it.each([
    ["none", [0, 0, 0, 0]],
    ["linear", [0, 1000, 3000, 6000]],
    ["exponential", [0, 1000, 3000, 7000]],
  ])("backoff %s", { tags: ["W3", "W4", "W5"] }, async (backoff, times) => {
    const text = policy(backoff).replace("max_attempts: 3", "max_attempts: 4");
    const run = await trial(text, { call: [status(503)] });
    expect(run.times).toEqual(times);
    expect(run.run.status).toBe("failed");
  });

  it("an exponential wait is capped by max_delay_ms", { tags: ["W5", "W25"] }, async () => {
    const text = policy("exponential").replace("max_attempts: 3", "max_attempts: 7");
    const run = await trial(text, { call: [status(503)] });
    expect(run.events("retry.scheduled").map(({ delay_ms: delayMs }) => delayMs)).toEqual([
      1000, 2000, 4000, 8000, 10_000, 10_000,
    ]);
  });

  it("max_attempts counts the first try", { tags: ["W1"] }, async () => {
    const once = policy("none").replace("max_attempts: 3", "max_attempts: 1");
    expect((await trial(once, { call: [status(503)] })).order).toEqual(["call"]);
    expect(problemsOf(once.replace("max_attempts: 1", "max_attempts: 0"))).toHaveLength(1);
  });

  it.each([
    ["503", status(503)],
    ["429", status(429)],
    ["500", status(500)],
    ["502", status(502)],
    ["TIMEOUT", { facts: { message: "too slow", timeout: "wall" } }],
    ["NETWORK_ERROR", { facts: { message: "refused", errno: "ECONNREFUSED" } }],
    ["NETWORK_ERROR", { facts: { message: "no such host", errno: "ENOTFOUND" } }],
  ] as const)("%s is worth another try", { tags: ["W6", "W11"] }, async (code, outcome) => {
    const run = await trial(policy("none"), { call: [outcome, "ok"] });
    expect(run.order).toEqual(["call", "call"]);
    expect(run.events("attempt.failed")[0]!.error).toMatchObject({
      code,
      class: "transient_runtime",
      retryable: true,
    });
  });

  it.each([
    ["400", status(400), "deterministic_contract"],
    ["401", status(401), "deterministic_policy"],
    ["403", status(403), "deterministic_policy"],
    ["404", status(404), "deterministic_contract"],
    ["422", status(422), "deterministic_contract"],
    ["OUTPUT_INVALID", { facts: { message: "no", code: "OUTPUT_INVALID" } }, "deterministic_contract"],
    ["VALIDATION_ERROR", { facts: { message: "no", code: "VALIDATION_ERROR" } }, "deterministic_contract"],
  ] as const)(
    "%s is not retried and fails at once",
    { tags: ["W12", "W24"] },
    async (code, outcome, failureClass) => {
      const run = await trial(policy("none"), { call: [outcome] });
      expect(run.order).toEqual(["call"]);
      expect(run.events("attempt.failed")[0]!.error).toMatchObject({
        code,
        class: failureClass,
        retryable: false,
      });
      expect(run.run).toMatchObject({ status: "failed", error: { code } });
    },
  );

  it("retryable_errors narrows what is retried", { tags: ["W2"] }, async () => {
    const text = policy("none", ", retryable_errors: ['429']");
    expect((await trial(text, { call: [status(503)] })).order).toEqual(["call"]);
    expect((await trial(text, { call: [status(429), "ok"] })).order).toEqual(["call", "call"]);
  });

  it("execution.timeout_ms is the step's timeout, whatever its type", { tags: ["W7"] }, () => {
    for (const type of [
      "kind: http\n    url: http://127.0.0.1/",
      "exec: sleep 9",
      "type: script\n    content: return 1",
    ]) {
      const [step] = definitionOf(`steps:\n  a:\n    ${type}\n    execution: { timeout_ms: 5000 }`).steps;
      expect(step!.timeoutMs).toBe(5000);
    }
  });

  it("retries end by max_loops even where a policy would allow more", { tags: ["W27"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 4 }\n${policy("none").replace("max_attempts: 3", "max_attempts: 100")}`,
      { call: [status(503)] },
    );
    expect(run.order).toHaveLength(5);
    expect(run.run.error?.code).toBe("LOOP_BUDGET_EXCEEDED");
  });
});

describe("Retry-After", () => {
  const asked = (retryAfterMs: number) => status(429, { retryAfterMs });

  it.each([
    ["longer than the backoff is waited for", 7000, 7000],
    ["shorter than the backoff does not shorten it", 10, 1000],
    ["beyond max_delay_ms is waited for all the same", 600_000, 600_000],
  ])("%s", { tags: ["W31"] }, async (_, retryAfterMs, waits) => {
    const run = await trial(policy("exponential"), { call: [asked(retryAfterMs), "ok"] });
    expect(run.times).toEqual([0, waits]);
  });

  it("is waited for where only --retry-max asks for a retry", { tags: ["W31"] }, async () => {
    const options = { retry_max: 1 };
    const run = await trial(`steps: { call: { exec: "true" } }`, { call: [asked(7000), "ok"] }, { options });
    expect(run.times).toEqual([0, 7000]);
  });

  it("longer than ten minutes climbs on, unless the backoff is as long", { tags: ["W31"] }, async () => {
    const run = await trial(policy("exponential"), { call: [asked(600_001), "ok"] });
    expect([run.times, run.run.status]).toEqual([[0], "failed"]);
    expect(run.events("ladder.climbed")[0]?.considered).toContainEqual(
      expect.objectContaining({ rung: "retry", kind: "asks_for_longer" }),
    );
    const patient = `steps: { call: { exec: "true", on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 900000 } } } } }`;
    const waited = await trial(patient, { call: [asked(700_000), "ok"] });
    expect([waited.times, waited.run.status]).toEqual([[0, 900_000], "completed"]);
  });

  it("a queue tries again no sooner than that", { tags: ["W31"] }, async () => {
    const run = await trial(
      `queue: { max_attempts: 2, backoff: { mode: fixed, delay_ms: 1000, max_delay_ms: 1000 } }\nsteps: { call: { exec: "true", on_fail: { retry: { max: 3 } } } }`,
      { call: [asked(3_600_000), "ok"] },
    );
    expect([run.times, run.run.status]).toEqual([[0, 3_600_000], "completed"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["requeue"]);
  });

  it("the attempt counts", { tags: ["W31"] }, async () => {
    const run = await trial(policy("none"), { call: [asked(5)] });
    expect(run.order).toHaveLength(3);
    expect(run.run.status).toBe("failed");
  });
});

describe("retries beside other steps", () => {
  it("a retry in a fan-out concerns its branch only", { tags: ["W28"] }, async () => {
    const run = await trial(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { retry: { max: 2, backoff: { delay_ms: 1000 } } } }
  sum: { exec: "true", depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b", "c"] }],
        work: ({ variables }, nth) =>
          (variables.foreach as { index: number }).index === 1 && nth < 3 ? "fail" : "ok",
      },
    );
    expect(run.order).toEqual(["list", "work[0]", "work[1]", "work[2]", "work[1]", "work[1]", "sum"]);
    expect(run.times).toEqual([0, 0, 0, 0, 1000, 2000, 2000]);
    expect([0, 1, 2].map((index) => run.job("work", `root/list[${index}]`).attempt_id)).toEqual([1, 3, 1]);
  });

  it("parallel branches succeed and fail on their own; the join says how many were needed", {
    tags: ["W32"],
  }, async () => {
    const text = (join: string) => `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list }
  sum: { exec: "{{ branches | json }} {{ outputs.work | json }}", depends_on: work, fanout: reduce, join: ${join} }
  beside: { exec: "true" }`;
    let seen = "";
    const script: Script = {
      list: [{ output: ["a", "b", "c"] }],
      work: ({ variables }) =>
        (variables.foreach as { index: number }).index === 1 ? "fail" : { output: "done" },
      sum: ({ action }) => {
        seen = String(action.exec);
        return "ok";
      },
    };
    const partial = await trial(text("{ at_least: 2 }"), script);
    expect(partial.run.status).toBe("completed");
    expect(partial.job("work", "root/list[1]")).toMatchObject({ status: "failed", handled: true });
    expect(seen).toContain('["done",null,"done"]');
    expect(seen).toMatch(/\{"key":"b","status":"failed","error":\{"code":"EXIT_1",[^}]*"exit_code":1\D/);
    const strict = await trial(text("all"), script);
    expect(strict.job("sum")).toMatchObject({ status: "canceled", error: { code: "JOIN_UNSATISFIED" } });
    expect(strict.job("beside").status).toBe("completed");
    expect(strict.run.status).toBe("failed");
  });

  it("the log has the attempt's number, its error, and waiting apart from running", {
    tags: ["W25", "W35", "W36", "W37", "W40"],
  }, async () => {
    const run = await trial(
      `steps: { call: { exec: "true", on_fail: { retry: { max: 1, backoff: { delay_ms: 500 } } } } }`,
      {
        call: [
          { exit: 3, takesMs: 40, stderr: "boom" },
          { output: 1, takesMs: 20 },
        ],
      },
    );
    expect(run.events("attempt.started").map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(run.events("attempt.failed")).toMatchObject([
      {
        attempt: 1,
        duration_ms: 40,
        error: {
          code: "EXIT_3",
          class: "application",
          message: "exit code 3",
          exit_code: 3,
          stderr_tail: "boom",
        },
      },
    ]);
    expect(run.events("retry.scheduled")).toMatchObject([{ attempt: 1, retry: 1, max: 1, delay_ms: 500 }]);
    expect(run.events("attempt.succeeded")).toMatchObject([{ attempt: 2, duration_ms: 20 }]);
    expect(run.run.finished_at! - run.run.started_at!).toBe(560);
    expect(JSON.parse(JSON.stringify(run.events("attempt.failed")[0]))).toEqual(
      run.events("attempt.failed")[0],
    );
  });
});
