import { describe, expect, it } from "vitest";
import { jobRow, runRow } from "../../../test/contract/store-fixtures.js";
import { failureOf } from "../../../test/support/error-record.js";
import type { WaitingJob } from "../../tell/holds.js";
import { jobRecord } from "../../tell/job-record.js";
import type { RunReport } from "../../tell/run-report.js";
import type { FailedStep, RunSummary } from "../../tell/run-summary.js";
import { plainPaint } from "./paint.js";
import { headlines, type SummaryLook, summaryLines } from "./summary.js";

const LOOK: SummaryLook = {
  paint: plainPaint,
  width: 100,
  commandLine: (command) => `daruma ${command}`,
  isElsewhere: false,
  serversRuns: new Set(),
};
const REPORT: RunReport = {
  run_id: 3,
  workflow: "release",
  workflow_id: 1,
  status: "completed",
  interrupted: false,
  imported: false,
  strict: false,
  needs_program: null,
  taken_over: null,
  labels: {},
  concurrency: null,
  priority: 0,
  jobs: [],
  routes: [],
  handled_failures: [],
  skipped_by_failure: [],
  decided: [],
  handled_in_children: [],
  held_below: [],
  error: null,
  phase: null,
  undone: null,
  created_at: "2026-01-01T00:00:00.000Z",
  finished_at: "2026-01-01T00:00:02.000Z",
  duration_ms: 2_000,
};

function lines(report: Partial<RunReport>, rest: Partial<RunSummary> = {}): string[] {
  return summaryLines(
    {
      report: { ...REPORT, ...report },
      counts: ["2 completed"],
      failures: [],
      holds: [],
      deadLetters: [],
      reuse_file: null,
      ways_back: [],
      endings: [],
      ...rest,
    },
    LOOK,
  );
}

const ROUTE = { scope: "root", attempt: 1, rung: "retry", to: "fetch", step: "fetch" } as const;

