import { describe, expect, it } from "vitest";
import { embedReport, fitting, fittingLast, MARKS, scriptJson } from "./embed-report.js";

const TEMPLATE = `<title>${MARKS.title}</title><noscript>${MARKS.plain}</noscript><script>${MARKS.data}</script>end`;
const HOSTILE = "</script><!-- $& $1 %daruma-data% \u202e\u2028\u0000\ufeff\ud800 &amp;";

describe("a run in its page", () => {
  it("is the same again when the page reads it, and no text of it ends an element", () => {
    const page = embedReport(TEMPLATE, { title: HOSTILE, plain: HOSTILE, data: { text: HOSTILE } })!;
    const [, title, plain, data] =
      /^<title>(.*)<\/title><noscript>(.*)<\/noscript><script>(.*)<\/script>end$/s.exec(page)!;
    for (const text of [title, plain, data]) expect(text).not.toContain("<");
    expect(JSON.parse(data!)).toEqual({ text: HOSTILE });
    expect(data).not.toMatch(/[\u202e\u2028\ufeff\ud800]/);
  });

  it("goes into no other page", () => {
    expect(embedReport("<script></script>", { title: "", plain: "", data: {} })).toBeNull();
  });
});

describe("what fits", () => {
  const items = ["aaaa", "<<<<", "cccc"];

  it("is counted as it is written, from the beginning or from the end", () => {
    expect(scriptJson("<<<<")).toHaveLength(26);
    expect(fitting(items, 6 + 26)).toEqual(["aaaa", "<<<<"]);
    expect(fitting(items, 6 + 25)).toEqual(["aaaa"]);
    expect(fittingLast(items, 6 + 26)).toEqual(["<<<<", "cccc"]);
    expect(fitting(items, 1_000)).toBe(items);
  });
});
