import { describe, expect, it } from "vitest";
import { DarumaError } from "../../src/core/errors/errors.js";
import { Engine } from "../../src/run/engine/engine.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, readTrial, type Trial, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { ScriptedWorker } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";

const FLOW = `name: l
steps:
  a: { exec: make }
  beside: { exec: make }
  after: { exec: make, depends_on: [a, beside] }
`;
const WRITES: readonly string[] = ["commit", "renewLeases", "acquireLease", "claimRuns", "releaseLease"];

/** A run whose store takes no writes for a while; `a` ends in that time, `beside` after it. */
class Outage {
  readonly clock = new ManualClock();
  readonly memory = createMemoryStore();
  readonly worker = new ScriptedWorker(this.clock, {
    a: [{ output: 1, takesMs: 1_000 }],
    beside: [{ output: 2, takesMs: 90_000 }],
  });
  readonly engine = this.boot("first", this.failing());
  readonly lost: unknown[] = [];
  /** How the run that the engine began is over for those who wait for it. */
  ended: unknown = null;
  private fails = false;

  async begin(): Promise<this> {
    this.engine.onLost((_, error) => this.lost.push((error as DarumaError).code));
    const { ended } = await this.engine.start(workflow(FLOW));
    ended.then(
      ({ status }) => (this.ended = status),
      (error) => (this.ended = (error as DarumaError).code),
    );
    await this.pass(500);
    this.fails = true;
    return this;
  }

  boot(name: string, store: MemoryStore): Engine {
    const ports = enginePorts(store, this.clock, name);
    return new Engine({ ...ports, isDead: () => false, worker: this.worker, sandbox: plainSandbox });
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.clock.advance(500);
      for (let turn = 0; turn < 3; turn += 1) await flush();
    }
  }

  comesBack(): void {
    this.fails = false;
  }

  view(): Promise<Trial> {
    return readTrial(this.memory, 1, this.worker, 0);
  }

  private failing(): MemoryStore {
    return new Proxy(this.memory, {
      get: (target, name: keyof MemoryStore) =>
        WRITES.includes(name) && this.fails
          ? () => Promise.reject(new DarumaError("STORE_FAILED", "the disk is full"))
          : target[name],
    });
  }
}

describe("a result that the store could not take", () => {
  it("is committed when it can, and nothing is done again", async () => {
    const outage = await new Outage().begin();
    await outage.pass(18_000);
    expect(trace(await outage.view())).toEqual(["start a", "start beside"]);
    outage.comesBack();
    await outage.pass(90_000);
    expect(trace(await outage.view())).toEqual([
      ...["start a", "start beside", "ok a", "ok beside"],
      ...["start after", "ok after", "run completed"],
    ]);
    expect([outage.worker.order, outage.lost, outage.ended]).toEqual([
      ["a", "beside", "after"],
      [],
      "completed",
    ]);
  });

  it("is committed also after the lease ran out: only what was under way then begins again", async () => {
    const outage = await new Outage().begin();
    await outage.pass(40_000);
    expect([outage.worker.stopped, outage.lost, outage.ended]).toEqual([["beside"], [], null]);
    outage.comesBack();
    await outage.pass(3_000);
    expect([outage.lost, outage.ended]).toEqual([["STORE_FAILED"], "STORE_FAILED"]);
    expect(trace(await outage.view())).toEqual(["start a", "start beside", "ok a"]);
    const { ended } = await outage.engine.retake(1);
    await outage.pass(90_000);
    expect((await ended).status).toBe("completed");
    expect(outage.worker.order).toEqual(["a", "beside", "beside", "after"]);
  });

  it("is refused once somebody else has taken the run", async () => {
    const outage = await new Outage().begin();
    await outage.pass(40_000);
    const other = outage.boot("other", outage.memory);
    const { ended } = await other.resume(1);
    outage.comesBack();
    await outage.pass(95_000);
    expect((await ended).status).toBe("completed");
    expect(outage.worker.order).toEqual(["a", "beside", "a", "beside", "after"]);
    const ends = trace(await outage.view()).filter((line) => line === "ok a");
    expect([ends, outage.lost]).toEqual([["ok a"], ["STORE_FAILED"]]);
  });

  it("is tried once more when the engine stops, and given up then", async () => {
    const outage = await new Outage().begin();
    await outage.pass(5_000);
    const stopped = outage.engine.stop();
    await outage.pass(5_000);
    await stopped;
    outage.comesBack();
    await outage.pass(60_000);
    expect(trace(await outage.view())).toEqual(["start a", "start beside"]);
  });
});
