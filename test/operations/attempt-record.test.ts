import { join } from "node:path";
import { expect, it } from "vitest";
import { makeRepository } from "../support/git-repository.js";
import { OperationBench, refusalOf } from "../support/operation-bench.js";

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

it("lines of a log are the same at every interface: by number, and by what they say", async () => {
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

it("two attempts are compared: first what is the same, then what differs, and times are no difference", async () => {
  const count = join(bench.folder, "count");
  const { run_id } = await bench.run(`name: compared
steps:
  flaky:
    exec: |
      echo x >> ${count}; n=$(wc -l < ${count})
      seq 1 50; echo "took $n ms"; echo "case $n"
      echo "ERROR: the table is locked" >&2; [ $n -lt 3 ] && exit 4; exit 5
    on_fail: { retry: { max: 2, backoff: { mode: none } } }
`);
  const compare = (input: object) => bench.call("compare_attempts", { job_id: "flaky", run_id, ...input });
  const { facts, fields, texts, attempt, other } = await compare({});
  expect([attempt, other]).toEqual([3, 2]);
  expect(facts.map(({ verdict, words, detail }) => `${verdict}: ${words} (${detail})`)).toEqual([
    "same: stderr is the same, line for line (1 line)",
    "differs: The failures differ (EXIT_4 before, EXIT_5 after)",
    "differs: stdout differs in 2 lines (52 lines)",
  ]);
  expect(fields.filter(({ same }) => !same)).toMatchObject([
    { name: "code", value: "EXIT_5", other: "EXIT_4" },
    { name: "message" },
    { name: "exit_code", value: 5, other: 4 },
    { name: "signature" },
  ]);
  expect(texts.find(({ name }) => name === "stdout")).toMatchObject({
    verdict: "differs",
    whole: true,
    rows: [
      { kind: "skipped", count: 48 },
      { kind: "same", line: 49, other_line: 49, text: "49" },
      { kind: "same", line: 50, other_line: 50, text: "50" },
      { kind: "masked", parts: [{ text: "took " }, { text: "3", other: "2" }, { text: " ms" }] },
      { kind: "removed", other_line: 52, text: "case 2" },
      { kind: "added", line: 52, text: "case 3" },
    ],
  });
  expect((await compare({ attempt: 2, other: 1 })).facts[0]).toMatchObject({
    about: "failure",
    verdict: "same",
    words: "The failure is the same",
  });
  expect(await refusalOf(compare({ attempt: 1 }))).toBe("ATTEMPT_NOT_FOUND");
  expect(await refusalOf(compare({ other: 9 }))).toBe("ATTEMPT_NOT_FOUND");
});

it("of a long log only the end is compared, with the numbers that its lines have in the whole", async () => {
  const count = join(bench.folder, "long");
  const { run_id } = await bench.run(`name: long
steps:
  talk:
    exec: "echo x >> ${count}; seq 1 100000; echo \\"end $(wc -l < ${count})\\"; exit 1"
    on_fail: { retry: { max: 1, backoff: { mode: none } } }
`);
  const { texts } = await bench.call("compare_attempts", { job_id: "talk", run_id });
  const stdout = texts.find(({ name }) => name === "stdout")!;
  expect([stdout.whole, stdout.lines, stdout.changed]).toEqual([false, 100_001, 2]);
  expect(stdout.rows.at(-1)).toEqual({ kind: "added", line: 100_001, text: "end 2" });
});

it("what led an attempt to its step is compared once: in the prompt, where there is one", async () => {
  const comparedOf = async (step: string) => {
    const seen = join(bench.folder, `seen-${step.length}`);
    const { run_id } = await bench.run(`name: led
steps:
  fix: ${step}
  review: { exec: "test -e ${seen} || { touch ${seen}; exit 1; }", depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }
`);
    const { texts } = await bench.call("compare_attempts", { job_id: "fix", run_id });
    return texts.map(({ name }) => name);
  };
  expect(await comparedOf(`{ exec: "true" }`)).toEqual(["stderr", "stdout", "context"]);
  const agent = `{ type: agent, exec: "cat > /dev/null", prompt: Work. }`;
  expect(await comparedOf(agent)).toEqual(["stderr", "stdout", "prompt"]);
});
