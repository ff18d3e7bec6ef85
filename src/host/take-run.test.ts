import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../file/builder.js";
import { fromDefinition } from "../operations/workflows/workflow-source.js";
import { newRunOf } from "./take-run.js";

const workflow = (group: string) =>
  fromDefinition(
    defineWorkflow({
      name: "deploy",
      inputs: { target: { type: "any", default: "prod" } },
      concurrency: { group },
      priority: 4,
      steps: { a: { type: "noop" } },
    }),
    "/",
  );

describe("a new run", () => {
  it("has its group with templates filled in, and the priority of its workflow or another", () => {
    const deploy = workflow("deploy-{{ inputs.target }}-{{ pr.number }}");
    const context = { pr: { number: 7 } };
    expect(newRunOf(deploy, { context }, {})).toMatchObject({
      concurrency: { group: "deploy-prod-7", limit: 1, policy: "queue" },
      priority: 4,
    });
    expect(newRunOf(deploy, { context, inputs: { target: "test" }, priority: -1 }, {})).toMatchObject({
      concurrency: { group: "deploy-test-7" },
      priority: -1,
    });
  });

  it("has no group where it is a child run: its top-level run has the place", () => {
    const child = newRunOf(workflow("x"), { parent: { runId: 1, jobId: 10_000_001 } }, {});
    expect(child).not.toHaveProperty("concurrency");
  });

  it.each([
    ["{{ inputs.target }}", { target: " " }, "is empty"],
    ["{{ inputs.target }}", { target: "x".repeat(201) }, "has 201 characters, more than 200"],
    ["{{ inputs.target }}", { target: "a\nb" }, "has a line break"],
  ])("is refused where its group would be no name: %s of %o", (group, inputs, why) => {
    expect(() => newRunOf(workflow(group), { inputs }, {})).toThrow(why);
  });

  it("is refused with a priority that is none", () => {
    expect(() => newRunOf(workflow("x"), { priority: 0.5 }, {})).toThrow("invalid priority 0.5");
    expect(() => newRunOf(workflow("x"), { priority: 1_001 }, {})).toThrow("invalid priority 1001");
  });
});
