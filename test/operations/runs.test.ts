import { realpathSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const OK = 'name: ok\nsteps: { a: { type: command, exec: "echo hello" } }';
const FAILING = `name: failing
steps:
  build: { type: command, exec: "echo boom >&2; test -e go", on_fail: { retry: { max: 1 } } }
  after: { type: noop, depends_on: [build] }
`;
const WAITING =
  "name: waiting\nsteps: { ask: { type: human, prompt: 'Go on?', choices: [approve, reject] } }";
const LONG =
  'name: long\nsteps: { a: { type: command, exec: "sleep 60" }, b: { type: noop, depends_on: [a] } }';

describe("start_run", () => {
  it("runs a text that was sent along", async () => {
    const started = await bench.call("start_run", { source: OK, inputs: {}, file_name: "ok.yaml" });
    expect(started).toMatchObject({ workflow: "ok", version: 1 });
    const run = await bench.settled(started.run_id);
    expect(run).toMatchObject({ status: "completed", jobs: [{ step: "a", output: "hello" }] });
  });

  it("gives a text that was sent along a folder of its own to work in", async () => {
    const { jobs } = await bench.run('steps: { a: { type: command, exec: "pwd" } }');
    expect(String(jobs[0]!.output).startsWith(realpathSync(bench.folder))).toBe(true);
  });

  it("takes inputs, context and the run's own budgets", async () => {
    const source = `name: given
inputs: { target: { type: string } }
steps:
  a: { type: command, exec: "exit 3", if: "pr.number == 7", on_fail: { retry: { max: 3 } } }
  b: { type: command, exec: "echo {{ inputs.target }}" }`;
    const run = await bench.run(source, {
      inputs: { target: "staging" },
      context: { pr: { number: 7 } },
      retry_max: 1,
    });
    expect(run.jobs.map(({ step, status, attempts, output }) => [step, status, attempts, output])).toEqual([
      ["a", "failed", 2, null],
      ["b", "completed", 1, "staging"],
    ]);
  });

  it("refuses inputs that look like tokens, and leaves no run behind", async () => {
    const before = await bench.call("list_runs", {});
    const inputs = { target: `ghp_${"a1B2".repeat(9)}` };
    const source = `inputs: { target: { type: string } }\n${OK}`;
    expect(await refusalOf(bench.call("start_run", { source, inputs }))).toBe("INVALID_INPUT");
    expect(await refusalOf(bench.call("start_run", { source: OK, context: inputs }))).toBe("INVALID_INPUT");
    expect(await bench.call("list_runs", {})).toEqual(before);
  });

  it("leaves secrets to the workers: one that is not set here is no reason to refuse", async () => {
    const source = `name: secretive\nsecrets: [DARUMA_TEST_NOWHERE_SET]\nsteps: { a: { type: noop } }`;
    expect((await bench.run(source)).run_id).toBeGreaterThan(0);
  });

  it("refuses both or neither of workflow and source, a relative folder, a wrong file, a wrong input", async () => {
    const refused = (input: object): Promise<string> => refusalOf(bench.call("start_run", input as never));
    expect(await refused({})).toBe("INVALID_INPUT");
    expect(await refused({ source: OK, workflow: "ok" })).toBe("INVALID_INPUT");
    expect(await refused({ source: OK, folder: "here" })).toBe("INVALID_INPUT");
    expect(await refused({ source: "steps: 7" })).toBe("WRONG_TYPE");
    expect(await refused({ source: OK, inputs: { nothing: 1 } })).toBe("INVALID_INPUT");
    expect(await refused({ source: OK, only: "z" })).toBe("STEP_NOT_FOUND");
    expect(await refused({ workflow: "nobody" })).toBe("WORKFLOW_NOT_FOUND");
  });

  it("needs somebody who stays to run it", async () => {
    expect(await refusalOf(callIn(bench.withoutRunner, "start_run", { source: OK }))).toBe("NO_RUNNER");
  });
});

describe("reading a run", () => {
  it("tells it, its definition, its story and its numbers; last is the newest", async () => {
    const { run_id, diagnostics, summary } = await bench.run(FAILING);
    expect(diagnostics.map(({ attempt, rung }) => [attempt, rung])).toEqual([
      [1, "retry"],
      [2, "fail"],
    ]);
    expect(summary).toMatchObject({ failures: [{ step: "build", stderr_tail: "boom\n" }] });
    expect((await bench.call("get_run", { run_id: "last" })).run_id).toBe(run_id);
    const { definition } = await bench.call("get_run_definition", { run_id });
    expect(definition).toMatchObject({ name: "failing" });
    const story = await bench.call("explain_run", { run_id, step: "build" });
    expect(story.lines).toContain("  - retry: yes, EXIT_1: retry 1 of 1.");
    expect(story.lines).not.toContain("  - stop: no, the run was not stopped.");
    expect(story.text.startsWith(`${story.lines.join("\n")}\n\nNext:\n`)).toBe(true);
    expect(story.advice.map(({ kind, command }) => [kind, command])).toEqual([
      ["mend", null],
      ["logs", `daruma logs ${run_id} build`],
      ["retry", `daruma retry ${run_id} build`],
      ["fork", null],
      ["explain", `daruma explain ${run_id} build --full`],
    ]);
    const job_id = summary.failures[0]!.job_id;
    expect(story.advice.map(({ calls }) => calls)).toEqual([
      [],
      [{ operation: "get_job_logs", input: { job_id } }],
      [{ operation: "control_run", input: { run_id, action: "retry_step", step_id: "build" } }],
      [{ operation: "fork_run", input: { run_id, step: "build" } }],
      [{ operation: "explain_run", input: { run_id, step: "build", full: true } }],
    ]);
    for (const { command } of story.advice) if (command !== null) expect(story.text).toContain(command);
    const full = await bench.call("explain_run", { run_id, full: true });
    expect(full.lines).toContain("  - stop: no, the run was not stopped.");
    const unknown = bench.call("explain_run", { run_id, brief: true } as never);
    await expect(unknown).rejects.toThrow(/brief/);
    expect(await bench.call("get_stats", { run_id: [run_id] })).toMatchObject({
      runs: 1,
      attempts: 2,
      retries: 1,
    });
    expect(await bench.call("get_stats", { run_id })).toMatchObject({ runs: 1 });
    expect(await refusalOf(bench.call("get_run", { run_id: 999_999 }))).toBe("RUN_NOT_FOUND");
  });

  it("tells of the loops of the scope that has taken most, and of the version", async () => {
    const looping = `name: looping
routing: { max_loops: 7 }
steps: { a: { type: noop }, b: { exec: "[ $DARUMA_ATTEMPT_ID -ge 3 ]", depends_on: [a], on_fail: { goto: a } } }`;
    expect(await bench.run(looping)).toMatchObject({
      version: 1,
      loops: { taken: 2, max: 7, scope: "root" },
    });
    const after = `name: looping\nsteps: { a: { type: noop }, b: { exec: "true", depends_on: [a], on_success: { goto: a, goto_max: 1 } } }`;
    expect(await bench.run(after)).toMatchObject({ version: 2, loops: { taken: 1, max: 10, scope: "root" } });
    const branch = `name: looping
steps:
  list: { type: noop, output: [x, y], forEach: true }
  each: { exec: "[ $DARUMA_ATTEMPT_ID -ge 2 ] || [ {{ foreach.index }} = 0 ]", depends_on: [list], on_fail: { run: [mend] } }
  mend: { exec: "true" }`;
    expect(await bench.run(branch)).toMatchObject({ loops: { taken: 1, scope: "root/list[1]" } });
    expect((await bench.run(OK)).loops).toBeNull();
  });

  it("lists pages of runs of one status and workflow", async () => {
    await bench.run(OK);
    await bench.run(OK);
    const first = await bench.call("list_runs", { status: "completed", workflow: "ok", limit: 1 });
    expect(first.items).toHaveLength(1);
    const second = await bench.call("list_runs", { workflow: "ok", limit: 1, before: first.next! });
    expect(second.items[0]!.run_id).toBeLessThan(first.items[0]!.run_id);
    expect((await bench.call("list_runs", { workflow: "nobody" })).items).toEqual([]);
  });

  it("pages through a log without the marks of attempts", async () => {
    const { run_id } = await bench.run(OK);
    const first = await bench.call("list_run_events", { run_id, limit: 2 });
    expect(first.items.map(({ seq }) => seq)).toEqual([1, 2]);
    const rest = await bench.call("list_run_events", { run_id, after: first.next! });
    expect(rest.next).toBeNull();
    const started = rest.items.find(({ type }) => type === "attempt.started") ?? first.items[1]!;
    expect(started).toMatchObject({ type: "attempt.started", token: "" });
  });
});

describe("control_run", () => {
  it("pauses, says what changed and who goes on, and resumes", async () => {
    const { run_id } = await bench.call("start_run", { source: WAITING });
    const waiting = await bench.until(run_id, ({ jobs }) => jobs[0]?.status === "waiting");
    const paused = await bench.call("control_run", { run_id, action: "pause", reason: "lunch", key: "k1" });
    expect(paused).toMatchObject({
      action: "pause",
      before: "running",
      status: "paused",
      reason: "lunch",
      key: "k1",
    });
    const again = await bench.call("control_run", { run_id, action: "pause", reason: "lunch", key: "k1" });
    expect(again).toEqual(paused);
    expect((await bench.call("get_run", { run_id })).paused_by).toBe("tester");
    const resumed = await bench.call("control_run", { run_id, action: "resume" });
    expect(resumed.status).toBe("running");
    expect((await bench.call("get_run", { run_id })).paused_by).toBeNull();
    const answered = await bench.call("answer_job", {
      job_id: waiting.jobs[0]!.id,
      choice: "approve",
      text: "yes",
    });
    expect(answered).toMatchObject({ run_id, step: "ask", choice: "approve" });
    const over = await bench.settled(run_id);
    expect(over).toMatchObject({
      status: "completed",
      jobs: [{ output: { choice: "approve", text: "yes" } }],
    });
    expect(await bench.call("control_run", { run_id, action: "resume" })).toMatchObject({
      status: "completed",
    });
  });

  it("cancels, and waits for the end where it is told how long", async () => {
    const { run_id } = await bench.call("start_run", { source: LONG });
    await bench.until(run_id, ({ jobs }) => jobs[0]?.status === "running");
    const answer = await bench.call("control_run", { run_id, action: "cancel", wait_ms: 20_000 });
    expect(answer).toMatchObject({ before: "running", status: "canceled", running: 0 });
    expect(await refusalOf(bench.call("control_run", { run_id, action: "cancel" }))).toBe("RUN_OVER");
  });

  it("retries a failed step, and with force goes back to a completed one", async () => {
    const { run_id } = await bench.run(FAILING);
    const retried = await bench.call("control_run", { run_id, action: "retry_step", step_id: "build" });
    expect(retried).toMatchObject({
      action: "retry_step",
      before: "failed",
      target: { step: "build", scope: "root" },
    });
    const failed = await bench.settled(run_id);
    expect(failed.jobs.find(({ step }) => step === "build")!.attempts).toBe(4);
    const ok = await bench.run(OK);
    const back = { run_id: ok.run_id, action: "retry_step", step_id: "a" } as const;
    expect(await refusalOf(bench.call("control_run", back))).toBe("STEP_COMPLETED");
    expect((await bench.call("control_run", { ...back, force: true })).action).toBe("resume_from_step");
    const redone = await bench.settled(ok.run_id);
    expect(redone.jobs[0]).toMatchObject({ attempts: 2, status: "completed" });
  });

  it("resets what failed, and refuses a hard reset without a workspace and a step that is not said", async () => {
    const { run_id } = await bench.run(FAILING);
    const reset = await bench.call("control_run", { run_id, action: "reset_failed" });
    expect(reset.changed.map(({ step }) => step)).toContain("build");
    await bench.settled(run_id);
    const refused = (action: "hard_reset_step" | "retry_step", step_id?: string): Promise<string> =>
      refusalOf(bench.call("control_run", { run_id, action, step_id }));
    expect(await refused("hard_reset_step", "build")).toBe("NO_WORKSPACE");
    expect(await refused("hard_reset_step")).toBe("INVALID_INPUT");
    expect(await refused("retry_step")).toBe("INVALID_INPUT");
  });

  it("of a run that nobody runs lifts a pause, but cannot go on with it where nobody stays", async () => {
    const { store } = bench.context;
    const { run_id } = await bench.run(
      "name: held\nunhandled: hold\nsteps: { a: { type: command, exec: 'exit 3' } }",
    );
    expect(await refusalOf(callIn(bench.withoutRunner, "control_run", { run_id, action: "resume" }))).toBe(
      "NO_RUNNER",
    );
    const paused = await callIn(bench.withoutRunner, "control_run", { run_id, action: "takeover" });
    expect(paused.status).toBe("paused");
    const lifted = await callIn(bench.withoutRunner, "control_run", { run_id, action: "resume" });
    expect(lifted.status).toBe("held");
    expect((await store.readRun(run_id))!.status).toBe("held");
  });
});

describe("fork_run", () => {
  it("goes on from a step of another run, with a newer text if there is one", async () => {
    const text = (word: string): string => `name: forky
inputs: { who: { type: string, default: nobody } }
steps:
  a: { type: command, exec: "echo first" }
  b: { type: command, exec: "echo ${word} {{ inputs.who }}", depends_on: [a] }`;
    const old = await bench.run(text("old"));
    const fork = await bench.call("fork_run", { run_id: old.run_id, step: "b", inputs: { who: "me" } });
    const run = await bench.settled(fork.run_id);
    expect(run.jobs.map(({ step, attempts, output }) => [step, attempts, output])).toEqual([
      ["a", 0, "first"],
      ["b", 1, "old me"],
    ]);
    const newer = await bench.call("fork_run", { run_id: old.run_id, step: "b", source: text("new") });
    expect((await bench.settled(newer.run_id)).jobs[1]!.output).toBe("new nobody");
    expect(await refusalOf(bench.call("fork_run", { run_id: old.run_id, step: "z" }))).toBe("STEP_NOT_FOUND");
    const inputs = { who: `ghp_${"a1B2".repeat(9)}` };
    expect(await refusalOf(bench.call("fork_run", { run_id: old.run_id, step: "b", inputs }))).toBe(
      "INVALID_INPUT",
    );
  });
});
