import { chmodSync, existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

/** Fails with exit code 10 until its third attempt. */
function ruled(rule: string): string {
  return `
name: ruled
failure_handlers: [{ name: sim, rules: [{ exit_codes: [10], ${rule} }] }]
steps:
  a: { type: command, failure_handler: sim, exec: "echo try $DARUMA_ATTEMPT_ID; test $DARUMA_ATTEMPT_ID -ge 3 || exit 10" }
`;
}

function logFiles(run: number): string[] {
  const files = readdirSync(join(cli.outputDir, `output/job_stdio/run-${run}`));
  return files.map((file) => file.replace(/^job_wf\d+_j\d+_r\d+_/, "")).sort();
}

describe("a rule with a recovery script", () => {
  it("runs the script after each failure: three attempts, a log of what each printed, and a pair for each script", async () => {
    const { exitCode, report } = await cli.runJson(
      ruled('recovery_script: "echo fixed >&2", max_retries: 3'),
    );
    expect(exitCode).toBe(0);
    expect(report.jobs).toMatchObject([{ status: "completed", attempts: 3, visits: 1 }]);
    expect(report.routes.map(({ rung }) => rung)).toEqual(["rule", "rule"]);
    const attempts = logFiles(report.run_id).filter((file) => !file.includes("recovery"));
    expect(attempts).toEqual(["a1.o", "a2.o", "a3.o"]);
    expect(logFiles(report.run_id).filter((file) => file.includes("recovery"))).toEqual([
      "a1.recovery.e",
      "a1.recovery.o",
      "a2.recovery.e",
      "a2.recovery.o",
    ]);
    const id = String(report.run_id);
    expect((await cli.daruma("logs", id, "a", "--recovery", "--attempt", "1")).stdout).toBe("fixed\n");
    expect((await cli.daruma("logs", id, "a", "--attempt", "2")).stdout).toBe("try 2\n");
    const none = await cli.daruma("logs", id, "a", "--recovery", "--attempt", "3");
    expect(none.exitCode).toBe(2);
    expect(none.stderr).toMatch(/^error ATTEMPT_NOT_FOUND: a attempt 3: no recovery script ran\n/);
  });

  it("gives the script the variables of the failed attempt", async () => {
    const script = `printf '%s\\n' $DARUMA_WORKFLOW_ID $DARUMA_RUN_ID $DARUMA_JOB_ID $DARUMA_JOB_NAME $DARUMA_ATTEMPT_ID $DARUMA_RETURN_CODE $DARUMA_OUTPUT_DIR`;
    const { report } = await cli.runJson(ruled(`recovery_script: ${JSON.stringify(script)}`));
    const id = String(report.run_id);
    const { stdout } = await cli.daruma("logs", id, "a", "--recovery", "--attempt", "2");
    const [workflow, ...rest] = stdout.trim().split("\n");
    expect(workflow).toMatch(/^\d+$/);
    expect(rest).toEqual([id, String(report.jobs[0]?.id), "a", "2", "10", join(cli.outputDir, "output")]);
  });

  it.each([
    ["exits 5", 'recovery_script: "exit 5"', /exit code 5/],
    [
      "hangs past its timeout",
      'recovery_script: "sleep 600", recovery_timeout_ms: 100',
      /100 ms|timeout|timed out/,
    ],
    ["does not exist", "recovery_script: ./not-there.sh", /not-there\.sh|exit code 127/],
  ])("retries all the same when the script %s", async (_how, rule, message) => {
    const { exitCode, report } = await cli.runJson(ruled(rule));
    expect(exitCode).toBe(0);
    expect(report.jobs).toMatchObject([{ status: "completed", attempts: 3 }]);
    const { stdout } = await cli.daruma("explain", String(report.run_id), "--full");
    const told = stdout.split("\n").filter((line) => line.includes("The recovery script failed after"));
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(message);
    expect(told[0]).toMatch(/the step runs again anyway\.$/);
  });

  it("tells in the progress which rule acts and how its script went", async () => {
    const flow = cli.write("flow.yaml", ruled('recovery_script: "test $DARUMA_ATTEMPT_ID = 1"'));
    const { stderr } = await cli.daruma("run", flow);
    expect(stderr).toMatch(
      /a attempt 1 failed: exit code 10 \(EXIT_10, application\) — rule 1 of sim: run it again after its recovery script, at most 3 attempts\n/,
    );
    expect(stderr).toMatch(/a: recovery script completed in /);
    expect(stderr).toMatch(/a: recovery script failed after .*: exit code 1; the step runs again anyway\n/);
  });

  it("prefers the rule that names the code to a catch-all before it, and says when its attempts are used", async () => {
    const flow = `
failure_handlers:
  - name: sim
    rules:
      - { match_all_exit_codes: true, recovery_script: touch wrong-rule, max_retries: 9 }
      - { exit_codes: [10], max_retries: 2 }
steps: { a: { type: command, failure_handler: sim, exec: "exit 10" } }
`;
    const { exitCode, report } = await cli.runJson(flow);
    expect(exitCode).toBe(1);
    expect(report.jobs[0]?.attempts).toBe(2);
    expect(existsSync(join(cli.path, "wrong-rule"))).toBe(false);
    const { stdout } = await cli.daruma("explain", String(report.run_id), "--full");
    expect(stdout).toContain(
      "- rule: yes, sim: rule 2 for exit code 10, attempt 2 of 2.\n  Cost: attempt 2 of 2; no retry, no loop.",
    );
    expect(stdout).toContain("- rule: no, sim: no attempts left (2 used).");
    expect(stdout).toContain("In short: the rule that matches has no attempts left (MaxRetriesExceeded).");
    expect(stdout).toContain("Left: 0 of 2 attempts by rule 2 of sim");
  });
});

describe("a program that a signal ends", () => {
  it("is told by its signal, of class transient_runtime, and taken by a rule for 128 + its number", async () => {
    const program = '#!/bin/sh\ntest "$DARUMA_ATTEMPT_ID" -ge 2 || kill -9 $$\npwd -P; echo "$PWD"\n';
    chmodSync(cli.write("simulate", program), 0o755);
    const { exitCode, report } = await cli.runJson(`
name: killed
failure_handlers: [{ name: sim, rules: [{ exit_codes: [137], max_retries: 2 }] }]
steps:
  a: { type: command, failure_handler: sim, exec: ./simulate --fast }
`);
    expect(exitCode).toBe(0);
    expect(report.routes).toMatchObject([{ rung: "rule" }]);
    const events = (await cli.daruma("events", String(report.run_id), "--json")).stdout.trim().split("\n");
    const failed = events.map((line) => JSON.parse(line)).find(({ type }) => type === "attempt.failed");
    expect(failed).toMatchObject({ error: { signal: "SIGKILL", class: "transient_runtime" } });
    expect(report.jobs[0]?.output).toBe(`${realpathSync(cli.path)}\n${cli.path}`);
  });
});
