import { describe, expect, it } from "vitest";
import { FarWorker } from "../../../test/support/far-worker.js";
import { enginePorts, flush, workflow } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { plainSandbox } from "../../../test/support/plain-sandbox.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import { Engine } from "./engine.js";

const TEXT = `
failure_handlers: [{ name: mend, rules: [{ exit_codes: [3], recovery_script: fix }] }]
steps:
  big: { exec: make, runs_on: [gpu], resource_requirements: { num_cpus: 3, memory: 1k } }
  broken: { exec: make, failure_handler: mend, resource_requirements: { num_cpus: 2 } }`;

describe("what an earlier engine had under way", () => {
  it("comes with what it takes of its worker: a recovery script takes no room", async () => {
    const store = createMemoryStore();
    const worker = new FarWorker(8, ["gpu"]);
    const ports = { ...enginePorts(store, new ManualClock()), worker, sandbox: plainSandbox };
    const first = new Engine(ports);
    const { runId, run } = await first.start(workflow(TEXT));
    const broken = run.jobs.find(({ step }) => step.definition.id === "broken")!;
    worker.end(broken.attemptToken!, { kind: "failed", facts: { message: "exit code 3", exitCode: 3 } });
    await flush();
    await first.stop();
    await new Engine(ports).resume(runId);
    const held = worker.adopted.map(({ recovery, needs }) => ({ recovery, ...needs }));
    expect(held).toMatchObject([
      { recovery: false, slots: 3, cpus: 3, memoryBytes: 1024, tags: ["gpu"], actionType: "command" },
      { recovery: true, slots: 0, cpus: 0, memoryBytes: 0, tags: [], actionType: "command" },
    ]);
  });
});
