import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Daruma, defineAction, defineWorkflow, InvalidWorkflow, type RunEvent } from "../../src/index.js";

let folder: string;
let daruma: Daruma | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-library-"));
});

afterEach(async () => {
  await daruma?.close();
  daruma = null;
  rmSync(folder, { recursive: true, force: true });
});

async function open(options: Parameters<typeof Daruma.open>[0] = {}): Promise<Daruma> {
  daruma = await Daruma.open({ outputDir: folder, ...options });
  return daruma;
}

const FAILING = defineWorkflow({
  name: "nightly",
  steps: {
    fetch: { type: "command", exec: "echo fetched" },
    check: { type: "command", exec: "echo on stdout; echo the reason >&2; exit 3", depends_on: ["fetch"] },
  },
});

describe("a program reads", () => {
  it("runs, one run, why it failed, and what a step printed", async () => {
    const { list, get, explain, logs } = await readerOf(await open());
    expect((await list()).items.map(({ run_id, status }) => [run_id, status])).toEqual([[1, "failed"]]);
    expect((await list({ status: ["completed"] })).items).toEqual([]);
    const run = await get(1);
    expect(run.jobs.map(({ step, status }) => [step, status])).toEqual([
      ["fetch", "completed"],
      ["check", "failed"],
    ]);
    expect((await explain(1)).text).toContain("EXIT_3");
    expect((await explain(1, { step: "fetch" })).step).toBe("fetch");
    expect(await logs(1, "check")).toMatchObject({ stream: "stderr", text: "the reason\n" });
    expect(await logs(1, run.jobs[1]!.id, { stream: "stdout" })).toMatchObject({ text: "on stdout\n" });
  });

  it("any operation by its name, with its types and its refusals", async () => {
    const program = await open();
    await (await program.start(FAILING)).result;
    const { items } = await program.call("list_jobs", { run_id: 1, status: ["failed"] });
    expectTypeOf(items[0]!.step).toEqualTypeOf<string>();
    expect(items.map(({ step }) => step)).toEqual(["check"]);
    await expect(program.get(9)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(program.logs(1, "nope")).rejects.toMatchObject({ code: "STEP_NOT_FOUND" });
    await expect(program.logs(9, "check")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(program.call("list_runs", { limit: -1 })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  async function readerOf(program: Daruma) {
    await (await program.start(FAILING)).result;
    return {
      list: program.list.bind(program),
      get: program.get.bind(program),
      explain: program.explain.bind(program),
      logs: program.logs.bind(program),
    };
  }
});

describe("a program hears of events", () => {
  it("flat, in order, as `daruma watch --json` prints them", async () => {
    const program = await open();
    const heard: RunEvent[] = [];
    const stop = program.onEvents((events) => heard.push(...events));
    await (await program.start(FAILING)).result;
    stop();
    await (await program.start(FAILING)).result;
    const { items } = await program.call("list_run_events", { run_id: 1 });
    const named = items.map((item) => ({ ...item, workflow: "nightly" }));
    expect(heard.map(({ run_id: _, ...event }) => event)).toEqual(named);
    expect(new Set(heard.map(({ run_id }) => run_id))).toEqual(new Set([1]));
    const failed = heard.find((event) => event.type === "attempt.failed");
    if (failed?.type !== "attempt.failed") throw new Error("no attempt failed");
    expectTypeOf(failed.error.code).toEqualTypeOf<string>();
    expect([failed.error.code, failed.at]).toEqual(["EXIT_3", new Date(failed.at).toISOString()]);
  });
});

describe("a workflow that a program writes", () => {
  it("throws with every problem as data", () => {
    const wrong = () =>
      defineWorkflow({ name: "x", steps: { a: { type: "command", exec: "true", depends_on: ["b"] } } });
    expect(wrong).toThrow(InvalidWorkflow);
    const error = thrownBy(wrong) as InvalidWorkflow;
    expect(error.problems).toEqual([
      expect.objectContaining({ code: error.code, path: "steps.a.depends_on[0]", line: 0, column: 0 }),
    ]);
    expect(error.message).toContain("steps.a.depends_on[0]: ");
  });
});

describe("an action of a program", () => {
  interface User {
    readonly id: number;
    readonly tags: readonly string[];
  }
  const loadUser = defineAction<User, { name: string }>(({ params }) => {
    expectTypeOf(params).toEqualTypeOf<User>();
    return { name: `${typeof params.id} ${params.id} ${params.tags.length}` };
  });
  const workflow = (id: string) =>
    defineWorkflow(
      {
        name: "greet",
        inputs: { id: { type: "number" }, tags: { type: "array" } },
        steps: { load: { kind: "load-user", implementation: { id, tags: "{{ inputs.tags }}" } } },
      },
      { actions: ["load-user"] },
    );
  const inputs = { id: 7, tags: ["a", "b"] };

  it("gets values where a text is one variable and nothing else, and text where it is more", async () => {
    const program = await open({ actions: { "load-user": loadUser } });
    const outputOf = async (id: string) => {
      const { result } = await program.start(workflow(id), { inputs });
      return (await result).jobs[0]!.output;
    };
    expect(await outputOf("{{ inputs.id }}")).toEqual({ name: "number 7 2" });
    expect(await outputOf("no. {{ inputs.id }}")).toEqual({ name: "string no. 7 2" });
    expect(await outputOf("{{ inputs.id | append: '' }}")).toEqual({ name: "string 7 2" });
  });

  it("is failed for good, without being called, by params that its schema refuses", async () => {
    let calls = 0;
    const checked = defineAction({
      params: z.object({ id: z.number(), tags: z.array(z.string()) }),
      run: ({ params }) => {
        calls += 1;
        return params.id;
      },
    });
    const program = await open({ actions: { "load-user": checked } });
    const { result } = await program.start(workflow("seven"), { inputs });
    const [job] = (await result).jobs;
    expect(job).toMatchObject({ status: "failed", attempts: 1, error: { code: "VALIDATION_ERROR" } });
    expect(calls).toBe(0);
    const { result: good } = await program.start(workflow("{{ inputs.id }}"), { inputs });
    expect((await good).jobs[0]).toMatchObject({ status: "completed", output: 7 });
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
