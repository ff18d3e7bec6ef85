import { describe, expect, it } from "vitest";
import {
  definitionOf,
  fullWarningsOf,
  problemsOf,
  summaryOf,
  warningsOf,
} from "../../../test/support/workflow-text.js";

const stepsOf = (text: string) => definitionOf(text).steps;
const needsOf = (text: string) =>
  Object.fromEntries(stepsOf(text).map((step) => [step.id, step.dependsOn.map((group) => group.join("|"))]));

describe("keys of the batch form", () => {
  it("keeps what the file says about itself, and about a job with its values filled in", () => {
    const text = `
name: sweep
description: Finds the best rate.
user: ana
jobs: [{ name: "t_{i}", command: x, parameters: { i: [7] }, description: "rate {i}" }, { name: b, command: x }]
`;
    const definition = definitionOf(text);
    expect(definition).toMatchObject({ description: "Finds the best rate.", user: "ana" });
    expect(definition.steps.map((step) => step.description)).toEqual(["rate 7", undefined]);
    expect(definitionOf("steps: { a: { exec: x, description: why } }").steps[0]!.description).toBe("why");
  });

  it("takes null for a key that is not given, at every level", () => {
    const bare = "name: n\njobs: [{ name: a, command: x, resource_requirements: { num_cpus: 2 } }]";
    const full = `
name: n
description: null
user: ~
files: null
failure_handlers: null
jobs:
  - { name: a, command: x, depends_on: null, env: null, timeout_ms: null, parameters: null,
      resource_requirements: { num_cpus: 2, memory: null, runtime: null } }
`;
    expect(definitionOf(full)).toEqual(definitionOf(bare));
    expect(summaryOf("steps: { a: { exec: x, env: null } }")).toEqual(["WRONG_TYPE 1:29 steps.a.env"]);
    expect(summaryOf("jobs: [{ name: a, command: null }]")).toEqual(["MISSING_KEY 1:8 jobs[0]"]);
  });

  it.each([
    ["blocked_by_job_names", "depends_on"],
    ["blocked_by", "depends_on"],
    ["blocked_by_regexes", "depends_on_regexes"],
    ["input_file_names", "input_files"],
    ["resource_requirements_name", "resource_requirements"],
    ["scheduler_name", "scheduler"],
  ])("says what %s of older files is called: %s", (older, key) => {
    expect(problemsOf(`jobs: [{ name: a, command: x, ${older}: [b] }]`)).toMatchObject([
      { code: "UNKNOWN_KEY", hint: `Rename it to \`${key}\`.` },
    ]);
  });

  it.each([
    [
      "execution_config: { mode: auto }",
      "",
      "how jobs start is in the settings of the cluster, how they end in their `kill_grace_ms`",
    ],
    ["name: n", ", priority: 5", "`jobs_sort_method` says which of the ready jobs start first"],
  ])("refuses %s%s, which it does not have, with what does the same", (top, key, instead) => {
    const [problem, ...others] = problemsOf(`${top}\njobs: [{ name: a, command: x${key} }]`);
    expect(problem).toMatchObject({ code: "UNKNOWN_KEY", hint: "Move or remove the key." });
    expect(problem!.message.endsWith(` here: ${instead}`)).toBe(true);
    expect(others).toEqual([]);
  });

  it("puts invocation_script before the command on the same line", () => {
    const text = `jobs: [{ name: "a_{i}", command: "run {i}", invocation_script: "env.sh --part {i}", parameters: { i: [3] } }]`;
    expect(stepsOf(text)[0]!.action).toMatchObject({ exec: "env.sh --part 3 run 3" });
  });

  it("checks templates of invocation_script as those of the command", () => {
    const options = {
      checkTemplate: (text: string) => (text.includes("{{") ? { message: "bad", line: 1, column: 1 } : null),
    };
    expect(
      problemsOf('jobs: [{ name: a, command: x, invocation_script: "{{" }]', options).map(({ path }) => path),
    ).toEqual(["jobs[0].invocation_script"]);
  });

  it.each([
    ["use_pending_failed: true", "hold"],
    ["use_pending_failed: false", "fail"],
    ["use_pending_failed: null", "hold"],
    ["use_pending_failed: false\nunhandled: fail", "fail"],
  ])("reads %j as unhandled: %s", (line, unhandled) => {
    expect(definitionOf(`${line}\njobs: [{ name: a, command: x }]`).unhandled).toBe(unhandled);
  });

  it("refuses a use_pending_failed that contradicts unhandled", () => {
    expect(summaryOf("use_pending_failed: true\nunhandled: fail\njobs: [{ name: a, command: x }]")).toEqual([
      "INVALID_VALUE 1:21 use_pending_failed",
    ]);
  });

  it("kills a job at once that does not support termination", () => {
    const graceOf = (more: string) => stepsOf(`jobs: [{ name: a, command: x${more} }]`)[0]!.killGraceMs;
    expect(graceOf(", supports_termination: false")).toBe(0);
    expect(graceOf(", supports_termination: true, kill_grace_ms: 9s")).toBe(9_000);
    expect(graceOf(", supports_termination: true")).toBe(graceOf(""));
    expect(
      summaryOf("jobs: [{ name: a, command: x, supports_termination: false, kill_grace_ms: 1s }]"),
    ).toEqual(["INVALID_VALUE 1:8 jobs[0]"]);
  });

  it.each([
    ["cancel_on_blocking_job_failure: false", "settled"],
    ["needs: settled", "settled"],
    ["cancel_on_blocking_job_failure: true", undefined],
    ["needs: completed", undefined],
    ["cancel_on_blocking_job_failure: null", undefined],
  ])("reads %s as needs: %s", (line, needs) => {
    const text = `jobs: [{ name: a, command: x }, { name: b, command: x, depends_on: a, ${line} }]`;
    expect(stepsOf(text)[1]!.needs).toBe(needs);
  });

  it("refuses both spellings, and `needs: settled` on a reducer", () => {
    expect(
      summaryOf("jobs: [{ name: a, command: x, needs: settled, cancel_on_blocking_job_failure: false }]"),
    ).toEqual(["INVALID_VALUE 1:8 jobs[0]"]);
    expect(
      summaryOf(
        "steps: { a: { exec: x, forEach: true }, b: { exec: x, depends_on: a, fanout: reduce, needs: settled } }",
      ),
    ).toEqual(["FAN_OUT 1:93 steps.b.needs"]);
  });

  it.each(["parameters: { i: [1] }", "use_pending_failed: true"])("refuses %s beside steps", (line) => {
    const [problem, ...others] = problemsOf(`${line}\nsteps: { a: { exec: x } }`);
    expect(problem).toMatchObject({ code: "UNKNOWN_KEY", line: 1, column: 1 });
    expect(others).toEqual([]);
  });
});