describe("the summary", () => {
  it("says how the run ended, how long it took and how many steps went how", () => {
    expect(lines({})).toEqual(["✓ run 3 of release completed in 2.0 s: 2 completed"]);
  });

  it("lists the failure routes with time and attempt, and leaves success routes out", () => {
    const routes: RunReport["routes"] = [
      { ...ROUTE, seq: 5, at: "2026-01-01T00:00:00.250Z", reason: "EXIT_1: retry 1 of 2" },
      {
        ...ROUTE,
        seq: 9,
        at: "2026-01-01T00:00:01.500Z",
        step: "visit",
        scope: "root/cities[1]",
        rung: "goto",
        to: "list",
        attempt: 2,
        reason: "goto",
      },
      {
        ...ROUTE,
        seq: 11,
        at: "2026-01-01T00:00:01.600Z",
        rung: "on_success",
        to: "notify",
        reason: "on_success.run",
      },
    ];
    expect(lines({ routes }).slice(1)).toEqual([
      "failure routes taken:",
      "  time     step             attempt  rung   to    reason",
      "  +250 ms  fetch            1        retry        EXIT_1: retry 1 of 2",
      "  +1.5 s   visit@cities[1]  2        goto   list  goto",
    ]);
  });

  const handling = { how: "edge", by: "fallback", then: "skip" } as const;
  const test = { job_id: 30_000_001, step: "test", scope: "root", ...handling };
  const handled_failures = [{ ...test, code: "EXIT_2", message: "exit code 2" }];

  it("ends no completed run with a tick in which a failure was handled", () => {
    expect(lines({ handled_failures })).toEqual([
      "! run 3 of release completed, 1 failure handled: test, by fallback",
      "  in 2.0 s: 2 completed",
      "handled failures:",
      "  test: exit code 2 (EXIT_2)",
    ]);
    expect(lines({ handled_failures, duration_ms: null })[1]).toBe("  2 completed");
    expect(lines({ handled_failures, strict: true })[2]).toBe(
      "  strict: the exit code is 1, because a failure was handled",
    );
  });

  it("paints such an end in amber, and names the status first for a run that failed as well", () => {
    const paint = (colour: string, text: string): string => `<${colour} ${text}>`;
    const summary = { report: { ...REPORT, handled_failures }, counts: [], failures: [], holds: [] };
    const [title] = headlines(
      { ...summary, deadLetters: [], reuse_file: null, ways_back: [], endings: [] },
      paint,
    );
    expect(title).toBe(
      "<yellow ! run 3 of release <bold completed>>, <yellow 1 failure handled: test, by fallback>",
    );
    expect(lines({ handled_failures, status: "failed" })[0]).toBe(
      "✗ run 3 of release failed after 2.0 s: 2 completed",
    );
  });

  it("names the failing step, its last words without escapes, its log and the next commands", {
    tags: ["R13"],
  }, () => {
    const failure = {
      job_id: 30_000_001,
      step: "build",
      family: null,
      signature: null,
      unanswered: true,
      scope: "root",
      code: "EXIT_1",
      message: "exit code 1",
      how: "exit code 1",
      said: null,
      attempt: 3,
      stdout_tail: null,
      stderr_tail: "one\n\x1b[31mtwo\x1b[0m\n",
      stdout_file: "/x/a3.o",
      stderr_file: "/x/a3.e",
    };
    expect(lines({ status: "failed" }, { failures: [failure], counts: ["1 failed"] }).slice(1)).toEqual([
      "build failed on attempt 3: exit code 1 (EXIT_1)",
      "from its stderr:",
      "  | one",
      "  | two",
      "log: /x/a3.e",
      "next: daruma explain 3",
      "      daruma logs 3 build",
      "      daruma retry 3 build",
    ]);
    const next = (more: Partial<RunSummary>, report: Partial<RunReport> = { status: "failed" }): string[] => {
      const told = lines(report, { failures: [failure], counts: ["1 failed"], ...more });
      return told.slice(told.indexOf("next: daruma explain 3") + 2).map((line) => line.trim());
    };
    expect(next({ reuse_file: "/srv/my flows/ci.yaml" })).toEqual([
      "daruma retry 3 build",
      "daruma run '/srv/my flows/ci.yaml' --reuse",
    ]);
    expect(next({ failures: [failure, { ...failure, code: "OOM", step: "train" }] })).toEqual([
      "daruma recover 3",
      "daruma retry 3 build train",
    ]);
    expect(next({ failures: Array(4).fill(failure) })).toEqual(["daruma reset 3"]);
    const undone = { done: [], left: [] };
    expect(next({ reuse_file: null }, { status: "failed", undone })).toEqual([]);
  });

  describe("tells each failure once", () => {
    const failed = (step: string, more: Partial<FailedStep> = {}): FailedStep => ({
      ...{ job_id: 30_000_001, step, family: null, scope: "root", attempt: 1 },
      ...{ code: "EXIT_1", message: "exit code 1", how: "exit code 1", said: null },
      ...{ signature: null, unanswered: true },
      ...{ stdout_tail: null, stderr_tail: null, stdout_file: `/x/${step}.o`, stderr_file: `/x/${step}.e` },
      ...more,
    });
    const told = (...failures: FailedStep[]) => lines({ status: "failed" }, { failures }).slice(1, -3);

    it("and leaves to its last lines what they say themselves", () => {
      const said = "expected 3 to be 4";
      const message = `exit code 1: ${said}`;
      expect(told(failed("test", { message, said, stderr_tail: "at a.ts:3\nexpected 3 to be 4\n" }))).toEqual(
        [
          "test failed on attempt 1: exit code 1 (EXIT_1)",
          "from its stderr:",
          "  | at a.ts:3",
          "  | expected 3 to be 4",
          "log: /x/test.e",
        ],
      );
      expect(told(failed("test", { message, said, stderr_tail: "expected 3 to be 4\n" }))).toEqual([
        "test failed on attempt 1: exit code 1: expected 3 to be 4 (EXIT_1)",
        "log: /x/test.e",
      ]);
    });

    it("with its stdout, where it wrote there", () => {
      const both = failed("lint", { stdout_tail: "a.ts: too long\n", stderr_tail: "1 problem\nfailed\n" });
      expect(told(both)).toEqual([
        "lint failed on attempt 1: exit code 1 (EXIT_1)",
        "from its stdout:",
        "  | a.ts: too long",
        "from its stderr:",
        "  | 1 problem",
        "  | failed",
        "log: /x/lint.e",
      ]);
      expect(told(failed("lint", { stdout_tail: "a.ts: too long\n" })).at(-1)).toBe("log: /x/lint.o");
    });

    it("those that failed alike together, and beyond three only by name", () => {
      const others = ["d", "e"].map((step) => failed(step, { code: "EXIT_9", message: step }));
      const [b, c] = ["b", "c"].map((step) => failed(step, { code: "EXIT_2", message: step }));
      expect(told(failed("a1"), b!, failed("a2"), c!, ...others)).toEqual([
        "a1 failed on attempt 1: exit code 1 (EXIT_1)",
        "  so did a2",
        "b failed on attempt 1: b (EXIT_2)",
        "c failed on attempt 1: c (EXIT_2)",
        "also failed: d (EXIT_9), e (EXIT_9)",
      ]);
    });
  });

  it("names the scope in the command for a failed branch", () => {
    const failure = {
      job_id: 30_000_001,
      step: "v",
      family: null,
      signature: null,
      unanswered: true,
      scope: "root/l[1]",
      code: "EXIT_1",
      message: "m",
      how: null,
      said: null,
      attempt: 1,
      stdout_tail: null,
      stderr_tail: null,
      stdout_file: null,
      stderr_file: null,
    };
    expect(lines({ status: "failed" }, { failures: [failure] }).slice(-2)).toEqual([
      "      daruma logs 3 v --scope 'root/l[1]'",
      "      daruma retry 3 'v@l[1]'",
    ]);
  });

  it("lists holds with their last words and how to resolve them", () => {
    const row = jobRow(3, 1, { step: "v", scope: "root/l[1]", status: "held", attempt_id: 2 });
    const stderr_tail = "one\n\x1b[31mtwo\x1b[0m\n";
    const error = failureOf({ code: "EXIT_4", message: "exit code 4", stderr_tail });
    const hold: WaitingJob = {
      ...jobRecord(runRow(3), { ...row, error }),
      ...{ kind: "hold", since: "2026-01-01T00:00:01.000Z", question: null, decisions: [], owner: null },
      ...{ expiry: null, blocks: { steps: 0, names: [], layers: [], of: 1 }, error_lines: [] },
    };
    expect(lines({ status: "held", duration_ms: null }, { holds: [hold] }).slice(1)).toEqual([
      "v@l[1] (run 3, job 30000001) is held after 2 attempts: exit code 4 (EXIT_4, application)",
      "  | one",
      "  | two",
      "to run it again:  daruma resolve 3 'v@l[1]' --retry --reason \"...\"",
      "to let it fail:   daruma resolve 3 'v@l[1]' --fail --reason \"...\"  (or --skip, or --complete JSON)",
    ]);
    const expiry = { at: "2026-01-01T04:00:01.000Z", action: "skip", choice: null } as const;
    expect(lines({ status: "held" }, { holds: [{ ...hold, expiry }] })).toContain(
      "  decide by 2026-01-01 04:00:01 UTC, then skip",
    );
    const owned = { ...hold, owner: { host: "build-1", pid: 77 } };
    expect(lines({ status: "running" }, { holds: [owned] }).at(-1)).toBe(
      "then:             process 77 on build-1 goes on with it",
    );
    const family = ["t_1", "t_2", "t_3"].map((step) => ({
      ...hold,
      id: 30_000_001,
      step,
      family: "t_{i}",
      scope: "root",
    }));
    const [first, ...others] = family.map((each, index) => ({ ...each, id: each.id + index }));
    const other = { ...others[1]!, error: failureOf({ code: "EXIT_4", signature: "v2:other" }) };
    const told = lines({ status: "held" }, { holds: [first!, other, others[0]!] }).slice(1);
    expect(told.filter((line) => !line.startsWith("  |"))).toEqual([
      "t_1 (run 3, job 30000001) is held after 2 attempts: exit code 4 (EXIT_4, application)",
      "  so is t_2",
      expect.stringMatching(/^t_3 \(run 3, job 30000003\) is held after 2 attempts: /),
      'to run them again:  daruma resolve 3 --all --retry --reason "..."',
      'to let them fail:   daruma resolve 3 --all --fail --reason "..."  (or --skip, or --complete JSON)',
      "next: daruma inbox",
    ]);
    const two = [hold, { ...hold, step: "w", error: failureOf({ code: "WALLTIME" }) }];
    const both = lines({ status: "held" }, { holds: two, reuse_file: "/srv/ci.yaml" });
    expect(both).toContain('to run them again:  daruma resolve 3 --all --retry --reason "..."');
    expect(both.slice(-2)).toEqual(["next: daruma recover 3", "      daruma inbox"]);
  });

  it("lists questions with each answer as it is typed, beside the holds of the same run", () => {
    const row = jobRow(3, 1, { step: "sign off", status: "waiting" });
    const asks: WaitingJob = {
      ...jobRecord(runRow(3), row),
      kind: "question",
      since: "2026-01-01T00:00:01.000Z",
      due_at: "2026-01-01T01:00:00.000Z",
      expiry: { at: "2026-01-01T01:00:00.000Z", action: "fail", choice: null },
      question: { prompt: "Release?\n\x1b[31mReally?\n", choices: ["yes", "not now"] },
      decisions: ["yes", "not now"].map((decision) => ({ decision, operation: "answer_job", input: {} })),
      ...{ owner: null, blocks: { steps: 0, names: [], layers: [], of: 1 }, error_lines: [] },
    };
    const hold: WaitingJob = {
      ...asks,
      expiry: null,
      kind: "hold",
      step: "v",
      question: null,
      decisions: [],
    };
    expect(lines({ status: "running", duration_ms: null }, { holds: [hold, asks] }).slice(1)).toEqual([
      "sign off (run 3, job 30000001) asked at 2026-01-01 00:00:01 UTC (answer by 2026-01-01 01:00:00 UTC, then fail):",
      "  | Release?",
      "  | Really?",
      "to answer yes:      daruma answer 3 'sign off' --choose yes",
      "to answer not now:  daruma answer 3 'sign off' --choose 'not now'",
      "v (run 3, job 30000001) is held after 0 attempts: failed",
      'to run it again:  daruma resolve 3 v --retry --reason "..."',
      'to let it fail:   daruma resolve 3 v --fail --reason "..."  (or --skip, or --complete JSON)',
    ]);
  });

  it("shows what the last steps printed", () => {
    expect(lines({}, { endings: [{ step: "doll", text: "  o o\n  達磨" }] }).slice(1)).toEqual([
      "",
      "doll printed:",
      "  o o",
      "  達磨",
    ]);
  });
});
