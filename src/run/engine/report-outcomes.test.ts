import { describe, expect, it } from "vitest";
import { FarWorker } from "../../../test/support/far-worker.js";
import { enginePorts, flush, workflow } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { plainSandbox } from "../../../test/support/plain-sandbox.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import { Engine } from "./engine.js";

async function twoSteps() {
  const worker = new FarWorker();
  const store = createMemoryStore();
  const engine = new Engine({ ...enginePorts(store, new ManualClock()), worker, sandbox: plainSandbox });
  const { runId } = await engine.start(workflow(`steps: { a: { exec: make }, b: { exec: make } }`));
  return { worker, store, engine, runId };
}

describe("what becomes of a report", () => {
  it("is told when it is on record, not before", async () => {
    const { worker, store, runId } = await twoSteps();
    const onRecord: boolean[] = [];
    worker.outcomes.push = () => {
      void store
        .readAttempts(runId)
        .then((rows) =>
          onRecord.push(rows.some(({ token, status }) => token === "token-1" && status === "succeeded")),
        );
      return 0;
    };
    worker.end("token-1");
    await flush();
    expect(onRecord).toEqual([true]);
  });

  it("is stale where the run has no use for it", async () => {
    const { worker, engine, runId } = await twoSteps();
    engine.post(runId, {
      type: "attempt.finish",
      job: worker.begun[0]!.jobId,
      attempt: 1,
      outcome: { kind: "failed", facts: { message: "exit code 1", exitCode: 1 } },
    });
    await flush();
    worker.end("token-1");
    await flush();
    expect(worker.outcomes).toEqual(["stale"]);
  });

  it("is open where the run has been let go of", async () => {
    const { worker, engine } = await twoSteps();
    const stopping = engine.stop();
    worker.end("token-1");
    await stopping;
    await flush();
    expect(worker.outcomes.every((outcome) => outcome !== "stale")).toBe(true);
    expect(worker.stopped).toEqual([]);
  });

  it("that cannot be written down is the trouble of its own run, not of the others", async () => {
    const { worker, engine, store, runId } = await twoSteps();
    const other = await engine.start(workflow("steps: { c: { exec: make } }"));
    let nested: unknown = 1;
    for (let depth = 0; depth < 20_000; depth += 1) nested = [nested];
    engine.post(runId, {
      type: "attempt.finish",
      job: worker.begun[0]!.jobId,
      attempt: 1,
      outcome: { kind: "succeeded", output: { kind: "value", value: nested as never } },
    });
    await flush();
    expect(engine.ownedRuns()).toEqual([other.runId]);
    worker.end(worker.begun.at(-1)!.token);
    await flush();
    expect((await store.readRun(other.runId))?.status).toBe("completed");
  });
});
