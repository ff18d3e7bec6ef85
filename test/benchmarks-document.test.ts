import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { repositoryRoot } from "./support/cli.js";

it("docs/benchmarks.md says what was recorded", () => {
  const { stdout } = spawnSync(process.execPath, ["scripts/write-benchmarks-doc.mjs", "--check"], {
    cwd: repositoryRoot,
    encoding: "utf8",
  });
  expect(stdout).toBe("docs/benchmarks.md is up to date\n");
});
