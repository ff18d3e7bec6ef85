import { describe, expect, it } from "vitest";
import { replayedTrial } from "../../test/support/replayed-trial.js";
import type { Script } from "../../test/support/scripted-worker.js";
import type { LoggedEvent } from "../core/model/events.js";
import type { Run } from "../core/model/run.js";
import { operationOf } from "../operations/operations.js";
import { type Advice, adviceLines, type Call, commandOf } from "./advice.js";
import { adviseOn, type Standing } from "./next-steps.js";

const NOBODY: Standing = {
  interrupted: false,
  heldBelow: [],
  owner: null,
  childRuns: new Map(),
  asked: [],
  top: 1,
  below: [],
};

/** Of a run of a file, as it stands at the end of its log, or just after an event. */
async function runOf(
  text: string,
  script: Script = {},
  isEnd?: (logged: LoggedEvent) => boolean,
): Promise<Run> {
  const { runAt } = await replayedTrial(text, script);
  const run = isEnd === undefined ? runAt() : runAt(isEnd);
  return { ...run, file: "/srv/my flows/ci.yaml" };
}

const typed = (advised: readonly Advice[]): (string | null)[] =>
  advised.map((each) => commandOf(each, (command) => `daruma ${command}`));
const kinds = (advised: readonly Advice[]): string[] => advised.map(({ kind }) => kind);

/** What is advised as calls; each must be an operation that takes its input. */
function called(advised: readonly Advice[]): (readonly Call[])[] {
  for (const { operation, input } of advised.flatMap(({ calls }) => calls))
    operationOf(operation).input.parse(input);
  return advised.map(({ calls }) => calls);
}

describe("advice on one of several held steps", () => {
  const FLOW =
    "unhandled: hold\nsteps: { a: { exec: x }, b: { exec: x }, big: { exec: x, resource_requirements: { memory: 100m } } }";
  const oom = { facts: { message: "too much", code: "OOM", exitCode: 137 } } as const;

  it("decides that one alone", async () => {
    const run = await runOf(FLOW, { a: ["fail"], b: ["fail"], big: [oom] });
    const about = (step: string) =>
      typed(adviseOn(run, { ...NOBODY, asked: run.jobs.filter((job) => job.step.definition.id === step) }));
    const decided = (names: string) =>
      ["retry", "skip", "fail"].map((action) =>
        expect.stringContaining(`daruma resolve 1 ${names} --${action}`),
      );
    expect(about("a")).toEqual(decided("a"));
    expect(about("big")).toEqual([expect.stringContaining("daruma recover 1"), ...decided("big")]);
    expect(typed(adviseOn(run, NOBODY))).toEqual([
      expect.stringContaining("daruma recover 1"),
      ...decided("--all"),
    ]);
  });
});

describe("advice to whom asks over REST or MCP", () => {
  const control = (action: string, more: object = {}): Call => ({
    operation: "control_run",
    input: { run_id: 1, action, ...more },
  });

  it("is what is typed, as operations in the same order", async () => {
    const run = await runOf("steps: { a: { type: command, exec: x } }", { a: ["fail"] });
    expect(called(adviseOn(run, NOBODY))).toEqual([
      [],
      [{ operation: "get_job_logs", input: { job_id: run.jobs[0]!.id } }],
      [control("retry_step", { step_id: "a" }), control("resume")],
      [{ operation: "fork_run", input: { run_id: 1, step: "a" } }],
    ]);
    const unknown: Run = { ...run, file: null };
    expect(called(adviseOn(unknown, NOBODY)).at(-1)).toEqual([
      { operation: "fork_run", input: { run_id: 1, step: "a" } },
    ]);
  });

  it("offers more memory or time first, where a recovery would give it", async () => {
    const step = (memory: string) => `{ type: command, exec: x${memory} }`;
    const flow = (memory: string, more = "") => `${more}\nsteps: { a: ${step(memory)}, b: ${step("")} }`;
    const asked = ", resource_requirements: { memory: 64m }";
    const script: Script = { a: [{ facts: { message: "too much", code: "OOM" } }], b: ["fail"] };
    const failed = await runOf(flow(asked), script);
    const recover: Call = { operation: "recover_run", input: { run_id: 1 } };
    expect(typed(adviseOn(failed, NOBODY))).toContain("daruma recover 1");
    const [offered] = adviseOn(failed, NOBODY).filter(({ kind }) => kind === "recover");
    expect([offered!.text, offered!.calls]).toEqual([
      "Run a again with more memory:",
      [recover, control("resume")],
    ]);
    const held = adviseOn(await runOf(flow(asked, "unhandled: hold"), script), NOBODY);
    expect(kinds(held)).toEqual(["recover", "resolve", "resolve", "resolve"]);
    expect(called(held)[0]).toEqual([recover, control("resume")]);
    expect(kinds(adviseOn(await runOf(flow(""), script), NOBODY))).not.toContain("recover");
  });

  it("decides holds by their ids, all of them in one call", async () => {
    const text = "unhandled: hold\nsteps: { a: { type: command, exec: x }, b: { type: command, exec: x } }";
    const run: Run = { ...(await runOf(text, { a: ["fail"], b: ["fail"] })), managed: true };
    const ids = [...run.held].map(({ id }) => id);
    const decide = (action: string): Call => ({
      operation: "resolve_holds",
      input: { classifications: ids.map((job_id) => ({ job_id, action })) },
    });
    expect(called(adviseOn(run, NOBODY))).toEqual([[decide("retry")], [decide("skip")], [decide("fail")]]);
  });
});

