import { describe, expect, it } from "vitest";
import {
  held,
  JOB,
  LEASE_MS,
  LOST,
  NEEDS,
  PoolBench,
  registration,
  report,
  settle,
} from "../../../test/support/pool-bench.js";

import type { AttemptRow } from "../../core/model/rows.js";

const bench = new PoolBench();

describe("silence", () => {
  it("of a lease's length loses the worker and its attempts; what it says later is stale", async () => {
    const id = bench.register();
    const running = bench.execute();
    await bench.claim(id);
    bench.clock.advance(LEASE_MS - 1);
    await settle();
    expect(running.told).toEqual([]);
    bench.clock.advance(1);
    await settle();
    expect(running.told).toMatchObject([LOST]);
    running.settle("committed");
    expect(() => bench.desk.heartbeat(id, { attempts: [], draining: false })).toThrow("does not know");
    expect(bench.desk.register(registration({ attempts: [held()] }))).toMatchObject({
      renewed: [],
      lost: ["t1"],
    });
    expect(await bench.desk.report(id, [report()])).toMatchObject([{ outcome: "stale" }]);
  });

  it("is broken by any request", async () => {
    const id = bench.register();
    const running = bench.execute();
    await bench.claim(id);
    for (let time = 0; time < 4; time += 1) {
      bench.clock.advance(LEASE_MS / 2);
      bench.desk.heartbeat(id, { attempts: [held()], draining: false });
    }
    await settle();
    expect(running.told).toEqual([]);
  });

  it("about one attempt, twice in a row, loses that one", async () => {
    const id = bench.register();
    const running = bench.execute();
    await bench.claim(id);
    bench.desk.heartbeat(id, { attempts: [held()], draining: false });
    bench.desk.heartbeat(id, { attempts: [], draining: false });
    await settle();
    expect(running.told).toEqual([]);
    bench.desk.heartbeat(id, { attempts: [], draining: false });
    await settle();
    expect(running.told).toMatchObject([LOST]);
  });

  it("of a worker that leaves in good order is not waited for", async () => {
    const id = bench.register();
    const running = bench.execute();
    bench.desk.deregister(id);
    await settle();
    expect(running.told).toMatchObject([LOST]);
  });
});

describe("a run that is let go of", () => {
  it("is asked for in the store when a result comes for it", async () => {
    const { id, running } = await bench.deliver();
    running.controller.abort("released");
    await settle();
    const row = { job_id: JOB, attempt: 1, run_id: 1, token: "t1", error: null } as AttemptRow;
    bench.rows = [{ ...row, status: "running" }];
    expect(await bench.desk.report(id, [report()])).toMatchObject([{ outcome: "retry" }]);
    bench.rows = [{ ...row, status: "failed", error: { code: "WORKER_LOST" } as never }];
    expect(await bench.desk.report(id, [report()])).toMatchObject([{ outcome: "stale" }]);
    expect(bench.pool.list()[0]?.attempts).toEqual([]);
  });
});

describe("adoption", () => {
  it("finds the attempt on the worker that came back first", async () => {
    const id = bench.register({ attempts: [held()] });
    const running = bench.adopt();
    expect(bench.desk.heartbeat(id, { attempts: [held()], draining: false })).toMatchObject({
      renewed: ["t1"],
    });
    void bench.desk.report(id, [report()]);
    await settle();
    expect(running.told).toMatchObject([{ kind: "succeeded" }]);
  });

  it("waits for a worker that has not come back, for a lease and no longer", async () => {
    const back = bench.adopt();
    const gone = bench.adopt({ token: "t2", worker: "w2/bbbbbbbb" });
    bench.clock.advance(LEASE_MS - 1);
    expect(bench.desk.register(registration({ attempts: [held()] }))).toMatchObject({ renewed: ["t1"] });
    bench.clock.advance(1);
    await settle();
    expect(gone.told).toMatchObject([LOST]);
    expect(back.told).toEqual([]);
  });

  it("does not renew what no run here has asked for", () => {
    expect(bench.desk.register(registration({ attempts: [held()] }))).toMatchObject({
      renewed: [],
      stop: [],
      lost: [],
    });
  });

  it("loses at once what the worker never got, whichever comes first", async () => {
    bench.register();
    const late = bench.adopt();
    bench.clock.advance(0);
    await settle();
    expect(late.told).toMatchObject([LOST]);
    bench.open();
    const early = bench.adopt();
    bench.register();
    await settle();
    expect(early.told).toMatchObject([LOST]);
  });

  it("is not for what ran inside a server", () => {
    const { signal } = new AbortController();
    const attempt = {
      runId: 1,
      workflowId: 1,
      jobId: JOB,
      attempt: 1,
      token: "t1",
      recovery: false,
      needs: NEEDS,
    };
    expect(bench.pool.adopt({ ...attempt, worker: "local-77" }, signal, () => {})).toBe(false);
  });
});
