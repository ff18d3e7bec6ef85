import { describe, expect, it } from "vitest";
import type { OutputOf } from "../../src/operations/client.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const HELD = `name: held
unhandled: hold
steps:
  fetch: { type: noop }
  build: { exec: "exit 3", depends_on: [fetch] }
  after: { type: noop, depends_on: [build] }
`;
/** Held, with a step that runs when it ends. */
const ENDING = `name: ending
unhandled: hold
finally: [tidy]
steps: { build: { exec: "exit 3" }, tidy: { exec: "sleep 300" } }
`;
type Control = OutputOf<"list_controls">["items"][number];

/** `pause`, or `pause: why not (CODE)`. */
function told(items: readonly Control[]): string[] {
  return items.map(({ action, allowed, code, reason }) =>
    allowed ? action : `${action}: ${reason}${code === null ? "" : ` (${code})`}`,
  );
}
const controls = async (run_id: number, step_id?: string) =>
  told((await bench.call("list_controls", { run_id, step_id })).items);
const act = (run_id: number, action: string, more: object = {}) =>
  bench.call("control_run", { run_id, action, ...more } as never);

/** What the operation itself says of it, for `build`. */
async function refusedBy(run_id: number, action: Control["action"]): Promise<string> {
  if (action === "cancel_now") return refusalOf(act(run_id, "cancel", { now: true, dry_run: true }));
  if (action === "fork") return refusalOf(bench.call("fork_run", { run_id, step: "build", dry_run: true }));
  if (action !== "redrive" && action !== "complete" && action !== "skip" && action !== "fail")
    return refusalOf(act(run_id, action, { step_id: "build", dry_run: true }));
  const { items } = await bench.call("list_jobs", { run_id });
  const jobs = items.filter(({ step }) => step === "build").map(({ id }) => id);
  const { results } = await bench.call("decide_problems", { jobs, action, dry_run: true });
  return results[0]!.error?.code ?? "not refused";
}

describe("the controls of a run", () => {
  it("say of every action whether it applies now, and else what refuses it", async () => {
    const { run_id } = await bench.run(HELD);
    expect(await controls(run_id, "build")).toEqual([
      "pause",
      "resume",
      "cancel",
      "takeover",
      "retry_step",
      "hard_reset_step: build does not work in a workspace (NO_WORKSPACE)",
      "resume_from_step",
      "reset_failed",
      `cancel_now: run ${run_id} has no undo or finally steps`,
      "fork",
      "redrive: build is held and not a dead letter (NOT_DEAD_LETTER)",
      "complete",
      "skip",
      "fail",
    ]);
    expect((await controls(run_id, "fetch")).slice(4)).toEqual([
      "retry_step: fetch is completed (STEP_COMPLETED)",
      "hard_reset_step: fetch does not work in a workspace (NO_WORKSPACE)",
      "resume_from_step",
      "reset_failed",
      `cancel_now: run ${run_id} has no undo or finally steps`,
      "fork",
      "redrive: fetch is completed and not a dead letter (NOT_DEAD_LETTER)",
      "complete: fetch is completed, not held (NOT_HELD)",
      "skip: fetch is completed, not held (NOT_HELD)",
      "fail: fetch is completed, not held (NOT_HELD)",
    ]);
    await act(run_id, "pause");
    expect((await controls(run_id))[0]).toBe(`pause: run ${run_id} is paused already`);
    expect((await controls(run_id))[3]).toBe("takeover");
    await act(run_id, "takeover");
    expect((await controls(run_id))[3]).toBe(`takeover: run ${run_id} is taken over already`);
    await act(run_id, "cancel", { wait_ms: 10_000 });
    const over = `run ${run_id} is canceled`;
    expect(await controls(run_id)).toEqual([
      `pause: ${over} (RUN_OVER)`,
      `resume: ${over}`,
      `cancel: ${over} (RUN_OVER)`,
      `takeover: ${over} (RUN_OVER)`,
      "retry_step: choose a step first (INVALID_INPUT)",
      "hard_reset_step: choose a step first (INVALID_INPUT)",
      "resume_from_step: choose a step first (INVALID_INPUT)",
      "reset_failed",
      `cancel_now: ${over} (RUN_OVER)`,
      ...["fork", "redrive", "complete", "skip", "fail"].map(
        (action) => `${action}: choose a step first (INVALID_INPUT)`,
      ),
    ]);
  });

  it("offer to cancel now while undo and finally steps would run or are running", async () => {
    const { run_id } = await bench.run(ENDING);
    const cancels = async () => (await controls(run_id)).filter((text) => text.startsWith("cancel"));
    expect(await cancels()).toEqual(["cancel", "cancel_now"]);
    await act(run_id, "cancel");
    await bench.until(run_id, ({ phase }) => phase === "finally");
    expect(await cancels()).toEqual([
      `cancel: run ${run_id} is ending; \`cancel --now\` also ends its undo and finally steps`,
      "cancel_now",
    ]);
    await act(run_id, "cancel", { now: true, wait_ms: 20_000 });
    expect(await cancels()).toEqual([
      `cancel: run ${run_id} is canceled (RUN_OVER)`,
      `cancel_now: run ${run_id} is canceled (RUN_OVER)`,
    ]);
  });

  it("refuse what the command itself refuses, with the same code", async () => {
    const runs = [
      (await bench.run(HELD)).run_id,
      (await bench.run("steps: { build: { type: noop } }")).run_id,
    ];
    await act(runs[0]!, "pause");
    for (const run_id of runs) {
      const { items } = await bench.call("list_controls", { run_id, step_id: "build" });
      for (const { action, code } of items)
        expect([action, await refusedBy(run_id, action)]).toEqual([action, code ?? "not refused"]);
    }
  });

  it("are those of the process that is asked: without a runner nothing is forked or taken up", async () => {
    const { run_id } = await bench.run(HELD);
    const { items } = await callIn(bench.withoutRunner, "list_controls", { run_id, step_id: "build" });
    expect(told(items).filter((text) => text.includes("NO_RUNNER"))).toEqual([
      `resume: this process cannot continue run ${run_id} (NO_RUNNER)`,
      "fork: this process cannot run workflows (NO_RUNNER)",
    ]);
  });
});

