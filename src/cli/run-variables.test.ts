import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readContext, readInputs } from "./commands/run/run-flags.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-variables-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function contextFile(text: string): string {
  const file = join(folder, "context.json");
  writeFileSync(file, text);
  return file;
}

describe("--input", () => {
  it("splits at the first equals sign and keeps the rest as it is", () => {
    expect(readInputs(["a=1", "url=http://x/?q=1", "empty="])).toEqual({
      a: "1",
      url: "http://x/?q=1",
      empty: "",
    });
  });

  it.each([[["nothing"]], [["=value"]], [["a=1", "a=2"]]])("refuses %j", (pairs) => {
    expect(() => readInputs(pairs)).toThrow(expect.objectContaining({ code: "USAGE" }));
  });

  it("takes even __proto__ for a plain name", () => {
    expect(Object.keys(readInputs(["__proto__=x"]))).toEqual(["__proto__"]);
  });
});

describe("--context", () => {
  it("gives the keys of a JSON object", () => {
    expect(readContext(contextFile('{"pr": {"number": 7}}'))).toEqual({ pr: { number: 7 } });
  });

  it.each([["[1]"], ["7"], ["{"], ['{"outputs": {}}']])("refuses %j", (text) => {
    expect(() => readContext(contextFile(text))).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });

  it("refuses a file that is not there", () => {
    expect(() => readContext(join(folder, "none.json"))).toThrow(
      expect.objectContaining({ code: "FILE_NOT_FOUND" }),
    );
  });
});