describe("advice on a failed run", () => {
  const FAILING = "steps: { a: { type: command, exec: x }, b: { type: noop, depends_on: [a] } }";

  it("names both ways: again in this run, and a new run with a mended file", async () => {
    const run = await runOf(FAILING, { a: ["fail"] });
    const advised = adviseOn(run, NOBODY);
    expect(kinds(advised)).toEqual(["mend", "logs", "retry", "fork"]);
    expect(typed(advised)).toEqual([
      null,
      "daruma logs 1 a",
      "daruma retry 1 a",
      "daruma fork 1 --from a --file '/srv/my flows/ci.yaml'",
    ]);
  });

  it("has nothing to resume where a server goes on with the run", async () => {
    const run: Run = { ...(await runOf(FAILING, { a: ["fail"] })), managed: true };
    expect(typed(adviseOn(run, NOBODY))[2]).toBe("daruma retry 1 a");
  });

  it.each(["TEMPLATE_ERROR", "SCRIPT_ERROR", "REQUEST_INVALID"])(
    "%s: the definition is at fault and this run keeps it, so that only a fork can help",
    async (code) => {
      const run = await runOf(FAILING, { a: [{ facts: { message: "wrong", code } }] });
      expect(kinds(adviseOn(run, NOBODY))).toEqual(["mend", "fork"]);
    },
  );

  it("says how to fork where no file is known, without a command that could not be typed", async () => {
    const run: Run = {
      ...(await runOf(FAILING, { a: [{ facts: { message: "wrong", code: "TEMPLATE_ERROR" } }] })),
      file: null,
    };
    const fork = adviseOn(run, NOBODY).at(-1)!;
    expect(fork).toMatchObject({ kind: "fork", argv: [] });
    expect(fork.text).toContain("daruma fork 1 --from a --file FILE");
  });

  it("is to reset all where a retry of one would leave others canceled", async () => {
    const file = `failure_policy: fail_fast\n${FAILING.replace("b:", "c: { type: noop, depends_on: [d] }, d: { type: noop }, b:")}`;
    const run = await runOf(file, { a: ["fail"], d: [{ output: 1, takesMs: 500 }] });
    expect(typed(adviseOn(run, NOBODY))[2]).toBe("daruma reset 1");
  });

  it("speaks of the job that was asked about", async () => {
    const file = "steps: { a: { type: command, exec: x }, b: { type: command, exec: x } }";
    const run = await runOf(file, { a: ["fail"], b: ["fail"] });
    const asked = run.jobs.filter(({ step }) => step.definition.id === "b");
    expect(typed(adviseOn(run, { ...NOBODY, asked }))).toContain("daruma logs 1 b");
    expect(typed(adviseOn(run, NOBODY))).toContain("daruma logs 1 a");
  });

  it("shows the repair that failed, and the child run", async () => {
    const file =
      "steps: { a: { type: workflow, file: x.yaml, on_fail: { run: [fix] } }, fix: { type: command, exec: x } }";
    const run = await runOf(file, { a: ["fail"], fix: ["fail"] });
    const childRuns = new Map([[run.jobs[0]!.id, 7]]);
    expect(typed(adviseOn(run, { ...NOBODY, childRuns })).slice(1, 3)).toEqual([
      "daruma explain 7",
      "daruma logs 1 fix",
    ]);
  });

  it("keeps to one step where only that was asked for: a fork would run the others", async () => {
    const run = await runOf(FAILING, { a: ["fail"] });
    const only: Run = { ...run, options: { ...run.options, only: "a" } };
    expect(typed(adviseOn(only, NOBODY)).at(-1)).toBe("daruma run '/srv/my flows/ci.yaml' --only a");
  });

  it("leaves a child run to its parent", async () => {
    const run: Run = {
      ...(await runOf(FAILING, { a: ["fail"] })),
      parent: { run_id: 4, job_id: 40_000_001 },
    };
    expect(typed(adviseOn(run, NOBODY))).toEqual([null, "daruma logs 1 a", "daruma explain 4"]);
  });
});

