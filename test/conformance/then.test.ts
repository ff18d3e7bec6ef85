import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

/** `a` fails and `fix` is its fallback; `d` depends on `a`, and `e` on `d`. */
const flow = (then: string, more = "", a = "") => `steps:
  a: { exec: "true"${a} }
  fix: { exec: "true" }
  d: { exec: "true", depends_on: a }
  e: { exec: "true", depends_on: d }
transitions:
  - { from: a, to: fix, on: failure${then === "" ? "" : `, then: ${then}`} }
${more}`;

describe("then: skip", () => {
  it.each(["", "skip"])(
    "is what `%s` means: the failure is handled, the steps behind are skipped",
    async (then) => {
      const run = await trial(flow(then), { a: ["fail"] });
      expect(trace(run)).toEqual([
        "start a",
        "fail a EXIT_1",
        "climb a edge",
        "failed a EXIT_1",
        "edge 1 a -> fix on failure",
        "start fix",
        "ok fix",
        "settled handled [a] unhandled []",
        "skipped d e",
        "run completed",
      ]);
      expect(run.job("a").handling).toEqual({ how: "edge", by: "fix", then: "skip" });
      expect([run.job("d").skipped_by, run.job("e").skipped_by]).toEqual([run.job("a").id, run.job("a").id]);
    },
  );
});

describe("then: continue", () => {
  it("lets the steps behind go on with the output of the step that stood in", async () => {
    const run = await trial(flow("continue"), { a: ["fail"], fix: [{ output: { n: 7 } }] });
    expect(trace(run)).toEqual([
      "start a",
      "fail a EXIT_1",
      "climb a edge",
      "failed a EXIT_1",
      "edge 1 a -> fix on failure",
      "start fix",
      "ok fix",
      "stood in a by fix",
      "start d",
      "ok d",
      "start e",
      "ok e",
      "run completed",
    ]);
    expect(run.job("a")).toMatchObject({
      status: "failed",
      handled: true,
      stood_in_by: "fix",
      handling: { how: "edge", by: "fix", then: "continue" },
      output: { kind: "value", value: { n: 7 } },
    });
  });
});

describe("then: fail", () => {
  it("fails the run with the error of the step, whatever the route has done", async () => {
    const run = await trial(flow("fail"), { a: ["fail"] });
    expect(trace(run)).toEqual([
      "start a",
      "fail a EXIT_1",
      "climb a edge",
      "failed a EXIT_1",
      "edge 1 a -> fix on failure",
      "start fix",
      "ok fix",
      "settled handled [] unhandled [a]",
      "canceled d e DEPENDENCY_FAILED",
      "run failed EXIT_1",
    ]);
    expect(run.run.error).toMatchObject({ code: "EXIT_1", step_id: "a" });
    expect(run.job("a").handled).toBe(false);
  });
});
