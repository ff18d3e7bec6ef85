import { describe, expect, it } from "vitest";
import { replayedTrial } from "../../test/support/replayed-trial.js";
import type { Script } from "../../test/support/scripted-worker.js";
import { BudgetReader, RecoveryReader } from "./recovery-stories.js";
import { RunTimeline } from "./timeline/run-timeline.js";
import { RunStoryReader } from "./words/job-story.js";

const FILE = `
steps:
  a: { type: noop, on_fail: { retry: { max: 3, backoff: { delay_ms: 700 } } } }
  b: { type: noop, depends_on: [a], on_fail: { run: [fix] } }
  fix: { type: noop }
  c: { type: noop, depends_on: [b] }
  d: { type: noop }
transitions:
  - { from: c, to: d, on: failure }
`;
const SCRIPT: Script = { a: ["fail", "fail", "ok"], b: ["fail", "ok"], c: ["fail"] };

async function told(file: string, script: Script) {
  const { runAt, log } = await replayedTrial(file, script);
  const teller = new RunStoryReader(runAt().id, runAt().definition);
  const recoveries = new RecoveryReader();
  for (const logged of log) recoveries.hear(logged, teller.hear(logged));
  return recoveries.recoveries;
}

async function timeline(file: string, script: Script) {
  const { log, jobs } = await replayedTrial(file, script);
  const made = new RunTimeline();
  for (const { id, step } of jobs) made.learn(id, step);
  for (const logged of log) made.hear(logged);
  return { ...made.result, log };
}

describe("recoveries as they are told", () => {
  it("have a number, the failure, what they cost, what was left and what came of them", async () => {
    const found = await told(FILE, SCRIPT);
    expect(
      found.map(({ number, step, rung, times, outcome, error }) => [
        number,
        step,
        rung,
        times,
        outcome,
        error?.code,
      ]),
    ).toEqual([
      [1, "a", "retry", 2, "completed", "EXIT_1"],
      [2, "b", "remediate", 1, "completed", "EXIT_1"],
      [3, "c", "edge", 1, "handled", "EXIT_1"],
    ]);
    expect(found[0]!.cost).toContain("retry 2 of 3 of this visit");
    expect(found[0]!.left).toContain("1 of 3 retries of visit 1");
    const left = found.map(({ budgets }) => budgets.map(({ kind, left, of }) => `${kind} ${left}/${of}`));
    expect(left).toEqual([["retries 1/3", "loops 10/10"], ["remediation 0/1", "loops 9/10"], ["loops 9/10"]]);
    // A repair is paid for when the step runs again.
    expect(found[1]!.cost).toMatch(/^Cost: repair 1 of 1 of this visit and .*1 of 10/);
    expect(found[0]!.considered.at(-1)).toMatchObject({ rung: "retry", applied: true });
  });

  it("have no end while nothing came of them", async () => {
    const { runAt, log } = await replayedTrial(FILE, SCRIPT);
    const teller = new RunStoryReader(runAt().id, runAt().definition);
    const recoveries = new RecoveryReader();
    const until = log.findIndex(({ event }) => event.type === "retry.scheduled");
    for (const logged of log.slice(0, until + 1)) recoveries.hear(logged, teller.hear(logged));
    expect(recoveries.recoveries.map(({ outcome, times }) => [outcome, times])).toEqual([[null, 1]]);
  });
});

describe("what the ladder of one job still has", () => {
  it("is told after each of its failed attempts, with what the answer took", async () => {
    const { runAt, log, jobs } = await replayedTrial(FILE, {
      ...SCRIPT,
      a: ["fail", "fail", "fail", "fail"],
    });
    const leftOf = (step: string | null) => {
      const teller = new RunStoryReader(runAt().id, runAt().definition);
      const budgets = new BudgetReader(jobs.find((job) => job.step === step)?.id ?? null);
      for (const logged of log) budgets.hear(logged, teller.hear(logged));
      return budgets.left.map(({ attempt, budgets: [first] }) => `${attempt}: ${first?.text}`);
    };
    expect(leftOf("a")).toEqual([
      "1: 2 of 3 retries of visit 1",
      "2: 1 of 3 retries of visit 1",
      "3: 0 of 3 retries of visit 1",
      "4: 0 of 3 retries of visit 1",
    ]);
    expect(leftOf(null)).toEqual([]);
  });
});

describe("the timeline of a run", () => {
  it("has attempts with their ends, and the pauses before retries", async () => {
    const { rows } = await timeline(FILE, SCRIPT);
    const spans = rows.find(({ step }) => step === "a")!.spans;
    expect(spans.map(({ kind, attempt, outcome }) => [kind, attempt, outcome])).toEqual([
      ["attempt", 1, "failed"],
      ["pause", 1, null],
      ["attempt", 2, "failed"],
      ["pause", 2, null],
      ["attempt", 3, "completed"],
    ]);
    expect(spans.every(({ to_ms, end_seq }) => to_ms !== null && end_seq !== null)).toBe(true);
    expect(spans[1]!.to_ms! - spans[1]!.from_ms).toBeGreaterThanOrEqual(700);
  });

  it("numbers the visits of all steps, and tells the jumps and what was looked at", async () => {
    const { rows, jumps, candidates, events, log, failures, stretches } = await timeline(FILE, SCRIPT);
    expect(rows.map(({ step, visits }) => [step, ...visits.map(({ order }) => order)])).toEqual([
      ["a", 1],
      ["b", 2],
      ["fix", 3],
      ["c", 4],
      ["d", 5],
    ]);
    expect(jumps.map(({ kind, from, to }) => `${kind} ${from} ${to}`)).toEqual(["repair b fix", "edge c d"]);
    expect(candidates).toMatchObject([{ step: "c", edge: 1, to: "d", taken: 1, why: "" }]);
    expect(events).toBe(log.length);
    expect(stretches.reduce((sum, stretch) => sum + stretch.events, 0)).toBe(log.length);
    expect(stretches.reduce((sum, stretch) => sum + stretch.failures, 0)).toBe(4);
    expect(failures).toBe(5);
  });

  it("has one row for a fan-out, with the attempts that failed", async () => {
    const file = `
steps:
  list: { type: noop, forEach: true }
  each: { type: noop, depends_on: [list], on_fail: { retry: { max: 1 } } }
`;
    const { rows } = await timeline(file, {
      list: [{ output: ["x", "y", "z"] }],
      each: ({ attempt, jobId }) => (attempt === 1 && jobId % 3 === 0 ? "fail" : "ok"),
    });
    const row = rows.find(({ step }) => step === "each")!;
    expect(row).toMatchObject({ jobs: 3, attempts: 4, failed: 1 });
    expect(row.spans.map(({ outcome }) => outcome)).toEqual(["failed"]);
    expect(row.visits).toHaveLength(1);
  });
});
