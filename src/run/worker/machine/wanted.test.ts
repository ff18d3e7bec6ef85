import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { hasWanted } from "../attempt-lacks.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-wanted-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what a worker says that it has", () => {
  it("is a secret that is set and not empty", () => {
    expect(hasWanted("secret KEY", { KEY: "x" })).toBe(true);
    expect(hasWanted("secret KEY", { KEY: "" })).toBe(false);
    expect(hasWanted("secret KEY", {})).toBe(false);
  });

  it("is a program on its PATH that may be executed", () => {
    for (const [name, mode] of [
      ["tool", 0o755],
      ["text", 0o644],
    ] as const) {
      writeFileSync(join(folder, name), "");
      chmodSync(join(folder, name), mode);
    }
    const env = { PATH: `/nonexistent:${folder}` };
    expect(hasWanted("program tool", env)).toBe(true);
    expect(hasWanted("program other", env)).toBe(false);
    expect(hasWanted("program tool", {})).toBe(false);
  });

  it("is nothing else", () => {
    expect(hasWanted("KEY", { KEY: "x" })).toBe(false);
    expect(hasWanted("file /etc/passwd", { PATH: "/bin" })).toBe(false);
  });
});
