import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OutputOf } from "../../src/operations/client.js";
import { runCli } from "../support/cli.js";
import { CliFolder, RunningCli } from "../support/cli-folder.js";

const cli = new CliFolder();

/** Says that it ran out of memory until this attempt. */
const untilAttempt = (attempt: number, more = "") => `
name: eater
steps:
  eat:
    exec: test $DARUMA_ATTEMPT_ID -ge ${attempt} || { echo '{"code":"OOM"}' > $DARUMA_FAILURE; exit 137; }
    resource_requirements: { memory: 512m }
  wrong: { exec: "${more === "" ? "true" : more}" }
  after: { exec: echo done, depends_on: eat }
`;

type Recovery = OutputOf<"recover_run">;

let server: RunningCli;
let url = "";
beforeAll(async () => {
  server = new RunningCli(["serve", "--port", "0", "--output-dir", join(cli.path, "server")]);
  url = (await server.until(/listening at (\S+)/))[1]!;
});
afterAll(async () => {
  server.kill("SIGTERM");
  await server.ended;
});

describe("daruma recover", () => {
  it("--dry-run says per job what would be done and why, and changes nothing", {
    tags: ["T35"],
  }, async () => {
    const { report } = await cli.runJson(untilAttempt(2, "exit 3"));
    const id = String(report.run_id);
    const { exitCode, stdout } = await cli.daruma("recover", id, "--dry-run", "--max-memory", "600m");
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        "dry run; nothing changed",
        "1 job and 1 dependent would run again",
        "  eat (OOM): runs again: memory 512 MiB -> 600 MiB",
        "  wrong (EXIT_3): stays: not a matter of memory, time or a lost worker",
        "",
      ].join("\n"),
    );
    const { value } = await cli.json<Recovery>("recover", id, "--dry-run", "--retry-unknown");
    expect(value).toMatchObject({ recovered: 2, dry_run: true, before: "failed", status: "running" });
    expect((await cli.json<{ status: string }>("show", id)).value.status).toBe("failed");
  });

  it("tells the jobs of a sweep together of which the same becomes, also of those that no round is left for", {
    tags: ["T35"],
  }, async () => {
    const sweep = cli.write(
      "sweep.yaml",
      `
name: sweep
resource_requirements: [{ name: small, memory: 64m }]
jobs:
  - name: train_{i:02d}
    parameters: { i: "1:9" }
    command: |
      [ {i} -lt 4 ] || { echo '{"code":"OOM"}' > $DARUMA_FAILURE; exit 137; }
      [ {i} -gt 1 ] || exit 3
    resource_requirements: small
`,
    );
    expect((await cli.daruma("run", sweep, "--quiet")).exitCode).toBe(3);
    const names = "train_04, train_05, train_06, train_07, train_08, train_09 (OOM)";
    const { stdout } = await cli.daruma("recover", "last", "--dry-run");
    expect(stdout.split("\n").slice(2)).toEqual([
      "  train_01 (EXIT_3): stays: not a matter of memory, time or a lost worker",
      `  ${names}: run again: memory 64 MiB -> 96 MiB`,
      "",
    ]);
    const id = String((await cli.json<{ run_id: number }>("show", "last")).value.run_id);
    expect((await cli.daruma("explain", id)).stdout).toMatch(
      /- Run train_04, [^\n]* again with more memory:\n {4}daruma recover \d+ /,
    );
    expect((await cli.daruma("inbox", "--workflow", "sweep")).stdout).toContain(
      `\nmore memory or time:  daruma recover ${id} `,
    );
    const { stderr } = await cli.daruma("recover", id);
    expect(stderr).toContain(`round 1 of 1:   ${names}: run again: memory 64 MiB -> 96 MiB\n`);
    expect(stderr).toMatch(/run \d+ stays held: no rounds left \(1 used\)\n/);
    expect(stderr).toContain(`  ${names}: would run again: memory 96 MiB -> 144 MiB\n`);
  });

  it("raises, runs the job and what depends on it again, and goes on to the end", {
    tags: ["T35"],
  }, async () => {
    const { exitCode: failed, report } = await cli.runJson(untilAttempt(2));
    expect(failed).toBe(1);
    const id = String(report.run_id);
    const { exitCode, stdout, stderr } = await cli.daruma("recover", id, "--reason", "a larger mesh");
    expect(stderr).toContain("round 1 of 1: 1 job and 1 dependent run again");
    expect([exitCode, stdout.includes("completed")]).toEqual([0, true]);
    const { stdout: story } = await cli.daruma("explain", id, "--full");
    expect(story).toContain('somebody asked for a recovery ("a larger mesh")');
    expect(story).toContain("From now on the step may use 768 MiB of memory.");
  });

  it("recovers as often as --max-rounds allows, and ends as the run did", { tags: ["T35"] }, async () => {
    const short = await cli.runJson(untilAttempt(4));
    const once = await cli.daruma("recover", String(short.report.run_id), "--max-rounds", "2");
    expect(once.exitCode).toBe(1);
    expect(once.stderr).toContain(`run ${short.report.run_id} stays failed: no rounds left (2 used)`);
    const long = await cli.daruma("recover", String(short.report.run_id), "--max-rounds", "2");
    expect(long.exitCode).toBe(0);
    const { value } = await cli.json<{ attempts: number }>("job", "show", String(short.report.run_id), "eat");
    expect(value.attempts).toBe(4);
  });

  it("runs the hook once a round before anything runs again; if it fails, nothing does", {
    tags: ["T35"],
  }, async () => {
    const { report } = await cli.runJson(untilAttempt(3));
    const id = String(report.run_id);
    const job = report.jobs.find(({ step }) => step === "eat")!.id;
    const refused = await cli.daruma("recover", id, "--recovery-hook", "echo no; exit 7");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("error RECOVERY_HOOK_FAILED: echo no; exit 7: exit code 7");
    expect((await cli.json<{ attempts: number }>("job", "show", id, "eat")).value.attempts).toBe(1);
    const told = join(cli.path, "told");
    const hook = `echo "$DARUMA_ROUND $DARUMA_RUN_ID $DARUMA_JOB_IDS $(cat)" >> ${told}`;
    const { exitCode } = await cli.daruma("recover", id, "--recovery-hook", hook, "--max-rounds", "5");
    expect(exitCode).toBe(0);
    expect(readFileSync(told, "utf8")).toBe(`1 ${id} ${job} ${job}\n2 ${id} ${job} ${job}\n`);
  });

  it("says that there is nothing to do, with the exit code of the run", async () => {
    const { report } = await cli.runJson("steps: { a: { exec: exit 3 } }");
    const { exitCode, stderr } = await cli.daruma("recover", String(report.run_id));
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`run ${report.run_id} stays failed: nothing can be recovered`);
    expect(stderr).toContain("  a (EXIT_3): stays: not a matter of memory, time or a lost worker");
  });

  it("works for a run of a server, which goes on with it", { tags: ["T35"] }, async () => {
    const at = ["--server", url];
    const file = cli.write("there.yaml", untilAttempt(3));
    const started = await runCli(["run", file, "--json", ...at]);
    expect(started.exitCode).toBe(1);
    const id = String((JSON.parse(started.stdout) as { run_id: number }).run_id);
    const hooked = await runCli(["recover", id, "--detach", "--recovery-hook", "true", ...at]);
    expect(hooked.exitCode).toBe(2);
    expect(hooked.stderr).toContain("--recovery-hook and --max-rounds do not apply");
    const alone = await runCli(["recover", id, "--detach", "--json", ...at]);
    expect(JSON.parse(alone.stdout)).toMatchObject({ recovered: 1, status: "running" });
    await runCli(["resume", id, ...at]);
    const { exitCode, stderr } = await runCli(["recover", id, ...at]);
    expect(stderr).toContain("round 1 of 1: 1 job and 1 dependent run again");
    expect(exitCode).toBe(0);
  });
});
