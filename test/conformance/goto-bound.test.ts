import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { repositoryRoot } from "../support/cli.js";
import { type Trial, trial } from "../support/harness.js";
import type { Script } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";

function reasonsOf(run: Trial, rung: string): string[] {
  return run
    .events("ladder.climbed")
    .flatMap(({ considered }) =>
      considered.flatMap((entry) => (entry.rung === rung ? [`${entry.applied} ${entry.reason}`] : [])),
    );
}

describe("a bound on on_fail.goto", () => {
  it("once it is used up the rung passes with a reason, and the failure climbs on to the edge", {
    tags: ["V10"],
  }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, run: [fix], goto: { step: setup, max: 1 } } }
  fix: { exec: make }
  publish: { exec: make, depends_on: test }
  fallback: { exec: make }
transitions: [{ from: test, to: fallback, on: failure }]`,
      { test: ["fail"] },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start test",
      "fail test EXIT_1",
      "climb test retry",
      "retry test 1/1 +0",
      "start test",
      "fail test EXIT_1",
      "climb test remediate",
      "remediate test by fix",
      "start fix",
      "ok fix",
      "remediated test",
      "start test",
      "fail test EXIT_1",
      "climb test goto",
      "goto test -> setup after failure 1/1, loop 2",
      "again setup test publish",
      "start setup",
      "ok setup",
      "start test",
      "fail test EXIT_1",
      "climb test retry",
      "retry test 1/1 +0",
      "start test",
      "fail test EXIT_1",
      "climb test remediate",
      "remediate test by fix",
      "start fix",
      "ok fix",
      "remediated test",
      "start test",
      "fail test EXIT_1",
      "climb test edge",
      "failed test EXIT_1",
      "edge 1 test -> fallback on failure",
      "start fallback",
      "ok fallback",
      "settled handled [test] unhandled []",
      "skipped publish",
      "run completed",
    ]);
    expect(reasonsOf(run, "goto")).toEqual(["true back to setup", "false no gotos left (1 used)"]);
  });

  it.each<[string, string, Script]>([
    ["requeue", "queue: { max_attempts: 2, classes: [application] }", { test: ["fail", "fail", "ok"] }],
    ["hold", "unhandled: hold", { test: ["fail"] }],
    ["fail", "unhandled: fail", { test: ["fail"] }],
  ])("lets the failure climb on to %s", async (rung, keys, script) => {
    const run = await trial(
      `${keys}
steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: setup, goto_max: 1 } }`,
      script,
    );
    expect(run.events("ladder.climbed").map((climb) => climb.rung)).toEqual(["goto", rung]);
    expect(run.order.slice(0, 4)).toEqual(["setup", "test", "setup", "test"]);
    expect(run.events("loop.exceeded")).toEqual([]);
  });

  it("stays used up in later rounds of the queue", async () => {
    const run = await trial(
      `queue: { max_attempts: 3, classes: [application] }
steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }`,
      { test: ["fail"] },
    );
    expect(run.order).toEqual(["setup", "test", "setup", "test", "test", "test"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      "goto",
      "requeue",
      "requeue",
      "fail",
    ]);
  });

  it("is over goto and goto_js together, whatever the target", { tags: ["V10"] }, async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a }
  c:
    exec: make
    depends_on: b
    on_fail: { goto: b, goto_js: "return visit === 2 ? 'a' : null", goto_max: 3 }`,
      { c: ["fail"] },
    );
    expect(run.order).toEqual(["a", "b", "c", "b", "c", "a", "b", "c", "b", "c"]);
    expect(run.events("goto.taken").map(({ to, goto, max }) => `${to} ${goto}/${max}`)).toEqual([
      "b 1/3",
      "a 2/3",
      "b 3/3",
    ]);
  });

  it("is looked at before goto_js is evaluated", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto_js: "return 'setup'", goto_max: 2 } }`,
      { test: ["fail"] },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start test",
      "fail test EXIT_1",
      'evaluated test on_fail.goto_js: "setup"',
      "climb test goto",
      "goto test -> setup after failure 1/2, loop 1",
      "again setup test",
      "start setup",
      "ok setup",
      "start test",
      "fail test EXIT_1",
      'evaluated test on_fail.goto_js: "setup"',
      "climb test goto",
      "goto test -> setup after failure 2/2, loop 2",
      "again setup test",
      "start setup",
      "ok setup",
      "start test",
      "fail test EXIT_1",
      "climb test fail",
      "failed test EXIT_1",
      "run failed EXIT_1",
    ]);
    expect(run.events("evaluation.requested")).toHaveLength(2);
  });

  it("counts gotos, not questions: a goto_js that gives null uses nothing", async () => {
    const run = await trial(
      `queue: { max_attempts: 3, classes: [application] }
steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto_js: "return attempt === 2 ? 'setup' : null", goto_max: 1 } }`,
      { test: ["fail"] },
    );
    expect(run.order).toEqual(["setup", "test", "test", "setup", "test", "test"]);
    expect(run.events("evaluation.requested")).toHaveLength(2);
  });

  it("is looked at before max_loops: a goto that is used up exceeds nothing", async () => {
    const run = await trial(
      `routing: { max_loops: 1 }
steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }
  fallback: { exec: make }
transitions: [{ from: test, to: fallback, on: failure }]`,
      { test: ["fail"] },
    );
    expect(run.order).toEqual(["setup", "test", "setup", "test", "fallback"]);
    expect(run.run.status).toBe("completed");
  });

  it("max_loops still ends a goto whose bound is larger", async () => {
    const run = await trial(
      `routing: { max_loops: 1 }
steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 2 } } }`,
      { test: ["fail"] },
    );
    expect(run.order).toEqual(["setup", "test", "setup", "test"]);
    expect(run.run.error).toMatchObject({
      code: "LOOP_BUDGET_EXCEEDED",
      message: "test: exit code 1 (EXIT_1), and max_loops (1) is used up: 1 loop",
    });
  });

  it("of 0 turns the goto off", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: setup, goto_max: 0 } }`,
      { test: ["fail"] },
    );
    expect(run.order).toEqual(["setup", "test"]);
    expect(reasonsOf(run, "goto")).toEqual(["false no gotos left (0 used)"]);
  });

  it("is counted per job over all its visits, also those that the goto of another step gives it", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }
  check: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }`,
      { test: ["fail", "ok", "fail"], check: ["fail", "ok"] },
      { capacity: 1 },
    );
    // test goes back (1), check goes back (1), then test has no goto left.
    expect(run.events("goto.taken").map(({ job, goto }) => [job, goto])).toEqual([
      [run.job("test").id, 1],
      [run.job("check").id, 1],
    ]);
    expect(run.job("test")).toMatchObject({ status: "failed", visit: 3 });
    expect(run.run.error?.code).toBe("EXIT_1");
  });

  it("without a bound goes on until max_loops", async () => {
    const run = await trial(
      `routing: { max_loops: 3 }
steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  fallback: { exec: make }
transitions: [{ from: test, to: fallback, on: failure }]`,
      { test: ["fail"] },
    );
    expect(run.order.filter((step) => step === "test")).toHaveLength(4);
    expect(run.order).not.toContain("fallback");
    expect(run.run.error?.code).toBe("LOOP_BUDGET_EXCEEDED");
  });
});

describe("the README's own ladder", () => {
  it("reaches its last rungs: again, repaired, back, elsewhere, and in the end somebody is asked", async () => {
    const readme = await readFile(join(repositoryRoot, "README.md"), "utf8");
    const text = /## A workflow\n.*?```yaml\n(.*?)```/s.exec(readme)![1]!;
    expect(parse(text)).toMatchObject({ unhandled: "hold", transitions: [{ to: "fallback" }] });
    const round = ["setup", "test", "test", "test", "lint-fix", "test"];
    const run = await trial(text, { test: ["fail"], fallback: ["fail"] });
    expect(run.order).toEqual([...round, ...round, "fallback"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      ...["retry", "retry", "remediate", "goto"],
      ...["retry", "retry", "remediate", "edge", "hold"],
    ]);
    expect(run.run.status).toBe("held");
  });
});

describe("a bound on on_success.goto", () => {
  it("once it is used up the dependents are released and the transitions tried", {
    tags: ["V11"],
  }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make }
  polish: { exec: make, depends_on: build, on_success: { goto: { step: build, max: 2 } } }
  ship: { exec: make, depends_on: polish }
  tell: { exec: make }
transitions: [{ from: polish, to: tell }]`,
    );
    expect(trace(run)).toEqual([
      "start build",
      "ok build",
      "start polish",
      "ok polish",
      "goto polish -> build after success 1/2, loop 1",
      "again build polish ship",
      "start build",
      "ok build",
      "start polish",
      "ok polish",
      "goto polish -> build after success 2/2, loop 2",
      "again build polish ship",
      "start build",
      "ok build",
      "start polish",
      "ok polish",
      "edge 1 polish -> tell on success",
      "start tell",
      "start ship",
      "ok tell",
      "ok ship",
      "run completed",
    ]);
  });

  it("is looked at before goto_js is evaluated and before max_loops", { tags: ["V11"] }, async () => {
    const run = await trial(
      `routing: { max_loops: 1 }
steps:
  build: { exec: make }
  polish: { exec: make, depends_on: build, on_success: { goto_js: "return 'build'", goto_max: 1 } }
  ship: { exec: make, depends_on: polish }`,
    );
    expect(run.order).toEqual(["build", "polish", "build", "polish", "ship"]);
    expect(run.events("evaluation.requested")).toHaveLength(1);
    expect(run.events("loop.exceeded")).toEqual([]);
    expect(run.run.status).toBe("completed");
  });

  it("is counted apart from that of on_fail", async () => {
    const run = await trial(
      `steps:
  build: { exec: make }
  polish:
    exec: make
    depends_on: build
    on_fail: { goto: { step: build, max: 1 } }
    on_success: { goto: { step: build, max: 1 } }
  ship: { exec: make, depends_on: polish }`,
      { polish: ["fail", "ok", "fail"] },
    );
    expect(trace(run).filter((line) => /^(goto|climb|failed)/.test(line))).toEqual([
      "climb polish goto",
      "goto polish -> build after failure 1/1, loop 1",
      "goto polish -> build after success 1/1, loop 2",
      "climb polish fail",
      "failed polish EXIT_1",
    ]);
    const other = await trial(
      `steps:
  build: { exec: make }
  polish:
    exec: make
    depends_on: build
    on_fail: { goto: { step: build, max: 1 } }
    on_success: { goto: { step: build, max: 1 } }
  ship: { exec: make, depends_on: polish }`,
      { polish: ["ok", "fail", "ok"] },
    );
    expect(other.order).toEqual(["build", "polish", "build", "polish", "build", "polish", "ship"]);
    expect(other.run.status).toBe("completed");
  });
});

describe("a bound in the items of a fan-out", () => {
  it("is counted for each item, and anew in a new generation", async () => {
    const run = await trial(
      `routing: { max_loops: 5 }
steps:
  list: { exec: make, forEach: true }
  fetch: { exec: "{{ foreach.index }}", depends_on: list }
  work: { exec: "{{ foreach.index }}", depends_on: fetch, on_fail: { goto: { step: fetch, max: 1 } } }
  sum: { exec: make, depends_on: work, fanout: reduce, join: any, on_success: { goto: { step: list, max: 1 } } }`,
      {
        list: [{ output: ["a", "b"] }],
        work: ({ variables }) => ((variables.foreach as { index: number }).index === 0 ? "fail" : "ok"),
      },
      { capacity: 1 },
    );
    const gotos = run.events("goto.taken").map(({ job, goto, loop }) => {
      const { step, scope } = run.jobs.find(({ id }) => id === job)!;
      return `${step} in ${scope}: goto ${goto}, loop ${loop}`;
    });
    expect(gotos).toEqual([
      "work in root/list[0]: goto 1, loop 1",
      "sum in root: goto 1, loop 1",
      "work in root/list[0]: goto 1, loop 1",
    ]);
    expect(run.order.filter((step) => step === "work[0]")).toHaveLength(4);
    expect(run.order.filter((step) => step === "work[1]")).toHaveLength(2);
    expect(run.run.status).toBe("completed");
  });
});
