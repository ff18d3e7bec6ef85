import { describe, expect, it } from "vitest";
import { VARIABLES } from "../../src/core/model/variable-names.js";
import type { Json } from "../../src/core/text/json.js";
import type { Evaluation, Sandbox } from "../../src/run/sandbox/sandbox.js";
import type { Assignment } from "../../src/run/worker.js";
import { trial } from "../support/harness.js";
import { plainSandbox } from "../support/plain-sandbox.js";

/** What each evaluation of a run was given, in order. */
async function variablesOf(text: string): Promise<{ readonly [name: string]: Json }[]> {
  const seen: { readonly [name: string]: Json }[] = [];
  const sandbox: Sandbox = {
    evaluate(evaluation: Evaluation) {
      seen.push(evaluation.variables);
      return plainSandbox.evaluate(evaluation);
    },
    render: plainSandbox.render,
    close: () => Promise.resolve(),
  };
  const isFirst = ({ variables }: Assignment) => (variables.foreach as { index: number }).index === 0;
  const work = (assignment: Assignment) => (isFirst(assignment) ? "fail" : "ok");
  await trial(text, { list: [{ output: ["x", "y"] }], work }, { sandbox });
  return seen;
}

describe("names that pass at load", () => {
  it("are those that a run has, with the fields that it has", async () => {
    const text = `
steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ outputs.list }}", depends_on: list, on_fail: { goto_js: "return null" } }
  mend: { exec: make, if: "true" }
  sum: { exec: make, depends_on: work, fanout: reduce, join: any, if: "true" }
transitions: [{ from: work, to: mend, on: failure }]
`;
    const seen = await variablesOf(text);
    const names = new Set(seen.flatMap((variables) => Object.keys(variables)));
    expect([...names].sort()).toEqual(Object.keys(VARIABLES).sort());
    const fieldsSeen = (name: string) =>
      new Set(seen.flatMap((variables) => Object.keys(variables[name] ?? {})));
    // Only what ran out of memory or time on a cluster has a limit.
    const always = (field: string) => field !== "resource_limit";
    for (const name of ["error", "foreach", "state", "step"] as const)
      expect([name, [...fieldsSeen(name)].sort()]).toEqual([
        name,
        [...VARIABLES[name]].filter(always).sort(),
      ]);
    expect([...VARIABLES.failure]).toEqual(expect.arrayContaining([...fieldsSeen("failure")]));
    expect(fieldsSeen("failure").size).toBeGreaterThan(6);
  });
});
