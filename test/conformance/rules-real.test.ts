import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RealRuns } from "../support/real-run.js";

const real = new RealRuns();

describe("failure handlers with real processes", () => {
  it("rule [10] with max_retries 3: three attempts, six log files, a row for each", {
    tags: ["T5", "T11", "T20"],
  }, async () => {
    const run = await real.run(`failure_handlers: [{ name: h, rules: [{ exit_codes: [10], max_retries: 3 }] }]
steps: { job: { exec: 'echo out $DARUMA_ATTEMPT_ID; echo err $DARUMA_ATTEMPT_ID >&2; exit 10', failure_handler: h } }`);
    expect(run.report.status).toBe("failed");
    expect(run.logs("job")).toEqual(["a1.e", "a1.o", "a2.e", "a2.o", "a3.e", "a3.o"]);
    const { run_id: runId } = run.report;
    const row = (await run.daruma.store.readRun(runId))!;
    for (const attempt of [1, 2, 3]) {
      const name = `job_wf${row.workflow_id}_j${run.job("job").id}_r${runId}_a${attempt}`;
      const folder = join(run.outputDir, "output", "job_stdio", `run-${runId}`);
      expect(readFileSync(join(folder, `${name}.o`), "utf8")).toBe(`out ${attempt}\n`);
      expect(readFileSync(join(folder, `${name}.e`), "utf8")).toBe(`err ${attempt}\n`);
    }
    const attempts = await run.daruma.store.readAttempts(runId);
    expect(attempts.map(({ attempt, status, error }) => [attempt, status, error?.exit_code])).toEqual([
      [1, "failed", 10],
      [2, "failed", 10],
      [3, "failed", 10],
    ]);
  });

  it("the script gets its variables, repairs something, and the next attempt finds it", {
    tags: ["T6", "T7", "T19"],
  }, async () => {
    real.write(
      "fix.sh",
      `#!/bin/sh
echo "$DARUMA_WORKFLOW_ID $DARUMA_RUN_ID $DARUMA_JOB_ID $DARUMA_JOB_NAME $DARUMA_ATTEMPT_ID $DARUMA_RETURN_CODE"
echo "$DARUMA_OUTPUT_DIR" >&2
[ "\${DARUMA_API_URL+set}" = set ] && echo api
touch repaired
exit 5
`,
    );
    const run =
      await real.run(`failure_handlers: [{ name: h, rules: [{ exit_codes: [10], recovery_script: ./fix.sh, max_retries: 2 }] }]
steps: { job: { exec: 'test -e repaired || exit 10', failure_handler: h } }`);
    expect(run.report.status).toBe("completed");
    // The attempts print nothing, and what prints nothing has no log; that of a script says that it ran.
    expect(run.logs("job")).toEqual(["a1.recovery.e", "a1.recovery.o"]);
    const row = (await run.daruma.store.readRun(run.report.run_id))!;
    expect(run.text("_a1.recovery.o")).toBe(
      `${row.workflow_id} ${run.report.run_id} ${run.job("job").id} job 1 10\napi\n`,
    );
    expect(run.text("_a1.recovery.e")).toBe(`${join(run.outputDir, "output")}\n`);
    expect(await run.events("recovery.finished")).toMatchObject([{ ok: false, exit_code: 5 }]);
  });

  it("a script that hangs is ended after its timeout with all that it started, and the retry happens", {
    tags: ["T7"],
  }, async () => {
    const run =
      await real.run(`failure_handlers: [{ name: h, rules: [{ exit_codes: [10], recovery_script: "sleep 600 & sleep 600", recovery_timeout_ms: 300, max_retries: 2 }] }]
steps: { job: { exec: 'test $DARUMA_ATTEMPT_ID = 2 || exit 10', failure_handler: h, kill_grace_ms: 100 } }`);
    expect(run.report.status).toBe("completed");
    const [finished] = await run.events("recovery.finished");
    expect(finished).toMatchObject({ ok: false });
    expect(finished!.message).toMatch(/300 ms/);
  });

  it("a script that does not exist is recorded, and the retry happens", { tags: ["T7"] }, async () => {
    const run =
      await real.run(`failure_handlers: [{ name: h, rules: [{ exit_codes: [10], recovery_script: ./nowhere.sh, max_retries: 2 }] }]
steps: { job: { exec: 'test $DARUMA_ATTEMPT_ID = 2 || exit 10', failure_handler: h } }`);
    expect(run.report.status).toBe("completed");
    expect(await run.events("recovery.finished")).toMatchObject([{ ok: false, exit_code: 127 }]);
    expect(run.text("_a1.recovery.e")).toContain("nowhere.sh");
  });

  it("a batch file with parameters, a handler and resources runs as it stands", {
    tags: ["T1", "T36"],
  }, async () => {
    const run = await real.run(`name: sweep
failure_handlers: [{ name: h, rules: [{ exit_codes: [10], max_retries: 2 }] }]
resource_requirements: [{ name: small, num_cpus: 1, memory: 512m, runtime: PT1M }]
jobs:
  - name: "work_{i:02d}"
    command: 'echo "item {i}"; test {i} != 2 || test $DARUMA_ATTEMPT_ID = 2 || exit 10'
    parameters: { i: "1:3" }
    failure_handler: h
    resource_requirements: small
  - { name: done, command: "echo all done", depends_on: [work_01, work_02, work_03] }`);
    expect(run.report.status).toBe("completed");
    expect(run.report.jobs.map(({ step, attempts }) => [step, attempts])).toEqual([
      ["work_01", 1],
      ["work_02", 2],
      ["work_03", 1],
      ["done", 1],
    ]);
    expect(run.job("work_03").output).toBe("item 3");
  });

  it("walltime and memory are failures of class resource, with codes for rules", {
    tags: ["T22"],
  }, async () => {
    const run =
      await real.run(`failure_handlers: [{ name: h, rules: [{ exit_codes: [152], max_retries: 2 }] }]
steps: { job: { exec: "test $DARUMA_ATTEMPT_ID = 2 || sleep 600", failure_handler: h, kill_grace_ms: 100, resource_requirements: { runtime: "1s" } } }`);
    expect(run.report.status).toBe("completed");
    expect((await run.events("attempt.failed"))[0]!.error).toMatchObject({
      code: "WALLTIME",
      class: "resource",
      exit_code: 152,
    });
  });
});
