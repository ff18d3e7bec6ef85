import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

const LADDER = `unhandled: hold
routing:
  max_loops: 20
  defaults:
    on_fail: { retry: { max: 1 }, run: [fix], goto: { step: setup, max: 1 } }
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup }
  fix: { exec: make }
  after: { exec: make, depends_on: build }`;

describe("a command that is not found", () => {
  const missing = { exit: 127 } as const;

  it.each([
    ["self_heal: true", "", ["fail"]],
    ["", "on_fail: { retry: { max: 2 } }", ["fail"]],
    ["", "on_fail: { retry: { max: 1, on: [EXIT_127] } }", ["retry", "fail"]],
    [
      "failure_handlers: [{ name: h, rules: [{ exit_codes: [127], max_retries: 2 }] }]",
      "failure_handler: h",
      ["rule", "fail"],
    ],
  ])("is tried again only where a rule or a retry names it: %s %s", async (top, own, rungs) => {
    const step = ["exec: make", ...(own === "" ? [] : [own])].join(", ");
    const run = await trial(`${top}\nsteps: { a: { ${step} } }`, { a: [missing] });
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(rungs);
    expect(run.run.error).toMatchObject({ code: "EXIT_127", class: "deterministic_contract" });
  });
});

describe("routing.defaults.on_fail climbs like the same keys in every step", () => {
  it("retries, repairs, goes back once and then holds, in this order", { tags: ["V8"] }, async () => {
    const run = await trial(LADDER, { build: ["fail"] });
    const visit = ["start build", "fail build EXIT_1"];
    const tries = ["climb build retry", "climb build remediate"];
    expect(run.order).toEqual([
      ...["setup", "build", "build", "fix", "build"],
      ...["setup", "build", "build", "fix", "build"],
    ]);
    const climbs = trace(run).filter((line) => /^(climb|fail|held) build|start build/.test(line));
    const round = [...visit, tries[0], ...visit, tries[1], ...visit];
    expect(climbs).toEqual([...round, "climb build goto", ...round, "climb build hold", "held build EXIT_1"]);
    expect(run.run.status).toBe("held");
  });

  it("leaves the step that everything goes back to with what it may have: its retry", {
    tags: ["V8"],
  }, async () => {
    const run = await trial(LADDER, { setup: ["fail"] });
    expect(run.order).toEqual(["setup", "setup", "fix", "setup"]);
    const considered = run.events("ladder.climbed").at(-1)!.considered;
    expect(considered.find(({ rung }) => rung === "goto")?.reason).toBe("on_fail.goto is not set");
    expect(run.run.status).toBe("held");
  });

  it("lets a step's own keys win, one by one", { tags: ["V8"] }, async () => {
    const run = await trial(
      `routing: { defaults: { on_fail: { run: [fix], goto: setup, goto_max: 1 } } }
steps:
  setup: { exec: make }
  middle: { exec: make, depends_on: setup }
  build: { exec: make, depends_on: middle, on_fail: { run: [own], goto: middle } }
  fix: { exec: make }
  own: { exec: make, start: routed }`,
      { build: ["fail"] },
    );
    expect(run.order).toEqual([
      ...["setup", "middle", "build", "own", "build"],
      ...["middle", "build", "own", "build"],
    ]);
    expect(run.run.error?.code).toBe("EXIT_1");
  });

  it("asks a default's expressions for the step that failed", { tags: ["V8"] }, async () => {
    const run = await trial(
      `routing:
  defaults:
    on_fail:
      run_js: "return error.exit_code === 3 ? ['fix'] : []"
      goto_js: "return step.id === 'build' ? 'setup' : null"
      goto_max: 1
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup }
  test: { exec: make, depends_on: build }
  fix: { exec: make, start: routed }`,
      { build: [{ exit: 3 }, { exit: 4 }, "ok"], test: [{ exit: 4 }] },
    );
    expect(run.order).toEqual(["setup", "build", "fix", "build", "setup", "build", "test"]);
    expect(run.run.error?.code).toBe("EXIT_4");
  });

  it("counts the gotos of each item of a fan-out apart", { tags: ["V8"] }, async () => {
    const run = await trial(
      `routing: { defaults: { on_fail: { goto: { step: first, max: 1 } } } }
steps:
  list: { exec: make, forEach: true }
  first: { exec: make, depends_on: list }
  second: { exec: make, depends_on: first }
  all: { exec: make, depends_on: second, fanout: reduce }`,
      { list: [{ output: [1, 2] }], second: ["fail", "ok"] },
    );
    expect(run.run.status).toBe("completed");
    const round = ["first", "first", "second", "second"];
    expect(run.order).toEqual(["list", ...round, ...round, "all"]);
  });
});
