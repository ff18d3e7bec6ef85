import { expect, it } from "vitest";
import { defineWorkflow } from "../builder.js";
import { takenWhen } from "./taken-when.js";

it("says in sentences when an edge is taken, and what is tried before it", () => {
  const definition = defineWorkflow({
    name: "ship",
    steps: {
      fetch: { exec: "x" },
      build: {
        exec: "x",
        depends_on: "fetch",
        on_fail: { retry: { max: 2 }, run: ["mend"], goto: { step: "fetch", max: 1 } },
      },
      mend: { exec: "x" },
      tell: { exec: "x" },
      undo: { exec: "x" },
    },
    transitions: [
      { from: "build", to: "tell", on: "success" },
      { from: "build", to: "undo", on: "failure", priority: 7, then: "continue" },
      {
        ...{ from: "build", to: "tell", on: "any", priority: 3 },
        when: { type: "comparison", left: "error.code", operator: "==", right: "OOM" },
      },
      { from: "fetch", to: "tell", on: "failure", then: "fail" },
    ],
  });
  const before = "2 retries, the repair by mend and the goto to fetch, 1 at most";
  expect([...takenWhen(definition).values()]).toEqual([
    "When build completes.",
    `When build fails, after ${before}. The edge to tell is tried before it. If undo completes, it stands in for build: the steps that depend on build run with its output.`,
    `When build completes or fails (a failure only after ${before}), if error.code == "OOM". The edge to tell is tried before it. If tell completes, the failure is handled, and the steps that depend on build are skipped.`,
    "When fetch fails. The run fails, also if tell completes.",
  ]);
});
