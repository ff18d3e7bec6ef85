import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import type { Command } from "../src/core/model/commands.js";
import type { Failure } from "../src/core/model/failure.js";
import type { Failed, Outcome } from "../src/core/model/outcome.js";
import { PoolReports } from "../src/fleet/desk/pool-reports.js";
import { noopAction } from "../src/run/action/built-in-actions.js";
import { createCommandAction } from "../src/run/action/command.js";
import { Engine } from "../src/run/engine/engine.js";
import { createProcessHost } from "../src/run/process/create-process-host.js";
import type { ProcessExit, ProcessHost } from "../src/run/process/process-host.js";
import type { Problem } from "../src/tell/problems/describe-problem.js";
import { failurePath, functionsThatRan } from "./support/failure-path.js";
import { LiveServers } from "./support/live-server.js";
import { LiveWorker } from "./support/live-worker.js";
import { repositoryRoot } from "./support/repository-root.js";

/** The types that declare what is known of a failure: how the process ended, the facts in the outcome, the record. */
const SHAPES = [
  "src/core/model/failure.ts: ERROR_RECORD",
  "src/core/model/failure.ts: FAILURE_FACTS",
  "src/run/process/process-host.ts: ProcessExit",
];
/** Exit codes of something else. */
const OTHERS = [
  // Of a recovery script.
  "src/core/model/events.ts: EVENTS",
  // What a lack of memory or time is called.
  "src/core/model/resources.ts: ResourceTraits",
  // $DARUMA_RETURN_CODE of the next attempt.
  "src/run/worker.ts: Assignment",
];
/**
 * How many files below `src` have a function that runs here and may have the failure in its hands. Fewer is better: lower the
 * number when it falls. The aim is 60.
 */
const FILES = 70;

const folder = mkdtempSync(join(tmpdir(), "daruma-one-failure-"));
const servers = new LiveServers();
afterEach(() => void vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const source = JSON.stringify({
  name: "one-failure",
  unhandled: "hold",
  steps: {
    prepare: { type: "noop" },
    test: {
      exec: "echo 'no such table: users' >&2; exit 1",
      depends_on: ["prepare"],
      on_fail: {
        retry: { max: 1, backoff: { mode: "fixed", delay_ms: 1 } },
        goto: { step: "prepare", max: 1 },
      },
    },
  },
});

/** What each station was given. */
interface Passed {
  readonly exits: ProcessExit[];
  readonly said: Outcome[];
  readonly sent: unknown[];
  readonly finished: unknown[];
  readonly recorded: Failure[];
  readonly rungs: string[];
  job: { readonly error: Failure; readonly attempt_history: readonly { readonly error: Failure }[] } | null;
  problem: Problem | null;
}

/** Runs the step on a remote worker until a person has to decide, and asks what happened. */
async function follow(passed: Passed): Promise<void> {
  const take = vi.spyOn(PoolReports.prototype, "take");
  const put = vi.spyOn(Engine.prototype as unknown as { put(host: unknown, command: Command): void }, "put");
  const server = await servers.start({ maxParallel: 0 });
  const processes = createProcessHost();
  const host: ProcessHost = {
    stops: processes.stops,
    start(spec) {
      const running = processes.start(spec);
      void running.exited.then((exit) => passed.exits.push(exit));
      return running;
    },
    close: () => processes.close(),
  };
  const command = createCommandAction(host);
  const worker = new LiveWorker(folder, {
    servers: [server.url],
    actions: [
      noopAction,
      {
        ...command,
        async run(attempt) {
          const outcome = await command.run(attempt);
          passed.said.push(outcome as Outcome);
          return outcome;
        },
      },
    ],
  });
  const id = await server.run(source);
  expect(await server.until(id, "held", "completed", "failed")).toBe("held");
  const job = await server.job(id, "test");
  const ask = async <T>(path: string): Promise<T> => (await server.ask<T>("GET", `/api/v1/${path}`)).body;

  for (const [, { job: of, outcome }] of take.mock.calls) if (of === job) passed.sent.push(outcome);
  for (const [, each] of put.mock.calls) {
    if (each.type === "attempt.finish" && each.job === job) passed.finished.push(each.outcome);
  }
  const { items } = await ask<{ items: { type: string; error: Failure }[] }>(`runs/${id}/events?limit=1000`);
  for (const { type, error } of items) if (type === "attempt.failed") passed.recorded.push(error);
  passed.job = await ask(`jobs/${job}`);
  passed.problem = (await ask<{ items: Problem[] }>("problems")).items[0]!;
  const { lines } = await ask<{ lines: string[] }>(`runs/${id}/explanation`);
  passed.rungs.push(...lines.flatMap((line) => /^ *- (\w+): yes/.exec(line)?.[1] ?? []));
  await worker.end();
  await processes.close();
}

it("one failure passes five shapes, and no file renames what another has said", async () => {
  const passed: Passed = {
    ...{ exits: [], said: [], sent: [], finished: [], recorded: [], rungs: [] },
    ...{ job: null, problem: null },
  };
  const ran = await functionsThatRan(repositoryRoot, () => follow(passed));
  const { exits, said, sent, finished, recorded, rungs, job, problem } = passed;
  expect(rungs).toEqual(["retry", "goto", "retry", "hold"]);

  // 1. How the process ended.
  expect(exits.map(({ exitCode, signal }) => [exitCode, signal])).toEqual(Array(4).fill([1, null]));
  // 2. The outcome, from the action to the server; the worker adds the ends of the logs and the cost.
  const facts = { message: "exit code 1", said: "no such table: users", exitCode: 1 };
  expect(said.map((outcome) => outcome.kind === "failed" && outcome.facts)).toEqual(Array(4).fill(facts));
  const tails = { stdoutTail: "", stderrTail: "no such table: users\n" };
  expect((sent as Failed[]).map((outcome) => outcome.facts)).toEqual(Array(4).fill({ ...facts, ...tails }));
  // 3. The command carries it as it came.
  expect(finished).toEqual(sent);
  // 4. The record: of the event, the row, the answers.
  expect(recorded).toHaveLength(4);
  expect(job!.attempt_history.map(({ error }) => error)).toEqual(recorded);
  expect(job!.error).toEqual(recorded[3]);
  // 5. The problem.
  expect(problem!.error).toEqual(recorded[3]);

  const path = failurePath(repositoryRoot, ran, OTHERS);
  expect(path.shapes).toEqual([...SHAPES, ...OTHERS].sort());
  expect(path.files.length, path.files.join("\n")).toBeLessThanOrEqual(FILES);
});
