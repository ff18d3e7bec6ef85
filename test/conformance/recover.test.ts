import { describe, expect, it } from "vitest";
import { diagnose, type RecoveryPolicy } from "../../src/core/failure/diagnose.js";
import type { RecoveredJob } from "../../src/core/model/commands.js";
import { amountsOf } from "../../src/core/model/resources.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import type { Assignment } from "../../src/run/worker.js";
import type { Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const MIB = 1024 ** 2;
const MINUTE = 60_000;
const OOM = { facts: { message: "too much", code: "OOM", exitCode: 137 } } as const;
const WALLTIME = { facts: { message: "too long", code: "WALLTIME", exitCode: 152 } } as const;
const LOST = { facts: { message: "gone", lost: true } } as const;

const POLICY: RecoveryPolicy = {
  scale: { memory: { factor: 1.5, max: null }, runtime: { factor: 1.4, max: null } },
  retryUnknown: false,
};

const FLOW = `max_recoveries: 0
steps:
  big: { exec: "true", resource_requirements: { memory: 512m } }
  slow: { exec: "true", resource_requirements: { runtime: 30m } }
  gone: { exec: "true" }
  wrong: { exec: "true" }
  good: { exec: "true" }
  after_big: { exec: "true", depends_on: big }
  after_wrong: { exec: "true", depends_on: wrong }
  end: { exec: "true", depends_on: [after_big, slow, gone, good] }`;

const SCRIPT: Script = {
  big: [OOM, "ok"],
  slow: [WALLTIME, "ok"],
  gone: [LOST, "ok"],
  wrong: ["fail", "ok"],
};

async function found(stage: Stage, policy = POLICY) {
  return diagnose((await loadRun(stage.store, stage.runId)).run, policy);
}

/** What `recover_run` asks for. */
async function recoverable(stage: Stage, policy = POLICY): Promise<RecoveredJob[]> {
  return (await found(stage, policy)).flatMap(({ job, recovers, raise }) =>
    recovers ? [{ job: job.id, ...(raise === null ? {} : { amounts: amountsOf([raise]) }) }] : [],
  );
}

async function told(stage: Stage, policy = POLICY) {
  return (await found(stage, policy)).map(({ job, diagnosis, recovers, why }) => [
    job.step.definition.id,
    diagnosis,
    recovers,
    why,
  ]);
}

describe("recovering a run", () => {
  it("does not claim to know why a job was killed", async () => {
    const killed = { facts: { message: "gone", exitCode: 137 } } as const;
    const signaled = { facts: { message: "gone", signal: "SIGKILL" } } as const;
    const text = `steps: { a: { exec: "true" }, b: { exec: "true" }, c: { exec: "true" } }`;
    const stage = await Stage.begin(text, { a: [killed], b: [signaled], c: ["fail"] });
    await stage.rest();
    expect((await found(stage)).map(({ recovers, reason }) => [recovers, reason])).toEqual([
      [false, "something killed it, and nothing shows that it was for memory"],
      [false, "something killed it, and nothing shows that it was for memory"],
      [false, "not a matter of memory, time or a lost worker"],
    ]);
  });

  it("diagnoses what failed: memory, runtime, lost, unknown", { tags: ["T35"] }, async () => {
    const stage = await Stage.begin(FLOW, SCRIPT);
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await told(stage)).toEqual([
      ["big", "memory", true, "raised"],
      ["slow", "runtime", true, "raised"],
      ["gone", "lost", true, "retried"],
      ["wrong", "unknown", false, "unknown_failure"],
    ]);
    expect((await told(stage, { ...POLICY, retryUnknown: true })).at(-1)).toEqual([
      "wrong",
      "unknown",
      true,
      "retried",
    ]);
  });

  it("runs exactly the selected jobs and their dependents again, each with more of what it passed, in one decision", {
    tags: ["T35"],
  }, async () => {
    const limits: Assignment["resources"][] = [];
    const limited =
      (outcomes: Script[string]): Script[string] =>
      (assignment, nth) => {
        limits.push(assignment.resources);
        return (outcomes as readonly (typeof OOM | "ok")[])[nth - 1]!;
      };
    const stage = await Stage.begin(FLOW, {
      ...SCRIPT,
      big: limited(SCRIPT.big!),
      slow: limited(SCRIPT.slow!),
    });
    await stage.rest();
    const taken = await stage.take({ type: "jobs.recover", items: await recoverable(stage), key: "k" });
    expect(taken.outcome!.changed.map(({ step, from, to }) => `${step} ${from} ${to}`)).toEqual([
      "big failed ready",
      "slow failed ready",
      "gone failed ready",
      "after_big canceled blocked",
      "end canceled blocked",
    ]);
    await stage.resume();
    const run = await stage.rest();
    expect(run.order).toEqual([
      ...["big", "slow", "gone", "wrong", "good"],
      ...["big", "slow", "gone", "after_big", "end"],
    ]);
    expect(limits.map((each) => [each?.memoryBytes, each?.runtimeMs])).toEqual([
      [512 * MIB, null],
      [null, 30 * MINUTE],
      [768 * MIB, null],
      [null, 42 * MINUTE],
    ]);
    const [retried] = run.events("jobs.retried");
    expect(retried).toMatchObject({
      action: "recover",
      raised: [
        { resource: "memory", from: 512 * MIB, to: 768 * MIB },
        { resource: "runtime", from: 30 * MINUTE, to: 42 * MINUTE },
      ],
    });
    // What was left alone still fails the run.
    expect([run.run.status, run.job("wrong").attempt_id, run.job("after_wrong").status]).toEqual([
      "failed",
      1,
      "canceled",
    ]);
    expect(trace(run).filter((line) => line.startsWith("run "))).toEqual([
      "run failed OOM",
      "run reopened",
      "run failed EXIT_1",
    ]);
  });

  it("begins at what the failed attempt has used, where that is more than it asked for", {
    tags: ["T35"],
  }, async () => {
    const used = { peak_memory_bytes: 2048 * 1024 ** 2, cpu_ms: 1 };
    const stage = await Stage.begin(FLOW, { ...SCRIPT, big: [{ ...OOM, used }, "ok"] });
    await stage.rest();
    expect((await found(stage))[0]?.raise).toEqual({
      ...{ resource: "memory", from: 512 * 1024 ** 2 },
      to: 2048 * 1024 ** 2 * POLICY.scale.memory.factor,
    });
  });

  it("once more raises from what the job has by then, up to the limit, and leaves it there", {
    tags: ["T35"],
  }, async () => {
    const stage = await Stage.begin(
      `steps: { big: { exec: "true", resource_requirements: { memory: 512m } } }`,
      {
        big: [OOM],
      },
    );
    const policy = { ...POLICY, scale: { ...POLICY.scale, memory: { factor: 1.5, max: 800 * MIB } } };
    const raised: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      await stage.rest();
      raised.push(...(await found(stage, policy)).map(({ raise }) => [raise!.from! / MIB, raise!.to / MIB]));
      await stage.operate({ type: "jobs.recover", items: await recoverable(stage, policy) });
      await stage.resume();
    }
    expect((await stage.rest()).order).toEqual(["big", "big", "big"]);
    expect(raised).toEqual([
      [512, 768],
      [768, 800],
    ]);
    expect(await told(stage, policy)).toEqual([["big", "memory", false, "at_resource_limit"]]);
  });

  it("leaves what asked for no memory, unless unknown failures are to run again", {
    tags: ["T35"],
  }, async () => {
    const stage = await Stage.begin(`steps: { big: { exec: "true" } }`, { big: [OOM] });
    await stage.rest();
    expect(await told(stage)).toEqual([["big", "memory", false, "nothing_to_raise"]]);
    expect(await told(stage, { ...POLICY, retryUnknown: true })).toEqual([
      ["big", "memory", true, "retried"],
    ]);
  });

  it("lets held jobs go on, and leaves what is held for another reason", { tags: ["T35"] }, async () => {
    const text = `unhandled: hold
steps:
  big: { exec: "true", resource_requirements: { memory: 512m } }
  wrong: { exec: "true" }
  after: { exec: "true", depends_on: big }`;
    const stage = await Stage.begin(text, { big: [OOM, "ok"], wrong: ["fail"] });
    expect((await stage.rest()).run.status).toBe("held");
    expect(await stage.operate({ type: "jobs.recover", items: await recoverable(stage) })).toBeNull();
    await stage.resume();
    const run = await stage.rest();
    expect(run.order).toEqual(["big", "wrong", "big", "after"]);
    expect([run.run.status, run.job("wrong").status, run.job("after").status]).toEqual([
      "held",
      "held",
      "completed",
    ]);
  });

  it("brings back what fail_fast ended because of it, and not if the failure stays", {
    tags: ["T35"],
  }, async () => {
    const text = `failure_policy: fail_fast
steps:
  big: { exec: "true", resource_requirements: { memory: 512m } }
  other: { exec: "true" }
  behind: { exec: "true", depends_on: other }`;
    const stage = await Stage.begin(text, {
      big: [OOM, "ok"],
      other: [{ output: null, takesMs: 1000 }, "ok"],
    });
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await told(stage)).toEqual([
      ["big", "memory", true, "raised"],
      ["other", "prevented", true, "retried"],
    ]);
    const atLimit = { ...POLICY, scale: { ...POLICY.scale, memory: { factor: 2, max: MIB } } };
    expect(await told(stage, atLimit)).toEqual([
      ["big", "memory", false, "at_resource_limit"],
      ["other", "prevented", false, "nothing_recovered"],
    ]);
    await stage.operate({ type: "jobs.recover", items: await recoverable(stage) });
    await stage.resume();
    const run = await stage.rest();
    expect(run.order).toEqual(["big", "other", "big", "other", "behind"]);
    expect(run.run.status).toBe("completed");
  });

  it("does not look at failures that are handled, nor at repair steps", async () => {
    const text = `steps:
  big: { exec: "true", resource_requirements: { memory: 512m } }
  instead: { exec: "true" }
  broken: { exec: "true", on_fail: { run: [fix] } }
  fix: { exec: "true" }
transitions: [{ from: big, to: instead, on: failure }]`;
    const stage = await Stage.begin(text, { big: [OOM], broken: ["fail"], fix: [OOM] });
    await stage.rest();
    expect(await told(stage)).toEqual([["broken", "unknown", false, "unknown_failure"]]);
  });

  it.each([
    ["less", 256 * MIB],
    ["as much as it has", 512 * MIB],
  ])("refuses to give a job %s, and then changes nothing", { tags: ["T35"] }, async (_, memoryBytes) => {
    const stage = await Stage.begin(FLOW, SCRIPT);
    const before = (await stage.rest()).log.length;
    const items = [{ job: await stage.id("gone") }, { job: await stage.id("big"), amounts: { memoryBytes } }];
    expect(await stage.operate({ type: "jobs.recover", items })).toBe("NOT_RAISED");
    expect((await stage.view()).log).toHaveLength(before);
  });

  it("refuses a job that has completed, is unknown, or is named twice", async () => {
    const stage = await Stage.begin(FLOW, SCRIPT);
    await stage.rest();
    const [good, gone] = [await stage.id("good"), await stage.id("gone")];
    const refused = (...jobs: number[]) =>
      stage.operate({ type: "jobs.recover", items: jobs.map((job) => ({ job })) });
    expect(await refused(good)).toBe("STEP_COMPLETED");
    expect(await refused(gone + 100)).toBe("STEP_NOT_FOUND");
    expect(await refused(gone, gone)).toBe("USAGE");
  });

  it("survives a crash right after it: nothing is lost, nothing is raised twice", {
    tags: ["T35"],
  }, async () => {
    const stage = await Stage.begin(FLOW.replace("max_recoveries: 0", "max_recoveries: 3"), {
      ...SCRIPT,
      big: [OOM, { output: null, takesMs: 50 }, "ok"],
    });
    await stage.rest();
    await stage.operate({ type: "jobs.recover", items: await recoverable(stage) });
    await stage.resume();
    stage.kill();
    await stage.resume();
    const run = await stage.rest();
    expect(run.events("jobs.retried")).toHaveLength(1);
    expect(run.job("end").status).toBe("completed");
  });
});
