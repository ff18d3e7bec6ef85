import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";
import type { Report } from "../support/cli-folder.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-init-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function daruma(...args: string[]) {
  return spawnSync(process.execPath, [commandLine, ...args], { cwd: folder, encoding: "utf8" });
}

describe("daruma init", () => {
  it("writes a workflow that runs as it is, with a retry and a repair", () => {
    const written = daruma("init");
    expect([written.status, written.stdout]).toEqual([
      0,
      "wrote workflow.yaml\nrun it:        daruma run workflow.yaml\nwhat happened: daruma explain last\n",
    ]);
    const { status, stdout } = daruma("run", "workflow.yaml", "--json");
    const report = JSON.parse(stdout) as Report;
    expect([status, report.status]).toEqual([0, "completed"]);
    expect(report.routes.map(({ step, rung, to }) => [step, rung, to])).toEqual([
      ["fetch", "retry", "fetch"],
      ["fetch", "retry", "fetch"],
      ["test", "remediate", "lint-fix"],
    ]);
    expect(report.jobs.map(({ step, attempts }) => [step, attempts])).toEqual([
      ["fetch", 3],
      ["test", 2],
      ["lint-fix", 1],
      ["publish", 1],
    ]);
  });

  it("writes a file that has no problems, no warnings and one newline at its end", () => {
    daruma("init", "checked.yaml");
    const { status, stderr } = daruma("validate", "checked.yaml");
    expect([status, stderr]).toEqual([0, ""]);
    expect(readFileSync(join(folder, "checked.yaml"), "utf8")).toMatch(/[^\n]\n$/);
  });

  it("refuses to overwrite a file", () => {
    writeFileSync(join(folder, "mine.yaml"), "mine\n");
    const refused = daruma("init", "mine.yaml");
    expect([refused.status, refused.stderr]).toEqual([
      2,
      "error FILE_EXISTS: mine.yaml already exists\nhint: Choose another name, or remove the file first.\n",
    ]);
    expect(readFileSync(join(folder, "mine.yaml"), "utf8")).toBe("mine\n");
  });

  it("says that a folder does not exist", () => {
    const refused = daruma("init", "nowhere/flow.yaml", "--json");
    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: "USAGE", message: expect.stringMatching(/^cannot write nowhere\/flow\.yaml: ENOENT/) },
    });
  });
});
