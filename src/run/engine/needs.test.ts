import { describe, expect, it } from "vitest";
import { definitionOf } from "../../../test/support/workflow-text.js";
import type { RaisedResources } from "../../core/model/resources.js";
import { needsOf } from "./needs.js";

const definition = definitionOf(`
steps:
  one: { exec: a, runs_on: [gpu], resource_requirements: { memory: 1k } }
  two: { exec: b, runs_on: [gpu], resource_requirements: { memory: 1k } }
  three: { exec: c, runs_on: [cpu] }`);
const needsOfStep = (place: number, raised: RaisedResources | null = null) =>
  needsOf({ step: { definition: definition.steps[place]! }, raised }, definition);

describe("what a job asks of its worker", () => {
  it("is kept once for all jobs of a workflow that ask for the same", () => {
    expect(needsOfStep(1)).toBe(needsOfStep(0));
    expect(needsOfStep(0).needs).toMatchObject({ tags: ["gpu"], memoryBytes: 1024 });
    expect(needsOfStep(2).needs).toMatchObject({ tags: ["cpu"], memoryBytes: 0 });
  });

  it("is more where the job was given more, and for that job only", () => {
    const raised = { memoryBytes: 2048, runtimeMs: null };
    expect(needsOfStep(0, raised).needs.memoryBytes).toBe(2048);
    expect(needsOfStep(0).needs.memoryBytes).toBe(1024);
  });
});
