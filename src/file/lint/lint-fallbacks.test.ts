import { describe, expect, it } from "vitest";
import { defineWorkflow, type StepInput, type TransitionInput } from "../builder.js";
import { renderSegments } from "../read/path.js";
import { lintFallbacks } from "./lint-transitions.js";

const EDGE: TransitionInput = { from: "test", to: "fallback", on: "failure" };
const STEPS = {
  test: { exec: "x" },
  fallback: { exec: "x" },
  publish: { exec: "x", depends_on: "test" },
} satisfies { [id: string]: StepInput };
const found = (edge: Partial<TransitionInput> = {}, steps: { [id: string]: StepInput } = {}) =>
  lintFallbacks(
    defineWorkflow({ name: "w", steps: { ...STEPS, ...steps }, transitions: [{ ...EDGE, ...edge }] }),
  );

describe("a fallback that does not say what becomes of the steps behind", () => {
  it("is named with the steps that are skipped", () => {
    expect(found()).toEqual([
      {
        code: "FALLBACK_SKIPS",
        message: "when `test` fails and `fallback` completes, the run completes without `publish`",
        hint: "Add `then: continue` if `fallback` stands in for `test`, `then: fail` if the run has failed, or `then: skip` if this is meant.",
        segments: ["transitions", 0],
      },
    ]);
  });

  it.each(["skip", "continue", "fail"] as const)("says it with then: %s", (then) => {
    expect(found({ then })).toEqual([]);
  });

  it("that goes back to the failed step skips nothing: its next visit decides", () => {
    const back: TransitionInput = { from: "fallback", to: "test" };
    const steps = { ...STEPS, test: { exec: "x", start: "auto" as const } };
    const looped = { name: "w", steps, transitions: [EDGE, back] };
    expect(lintFallbacks(defineWorkflow(looped))).toEqual([]);
    const onlyAfterFailure = { ...looped, transitions: [EDGE, { ...back, on: "failure" as const }] };
    expect(lintFallbacks(defineWorkflow(onlyAfterFailure))).toHaveLength(1);
  });

  it("has its place in its step, too", () => {
    const test: StepInput = { exec: "x", on_fail: { edge: { to: "fallback" } } };
    const findings = lintFallbacks(defineWorkflow({ name: "w", steps: { ...STEPS, test } }));
    expect(findings.map(({ segments }) => renderSegments(segments))).toEqual(["steps.test.on_fail.edge"]);
  });

  it.each<[string, Partial<TransitionInput>, { [id: string]: StepInput }]>([
    ["after a success", { on: "success" }, {}],
    ["where they need the target, too", {}, { publish: { exec: "x", depends_on: ["test", "fallback"] } }],
    ["where either is enough", {}, { publish: { exec: "x", depends_on: "test|fallback" } }],
    ["where they run after any end", {}, { publish: { exec: "x", depends_on: "test", needs: "settled" } }],
    ["where they run whatever it comes to", {}, { test: { exec: "x", continue_on_failure: true } }],
    [
      "where it goes back",
      { to: "setup" },
      { setup: { exec: "x", start: "auto" }, test: { exec: "x", depends_on: "setup" } },
    ],
  ])("has nothing to say %s", (_, edge, steps) => {
    expect(found(edge, steps)).toEqual([]);
  });
});
