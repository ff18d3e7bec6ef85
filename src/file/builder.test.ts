import { describe, expect, it } from "vitest";
import { DarumaError } from "../core/errors/errors.js";
import { defineWorkflow, type WorkflowInput } from "./builder.js";
import { loadDefinition } from "./load.js";

const release: WorkflowInput = {
  name: "release",
  inputs: { target: { type: "string", default: "staging" } },
  env: { CI: 1 },
  routing: { defaults: { on_fail: { retry: { max: 1, backoff: "linear" } } } },
  steps: {
    setup: { exec: "npm ci" },
    list: { type: "script", content: "return [1]", forEach: true, depends_on: "setup" },
    call: {
      type: "http",
      url: "http://127.0.0.1/",
      method: "POST",
      body: { a: 1 },
      depends_on: ["list"],
      timeout_ms: "30s",
      expect_status: "2xx",
    },
    sum: {
      type: "noop",
      output: null,
      depends_on: "call",
      fanout: "reduce",
      join: { at_least: 1 },
      on_fail: { run: "fix", goto: "list" },
    },
    fix: { exec: ["echo", 1] },
  },
};

function errorOf(input: unknown): DarumaError {
  try {
    defineWorkflow(input as WorkflowInput);
  } catch (error) {
    if (error instanceof DarumaError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("defineWorkflow", () => {
  it("gives the same definition as a file with the same keys", () => {
    const fromFile = loadDefinition(JSON.stringify(release), {
      file: "x.json",
      checkExpression: () => null,
      checkTemplate: () => null,
    });
    expect(fromFile.ok && fromFile.definition).toEqual(defineWorkflow(release));
    expect(Object.isFrozen(defineWorkflow(release).steps[0])).toBe(true);
  });

  it("throws one error that lists all problems by path", () => {
    const error = errorOf({ name: "x", usr: "ana", steps: { a: { exec: "x", depends_on: "b" } } });
    expect(error.code).toBe("UNKNOWN_KEY");
    expect(error.message).toBe(
      [
        "the workflow has 2 problems:",
        "usr: unknown key `usr`, did you mean `user`? Rename it to `user`.",
        "steps.a.depends_on: depends_on names the unknown step `b`. Fix the name or define the step.",
      ].join("\n"),
    );
  });

  it("takes jobs, handlers and transitions as a file does", () => {
    const batch: WorkflowInput = {
      name: "batch",
      failure_handlers: [
        {
          name: "h",
          rules: [{ exit_codes: [10, 137], max_retries: 2, scale: { memory: 1.5, max_memory: "4g" } }],
        },
      ],
      resource_requirements: [{ name: "small", memory: "1g" }],
      transitions: [{ from: "a_1", to: "fix", on: "failure", when: "error.code === 'EXIT_3'" }],
      jobs: [
        {
          name: "a_{i}",
          command: "x {i}",
          parameters: { i: [1, 2] },
          failure_handler: "h",
          resource_requirements: "small",
        },
        { name: "fix", command: "y" },
      ],
    };
    const fromFile = loadDefinition(JSON.stringify(batch), {
      file: "x.json",
      checkExpression: () => null,
      checkTemplate: () => null,
    });
    const definition = defineWorkflow(batch);
    expect(fromFile.ok && fromFile.definition).toEqual(definition);
    expect(definition.steps.map((step) => step.id)).toEqual(["a_1", "a_2", "fix"]);
    expect(errorOf({ ...batch, steps: { a: { exec: "x" } } }).message).toContain(
      "a file uses one of the two forms",
    );
  });

  it("takes steps of the program's own actions by kind", () => {
    const definition = defineWorkflow({
      name: "x",
      steps: { a: { kind: "greet", implementation: { who: "y" } } },
    });
    expect(definition.steps[0]?.action).toEqual({ type: "greet", who: "y" });
  });

  it("leaves out keys that are undefined", () => {
    expect(
      defineWorkflow({ name: "x", steps: { a: { exec: "x", cwd: undefined } as never } }).steps[0]?.cwd,
    ).toBeNull();
  });

  it("checks expressions and templates with the checks it is given", () => {
    const input: WorkflowInput = { name: "x", steps: { a: { exec: "{{ a", if: "(" } } };
    const bad = () => ({ message: "does not compile", line: 1, column: 1 });
    expect(() => defineWorkflow(input, { checkExpression: bad, checkTemplate: bad })).toThrow(/2 problems/);
  });

  it.each([
    [
      { name: "x", steps: { a: { type: "noop", output: () => 1 } } },
      "steps.a.output: expected plain data, found function",
    ],
    [
      { name: "x", steps: { a: { type: "noop", output: new Date(0) } } },
      "steps.a.output: expected plain data, found an object of a class",
    ],
    [
      { name: "x", steps: { a: { type: "noop", output: [Number.NaN] } } },
      "steps.a.output[0]: the number `NaN` cannot be represented exactly",
    ],
    [undefined, "workflow: expected plain data, found undefined"],
  ])("refuses what is not plain data", (input, message) => {
    expect(errorOf(input).message).toContain(message);
  });

  it("refuses an object that contains itself", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(errorOf({ name: "x", steps: { a: { type: "noop", output: loop } } }).message).toContain(
      "nested more than",
    );
  });
});
