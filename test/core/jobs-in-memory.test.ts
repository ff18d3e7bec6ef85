import { describe, expect, it } from "vitest";
import { decide } from "../../src/core/decide/decide.js";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { Command } from "../../src/core/model/commands.js";
import type { Event } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Outcome } from "../../src/core/model/outcome.js";
import type { Job, Run } from "../../src/core/model/run.js";
import { defineWorkflow } from "../../src/file/builder.js";
import { collectGarbage } from "../support/collect-garbage.js";
import { PLAIN_OPTIONS } from "./drive.js";

type Workflow = Parameters<typeof defineWorkflow>[0];

const NOTHING: Outcome = { kind: "succeeded", output: { kind: "value", value: null } };
const BROKEN: Outcome = { kind: "failed", facts: { message: "broken" } };

function start(workflow: Workflow): Run {
  const definition = defineWorkflow(workflow);
  const created: Event = {
    type: "run.created",
    workflow: definition.name,
    workflow_id: 1,
    definition_hash: "hash",
    inputs: {},
    context: {},
    options: PLAIN_OPTIONS,
    folder: "/",
    file: null,
    parent: null,
    managed: false,
    failure_handlers: [],
  };
  const run = newRun(1, definition, created, 0);
  evolve(run, created, 0);
  decide(run, { type: "run.start" }, 0);
  return run;
}

function attempt(run: Run, job: Job, outcome: Outcome): void {
  const commands: Command[] = [
    { type: "attempt.start", job: job.id, worker: "w", token: "" },
    { type: "attempt.finish", job: job.id, attempt: job.attempt + 1, outcome },
  ];
  for (const command of commands) decide(run, command, 0);
}

const JOBS = 5_000;
const MAX_BYTES_A_JOB = 4_096;

/** Of the run that this makes, its definition and graph included. */
async function bytesAJob(make: () => Run): Promise<number> {
  await collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const run = make();
  await collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  expect(run.status).toBe("completed");
  return bytes / run.jobs.length;
}

/** The fields whose value is an object that this job does not share with the other. */
function ownFields(job: Job, other: Job): string[] {
  return Object.entries(job).flatMap(([field, value]) =>
    typeof value === "object" && value !== null && value !== other[field as keyof Job] ? [field] : [],
  );
}

describe("what a run of very many jobs holds in memory", () => {
  it("gives a job that completed at once nothing of its own but its step", () => {
    const run = start({ name: "wide", steps: { a: { type: "noop" }, b: { type: "noop" } } });
    for (const job of run.jobs) attempt(run, job, NOTHING);
    const [a, b] = run.jobs;
    expect(run.status).toBe("completed");
    expect(ownFields(a!, b!)).toEqual(["step"]);
  });

  it("gives a scope without fan-outs or reducers of its own no maps for them", () => {
    const run = start({
      name: "items",
      steps: { list: { type: "noop", forEach: true }, each: { type: "noop", depends_on: ["list"] } },
    });
    const items = [{ key: "0" }, { key: "1" }];
    const output = { kind: "value", value: [1, 2] } as const;
    attempt(run, run.jobs[0]!, { kind: "succeeded", output, items });
    const [first, second] = [...run.scopes.values()].filter((scope) => scope.parent !== null);
    expect(first!.children).toBe(second!.children);
    expect(first!.branchGates).toBe(second!.branchGates);
  });

  it("lets no trouble of one job show in another", () => {
    const troubled = {
      type: "noop",
      on_fail: { retry: { max: 1 }, goto: { step: "first", max: 1 } },
    } as const;
    const after = { ...troubled, depends_on: ["first"] };
    const run = start({ name: "mixed", steps: { first: { type: "noop" }, bad: after, fine: after } });
    const [first, bad, fine] = run.jobs as [Job, Job, Job];
    attempt(run, first, NOTHING);
    for (const _ of ["once", "again"]) attempt(run, bad, BROKEN);
    attempt(run, first, NOTHING);
    expect(bad.gotos).toEqual({ failure: 1, success: 0 });
    expect(first.history).toHaveLength(2);
    expect(fine.gotos).toEqual({ failure: 0, success: 0 });
    expect(fine.history).toEqual([]);
    expect(fine.heal).toEqual({ resets: 0, streak: 0, recent: [], noProgress: null, idled: false });
  });

  it("shares among steps what a file says of none of them", () => {
    const { graph } = start({ name: "wide", steps: { a: { type: "noop" }, b: { type: "noop" } } });
    const [a, b] = graph.steps;
    const unlike = (one: object, other: object) =>
      Object.entries(one).flatMap(([key, value]) =>
        typeof value === "object" && value !== other[key as keyof typeof other] ? [key] : [],
      );
    expect(unlike(a!, b!)).toEqual(["definition"]);
    expect(unlike(a!.definition, b!.definition)).toEqual(["action"]);
  });

  it(`keeps less than ${MAX_BYTES_A_JOB} bytes for each settled job`, async () => {
    const bytes = await bytesAJob(() => {
      const ids = Array.from({ length: JOBS }, (_, n) => `s${n}`);
      const steps = ids.map((id, n) => [id, { type: "noop", depends_on: n === 0 ? [] : ["s0"] }] as const);
      const run = start({ name: "many", steps: Object.fromEntries(steps) });
      for (const job of run.ready) attempt(run, job, NOTHING);
      return run;
    });
    expect(bytes).toBeLessThan(MAX_BYTES_A_JOB);
  });

  it(`keeps less than ${MAX_BYTES_A_JOB} bytes for each item of a fan-out`, async () => {
    const bytes = await bytesAJob(() => {
      const items = Array.from({ length: JOBS }, (_, n) => ({ key: String(n) }));
      const output = { kind: "value", value: items.map(({ key }) => key) } as const;
      const run = start({
        name: "items",
        steps: { list: { type: "noop", forEach: true }, item: { type: "noop", depends_on: ["list"] } },
      });
      for (const job of run.ready)
        attempt(run, job, job.step.index === 0 ? { kind: "succeeded", output, items } : NOTHING);
      return run;
    });
    expect(bytes).toBeLessThan(MAX_BYTES_A_JOB);
  });
});
