import { describe, expect, it } from "vitest";
import type { Definition } from "../core/model/definition.js";
import { type LoadOptions, loadDefinition } from "./load.js";
import type { Problem } from "./read/problem.js";

const options: LoadOptions = {
  file: "flows/release.yaml",
  checkExpression: () => null,
  checkTemplate: () => null,
};

function definitionOf(text: string, more: Partial<LoadOptions> = {}): Definition {
  const result = loadDefinition(text, { ...options, ...more });
  if (!result.ok)
    throw new Error(result.problems.map((problem) => `${problem.path}: ${problem.message}`).join("\n"));
  return result.definition;
}

function problemsOf(text: string, more: Partial<LoadOptions> = {}): readonly Problem[] {
  const result = loadDefinition(text, { ...options, ...more });
  return result.ok ? [] : result.problems;
}

/** `CODE line:column path` of each problem. */
function summaryOf(text: string, more: Partial<LoadOptions> = {}): string[] {
  return problemsOf(text, more).map(({ code, line, column, path }) => `${code} ${line}:${column} ${path}`);
}

/** A check that finds nothing wrong and remembers what it was shown. */
const noting = (seen: string[]) => (text: string) => {
  seen.push(text);
  return null;
};

const step = (definition: Definition, id: string) =>
  definition.steps.find((candidate) => candidate.id === id)!;