describe("shared parameters", () => {
  const text = (use: string, own = "") => `
parameters: { lr: [0.1, 0.2], batch: [16, 32], seed: "1:2" }
jobs: [{ name: "t_{lr}_{batch}", command: "x {seed}", use_parameters: ${use}${own} }]
`;

  it("are those of the top that a job asks for, in its order", () => {
    expect(stepsOf(text("[lr, batch]")).map(({ id, action }) => `${id}: ${action.exec}`)).toEqual([
      "t_0.1_16: x {seed}",
      "t_0.1_32: x {seed}",
      "t_0.2_16: x {seed}",
      "t_0.2_32: x {seed}",
    ]);
  });

  it("give way to the job's own of the same name", () => {
    expect(stepsOf(text("[lr]", ", parameters: { lr: [9], batch: [1] }")).map(({ id }) => id)).toEqual([
      "t_9_1",
    ]);
  });

  it("are zipped with the job's own", () => {
    expect(
      stepsOf(text("[lr]", ", parameter_mode: zip, parameters: { batch: [1, 2] }")).map(({ id }) => id),
    ).toEqual(["t_0.1_1", "t_0.2_2"]);
  });

  it("are told when a name is unknown, with the nearest one", () => {
    expect(problemsOf(text("[lr, bach]"))).toMatchObject([
      { code: "INVALID_VALUE", path: "jobs[0].use_parameters[1]", line: 3 },
    ]);
    expect(problemsOf(text("[lr, bach]"))[0]!.message).toContain("did you mean `batch`");
  });

  it("link jobs of equal values", () => {
    expect(
      needsOf(`
parameters: { i: "1:2" }
jobs:
  - { name: "a_{i}", command: x, use_parameters: [i] }
  - { name: "b_{i}", command: x, use_parameters: [i], depends_on: ["a_{i}"] }
`),
    ).toEqual({ a_1: [], a_2: [], b_1: ["a_1"], b_2: ["a_2"] });
  });
});

describe("depends_on_regexes", () => {
  it("means every other job in whose name one of them is found", () => {
    expect(
      needsOf(`
jobs:
  - { name: "work_{i:02d}", command: x, parameters: { i: "1:3" } }
  - { name: prepare, command: x }
  - { name: barrier, command: x, depends_on_regexes: ["^work_", "pare$", "b"] }
  - { name: "after_{i:02d}", command: x, parameters: { i: "1:2" }, depends_on: prepare, depends_on_regexes: ["^work_{i:02d}$"] }
`),
    ).toMatchObject({
      barrier: ["work_01", "work_02", "work_03", "prepare"],
      after_01: ["prepare", "work_01"],
      after_02: ["prepare", "work_02"],
    });
  });

  it("keeps a quantifier's braces, which name no parameter", () => {
    expect(
      needsOf(
        'jobs: [{ name: a_123, command: x }, { name: b, command: x, depends_on_regexes: ["_[0-9]{3}$"] }]',
      ).b,
    ).toEqual(["a_123"]);
  });

  it.each([
    ["(", "missing closing )"],
    ["(a)\\\\1", "invalid escape sequence"],
    ["(?=a)", "invalid or unsupported Perl syntax"],
  ])("refuses %s with the reason", (pattern, reason) => {
    const [problem] = problemsOf(`jobs: [{ name: a, command: x, depends_on_regexes: ["${pattern}"] }]`);
    expect(problem).toMatchObject({ code: "INVALID_VALUE", path: "jobs[0].depends_on_regexes[0]" });
    expect(problem!.message).toContain(reason);
  });

  it("warns of one that is found nowhere else", () => {
    const text = 'jobs: [{ name: a, command: x, depends_on_regexes: ["^a$", "^z"] }]';
    expect(warningsOf(text)).toEqual([
      "NO_EFFECT jobs[0].depends_on_regexes[0]",
      "NO_EFFECT jobs[0].depends_on_regexes[1]",
    ]);
    expect(fullWarningsOf(text)[1]!.message).toBe("`^z` is found in no other job's name");
  });

  it("takes time in proportion to the names, whatever the pattern", () => {
    const names = Array.from(
      { length: 2_000 },
      (_, place) => `{ name: ${"a".repeat(150)}_${place}, command: x }`,
    );
    const text = `jobs: [${names.join(", ")}, { name: z, command: x, depends_on_regexes: ["(a+)+$"] }]`;
    expect(needsOf(text).z).toEqual([]);
  });

  it("finds a circle", () => {
    expect(
      summaryOf(
        'jobs: [{ name: a, command: x, depends_on: b }, { name: b, command: x, depends_on_regexes: ["a"] }]',
      ),
    ).toEqual(["CYCLE 1:16 jobs[0]"]);
  });
});
