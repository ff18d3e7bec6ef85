import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findSecret } from "./find-secret.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-secret-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inFile = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const problem = (file: string) => findSecret({ file }, {});

describe("a secret", () => {
  it("is what a variable or a file holds, without the spaces around it", { tags: ["N10"] }, () => {
    const file = inFile("good", "  hunter2 \n");
    const link = join(folder, "link");
    symlinkSync(file, link);
    expect(findSecret({ file }, {})).toEqual({ value: "hunter2" });
    expect(findSecret({ file: link }, {})).toEqual({ value: "hunter2" });
    expect(findSecret({ variable: "KEY" }, { KEY: "hunter2\n" })).toEqual({ value: "hunter2" });
    expect(findSecret({ file: inFile("long", `${"x".repeat(10_000)}\n`) }, {})).toEqual({
      value: "x".repeat(10_000),
    });
  });

  it("is no device, folder or pipe: that is said, and nobody waits", { tags: ["N10"] }, () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const file of ["/dev/zero", folder, pipe])
      expect(problem(file)).toEqual({ problem: `the file ${file} is not a regular file` });
  });

  it("that is missing, empty, too long or more than a line is told without what it is", {
    tags: ["N10"],
  }, () => {
    const none = join(folder, "none");
    expect(problem(none)).toEqual({ problem: `the file ${none} is empty or missing` });
    const empty = inFile("empty", " \n");
    expect(problem(empty)).toEqual({ problem: `the file ${empty} is empty or missing` });
    for (const length of [10_001, 20_000_000]) {
      const large = inFile(`large-${length}`, "x".repeat(length));
      expect(problem(large)).toEqual({ problem: `the file ${large} has more than 10000 bytes` });
    }
    const lines = inFile("lines", "hunter2\nhunter3\n");
    expect(problem(lines)).toEqual({ problem: `the file ${lines} is not one line` });
    expect(findSecret({ variable: "NONE" }, {})).toEqual({
      problem: "the variable NONE is empty or missing",
    });
    const under = join(lines, "x");
    expect(problem(under)).toEqual({ problem: `the file ${under} cannot be read (ENOTDIR)` });
  });

  it("that may not be read is told as such", { tags: ["N10"] }, ({ skip }) => {
    skip(process.getuid?.() === 0, "root may read everything");
    const file = inFile("closed", "hunter2");
    chmodSync(file, 0);
    expect(problem(file)).toEqual({ problem: `the file ${file} cannot be read (EACCES)` });
  });
});
