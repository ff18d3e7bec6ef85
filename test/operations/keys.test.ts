import { describe, expect, it } from "vitest";
import type { InputOf } from "../../src/operations/client.js";
import { OPERATIONS } from "../../src/operations/operations.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();

const HELD = `unhandled: hold
steps: { a: { exec: exit 3 }, b: { exec: "true", depends_on: a } }`;
const FAILED = `steps: { a: { exec: exit 3 }, b: { exec: "true", depends_on: a } }`;
const ENDLESS = "steps: { a: { exec: sleep 600 } }";
const DEAD = `queue: { max_attempts: 1, classes: [application] }\nsteps: { a: { exec: exit 3 } }`;
const ASKING = `steps: { ask: { type: human, prompt: "well?", choices: [yes, no] } }`;

type Call = () => Promise<unknown>;

/** What of an answer is of the moment, and not of the command. */
function withoutMoment(answer: unknown): unknown {
  const { owner: _owner, running: _running, ...rest } = answer as { [field: string]: unknown };
  if (!Array.isArray(rest.runs)) return rest;
  return { ...rest, runs: rest.runs.map(withoutMoment) };
}

async function eventCount(runId: number): Promise<number> {
  return (await bench.context.store.readEvents(runId)).filter(({ event }) => "key" in event).length;
}

/** The same call twice, with all that follows from the first in between. */
async function twice(runId: number, call: Call): Promise<void> {
  const first = await call();
  await bench.until(runId, ({ jobs }) => jobs.every(({ status }) => status !== "ready"));
  const count = await eventCount(runId);
  expect(withoutMoment(await call())).toEqual(withoutMoment(first));
  expect(await eventCount(runId)).toBe(count);
}

describe("the same key once more answers what the first answered, and does nothing", () => {
  const control = (runId: number, key: string, more: Partial<InputOf<"control_run">>) =>
    bench.call("control_run", { run_id: runId, key, ...more } as InputOf<"control_run">);

  it.each(["retry_step", "reset_failed", "resume_from_step"] as const)("for %s", async (action) => {
    const run = await bench.run(FAILED);
    const step_id = action === "reset_failed" ? undefined : "a";
    await twice(run.run_id, () => control(run.run_id, "k", { action, step_id, reason: "because" }));
    const rows = await bench.context.store.readJobs(run.run_id);
    expect(rows.map(({ attempt_id }) => attempt_id)).toEqual([2, 0]);
  });

  it("for a forced retry, which went back to a completed step", async () => {
    const run = await bench.run("steps: { a: { exec: 'true' }, b: { exec: exit 1, depends_on: a } }");
    const answer = () => control(run.run_id, "k", { action: "retry_step", step_id: "a", force: true });
    expect(await answer()).toMatchObject({ action: "resume_from_step", before: "failed", status: "running" });
    await bench.settled(run.run_id);
    expect(await answer()).toMatchObject({ action: "resume_from_step", before: "failed", status: "running" });
    expect((await bench.context.store.readJobs(run.run_id))[0]!.attempt_id).toBe(2);
  });

  it("for pause, resume and cancel, also where the run has been paused again since", async () => {
    const { run_id } = await bench.call("start_run", { source: ENDLESS });
    await bench.until(run_id, ({ jobs }) => jobs[0]!.status === "running");
    await twice(run_id, () => control(run_id, "p", { action: "pause" }));
    await twice(run_id, () => control(run_id, "r", { action: "resume" }));
    await control(run_id, "p2", { action: "takeover" });
    expect(await control(run_id, "r", { action: "resume" })).toMatchObject({ before: "paused" });
    expect((await bench.context.store.readRun(run_id))!.status).toBe("paused");
    const cancel = () => control(run_id, "c", { action: "cancel", wait_ms: 30_000 });
    await cancel();
    expect(await cancel()).toMatchObject({ before: "paused", status: "canceled" });
  });

  it("for a decision about a hold, by either operation", async () => {
    const run = await bench.run(HELD);
    const job_id = run.jobs[0]!.id;
    await twice(run.run_id, () =>
      bench.call("resolve_holds", {
        classifications: [{ job_id, action: "complete", output: { rows: 0 }, reason: "none today" }],
        key: "k",
      }),
    );
    expect((await bench.settled(run.run_id)).status).toBe("completed");
    const other = await bench.run(HELD);
    const put = () => bench.call("update_job", { job_id: other.jobs[0]!.id, status: "failed", key: "k" });
    await twice(other.run_id, put);
  });

  it("for a retry with max_retries, whose attempt_id stays the one that it began", {
    tags: ["T18"],
  }, async () => {
    const run = await bench.run(FAILED);
    const request = {
      job_id: run.jobs[0]!.id,
      run_id: run.run_id,
      max_retries: 9,
      key: "k",
      reason: "mended",
    };
    await twice(run.run_id, () => bench.call("retry_job", request));
    await bench.settled(run.run_id);
    await bench.call("retry_job", { ...request, key: "another" });
    await bench.settled(run.run_id);
    expect(await bench.call("retry_job", request)).toMatchObject({ status: "ready", attempt_id: 2 });
    const retried = (await bench.context.store.readEvents(run.run_id)).flatMap(({ event }) =>
      event.type === "jobs.retried" ? event : [],
    );
    expect(retried).toMatchObject([{ reason: "mended", max_attempts: 9 }, { max_attempts: 9 }]);
  });

  it("for a redrive and an answer", async () => {
    const dead = await bench.run(DEAD);
    await twice(dead.run_id, () =>
      bench.call("redrive_job", { job_id: dead.jobs[0]!.id, reason: "back", key: "k" }),
    );
    const { run_id } = await bench.call("start_run", { source: ASKING });
    const asking = await bench.until(run_id, ({ jobs }) => jobs[0]!.status === "waiting");
    const answer = { job_id: asking.jobs[0]!.id, choice: "yes", reason: "asked around", key: "k" };
    await twice(run_id, () => bench.call("answer_job", answer));
  });

  it("where nobody runs the run and no server is asked", async () => {
    const run = await bench.run(HELD);
    const request = { job_id: run.jobs[0]!.id, status: "failed", key: "k" } as const;
    const first = await callIn(bench.withoutRunner, "update_job", request);
    expect(await callIn(bench.withoutRunner, "update_job", request)).toEqual(first);
  });

  it("also after the first was refused: then it is judged anew", async () => {
    const run = await bench.run(FAILED);
    const retry = (max_retries: number) =>
      bench.call("retry_job", { job_id: run.jobs[0]!.id, run_id: run.run_id, max_retries, key: "k" });
    expect(await refusalOf(retry(1))).toBe("RETRIES_USED_UP");
    expect(await retry(2)).toMatchObject({ attempt_id: 2 });
  });
});

