import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

/** Holds 150 MB: in its first attempt until it is ended, later for as long as several looks at its memory take. */
const EATER =
  "node -e 'const eaten = Buffer.alloc(150e6, 1); setTimeout(() => eaten, process.env.DARUMA_ATTEMPT_ID === `1` ? 600e3 : 1000)'";

const flow = (limit: string) => `
name: eater
failure_handlers:
  - name: more
    rules: [{ exit_codes: [137], max_retries: 5, scale: { memory: 4${limit} } }]
steps:
  eat: { exec: ${JSON.stringify(EATER)}, failure_handler: more, resource_requirements: { memory: 100m } }
  after: { exec: "true", depends_on: eat }
`;

describe.runIf(process.platform === "linux")("a step that eats more memory than it asked for", () => {
  it("is ended, gets more by its rule, and completes; explain says how much", async () => {
    const { exitCode, report } = await cli.runJson(flow(""));
    expect([exitCode, report.status]).toEqual([0, "completed"]);
    expect(report.jobs.map(({ step, attempts }) => [step, attempts])).toEqual([
      ["eat", 2],
      ["after", 1],
    ]);
    const { stdout } = await cli.daruma("explain", String(report.run_id), "--full");
    expect(stdout).toMatch(
      /Attempt 1 failed after .*: used [\d.]+ MiB of memory, more than the [\d.]+ MiB it asked for \(OOM\)/,
    );
    // Four times what it had used, which differs from machine to machine.
    const [, raised] = /rule 1 for exit code 137, attempt 2 of 5, memory 100 MiB -> ([\d.]+ [MG]iB)\.$/m.exec(
      stdout,
    )!;
    expect(stdout).toContain(`From now on the step may use ${raised} of memory.`);
    const events = await cli.daruma("events", String(report.run_id), "--json");
    const [, to] = /"raised":\{"resource":"memory","from":104857600,"to":(\d+)\}/.exec(events.stdout)!;
    expect(Number(to)).toBeGreaterThan(4 * 104857600);
  });

  it("fails where the rule's limit leaves it no more", async () => {
    const { exitCode, report } = await cli.runJson(flow(", max_memory: 100m"));
    expect([exitCode, report.status]).toEqual([1, "failed"]);
    expect(report.jobs[0]).toMatchObject({ attempts: 1, error: { code: "OOM" } });
    const { stdout } = await cli.daruma("explain", String(report.run_id), "--full");
    expect(stdout).toContain("rule: no, more: memory is at its limit (100 MiB).");
  });
});
