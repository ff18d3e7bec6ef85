import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decide } from "../../core/decide/decide.js";
import { evolve } from "../../core/evolve/evolve.js";
import type { Event, Output } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import type { Run } from "../../core/model/run.js";
import { defineWorkflow } from "../../file/builder.js";
import { Daruma } from "../../host/daruma.js";
import { assignmentFor } from "./assignment.js";
import { LaterOutputs } from "./variables.js";

/** A run of `length` functions, each after the one before, whose outputs were all too large for the log. */
function chainAtItsEnd(length: number): Run {
  const ids = Array.from({ length }, (_, place) => `s${place}`);
  const steps = Object.fromEntries(
    ids.map((id, place) => [
      id,
      { kind: "look", implementation: {}, depends_on: place === 0 ? [] : [ids[place - 1]!] },
    ]),
  );
  const definition = defineWorkflow({ name: "chain", steps });
  const created: Event = {
    type: "run.created",
    workflow: definition.name,
    workflow_id: 1,
    definition_hash: "hash",
    inputs: {},
    context: {},
    options: { max_loops: null, retry_max: null, failure_routing: true, only: null },
    folder: "/",
    file: null,
    parent: null,
    managed: false,
    failure_handlers: [],
  };
  const run = newRun(1, definition, created, 0);
  evolve(run, created, 0);
  decide(run, { type: "run.start" }, 0);
  for (const { id: job, step } of run.jobs) {
    decide(run, { type: "attempt.start", job, worker: "w", token: "" }, 0);
    if (step.index === length - 1) break;
    const output: Output = { kind: "artifact", path: step.definition.id, bytes: 1, sha256: "", preview: "" };
    const outcome = { kind: "succeeded", output } as const;
    decide(run, { type: "attempt.finish", job, attempt: 1, outcome }, 0);
  }
  return run;
}

describe("the outputs that a function may read", () => {
  it.each([3, 300])("are not looked at before it reads them, after a chain of %i steps", (length) => {
    const run = chainAtItsEnd(length);
    const read: string[] = [];
    const planned = assignmentFor(run, run.jobs.at(-1)!, { now: 0 }, (path) => {
      read.push(path);
      return `output of ${path}`;
    });
    expect(read).toEqual([]);
    const { variables } = planned.assignment;
    const outputs = variables.outputs as { readonly [step: string]: unknown };
    expect(Object.keys(outputs)).toHaveLength(length - 1);
    expect(read).toEqual([]);
    expect([outputs.s1, outputs.s1]).toEqual(["output of s1", "output of s1"]);
    expect(read).toEqual(["s1"]);
    expect(structuredClone(outputs)).toMatchObject({ s0: "output of s0", s1: "output of s1" });
    expect(read).toHaveLength(length - 1);
  });

  it("fail only the step that reads the one that is gone", () => {
    const run = chainAtItsEnd(3);
    const planned = assignmentFor(run, run.jobs.at(-1)!, { now: 0 }, (path) => {
      if (path === "s0") throw new Error("no such file");
      return "here";
    });
    const outputs = planned.assignment.variables.outputs as { readonly [step: string]: unknown };
    expect(outputs.s1).toBe("here");
    expect(() => outputs.s0).toThrow(
      expect.objectContaining({
        code: "ARTIFACT_MISSING",
        message: "what the step needs cannot be read: no such file",
      }),
    );
  });

  it("are plain data to whoever copies or sends them", () => {
    const variables = () => new LaterOutputs(1, 1, () => ({ a: 1 })).amongst({ attempt: 1, outputs: {} });
    const expected = { attempt: 1, outputs: { a: 1 } };
    expect(structuredClone(variables())).toEqual(expected);
    expect(JSON.parse(JSON.stringify(variables()))).toEqual(expected);
    expect({ ...variables() }).toEqual(expected);
    expect(Object.keys(variables())).toEqual(["attempt", "outputs"]);
    const read = variables();
    expect(read.outputs).toBe(read.outputs);
  });

  it("fail the step that reads them where one of them is gone", () => {
    const later = new LaterOutputs(1, 1, () => {
      throw new Error("no such file");
    });
    later.keep();
    expect(() => later.amongst({}).outputs).toThrow(
      expect.objectContaining({
        code: "ARTIFACT_MISSING",
        message: "what the step needs cannot be read: no such file",
      }),
    );
  });

  it("are those of the moment when the attempt began, though more has completed since", async () => {
    const outputDir = mkdtempSync(join(tmpdir(), "daruma-later-outputs-"));
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let tell: () => void = () => {};
    const bothDone = new Promise<void>((resolve) => {
      tell = resolve;
    });
    let seen: unknown = null;
    const actions = {
      quick: () => "quick",
      slow: async () => {
        await released;
        return "slow";
      },
      after: () => {
        tell();
        return null;
      },
      look: async ({ variables }: { variables: { readonly [name: string]: unknown } }) => {
        release();
        await bothDone;
        seen = variables.outputs;
        return null;
      },
    };
    const daruma = await Daruma.open({ outputDir, store: "memory", actions });
    const steps = {
      a: { kind: "quick", implementation: {} },
      b: { kind: "slow", implementation: {} },
      afterB: { kind: "after", implementation: {}, depends_on: ["b"] },
      look: { kind: "look", implementation: {}, depends_on: ["a|b"] },
    };
    const { result } = await daruma.start(defineWorkflow({ name: "any", steps }));
    expect((await result).status).toBe("completed");
    await daruma.close();
    rmSync(outputDir, { recursive: true });
    expect(seen).toEqual({ a: "quick" });
  });
});
