import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { HANG_MS } from "../../../test/support/hang.js";
import { held, JOB, NEEDS, PoolBench, report, settle, tokensOf } from "../../../test/support/pool-bench.js";
import type { AttemptRow } from "../../core/model/rows.js";
import { logFile } from "../../run/worker/attempt-paths.js";
import type { PlaceWish } from "../../run/worker.js";

const bench = new PoolBench();
const notOn = (worker: string): PlaceWish => ({
  ...{ on: "other", worker, patient: false, mayProve: false },
});

describe("places", () => {
  it("are where there is room: full when nobody has any, none when only this one does not fit", () => {
    expect(bench.pool.place(NEEDS)).toBe("full");
    bench.register();
    expect(bench.pool.place({ ...NEEDS, tags: ["gpu"] })).toBe(null);
    expect(bench.pool.place({ ...NEEDS, actionType: "agent" })).toBe(null);
    expect(bench.pool.place({ ...NEEDS, memoryBytes: 1_001 })).toBe(null);
    expect(bench.pool.place({ ...NEEDS, cpus: 5 })).toBe(null);
    expect(bench.pool.place({ ...NEEDS, memoryBytes: 600 })).toEqual(
      expect.objectContaining({ worker: "w1/aaaaaaaa" }),
    );
    expect(bench.pool.place({ ...NEEDS, memoryBytes: 600 })).toBe(null);
    expect(bench.pool.place(NEEDS)).not.toBe("full");
    expect(bench.pool.place(NEEDS)).toBe("full");
  });

  it("for steps of a workspace are in the server's own process alone, and whyNot says so", () => {
    const needs = { ...NEEDS, usesWorkspace: true };
    bench.register();
    expect(bench.pool.place(needs)).toBe(null);
    expect(bench.pool.whyNot(needs).text).toContain("--max-parallel 0");
    bench.open(1);
    bench.register();
    expect(bench.pool.place(needs)).toMatchObject({ worker: "local-1" });
    expect(bench.pool.place(needs)).toBe(null);
    expect(bench.pool.whyNot(needs).text).toContain("busy");
  });

  it("that are given back can be had again", () => {
    bench.register({ slots: 1 });
    const place = bench.pool.place(NEEDS);
    expect(bench.pool.place(NEEDS)).toBe("full");
    bench.pool.release(place as never);
    expect(bench.pool.place(NEEDS)).not.toBe("full");
  });

  it("go to the worker with the most room that has the tags", () => {
    bench.register({ slots: 8 });
    bench.register({ instance: "bbbbbbbb-0000", name: "w2", slots: 2, tags: ["gpu"] });
    expect(bench.pool.place(NEEDS)).toMatchObject({ worker: "w1/aaaaaaaa" });
    expect(bench.pool.place({ ...NEEDS, tags: ["gpu"] })).toMatchObject({ worker: "w2/bbbbbbbb" });
  });

  it("are rather not on the worker where the attempt before failed, but there if nobody else has room", () => {
    bench.register({ slots: 8 });
    bench.register({ instance: "bbbbbbbb-0000", name: "w2", slots: 1 });
    expect(bench.pool.place(NEEDS, notOn("w1"))).toMatchObject({ worker: "w2/bbbbbbbb" });
    expect(bench.pool.place(NEEDS, notOn("w1"))).toMatchObject({ worker: "w1/aaaaaaaa" });
    expect(bench.pool.place(NEEDS, notOn("w2"))).toMatchObject({ worker: "w1/aaaaaaaa" });
  });

  it("are rather not in the server's own process where the attempt before failed there", () => {
    bench.open(2);
    expect(bench.pool.place(NEEDS, notOn("local-1"))).toMatchObject({ worker: "local-1" });
    bench.register();
    expect(bench.pool.place(NEEDS, notOn("local-1"))).toMatchObject({ worker: "w1/aaaaaaaa" });
    expect(bench.pool.place({ ...NEEDS, usesWorkspace: true }, notOn("local-1"))).toMatchObject({
      worker: "local-1",
    });
  });

  it("are in the server's own process first, and always for a step that takes no slot", () => {
    bench.open(1);
    bench.register();
    expect(bench.pool.place(NEEDS)).toMatchObject({ worker: "local-1" });
    expect(bench.pool.place(NEEDS)).toMatchObject({ worker: "w1/aaaaaaaa" });
    expect(bench.pool.place({ ...NEEDS, slots: 0, actionType: "workflow" })).toMatchObject({
      worker: "local-1",
    });
  });

  it("are not on a worker that has fallen silent, and are there again when it comes back", async () => {
    const id = bench.register();
    let rooms = 0;
    bench.pool.onRoom(() => {
      rooms += 1;
    });
    bench.clock.advance(5_000);
    expect(bench.pool.place(NEEDS)).toBe("full");
    void bench.claim(id);
    expect(rooms).toBe(1);
    expect(bench.pool.place(NEEDS)).not.toBe("full");
  });

  it("are not on a worker whose claim broke off", () => {
    const id = bench.register();
    const gone = new AbortController();
    void bench.claim(id, undefined, gone.signal);
    gone.abort();
    expect(bench.pool.place(NEEDS)).toBe("full");
  });

  it("that are missing are explained", () => {
    expect(bench.pool.whyNot(NEEDS).text).toBe("no worker is connected");
    const id = bench.register();
    expect(bench.pool.whyNot({ ...NEEDS, tags: ["gpu"] }).text).toBe("no connected worker has the tags gpu");
    expect(bench.pool.whyNot({ ...NEEDS, actionType: "agent" }).text).toContain("actions of type agent");
    expect(bench.pool.whyNot({ ...NEEDS, slots: 3 }).text).toBe("no connected worker has 3 slots");
    expect(bench.pool.whyNot(NEEDS).text).toBe("the workers that can run it are busy");
    bench.desk.heartbeat(id, { attempts: [], draining: true });
    expect(bench.pool.whyNot(NEEDS).text).toContain("do not answer or are stopping");
  });
});

