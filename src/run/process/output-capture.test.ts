import { describe, expect, it } from "vitest";
import { HeadCapture, TailCapture } from "./output-capture.js";

describe("capturing output", () => {
  it("keeps the head, in however many chunks it comes", () => {
    const head = new HeadCapture(10);
    for (const chunk of ["abc", "def", "ghi"]) head.push(Buffer.from(chunk));
    expect([head.text(), head.isCut]).toEqual(["abcdefghi", false]);
    head.push(Buffer.from("j"));
    expect([head.text(), head.isCut]).toEqual(["abcdefghij", false]);
    head.push(Buffer.from("k"));
    expect([head.text(), head.isCut]).toEqual(["abcdefghij", true]);
  });

  it("leaves out a character that the limit splits, but shows one that the process left unfinished", () => {
    const cut = new HeadCapture(4);
    cut.push(Buffer.from("aa☂"));
    expect(cut.text()).toBe("aa");
    const unfinished = new HeadCapture(10);
    unfinished.push(Buffer.from("aa☂").subarray(0, 4));
    expect(unfinished.text()).toBe("aa\ufffd");
  });

  it("copies, so that a chunk may be used again by its owner", () => {
    const chunk = Buffer.from("abc");
    const head = new HeadCapture(10);
    const tail = new TailCapture(2);
    head.push(chunk);
    tail.push(chunk);
    chunk.fill("x");
    expect([head.text(), tail.lines()]).toEqual(["abc", ["bc"]]);
  });

  it("has lines without titles, links, colours and marks that turn it", () => {
    const tail = new TailCapture(100);
    tail.push(Buffer.from("first\n\x1b]0;title\x07\x1b[1mthe \u202elast\x1b[0m line\x07\n\x1b[0m\n"));
    expect(tail.lines()).toEqual(["first", "the last line"]);
  });

  it("keeps the tail, in however many chunks it comes", () => {
    const tail = new TailCapture(6);
    for (const chunk of ["abc", "def", "g"]) tail.push(Buffer.from(chunk));
    expect(tail.lines()).toEqual(["bcdefg"]);
    tail.push(Buffer.from("0123456789"));
    expect(tail.lines()).toEqual(["456789"]);
    tail.push(Buffer.from("89\nab\n"));
    expect(tail.lines()).toEqual(["ab"]);
  });
});
