import { describe, expect, it } from "vitest";
import { jobsToReset } from "../../src/core/decide/refusals/operator-refusals.js";
import { diagnose } from "../../src/core/failure/diagnose.js";
import { Stage } from "../support/stage.js";

/** What commands that choose failed steps by themselves find. */
async function chosen(stage: Stage) {
  const view = await stage.view();
  const scale = { memory: { factor: 2, max: null }, runtime: { factor: 2, max: null } };
  const names = (jobs: readonly { step: { definition: { id: string } } }[]) =>
    jobs.map(({ step }) => step.definition.id);
  return {
    reset: names(jobsToReset(stage.live!)),
    recover: names(diagnose(stage.live!, { scale, retryUnknown: true }).map(({ job }) => job)),
    rows: view.jobs.filter(({ unanswered }) => unanswered).map(({ step }) => step),
  };
}

const NOTHING = { reset: [], recover: [], rows: [] };
const only = (...steps: string[]) => ({ reset: steps, recover: steps, rows: steps });

describe("a failure that a transition has taken elsewhere", () => {
  const flow = (then: string) => `steps:
  a: { exec: "true", on_fail: { edge: { to: fix, then: ${then} } } }
  fix: { exec: "true", on_fail: { edge: { to: last, then: ${then} } } }
  last: { exec: "true" }
  d: { exec: "true", depends_on: a }
  slow: { exec: "true" }
`;
  const slow = [{ output: 1, takesMs: 1_000 }] as const;

  it.each(["skip", "continue", "fail"])(
    "is nobody's to decide while a step there is at work, however far it has led (then: %s)",
    async (then) => {
      const stage = await Stage.begin(flow(then), {
        a: ["fail"],
        fix: [{ exit: 1, takesMs: 10 }],
        last: [{ output: 1, takesMs: 10 }],
        slow,
      });
      expect(await stage.statuses("a", "fix", "last")).toEqual(["failed", "running", "blocked"]);
      expect(await chosen(stage)).toEqual(NOTHING);
      await stage.turn();
      expect(await stage.statuses("a", "fix", "last")).toEqual(["failed", "failed", "running"]);
      expect(await chosen(stage)).toEqual(NOTHING);
      expect(await stage.operate({ type: "run.reset" })).toBeNull();
      expect((await stage.rest()).order).toEqual([
        "a",
        "slow",
        "fix",
        "last",
        ...(then === "continue" ? ["d"] : []),
      ]);
    },
  );

  it("is on record as handled as soon as a step there has completed, while other branches go on", async () => {
    const stage = await Stage.begin(flow("skip"), { a: ["fail"], fix: ["fail"], slow });
    expect(await stage.statuses("last", "slow")).toEqual(["completed", "running"]);
    const { jobs } = await stage.view();
    expect(jobs.filter(({ handled }) => handled).map(({ step }) => step)).toEqual(["a", "fix"]);
    expect(await chosen(stage)).toEqual(NOTHING);
  });

  it("is left to people once nothing there has worked, while other branches go on", async () => {
    const stage = await Stage.begin(flow("skip"), { a: ["fail"], fix: ["fail"], last: ["fail"], slow });
    expect(await stage.statuses("last", "slow")).toEqual(["failed", "running"]);
    expect(await chosen(stage)).toEqual(only("a", "fix", "last"));
  });

  it("is left to people with the step that is held there", async () => {
    const stage = await Stage.begin(`unhandled: hold\n${flow("skip")}`, {
      a: ["fail", "ok"],
      fix: ["fail"],
      last: ["fail"],
    });
    await stage.rest();
    expect(await chosen(stage)).toEqual(only("a", "fix", "last"));
    await stage.operate({ type: "run.reset" });
    const run = await (await stage.resume()).rest();
    // What the failure had led to waits for another one.
    expect(run.order.slice(4)).toEqual(["a", "d"]);
    expect(run.run.status).toBe("completed");
  });
});

describe("the failure of a repair", () => {
  const REPAIRED = `steps:
  t: { exec: "true", on_fail: { run: [r] } }
  r: { exec: "true" }
`;

  it("belongs to the step that it was to repair, which alone is left to people", async () => {
    const stage = await Stage.begin(REPAIRED, { t: ["fail"], r: ["fail"] });
    expect((await stage.rest()).run.error).toMatchObject({ code: "REMEDIATION_FAILED", step_id: "t" });
    expect(await chosen(stage)).toEqual(only("t"));
  });

  it("is not retried beside that step, which asks for the repair if it fails again", async () => {
    for (const [t, order] of [
      [
        ["fail", "ok"],
        ["t", "r", "t"],
      ],
      [
        ["fail", "fail", "ok"],
        ["t", "r", "t", "r", "t"],
      ],
    ] as const) {
      const stage = await Stage.begin(REPAIRED, { t, r: ["fail", "ok"] });
      await stage.rest();
      const [job, also] = [await stage.id("t"), [await stage.id("r")]];
      expect(await stage.operate({ type: "step.retry", job, also })).toBeNull();
      const run = await (await stage.resume()).rest();
      expect(run.order).toEqual(order);
      expect(run.run.status).toBe("completed");
    }
  });
});