describe("a dry run", () => {
  it("tells what a control would change, and changes nothing", async () => {
    const { run_id } = await bench.run(HELD);
    const before = await bench.call("list_run_events", { run_id, limit: 1_000 });
    const dry = async (action: string, step_id?: string) => {
      const answer = await act(run_id, action, { step_id, dry_run: true });
      return [answer.dry_run, answer.status, ...answer.changed.map(({ step, to }) => `${step} ${to}`)];
    };
    expect(await dry("cancel")).toEqual([true, "canceled", "build canceled", "after canceled"]);
    expect(await dry("retry_step", "build")).toEqual([true, "running", "build ready"]);
    expect(await dry("pause")).toEqual([true, "paused"]);
    expect(await bench.call("fork_run", { run_id, step: "build", dry_run: true })).toMatchObject({
      run_id: 0,
      plan: { taken_over: 1, steps: ["build", "after"] },
    });
    const { items } = await bench.call("list_jobs", { run_id });
    const held = items.find(({ step }) => step === "build")!.id;
    expect(await refusalOf(bench.call("redrive_job", { job_id: held, dry_run: true }))).toBe(
      "NOT_DEAD_LETTER",
    );
    expect(await bench.call("list_run_events", { run_id, limit: 1_000 })).toEqual(before);
  });
});

describe("who did it", () => {
  it("stands in every event of a command, also where a pause is lifted by taking the run up", async () => {
    const { run_id } = await bench.run(HELD);
    await act(run_id, "pause");
    await act(run_id, "resume");
    await act(run_id, "retry_step", { step_id: "build" });
    await bench.settled(run_id);
    await act(run_id, "cancel", { wait_ms: 10_000 });
    const { items } = await bench.call("list_run_events", { run_id, limit: 1_000 });
    const said = items.filter(({ key }) => typeof key === "string");
    expect(said.map(({ type, by }) => `${type} ${by}`)).toEqual([
      "run.paused tester",
      "run.unpaused tester",
      "jobs.retried tester",
      "run.cancel_requested tester",
    ]);
  });
});