describe("assignments", () => {
  it("answer the claim that waits for them, all of one turn together", async () => {
    const id = bench.register();
    const claim = bench.claim(id);
    bench.execute();
    bench.execute({ token: "t2", jobId: JOB + 1 });
    expect(tokensOf(await claim)).toEqual(["t1", "t2"]);
  });

  it("that are no longer wanted are not delivered; one that was is to be stopped", async () => {
    const id = bench.register();
    const unsent = bench.execute();
    unsent.controller.abort("stopped");
    await settle();
    expect(unsent.told).toMatchObject([{ kind: "stopped" }]);
    const sent = bench.execute({ token: "t2" });
    expect(tokensOf(await bench.claim(id))).toEqual(["t2"]);
    const next = bench.claim(id);
    sent.controller.abort("stopped");
    expect(await next).toEqual({ assignments: [], stop: ["t2"] });
    expect(bench.desk.heartbeat(id, { attempts: [held("t2")], draining: false })).toMatchObject({
      renewed: ["t2"],
      stop: ["t2"],
    });
    expect(sent.told).toEqual([]);
  });

  it("of a run that the server lets go of stay with the worker, but are not kept alive", async () => {
    const id = bench.register();
    const running = bench.execute();
    await bench.claim(id);
    running.controller.abort("released");
    await settle();
    expect(running.told).toEqual([null]);
    expect(bench.desk.heartbeat(id, { attempts: [held()], draining: false })).toMatchObject({
      renewed: [],
      stop: [],
      lost: [],
    });
  });
});

