import { describe, expect, it } from "vitest";
import { problemsOf, REAL_CHECKS } from "../../../../test/support/workflow-text.js";
import { defineWorkflow } from "../../../operations/workflows/define-workflow.js";

/** `line:column CODE message` of each problem. */
const foundIn = (text: string) =>
  problemsOf(text, REAL_CHECKS).map(
    ({ line, column, code, message }) => `${line}:${column} ${code} ${message}`,
  );
const FILE = `inputs: { target: string, dry-run: { default: false } }
env: { CI: "1", TOKEN: x }
secrets: [TOKEN]
steps:
  build: { exec: make }
  lint-fix: { exec: make fix, depends_on: build }
  build.v2: { exec: make, depends_on: build }
  test: { exec: make test, depends_on: [lint-fix, build.v2], env: { LOG: "1" }, WHERE }
`;
const withExpression = (code: string) => FILE.replace("WHERE", `if: ${JSON.stringify(code)}`);
const withTemplate = (text: string) => FILE.replace("WHERE", `cwd: ${JSON.stringify(text)}`);

/** The place of the `^` in a text. */
function markOf(text: string): string {
  const lines = text.slice(0, text.indexOf("^")).split("\n");
  return `${lines.length}:${lines.at(-1)!.length + 1}`;
}

const unmark = (text: string) => text.replace("^", "");

describe("what an expression reads", () => {
  it.each([
    "inputs.target === 'x' && inputs['dry-run']",
    "outputs.build.a + outputs['lint-fix'].b + outputs[`build.v2`]",
    "outputs[inputs.target] ?? outputs[step.id + '-fix']",
    "outputs.history.build.length + outputs.history['lint-fix'][0]",
    "Object.keys(outputs).length > 0 && outputs.hasOwnProperty('x') && inputs.toString()",
    "error.code + error.message + error.class + error.stdout + error.stderr + error.exitCode",
    "error?.message.includes('x')",
    "foreach.key + foreach.index + foreach.total + foreach.path",
    "step.id + step.tags.length + step.group",
    "state._last_error?.code",
    "failure.step_id + failure.code",
    "branches.length + attempt + visit + loop",
    "pr.title + files.length",
    "env.CI + env.LOG",
    "JSON.parse('1') + Math.max(1) + parseInt('2') + Date.now() + undefined + NaN + arguments.length",
    "new RangeError('x') instanceof Error && new Map([[1, 2]]).size && /x/.test(String(1)) && BigInt(1)",
    "globalThis.anything && anything",
    "const names = ['a']; return names.map((name) => name.length)",
    "const { code } = error; const { build } = outputs; return code + build",
    "let total = 0; for (const name of ['a']) { total += name.length } return total",
    "try { return JSON.parse('x') } catch (problem) { return problem.message }",
    "function twice(n) { return n * 2 } return twice(attempt)",
    "label: while (true) { break label } return 1",
    "({ outptus: 1 }).outptus",
    "`outptus` + 'outptus' + /outptus/",
  ])("exists: %s", (code) => {
    expect(foundIn(withExpression(code))).toEqual([]);
  });

  it.each([
    ["^outptus.a", "UNKNOWN_NAME unknown name `outptus`, did you mean `outputs`?"],
    ["1 + ^Maths.max(2)", "UNKNOWN_NAME unknown name `Maths`, did you mean `Math`?"],
    ["^target", "UNKNOWN_NAME unknown name `target`, did you mean `inputs.target`?"],
    ["^build.x", "UNKNOWN_NAME unknown name `build`, did you mean `outputs.build`?"],
    ["^process.env.HOME", "UNKNOWN_NAME unknown name `process`"],
    ["^require('fs')", "UNKNOWN_NAME unknown name `require`"],
    ["^console.log(1)", "UNKNOWN_NAME unknown name `console`"],
    ["^eval('1')", "UNKNOWN_NAME unknown name `eval`"],
    ["new ^Function('1')", "UNKNOWN_NAME unknown name `Function`"],
    ["^setTimeout", "UNKNOWN_NAME unknown name `setTimeout`"],
    ["^ticket.id", "UNKNOWN_NAME unknown name `ticket`"],
    ["Date.^parse('x')", "UNKNOWN_NAME `Date` has no field `parse`"],
    ["inputs.^targett", "UNKNOWN_NAME unknown input `targett`, did you mean `target`?"],
    ["inputs[^'targett']", "UNKNOWN_NAME unknown input `targett`, did you mean `target`?"],
    ["outputs.^nope", "UNKNOWN_STEP `outputs.nope` is not a step of the file"],
    [
      "outputs.^biuld.x",
      "UNKNOWN_STEP `outputs.biuld` is not a step of the file, did you mean `outputs.build`?",
    ],
    [
      "outputs.^lintfix",
      "UNKNOWN_STEP `outputs.lintfix` is not a step of the file, did you mean `outputs['lint-fix']`?",
    ],
    [
      "outputs.history.^biuld",
      "UNKNOWN_STEP `outputs.history.biuld` is not a step of the file, did you mean `outputs.history.build`?",
    ],
    [
      "const { ^biuld } = outputs; return biuld",
      "UNKNOWN_STEP `outputs.biuld` is not a step of the file, did you mean `outputs.build`?",
    ],
    [
      "1 + outputs.^lint-fix.ok",
      "UNKNOWN_NAME `lint-fix` is a subtraction here, did you mean `outputs['lint-fix']`?",
    ],
    ["inputs.^dry-run", "UNKNOWN_NAME `dry-run` is a subtraction here, did you mean `inputs['dry-run']`?"],
    ["error.^exitcode", "UNKNOWN_NAME `error` has no field `exitcode`, did you mean `exit_code`?"],
    [
      "const { ^stder } = error; return stder",
      "UNKNOWN_NAME `error` has no field `stder`, did you mean `stderr`?",
    ],
    ["foreach.^idx", "UNKNOWN_NAME `foreach` has no field `idx`"],
    ["step.^name", "UNKNOWN_NAME `step` has no field `name`"],
    ["state.^last_error", "UNKNOWN_NAME `state` has no field `last_error`, did you mean `_last_error`?"],
    ["failure.^cod", "UNKNOWN_NAME `failure` has no field `cod`, did you mean `code`?"],
    ["env.^HOME", "UNKNOWN_NAME `env` has no variable `HOME`"],
    ["env.^TOKEN", "UNKNOWN_NAME `env` has no variable `TOKEN`"],
  ])("does not exist: %s", (code, told) => {
    expect(foundIn(unmark(withExpression(code)))).toEqual([`${markOf(withExpression(code))} ${told}`]);
  });

  it("is the item itself: the hint says where it is", () => {
    expect(problemsOf(withExpression("foreach.item"), REAL_CHECKS)).toMatchObject([
      { hint: expect.stringContaining("The item itself is the output of the step with `forEach`") },
    ]);
  });

  it("is told name by name, each at its place", () => {
    expect(foundIn(withExpression("aa + bb(cc) + aa"))).toEqual([
      "8:86 UNKNOWN_NAME unknown name `aa`",
      "8:91 UNKNOWN_NAME unknown name `bb`",
      "8:94 UNKNOWN_NAME unknown name `cc`",
      "8:100 UNKNOWN_NAME unknown name `aa`",
    ]);
    expect(foundIn(withExpression(`${"nope + ".repeat(500)}1`))).toHaveLength(20);
  });
});

