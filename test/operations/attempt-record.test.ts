import { join } from "node:path";
import { expect, it } from "vitest";
import { makeRepository } from "../support/git-repository.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

/** Retry, hard reset, a second round of the queue, then held: each time the same failure with the same changes. */
const STUCK = (repo: string) => `name: stuck
workspace: { repo: ${JSON.stringify(repo)} }
self_heal: { job_self_heal_max_resets: 1, step_no_progress_limit: 2 }
queue: { max_attempts: 2, classes: [stuck_no_progress], backoff: { mode: none } }
unhandled: hold
steps:
  plan: { exec: "echo plan > plan.txt" }
  mend:
    depends_on: [plan]
    exec: "echo changed > lease.txt; echo 'expected 2 renewals, got 1' >&2; exit 1"
    on_fail: { retry: { max: 3, backoff: { mode: none } } }
`;

it("an attempt says when it could begin, whether it came further, and what it left", async () => {
  const repo = makeRepository(join(bench.folder, "repo"), { "a.txt": "one\n" });
  const { run_id } = await bench.run(STUCK(repo));
  const plan = await bench.call("get_job", { job_id: "plan", run_id });
  expect(plan.attempt_history).toMatchObject([
    { attempt: 1, no_progress: null, patch: "patches/steps/step-0001.patch", texts: [] },
  ]);
  const { attempt_history: attempts, diagnostics } = await bench.call("get_job", { job_id: "mend", run_id });
  expect(diagnostics.map(({ rung }) => rung)).toEqual(["retry", "reset", "requeue", "retry", "hold"]);
  expect(
    attempts.map(({ no_progress }) => [no_progress?.round, no_progress?.streak, no_progress?.reached]),
  ).toEqual([
    [1, 1, false],
    [1, 2, true],
    [1, 3, true],
    [2, 1, false],
    [2, 2, true],
  ]);
  for (const { ready_at, started_at, texts } of attempts) {
    expect(Date.parse(ready_at!)).toBeLessThanOrEqual(Date.parse(started_at));
    expect(texts).toEqual(["summary"]);
  }
  const ready = attempts.map(({ ready_at }) => Date.parse(ready_at!));
  expect(ready).toEqual([...ready].sort((one, other) => one - other));
  expect(Date.parse(plan.attempt_history[0]!.finished_at!)).toBeLessThanOrEqual(ready[0]!);
});

it("lines of a log are the same over every door: by number, and by what they say", async () => {
  const { run_id } = await bench.run(
    "name: lines\nsteps: { count: { exec: \"seq 1 300; echo 'ERROR: no more'; echo end\" } }",
  );
  const read = (input: object) => bench.call("get_job_logs", { job_id: "count", run_id, ...input });
  const { lines, text, size } = await read({ lines: "299:" });
  expect(lines).toEqual({
    items: [
      { line: 299, text: "299" },
      { line: 300, text: "300" },
      { line: 301, text: "ERROR: no more", error: true },
      { line: 302, text: "end" },
    ],
    next_line: null,
    total: 302,
    complete: true,
    error_lines: [301],
    error_count: 1,
  });
  expect([text, size]).toEqual(["", 1_111]);
  expect((await read({ grep: "^29.$", regex: "true" })).lines?.items).toHaveLength(10);
  expect((await read({ grep: "no MORE" })).lines?.items).toMatchObject([{ line: 301 }]);
  expect((await read({})).lines).toBeNull();
  await expect(read({ lines: "all" })).rejects.toThrow("must be lines such as 120:160");
});