describe("a workflow file", () => {
  it("becomes a definition with every default filled in", () => {
    const definition = definitionOf("steps:\n  build: { exec: make }\n");
    expect(definition).toEqual({
      name: "release",
      version: null,
      inputs: {},
      env: {},
      secrets: [],
      maxLoops: 10,
      failurePolicy: "finish_independent",
      maxRecoveries: 5,
      maxItems: 100_000,
      maxLogBytes: 1_073_741_824,
      unhandled: "fail",
      failureHandlers: [],
      workspace: null,
      selfHeal: null,
      queue: null,
      transitions: [],
      steps: [
        {
          id: "build",
          action: { type: "command", exec: "make", shell: "sh" },
          dependsOn: [],
          start: "auto",
          if: null,
          env: {},
          cwd: null,
          timeoutMs: null,
          idleTimeoutMs: null,
          killGraceMs: 3000,
          continueOnFailure: false,
          forEach: false,
          reduce: false,
          join: { kind: "all" },
          onFail: { retry: null, run: [], runJs: null, goto: null, gotoJs: null, gotoMax: null },
          onSuccess: { run: [], runJs: null, goto: null, gotoJs: null, gotoMax: null },
          outputSchema: null,
          tags: [],
          runsOn: [],
          group: null,
          failureHandler: null,
          summarize: null,
          resources: null,
          usesWorkspace: false,
          progress: "output",
          noProgressLimit: null,
        },
      ],
    });
  });

  it("reads every key of the file", () => {
    const definition = definitionOf(`
version: 2.0
name: release
inputs: { target: { type: string, default: staging, description: where }, count: number, dry: { default: false } }
env: { CI: 1, LONG: 12345678901234567890, RATE: 1.10, ON: true }
secrets: [TOKEN, TOKEN]
routing: { max_loops: 4 }
failure_policy: fail_fast
max_recoveries: 2
max_items: 50
max_log: 10m
checks:
  list: { type: script, content: "return [1, 2]", forEach: true, tags: [a, a, b], group: g }
  work:
    type: http
    url: http://127.0.0.1/{{ outputs.list }}
    method: POST
    headers: { X-Try: 3 }
    body: { a: [1, null, x] }
    expect_status: [200, 3xx]
    depends_on: list
    if: false
    env: { A: b }
    cwd: sub
    timeout_ms: 1h30m
    idle_timeout_ms: PT2M
    kill_grace_ms: 0
    continue_on_failure: true
    outputs: { type: object }
  other: { exec: [ls, 1.10, -a], stdin: text }
  sum: { type: noop, output: { n: 1 }, depends_on: [work, "other|list"], fanout: reduce, join: { at_least: 2 } }
`);
    expect(definition).toMatchObject({
      version: "2.0",
      maxLoops: 4,
      failurePolicy: "fail_fast",
      maxRecoveries: 2,
      maxItems: 50,
      maxLogBytes: 10_485_760,
      secrets: ["TOKEN"],
    });
    expect(definition.env).toEqual({ CI: "1", LONG: "12345678901234567890", RATE: "1.10", ON: "true" });
    expect(definition.inputs).toEqual({
      target: { type: "string", required: false, default: "staging", description: "where" },
      count: { type: "number", required: true, default: null, description: null },
      dry: { type: "boolean", required: false, default: false, description: null },
    });
    expect(step(definition, "work")).toMatchObject({
      action: {
        type: "http",
        method: "POST",
        headers: { "X-Try": "3" },
        body: { a: [1, null, "x"] },
        expect_status: [200, "3xx"],
      },
      dependsOn: [["list"]],
      if: "false",
      env: { A: "b" },
      cwd: "sub",
      timeoutMs: 5_400_000,
      idleTimeoutMs: 120_000,
      killGraceMs: 0,
      continueOnFailure: true,
      outputSchema: { type: "object" },
    });
    expect(step(definition, "list")).toMatchObject({ forEach: true, tags: ["a", "b"], group: "g" });
    expect(step(definition, "other").action).toEqual({
      type: "command",
      exec: ["ls", "1.10", "-a"],
      stdin: "text",
    });
    expect(step(definition, "sum")).toMatchObject({
      reduce: true,
      join: { kind: "at_least", count: 2 },
      dependsOn: [["work"], ["other", "list"]],
    });
  });

  it("is frozen to its leaves, and stays plain JSON", () => {
    const definition = definitionOf(
      "steps:\n  a: { exec: [x], on_fail: { retry: { max: 1 } }, outputs: { type: object, required: [b] } }\n",
    );
    const unfrozen: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      if (!Object.isFrozen(value)) unfrozen.push(path);
      for (const [key, part] of Object.entries(value)) walk(part, `${path}.${key}`);
    };
    walk(definition, "definition");
    expect(unfrozen).toEqual([]);
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });

  it("may be JSON", () => {
    expect(definitionOf('{"name": "j", "steps": {"a": {"type": "noop"}}}').name).toBe("j");
  });

  it.each([
    ["on_fail: { edge: b }", "Write a map with some of `to`, `then` here."],
    ["on_fail: { retry: 3 }", "Write retry: { max: 3 }."],
    ["shell: []", "Write a program's name and arguments in it, or leave the key out."],
  ])("says what to write in place of %s", (key, hint) => {
    expect(problemsOf(`steps: { a: { exec: x, ${key} }, b: { exec: y } }`)).toMatchObject([{ hint }]);
  });

  it("shows all problems at once, sorted, with place, code and hint", () => {
    const text = `name: x
parameters: {}
steps:
  build: { exec: make, dependson: x, timeout_ms: 5q }
  test: { exec: make, depends_on: [bulid] }
`;
    expect(summaryOf(text)).toEqual([
      "UNKNOWN_KEY 2:1 parameters",
      "UNKNOWN_KEY 4:24 steps.build.dependson",
      "INVALID_VALUE 4:50 steps.build.timeout_ms",
      "UNKNOWN_STEP 5:36 steps.test.depends_on[0]",
    ]);
    const messages = problemsOf(text).map((problem) => problem.message);
    expect(messages[0]).toBe("`parameters` is a key of the batch form, beside `jobs`");
    expect(messages[1]).toBe("unknown key `dependson`, did you mean `depends_on`?");
    expect(messages[3]).toContain("did you mean `build`?");
    for (const problem of problemsOf(text))
      expect(problem).toMatchObject({ file: "flows/release.yaml", hint: expect.stringMatching(/\w/) });
  });

  it.each([
    ["steps: {}\ntypo: 1", "typo"],
    ["inputs: { a: { typo: 1 } }\nsteps: { a: { exec: x } }", "inputs.a.typo"],
    ["routing: { typo: 1 }\nsteps: { a: { exec: x } }", "routing.typo"],
    ["routing: { defaults: { typo: 1 } }\nsteps: { a: { exec: x } }", "routing.defaults.typo"],
    [
      "routing: { defaults: { on_fail: { typo: a } } }\nsteps: { a: { exec: x } }",
      "routing.defaults.on_fail.typo",
    ],
    ["steps: { a: { exec: x, typo: 1 } }", "steps.a.typo"],
    ["steps: { a: { exec: x, on_fail: { typo: 1 } } }", "steps.a.on_fail.typo"],
    ["steps: { a: { exec: x, on_success: { retry: {} } } }", "steps.a.on_success.retry"],
    ["steps: { a: { exec: x, on_fail: { retry: { max: 1, typo: 1 } } } }", "steps.a.on_fail.retry.typo"],
    [
      "steps: { a: { exec: x, on_fail: { retry: { max: 1, backoff: { typo: 1 } } } } }",
      "steps.a.on_fail.retry.backoff.typo",
    ],
    ["steps: { a: { exec: x, execution: { typo: 1 } } }", "steps.a.execution.typo"],
    [
      "steps: { a: { exec: x, execution: { retry_policy: { max_attempts: 1, typo: 1 } } } }",
      "steps.a.execution.retry_policy.typo",
    ],
    ["steps: { a: { kind: command, implementation: { exec: x, typo: 1 } } }", "steps.a.implementation.typo"],
    ["steps: { a: { exec: x, url: y } }", "steps.a.url"],
  ])("refuses an unknown key at its level: %s", (text, path) => {
    expect(
      problemsOf(text)
        .filter((problem) => problem.code === "UNKNOWN_KEY")
        .map((problem) => problem.path),
    ).toEqual([path]);
  });

  it.each([
    ["steps: { a: { exec: 5 } }", "WRONG_TYPE 1:21 steps.a.exec"],
    ["steps: { a: { exec: [] } }", "INVALID_VALUE 1:21 steps.a.exec"],
    ["steps: { a: { exec: '' } }", "INVALID_VALUE 1:21 steps.a.exec"],
    ["steps: { a: { type: http } }", "MISSING_KEY 1:13 steps.a"],
    ["steps: { a: { url: x } }", "MISSING_KEY 1:13 steps.a"],
    ["steps: { a: 1 }", "WRONG_TYPE 1:13 steps.a"],
    ["steps: [a]", "WRONG_TYPE 1:8 steps"],
    ["name: x", "MISSING_KEY 1:1 "],
    ["steps: { a: { exec: x, timeout_ms: 0 } }", "INVALID_VALUE 1:36 steps.a.timeout_ms"],
    ["steps: { a: { exec: x, timeout_ms: 3000000000 } }", "INVALID_VALUE 1:36 steps.a.timeout_ms"],
    ["steps: { a: { exec: x, join: some } }", "INVALID_VALUE 1:30 steps.a.join"],
    ["steps: { a: { exec: x, env: { DARUMA_RUN_ID: 1 } } }", "INVALID_VALUE 1:31 steps.a.env.DARUMA_RUN_ID"],
    ["steps: { a: { exec: x, env: { A: } } }", "WRONG_TYPE 1:34 steps.a.env.A"],
    ["steps: { history: { exec: x } }", "INVALID_VALUE 1:10 steps.history"],
    ["steps: { 'a b': { exec: x } }", "INVALID_VALUE 1:10 steps.a b"],
    ["steps: { a: { exec: x, on_fail: { retry: 3 } } }", "WRONG_TYPE 1:42 steps.a.on_fail.retry"],
    [
      "steps: { a: { exec: x, on_fail: { retry: { on: [TIMEOUT] } } } }",
      "MISSING_KEY 1:35 steps.a.on_fail.retry",
    ],
    [
      "steps: { a: { exec: x, on_fail: { retry: { max: 1, on: [deterministic_repo] } } } }",
      "INVALID_VALUE 1:57 steps.a.on_fail.retry.on[0]",
    ],
    [
      "steps: { a: { exec: x, on_fail: { retry: { max: 1, on: [transient_runtim] } } } }",
      "INVALID_VALUE 1:57 steps.a.on_fail.retry.on[0]",
    ],
    [
      "inputs: { a: { type: number, default: x } }\nsteps: { a: { exec: x } }",
      "INVALID_VALUE 1:39 inputs.a.default",
    ],
    ["steps: { a: { exec: x } }\nchecks: { b: { exec: x } }", "INVALID_VALUE 2:1 checks"],
    ["steps:\n  a: { exec: x }\n  b: { exec: x }\n  a: { exec: y }", "DUPLICATE_ID 4:3 steps.a"],
    ["steps: { a: { exec: x, exec: y } }", "YAML_SYNTAX 1:24 steps.a.exec"],
  ])("names the place and code of a wrong value: %s", (text, summary) => {
    expect(summaryOf(text)).toEqual([summary]);
  });
});

