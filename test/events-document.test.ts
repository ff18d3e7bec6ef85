import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EVENTS as SHAPES } from "../src/core/model/events.js";

const rows = new Map(
  [...readFileSync("docs/events.md", "utf8").matchAll(/^\| `([a-z_]+\.[a-z_]+)` \|([^|]*)\|/gm)].map(
    ([, type, fields]) => [type!, fields!],
  ),
);

describe("docs/events.md", () => {
  it("has a row for every event, and for nothing else", () => {
    expect([...rows.keys()].sort()).toEqual(Object.keys(SHAPES).sort());
  });

  it.each(Object.entries(SHAPES))("names every field of %s", (type, shape) => {
    const missing = Object.keys(shape).filter((field) => !rows.get(type)?.includes(`\`${field}\``));
    expect(missing).toEqual([]);
  });
});
