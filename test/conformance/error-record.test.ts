import { describe, expect, it } from "vitest";
import type { ErrorRecord } from "../../src/core/model/failure.js";
import type { Json } from "../../src/core/text/json.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { reportState } from "../../src/tell/run-report.js";
import { failureOf } from "../support/error-record.js";
import { trial } from "../support/harness.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

/** The names of the record, as every interface must show them. */
const FIELDS = Object.keys(failureOf()).toSorted();
const ALIASES = ["exitCode", "stdout", "stderr"];
/** How the failure led here. */
const WAY = ["route", "edge", "round", "rounds", "output"];

/** A failure of which there is something to say in every field that an attempt can have. */
const BROKEN: Outcome = {
  facts: {
    ...{
      message: "it broke",
      said: "so",
      exitCode: 3,
      signal: "SIGSEGV",
      retryAfterMs: 50,
      stack: "at here",
    },
    ...{ stdoutTail: "out", stderrTail: "err", diffHash: "d1ff", changedFiles: ["a.txt"] },
  },
};
const KNOWN = FIELDS.filter((name) => !["cause", "original_class"].includes(name));

const ROUTED = (when: string) => `steps: { call: { exec: "true" }, hand: { exec: "true" } }
transitions: [{ from: call, to: hand, on: failure, when: ${when} }]`;

async function isTaken(when: string): Promise<boolean> {
  return (await trial(ROUTED(when), { call: [BROKEN] })).order.includes("hand");
}

const field = (path: string, value: Json) =>
  `{ type: comparison, operator: "==", left: { type: field, path: ${path} }, right: { type: literal, value: ${JSON.stringify(value)} } }`;

describe("the error record in conditions and expressions", () => {
  it("has every field under the same name and with the same value as the job's own error", async () => {
    const known = await trial(ROUTED('"false"'), { call: [BROKEN] });
    const record = known.job("call").error as unknown as { [name: string]: Json };
    expect(Object.keys(record).toSorted()).toEqual(FIELDS);
    expect(known.events("attempt.failed")[0]!.error).toEqual(record);
    for (const name of KNOWN) {
      const value = record[name]!;
      expect([name, value]).not.toEqual([name, null]);
      expect([name, await isTaken(field(`error.${name}`, value))]).toEqual([name, true]);
      expect([name, await isTaken(field(`state._last_error.${name}`, value))]).toEqual([name, true]);
    }
    const same = JSON.stringify(KNOWN.map((name) => record[name]!));
    const all = (root: string) =>
      JSON.stringify(
        `JSON.stringify([${KNOWN.map((name) => `${root}.${name}`).join()}]) === ${JSON.stringify(same)}`,
      );
    expect(await isTaken(all("error"))).toBe(true);
    expect(await isTaken(all("state._last_error"))).toBe(true);
  });

  it("has exitCode, stdout and stderr as shorter names", async () => {
    expect(await isTaken(field("error.exitCode", 139))).toBe(true);
    expect(await isTaken(field("error.stdout", "out"))).toBe(true);
    expect(await isTaken(field("error.stderr", "err"))).toBe(true);
    expect(await isTaken(`"error.exitCode === error.exit_code && error.stdout === 'out'"`)).toBe(true);
  });

  it("has the time as ISO text everywhere", async () => {
    const stage = await Stage.begin(ROUTED('"false"'), { call: [BROKEN] });
    const time = new Date(stage.clock.now()).toISOString();
    await stage.rest();
    const run = await stage.view();
    expect(run.job("call").error!.timestamp).toBe(time);
    expect(run.run.error!.timestamp).toBe(time);
    expect(await isTaken(field("state._last_error.timestamp", time))).toBe(true);
  });
});

