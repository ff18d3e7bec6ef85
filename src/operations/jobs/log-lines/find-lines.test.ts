import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findLines, type LineRequest } from "./read-lines.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
function logOf(text: string): string {
  made += 1;
  const file = join(folder, `log-${made}`);
  writeFileSync(file, text);
  return file;
}

function find(file: string, request: Partial<LineRequest>) {
  return findLines(file, {
    lines: undefined,
    grep: undefined,
    regex: false,
    limitBytes: 1 << 20,
    ...request,
  });
}

async function linesOf(file: string, lines: string): Promise<string[]> {
  const { items } = await find(file, { lines });
  return items.map(({ line, text }) => `${line} ${text}`);
}

const numbered = (count: number): string =>
  Array.from({ length: count }, (_, place) => `row ${place + 1}\n`).join("");

describe("lines of a log by their numbers", () => {
  it("are those asked for: a range, to the end, the last ones, one alone", async () => {
    const file = logOf("a\n\nc\nd");
    expect(await linesOf(file, "2:3")).toEqual(["2 ", "3 c"]);
    expect(await linesOf(file, "3:")).toEqual(["3 c", "4 d"]);
    expect(await linesOf(file, "-2:")).toEqual(["3 c", "4 d"]);
    expect(await linesOf(file, "4")).toEqual(["4 d"]);
    expect(await linesOf(file, "9:12")).toEqual([]);
    expect(await find(file, { lines: "1:" })).toMatchObject({ total: 4, complete: true, next_line: null });
    expect(await find(logOf(""), { lines: "1:" })).toMatchObject({ total: 0, items: [] });
    expect(await find(join(folder, "none"), { lines: "1:" })).toMatchObject({ total: 0, items: [] });
  });

  it("are found in a file with far more lines than places are remembered", async () => {
    const file = logOf(numbered(100_000));
    expect(await linesOf(file, "99999:")).toEqual(["99999 row 99999", "100000 row 100000"]);
    expect(await linesOf(file, "16385:16386")).toEqual(["16385 row 16385", "16386 row 16386"]);
    const { items, next_line, total } = await find(file, { lines: "50001:" });
    expect([items.length, items[0]?.text, next_line, total]).toEqual([1_000, "row 50001", 51_001, 100_000]);
  });

  it("grow with the file, and an unfinished line is read again when it has its end", async () => {
    const file = logOf("one\ntw");
    expect(await linesOf(file, "1:")).toEqual(["1 one", "2 tw"]);
    appendFileSync(file, "o\nERROR: three");
    expect(await find(file, { lines: "2:" })).toMatchObject({
      items: [
        { line: 2, text: "two" },
        { line: 3, text: "ERROR: three", error: true },
      ],
      error_lines: [3],
      error_count: 1,
    });
    truncateSync(file, 0);
    expect(await linesOf(file, "1:")).toEqual([]);
  });

  it("are read in parts where the answer would be too long", async () => {
    const file = logOf(numbered(10));
    expect(await find(file, { lines: "1:", limitBytes: 20 })).toMatchObject({
      items: [{ line: 1 }, { line: 2 }, { line: 3 }, { line: 4 }],
      next_line: 5,
    });
  });

  it("show the beginning of a line of 3 MB and say where the whole of it lies", async () => {
    const long = "é".repeat(1_500_000);
    const file = logOf(`before\n${long}\nafter\n${"y".repeat(5_000)}`);
    const { items, total } = await find(file, { lines: "1:" });
    expect(items.map(({ line, text, cut }) => [line, text.length, cut])).toEqual([
      [1, 6, undefined],
      [2, 2_048, { offset: 7, bytes: 3_000_000 }],
      [3, 5, undefined],
      [4, 4_096, { offset: 3_000_014, bytes: 5_000 }],
    ]);
    expect(total).toBe(4);
  });

  it("look like errors by the rule of the failure summary, colours or not", async () => {
    const file = logOf("ok\n\u001b[31mFAIL\u001b[0m parser\n0 errors\n✗ lexer\nfine\nTypeError: x\n");
    expect((await find(file, { lines: "1:1" })).error_lines).toEqual([2, 4, 6]);
  });
});

describe("a search in a log", () => {
  it("finds a text whatever its case, and only in the lines asked for", async () => {
    const file = logOf("Connection Refused\nok\nconnection refused\n\u001b[1mconn\u001b[0mection refused\n");
    const found = async (request: Partial<LineRequest>) =>
      (await find(file, request)).items.map(({ line }) => line);
    expect(await found({ grep: "connection refused" })).toEqual([1, 3, 4]);
    expect(await found({ grep: "connection refused", lines: "2:3" })).toEqual([3]);
    expect(await found({ grep: "conn.*refused" })).toEqual([]);
    expect(await found({ grep: "^conn.*refused$", regex: true })).toEqual([3, 4]);
  });

  it("refuses what is no expression", async () => {
    await expect(find(logOf("a"), { grep: "(", regex: true })).rejects.toThrow(
      "grep is not a regular expression",
    );
  });

  it.each([
    ["many large counts", `${"[^\\n]{0,999}".repeat(70)}[^ab]`],
    ["a long group many times", `(?:${"abcdefghij".repeat(90)}){1000}`],
    ["counts within counts, again and again", "(?:.{0,30}){0,30}".repeat(6)],
  ])("refuses an expression that takes minutes for one line: %s", async (_, grep) => {
    await expect(find(logOf("a"), { grep, regex: true })).rejects.toThrow(
      "grep is not a regular expression: it is too large",
    );
  });

  it("looks at less of a long line the larger the expression is", async () => {
    const file = logOf(`${"ab".repeat(20_000)}!\n${"ab".repeat(1_000)}!\n`);
    const found = async (grep: string) =>
      (await find(file, { grep, regex: true })).items.map(({ line }) => line);
    expect(await found("b!")).toEqual([1, 2]);
    expect(await found(".{900}b!")).toEqual([2]);
  });

  it("stops at 1,000 matches and says where to go on", async () => {
    const file = logOf(numbered(1_200));
    const { items, next_line } = await find(file, { grep: "row" });
    expect([items.length, next_line]).toEqual([1_000, 1_001]);
  });
});
