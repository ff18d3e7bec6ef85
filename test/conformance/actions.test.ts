import { describe, expect, it } from "vitest";
import { systemThreadId, threadCpuMs } from "../../src/run/sandbox/thread-cpu.js";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";
import { definitionOf, problemsOf, summaryOf, warningsOf } from "../support/workflow-text.js";

const commands = (trigger: string, more = "") =>
  `{ trigger_type: ${trigger}, action_type: run_commands, commands: [x]${more} }`;
const needsOf = (text: string) =>
  Object.fromEntries(
    definitionOf(text).steps.map(({ id, dependsOn, needs }) => [
      id,
      `${dependsOn.map((group) => group.join("|")).join(" ")}${needs === undefined ? "" : ` (${needs})`}`,
    ]),
  );
const PIPELINE = `
jobs:
  - { name: fetch, command: x }
  - { name: "work_{i}", command: x, depends_on: [fetch], parameters: { i: "1:2" } }
  - { name: report, command: x, depends_on: ["work_{i}"] }
`;

describe("commands of actions", () => {
  it("run at the start before every job, when jobs are ready before those, after they are complete, and at the end", async () => {
    const run = await trial(
      `${PIPELINE}
actions:
  - ${commands("on_workflow_complete")}
  - ${commands("on_jobs_complete", ', jobs: ["work_{i}"]')}
  - ${commands("on_jobs_ready", ', jobs: ["work_{i}"]')}
  - ${commands("on_workflow_start")}
`,
      {},
      { capacity: 1 },
    );
    expect(trace(run)).toEqual([
      "start action_4_on_workflow_start",
      "ok action_4_on_workflow_start",
      "start fetch",
      "ok fetch",
      "start action_3_on_jobs_ready",
      "ok action_3_on_jobs_ready",
      "start work_1",
      "ok work_1",
      "start work_2",
      "ok work_2",
      "start report",
      "ok report",
      "start action_2_on_jobs_complete",
      "ok action_2_on_jobs_complete",
      "start action_1_on_workflow_complete",
      "ok action_1_on_workflow_complete",
      "run completed",
    ]);
  });

  it("that fail are recorded, are never held, and fail neither the jobs after them nor the run", async () => {
    const run = await trial(
      `${PIPELINE}
actions: [${commands("on_workflow_start")}, ${commands("on_jobs_ready", ", jobs: [report]")}, ${commands("on_workflow_complete")}]
`,
      {
        action_1_on_workflow_start: ["fail"],
        action_2_on_jobs_ready: ["fail"],
        action_3_on_workflow_complete: ["fail"],
      },
    );
    expect(run.run.status).toBe("completed");
    expect(run.job("action_1_on_workflow_start")).toMatchObject({ status: "failed", handled: true });
    expect(run.job("report").status).toBe("completed");
  });

  it("after jobs run however these ended; before jobs that are never ready they do not run", async () => {
    const run = await trial(
      `use_pending_failed: false
${PIPELINE}
actions:
  - ${commands("on_jobs_complete", ', jobs: ["work_{i}"]')}
  - ${commands("on_jobs_ready", ", jobs: [report]")}
  - ${commands("on_workflow_complete")}
`,
      { work_1: ["fail"] },
    );
    expect(run.run.status).toBe("failed");
    expect(run.job("action_1_on_jobs_complete").status).toBe("completed");
    expect(run.job("action_2_on_jobs_ready").status).toBe("canceled");
    expect(run.job("action_3_on_workflow_complete").status).toBe("completed");
  });

  it("at the end wait for somebody to decide about a held job, and run once", async () => {
    const stage = await Stage.begin(`${PIPELINE}\nactions: [${commands("on_workflow_complete")}]`, {
      work_1: ["fail"],
    });
    await stage.rest();
    expect(await stage.statuses("work_1", "action_1_on_workflow_complete")).toEqual(["held", "blocked"]);
    const items = [{ job: await stage.id("work_1"), action: "fail" as const, output: null, items: null }];
    expect(await stage.operate({ type: "holds.resolve", items })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(trace(run).filter((line) => line.includes("action_"))).toEqual([
      "start action_1_on_workflow_complete",
      "ok action_1_on_workflow_complete",
    ]);
    expect(run.run.status).toBe("failed");
  });

  it("hold up no job that is ready before the last one of its group, and wait for all that the group needs", () => {
    expect(
      needsOf(`
jobs:
  - { name: a, command: x }
  - { name: b, command: x, depends_on: [a] }
  - { name: late, command: x, depends_on: [a, b] }
  - { name: early, command: x, depends_on: [a] }
actions: [${commands("on_jobs_ready", ", jobs: [late, early]")}]
`),
    ).toEqual({
      a: "",
      b: "a",
      late: "a b action_1_on_jobs_ready",
      early: "a",
      action_1_on_jobs_ready: "a b",
    });
  });

  it("of one trigger follow each other in the order of the file, and those at the end follow all others", () => {
    expect(
      needsOf(`
jobs: [{ name: a, command: x }, { name: spare, command: x, start: routed }]
actions:
  - ${commands("on_workflow_start")}
  - ${commands("on_workflow_complete")}
  - ${commands("on_workflow_start")}
  - ${commands("on_workflow_complete")}
`),
    ).toEqual({
      a: "action_3_on_workflow_start",
      spare: "",
      action_1_on_workflow_start: "",
      action_3_on_workflow_start: "action_1_on_workflow_start (settled)",
      action_2_on_workflow_complete:
        "a spare action_1_on_workflow_start action_3_on_workflow_start (settled)",
      action_4_on_workflow_complete: "action_2_on_workflow_complete (settled)",
    });
  });

  it("leave a job that only a failure leads to where it was", () => {
    const { steps } = definitionOf(`
jobs: [{ name: a, command: x, on_fail: { run: [mend] } }, { name: mend, command: x }]
actions: [${commands("on_workflow_start")}]
`);
    expect(steps[1]).toMatchObject({ id: "mend", start: "routed", dependsOn: [] });
  });

  it("count dependencies by files as dependencies", () => {
    expect(
      needsOf(`
files: [{ name: f, path: p }]
jobs: [{ name: make, command: x, output_files: [f] }, { name: use, command: x, input_files: [f] }]
actions: [${commands("on_jobs_ready", ", jobs: [use]")}]
`),
    ).toMatchObject({ action_1_on_jobs_ready: "make", use: "make action_1_on_jobs_ready" });
  });

  it("each have a shell of their own, and the first that fails ends them", () => {
    const { steps } = definitionOf(
      'jobs: [{ name: a, command: x }]\nactions: [{ trigger_type: on_workflow_start, action_type: run_commands, commands: ["cd out # there", "tar c ."] }]',
    );
    expect(steps[1]!.action).toEqual({
      type: "command",
      exec: "(\ncd out # there\n) || exit $?\n(\ntar c .\n) || exit $?",
    });
  });

  it("take no default for failures that leads elsewhere, but retries", () => {
    const { steps } = definitionOf(`
routing: { defaults: { on_fail: { retry: { max: 2 }, goto: a } } }
jobs: [{ name: a, command: x }, { name: b, command: x, depends_on: [a] }]
actions: [${commands("on_workflow_complete")}]
`);
    expect(steps[2]!.onFail).toMatchObject({ retry: { max: 2 }, goto: null });
  });

  it.each([
    ["a name of no job", commands("on_jobs_ready", ", jobs: [werk]"), "UNKNOWN_STEP"],
    ["no jobs", commands("on_jobs_complete"), "MISSING_KEY"],
    ["jobs at the start", commands("on_workflow_start", ", jobs: [a]"), "INVALID_VALUE"],
    [
      "nodes at the end",
      "{ trigger_type: on_workflow_complete, action_type: schedule_nodes, scheduler: s }",
      "INVALID_VALUE",
    ],
    [
      "commands for nodes",
      "{ trigger_type: on_workflow_start, action_type: schedule_nodes, scheduler: s, commands: [x] }",
      "INVALID_VALUE",
    ],
    ["a trigger of workers", commands("on_worker_start"), "INVALID_VALUE"],
  ])("are refused with %s", (_, action, code) => {
    const text = `slurm_schedulers: [{ name: s }]\njobs: [{ name: a, command: x }]\nactions: [${action}]`;
    const problems = problemsOf(text);
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(problems[0]!.path).toMatch(/^actions\[0\]/);
  });

  it("with a regular expression that is found in no name never run, which is a warning", () => {
    const text = `jobs: [{ name: a, command: x }]\nactions: [${commands("on_jobs_ready", ", job_name_regexes: [zzz]")}]`;
    expect(warningsOf(text)).toEqual(["NO_EFFECT actions[0].job_name_regexes[0]"]);
    expect(definitionOf(text).steps).toHaveLength(1);
  });

  it("that would take the name of a job are refused", () => {
    const text = `jobs: [{ name: action_1_on_workflow_start, command: x }]\nactions: [${commands("on_workflow_start")}]`;
    expect(summaryOf(text)).toEqual(["DUPLICATE_ID 2:11 actions[0]"]);
  });

  it("that would make more dependencies than can be kept are refused before they are made", () => {
    const many = Array.from({ length: 60 }, () => commands("on_jobs_complete", ', job_name_regexes: [".*"]'));
    const text = `jobs: [{ name: "j_{i}", command: x, parameters: { i: "1:20000" } }]\nactions: [${many.join(", ")}]`;
    expect(problemsOf(text).map(({ code, message }) => `${code} ${message}`)).toEqual([
      "INVALID_VALUE the jobs of the file have more than 1000000 dependencies",
    ]);
    const wide = Array.from({ length: 60 }, () => commands("on_jobs_ready", ", jobs: [end]"));
    const ready = `jobs: [{ name: "j_{i}", command: x, parameters: { i: "1:20000" } }, { name: end, command: x, depends_on: ["j_{i}"] }]\nactions: [${wide.join(", ")}]`;
    expect(problemsOf(ready).map(({ code }) => code)).toEqual(["INVALID_VALUE"]);
  });

  it.skipIf(process.platform !== "linux")(
    "of tens of thousands of jobs are read in CPU time that grows with their number",
    () => {
      // Of this thread alone: other tests run beside it in the same process.
      const thread = systemThreadId();
      const cpuMs = (count: number) => {
        const before = threadCpuMs(thread)!;
        const text = `jobs: [{ name: "j_{i}", command: x, parameters: { i: "1:${count}" } }]\nactions: [${commands("on_workflow_start")}, ${commands("on_jobs_ready", ', job_name_regexes: ["^j_"]')}, ${commands("on_workflow_complete")}]`;
        expect(definitionOf(text).steps).toHaveLength(count + 3);
        return threadCpuMs(thread)! - before;
      };
      cpuMs(5_000);
      expect(cpuMs(40_000) / cpuMs(5_000)).toBeLessThan(24);
    },
  );
});
