import { describe, expect, it } from "vitest";
import { FamilyStage } from "../support/family-stage.js";
import { trace } from "../support/trace.js";

const NOTIFY = "notify: [{ on: [completed, handled], to: ops }]\n";
const PARENT = `name: parent\n${NOTIFY}steps:\n  call: { type: workflow, file: child.yaml }\n`;
const HANDLES = `name: child\n${NOTIFY}steps:
  pay: { exec: make, on_fail: { edge: { to: back } } }
  back: { exec: make }
`;

const noticesOf = async (stage: FamilyStage) => {
  const notices = await stage.store.listNotices({ limit: 9 });
  return notices.map(({ kind, run_id, step, facts }) => [kind, run_id, step, facts.below]);
};

describe("a child run that completed though not all in it was mended", () => {
  it("is on record with the parent's step, and the parent is told of as a run that handled a failure", async () => {
    const stage = new FamilyStage(HANDLES, { pay: ["fail"] });
    await stage.start(PARENT);
    const parent = await stage.view();
    expect(trace(parent)).toEqual(["start call", "ok call", "run completed"]);
    const below = { run_id: 2, handled: 1, decided: 0 };
    expect(parent.events("attempt.succeeded")).toMatchObject([{ below }]);
    expect(await noticesOf(stage)).toEqual([["handled", 1, "call", below]]);
    // Neither of the two runs completed at once.
    const counted = await stage.store.count("runs", { bucketMs: 1_000 });
    expect(counted.map(({ handled, runs }) => [handled, runs])).toEqual([
      [true, 1],
      [true, 1],
    ]);
    expect(parent.run.tally).toMatchObject({ handled: 0, below: true });
  });

  it("counts as well where the parent's engine was killed right after it, and takes its end when it is back", async () => {
    const stage = new FamilyStage(HANDLES, { pay: ["fail"] });
    await stage.start(PARENT, { run: 2, event: "run.completed" });
    expect(await stage.statuses()).toEqual(["running", "completed"]);
    await stage.resume(1);
    expect(stage.worker.order).toEqual(["call", "pay", "back", "call"]);
    const below = { run_id: 2, handled: 1, decided: 0 };
    expect(await noticesOf(stage)).toEqual([["handled", 1, "call", below]]);
  });

  it("counts the jobs that a person put an end to as well", async () => {
    const held = `name: child\nunhandled: hold\nsteps: { pay: { exec: make } }\n`;
    const stage = new FamilyStage(held, { pay: ["fail"] });
    await stage.start(PARENT);
    const items = [{ job: 20_000_001, action: "skip", output: null, items: null } as const];
    await stage.operate(2, { type: "holds.resolve", by: "ann", items, reason: "", key: null });
    await stage.resume(1);
    expect(await stage.statuses()).toEqual(["completed", "completed"]);
    expect(await noticesOf(stage)).toEqual([["handled", 1, "call", { run_id: 2, handled: 0, decided: 1 }]]);
  });

  it("counts no more once the step has had a clean one, nor where it failed nothing", async () => {
    let paid = 0;
    const stage = new FamilyStage(HANDLES, {
      pay: () => {
        paid += 1;
        return paid === 1 ? "fail" : "ok";
      },
      look: ["fail", "ok"],
    });
    const again = "  look: { exec: make, depends_on: call, on_fail: { goto: { step: call, max: 1 } } }\n";
    await stage.start(PARENT + again);
    expect(stage.worker.order).toEqual(["call", "pay", "back", "look", "call", "pay", "look"]);
    expect((await stage.view()).events("attempt.succeeded").map(({ below }) => below?.run_id)).toEqual([
      2,
      undefined,
      undefined,
    ]);
    expect(await noticesOf(stage)).toEqual([["completed", 1, null, undefined]]);
    expect((await stage.view()).run.tally?.below).toBeUndefined();
  });
});
