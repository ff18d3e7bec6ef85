import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../../core/text/json.js";
import { readOutputArtifact, resultOfOutput, tooDeep } from "./attempt-output.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-output-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An output too large for the log. */
function keep(name: string, first = name): string {
  const path = join(folder, `${name}.json`);
  resultOfOutput([first, "x".repeat(100_000)], { schema: null, maxItems: null, artifact: path });
  return path;
}

describe("an output kept as a file", () => {
  it("is parsed once, however many items of a fan-out read it", () => {
    const path = keep("a");
    expect(readOutputArtifact(path)).toBe(readOutputArtifact(path));
  });

  it("is parsed again after four others: only the last few are held", () => {
    const path = keep("a");
    const first = readOutputArtifact(path);
    for (const other of ["b", "c", "d"]) readOutputArtifact(keep(other));
    expect(readOutputArtifact(path)).toBe(first);
    for (const other of ["e", "f", "g", "h"]) readOutputArtifact(keep(other));
    const again = readOutputArtifact(path);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });

  it("is never an older file's of the same name", () => {
    const path = keep("a", "old");
    expect(readOutputArtifact(path)).toMatchObject(["old", expect.anything()]);
    keep("a", "new");
    expect(readOutputArtifact(path)).toMatchObject(["new", expect.anything()]);
  });
});

describe("the key of an item", () => {
  it("is the item itself if it is a short text, else its index", () => {
    const longest = "x".repeat(64);
    const result = itemsOf(["a", { b: 1 }, longest, `${longest}x`], 4);
    expect(result).toMatchObject({ items: [{ key: "a" }, { key: "1" }, { key: longest }, { key: "3" }] });
  });
});

describe("the items of an output", () => {
  it("are made for a forEach step only", () => {
    expect(itemsOf(["a"], null)).toMatchObject({ kind: "succeeded", items: null });
    expect(itemsOf("a", 4)).toMatchObject({ kind: "succeeded", items: null });
  });

  it("are refused beyond max_items, before any is made", () => {
    expect(itemsOf([1, 2, 3], 3)).toMatchObject({ kind: "succeeded" });
    expect(itemsOf([1, 2, 3, 4], 3)).toEqual({
      kind: "failed",
      facts: {
        code: "TOO_MANY_ITEMS",
        message: "the list has 4 items; max_items allows 3 in a run",
      },
    });
  });
});

function itemsOf(value: Json, maxItems: number | null): unknown {
  return resultOfOutput(value, { schema: null, maxItems, artifact: join(folder, "none") });
}

describe("an output of any action", () => {
  it("is refused by its depth before anybody walks through it", () => {
    const nested = (levels: number): Json => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as Json;
    expect(tooDeep(nested(1_000))).toBeNull();
    expect(tooDeep(nested(100_000))).toEqual({
      code: "OUTPUT_INVALID",
      message: "the output is nested more than 1000 levels deep",
    });
  });
});
