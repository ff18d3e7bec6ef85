import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hideFromGit } from "./output-folder.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-hidden-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the output folder", () => {
  it("of the usual name is not for git; what somebody has written there stays", () => {
    const usual = join(folder, ".daruma");
    hideFromGit(usual);
    expect(readFileSync(join(usual, ".gitignore"), "utf8")).toBe("*\n");
    writeFileSync(join(usual, ".gitignore"), "!output\n");
    hideFromGit(usual);
    expect(readFileSync(join(usual, ".gitignore"), "utf8")).toBe("!output\n");
  });

  it("of another name is left as it is", () => {
    hideFromGit(folder);
    expect(() => readFileSync(join(folder, ".gitignore"))).toThrow("ENOENT");
  });
});