describe("advice on a run that waits", () => {
  const HELD = "unhandled: hold\nsteps: { a: { type: command, exec: x }, b: { type: command, exec: x } }";

  it("decides holds by name, or all of them", async () => {
    expect(typed(adviseOn(await runOf(HELD, { a: ["fail"] }), NOBODY))).toEqual([
      "daruma resolve 1 a --retry",
      "daruma resolve 1 a --skip",
      "daruma resolve 1 a --fail",
    ]);
    expect(typed(adviseOn(await runOf(HELD, { a: ["fail"], b: ["fail"] }), NOBODY))[0]).toBe(
      "daruma resolve 1 --all --retry",
    );
  });

  it("decides holds while a question keeps the run open, too", async () => {
    const file =
      "unhandled: hold\nsteps: { ask: { type: human, prompt: 'Go?', timeout_ms: 5000 }, a: { type: command, exec: x } }";
    const run = await runOf(file, { a: ["fail"] }, ({ event }) => event.type === "job.held");
    expect(typed(adviseOn(run, { ...NOBODY, owner: { host: "build-1", pid: 42 } }))).toEqual([
      "daruma answer 1 ask --choose approve",
      "daruma answer 1 ask --choose reject",
      "daruma resolve 1 a --retry",
      "daruma resolve 1 a --skip",
      "daruma resolve 1 a --fail",
      null,
    ]);
  });

  it("does not advise to skip a step that was to handle a failure: the failure would stay unhandled", async () => {
    const file = `unhandled: hold
steps: { a: { type: command, exec: x }, rescue: { type: command, exec: x } }
transitions: [{ from: a, to: rescue, on: failure }]`;
    expect(typed(adviseOn(await runOf(file, { a: ["fail"], rescue: ["fail"] }), NOBODY))).toEqual([
      "daruma resolve 1 rescue --retry",
      "daruma resolve 1 rescue --fail",
    ]);
  });

  it("runs only those holds again that this run's definition lets complete", async () => {
    const run = await runOf(HELD, {
      a: [{ facts: { message: "wrong", code: "TEMPLATE_ERROR" } }],
      b: ["fail"],
    });
    expect(typed(adviseOn(run, NOBODY)).slice(0, 2)).toEqual([
      "daruma resolve 1 b --retry",
      "daruma fork 1 --from a --file '/srv/my flows/ci.yaml'",
    ]);
  });

  it("has one command for each answer to a question", async () => {
    const file =
      "steps: { ask: { type: human, prompt: 'Go?', choices: [approve, not yet], timeout_ms: 5000 } }";
    const run = await runOf(file, {}, ({ event }) => event.type === "human.asked");
    expect(typed(adviseOn(run, { ...NOBODY, interrupted: true }))).toEqual([
      "daruma answer 1 ask --choose approve",
      "daruma answer 1 ask --choose 'not yet'",
      "daruma resume 1",
    ]);
  });

  it("says who runs it, or that nobody does", async () => {
    const run = await runOf("steps: { a: { type: noop } }", {}, ({ event }) => event.type === "run.started");
    const owner = { host: "build-1", pid: 42 };
    expect(adviceLines(adviseOn(run, { ...NOBODY, owner }), String)).toEqual([
      "There is nothing else to do: process 42 on build-1 goes on with it.",
    ]);
    const child: Run = { ...run, parent: { run_id: 4, job_id: 40_000_001 } };
    expect(typed(adviseOn(child, { ...NOBODY, interrupted: true, top: 4 }))).toEqual(["daruma resume 4"]);
  });
});

describe("advice on a run that is over", () => {
  const FILE = `
inputs:
  target: { type: string }
  size: { type: number, default: 3 }
  list: { type: array, default: [] }
steps: { a: { type: noop } }
`;
  const canceled = async (more: Partial<Run>): Promise<Run> => {
    const started = await runOf("steps: { a: { type: noop } }");
    const { definition } = (await replayedTrial(FILE, {}, { inputs: { target: "x" } })).runAt();
    return { ...started, status: "canceled", definition, ...more };
  };

  it("starts a canceled one anew with what it was started with", async () => {
    const run = await canceled({ inputs: { target: "it's", size: 3, list: ["x y"] } });
    expect(typed(adviseOn(run, NOBODY))).toEqual([
      "daruma reset 1",
      `daruma run '/srv/my flows/ci.yaml' --input 'target=it'\\''s' --input 'list=["x y"]'`,
    ]);
  });

  it("does not where a command line cannot say it", async () => {
    const run = await canceled({ inputs: { target: "x", size: 3, list: [] }, context: { pr: 7 } });
    expect(kinds(adviseOn(run, NOBODY))).toEqual(["retry"]);
  });

  it("has nothing to say of a completed one", async () => {
    expect(adviseOn(await runOf("steps: { a: { type: noop } }"), NOBODY)).toEqual([
      { kind: "nothing", text: "Nothing is left to do.", argv: [], calls: [] },
    ]);
  });
});
