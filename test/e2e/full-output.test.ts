import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";
import { eventually } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const cli = new CliFolder();
/** A device of Linux that takes nothing: every write to it fails with ENOSPC. */
const FULL = "/dev/full";
const FLOW = "name: full\nsteps: { a: { exec: echo one }, b: { exec: echo two, depends_on: [a] } }\n";

type Target = "full" | "ignore";

function start(stdout: Target, stderr: Target, ...args: string[]) {
  const [out, err] = [stdout, stderr].map((target) => (target === "full" ? openSync(FULL, "w") : "ignore"));
  const child = spawn(process.execPath, [commandLine, ...args, "--output-dir", cli.outputDir], {
    stdio: ["ignore", out!, err!],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { child, ended };
}

describe.skipIf(!existsSync(FULL))("a disk that is full under what is printed", () => {
  it.each([
    ["full", "ignore", ["-v"]],
    ["ignore", "full", []],
    ["ignore", "full", ["--debug"]],
    ["full", "full", ["--json"]],
  ] as const)("stdout %s, stderr %s, %j: the run completes", async (stdout, stderr, flags) => {
    const file = cli.write("full.yaml", FLOW);
    expect(await start(stdout, stderr, "run", file, ...flags).ended).toBe(0);
    const { value } = await cli.json<{ status: string }>("show", "last");
    expect(value.status).toBe("completed");
  });

  it("a server starts and answers", async () => {
    const port = await freePort();
    const { child, ended } = start("full", "full", "serve", "--port", String(port), "--debug");
    try {
      const ready = (): Promise<boolean> =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => child.exitCode !== null,
        );
      await eventually("the server to be ready, or over", ready);
      expect(child.exitCode).toBe(null);
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/runs`);
      expect(answer.status).toBe(200);
    } finally {
      child.kill("SIGTERM");
      await ended;
    }
  });

  it("a command whose result is lost says so by its exit code", async () => {
    expect(await start("full", "ignore", "list").ended).toBe(5);
    expect(await start("ignore", "full", "list").ended).toBe(0);
  });
});