describe("what a template reads", () => {
  it.each([
    "{{ inputs.target }}{{ inputs.dry-run }}{{ inputs['dry-run'] }}",
    "{{ outputs.lint-fix.ok }}{{ outputs['build.v2'] }}{{ outputs.build.size }}{{ outputs.size }}",
    "{{ outputs[inputs.target] }}{{ [inputs.target].x }}",
    "{{ error.code }}{{ foreach.key }}{{ env.CI }}{{ step.id }}{{ attempt }}{{ pr.title }}",
    "{% for f in outputs.build.files %}{{ f }}{{ forloop.index }}{% endfor %}",
    "{% assign a = inputs.target %}{{ a }}{% capture b %}x{% endcapture %}{{ b }}{% increment c %}{{ c }}",
    "{% if inputs.target == 'x' and true or nil == empty %}{{ 'lit' }}{% endif %}",
    "{% raw %}{{ nope }}{% endraw %}",
  ])("exists: %s", (template) => {
    expect(foundIn(withTemplate(template))).toEqual([]);
  });

  it.each([
    ["{{ ^output.a }}", "UNKNOWN_NAME unknown name `output`, did you mean `outputs`?"],
    ["{{ ^output.a | default: 1 }}", "UNKNOWN_NAME unknown name `output`, did you mean `outputs`?"],
    ["{{ inputs.^targett }}", "UNKNOWN_NAME unknown input `targett`, did you mean `target`?"],
    ["{% if inputs.^targett %}{% endif %}", "UNKNOWN_NAME unknown input `targett`, did you mean `target`?"],
    ["{{ 'x' | append: outputs.^nope }}", "UNKNOWN_STEP `outputs.nope` is not a step of the file"],
    [
      "{{ outputs.^build-v2 }}",
      "UNKNOWN_STEP `outputs.build-v2` is not a step of the file, did you mean `outputs['build.v2']`?",
    ],
    ["{{ error.^exitcode }}", "UNKNOWN_NAME `error` has no field `exitcode`, did you mean `exit_code`?"],
    ["{{ ^Math.max }}", "UNKNOWN_NAME unknown name `Math`"],
    ["{% for x in (1..^n) %}{% endfor %}", "UNKNOWN_NAME unknown name `n`"],
  ])("does not exist: %s", (template, told) => {
    expect(foundIn(unmark(withTemplate(template)))).toEqual([`${markOf(withTemplate(template))} ${told}`]);
  });

  it("names a step with dots in brackets", () => {
    const file = 'steps: { a.b: { exec: x }, c: { exec: y, depends_on: a.b, cwd: "{{ outputs.a.b.x }}" } }';
    expect(problemsOf(file, REAL_CHECKS)).toMatchObject([
      {
        message: "`outputs.a` is not a step of the file, did you mean `outputs['a.b']`?",
        hint: "Write `outputs['a.b']`, or define the step.",
      },
    ]);
  });
});

