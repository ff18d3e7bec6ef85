import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();
// It makes the terminal; util-linux and BSD have it, few containers do not.
const canMakeTerminals = spawnSync("script", ["--version"]).status === 0;

async function contentOf(file: string): Promise<string> {
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await delay(10);
  return readFileSync(file, "utf8").trim();
}

describe("a terminal whose window is closed", () => {
  it.skipIf(!canMakeTerminals)("130: stops its run cleanly, to be resumed, and nothing crashes", async () => {
    const [begun, code, go] = ["begun", "code", "go"].map((name) => join(cli.path, name));
    const flow = `name: long\nsteps: { a: { exec: "echo x > ${begun}; while [ ! -e ${go} ]; do sleep 0.05; done" } }`;
    const file = cli.write("long.yaml", flow);
    const run = `${process.execPath} ${join(repositoryRoot, "dist/cli/main.js")} run ${file} --output-dir ${cli.outputDir}`;
    // The shell outlives its terminal, so that it can tell how the run's process ended. Some systems tell the shell alone.
    const line = `${run} & run=$!; trap 'kill -HUP $run' HUP; wait $run; wait $run; echo $? > ${code}`;
    const terminal = spawn("script", ["-qc", line, "/dev/null"], { stdio: ["pipe", "ignore", "ignore"] });
    await contentOf(begun!);
    terminal.kill("SIGKILL");
    expect(await contentOf(code!)).toBe("130");
    const { value } = await cli.json<{ run_id: number; interrupted: boolean }[]>("list");
    expect(value).toMatchObject([{ run_id: 1, interrupted: true }]);
    await cli.daruma("cancel", "1", "--reason", "seen enough");
  });
});
