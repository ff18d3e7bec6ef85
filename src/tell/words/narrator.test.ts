import { describe, expect, it } from "vitest";
import type { TrialOptions } from "../../../test/support/harness.js";
import { replayedTrial } from "../../../test/support/replayed-trial.js";
import type { Script } from "../../../test/support/scripted-worker.js";
import { Narrator } from "./narrator.js";

async function notes(text: string, script: Script, options: TrialOptions = {}): Promise<string[]> {
  const narrator = new Narrator();
  const { states } = await replayedTrial(text, script, options);
  return [...states()].flatMap(({ run, logged }) =>
    narrator.tell(run, logged).map(({ kind, text }) => `${kind}: ${text}`),
  );
}

describe("what is told of a run", () => {
  it("makes one line of a failure and its retry: what happened, what comes next", async () => {
    const file =
      "steps: { build: { type: noop, on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 1500 } } } } }";
    expect(await notes(file, { build: ["fail", "fail", "ok"] })).toEqual([
      "run: run 1 of test started",
      "started: build started",
      "failed: build attempt 1 failed: exit code 1 (EXIT_1, application) — retry 1 of 2 in 1.5 s",
      "started: build started, attempt 2",
      "failed: build attempt 2 failed like attempt 1 (EXIT_1) — retry 2 of 2 in 1.5 s",
      "started: build started, attempt 3",
      "recovered: build completed on attempt 3 in 0 ms",
    ]);
  });

  it("says of the last failure what was tried, and what it takes down", async () => {
    const file = `
steps:
  build: { type: noop, on_fail: { retry: { max: 1 } } }
  after: { type: noop, depends_on: [build] }
`;
    expect((await notes(file, { build: ["fail"] })).slice(-2)).toEqual([
      "failed: build attempt 2 failed like attempt 1 (EXIT_1) — no retries left (1 used); the step failed",
      "canceled: canceled: after (build failed)",
    ]);
  });

  it("says a reason that holds for several rungs once", async () => {
    const file =
      "steps: { fix: { type: noop }, build: { type: noop, on_fail: { retry: { max: 1 }, run: [fix] } } }";
    expect(await notes(file, { build: ["fail"] }, { options: { failure_routing: false } })).toContain(
      "failed: build attempt 1 failed: exit code 1 (EXIT_1, application) — failure routing is off; the step failed",
    );
  });

  it("tells of repairs and jumps in one line each", async () => {
    const file = `
steps:
  setup: { type: noop }
  build: { type: noop, depends_on: [setup], on_fail: { run: [fix], goto: setup } }
  fix: { type: noop }
`;
    const told = await notes(file, { build: ["fail", "fail", "ok"] });
    expect(told).toContain(
      "failed: build attempt 1 failed: exit code 1 (EXIT_1, application) — run fix, then try again",
    );
    expect(told).toContain("route: build: remediation completed, the step runs again (loop 1 of 10)");
    expect(told).toContain(
      "failed: build attempt 2 failed like attempt 1 (EXIT_1) — no remediation left in this visit (1 used); back to setup (loop 2 of 10)",
    );
  });

  it("tells a spent loop budget once, in the line of the failure that met it", async () => {
    const file = `
routing: { max_loops: 1 }
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto: a } }
`;
    const told = (await notes(file, { b: ["fail"] })).filter((note) => note.includes("LOOP_BUDGET"));
    expect(told).toEqual([
      "failed: b attempt 2 failed like attempt 1 (EXIT_1) — max_loops (1) is used up: 1 loop; the run ends here; the step failed (LOOP_BUDGET_EXCEEDED)",
      "canceled: nothing was left to run (LOOP_BUDGET_EXCEEDED)",
    ]);
  });

  it("tells a failed repair as the failure it is, not as the attempt once more", async () => {
    const file = `
steps:
  build: { type: noop, on_fail: { run: [fix] } }
  fix: { type: noop }
`;
    const told = await notes(file, { build: ["fail"], fix: ["fail"] });
    expect(told.filter((note) => note.startsWith("failed: build"))).toEqual([
      "failed: build attempt 1 failed: exit code 1 (EXIT_1, application) — run fix, then try again",
      "failed: build failed: remediation failed: fix did not complete (after exit code 1) (REMEDIATION_FAILED)",
    ]);
  });

  it("tells an `if` that failed as a step that did not start, with what the ladder makes of it", async () => {
    const file = `
steps:
  build: { type: noop, if: "nothing.here", on_fail: { retry: { max: 3 }, run: [fix] } }
  fix: { type: noop }
`;
    const told = await notes(file, {});
    expect(told.filter((note) => note.startsWith("failed: build"))).toEqual([
      "failed: build did not start: if: nothing is not defined (IF_FAILED, deterministic_contract) — run fix, then try again",
      "failed: build did not start: if: nothing is not defined (IF_FAILED, deterministic_contract) — no remediation left in this visit (1 used); the step failed",
    ]);
  });

  it("tells which rule acts, and how its recovery script went", async () => {
    const file = `
failure_handlers: [{ name: sim, rules: [{ exit_codes: [1], recovery_script: ./fix.sh, max_retries: 2 }] }]
steps: { build: { type: noop, failure_handler: sim } }
`;
    const told = await notes(file, {
      build: ["fail", "ok"],
      "build script": [{ exit: 5 }],
    });
    expect(told.slice(2)).toEqual([
      "failed: build attempt 1 failed: exit code 1 (EXIT_1, application) — rule 1 of sim: run it again after its recovery script, at most 2 attempts",
      "started: build: recovery script started",
      "failed: build: recovery script failed after 0 ms: exit code 5; the step runs again anyway",
      "started: build started, attempt 2",
      "recovered: build completed on attempt 2 in 0 ms",
    ]);
  });

  it("makes one line of a failure and the transition that takes it on, and says when it is handled", async () => {
    const file = `
steps: { build: { type: noop }, fallback: { type: noop } }
transitions: [{ from: build, to: fallback, on: failure }]
`;
    expect((await notes(file, { build: ["fail"] })).slice(2)).toEqual([
      "failed: build attempt 1 failed: exit code 1 (EXIT_1, application) — transition 1 takes the failure to fallback",
      "started: fallback started",
      "completed: fallback completed in 0 ms",
      "recovered: build: handled by the step it was routed to",
    ]);
  });

  it("tells a hold with the command that lists it", async () => {
    expect(
      (await notes("unhandled: hold\nsteps: { build: { type: noop } }", { build: ["fail"] })).slice(2),
    ).toEqual([
      "held: build attempt 1 failed: exit code 1 (EXIT_1, application) — held until somebody decides: daruma holds 1",
      "held: run 1 is held: build",
    ]);
  });

  it("tells when a hold expires", async () => {
    const file = "unhandled: hold\nhold: { expires: 1m, then: skip }\nsteps: { build: { type: noop } }";
    expect((await notes(file, { build: ["fail"] }))[2]).toMatch(
      /— held until somebody decides or until \d{4}-\S+Z, then skip: daruma holds 1$/,
    );
  });

  it("tells what is undone before it is, and what was", async () => {
    const file = `steps:
  a: { type: noop, undo: back }
  b: { type: noop, depends_on: a }
  back: { type: noop }`;
    expect((await notes(file, { b: ["fail"] })).slice(-5)).toEqual([
      "failed: run 1 has failed: b: exit code 1",
      "run: run 1 undoes a",
      "started: back started",
      "completed: back completed in 0 ms",
      "route: a is undone (back)",
    ]);
  });

  it("tells a question with its choices and the command that answers it", async () => {
    const file =
      'steps: { ask: { type: human, prompt: "Go on?", choices: [yes, no], reject: [no], timeout_ms: 9 } }';
    expect((await notes(file, {})).slice(1)).toEqual([
      "question: ask asks: Go on? (yes, no) — daruma answer 1 ask --choose yes",
      "failed: ask attempt 1 failed: nobody answered in time (TIMEOUT, transient_runtime) — the step failed",
    ]);
  });

  it("says which run a line of a child run is about, once", async () => {
    const { states } = await replayedTrial("steps: { a: { type: noop } }", { a: ["ok"] });
    const narrator = new Narrator();
    const told = [...states()].flatMap(({ run, logged }) =>
      narrator.tell(Object.assign(Object.create(run), { parent: { runId: 9, jobId: 90_000_001 } }), logged),
    );
    expect(told.map(({ text }) => text)).toEqual([
      "run 1 of test started",
      "run 1: a started",
      "run 1: a completed in 0 ms",
    ]);
  });

  it("says nothing of routed steps that nobody needed", async () => {
    const file = "steps: { a: { type: noop, on_fail: { run: [fix] } }, fix: { type: noop } }";
    expect((await notes(file, {})).join()).not.toContain("skipped");
  });

  it("sums up many skipped steps in one line", async () => {
    const dependents = Array.from({ length: 9 }, (_, n) => `  s${n}: { type: noop, depends_on: [a] }`).join(
      "\n",
    );
    const told = await notes(`steps:\n  a: { type: noop, if: "false" }\n${dependents}\n`, {});
    expect(told).toContain(
      "skipped: skipped: s0, s1, s2, s3, s4, s5 and 3 more (a step it depends on was skipped)",
    );
  });
});