describe("what a condition reads", () => {
  const withCondition = (when: string) =>
    `inputs: { size: number }
steps: { a: { exec: x }, a.b: { exec: x, depends_on: a }, b: { exec: y } }
transitions: [{ from: a.b, to: b, on: any, when: ${when} }]`;

  it.each([
    "{ type: exists, field: outputs.a.b.x }",
    '{ type: exists, field: "outputs.history.a.b[0]" }',
    "{ type: in_set, field: error.code, values: [X] }",
    '{ type: comparison, operator: ==, left: inputs.size, right: "outputs.a[0].x" }',
    "{ type: not, condition: { type: exists, field: state._last_error.code } }",
  ])("exists: %s", (when) => {
    expect(foundIn(withCondition(when))).toEqual([]);
  });

  it.each([
    ["{ type: exists, field: outputs.c.x }", "3:81 UNKNOWN_STEP `outputs.c` is not a step of the file"],
    ["{ type: exists, field: 'outputs.c' }", "3:82 UNKNOWN_STEP `outputs.c` is not a step of the file"],
    ["{ type: exists, field: inputs.siz }", "3:80 UNKNOWN_NAME unknown input `siz`, did you mean `size`?"],
    [
      "{ type: exists, field: error.cod }",
      "3:79 UNKNOWN_NAME `error` has no field `cod`, did you mean `code`?",
    ],
    ["{ type: exists, field: state.x }", "3:79 UNKNOWN_NAME `state` has no field `x`"],
    ["errors.code === 1", "3:50 UNKNOWN_NAME unknown name `errors`, did you mean `error`?"],
  ])("does not exist: %s", (when, told) => {
    expect(foundIn(withCondition(when))).toEqual([told]);
  });
});

