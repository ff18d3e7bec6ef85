import { expect, it } from "vitest";
import { enginePorts, flush, workflow } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { plainSandbox } from "../../../test/support/plain-sandbox.js";
import { ScriptedWorker } from "../../../test/support/scripted-worker.js";
import { createMemoryStore, type MemoryStore } from "../../store/memory/memory-store.js";
import { Engine } from "./engine.js";

it("a new run asks for its number while its workflow is being registered, and is on record after both", async () => {
  const inner = createMemoryStore();
  const asked: string[] = [];
  let register!: () => void;
  const registering = new Promise<void>((resolve) => {
    register = resolve;
  });
  const store: MemoryStore = {
    ...inner,
    registerWorkflow: async (given) => {
      asked.push("register");
      await registering;
      return inner.registerWorkflow(given);
    },
    reserveRunId: () => {
      asked.push("number");
      return inner.reserveRunId();
    },
    commit: (appends) => {
      asked.push("commit");
      return inner.commit(appends);
    },
  };
  const clock = new ManualClock();
  const worker = new ScriptedWorker(clock, {});
  const engine = new Engine({
    ...enginePorts(store, clock),
    worker,
    sandbox: plainSandbox,
    isDead: () => true,
  });
  const starting = engine.start(workflow("steps: { a: { type: noop } }"));
  await flush();
  expect(asked).toEqual(["register", "number"]);
  register();
  expect((await starting).runId).toBe(1);
  expect(asked.slice(0, 3)).toEqual(["register", "number", "commit"]);
  await engine.stop();
});
