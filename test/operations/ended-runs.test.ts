import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Run } from "../../src/core/model/run.js";
import { collectGarbage } from "../support/collect-garbage.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

const COMPLETES = "name: completes\nsteps:\n  a: { type: noop }\n  b: { exec: 'true', depends_on: [a] }\n";
const FAILS = "name: fails\nsteps:\n  a: { exec: 'false', on_fail: { retry: { max: 1 } } }\n";
const FANS_OUT = `name: fans-out
steps:
  list: { type: script, content: "return [1, 2, 3]", forEach: true }
  item: { type: noop, depends_on: [list] }
`;

describe("a server", () => {
  it("keeps no run in memory that has ended, however it ended", async () => {
    const runs = new Map<number, WeakRef<Run>>();
    bench.onCommitted((run) => runs.set(run.id, new WeakRef(run)));
    for (const source of [COMPLETES, FAILS, FANS_OUT, COMPLETES]) await bench.run(source);
    const waits = await bench.call("start_run", { source: "name: waits\nsteps:\n  a: { exec: sleep 60 }\n" });
    await bench.until(waits.run_id, ({ jobs }) => jobs[0]?.status === "running");
    const inMemory = async (): Promise<number[]> => {
      await collectGarbage();
      return [...runs].filter(([, run]) => run.deref() !== undefined).map(([id]) => id);
    };
    expect(runs.size).toBe(5);
    // The engine lets go of a run only after its end is on record.
    while ((await inMemory()).length > 1) await delay(20);
    expect(await inMemory()).toEqual([waits.run_id]);
    await bench.call("control_run", { run_id: waits.run_id, action: "cancel", reason: "test" });
    await bench.settled(waits.run_id);
    while ((await inMemory()).length > 0) await delay(20);
  });
});
