import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { charsOf, type Excerpt } from "../../../core/text/head-tail.js";
import { LOG_PART_BYTES, readLogEnds } from "../failure-context-files.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-log-ends-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function endsOf(content: string | Buffer) {
  const file = join(folder, "log");
  writeFileSync(file, content);
  return readLogEnds(file);
}

describe("the ends of a log", () => {
  it("are the whole log up to twice the size of one", () => {
    const text = "x".repeat(2 * LOG_PART_BYTES);
    expect(endsOf(text)).toBe(text);
    expect(endsOf(`${text}y`)).toEqual({
      head: "x".repeat(LOG_PART_BYTES),
      tail: `${"x".repeat(LOG_PART_BYTES - 1)}y`,
      omittedChars: 1,
    });
  });

  it("are nothing of a log that is not there", () => {
    expect(readLogEnds(join(folder, "nowhere"))).toBe("");
  });

  it.each([
    ["ASCII", "0123456789abcdef"],
    ["two and three bytes a character", "aé€"],
    ["surrogate pairs", "ab🎉c"],
    ["plain pieces between others", `${"p".repeat(1024 * 1024)}${"🎉".repeat(70_000)}`],
  ])("count the characters of the whole log, of %s, as its text would", (_, unit) => {
    const text = unit.repeat(Math.ceil(2_500_000 / unit.length));
    const ends = endsOf(text) as Excerpt;
    expect(charsOf(ends)).toBe(text.length);
    expect(text.startsWith(ends.head)).toBe(true);
    expect(text.endsWith(ends.tail)).toBe(true);
  });

  it("count what is no UTF-8 as the marks it is read as", () => {
    const bytes = Buffer.alloc(300_000, 0xff);
    expect(charsOf(endsOf(bytes))).toBe(300_000);
  });
});
