import { expect, test } from "vitest";
import { DEFAULT_RECOVERY_TIMEOUT_MS } from "../../src/core/model/definition.js";
import { Engine, type NewRun } from "../../src/run/engine/engine.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { ScriptedWorker } from "../support/scripted-worker.js";

const SIMULATION = `
name: simulation
failure_handlers:
  - name: tidy
    rules: [{ match_all_exit_codes: true, recovery_script: "./tidy.sh", recovery_timeout_ms: 5000, max_retries: 2 }]
  - name: again
    rules: [{ exit_codes: [10, 11] }]
steps:
  solve: { exec: "true", failure_handler: again }
  report: { exec: "true" }
`;

async function runToEnd(store: MemoryStore, request: NewRun): Promise<number> {
  const clock = new ManualClock();
  const engine = new Engine({
    ...enginePorts(store, clock),
    worker: new ScriptedWorker(clock, {}),
    sandbox: plainSandbox,
  });
  const { runId, ended } = await engine.start(request);
  await ended;
  return runId;
}

test("a run's failure handlers are kept by the words of the file, and its jobs name theirs", {
  tags: ["T21"],
}, async () => {
  const store = createMemoryStore();
  const runId = await runToEnd(store, workflow(SIMULATION));
  const handlers = await store.listFailureHandlers((await store.readRun(runId))?.workflow_id);
  expect(handlers.map(({ name, rules }) => [name, JSON.parse(rules)])).toEqual([
    [
      "tidy",
      [
        {
          ...{ exit_codes: [], match_all_exit_codes: true, recovery_script: "./tidy.sh" },
          ...{ recovery_timeout_ms: 5_000, max_retries: 2 },
        },
      ],
    ],
    [
      "again",
      [
        {
          ...{ exit_codes: [10, 11], match_all_exit_codes: false, recovery_script: null },
          ...{ recovery_timeout_ms: DEFAULT_RECOVERY_TIMEOUT_MS, max_retries: 3 },
        },
      ],
    ],
  ]);
  const jobs = await store.readJobs(runId);
  expect(jobs.map(({ step, failure_handler_id }) => [step, failure_handler_id])).toEqual([
    ["solve", handlers[1]?.id],
    ["report", null],
  ]);
});

test("a second run of the same file names the same handlers", async () => {
  const store = createMemoryStore();
  const first = await runToEnd(store, workflow(SIMULATION));
  const second = await runToEnd(store, workflow(SIMULATION));
  const named = async (runId: number) =>
    (await store.readJobs(runId)).map(({ failure_handler_id }) => failure_handler_id);
  expect(await named(second)).toEqual(await named(first));
  expect(await store.listFailureHandlers()).toHaveLength(2);
});

test("a child run names the run and the job it belongs to", async () => {
  const store = createMemoryStore();
  const parent = { runId: 4, jobId: 40_000_002 };
  const child = await runToEnd(store, { ...workflow(SIMULATION), parent });
  const other = await runToEnd(store, workflow(SIMULATION));
  expect(await store.readRun(child)).toMatchObject({ parent: { run_id: 4, job_id: 40_000_002 } });
  expect(await store.readRun(other)).toMatchObject({ parent: null });
  expect((await store.listRuns({ parentJob: parent.jobId })).map(({ id }) => id)).toEqual([child]);
});
