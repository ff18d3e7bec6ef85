import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

const message = "ended by SIGTERM while its worker was being stopped";
const evicted = { facts: { evicted: true, signal: "SIGTERM", message } } as const;

describe("an attempt that was ended with its worker", () => {
  it("is restarted at no cost: no retry, no rule and no hold", async () => {
    const run = await trial(
      `failure_handlers: [{ name: all, rules: [{ match_all_exit_codes: true, recovery_script: ./mend.sh, max_retries: 5 }] }]
unhandled: hold
steps:
  sim: { exec: make, failure_handler: all, on_fail: { retry: { max: 1 } } }`,
      { sim: [evicted, evicted, "ok"] },
    );
    expect(trace(run)).toEqual([
      "start sim",
      "fail sim EVICTED",
      "climb sim restart",
      "restart sim 1/5",
      "start sim",
      "fail sim EVICTED",
      "climb sim restart",
      "restart sim 2/5",
      "start sim",
      "ok sim",
      "run completed",
    ]);
    expect(run.run.status).toBe("completed");
    const errors = run.events("attempt.failed").map(({ error }) => error);
    expect(errors).toMatchObject([
      { code: "EVICTED", class: "infrastructure", message, signal: "SIGTERM", exit_code: 143 },
      { code: "EVICTED", class: "infrastructure", message, signal: "SIGTERM", exit_code: 143 },
    ]);
  });

  it("is not completed because it exited with 0, nor final because it said so", async () => {
    const facts = { evicted: true, exitCode: 0, message: "exited with 0 while its worker was being stopped" };
    const said = { ...facts, exitCode: 3, declared: { code: "GIVEN_UP", retryable: false } };
    const run = await trial("steps: { sim: { exec: make }, after: { exec: read, depends_on: sim } }", {
      sim: [{ facts }, { facts: said }, "ok"],
      after: ["ok"],
    });
    expect(trace(run)).toEqual([
      ...["start sim", "fail sim EVICTED", "climb sim restart", "restart sim 1/5"],
      ...["start sim", "fail sim EVICTED", "climb sim restart", "restart sim 2/5"],
      ...["start sim", "ok sim", "start after", "ok after", "run completed"],
    ]);
    const errors = run.events("attempt.failed").map(({ error }) => error);
    expect(errors).toMatchObject([
      { class: "infrastructure", exit_code: 0, final: false },
      { class: "infrastructure", exit_code: 3, final: false },
    ]);
  });

  it("climbs on like a lost one once its restarts are used up", async () => {
    const run = await trial("max_recoveries: 1\nunhandled: fail\nsteps: { sim: { exec: make } }", {
      sim: [evicted],
    });
    expect(trace(run)).toEqual([
      "start sim",
      "fail sim EVICTED",
      "climb sim restart",
      "restart sim 1/1",
      "start sim",
      "fail sim EVICTED",
      "climb sim fail",
      "failed sim EVICTED",
      "run failed EVICTED",
    ]);
  });

  it("takes its recovery script along: the script runs again, as after a lost worker", async () => {
    const run = await trial(
      `failure_handlers: [{ name: mend, rules: [{ exit_codes: [7], recovery_script: ./mend.sh, max_retries: 2 }] }]
steps: { sim: { exec: make, failure_handler: mend } }`,
      { sim: [{ exit: 7 }, "ok"], "sim script": [evicted, "ok"] },
    );
    expect(run.order).toEqual(["sim", "sim script", "sim script", "sim"]);
    expect(run.run.status).toBe("completed");
  });
});