describe("reports", () => {
  it("are answered only when they are on record, and free the room before", async () => {
    const { id, running } = await bench.deliver();
    let answered: unknown = null;
    void bench.desk.report(id, [report()]).then((answer) => {
      answered = answer;
    });
    await settle();
    expect(running.told).toMatchObject([{ kind: "succeeded", duration_ms: 5 }]);
    expect(answered).toBe(null);
    expect(bench.pool.list()[0]?.used).toBe(0);
    running.settle("committed");
    await settle();
    expect(answered).toEqual([{ token: "t1", outcome: "accepted" }]);
  });

  it("that come twice are taken once", async () => {
    const { id, running } = await bench.deliver();
    const first = bench.desk.report(id, [report()]);
    const meanwhile = bench.desk.report(id, [report()]);
    await settle();
    running.settle("committed");
    expect([await first, await meanwhile, await bench.desk.report(id, [report()])]).toEqual(
      Array(3).fill([{ token: "t1", outcome: "accepted" }]),
    );
    expect(running.told).toHaveLength(1);
  });

  it("for which the run has no use are stale", async () => {
    const { id, running } = await bench.deliver();
    const answer = bench.desk.report(id, [report()]);
    await settle();
    running.settle("stale");
    expect(await answer).toEqual([{ token: "t1", outcome: "stale", code: "STALE_ATTEMPT" }]);
  });

  it("of a run that this server lost are offered again, and taken by whoever has it next", async () => {
    const { id, running } = await bench.deliver();
    const first = bench.desk.report(id, [report()]);
    await settle();
    running.settle("not_owned");
    bench.rows = [{ job_id: JOB, attempt: 1, run_id: 1, token: "t1", status: "running" } as AttemptRow];
    expect(await first).toEqual([{ token: "t1", outcome: "retry", code: "RUN_NOT_HERE" }]);
    expect(await bench.desk.report(id, [report()])).toMatchObject([{ outcome: "retry" }]);
    const next = bench.adopt();
    const second = bench.desk.report(id, [report()]);
    await settle();
    expect(next.told).toMatchObject([{ kind: "succeeded" }]);
    next.settle("committed");
    expect(await second).toEqual([{ token: "t1", outcome: "accepted" }]);
  });

  it("of another worker's attempt are stale", async () => {
    await bench.deliver();
    const other = bench.register({ instance: "bbbbbbbb-0000", name: "w2" });
    expect(await bench.desk.report(other, [report()])).toMatchObject([
      { outcome: "stale", code: "STALE_ATTEMPT" },
    ]);
    expect(bench.desk.heartbeat(other, { attempts: [held()], draining: false })).toMatchObject({
      lost: ["t1"],
    });
  });

  it("that nobody here remembers are judged by what the store says", async () => {
    const id = bench.register();
    const row = { job_id: JOB, attempt: 1, run_id: 1, token: "t1", error: null } as AttemptRow;
    const ask = async (changes: Partial<AttemptRow> | null): Promise<unknown> => {
      bench.rows = changes === null ? [] : [{ ...row, ...changes }];
      return (await bench.desk.report(id, [report()]))[0]?.outcome;
    };
    expect(await ask(null)).toBe("stale");
    expect(await ask({ token: "other" })).toBe("stale");
    expect(await ask({ status: "running" })).toBe("retry");
    expect(await ask({ status: "succeeded" })).toBe("accepted");
    expect(await ask({ status: "failed", error: { code: "WORKER_LOST" } as never })).toBe("stale");
  });

  it("bring the end of their logs; where some is missing it is asked for before", async () => {
    const { id, running } = await bench.deliver();
    const data = (text: string): string => Buffer.from(text).toString("base64");
    const file = logFile(bench.folder, { workflowId: 1, jobId: JOB, runId: 1, attempt: 1 }, "stdout");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "of an earlier database, and longer");
    void bench.desk.writeLog(id, { token: "t1", stream: "stdout", offset: 0 }, Buffer.from("one "));
    await bench.desk.writeLog(id, { token: "t1", stream: "stdout", offset: 0 }, Buffer.from("one "));
    const lacking = report({ logs: [{ stream: "stdout", offset: 8, data: data("three") }] });
    expect(await bench.desk.report(id, [lacking])).toEqual([
      { token: "t1", outcome: "retry", code: "RUN_NOT_HERE", have: { stdout: 4, stderr: 0, usage: 0 } },
    ]);
    expect(running.told).toEqual([]);
    const whole = bench.desk.report(id, [
      report({ logs: [{ stream: "stdout", offset: 4, data: data("two three") }] }),
    ]);
    await vi.waitFor(() => expect(running.told).toHaveLength(1), HANG_MS);
    running.settle("committed");
    await whole;
    expect(readFileSync(file, "utf8")).toBe("one two three");
  });

  it("speak of an output that must be here, and it lies where the server says", async () => {
    const { id, running } = await bench.deliver();
    const bytes = Buffer.from(JSON.stringify("x".repeat(10)));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const output = { kind: "artifact", path: "/theirs", bytes: bytes.length, sha256, preview: "" } as const;
    const sent = report({ outcome: { kind: "succeeded", output } });
    expect(await bench.desk.report(id, [sent])).toMatchObject([{ outcome: "retry", output_missing: true }]);
    expect(() => bench.desk.writeOutput(id, "t1", Buffer.from("no json"))).toThrow("not JSON");
    bench.desk.writeOutput(id, "t1", bytes);
    void bench.desk.report(id, [sent]);
    await vi.waitFor(() => expect(running.told).toHaveLength(1), HANG_MS);
    const path = join(bench.folder, "output/run-1/outputs", `j${JOB}_a1.json`);
    expect(running.told).toMatchObject([{ output: { kind: "artifact", path } }]);
    expect(readFileSync(path)).toEqual(bytes);
  });
});
