import { describe, expect, it } from "vitest";
import { compareTexts, type DiffRow, maskedParts } from "./compare-attempts.js";

const end = (...lines: string[]) => ({ lines, firstLine: 1 });

const shown = (row: DiffRow): string => {
  switch (row.kind) {
    case "same":
      return `${row.other_line} ${row.line}   ${row.text}`;
    case "masked":
      return `${row.other_line} ${row.line} ~ ${row.parts.map(({ text, other }) => (other === undefined ? text : `[${other} → ${text}]`)).join("")}`;
    case "added":
      return `${row.line} + ${row.text}`;
    case "removed":
      return `${row.other_line} - ${row.text}`;
    case "skipped":
      return `${row.count} the same`;
  }
};

describe("two texts", () => {
  it("are the same, line for line", () => {
    expect(compareTexts(end("a", "b"), end("a", "b"))).toEqual({
      verdict: "same",
      changed: 0,
      rows: [{ kind: "skipped", count: 2 }],
      left_off: 0,
    });
  });

  it("differ only in times and ids, which is no difference", () => {
    const { verdict, rows } = compareTexts(
      end("start", "case 1 took 26ms", "pid 4711 ended"),
      end("start", "case 1 took 17ms", "pid 88 ended"),
    );
    expect(verdict).toBe("masked");
    expect(rows.map(shown)).toEqual([
      "1 the same",
      "2 2 ~ case 1 took [17ms → 26ms]",
      "3 3 ~ pid [88 → 4711] ended",
    ]);
  });

  it("differ in lines, with those around them and the numbers that they have in the whole text", () => {
    const before = { lines: ["a", "b", "c", "d", "e", "old", "f"], firstLine: 101 };
    const after = { lines: ["a", "b", "c", "d", "e", "new", "newer", "f"], firstLine: 1 };
    const { verdict, changed, rows } = compareTexts(after, before);
    expect([verdict, changed]).toEqual(["differs", 3]);
    expect(rows.map(shown)).toEqual([
      "2 the same",
      "103 3   c",
      "104 4   d",
      "105 5   e",
      "106 - old",
      "6 + new",
      "7 + newer",
      "107 8   f",
    ]);
  });

  it("are bounded: long lines, many masked lines, many rows", () => {
    const many = (word: string) => Array.from({ length: 3_000 }, (_, place) => `${word}${"ab"[place % 2]}`);
    const { rows, left_off, changed } = compareTexts(end(...many("x")), end(...many("y")));
    expect([rows.length, left_off, changed]).toEqual([1_000, 5_000, 6_000]);
    const durations = (ms: number) =>
      Array.from({ length: 20 }, (_, place) => `case ${"abcdefghijklmnopqrst"[place]} ${ms}ms`);
    expect(compareTexts(end(...durations(1)), end(...durations(2))).rows.map(({ kind }) => kind)).toEqual([
      ...Array.from({ length: 6 }, () => "masked"),
      "skipped",
    ]);
    const [row] = compareTexts(end("z".repeat(1_000_000)), end()).rows;
    expect(row).toMatchObject({ kind: "added", text: "z".repeat(2_000) });
  });
});

it("the parts of a line that are masked are told apart from the rest of it", () => {
  expect(maskedParts("at 10:00:01 in /tmp/a", "at 09:59:59 in /tmp/b")).toEqual([
    { text: "at " },
    { text: "10:00:01", other: "09:59:59" },
    { text: " in /tmp/" },
    { text: "a", other: "b" },
  ]);
});
