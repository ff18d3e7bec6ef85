import { describe, expect, it } from "vitest";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const FAILING = `name: failing
steps:
  fetch: { type: noop }
  build: { exec: "echo boom >&2; exit 3", depends_on: [fetch], on_fail: { retry: { max: 1 } } }
  after: { type: noop, depends_on: [build] }
`;

async function failed() {
  const { run_id } = await bench.run(FAILING);
  const { items } = await bench.call("list_run_events", { run_id, limit: 1_000 });
  const seqOf = (type: string) => items.find((item) => item.type === type)!.seq as number;
  return { run_id, last: items.at(-1)!.seq as number, seqOf };
}

describe("a run as it was", () => {
  it("after its last event is the run as it is", { tags: ["S3"] }, async () => {
    const { run_id, last } = await failed();
    const { at, ...past } = await bench.call("get_run", { run_id, at: last });
    const { at: none, ...now } = await bench.call("get_run", { run_id });
    expect(past).toEqual(now);
    expect([at, none]).toEqual([{ seq: last, time: expect.stringMatching(/Z$/), type: "run.failed" }, null]);
    const told = (seq?: number) => bench.call("explain_run", { run_id, full: true, at: seq });
    expect((await told(last)).lines).toEqual((await told()).lines);
    expect((await told(last)).advice).toEqual([]);
    const drawn = (seq?: number) => bench.call("workflow_graph", { run_id, at: seq });
    expect(await drawn(last)).toEqual(await drawn());
  });

  it("after an earlier event knows nothing of what came later", { tags: ["S3"] }, async () => {
    const { run_id, seqOf } = await failed();
    const shown = async (at: number) => {
      const { status, interrupted, finished_at, error, jobs, routes } = await bench.call("get_run", {
        run_id,
        at,
      });
      return {
        ...{ status, interrupted, finished_at, error, routes: routes.length },
        jobs: jobs.map((job) => `${job.step} ${job.status} ${job.attempts}`),
      };
    };
    const unfinished = { interrupted: false, finished_at: null, error: null };
    expect(await shown(1)).toEqual({
      ...{
        ...unfinished,
        status: "pending",
        routes: 0,
        jobs: ["fetch blocked 0", "build blocked 0", "after blocked 0"],
      },
    });
    expect(await shown(seqOf("retry.scheduled"))).toMatchObject({
      ...{ ...unfinished, status: "running", routes: 1 },
      jobs: ["fetch completed 1", expect.stringMatching(/^build (waiting|ready) 1$/), "after blocked 0"],
    });
    const before = await bench.call("explain_run", { run_id, at: seqOf("attempt.started") });
    expect(before.text).not.toContain("EXIT_3");
    const { text } = await bench.call("workflow_graph", { run_id, at: 1 });
    expect(text).not.toEqual((await bench.call("workflow_graph", { run_id })).text);
  });

  it("after an event that there is not is refused with the last number", { tags: ["S3"] }, async () => {
    const { run_id, last } = await failed();
    const asked = bench.call("get_run", { run_id, at: last + 1 });
    await expect(asked).rejects.toThrow(`run ${run_id} has no event ${last + 1}: its last one is ${last}`);
    expect(await refusalOf(bench.call("explain_run", { run_id, at: last + 1 }))).toBe("INVALID_INPUT");
    expect(await refusalOf(bench.call("workflow_graph", { source: FAILING, at: 1 }))).toBe("INVALID_INPUT");
  });
});
