import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

/** Fails until the file is there. */
const needs = (name: string, file: string, unhandled: "hold" | "fail", more = ""): string => `name: ${name}
unhandled: ${unhandled}
steps:
  load:
    type: command
    exec: 'echo "reading"; test -e ${file} || { echo "ERROR: the table is locked" >&2; echo "no luck" >&2; exit 7; }'
    on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } }
  report: { type: noop, depends_on: [load] }
  mail: { type: noop, depends_on: [report] }
${more}`;

const flagOf = (name: string): string => join(bench.context.outputDir, name);

const run = async (source: string): Promise<number> => (await bench.run(source)).run_id;
const start = async (source: string): Promise<number> => (await bench.call("start_run", { source })).run_id;
const until = (runId: number, status: string) => bench.until(runId, (found) => found.status === status);

async function problems(workflow: string, more: object = {}) {
  return (await bench.call("list_problems", { workflow, ...more })).items;
}

async function hold(name: string, count: number): Promise<number[]> {
  const runs: number[] = [];
  for (let made = 0; made < count; made += 1) runs.push(await run(needs(name, flagOf(name), "hold")));
  return runs;
}

describe("list_problems", () => {
  test("has one problem for all runs with the same cause, with what was tried and what it blocks", async () => {
    const runs = await hold("alike", 3);
    const [problem, ...others] = await problems("alike");
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      ...{ kind: "hold", workflow: "alike", step: "load", runs: 3, jobs: 3, attempts: 2 },
      title: "no luck",
      error_line: "ERROR: the table is locked",
      tried: "2 attempts, no retries left (1 used)",
      blocks: { steps: 2, names: ["report", "mail"], layers: [1, 2], of: 3 },
      question: null,
      ladder_differs: null,
    });
    expect(problem!.items.map(({ run_id }) => run_id)).toEqual([...runs].reverse());
    const marks = problem!.ladder.filter(({ mark }) => ["acted", "hold", "spent"].includes(mark));
    expect(marks.map(({ rung, mark, times }) => `${rung} ${mark} ${times}`)).toEqual([
      "retry acted 1",
      "hold hold 1",
    ]);
    const [first, second] = problem!.items;
    expect(await problems("alike", { job: second!.job_id, items: 0 })).toMatchObject([
      { id: problem!.id, runs: 3, items: [] },
    ]);
    expect(await problems("alike", { job: first!.job_id + 1 })).toEqual([]);
    const [whole] = await problems("alike", { problem: problem!.id, items: 2 });
    expect(whole).toMatchObject({ ladder_differs: { runs: 0, of: 3 }, jobs: 3 });
    expect(whole!.items.map((item) => item.run)).toEqual(
      [1, 2].map(() => ({ status: "held", started_at: expect.any(String), jobs: { done: 0, all: 3 } })),
    );
  });

  test.each([
    ["its name twice", "echo 'load: cannot read a.csv' >&2; exit 7", "cannot read a.csv", null],
    [
      "a tally",
      "printf 'FAIL lease > renews\\nAssertionError: got 1\\nTests  1 failed | 180 passed (181)\\n' >&2; exit 1",
      "AssertionError: got 1",
      "FAIL lease > renews",
    ],
    ["nothing", "exit 3", "Exit code 3", null],
  ])("says what broke in a step that prints %s", async (name, command, title, line) => {
    const workflow = name.replaceAll(" ", "-");
    await run(`name: ${workflow}\nunhandled: hold\nsteps: { load: { exec: ${JSON.stringify(command)} } }`);
    expect(await problems(workflow)).toMatchObject([{ title, error_line: line }]);
  });

  test("says first what broke where a goto was used up", async () => {
    await run(
      "name: loops\nrouting: { max_loops: 1 }\nsteps:\n  a: { type: noop }\n  b: { exec: 'echo \"ERROR: no\" >&2; exit 1', depends_on: [a], on_fail: { goto: a } }",
    );
    expect(await problems("loops")).toMatchObject([
      {
        title: "ERROR: no (EXIT_1), and max_loops (1) is used up: 1 loop",
        error_line: null,
        tried: "2 attempts, max_loops (1) is used up: 1 loop; the run ends here",
      },
    ]);
    const [{ ladder }] = (await problems("loops")) as [Awaited<ReturnType<typeof problems>>[number]];
    expect(ladder.find(({ rung }) => rung === "goto")).toMatchObject({ mark: "acted", times: 1 });
  });

  test("tells how far away each blocked step is: what it waits for is in a layer before it", async () => {
    await run(
      `name: layers\nunhandled: hold\nsteps:\n  last: { type: noop, depends_on: [a, c] }\n  a: { exec: "exit 3" }\n  c: { type: noop, depends_on: [b] }\n  b: { type: noop, depends_on: [a, other] }\n  other: { type: noop }`,
    );
    expect((await problems("layers"))[0]!.blocks).toEqual({
      ...{ steps: 3, names: ["b", "c", "last"], layers: [1, 2, 3], of: 5 },
    });
  });

  test("says why a failure was not retried", async () => {
    await run(
      "name: final\nunhandled: hold\nsteps: { a: { exec: 'exit 4', on_fail: { retry: { max: 3, on: [EXIT_75] } } } }",
    );
    expect((await problems("final"))[0]!.tried).toBe(
      "1 attempt, EXIT_4 (application) is not in retry.on: EXIT_75",
    );
  });

  test("puts first what blocks most steps in most runs, and counts by kind", async () => {
    const before = (await bench.call("list_problems", {})).counts;
    await run("name: order-a\nunhandled: hold\nsteps: { a: { exec: 'exit 3' } }");
    await run(
      "name: order-b\nunhandled: hold\nsteps:\n  a: { exec: 'exit 3' }\n  b: { type: noop, depends_on: [a] }",
    );
    const listed = (await bench.call("list_problems", {})).items.map(({ workflow }) => workflow);
    expect(listed.indexOf("order-b")).toBeLessThan(listed.indexOf("order-a"));
    const { counts } = await bench.call("list_problems", { kind: ["hold"], limit: 1 });
    expect(counts.hold - before.hold).toBe(2);
  });

  test("has each question by itself, with its prompt and choices, and a dead letter apart from a hold", async () => {
    const asking =
      "name: asks\nsteps:\n  ask: { type: human, prompt: 'Post 2?', choices: [post, wait] }\n  go: { type: noop, depends_on: [ask] }";
    await start(asking);
    await start(asking);
    await expect.poll(async () => (await problems("asks")).length).toBe(2);
    expect((await problems("asks"))[0]).toMatchObject({
      ...{ kind: "question", title: "Post 2?", tried: "waits for an answer", error: null },
      question: { prompt: "Post 2?", choices: ["post", "wait"] },
      blocks: { steps: 1, names: ["go"] },
    });
    const dead = `name: dead\nunhandled: hold\nqueue: { max_attempts: 1, classes: [transient_runtime, application] }\nsteps: { a: { exec: 'exit 3' } }`;
    await run(dead);
    expect((await problems("dead")).map(({ kind }) => kind)).toEqual(["dead_letter"]);
  });

  test("tells of a failed run until a later run passes the step", async () => {
    const flag = flagOf("passes");
    await run(needs("passes", flag, "fail"));
    await run(needs("passes", flag, "fail"));
    expect(await problems("passes")).toMatchObject([
      { kind: "failed", runs: 2, blocks: { steps: 2, names: ["report", "mail"] } },
    ]);
    writeFileSync(flag, "");
    // It fails later, but has passed the step.
    await run(needs("passes", flag, "fail", "  end: { exec: 'exit 1', depends_on: [mail] }"));
    expect((await problems("passes")).map(({ step }) => step)).toEqual(["end"]);
    rmSync(flag);
    const again = await run(needs("passes", flag, "fail"));
    const [back] = (await problems("passes")).filter(({ step }) => step === "load");
    expect(back!.items.map(({ run_id }) => run_id)).toEqual([again]);
  });

  test("leaves out what was set aside until it comes again, and what is muted or handled", async () => {
    await run(needs("aside", "/nowhere", "fail"));
    const [problem] = await problems("aside");
    const jobs = problem!.items.map(({ job_id }) => job_id);
    await bench.call("decide_problems", { jobs, action: "set_aside", reason: "known", dry_run: true });
    expect(await problems("aside")).toHaveLength(1);
    await bench.call("decide_problems", { jobs, action: "set_aside", reason: "known" });
    expect(await problems("aside")).toEqual([]);
    const { items } = await bench.call("list_failures", { workflow: "aside", state: ["all"] });
    expect(items).toMatchObject([{ state: "resolved", note: "known" }]);
    const again = await run(needs("aside", "/nowhere", "fail"));
    expect(
      (await problems("aside")).flatMap(({ items: found }) => found.map(({ run_id }) => run_id)),
    ).toEqual([again]);
    const { signature } = problem!;
    await bench.call("triage_failure", {
      signature: signature!,
      workflow: "aside",
      action: "mute",
      until: "1h",
    });
    expect(await problems("aside")).toEqual([]);
    await run("name: taken\nsteps: { a: { exec: 'exit 3', continue_on_failure: true } }");
    expect(await problems("taken")).toEqual([]);
  });
});

