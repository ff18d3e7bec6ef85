import { describe, expect, it } from "vitest";
import type { Assignment } from "../../src/run/worker.js";
import { trial } from "../support/harness.js";
import type { Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const MIB = 1024 ** 2;
const MINUTE = 60_000;
const OOM = { facts: { message: "too much", code: "OOM", exitCode: 137 } } as const;
const WALLTIME = { facts: { message: "too long", code: "WALLTIME", exitCode: 152 } } as const;

const flow = (rules: string, resources = "{ num_cpus: 2, memory: 512m, runtime: 30m }", top = "") => `${top}
failure_handlers: [{ name: h, rules: [${rules}] }]
steps:
  job: { exec: "true", failure_handler: h${resources === "" ? "" : `, resource_requirements: ${resources}`} }
  after: { exec: "true", depends_on: job }`;

/** Outcomes attempt by attempt, and what each attempt was limited to. */
function limited(outcomes: Script[string]): { script: Script; limits: Assignment["resources"][] } {
  const limits: Assignment["resources"][] = [];
  return {
    limits,
    script: {
      job: (assignment, nth) => {
        limits.push(assignment.resources);
        if (typeof outcomes === "function") return outcomes(assignment, nth);
        return outcomes![Math.min(nth, outcomes!.length) - 1]!;
      },
    },
  };
}

describe("scale", () => {
  it("after OOM the next attempt has more memory, the one after that more again; the rest stays", {
    tags: ["T35"],
  }, async () => {
    const { script, limits } = limited([OOM, OOM, "ok"]);
    const run = await trial(flow("{ exit_codes: [137], scale: { memory: 1.5, runtime: 1.4 } }"), script);
    expect(run.order).toEqual(["job", "job", "job", "after"]);
    expect(limits).toEqual([
      { cpus: 2, memoryBytes: 512 * MIB, runtimeMs: 30 * MINUTE },
      { cpus: 2, memoryBytes: 768 * MIB, runtimeMs: 30 * MINUTE },
      { cpus: 2, memoryBytes: 1152 * MIB, runtimeMs: 30 * MINUTE },
    ]);
    expect(run.events("rule.reserved").map(({ next, raised }) => [next, raised])).toEqual([
      [2, { resource: "memory", from: 512 * MIB, to: 768 * MIB }],
      [3, { resource: "memory", from: 768 * MIB, to: 1152 * MIB }],
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("begins at what the failed attempt has used, where that is more than it asked for", {
    tags: ["T35"],
  }, async () => {
    const used = { peak_memory_bytes: 900 * MIB, cpu_ms: 1 };
    const { script, limits } = limited([{ ...OOM, used }, "ok"]);
    const run = await trial(flow("{ exit_codes: [137], scale: { memory: 1.5 } }"), script);
    expect(run.order).toEqual(["job", "job", "after"]);
    expect(limits.map((each) => each?.memoryBytes)).toEqual([512 * MIB, 1350 * MIB]);
    expect(run.events("rule.reserved").map(({ raised }) => raised)).toEqual([
      { resource: "memory", from: 512 * MIB, to: 1350 * MIB },
    ]);
  });

  it("after WALLTIME it has more time, rounded up to a minute", { tags: ["T35"] }, async () => {
    const { script, limits } = limited([WALLTIME, WALLTIME, "ok"]);
    const run = await trial(
      flow("{ exit_codes: [137, 152], scale: { memory: 1.5, runtime: 1.4 } }", "{ runtime: 90s }"),
      script,
    );
    expect(run.order).toEqual(["job", "job", "job", "after"]);
    expect(limits.map((each) => each?.runtimeMs)).toEqual([90_000, 3 * MINUTE, 5 * MINUTE]);
    expect(run.events("rule.reserved").map(({ raised }) => raised?.resource)).toEqual(["runtime", "runtime"]);
  });

  it("the budget of the rule is not larger for it", { tags: ["T35"] }, async () => {
    const run = await trial(flow("{ exit_codes: [137], max_retries: 2, scale: { memory: 2 } }"), {
      job: [OOM],
    });
    expect(run.order).toEqual(["job", "job"]);
    expect(run.events("ladder.climbed").map(({ rung, recovery }) => [rung, recovery])).toEqual([
      ["rule", "Retried"],
      ["fail", "MaxRetriesExceeded"],
    ]);
  });

  it("goes up to the limit, and there the rule passes and the failure climbs", {
    tags: ["T35"],
  }, async () => {
    const { script, limits } = limited([OOM]);
    const run = await trial(
      flow("{ exit_codes: [137], max_retries: 9, scale: { memory: 1.5, max_memory: 1g } }"),
      script,
    );
    expect(limits.map((each) => each?.memoryBytes)).toEqual([512 * MIB, 768 * MIB, 1024 * MIB]);
    const [last] = run.events("ladder.climbed").slice(-1);
    expect(last).toMatchObject({ rung: "fail", recovery: "LimitReached" });
    expect(last!.considered.find(({ rung }) => rung === "rule")).toEqual({
      rung: "rule",
      applied: false,
      kind: "at_resource_limit",
      reason: "h: memory is at its limit (1 GiB)",
    });
    expect([run.run.status, run.job("job").status, run.job("after").status]).toEqual([
      "failed",
      "failed",
      "canceled",
    ]);
  });

  it("at the limit a retry that names the code still applies: only the rule has passed", async () => {
    const text = `failure_handlers: [{ name: h, rules: [{ exit_codes: [137], scale: { memory: 2, max_memory: 512m } }] }]
steps:
  job: { exec: "true", failure_handler: h, resource_requirements: { memory: 512m }, on_fail: { retry: { max: 1, on: [OOM] } } }`;
    const run = await trial(text, { job: [OOM, "ok"] });
    expect(run.order).toEqual(["job", "job"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["retry"]);
  });

  it.each([
    ["nothing", ""],
    ["only time", "{ runtime: 1m }"],
  ])(
    "a step that asks for %s has no memory to raise: the rule passes",
    { tags: ["T35"] },
    async (_, asked) => {
      const run = await trial(flow("{ exit_codes: [137], scale: { memory: 2 } }", asked), { job: [OOM] });
      expect(run.order).toEqual(["job"]);
      const [climb] = run.events("ladder.climbed");
      expect(climb!.considered.find(({ rung }) => rung === "rule")).toMatchObject({
        applied: false,
        kind: "nothing_to_raise",
        reason: "h: the step has no `memory` in resource_requirements that could be raised",
      });
      expect(run.run.status).toBe("failed");
    },
  );

  it.each([
    ["another code", { exit: 10 }],
    ["a kill that was not for memory", { facts: { message: "", signal: "SIGKILL" } }],
    ["a resource without a factor", WALLTIME],
  ] as const)("%s is an ordinary failure for the rule", async (_, outcome) => {
    const { script, limits } = limited([outcome, "ok"]);
    const run = await trial(flow("{ match_all_exit_codes: true, scale: { memory: 2 } }"), script);
    expect(run.order).toEqual(["job", "job", "after"]);
    expect(limits[1]).toEqual(limits[0]);
    expect(run.events("rule.reserved")[0]).not.toHaveProperty("raised");
  });

  it("what was raised is kept through a goto, and by an operator's retry", { tags: ["T35"] }, async () => {
    const text = `failure_handlers: [{ name: h, rules: [{ exit_codes: [137], scale: { memory: 2 } }] }]
steps:
  setup: { exec: "true" }
  job: { exec: "true", depends_on: setup, failure_handler: h, resource_requirements: { memory: 1g }, on_fail: { goto: { step: setup, max: 1 } } }`;
    const { script, limits } = limited([OOM, { exit: 1 }, { exit: 1 }, "ok"]);
    const stage = await Stage.begin(text, script);
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("job") })).toBeNull();
    await stage.resume();
    const run = await stage.rest();
    expect(run.order).toEqual(["setup", "job", "job", "setup", "job", "job"]);
    expect(limits.map((each) => each!.memoryBytes! / MIB)).toEqual([1024, 2048, 2048, 2048]);
    expect(run.run.status).toBe("completed");
  });

  it("goes up to the limit of the cluster that the job runs on, and passes there, naming the cluster", {
    tags: ["T35"],
  }, async () => {
    const { script, limits } = limited([{ ...OOM, takesMs: 1000 }, OOM, OOM]);
    const text = flow("{ exit_codes: [137], max_retries: 9, scale: { memory: 1.5, max_memory: 4g } }");
    const stage = await Stage.begin(
      text.replace('job: { exec: "true"', 'job: { exec: "true", runs_on: [hpc]'),
      script,
    );
    const asked: unknown[] = [];
    stage.worker.mostOf = (...of) => {
      asked.push(of);
      return { amount: 1000 * MIB, cluster: "hpc" };
    };
    const run = await stage.rest();
    expect(limits.map((each) => each!.memoryBytes! / MIB)).toEqual([512, 768, 1000]);
    expect(asked).toEqual(Array(3).fill([["hpc"], "memory"]));
    const last = run.events("ladder.climbed").at(-1)!;
    expect(last.considered.find(({ rung }) => rung === "rule")).toMatchObject({
      kind: "at_resource_limit",
      reason: "h: memory is at its limit (1000 MiB, cluster hpc)",
    });
    expect(run.events("attempt.failed").at(-1)!.error.resource_limit).toEqual({
      amount: 1000 * MIB,
      cluster: "hpc",
    });
  });

  it("a crash between the reservation and the attempt neither loses nor doubles it", {
    tags: ["T35"],
  }, async () => {
    const { script, limits } = limited([OOM, { output: null, takesMs: 1000 }, "ok"]);
    const stage = await Stage.begin(
      flow("{ exit_codes: [137], recovery_script: ./mend, scale: { memory: 1.5 } }"),
      { ...script, "job script": [{ output: null, takesMs: 500 }] },
    );
    // The script that the reservation is for is at work.
    expect((await stage.view()).events("rule.reserved")).toHaveLength(1);
    stage.kill();
    await stage.resume();
    await stage.turn(1);
    // The attempt with more memory is at work.
    stage.kill();
    await stage.resume();
    const run = await stage.rest();
    expect(run.order).toEqual(["job", "job script", "job script", "job", "job", "after"]);
    expect(limits.map((each) => each!.memoryBytes! / MIB)).toEqual([512, 768, 768]);
    expect(run.events("rule.reserved")).toHaveLength(1);
    expect(run.run.status).toBe("completed");
  });

  it("each item of a fan-out has its own", async () => {
    const { script, limits } = limited((assignment, nth) => {
      const { index } = assignment.variables.foreach as { index: number };
      return index === 1 && nth === 1 ? OOM : "ok";
    });
    const text = `failure_handlers: [{ name: h, rules: [{ exit_codes: [137], scale: { memory: 2 } }] }]
steps:
  list: { exec: "true", forEach: true }
  job: { exec: "test {{ foreach.index }}", depends_on: list, failure_handler: h, resource_requirements: { memory: 1g } }`;
    const run = await trial(text, { ...script, list: [{ output: ["a", "b"] }] });
    expect(run.order).toEqual(["list", "job[0]", "job[1]", "job[1]"]);
    expect(limits.map((each) => each!.memoryBytes! / MIB)).toEqual([1024, 1024, 2048]);
  });

  it("the order of events is: failed, climbed, reserved with what is raised, ready, started", async () => {
    const run = await trial(flow("{ exit_codes: [137], scale: { memory: 2 } }"), { job: [OOM, "ok"] });
    expect(trace(run)).toMatchInlineSnapshot(`
      [
        "start job",
        "fail job OOM",
        "climb job rule",
        "reserve job attempt 2 by h rule 1",
        "start job",
        "ok job",
        "start after",
        "ok after",
        "run completed",
      ]
    `);
  });
});