describe("state._last_error", () => {
  it("has node_id and action_id beside the record", { tags: ["W14"] }, async () => {
    expect(await isTaken(field("state._last_error.node_id", "call"))).toBe(true);
    expect(await isTaken(field("state._last_error.action_id", "command"))).toBe(true);
    expect(
      await isTaken(`"state._last_error.node_id === 'call' && state._last_error.action_id === 'command'"`),
    ).toBe(true);
  });

  it("is not there while the failed step still has retries", { tags: ["W8"] }, async () => {
    const retry = (ms: number) => `on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: ${ms} } } }`;
    const seen: Json[] = [];
    const stage = await Stage.begin(
      `steps:
  flaky: { exec: "true", ${retry(1_000)} }
  look: { exec: "{{ state._last_error | json }}", ${retry(100)} }`,
      {
        flaky: ["fail"],
        look: ({ action }) => {
          seen.push(action.exec as Json);
          return { exit: 2 };
        },
      },
    );
    const inspected = async () => {
      const { root } = reportState((await loadRun(stage.store, stage.runId)).run) as {
        root: { _last_error: ErrorRecord | null };
      };
      return root._last_error?.step_id ?? null;
    };
    expect([await stage.statuses("flaky", "look"), await inspected()]).toEqual([
      ["waiting", "waiting"],
      null,
    ]);
    await stage.turn();
    // Its second attempt began while the other one was waiting to be retried.
    expect(seen).toEqual(["null", "null"]);
    expect([await stage.statuses("flaky", "look"), await inspected()]).toEqual([
      ["waiting", "failed"],
      "look",
    ]);
    await stage.rest();
    expect(await inspected()).toBe("flaky");
  });
});

describe("the variable `failure`", () => {
  it("is the record with its shorter names and the way it led, for expressions and templates alike", async () => {
    let rendered = "";
    const run = await trial(
      `steps:
  call: { exec: "true" }
  hand: { exec: "{{ failure | json }}", if: "JSON.stringify(Object.keys(failure).sort()) === '${JSON.stringify(
    [...FIELDS, ...ALIASES, ...WAY].toSorted(),
  ).replaceAll('"', '\\"')}'" }
transitions: [{ from: call, to: hand, on: failure }]`,
      {
        call: [BROKEN],
        hand: ({ action }) => {
          rendered = String(action.exec);
          return "ok";
        },
      },
    );
    const { exit_code, stdout_tail, stderr_tail } = run.job("call").error!;
    expect(JSON.parse(rendered)).toEqual({
      ...run.job("call").error,
      ...{ exitCode: exit_code, stdout: stdout_tail, stderr: stderr_tail },
      ...{ route: "edge", edge: 1, round: 1, rounds: null, output: null },
    });
  });
});

