import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  Daruma,
  type DarumaOptions,
  defineWorkflow,
  type Json,
  type OperatorRequest,
} from "../../src/index.js";

let outputDir = "";
let daruma: Daruma;
let returned: unknown;
const actions = { give: () => returned as Json } satisfies DarumaOptions["actions"];

beforeEach(async () => {
  outputDir = mkdtempSync(join(tmpdir(), "daruma-plain-"));
  daruma = await Daruma.open({ outputDir, actions });
});
afterEach(async () => {
  await daruma.close();
  rmSync(outputDir, { recursive: true, force: true });
});

const taking = defineWorkflow({
  name: "taking",
  inputs: { c: { type: "any" }, more: { type: "any", default: "none" } },
  steps: { a: { type: "noop" } },
});
const giving = defineWorkflow(
  {
    name: "giving",
    steps: {
      give: { kind: "give", implementation: {}, on_fail: { retry: { max: 2 } } },
      after: { type: "script", content: "return outputs.give", depends_on: ["give"] },
    },
  },
  { actions: ["give"] },
);

const start = (options: object): Promise<unknown> => daruma.start(taking, options);

describe("what a program gives to a run", () => {
  it.each([
    [{ inputs: { c: Number.NaN } }, "inputs.c is NaN, which JSON cannot hold"],
    [{ inputs: { c: [{ at: new Date(0) }] } }, "inputs.c[0].at is an object of the class Date"],
    [{ inputs: { c: 1 }, context: { pr: { id: 7n } } }, "context.pr.id is a bigint"],
    [{ inputs: { c: () => 1 } }, "inputs.c is a function"],
  ])(
    "%#: is refused with its place where JSON would lose it, and no run is made",
    async (options, message) => {
      await expect(start(options)).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining(message) as string,
      });
      expect(await daruma.store.listRuns({})).toEqual([]);
    },
  );

  it("may leave an input undefined, which is as good as not given", async () => {
    const { runId, result } = await daruma.start(taking, { inputs: { c: 1, more: undefined as never } });
    await result;
    expect((await daruma.store.readRun(runId))!.inputs).toEqual({ c: 1, more: "none" });
    await expect(start({ inputs: { c: undefined } })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: "the input `c` is missing",
    });
  });

  it("stays the program's own: it is neither frozen nor read again", async () => {
    const given = { list: [1] };
    const { runId, result } = await daruma.start(taking, { inputs: { c: given } });
    given.list.push(2);
    await result;
    expect((await daruma.store.readRun(runId))!.inputs).toMatchObject({ c: { list: [1] } });
  });

  it("is refused in an operator's command too", async () => {
    const { runId, result } = await daruma.start(taking, { inputs: { c: 1 } });
    await result;
    const command = { type: "run.cancel", reason: Symbol("s"), key: null } as never;
    await expect(daruma.operate(runId, command)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("command.reason is a symbol") as string,
    });
  });
});

describe("an operator's command of a program", () => {
  it("needs no key and no reason, and an undefined field is as good as left out", async () => {
    const { runId, result } = await daruma.start(taking, {
      inputs: { c: 1 },
      key: undefined,
      labels: undefined,
    });
    await result;
    const [job] = (await daruma.get(runId)).jobs;
    const again = { type: "step.resume_from", job: job!.id, hint: undefined } as const;
    expect(await daruma.operate(runId, again)).toMatchObject({ done: "step.resume_from" });
    const [logged] = await daruma.store.readEvents(runId, { types: ["operator.goto"] });
    expect(logged!.event).toMatchObject({ reason: "by hand" });
    await (await daruma.resume(runId)).result;
  });

  it.each([
    [{ type: "step.retrry", job: 1 }, "unknown command `step.retrry`, did you mean `step.retry`?"],
    [{ type: "run.reset", reasn: "x" }, "unknown field of run.reset `reasn`, did you mean `reason`?"],
    [{ type: "step.retry" }, "the command step.retry lacks job, or has something else there"],
    [{ type: "step.retry", job: true }, "the command step.retry lacks job, or has something else there"],
    [undefined, "command is undefined, which JSON cannot hold"],
  ])("is refused where it is none: %j", async (command, message) => {
    const { runId, result } = await daruma.start(taking, { inputs: { c: 1 } });
    await result;
    await expect(daruma.operate(runId, command as never)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message,
    });
  });

  it("is typed, so that the compiler finds what is wrong", () => {
    const typed = (_: OperatorRequest): void => {};
    // @ts-expect-error: no such command
    typed({ type: "step.retrry", job: 1 });
    // @ts-expect-error: a job is an id or a name
    typed({ type: "step.retry", job: true });
    // @ts-expect-error: a hold is decided by a known action
    typed({ type: "holds.resolve", items: [{ job: "a", action: "go" }] });
    typed({ type: "step.retry", job: "a", also: ["b", 7] });
    typed({ type: "holds.resolve", items: [{ job: "a", action: "skip" }] });
    typed({ type: "step.retry", job: 1, key: undefined, maxAttempts: undefined });
  });
});

it("takes undefined for what may be left out, in a workflow and in every option", async () => {
  const definition = defineWorkflow({
    name: "undefined",
    labels: undefined,
    steps: { a: { type: "noop", depends_on: undefined, on_fail: { retry: undefined, goto: undefined } } },
  });
  expect(definition).toEqual(defineWorkflow({ name: "undefined", steps: { a: { type: "noop" } } }));
  const given = { store: "memory", actions: undefined, maxParallel: undefined, leaseMs: undefined } as const;
  const other = await Daruma.open({ ...given, outputDir: daruma.outputDir });
  const { result } = await other.start(definition, { inputs: undefined, strict: undefined, fork: undefined });
  expect(await result).toMatchObject({ status: "completed", strict: false });
  await other.close();
});

describe("what a function returns", () => {
  it.each([
    [{ rows: [1, Number.POSITIVE_INFINITY] }, "output.rows[1] is Infinity, which JSON cannot hold"],
    [new Map([["a", 1]]), "output is an object of the class Map, which JSON cannot hold"],
  ])("%#: fails its step where JSON would lose it, and is not asked for again", async (value, message) => {
    returned = value;
    const { jobs } = await (await daruma.start(giving)).result;
    expect(jobs[0]).toMatchObject({
      status: "failed",
      attempts: 1,
      error: { code: "OUTPUT_INVALID", message },
    });
  });

  it("is kept as it is at that moment; nothing is null, undefined properties are left out", async () => {
    returned = { a: 1, b: undefined };
    const report = await (await daruma.start(giving)).result;
    expect(report.jobs.map(({ output }) => output)).toStrictEqual([{ a: 1 }, { a: 1 }]);
    returned = undefined;
    expect((await (await daruma.start(giving)).result).jobs[0]!.output).toBeNull();
  });
});
