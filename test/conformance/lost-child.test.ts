import { describe, expect, it } from "vitest";
import { FamilyStage } from "../support/family-stage.js";
import { trace } from "../support/trace.js";

const PARENT = `name: parent
steps:
  call: { type: workflow, file: child.yaml, on_fail: { retry: { max: 1 } } }
  after: { exec: make, depends_on: call }
`;
const CHILD = `name: child
steps:
  pay: { exec: make }
  ship: { exec: make, depends_on: pay }
`;
const SLOW = { pay: [{ output: "receipt", takesMs: 1_000 }] };
const LOST = ["start call", "fail call WORKER_LOST", "climb call restart", "restart call 1/5"];

/** The child run whose outcome the parent's step has. */
async function childOf(stage: FamilyStage): Promise<unknown> {
  const output = (await stage.view()).job("call").output;
  return output?.kind === "value" ? (output.value as { run_id: number }).run_id : null;
}

describe("a parent whose attempt was lost", () => {
  it("takes the outcome of the child that the attempt made, which was over before", async () => {
    const stage = new FamilyStage(CHILD);
    await stage.start(PARENT, { run: 2, event: "run.completed" });
    expect(await stage.statuses()).toEqual(["running", "completed"]);
    await stage.resume(1);
    const parent = await stage.view();
    expect(trace(parent)).toEqual([
      ...LOST,
      "start call",
      "ok call",
      "start after",
      "ok after",
      "run completed",
    ]);
    expect(stage.worker.order).toEqual(["call", "pay", "ship", "call", "after"]);
    expect(await stage.statuses()).toEqual(["completed", "completed"]);
    expect(await childOf(stage)).toBe(2);
  });

  it("takes the outcome of a child that somebody went on with by itself", async () => {
    const stage = new FamilyStage(CHILD, SLOW);
    await stage.start(PARENT, { run: 2, event: "attempt.started" });
    await stage.resume(2);
    expect(await stage.statuses()).toEqual(["running", "completed"]);
    await stage.resume(1);
    expect(stage.worker.order).toEqual(["call", "pay", "pay", "ship", "call", "after"]);
    expect(await stage.statuses()).toEqual(["completed", "completed"]);
  });

  it("goes on with a child that is not over, however often it is lost, and has one child even after a hold", async () => {
    const held = `unhandled: hold\nmax_recoveries: 1\n${PARENT.replace(", on_fail: { retry: { max: 1 } }", "")}`;
    const stage = new FamilyStage(CHILD, SLOW);
    await stage.start(held, { run: 2, event: "attempt.started" });
    await stage.resume(1, { run: 2, event: "attempt.started" });
    await stage.resume(1);
    expect(trace(await stage.view())).toEqual([
      "start call",
      "fail call WORKER_LOST",
      "climb call restart",
      "restart call 1/1",
      "start call",
      "fail call WORKER_LOST",
      "climb call hold",
      "held call WORKER_LOST",
      "run held",
    ]);
    await stage.resume(2);
    const { id } = (await stage.view()).job("call");
    await stage.operate(1, { type: "step.retry", job: id, reason: "again", key: null });
    await stage.resume(1);
    expect(await stage.statuses()).toEqual(["completed", "completed"]);
    expect(await childOf(stage)).toBe(2);
    expect(stage.worker.order.filter((step) => step === "ship")).toEqual(["ship"]);
  });

  it("fails with a child that has failed meanwhile, and only its ladder's retry makes a second", async () => {
    const stage = new FamilyStage(CHILD, { pay: [{ output: null, takesMs: 1_000 }, { exit: 6 }, "ok"] });
    await stage.start(PARENT, { run: 2, event: "attempt.started" });
    await stage.resume(2);
    expect(await stage.statuses()).toEqual(["running", "failed"]);
    await stage.resume(1);
    expect(trace(await stage.view())).toEqual([
      ...LOST,
      "start call",
      "fail call CHILD_FAILED",
      "climb call retry",
      "retry call 1/1 +0",
      "start call",
      "ok call",
      "start after",
      "ok after",
      "run completed",
    ]);
    expect(await stage.statuses()).toEqual(["completed", "failed", "completed"]);
    expect(await childOf(stage)).toBe(3);
  });

  it("fails with a child that was canceled meanwhile", async () => {
    const stage = new FamilyStage(CHILD, SLOW);
    await stage.start(PARENT.replace("max: 1", "max: 0"), { run: 2, event: "attempt.started" });
    await stage.operate(2, { type: "run.cancel", reason: "enough", key: null });
    await stage.resume(1);
    expect(await stage.statuses()).toEqual(["failed", "canceled"]);
    expect((await stage.view()).job("call").error).toMatchObject({ code: "CHILD_FAILED" });
  });

  it("begins a new child in the visit of a goto, and cancels the one that the goto was to end", async () => {
    const parent = `name: parent
steps:
  begin: { exec: make }
  call: { type: workflow, file: child.yaml, depends_on: begin }
  check: { exec: make, depends_on: begin, on_fail: { goto: begin } }
`;
    const stage = new FamilyStage(CHILD, { ...SLOW, check: [{ exit: 1, takesMs: 10 }, "ok"] });
    await stage.start(parent, "cancel");
    expect(await stage.statuses()).toEqual(["running", "running"]);
    await stage.resume(1);
    expect(await stage.statuses()).toEqual(["completed", "canceled", "completed"]);
    expect(await childOf(stage)).toBe(3);
  });

  it("takes the child of a step that finishes the run", async () => {
    const stage = new FamilyStage(CHILD);
    const parent = `name: parent
steps:
  work: { exec: make }
  call: { type: workflow, file: child.yaml }
finally: [call]
`;
    await stage.start(parent, { run: 2, event: "run.completed" });
    await stage.resume(1);
    expect(await stage.statuses()).toEqual(["completed", "completed"]);
    expect(stage.worker.order).toEqual(["work", "call", "pay", "ship", "call"]);
  });
});

it("A child that failed on record is past: each retry has a child of its own", async () => {
  const stage = new FamilyStage(CHILD, { pay: ["fail"] });
  await stage.start(PARENT);
  expect(await stage.statuses()).toEqual(["failed", "failed", "failed"]);
  expect(stage.worker.order).toEqual(["call", "pay", "call", "pay"]);
});
