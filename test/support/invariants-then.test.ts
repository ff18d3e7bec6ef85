import { describe, expect, it } from "vitest";
import type { RouteEnd } from "../../src/core/model/route.js";
import { trial } from "./harness.js";
import { findViolations, INVARIANTS } from "./invariants.js";
import type * as then from "./invariants-then.js";
import { definitionOf } from "./workflow-text.js";

const flow = (end: RouteEnd) => `steps:
  a: { exec: "true", on_fail: { edge: { to: fix, then: ${end} } } }
  fix: { exec: "true" }
  d: { exec: "true", depends_on: a }`;

/** The log of a workflow, whose edge then says something else. */
async function logWith(end: RouteEnd, told: RouteEnd) {
  const { log } = await trial(flow(end), { a: ["fail"] });
  return log.map((entry) =>
    entry.event.type === "edge.taken" ? { ...entry, event: { ...entry.event, then: told } } : entry,
  );
}

const TAMPERINGS: { readonly [name in keyof typeof then]: readonly [RouteEnd, RouteEnd] } = {
  aCompletedRunSkipsOnlyWhereItMay: ["skip", "continue"],
  aRunWithAFailureForGoodNeverCompletes: ["skip", "fail"],
  aStandInWasRoutedToAndCompleted: ["continue", "skip"],
};

describe("the invariants of what becomes of a failure", () => {
  it.each(["skip", "continue", "fail"] as const)("hold for then: %s", async (end) => {
    expect(findViolations(await logWith(end, end), definitionOf(flow(end)))).toEqual([]);
  });

  it.each(Object.entries(TAMPERINGS))("%s notices an edge that says otherwise", async (name, [end, told]) => {
    const log = await logWith(end, told);
    expect(INVARIANTS[name]!(log, definitionOf(flow(end)))).toEqual(expect.any(String));
  });
});
