import { describe, expect, it } from "vitest";
import type { Json } from "./json.js";
import { lookupPath } from "./lookup-path.js";

const DATA: Json = {
  a: { b: [{ c: 1 }, [2, 3]], "x.y": 4 },
  outputs: {
    build: { v2: { size: "of build" }, files: ["one", "two"] },
    "build.v2": { size: "of build.v2", v2: 1 },
    "unit-tests:fast": { ok: true },
    "list.0": "a step",
    list: ["an item"],
    history: { "build.v2": [{ size: "first" }], build: [] },
  },
};

describe("lookupPath", () => {
  it.each<[string, Json]>([
    ["a.b[0].c", 1],
    ["a.b[1][1]", 3],
    ["outputs.build.files[1]", "two"],
    ["outputs.unit-tests:fast.ok", true],
    ["outputs.history.build.v2[0].size", "first"],
    ["outputs.history.build", []],
  ])("%s is %j", (path, value) => {
    expect(lookupPath(DATA, path)).toEqual(value);
  });

  it("takes the longest step id that the path begins with", () => {
    expect(lookupPath(DATA, "outputs.build.v2.size")).toBe("of build.v2");
    expect(lookupPath(DATA, "outputs.build.v2.v2")).toBe(1);
    expect(lookupPath(DATA, "outputs.build.v2")).toEqual({ size: "of build.v2", v2: 1 });
  });

  it("keeps an index apart from a step id that ends in a number", () => {
    expect(lookupPath(DATA, "outputs.list[0]")).toBe("an item");
    expect(lookupPath(DATA, "outputs.list.0")).toBe("a step");
  });

  it("joins names only where step ids stand", () => {
    expect(lookupPath(DATA, "a.x.y")).toBeUndefined();
  });

  it.each(["", ".", ".a", "a.", "a..b", "a[", "a[x]", "a.b[-1]", "a.b]0[", "a.b[0]c", "[0]"])(
    "%j is no path",
    (path) => {
      expect(lookupPath(DATA, path)).toBeUndefined();
    },
  );

  it.each([
    "constructor",
    "a.__proto__",
    "a.b.length",
    "a.b[9]",
    "a.b.0",
    "a[0]",
    "outputs.toString",
    "a.b[0].c.toFixed",
    "outputs.list[0][0]",
    "z.y",
  ])("%s finds nothing: inherited, of the wrong kind or absent", (path) => {
    expect(lookupPath(DATA, path)).toBeUndefined();
  });
});
