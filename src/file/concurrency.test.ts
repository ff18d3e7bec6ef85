import { describe, expect, it } from "vitest";
import { nameFinder } from "../run/sandbox/names/find-names.js";
import { checkTemplate } from "../run/sandbox/template.js";
import { checkExpression } from "../run/sandbox/wrap-code.js";
import { defineWorkflow } from "./builder.js";
import { loadDefinition } from "./load.js";

const STEPS = "inputs: { target: string }\nsteps: { a: { type: noop } }";

function load(text: string) {
  return loadDefinition(`${text}\n${STEPS}`, {
    file: "x.yaml",
    checkExpression,
    checkTemplate,
    findNames: nameFinder,
  });
}

function problems(text: string): string[] {
  const loaded = load(text);
  return loaded.ok ? [] : loaded.problems.map(({ code, line, message }) => `${line} ${code} ${message}`);
}

describe("concurrency in a workflow file", () => {
  it("has a group, and defaults for the rest", () => {
    expect(load('concurrency: { group: "deploy-{{ inputs.target }}" }\npriority: -3')).toMatchObject({
      ok: true,
      definition: {
        concurrency: { group: "deploy-{{ inputs.target }}", limit: 1, policy: "queue" },
        priority: -3,
      },
    });
    const all = load("concurrency: { group: x, limit: 4, policy: reject }");
    expect(all).toMatchObject({
      ok: true,
      definition: { concurrency: { group: "x", limit: 4, policy: "reject" } },
    });
    expect(load("")).toMatchObject({
      ok: true,
      definition: expect.not.objectContaining({ concurrency: {} }),
    });
  });

  it.each([
    ["concurrency: { limit: 2 }", "1 MISSING_KEY the key `group` is missing"],
    ["concurrency: { group: x, limit: 0 }", "1 INVALID_VALUE"],
    ["concurrency: { group: x, policy: drop }", "1 INVALID_VALUE"],
    ["concurrency: { group: x, places: 2 }", "1 UNKNOWN_KEY"],
    ["concurrency: { group: '{{ inputs.tagret }}' }", "1 UNKNOWN_NAME"],
    ["concurrency: { group: '{{ outputs.a }}' }", "1 INVALID_VALUE the group reads `outputs`"],
    ["concurrency: { group: '{{ inputs.target' }", "1 TEMPLATE_SYNTAX"],
    ["priority: 1001", "1 INVALID_VALUE"],
    ["priority: 1.5", "1 INVALID_VALUE"],
  ])("is refused where it is wrong: %s", (text, problem) => {
    expect(problems(text).some((each) => each.startsWith(problem))).toBe(true);
  });

  it("warns of a limit beside a policy that leaves only one run", () => {
    const loaded = load("concurrency: { group: x, limit: 3, policy: cancel_running }");
    expect(loaded.ok && loaded.warnings).toMatchObject([
      { code: "NO_EFFECT", line: 1, message: expect.stringContaining("`limit: 3` has no effect") },
    ]);
    const one = load("concurrency: { group: x, policy: cancel_running }");
    expect(one.ok && one.warnings).toEqual([]);
  });

  it("is the same from the builder", () => {
    const definition = defineWorkflow({
      name: "built",
      concurrency: { group: "x", policy: "cancel_running" },
      priority: 2,
      steps: { a: { type: "noop" } },
    });
    expect(definition).toMatchObject({
      concurrency: { group: "x", limit: 1, policy: "cancel_running" },
      priority: 2,
    });
  });
});