describe("an unknown name is found", () => {
  const nope = "{{ nope }}";
  it.each([
    ["env of the workflow", `env: { A: "${nope}" }\nsteps: { a: { exec: x } }`],
    ["stdin", `steps: { a: { exec: x, stdin: "${nope}" } }`],
    ["an argument", `steps: { a: { exec: [x, "${nope}"] } }`],
    ["env of a step", `steps: { a: { exec: x, env: { A: "${nope}" } } }`],
    ["an http step", `steps: { a: { type: http, url: x, headers: { A: "${nope}" } } }`],
    ["a body", `steps: { a: { type: http, url: x, body: { deep: ["${nope}"] } } }`],
    ["a noop", `steps: { a: { type: noop, output: "${nope}" } }`],
    ["a question", `steps: { a: { type: human, prompt: "${nope}" } }`],
    ["a child's input", `steps: { a: { type: workflow, file: x, inputs: { b: "${nope}" } } }`],
    ["an agent's prompt", `steps: { a: { type: agent, exec: x, prompt: "${nope}" } }`],
    ["a model's prompt", `steps: { a: { type: llm_call, provider: openai, model: x, prompt: "${nope}" } }`],
    ["a script", "steps: { a: { type: script, content: nope } }"],
    ["run_js", "steps: { a: { exec: x, on_fail: { run_js: nope } } }"],
    ["goto_js", "steps: { a: { exec: x, on_success: { goto_js: nope } } }"],
    ["implementation", `steps: { a: { kind: command, implementation: { exec: "${nope}" } } }`],
    ["a job", `jobs: [{ name: a, command: "${nope}" }]`],
    [
      "a transition",
      "steps: { a: { exec: x }, b: { exec: x } }\ntransitions: [{ from: a, to: b, when: nope }]",
    ],
  ])("in %s", (_, file) => {
    expect(problemsOf(file, REAL_CHECKS)).toMatchObject([{ code: "UNKNOWN_NAME" }]);
  });

  it("in the own keys of a custom action", () => {
    const options = { ...REAL_CHECKS, customActions: ["greet"] };
    expect(problemsOf(`steps: { a: { type: greet, whom: "${nope}" } }`, options)).toMatchObject([
      { code: "UNKNOWN_NAME", path: "steps.a.whom" },
    ]);
  });

  it("beside every other problem of the file", () => {
    expect(
      foundIn('steps:\n  a: { exec: "{{ nope }}", tiemout_ms: 5, depends_on: [c] }\n  b: { exce: x }\n'),
    ).toEqual([
      "2:18 UNKNOWN_NAME unknown name `nope`",
      "2:28 UNKNOWN_KEY unknown key `tiemout_ms`, did you mean `timeout_ms`?",
      "2:56 UNKNOWN_STEP depends_on names the unknown step `c`",
      "3:6 MISSING_KEY the key `type` is missing",
      "3:8 UNKNOWN_KEY unknown key `exce`, did you mean `exec`?",
    ]);
  });

  it("once in a sweep of jobs, at the place in the file", () => {
    const sweep = (command: string) =>
      `jobs:\n  - { name: "j_{i}", parameters: { i: "1:7" }, command: "${command}" }\n`;
    expect(foundIn(sweep("echo {i:05d} {{ nope }}"))).toEqual(["2:74 UNKNOWN_NAME unknown name `nope`"]);
    expect(foundIn(sweep("echo {i} {{ outputs.k_{i}.x | sh }}"))).toEqual([
      "2:78 UNKNOWN_STEP `outputs.k_1` is not a step of the file",
    ]);
  });

  it("in a workflow that a program writes", () => {
    expect(() =>
      defineWorkflow({ name: "x", steps: { a: { type: "command", exec: "{{ nope }}" } } }),
    ).toThrow(/^the workflow has a problem:\nsteps\.a\.exec: unknown name `nope`\. Known here: attempt, /);
  });
});

describe("the place of a name", () => {
  it.each([
    ["plain text", "steps:\n  a:\n    if: attempt + nope\n", "3:19"],
    ["plain text over lines", "steps:\n  a:\n    if: attempt\n      + nope\n", "4:9"],
    ["single quotes", "steps:\n  a:\n    if: '''x'' + nope'\n", "3:18"],
    ["double quotes", 'steps:\n  a:\n    if: "\\"x\\" +\\t\\u0022ä\\" + nope"\n', "3:31"],
    ["double quotes over lines", 'steps:\n  a:\n    if: "attempt \\\n      + nope"\n', "4:9"],
    ["a block", "steps:\n  a:\n    if: |\n      attempt +\n\n        nope\n", "6:9"],
    ["a block with a header", "steps:\n  a:\n    if: |2- # why\n        attempt +\n          nope\n", "5:11"],
    ["a folded block", "steps:\n  a:\n    if: >-\n      attempt\n      + nope\n", "5:9"],
    ["an anchor", "steps:\n  a:\n    if: &x |\n      nope\n", "4:7"],
    ["a file with Windows line ends", "steps:\r\n  a:\r\n    if: |\r\n      1 +\r\n      nope\r\n", "5:7"],
  ])("is exact in %s", (_, text, place) => {
    expect(foundIn(`${text}    exec: x\n`)).toEqual([`${place} UNKNOWN_NAME unknown name \`nope\``]);
  });
});

describe("names of a context", () => {
  it("are known where the file declares them", () => {
    expect(
      foundIn("context: [ticket]\nsteps: { a: { exec: 'x {{ ticket.id | sh }}', if: ticket.open } }"),
    ).toEqual([]);
    expect(foundIn("context: [ticket]\nsteps: { a: { exec: x, if: tickets } }")).toEqual([
      "2:28 UNKNOWN_NAME unknown name `tickets`, did you mean `ticket`?",
    ]);
    expect(problemsOf("steps: { a: { exec: x, if: ticket.open } }", REAL_CHECKS)).toMatchObject([
      {
        hint: expect.stringMatching(
          /Other names that a run's context gives must be declared under `context`\.$/,
        ),
      },
    ]);
  });
});
