import { describe, expect, it } from "vitest";
import { StepOutput } from "./step-output.js";

function told(...pieces: readonly (string | Uint8Array)[]): string[] {
  const lines: string[] = [];
  const output = new StepOutput((name, more) => lines.push(...more.map((line) => `${name}: ${line}`)));
  for (const piece of pieces) output.take("1", "build", Buffer.from(piece as string));
  output.end("1", "build");
  return lines;
}

describe("what a step prints", () => {
  it("is told in whole lines, however it comes in", () => {
    expect(told("on", "e\ntw", "o\n\nthree")).toEqual([
      "build: one",
      "build: two",
      "build: ",
      "build: three",
    ]);
  });

  it("keeps characters whole that lie in two pieces", () => {
    const bytes = Buffer.from("達磨\n");
    expect(told(bytes.subarray(0, 2), bytes.subarray(2))).toEqual(["build: 達磨"]);
  });

  it("cannot move the cursor, set a title or clear the screen", () => {
    expect(told("\x1b[2J\x1b[31mred\x1b[0m\x07\n", "\x1b]0;title\x07ok\r\n")).toEqual([
      "build: red",
      "build: ok",
    ]);
  });

  it("tells a line that is drawn again and again as it stands in the end", () => {
    expect(told("10%\r50%\r", "100%\n")).toEqual(["build: 100%"]);
  });

  it("does not wait for the end of a line that never comes", () => {
    expect(told("x".repeat(20_000)).map((line) => line.length - "build: ".length)).toEqual([
      8192, 8192, 3616,
    ]);
  });

  it("keeps streams apart", () => {
    const lines: string[] = [];
    const output = new StepOutput((name, more) => lines.push(...more.map((line) => `${name}: ${line}`)));
    output.take("a", "build", Buffer.from("left"));
    output.take("b", "test", Buffer.from("right\n"));
    output.take("a", "build", Buffer.from(" half\n"));
    expect(lines).toEqual(["test: right", "build: left half"]);
  });
});
