import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadDefinition } from "../../../src/file/load.js";
import { trial } from "../../support/harness.js";
import { repositoryRoot } from "../../support/repository-root.js";
import type { Script } from "../../support/scripted-worker.js";
import { trace } from "../../support/trace.js";
import { definitionOf, fullWarningsOf, problemsOf, REAL_CHECKS } from "../../support/workflow-text.js";

/**
 * The shapes of the files that others have published (test/fixtures/peers): which keys stand beside each other, and how they
 * are written. The names and commands are ours. A file of such a shape loads as it is, and runs as its author means it.
 */
interface Peer {
  readonly about: string;
  readonly steps: number;
  /** Places of warnings: keys that describe the workflow and change nothing of what runs. */
  readonly warnings?: readonly string[];
  readonly script?: Script;
  /** Where the order of attempts is fixed by the file; one attempt of each step, if missing. */
  readonly order?: readonly string[];
}

const PEERS: Readonly<Record<string, Peer>> = {
  "many-jobs": { about: "many jobs of one line", steps: 100 },
  diamond: {
    about: "a diamond whose files stand only in its commands",
    steps: 4,
    order: ["fold", "paint_left", "paint_right", "glue"],
  },
  "exit-codes": {
    about: "rules for exit codes with a recovery script",
    steps: 3,
    script: { cross_1: [{ exit: 10 }, { exit: 12 }, "ok"], cross_2: [{ exit: 11 }, "ok"] },
    order: [
      "cross_1",
      "cross_1 script",
      "cross_1",
      "cross_1",
      "cross_2",
      "cross_2 script",
      "cross_2",
      "rest",
    ],
  },
  "every-exit-code": {
    about: "one rule for every exit code",
    steps: 2,
    script: { knock: [{ exit: 3 }, { exit: 4 }, "ok"] },
    order: ["knock", "knock", "knock", "enter"],
  },
  "shared-fan-in": { about: "a sweep with a fan-in that has its parameters, but not in its name", steps: 10 },
  grid: { about: "a grid of parameters, with files", steps: 10 },
  "grid-shared": { about: "the same grid, its parameters once at the top", steps: 10 },
  "grid-lists": {
    about: "the same grid with lists, and words about the project",
    steps: 10,
    warnings: ["project", "metadata"],
  },
  ranges: { about: "ranges with steps and padded names", steps: 32, warnings: ["metadata"] },
  pairs: { about: "pairs of parameters", steps: 5 },
  barriers: { about: "stages with barriers between them", steps: 42 },
  "file-regexes": { about: "a fan-in of files by regular expressions that have parameters", steps: 9 },
  commands: {
    about: "commands at the start and at the end",
    steps: 4,
    order: ["action_1_on_workflow_start", "rise", "work", "action_2_on_workflow_complete"],
  },
  nodes: { about: "commands around groups of jobs, and nodes for them", steps: 5 },
  samples: {
    about: "samples over time, and defaults for Slurm",
    steps: 1,
    warnings: ["resource_monitor.metrics", "resource_monitor.compute_node"],
  },
  nulls: {
    about: "values, files with times, and keys that are null",
    steps: 2,
    warnings: ["files[1].st_mtime", "files[1].must_exist", "files[1].identifier"],
    script: { collect: [{ output: null, userData: { stamp: { price: 95 } } }] },
    order: ["collect", "sort"],
  },
  values: { about: "values with parameters", steps: 2 },
  variables: { about: "texts for the whole file, and a job for a labelled worker", steps: 6 },
};

const FILES = Object.entries(PEERS).map(([name, peer]) => ({ name, ...peer }));
const FOLDER = join(repositoryRoot, "test/fixtures/peers");
const textOf = (name: string): string => readFileSync(join(FOLDER, `${name}.yaml`), "utf8");

describe("a file in the shape of a published one", () => {
  it("is here for every shape", () => {
    expect(readdirSync(FOLDER).sort()).toEqual(FILES.map(({ name }) => `${name}.yaml`).sort());
  });

  it.each(FILES)("loads: $about", ({ name, steps, warnings = [] }) => {
    const found = fullWarningsOf(textOf(name), REAL_CHECKS);
    const unread = found.filter(({ code }) => code === "NO_EFFECT");
    expect(unread.map(({ path }) => path)).toEqual(warnings);
    expect(definitionOf(textOf(name), REAL_CHECKS).steps).toHaveLength(steps);
  });

  it.each(FILES.filter(({ name }) => name !== "variables"))(
    "runs to its end: $about",
    async ({ name, script = {}, order, steps }) => {
      const done = await trial(textOf(name), script);
      expect(done.run.status).toBe("completed");
      if (order !== undefined) expect(done.order).toEqual(order);
      else expect(new Set(done.order).size).toBe(steps);
    },
  );

  it("has its texts filled in, and its labelled job waits for such a worker", () => {
    const definition = definitionOf(textOf("variables"));
    const step = (id: string) => definition.steps.find((each) => each.id === id);
    expect(step("age_03")?.action).toMatchObject({ exec: "age --barrel 3 --in /wine/2026/must" });
    expect(step("press")?.files?.outputs).toEqual(["/wine/2026/must"]);
    expect(step("taste")?.runsOn).toEqual(["sommelier"]);
    expect(definition.env).toEqual({ OWNER: "vintners" });
    expect(definition.schedulers).toMatchObject([{ name: "cask", account: "vintners" }]);
  });
});