/** What ends a job when no attempt of it failed so. */
describe("the record of a job that something else than its attempt has ended", () => {
  const OWN = {
    ...{ exit_code: null, signal: null, retry_after_ms: null, stdout_tail: "", stderr_tail: "" },
    ...{ stack_trace: null, diff_hash: null, changed_files: [], original_class: null, final: false },
  };

  async function ended(
    text: string,
    script: { [step: string]: readonly Outcome[] },
    step: string,
    scope?: string,
  ) {
    const run = await trial(text, script);
    const job = run.job(step, scope);
    const record = job.error!;
    expect(Object.keys(record).toSorted()).toEqual(FIELDS);
    expect(record).toMatchObject({ step_id: step, job_id: job.id, action: "command", ...OWN });
    expect(record.timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(record.signature).toMatch(/^v\d+:[0-9a-f]{64}$/);
    return { run, record };
  }

  it("DEPENDENCY_FAILED: it never had an attempt", async () => {
    const { run, record } = await ended(
      `steps: { a: { exec: "true" }, b: { exec: "true", depends_on: a }, c: { exec: "true", depends_on: b } }`,
      { a: ["fail"] },
      "b",
    );
    expect(record).toMatchObject({
      code: "DEPENDENCY_FAILED",
      class: "deterministic_policy",
      retryable: false,
    });
    expect([record.attempt, record.cause]).toEqual([null, null]);
    expect(run.job("c").error).toEqual({ ...record, step_id: "c", job_id: run.job("c").id });
  });

  it("IF_FAILED: its expression failed, not an attempt", async () => {
    const { record } = await ended(`steps: { a: { exec: "true", if: "return nothing.there" } }`, {}, "a");
    expect(record).toMatchObject({ code: "IF_FAILED", class: "deterministic_contract", attempt: null });
    expect(record.cause).toBeNull();
  });

  it("LOOP_BUDGET_EXCEEDED: the attempt's failure is its cause", async () => {
    const { run, record } = await ended(
      `routing: { max_loops: 1 }
steps: { a: { exec: "true" }, b: { exec: "true", depends_on: a, on_fail: { goto: a } } }`,
      { b: [{ exit: 7, stderr: "boom" }] },
      "b",
    );
    expect(record).toMatchObject({ code: "LOOP_BUDGET_EXCEEDED", class: "deterministic_policy", attempt: 2 });
    expect(record.cause).toEqual(run.events("attempt.failed")[1]!.error);
    expect(record.cause).toMatchObject({ code: "EXIT_7", exit_code: 7, attempt: 2, stderr_tail: "boom" });
  });

  it("REMEDIATION_FAILED: the attempt's failure is its cause, and the run's error names the job", async () => {
    const { run, record } = await ended(
      `steps: { a: { exec: "true", on_fail: { run: [fix] } }, fix: { exec: "true" } }`,
      { a: [{ exit: 5 }], fix: ["fail"] },
      "a",
    );
    expect(record).toMatchObject({ code: "REMEDIATION_FAILED", class: "application", attempt: 1 });
    expect(record.cause).toMatchObject({ code: "EXIT_5", exit_code: 5 });
    expect(run.run.error).toEqual({ ...record, message: `a: ${record.message}` });
    expect(run.job("fix").error).toMatchObject({ code: "EXIT_1", exit_code: 1, cause: null });
  });

  it("FAIL_FAST: what was waiting to be retried keeps what its last attempt failed of", async () => {
    const { record } = await ended(
      `failure_policy: fail_fast
steps:
  a: { exec: "true", on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 5000 } } } }
  b: { exec: "true" }`,
      { a: [{ exit: 3 }], b: [{ exit: 4, takesMs: 100 }] },
      "a",
    );
    expect(record).toMatchObject({ code: "FAIL_FAST", class: "deterministic_policy", attempt: 1 });
    expect(record.cause).toMatchObject({ code: "EXIT_3", exit_code: 3 });
  });

  it("JOIN_UNSATISFIED: too few branches", async () => {
    const { record } = await ended(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "true", depends_on: list }
  sum: { exec: "true", depends_on: work, fanout: reduce }`,
      { list: [{ output: ["x", "y"] }], work: ["fail"] },
      "sum",
    );
    expect(record).toMatchObject({ code: "JOIN_UNSATISFIED", class: "deterministic_policy", attempt: null });
  });

  it("RUN_CANCELED: the job that ran, the one that waited, and the run itself", async () => {
    const stage = await Stage.begin(
      `steps:
  slow: { exec: "true" }
  flaky: { exec: "true", on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 5000 } } } }`,
      { slow: [{ output: 1, takesMs: 60_000 }], flaky: [{ exit: 9 }] },
    );
    await stage.operate({ type: "run.cancel" });
    const run = await stage.rest();
    const canceled = { code: "RUN_CANCELED", class: "deterministic_policy", retryable: false, ...OWN };
    expect(run.job("slow").error).toMatchObject({ ...canceled, step_id: "slow", attempt: 1, cause: null });
    expect(run.job("flaky").error).toMatchObject({ ...canceled, attempt: 1, cause: { code: "EXIT_9" } });
    const nobody = { action: null, step_id: null, job_id: null, attempt: null, cause: null };
    expect(run.run.error).toMatchObject({ ...canceled, message: "because", ...nobody });
    expect(Object.keys(run.run.error!).toSorted()).toEqual(FIELDS);
  });
});

describe("the record of a run", () => {
  it("is that of the job to blame, in the run's words", async () => {
    const run = await trial(
      `steps: { a: { exec: "true", continue_on_failure: true }, b: { exec: "true" }, c: { exec: "true" } }`,
      { a: [{ exit: 2 }], b: [BROKEN], c: [{ exit: 4, takesMs: 10 }] },
    );
    const { error } = run.job("b");
    expect(run.run.error).toEqual({
      ...error,
      message: "b: it broke: so (ended by SIGSEGV)",
      timestamp: run.run.error!.timestamp,
    });
    expect(run.run.error).toMatchObject({ step_id: "b", exit_code: 139, stack_trace: "at here" });
  });

  it("of a job that fails because its attempt did is the attempt's, held or failed", async () => {
    const failed = await trial(`steps: { a: { exec: "true" } }`, { a: [BROKEN] });
    expect(failed.job("a").error).toEqual(failed.events("attempt.failed")[0]!.error);
    const stage = await Stage.begin(`unhandled: hold\nsteps: { a: { exec: "true" } }`, { a: [BROKEN] });
    const held = (await stage.rest()).job("a");
    expect(held).toMatchObject({ status: "held", error: failed.job("a").error });
    const items = [{ job: held.id, action: "fail", reason: "no", output: null, items: null }] as const;
    await stage.operate({ type: "holds.resolve", items });
    await stage.resume();
    expect((await stage.rest()).job("a")).toMatchObject({ status: "failed", error: held.error });
  });
});
