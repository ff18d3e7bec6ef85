import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder, type Report, RunningCli } from "../support/cli-folder.js";

const cli = new CliFolder();
const WRITES = 'name: writes\nsteps: { a: { exec: "echo 7 > $DARUMA_OUTPUT" } }\n';

function temporaryFolder(): string {
  const path = join(cli.path, "tmp");
  mkdirSync(path, { recursive: true });
  return path;
}

describe("the temporary folder of all users", () => {
  it("may lose the scratch folder of a running server: the next attempt has one again", async () => {
    const parent = temporaryFolder();
    const server = new RunningCli(["serve", "--port", "0", "--output-dir", cli.outputDir], {
      TMPDIR: parent,
    });
    const [, url = ""] = await server.until(/listening at (http:\S+)/);
    const outputs: unknown[] = [];
    for (let nth = 0; nth < 2; nth += 1) {
      const begun = await fetch(`${url}/api/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ source: WRITES }),
      });
      const { run_id } = (await begun.json()) as { run_id: number };
      outputs.push((await untilOver(url, run_id)).jobs[0]?.output);
      expect(readdirSync(parent)).toHaveLength(1);
      for (const name of readdirSync(parent)) rmSync(join(parent, name), { recursive: true });
    }
    expect(outputs).toEqual([7, 7]);
    server.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  });

  it("may hold folders that look like those of a dead process: no run minds them", async () => {
    const parent = temporaryFolder();
    for (const name of ["daruma-999999-x", `daruma-${"0".repeat(12)}-${"0".repeat(12)}-1-1-abcdef`])
      mkdirSync(join(parent, name, "inner"), { recursive: true });
    const run = new RunningCli(
      ["run", cli.write("writes.yaml", WRITES), "--output-dir", join(cli.path, "other")],
      { TMPDIR: parent },
    );
    expect(await run.ended).toBe(0);
    expect(readdirSync(parent)).toHaveLength(2);
  });
});

async function untilOver(url: string, run: number): Promise<Report> {
  for (;;) {
    const report = (await (await fetch(`${url}/api/v1/runs/${run}`)).json()) as Report;
    if (report.status !== "running" && report.status !== "pending") return report;
    await delay(30);
  }
}