describe("a key of such a file that would change what runs", () => {
  it.each([
    ["datasets: [{ name: d, path: p/, hash_mode: manifest }]", "", "depends_on"],
    ["name: n", ", input_datasets: [d]", "depends_on"],
    ["name: n", ", output_datasets: [d]", "depends_on"],
    ["parameters_file: table.csv", "", "parameter_mode: zip"],
    ["name: n", ", use_parameters_file: true", "parameter_mode: zip"],
    ["dynamic_jobs: { max_iterations: 10 }", "", "forEach"],
    ["slurm_schedulers: [{ name: s, serialize_allocations: true }]", "", "num_allocations"],
    ["execution_config: { mode: direct }", "", "kill_grace_ms"],
    ["name: n", ", priority: 5", "jobs_sort_method"],
    ["name: n", ", stdio: { mode: none }", "max_log"],
  ])("is refused with what to write instead: %s%s", (top, key, instead) => {
    const [problem, ...others] = problemsOf(`${top}\njobs: [{ name: a, command: x${key} }]`);
    expect(problem).toMatchObject({ code: "UNKNOWN_KEY" });
    expect(problem!.message).toContain(instead);
    expect(others).toEqual([]);
  });

  it("is no warning in a file with steps, where these words are another program's", () => {
    const loaded = loadDefinition("project: p\nsteps: { a: { exec: x } }", {
      file: "w.yaml",
      ...REAL_CHECKS,
    });
    expect(loaded.ok ? [] : loaded.problems.map(({ code }) => code)).toEqual(["UNKNOWN_KEY"]);
  });
});

describe("texts of the whole file", () => {
  it.each([
    ["a parameter has the same name", "parameters: { a: [1] }", "t_{a}", "parameters.a"],
    ["a text is asked for as a number", "", "t_{a:03d}", "jobs[0].name"],
  ])("are refused where %s", (_, top, name, path) => {
    const text = `variables: { a: x }\n${top}\njobs: [{ name: "${name}", command: "echo {a}", use_parameters: [] }]`;
    expect(problemsOf(text).map((problem) => `${problem.code} ${problem.path}`)).toContain(
      `INVALID_VALUE ${path}`,
    );
  });

  it("leave alone what is a shell's or a template's", () => {
    const others = "$" + "{a} {{ inputs.a }} {b}";
    const text = `variables: { a: x }\ninputs: { a: string }\njobs: [{ name: t, command: "echo {a} ${others}" }]`;
    expect(definitionOf(text).steps[0]!.action).toMatchObject({ exec: `echo x ${others}` });
  });
});

