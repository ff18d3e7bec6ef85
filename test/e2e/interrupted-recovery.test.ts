import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

/** The script goes on until the file `go` is there. Attempts fail until the script has come to its end. */
const scripted = (mark: string): string => `
name: scripted
max_recoveries: 1
failure_handlers:
  - name: h
    rules: [{ exit_codes: [10], max_retries: 3, recovery_script: "echo begun >> ${mark}.tries; while [ ! -e ${mark}.go ]; do sleep 0.05; done; echo ended >> ${mark}.tries" }]
steps:
  a: { type: command, failure_handler: h, exec: "grep -q ended ${mark}.tries || exit 10" }
`;

async function lines(file: string, count: number): Promise<string[]> {
  for (;;) {
    const found = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
    if (found.length >= count) return found;
    await delay(10);
  }
}

/** What a run has used, and what it has left. */
async function spent(report: Report): Promise<unknown> {
  const id = String(report.run_id);
  const { stdout } = await cli.daruma("explain", id, "a", "--full");
  const events = (await cli.daruma("events", id, "--json")).stdout.trim().split("\n");
  const tries = events
    .map((line) => JSON.parse(line) as { type: string; try?: number; ok?: boolean })
    .filter(({ type }) => type === "recovery.started" || type === "recovery.finished");
  return {
    status: report.status,
    jobs: report.jobs.map(({ step, status, attempts, visits }) => ({ step, status, attempts, visits })),
    routes: report.routes.map(({ rung, reason }) => ({ rung, reason })),
    left: stdout.split("\n").filter((line) => line.includes("Left:")),
    lastTry: tries.at(-2)?.try,
    ended: tries.filter(({ type }) => type === "recovery.finished").map(({ ok }) => ok),
  };
}

describe("Ctrl-C while a recovery script runs", () => {
  it("costs nothing, however often: the run ends with the attempts and budgets of one that was left alone", async () => {
    const alone = join(cli.path, "alone");
    writeFileSync(`${alone}.go`, "");
    const undisturbed = await cli.runJson(scripted(alone));

    const mark = join(cli.path, "disturbed");
    const file = cli.write("disturbed.yaml", scripted(mark));
    const first = cli.start("run", file);
    const [, id] = await first.until(/run (\d+) of scripted started/);
    await lines(`${mark}.tries`, 1);
    first.kill("SIGINT");
    expect(await first.ended).toBe(130);
    for (const times of [2, 3]) {
      const again = cli.start("resume", id!);
      await lines(`${mark}.tries`, times);
      again.kill("SIGINT");
      expect(await again.ended).toBe(130);
    }
    writeFileSync(`${mark}.go`, "");
    const { exitCode, report } = await cli.resume(Number(id));
    expect(exitCode).toBe(0);
    expect(await lines(`${mark}.tries`, 5)).toEqual(["begun", "begun", "begun", "begun", "ended"]);
    expect(await spent(report)).toEqual(await spent(undisturbed.report));
    expect(report.jobs).toMatchObject([{ status: "completed", attempts: 2 }]);
  });
});
