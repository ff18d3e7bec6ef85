import { describe, expect, it } from "vitest";
import { FarWorker } from "../../../test/support/far-worker.js";
import { enginePorts, flush, workflow } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { plainSandbox } from "../../../test/support/plain-sandbox.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import type { Needs, PlaceWish, Seat } from "../worker.js";
import { Engine } from "./engine.js";

function engineOf(worker: FarWorker) {
  const store = createMemoryStore();
  const engine = new Engine({ ...enginePorts(store, new ManualClock()), worker, sandbox: plainSandbox });
  return { store, engine };
}

const steps = (count: number, more = ""): string =>
  Array.from({ length: count }, (_, index) => `  s${index}: { exec: make${more} }`).join("\n");

describe("ready jobs", () => {
  it("that fit nobody are asked for once a turn, and do not keep others from starting", async () => {
    const worker = new FarWorker();
    const { engine } = engineOf(worker);
    await engine.start(workflow(`steps:\n${steps(500, ", runs_on: gpu")}\n  easy: { exec: make }`));
    expect(worker.begun).toHaveLength(1);
    expect(worker.asked).toBe(2);
  });

  it("are not asked for any more once nobody has room, but a question to a person needs none", async () => {
    const worker = new FarWorker(2);
    const { engine, store } = engineOf(worker);
    const { runId } = await engine.start(
      workflow(`steps:\n${steps(500)}\n  ask: { type: human, prompt: well? }`),
    );
    expect(worker.begun).toHaveLength(2);
    expect(worker.asked).toBe(3);
    expect((await store.readJobs(runId)).find(({ step }) => step === "ask")?.status).toBe("waiting");
  });

  it.each(["", "jobs_sort_method: gpus_runtime_memory\n"])(
    "that only become ready in a turn start in the same turn, also in front of others (%j)",
    async (sorted) => {
      const worker = Object.assign(new FarWorker(9), { doesNothingAs: "here" });
      const { engine } = engineOf(worker);
      await engine.start(
        workflow(
          `${sorted}steps: { first: { type: noop }, small: { exec: make }, large: { exec: make, depends_on: first, resource_requirements: { memory: 1m } } }`,
        ),
      );
      expect(worker.begun).toHaveLength(2);
    },
  );

  it("say on which worker their last attempt failed", async () => {
    const asked: unknown[] = [];
    const worker = new (class extends FarWorker {
      override place(needs: Needs, wish?: PlaceWish): Seat | "full" | null {
        asked.push([wish?.on, wish?.worker, wish?.mayProve]);
        return super.place(needs);
      }
    })(1);
    const { engine } = engineOf(worker);
    const failed = { kind: "failed", facts: { exitCode: 1, message: "no" } } as const;
    await engine.start(
      workflow(
        "steps: { a: { exec: make, on_fail: { retry: { max: 1 } } }, b: { exec: make, depends_on: a } }",
      ),
    );
    worker.end("token-1", failed);
    await flush();
    worker.end("token-2");
    await flush();
    expect(worker.begun).toHaveLength(3);
    expect(asked).toEqual([
      [null, null, true],
      ["other", "far", false],
      [null, null, false],
    ]);
  });

  it("start when room appears", async () => {
    const worker = new FarWorker(8, ["gpu"]);
    const { engine } = engineOf(worker);
    (worker as unknown as { tags: string[] }).tags = [];
    await engine.start(workflow(`steps: { a: { exec: make, runs_on: gpu } }`));
    expect(worker.begun).toHaveLength(0);
    (worker as unknown as { tags: string[] }).tags = ["gpu"];
    worker.tellRoom();
    await flush();
    expect(worker.begun).toHaveLength(1);
  });

  it("of every run get their turn", async () => {
    const worker = new FarWorker(2);
    const { engine } = engineOf(worker);
    const first = await engine.start(workflow(`steps:\n${steps(50)}`));
    const second = await engine.start(workflow(`steps:\n${steps(50)}`));
    for (let turn = 0; turn < 6; turn += 1) {
      for (const { token } of worker.begun.slice(-2)) worker.end(token);
      await flush();
    }
    const runs = new Set(worker.begun.map(({ jobId }) => Math.floor(jobId / 10_000_000)));
    expect(runs).toEqual(new Set([first.runId, second.runId]));
  });

  it("whose start is not committed give their place back", async () => {
    const worker = new FarWorker(1);
    const { engine, store } = engineOf(worker);
    store.failNextCommit(new Error("the disk is gone"), { applied: false });
    await expect(engine.start(workflow(`steps: { a: { exec: make } }`))).rejects.toThrow("the disk is gone");
    await engine.start(workflow(`steps: { a: { exec: make } }`));
    expect(worker.begun).toHaveLength(1);
  });
});