describe("the examples that other designs give", () => {
  it("a workflow with defaults, repairs and ways back loads with `depends_on` added, and nothing else", {
    tags: ["V12"],
  }, async () => {
    const text = (needs: { test: string; sum: string }) => `version: "2.0"

# defaults
routing:
  max_loops: 10              # at most
  defaults:
    on_fail:
      retry:
        max: 0
        backoff:
          mode: fixed        # fixed|exponential
          delay_ms: 2000

steps:
  fetch-tools:
    type: command
    exec: "make tools"

  check-parts:
    type: command
    exec: "make check"
    ${needs.test}
    on_fail:
      retry: { max: 1, backoff: { mode: fixed, delay_ms: 3000 } }
      goto: fetch-tools
      goto_js: |
        // step, attempt, loop, error, foreach, outputs, pr, files
        if (error.message?.includes('tool missing')) return 'fetch-tools';
        return null;

      run_js: |
        const fixes = [];
        if (error.stderr?.includes('burr')) fixes.push('file-edges');
        return fixes;

  file-edges:
    type: command
    exec: "make edges"

  weld:
    type: command
    exec: "make weld"
    on_fail:
      run: [file-edges]
      retry: { max: 1 }

  sign-off:
    type: command
    exec: "node sign.js"
    ${needs.sum}
    on_success:
      run: [ring]
      goto: check-parts
      goto_js: |
        if (/again/i.test(outputs?.inspector ?? '')) return 'check-parts';
        return null;

  ring:
    type: command
    exec: "echo ring"
`;
    const whole = text({ test: "depends_on: [fetch-tools]", sum: "depends_on: [check-parts, weld]" });
    expect(problemsOf(whole, REAL_CHECKS)).toEqual([]);
    expect(fullWarningsOf(whole, REAL_CHECKS).map(({ code, path }) => [code, path])).toContainEqual([
      "UNKNOWN_STEP",
      "steps.sign-off.on_success.goto_js",
    ]);
    expect(problemsOf(text({ test: "", sum: "" }), REAL_CHECKS).map(({ code }) => code)).toEqual([
      "GOTO_NOT_ANCESTOR",
      "GOTO_NOT_ANCESTOR",
    ]);
    // As it stands it goes back after each success: its own bound ends it.
    const done = await trial(whole, { "check-parts": [{ exit: 1, stderr: "burr" }, "ok"] });
    expect(done.run).toMatchObject({ status: "failed", error: { code: "LOOP_BUDGET_EXCEEDED" } });
    expect(done.order.filter((step) => step === "sign-off").length).toBeGreaterThan(1);
  });

  it("an action with a policy of retries, and a transition on the error's presence", async () => {
    const exists = "{ type: exists, field: { type: field, path: state._last_error } }";
    const steps = `steps:
  ask:
    kind: command
    implementation: { exec: ask }
    execution:
      timeout_ms: 30000
      retry_policy:
        max_attempts: 3
        backoff: exponential
        initial_delay_ms: 1000
        max_delay_ms: 10000
        retryable_errors: ['503', '429', 'TIMEOUT', 'NETWORK_ERROR']
  happy: { exec: "true" }
  sorry: { exec: "true" }
transitions:
  - { from_node_id: ask, to_node_id: happy, priority: 1, condition: { type: not, condition: ${exists} } }
  - { from_node_id: ask, to_node_id: sorry, priority: 2, condition: ${exists} }
`;
    const busy = { facts: { message: "503", httpStatus: 503 } } as const;
    const failed = await trial(steps, { ask: [busy] });
    expect(failed.order).toEqual(["ask", "ask", "ask", "sorry"]);
    expect(failed.times.slice(0, 3)).toEqual([0, 1_000, 3_000]);
    expect((await trial(steps, { ask: [busy, "ok"] })).order).toEqual(["ask", "ask", "happy"]);
  });

  it("rules for exit codes: who has none, or none that matches, waits; who has used them up has failed", async () => {
    const jobs = `failure_handlers:
  - name: retake
    rules: [{ match_all_exit_codes: true, max_retries: 2 }, { exit_codes: [10, 11], max_retries: 3 }]
  - name: only_ten
    rules: [{ exit_codes: [10] }]
jobs:
  - { name: retried, command: x, failure_handler: retake }
  - { name: used_up, command: x, failure_handler: retake }
  - { name: unmatched, command: x, failure_handler: only_ten }
  - { name: bare, command: x }
  - { name: behind, command: x, depends_on: [bare] }
`;
    const done = await trial(jobs, {
      retried: [{ exit: 10 }, { exit: 11 }, "ok"],
      used_up: [{ exit: 7 }],
      unmatched: [{ exit: 11 }],
      bare: [{ exit: 1 }],
    });
    expect(done.run.status).toBe("held");
    expect(done.jobs.map(({ step, status, attempt_id }) => [step, status, attempt_id])).toEqual([
      ["retried", "completed", 3],
      ["used_up", "failed", 2],
      ["unmatched", "held", 1],
      ["bare", "held", 1],
      ["behind", "blocked", 0],
    ]);
  });

  it("budgets of self-healing: soft resets, then a fresh workspace once, then the queue, then nothing", async () => {
    const steps = `workspace: { repo: ., ref: main }
self_heal:
  step_max_attempts: 3
  step_timeout_seconds: 900
  step_idle_timeout_seconds: 300
  step_no_progress_limit: 2
  job_self_heal_max_resets: 1
queue: { max_attempts: 2 }
steps:
  draft: { type: agent, exec: [./agent], prompt: Draft. }
  polish: { type: agent, exec: [./agent], prompt: Polish., depends_on: [draft] }
`;
    const stuck = { exit: 1, stderr: "the same 3 tests fail", diffHash: "d1" } as const;
    const done = await trial(steps, { polish: [stuck] });
    expect(trace(done).filter((line) => /^(start|retry|reset|requeue|dead|run)/.test(line))).toEqual([
      ...["start draft", "start polish", "retry polish 1/2 +0", "start polish"],
      ...["reset polish for no_progress 1/1", "start polish", "requeue polish 1/1 +15000"],
      ...["reset polish for requeue", "start polish", "retry polish 1/2 +0", "start polish"],
      "dead letter polish after 2",
      "run failed EXIT_1",
    ]);
  });

  it("edges in the words of a graph of nodes", async () => {
    const steps = `steps: { design: { exec: x }, mend: { exec: x }, ship: { exec: x } }
transitions:
  - { sourceNodeKey: design, targetNodeKey: mend, routeOn: failure, priority: 0 }
  - { sourceNodeKey: design, targetNodeKey: ship, routeOn: success, priority: 0 }
`;
    expect((await trial(steps, { design: ["fail"] })).order).toEqual(["design", "mend"]);
    expect((await trial(steps)).order).toEqual(["design", "ship"]);
  });
});
