import { describe, expect, it } from "vitest";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();

/** Says itself that it ran out of memory, unless it is given enough. */
const FLOW = `
unhandled: hold
steps:
  big: { exec: "test $DARUMA_ATTEMPT_ID -ge 2 || { echo '{\\"code\\":\\"OOM\\"}' > $DARUMA_FAILURE; exit 137; }", resource_requirements: { memory: 512m } }
  wrong: { exec: exit 3 }
  after: { exec: "true", depends_on: big }`;

describe("recover_run", () => {
  it("with dry_run tells per job what would be done, and changes nothing", { tags: ["T35"] }, async () => {
    const { run_id } = await bench.run(FLOW);
    const events = (await bench.context.store.readEvents(run_id)).length;
    const answer = await bench.call("recover_run", { run_id, dry_run: true });
    expect(answer).toMatchObject({ before: "held", status: "running", recovered: 1, dry_run: true });
    expect(answer.jobs).toMatchObject([
      {
        step: "big",
        code: "OOM",
        diagnosis: "memory",
        recovers: true,
        raise: { resource: "memory", from: 512 * 1024 ** 2, to: 768 * 1024 ** 2 },
        why: "raised",
        explanation: "memory 512 MiB -> 768 MiB",
      },
      { step: "wrong", diagnosis: "unknown", recovers: false, raise: null, why: "unknown_failure" },
    ]);
    expect(answer.changed).toMatchObject([{ step: "big", from: "held", to: "ready" }]);
    expect(await bench.context.store.readEvents(run_id)).toHaveLength(events);
  });

  it("runs them again on the server, which goes on by itself", { tags: ["T35"] }, async () => {
    const { run_id } = await bench.run(FLOW);
    const answer = await bench.call("recover_run", { run_id, memory_factor: 2, reason: "more" });
    expect(answer).toMatchObject({ recovered: 1, status: "running", reason: "more" });
    const { jobs } = await bench.settled(run_id);
    expect(jobs.map(({ step, status, attempts }) => [step, status, attempts])).toEqual([
      ["big", "completed", 2],
      ["wrong", "held", 1],
      ["after", "completed", 1],
    ]);
  });

  it("takes only the jobs that are named", async () => {
    const { run_id, jobs } = await bench.run(FLOW);
    const wrong = jobs.find(({ step }) => step === "wrong")!.id;
    const answer = await bench.call("recover_run", {
      run_id,
      dry_run: true,
      retry_unknown: true,
      job_ids: [wrong],
    });
    expect(answer.jobs.map(({ step, why }) => [step, why])).toEqual([
      ["big", "not_selected"],
      ["wrong", "retried"],
    ]);
  });

  it("the same key once more answers the same and does nothing", async () => {
    const { run_id } = await bench.run(FLOW);
    const first = await bench.call("recover_run", { run_id, key: "k" });
    await bench.settled(run_id);
    const events = (await bench.context.store.readEvents(run_id)).length;
    const { owner: _owner, ...again } = await bench.call("recover_run", { run_id, key: "k" });
    expect(first).toMatchObject(again);
    expect(await bench.context.store.readEvents(run_id)).toHaveLength(events);
  });

  it("has nothing to do in a run that completed, and refuses bad limits and imported runs", async () => {
    const { run_id } = await bench.run("steps: { a: { exec: 'true' } }");
    expect(await bench.call("recover_run", { run_id })).toMatchObject({
      recovered: 0,
      jobs: [],
      before: "completed",
      status: "completed",
    });
    expect(await refusalOf(bench.call("recover_run", { run_id: 9_999 }))).toBe("RUN_NOT_FOUND");
  });
});

describe("resolve_holds with corrections", () => {
  const idOf = async (run_id: number, step: string) =>
    (await bench.call("get_run", { run_id })).jobs.find((job) => job.step === step)!.id;

  it("gives the retried job what it is told, also as text, and says who asked", {
    tags: ["T35"],
  }, async () => {
    const { run_id } = await bench.run(FLOW);
    const job_id = await idOf(run_id, "big");
    const classifications = [{ job_id, action: "retry", reason: "r", memory: "2g", runtime: "90m" } as const];
    const dry = await bench.call("resolve_holds", { classifications, dry_run: true });
    expect(dry).toMatchObject({ applied: false, results: [{ ok: true }] });
    await bench.call("resolve_holds", { classifications });
    await bench.settled(run_id);
    const events = (await bench.context.store.readEvents(run_id)).map(({ event }) => event);
    expect(events.find(({ type }) => type === "jobs.retried")).toMatchObject({
      action: "resolve",
      by: "tester",
      raised: [
        { job: job_id, resource: "memory", from: 512 * 1024 ** 2, to: 2 * 1024 ** 3 },
        { job: job_id, resource: "runtime", from: null, to: 90 * 60_000 },
      ],
    });
    expect(events.find(({ type }) => type === "hold.resolved")).toMatchObject({ by: "tester" });
    expect((await bench.call("get_job", { job_id })).raised).toEqual([
      { resource: "memory", from: 512 * 1024 ** 2, to: 2 * 1024 ** 3 },
      { resource: "runtime", from: null, to: 90 * 60_000 },
    ]);
  });

  it.each([
    ["less than it has", "retry", "256m", "NOT_RAISED"],
    ["as much as it has", "retry", "512m", "NOT_RAISED"],
    ["less than anything can run in", "retry", "1", "NOT_RAISED"],
    ["an amount for a job that is to fail", "fail", "2g", "INVALID_INPUT"],
  ] as const)("refuses %s, and decides nothing", { tags: ["T35"] }, async (_, action, memory, code) => {
    const { run_id } = await bench.run(FLOW);
    const [big, wrong] = [await idOf(run_id, "big"), await idOf(run_id, "wrong")];
    const before = (await bench.context.store.readEvents(run_id)).length;
    const answer = await bench.call("resolve_holds", {
      classifications: [
        { job_id: wrong, action: "skip" },
        { job_id: big, action, memory },
      ],
      dry_run: true,
    });
    expect(answer.results.map(({ error }) => error?.code ?? null)).toEqual([null, code]);
    expect(await bench.context.store.readEvents(run_id)).toHaveLength(before);
  });
});