describe("decide_problems", () => {
  test("tells first what it will do, then does it for all, once however often it is sent", async () => {
    const runs = await hold("decided", 3);
    const [problem] = await problems("decided");
    const jobs = problem!.items.map(({ job_id }) => job_id);
    const request = { jobs, action: "retry" as const, reason: "unlocked", key: "panel-1" };
    const preview = await bench.call("decide_problems", { ...request, dry_run: true });
    expect(
      preview.runs.map(({ changed }) => changed.map(({ step, from, to }) => `${step} ${from} ${to}`)),
    ).toEqual(runs.map(() => ["load held ready"]));
    expect(await problems("decided")).toHaveLength(1);
    writeFileSync(flagOf("decided"), "");
    expect(await bench.call("decide_problems", request)).toMatchObject({ applied: true, key: "panel-1" });
    for (const each of runs) await until(each, "completed");
    expect(await bench.call("decide_problems", request)).toMatchObject({ applied: true });
    expect(await problems("decided")).toEqual([]);
  });

  test("changes nothing if one of them is refused, and says which", async () => {
    await hold("refusing", 2);
    const [problem] = await problems("refusing");
    const jobs = problem!.items.map(({ job_id }) => job_id);
    const refused = bench.call("decide_problems", { jobs: [...jobs, jobs[0]! + 1], action: "skip" });
    await expect(refused).rejects.toMatchObject({ code: "DECISIONS_REFUSED" });
    expect((await problems("refusing"))[0]!.jobs).toBe(2);
    const preview = await bench.call("decide_problems", { jobs, action: "redrive", dry_run: true });
    expect(preview.results.map(({ error }) => error?.code)).toEqual(["NOT_DEAD_LETTER", "NOT_DEAD_LETTER"]);
    await expect(bench.call("decide_problems", { jobs, action: "set_aside" })).rejects.toMatchObject({
      code: "DECISIONS_REFUSED",
    });
  });

  test("retries failed jobs of runs that are over, redrives dead letters, and answers questions", async () => {
    const flag = flagOf("over");
    const over = await run(needs("over", flag, "fail"));
    writeFileSync(flag, "");
    const jobsOf = async (workflow: string) =>
      (await problems(workflow)).flatMap(({ items }) => items.map(({ job_id }) => job_id));
    await bench.call("decide_problems", { jobs: await jobsOf("over"), action: "retry" });
    await until(over, "completed");
    const file = flagOf("redriven");
    const dead = await run(
      `name: redriven\nqueue: { max_attempts: 1, classes: [application] }\nsteps: { a: { exec: 'test -e ${file}' } }`,
    );
    writeFileSync(file, "");
    await bench.call("decide_problems", { jobs: await jobsOf("redriven"), action: "redrive" });
    await until(dead, "completed");
    const asked = await start(
      "name: answered\nsteps: { ask: { type: human, prompt: 'Go?', choices: [go] } }",
    );
    await expect.poll(async () => (await problems("answered")).length).toBe(1);
    await bench.call("decide_problems", { jobs: await jobsOf("answered"), action: "answer", choice: "go" });
    await until(asked, "completed");
    expect(existsSync(file)).toBe(true);
  });
});

