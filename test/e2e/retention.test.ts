import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, describe, expect, it, vi } from "vitest";
import { CliFolder, FAILING } from "../support/cli-folder.js";
import { DarumaProcess } from "../support/daruma-process.js";
import { HANG_MS } from "../support/hang.js";

const cli = new CliFolder();
const started: DarumaProcess[] = [];
afterAll(async () => {
  for (const each of started) await each.kill();
});

const RULES =
  "retention:\n  runs: { keep_last: 2 }\n  logs: { older_than: 1d }\nlimits: { runs_per_minute: 1 }\n";

/** As if they had ended two days ago. */
function makeOld(): void {
  const db = new DatabaseSync(join(cli.outputDir, "daruma.db"));
  db.exec("UPDATE run SET finished_at = finished_at - 2 * 86400000");
  db.close();
}

describe("retention in the settings of a server", () => {
  it("is shown by prune --dry-run, and kept by the server itself", {
    tags: ["D2"],
    timeout: 300_000,
  }, async () => {
    const config = cli.write("keep.config.yaml", RULES);
    for (const _ of [1, 2, 3]) await cli.runJson(FAILING);
    makeOld();
    const dry = await cli.daruma("prune", "--dry-run", "--config", config);
    expect(dry.stdout).toMatch(/^run 1 failing: failed \S+ \(failing has 2 newer runs, /);
    expect(dry.stdout).toMatch(/\nlogs of run 3 .*\nlogs of run 2 /);
    expect(dry.stdout).toMatch(/\ndry run: 1 run, the logs of 2 runs \(\S+ \w+\) would be removed\n$/);
    const args = ["--port", "0", "--config", config, "--output-dir", cli.outputDir];
    const server = new DarumaProcess("server", ["serve", ...args]);
    started.push(server);
    server.start();
    await vi.waitFor(() => {
      expect(server.output).toMatch(/retention: removed 1 run \(/);
      expect(server.output).toMatch(/retention: removed the logs of [23] runs \(/);
    }, HANG_MS);
    expect((await cli.json<{ run_id: number }[]>("list")).value.map(({ run_id }) => run_id)).toEqual([3, 2]);
    expect(readdirSync(join(cli.outputDir, "output/job_stdio"))).toEqual([]);
    expect(existsSync(join(cli.outputDir, "output/run-1"))).toBe(false);
    const logs = await cli.daruma("logs", "3", "build");
    expect(logs.stderr).toContain("FILES_REMOVED: the logs of run 3 were removed on ");
    expect(logs.exitCode).not.toBe(0);
    // The error record is in the log of the run.
    expect((await cli.daruma("explain", "3")).stdout).toContain("boom");
    const url = /listening at (\S+)/.exec(server.output)![1]!;
    const start = () =>
      fetch(`${url}/api/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ source: "steps: { a: { type: noop } }" }),
      });
    expect([(await start()).status, (await start()).status]).toEqual([201, 429]);
    await server.stop();
  });
});
