import { describe, expect, it } from "vitest";
import { decide } from "../../src/core/decide/decide.js";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { AttemptResult, Command } from "../../src/core/model/commands.js";
import type { Definition } from "../../src/core/model/definition.js";
import { newRun } from "../../src/core/model/new-run.js";
import type { Run } from "../../src/core/model/run.js";
import { defineWorkflow } from "../../src/definition/builder.js";
import { collectGarbage } from "../support/collect-garbage.js";

const JOBS = 5_000;
const MAX_BYTES_A_JOB = 4_096;

function created(definition: Definition): Run {
  const event = {
    type: "run.created",
    ...{ workflow: definition.name, workflowId: 1, definitionHash: "hash" },
    ...{ inputs: {}, context: {}, folder: "/", file: null, parent: null, managed: false },
    options: { maxLoops: null, retryMax: null, failureRouting: true, only: null },
    failureHandlers: [],
  } as const;
  const run = newRun(1, definition, event, 0);
  evolve(run, event, 0);
  return run;
}

/** To its end, as an engine would run it that commits after every command. */
function runToEnd(run: Run, resultOf: (step: string) => AttemptResult): void {
  const put = (command: Command): void => {
    decide(run, command, 0);
    run.dirty.clear();
  };
  put({ type: "run.start" });
  for (const { id, step } of run.ready) {
    put({ type: "attempt.start", job: id, worker: "local", token: `token-${id}` });
    const result = resultOf(step.definition.id);
    put({ type: "attempt.finish", job: id, attempt: 1, result, durationMs: 0 });
  }
}

async function bytesKept(make: () => Run): Promise<{ readonly run: Run; readonly bytes: number }> {
  await collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const run = make();
  await collectGarbage();
  return { run, bytes: process.memoryUsage().heapUsed - before };
}

const nothing: AttemptResult = { kind: "succeeded", output: { kind: "value", value: null }, items: null };

describe("a settled job", () => {
  it(`keeps less than ${MAX_BYTES_A_JOB} bytes in memory, its step and its part of the graph included`, async () => {
    const { run, bytes } = await bytesKept(() => {
      const steps = Object.fromEntries(
        Array.from({ length: JOBS }, (_, n) => [
          `s${n}`,
          n === 0 ? { type: "noop" as const } : { type: "noop" as const, depends_on: ["s0"] },
        ]),
      );
      const made = created(defineWorkflow({ name: "many", steps }));
      runToEnd(made, () => nothing);
      return made;
    });
    expect([run.status, run.jobs.length]).toEqual(["completed", JOBS]);
    expect(bytes / JOBS).toBeLessThan(MAX_BYTES_A_JOB);
  });

  it(`keeps less than ${MAX_BYTES_A_JOB} bytes in memory as an item of a fan-out, its scope included`, async () => {
    const keys = Array.from({ length: JOBS }, (_, n) => ({ key: String(n) }));
    const listed: AttemptResult = {
      kind: "succeeded",
      output: { kind: "value", value: keys.map(({ key }) => key) },
      items: keys,
    };
    const { run, bytes } = await bytesKept(() => {
      const made = created(
        defineWorkflow({
          name: "items",
          steps: {
            list: { type: "noop", forEach: true },
            item: { type: "noop", depends_on: ["list"] },
          },
        }),
      );
      runToEnd(made, (step) => (step === "list" ? listed : nothing));
      return made;
    });
    expect([run.status, run.jobs.length]).toEqual(["completed", JOBS + 1]);
    expect(bytes / JOBS).toBeLessThan(MAX_BYTES_A_JOB);
  });
});
