import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("stats", () => {
  it("counts retries by action, errors by code, timeouts, attempts until success and recovery scripts", {
    tags: ["W38"],
  }, async () => {
    const flow = `
failure_handlers: [{ name: fix, rules: [{ exit_codes: [10], recovery_script: "exit 1", max_retries: 2 }] }]
steps:
  flaky: { type: command, exec: "test $DARUMA_ATTEMPT_ID = 3 || exit 4", on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 50 } } } }
  ruled: { type: command, exec: "test $DARUMA_ATTEMPT_ID = 2 || exit 10", failure_handler: fix }
  late: { type: command, exec: "sleep 600", timeout_ms: 50, continue_on_failure: true }
  quiet: { type: command, exec: "sleep 600", idle_timeout_ms: 50, continue_on_failure: true }
  free: { type: noop }
`;
    const { report } = await cli.runJson(flow);
    const { value } = await cli.json<{ running_ms: number; retry_waiting_ms: number }>(
      "stats",
      String(report.run_id),
    );
    expect(value).toMatchObject({
      runs: 1,
      attempts: 8,
      retries: 3,
      retry_rate: 3 / 8,
      by_action: [
        { action: "command", attempts: 7, failed: 5, retries: 3, retry_rate: 3 / 7 },
        { action: "noop", attempts: 1, failed: 0, retries: 0, retry_rate: 0 },
      ],
      timeouts: { wall: 1, idle: 1 },
      attempts_until_success: 2,
      recovery_scripts: { run: 1, failed: 1 },
    });
    expect(value).toHaveProperty(
      "errors",
      expect.arrayContaining([{ code: "EXIT_4", class: "application", count: 2, rate: 2 / 8 }]),
    );
    expect(value.retry_waiting_ms).toBeGreaterThanOrEqual(100);
    expect(value.running_ms).toBeGreaterThanOrEqual(100);
    const { stdout } = await cli.daruma("stats");
    expect(stdout).toMatch(
      /^1 run, 8 attempts, 3 of them retries \(37\.5 %\)\nruns: 1 completed with a handled failure\nattempts until success: 2\.00 on average\n/,
    );
    expect(stdout).toMatch(/^ {2}EXIT_4 +application +2 +25\.0 %$/m);
    const held = await cli.runJson("unhandled: hold\nsteps: { a: { exec: 'exit 3' } }");
    await cli.daruma("decide", String(held.report.jobs[0]!.id), "--action", "skip");
    await cli.runJson("steps: { a: { exec: 'true' } }");
    const later = (await cli.daruma("stats")).stdout;
    // A skip by hand made nothing work.
    expect(later).not.toContain("by hand");
    expect(later).toMatch(/^runs: 1 completed without a failure, /m);
    expect(later).toMatch(/^decided: 1 hold and 0 questions, after a median of .+$/m);
  });

  it("counts the jobs of a family as what they do, with their rules and scripts", async () => {
    const { report } = await cli.runJson(`
failure_handlers: [{ name: fix, rules: [{ exit_codes: [10], recovery_script: "true", max_retries: 2 }] }]
jobs:
  - name: "ruled_{i}"
    parameters: { i: "1:3" }
    command: 'test $DARUMA_ATTEMPT_ID = 2 || exit 10'
    failure_handler: fix
`);
    const { value } = await cli.json("stats", String(report.run_id));
    expect(value).toMatchObject({
      by_action: [{ action: "command", attempts: 6, failed: 3, retries: 3, retry_rate: 0.5 }],
      recovery_scripts: { run: 3, failed: 0 },
    });
  });
});
