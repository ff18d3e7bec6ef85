import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, summaryOf, warningsOf } from "../../../test/support/workflow-text.js";

const idsOf = (text: string) => definitionOf(text).steps.map((step) => step.id);
const commandOf = (parameters: string, command: string) =>
  definitionOf(`jobs: [{ name: "j_{i}", parameters: ${parameters}, command: '${command}' }]`).steps.map(
    (step) => step.action.exec,
  );
const needsOf = (text: string) =>
  Object.fromEntries(
    definitionOf(text).steps.map((step) => [step.id, step.dependsOn.map((group) => group.join("|"))]),
  );

describe("the batch form", () => {
  it("lets jobs made from one text share what they say alike", () => {
    const [first, second] = definitionOf(`
jobs: [{ name: "j_{i}", parameters: { i: "1:2" }, command: x, runs_on: [gpu, fast], tags: [night, night] }]`).steps;
    expect(first?.runsOn).toEqual(["gpu", "fast"]);
    expect(second?.runsOn).toBe(first?.runsOn);
    expect(second?.tags).toEqual(["night"]);
  });

  it("gives jobs made from one text its name, also where it makes one; a name without a parameter makes no family", () => {
    const steps = definitionOf(`
parameters: { k: [a] }
jobs:
  - { name: "j_{i:02d}", parameters: { i: "1:2" }, command: x }
  - { name: "one_{k}", use_parameters: [k], command: x }
  - { name: sum, parameters: { i: "1:2" }, depends_on: ["j_{i:02d}"], command: x }`).steps;
    expect(steps.map(({ id, family }) => [id, family])).toEqual([
      ["j_01", "j_{i:02d}"],
      ["j_02", "j_{i:02d}"],
      ["one_a", "one_{k}"],
      ["sum", undefined],
    ]);
  });

  it("keeps apart what only some of the jobs made from one text have", () => {
    const steps = definitionOf(`
jobs:
  - { name: a, command: x }
  - { name: "j_{i}", parameters: { i: "1:3" }, command: x, depends_on_regexes: ["^(a|j_1)$"], timeout_ms: 5m }`).steps;
    expect(steps.map(({ id, dependsOn, timeoutMs }) => [id, dependsOn, timeoutMs])).toEqual([
      ["a", [], null],
      ["j_1", [["a"]], 300_000],
      ["j_2", [["a"], ["j_1"]], 300_000],
      ["j_3", [["a"], ["j_1"]], 300_000],
    ]);
  });

  it("becomes steps that hold when nothing answers their failure", () => {
    const definition = definitionOf(`
name: sweep
failure_handlers: [{ name: h, rules: [{ exit_codes: [10], max_retries: 3 }] }]
resource_requirements: [{ name: small, num_cpus: 2, memory: 1g }]
jobs:
  - { name: prep, command: ./prep.sh, timeout_ms: 5m }
  - name: "train_{i}_{lr:.2f}"
    command: "train --i {i:03d} --lr {lr} --out \${HOME}/{{ inputs.dir }}"
    parameters: { i: "1:2", lr: [0.1, 0.25] }
    depends_on: [prep]
    failure_handler: h
    resource_requirements: small
    env: { SEED: "{i}" }
    cwd: "runs/{i}"
    summarize: tail -3
`);
    expect(definition.unhandled).toBe("hold");
    expect(definition.steps.map((step) => step.id)).toEqual([
      "prep",
      "train_1_0.10",
      "train_1_0.25",
      "train_2_0.10",
      "train_2_0.25",
    ]);
    expect(definition.steps[0]).toMatchObject({
      action: { type: "command", exec: "./prep.sh" },
      timeoutMs: 300_000,
      dependsOn: [],
    });
    expect(definition.steps[4]).toMatchObject({
      action: { type: "command", exec: `train --i 002 --lr 0.25 --out \${HOME}/{{ inputs.dir }}` },
      dependsOn: [["prep"]],
      start: "auto",
      failureHandler: "h",
      resources: { cpus: 2, memoryBytes: 1_073_741_824, runtimeMs: null },
      env: { SEED: "2" },
      cwd: "runs/2",
      summarize: "tail -3",
    });
  });

  it("fails what nothing answers only where it says so", () => {
    expect(definitionOf("unhandled: fail\njobs: [{ name: a, command: x }]").unhandled).toBe("fail");
  });

  it.each([
    ['{ i: "1:3" }', ["j_1", "j_2", "j_3"]],
    ['{ i: "0:20:10" }', ["j_0", "j_10", "j_20"]],
    ['{ i: "3:1:-1" }', ["j_3", "j_2", "j_1"]],
    ['{ i: "0.0:0.3:0.1" }', ["j_0.0", "j_0.1", "j_0.2", "j_0.3"]],
    ["{ i: [a, 1.10, true] }", ["j_a", "j_1.10", "j_true"]],
    ["{ i: \"[a, 'b', 2]\" }", ["j_a", "j_b", "j_2"]],
    ["{ i: 5 }", ["j_5"]],
  ])("takes the values %s", (parameters, ids) => {
    expect(idsOf(`jobs: [{ name: "j_{i}", command: x, parameters: ${parameters} }]`)).toEqual(ids);
  });

  it.each([
    ["{ i: few }", "`few` is neither a range nor a list"],
    ['{ i: "3:1" }', "the range `3:1` is empty"],
    ['{ i: "1:3:0" }', "the range `1:3:0` never ends: its step is 0"],
    ['{ i: "1:1000000" }', "the range `1:1000000` has 1000000 values, more than 100000"],
    ["{ i: [] }", "the list of values is empty"],
    ["{ i: [[1]] }", "a value must be text, a number, true or false"],
    ["{ i: { a: 1 } }", "expected a range such as `1:3`, or a list of values, found a map"],
    ["{ 1i: [1] }", "`1i` is not allowed as a name"],
    ['{ i: "1:1000", k: "1:1000" }', "the parameters make 1000000 jobs, more than 100000"],
  ])("refuses the values %s, and says only that", (parameters, message) => {
    expect(
      problemsOf(
        `jobs: [{ name: "j_{i}", command: x, parameters: ${parameters} }, { name: b, command: x, depends_on: j_1 }]`,
      ),
    ).toMatchObject([{ message }]);
  });

  it("puts values side by side where it is told to", () => {
    const text = (more: string) =>
      `jobs: [{ name: "j_{i}_{k}", command: x, parameter_mode: zip, parameters: { i: "1:2", k: [a, b${more}] } }]`;
    expect(idsOf(text(""))).toEqual(["j_1_a", "j_2_b"]);
    expect(problemsOf(text(", c"))).toMatchObject([
      {
        message: "zipped parameters need the same number of values: `i` has 2, `k` has 3",
        path: "jobs[0].parameters",
      },
    ]);
  });

  it.each([
    ["{i}", "7"],
    ["{i:03d}", "007"],
    ["{i:.2f}", "7.00"],
    ["{i:8.2f}", "    7.00"],
    ["{i:.1e}", "7.0e+0"],
    ["{i:s}", "7"],
    [`\${i} $i \${VAR} \${VAR:-{i}}`, `\${i} $i \${VAR} \${VAR:-7}`],
    ['awk "{print $1}" {other} {i }', 'awk "{print $1}" {other} {i }'],
    ["{{i}} {{ inputs.i }} {{ outputs.j_{i}.x }}", "{{i}} {{ inputs.i }} {{ outputs.j_7.x }}"],
    ['{"lr": {i}}', '{"lr": 7}'],
  ])("fills %s as %s", (given, filled) => {
    expect(commandOf("{ i: [7] }", given)).toEqual([filled]);
  });

  it("fills negative numbers and text with their formats", () => {
    expect(commandOf("{ i: [-7] }", "{i:04d}")).toEqual(["-007"]);
    expect(commandOf("{ i: [abc] }", "{i:5s}|")).toEqual(["abc  |"]);
  });

  it.each([
    ["{ i: [a] }", "{i:03d}", "{i:03d} cannot be filled with a"],
    ["{ i: [1.5] }", "{i:03d}", "{i:03d} cannot be filled with 1.5"],
    ["{ i: [1] }", "{i:03x}", "{i:03x} cannot be filled with 1"],
  ])("refuses with %s the placeholder %s", (parameters, command, message) => {
    expect(
      problemsOf(`jobs: [{ name: "j_{i}", parameters: ${parameters}, command: '${command}' }]`),
    ).toMatchObject([{ code: "INVALID_VALUE", message, path: "jobs[0].command" }]);
  });

  it("checks templates once their placeholders are filled", () => {
    const seen: string[] = [];
    definitionOf(
      'jobs: [{ name: "j_{i}", parameters: { i: "1:2" }, command: "{{ outputs.x_{i} }}", env: { A: "{{ b }}" } }]',
      {
        checkTemplate: (text) => {
          seen.push(text);
          return null;
        },
      },
    );
    expect(seen.sort()).toEqual(["{{ b }}", "{{ outputs.x_1 }}", "{{ outputs.x_2 }}"]);
  });

  it("lets a job depend on one job, on that of its own value, or on all of a pattern", () => {
    expect(
      needsOf(`
jobs:
  - { name: "prep_{i}", command: x, parameters: { i: "1:2" } }
  - { name: "train_{i}_{k}", command: x, parameters: { i: "1:2", k: [a, b] }, depends_on: ["prep_{i}"] }
  - { name: "pick_{i}", command: x, parameters: { i: "1:2" }, depends_on: "train_{i}_{k}" }
  - { name: one, command: x, depends_on: [train_1_a] }
  - { name: all, command: x, depends_on: ["pick_{i}", "one|prep_{i}"] }
`),
    ).toEqual({
      prep_1: [],
      prep_2: [],
      train_1_a: ["prep_1"],
      train_1_b: ["prep_1"],
      train_2_a: ["prep_2"],
      train_2_b: ["prep_2"],
      pick_1: ["train_1_a", "train_1_b"],
      pick_2: ["train_2_a", "train_2_b"],
      one: ["train_1_a"],
      all: ["pick_1", "pick_2", "one|prep_1|prep_2"],
    });
  });

  it("tells a dependency on values that the other job does not have once, with the first of them", () => {
    const problems = problemsOf(`
jobs:
  - { name: "prep_{i}", command: x, parameters: { i: "1:2" } }
  - { name: "work_{i}", command: x, parameters: { i: "1:500" }, depends_on: ["prep_{i}"] }
`);
    expect(problems[0]).toMatchObject({ code: "UNKNOWN_STEP", path: "jobs[1].depends_on[0]", line: 4 });
    expect(problems[0]!.message).toContain("`prep_3`");
    expect(problems).toHaveLength(1);
  });

  it("tells one mistake in a sweep once, whatever its values do to the message and the column", () => {
    const templates = { checkTemplate: (text: string) => ({ message: text, line: 1, column: text.length }) };
    const sweep = (rest: string) => `jobs:\n  - { name: "j_{i}", parameters: { i: "7:20" }, ${rest} }\n`;
    expect(summaryOf(sweep('command: "{i:q}", env: { A: "{i:02z}" }'))).toEqual([
      "INVALID_VALUE 2:58 jobs[0].command",
      "INVALID_VALUE 2:77 jobs[0].env.A",
    ]);
    expect(summaryOf(sweep('command: "x {i} {{"'), templates)).toEqual([
      "TEMPLATE_SYNTAX 2:66 jobs[0].command",
    ]);
    expect(summaryOf(sweep("command: x, on_fail: { goto: j_7 }"))).toEqual([
      "GOTO_NOT_ANCESTOR 2:78 jobs[0].on_fail.goto",
    ]);
  });

  it("still tells two mistakes at one place of a job", () => {
    expect(summaryOf("jobs: [{ cwd: x }]")).toEqual(["MISSING_KEY 1:8 jobs[0]", "MISSING_KEY 1:8 jobs[0]"]);
  });

  it.each([
    ["jobs: [{ command: x }]", "MISSING_KEY 1:8 jobs[0]"],
    ["jobs: [{ name: a }]", "MISSING_KEY 1:8 jobs[0]"],
    ["jobs: [{ name: a, command: x }, { name: a, command: y }]", "DUPLICATE_ID 1:41 jobs[1].name"],
    ['jobs: [{ name: "a_{i}", command: x }]', "INVALID_VALUE 1:16 jobs[0].name"],
    ["jobs: [{ name: a b, command: x }]", "INVALID_VALUE 1:16 jobs[0].name"],
    ["jobs: [{ name: a, command: x, comand: y }]", "UNKNOWN_KEY 1:31 jobs[0].comand"],
    ["jobs: [{ name: a, command: x, forEach: true }]", "UNKNOWN_KEY 1:31 jobs[0].forEach"],
    ["jobs: [{ name: a, command: x, type: http }]", "UNKNOWN_KEY 1:31 jobs[0].type"],
    ["jobs: [{ name: a, command: x, depends_on: b }]", "UNKNOWN_STEP 1:43 jobs[0].depends_on"],
    [
      'jobs: [{ name: "a_{i}", command: x, parameters: { i: [1] }, depends_on: "a_{i}" }]',
      "CYCLE 1:73 jobs[0].depends_on",
    ],
    ["jobs: [{ name: a, command: x, failure_handler: h }]", "UNKNOWN_HANDLER 1:48 jobs[0].failure_handler"],
    ["jobs: [{ name: a, command: x }]\nsteps: { b: { exec: x } }", "INVALID_VALUE 1:1 jobs"],
    ["jobs: []", "NO_START 1:1 "],
    ["jobs: { a: 1 }", "WRONG_TYPE 1:7 jobs"],
  ])("refuses %s", (text, summary) => {
    expect(summaryOf(text)).toEqual([summary]);
  });

  it("says what to declare when a name has an undeclared placeholder", () => {
    expect(problemsOf('jobs: [{ name: "a_{i}", command: x }]')[0]!.hint).toContain(
      "Declare `i` under `parameters`",
    );
  });

  it("knows transitions, and warns once for all jobs of a family", () => {
    const text = `
transitions: [{ from: a_1, to: fix, on: failure }]
jobs:
  - { name: "a_{i}", command: x, parameters: { i: "1:50" }, timeout_ms: 1s, idle_timeout_ms: 1s }
  - { name: fix, command: x }
`;
    expect(definitionOf(text).steps.at(-1)!.start).toBe("routed");
    expect(warningsOf(text)).toEqual(["NO_EFFECT jobs[0].idle_timeout_ms"]);
  });

  it("loads large sweeps, their own value by value and their joins", () => {
    const text = `
jobs:
  - { name: "prep_{i}", command: "x {i}", parameters: { i: "1:10000" } }
  - { name: "train_{i}", command: "{{ outputs.prep_{i} }}", parameters: { i: "1:10000" }, depends_on: "prep_{i}" }
  - { name: sum, command: x, depends_on: "train_{i}" }
`;
    const { steps } = definitionOf(text);
    expect(steps).toHaveLength(20_001);
    expect(steps[19_999]).toMatchObject({ id: "train_10000", dependsOn: [["prep_10000"]] });
    expect(steps[20_000]!.dependsOn).toHaveLength(10_000);
  });

  it("refuses more jobs or dependencies than can be kept", () => {
    const family = (name: string, count: number, more = "") =>
      `{ name: "${name}_{${name}}", command: x, parameters: { ${name}: "1:${count}" }${more} }`;
    expect(problemsOf(`jobs: [${family("a", 60_000)}, ${family("b", 60_000)}]`)).toMatchObject([
      { message: "the file makes more than 100000 jobs", path: "jobs[1]" },
    ]);
    expect(
      problemsOf(`jobs: [${family("a", 2_000)}, ${family("b", 2_000, ', depends_on: "a_{a}"')}]`),
    ).toMatchObject([
      { message: "the jobs of the file have more than 1000000 dependencies", path: "jobs[1].depends_on" },
    ]);
  });
});