describe("a key that was taken for something else", () => {
  it("is refused, and changes nothing", async () => {
    const run = await bench.run(FAILED);
    const { run_id } = run;
    const ask = (more: object) =>
      bench.call("control_run", { run_id, key: "k", ...more } as InputOf<"control_run">);
    await ask({ action: "retry_step", step_id: "a" });
    await bench.settled(run_id);
    const count = await eventCount(run_id);
    for (const other of [
      { action: "resume_from_step", step_id: "a" },
      { action: "retry_step", step_id: "b" },
      { action: "reset_failed" },
      { action: "cancel" },
    ])
      expect([other.action, await refusalOf(ask(other))]).toEqual([other.action, "KEY_REUSED"]);
    const retry = { job_id: run.jobs[0]!.id, run_id, max_retries: 9, key: "k" };
    expect(await refusalOf(bench.call("retry_job", retry))).toBe("KEY_REUSED");
    expect(await eventCount(run_id)).toBe(count);
  });
});

describe("every operation that starts or decides something", () => {
  /** And why these do without. */
  const WITHOUT: { readonly [name: string]: string } = {
    create_token: "its answer is a secret that is shown once and never kept",
    revoke_token: "once revoked is revoked: the second answer says so",
    prune_runs: "what is gone is gone: a second time removes nothing more",
    test_channel: "whoever tests a channel again wants another message",
  };

  it("takes a key, but for a few that need none", { tags: ["C6"] }, () => {
    const changes = OPERATIONS.filter(({ effect }) => effect !== "reads");
    const without = changes.filter(({ input }) => !Object.hasOwn(input.shape, "key"));
    expect(without.map(({ name }) => name).sort()).toEqual(Object.keys(WITHOUT).sort());
  });

  it("answers under it from the log of its run, or keeps its answer", () => {
    const ofRuns = OPERATIONS.filter(
      ({ input, idempotent }) => Object.hasOwn(input.shape, "key") && idempotent !== true,
    );
    expect(ofRuns.map(({ name }) => name).sort()).toEqual([
      "answer_job",
      "control_run",
      "decide_problems",
      "fork_run",
      "recover_run",
      "redrive_job",
      "resolve_holds",
      "retry_job",
      "run_schedule",
      "start_run",
      "update_job",
    ]);
    // Each decision about a hold has its own; a start needs none.
    for (const { name, input } of ofRuns)
      if (!["resolve_holds", "run_schedule", "start_run"].includes(name))
        expect(Object.keys(input.shape), name).toContain("reason");
  });
});
