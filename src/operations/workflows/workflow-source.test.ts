import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSource } from "./workflow-source.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-source-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a workflow file", () => {
  it("that is too large is refused for its size, one that is not there for that", () => {
    const file = join(folder, "large.yaml");
    writeFileSync(file, "");
    truncateSync(file, 64 * 1024 * 1024);
    expect(readSource(file)).toHaveLength(64 * 1024 * 1024);
    truncateSync(file, 64 * 1024 * 1024 + 1);
    expect(() => readSource(file)).toThrow(expect.objectContaining({ code: "FILE_TOO_LARGE" }));
    expect(() => readSource(join(folder, "none.yaml"))).toThrow(
      expect.objectContaining({ code: "FILE_NOT_FOUND" }),
    );
  });
});
