import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("what is not a file", () => {
  it.each(["validate", "run", "graph"])("is refused by %s at once, with its kind", async (command) => {
    const pipe = join(cli.path, `pipe-${command}`);
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    for (const [path, kind] of [
      [pipe, "a pipe"],
      [cli.path, "a folder"],
      ["/dev/zero", "a device"],
    ] as const) {
      const { exitCode, stderr } = await cli.daruma(command, path);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("NOT_A_FILE");
      expect(stderr).toContain(`${path} is ${kind}\n`);
      expect(stderr).toContain("hint: Name a file; write what a pipe gives to one first.\n");
    }
  });
});