describe("custom actions", () => {
  it("may have any keys beside the common ones", () => {
    const definition = definitionOf(
      "steps: { a: { type: greet, who: { name: x }, depends_on: b }, b: { kind: greet, implementation: { who: y, type: z } } }",
      { customActions: ["greet"] },
    );
    expect(step(definition, "a").action).toEqual({ type: "greet", who: { name: "x" } });
    expect(step(definition, "b").action).toEqual({ type: "greet", who: "y" });
  });

  it("must be registered, and still have their common keys checked", () => {
    expect(problemsOf("steps: { a: { type: greet, who: x } }")).toMatchObject([
      { code: "INVALID_VALUE", message: "unknown type `greet`" },
    ]);
    expect(
      summaryOf("steps: { a: { type: greet, timeout_ms: x, transitions: 1 } }", { customActions: ["greet"] }),
    ).toEqual(["INVALID_VALUE 1:40 steps.a.timeout_ms", "UNKNOWN_KEY 1:43 steps.a.transitions"]);
  });
});

describe("expressions and templates", () => {
  it("are compiled at load where they stand", () => {
    const templates: string[] = [];
    const expressions: string[] = [];
    definitionOf(
      `env: { A: "{{ inputs.a }}", B: plain }
steps:
  a: { exec: "{{ b }}", stdin: "{% c %}", cwd: "{{ d }}", env: { E: "{{ e }}" }, if: f, on_fail: { run_js: g, goto_js: h }, on_success: { run_js: i, goto_js: j } }
  k: { exec: [l, "{{ m }}"] }
  n: { type: http, url: "{{ o }}", headers: { P: "{{ p }}" }, body: { q: ["{{ q }}"] } }
  r: { type: script, content: s }
`,
      {
        checkTemplate: noting(templates),
        checkExpression: noting(expressions),
      },
    );
    expect(templates.sort()).toEqual([
      "{% c %}",
      "{{ b }}",
      "{{ d }}",
      "{{ e }}",
      "{{ inputs.a }}",
      "{{ m }}",
      "{{ o }}",
      "{{ p }}",
      "{{ q }}",
    ]);
    expect(expressions.sort()).toEqual(["f", "g", "h", "i", "j", "s"]);
  });

  it("have their own line and column turned into the file's", () => {
    const at = {
      checkExpression: () => ({ message: "bad", line: 2, column: 3 }),
      checkTemplate: () => ({ message: "bad", line: 1, column: 4 }),
    };
    expect(summaryOf("steps:\n  a:\n    type: script\n    content: |\n      one\n      two\n", at)).toEqual([
      "EXPRESSION_SYNTAX 6:9 steps.a.content",
    ]);
    expect(summaryOf('steps:\n  a:\n    exec: "x {{"\n', at)).toEqual(["TEMPLATE_SYNTAX 3:15 steps.a.exec"]);
    expect(summaryOf("steps:\n  a:\n    exec: x {{\n", at)).toEqual(["TEMPLATE_SYNTAX 3:14 steps.a.exec"]);
  });

  it("are limited to 8 KB, a script is not", () => {
    const long = "a".repeat(8 * 1024 + 1);
    expect(summaryOf(`steps: { a: { exec: x, if: ${long} } }`)).toEqual([
      "EXPRESSION_TOO_LONG 1:28 steps.a.if",
    ]);
    expect(summaryOf(`steps: { a: { exec: x, if: ${"ä".repeat(5000)} } }`)).toEqual([
      "EXPRESSION_TOO_LONG 1:28 steps.a.if",
    ]);
    expect(problemsOf(`steps: { a: { type: script, content: ${long} } }`)).toEqual([]);
  });
});

describe("warnings", () => {
  it("have the place they speak of and do not stop the load", () => {
    const result = loadDefinition(
      "secrets: [T]\nenv: { T: x }\nchecks:\n  a: { exec: x, on_fail: { retry: { max: 20, backoff: { mode: none, delay_ms: 5 } } } }\n  b: { exec: x, start: routed }\n",
      options,
    );
    expect(
      result.ok && result.warnings.map(({ code, line, column, path }) => `${code} ${line}:${column} ${path}`),
    ).toEqual([
      "SECRET_IN_ENV 2:8 env.T",
      "BUDGET_TOO_SMALL 4:17 checks.a.on_fail",
      "NO_EFFECT 4:55 checks.a.on_fail.retry.backoff.delay_ms",
      "UNREACHABLE_STEP 5:3 checks.b",
    ]);
  });
});

describe("the outputs schema", () => {
  it("is refused where it uses a keyword that would not be checked", () => {
    expect(
      problemsOf("steps:\n  a: { exec: x, outputs: { type: object, contains: { type: string } } }\n"),
    ).toMatchObject([{ code: "INVALID_VALUE", line: 2, path: "steps.a.outputs" }]);
  });
});