describe("list_runs", () => {
  const listed = async (workflow: string, more: object = {}) =>
    (await bench.call("list_runs", { workflow, ...more })).items;

  test("tells of each run its jobs, recoveries and what happened, and finds the rescued and those that wait", async () => {
    const flaky =
      "name: told\nsteps:\n  call: { exec: 'test \"$DARUMA_ATTEMPT_ID\" -gt 2', on_fail: { retry: { max: 2, backoff: { delay_ms: 1 } } } }";
    const rescued = await run(flaky);
    const plain = await run("name: told\nsteps: { call: { type: noop } }");
    const held = await run("name: told\nunhandled: hold\nsteps: { call: { exec: 'exit 3' } }");
    const handled = await run(
      "name: told\nsteps:\n  deploy: { exec: 'exit 4' }\n  back: { type: noop }\ntransitions: [{ from: deploy, to: back, on: failure }]",
    );
    const failed = await run("name: told\nsteps: { call: { exec: 'echo no >&2; exit 5' } }");
    const runs = await listed("told", { outcomes: true });
    expect(runs.map(({ run_id, happened, recoveries }) => [run_id, happened, recoveries])).toEqual([
      [failed, "call: no (EXIT_5)", 0],
      [handled, "deploy failed (EXIT_4) and went to back", 1],
      [held, "call: exit code 3", 0],
      [plain, "", 0],
      [rescued, "call retried twice", 1],
    ]);
    expect(runs.map(({ jobs }) => jobs)).toEqual([
      { failed: 1 },
      { failed: 1, completed: 1 },
      { held: 1 },
      { completed: 1 },
      { completed: 1 },
    ]);
    expect(runs[1]).toMatchObject({ handled: 1, waiting: 0 });
    expect(runs[2]).toMatchObject({ waiting: 1, asks: "hold" });
    const ids = async (more: object) => (await listed("told", more)).map(({ run_id }) => run_id);
    expect(await ids({ rescued: true })).toEqual([handled, rescued]);
    expect(await ids({ needs_you: true })).toEqual([held]);
    const { outcomes } = await bench.call("list_runs", { workflow: "told", outcomes: true, limit: 1 });
    expect(outcomes?.told?.map(({ outcome }) => outcome)).toEqual([
      ...["rescued", "at_once", "held", "handled", "failed"],
    ]);
  });

  test("a held run that somebody decided did not complete at once, here as in the statistics", async () => {
    const held = await run("name: stood_up\nunhandled: hold\nsteps: { call: { exec: 'exit 3' } }");
    const [problem] = await problems("stood_up");
    const jobs = problem!.items.map(({ job_id }) => job_id);
    await bench.call("decide_problems", { jobs, action: "skip" });
    await until(held, "completed");
    const { items, outcomes } = await bench.call("list_runs", { workflow: "stood_up", outcomes: true });
    expect(outcomes?.stood_up).toEqual([{ run_id: held, outcome: "handled" }]);
    expect(items).toMatchObject([
      { recoveries: 0, happened: expect.stringMatching(/^call failed and was skipped by \S+$/) },
    ]);
    const stats = await bench.call("get_stats", { workflow: "stood_up" });
    expect(stats.outcomes).toMatchObject({ at_once: 0, rescued: 0, handled: 1 });
    expect(stats.rungs).toEqual([]);
    expect(stats.decisions).toEqual({ holds: 1, questions: 0, median_ms: expect.any(Number) });
  });

  test("counts the same recoveries as the run itself", async () => {
    for (const { run_id, recoveries } of (await bench.call("list_runs", { limit: 100 })).items)
      expect((await bench.call("get_run", { run_id })).recoveries).toHaveLength(recoveries);
  });
});
