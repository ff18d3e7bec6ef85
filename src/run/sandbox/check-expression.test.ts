import { describe, expect, test } from "vitest";
import { checkExpression } from "./wrap-code.js";

describe("checking the syntax of an expression", () => {
  test.each([
    "true",
    "error.code === 'TIMEOUT'",
    "return error.stderr.includes('lint') ? ['lint-fix'] : []",
    "const n = attempt + 1;\nif (n > 2) return null;\nreturn 'setup'",
    "{ a: 1 }",
    "visit < 3 // three times at most",
    "/a(b)c/.test(error.message)",
    "const error = 1; return error",
  ])("%s is fine", (code) => {
    expect(checkExpression(code)).toBeNull();
  });

  test("says where it goes wrong", () => {
    expect(checkExpression("const n = 1;\nreturn n +* 2")).toEqual({
      message: "Unexpected token '*'",
      line: 2,
      column: 11,
    });
    expect(checkExpression("a b")).toMatchObject({ line: 1, column: 3 });
  });

  test.each([
    ["an empty one", "  \n"],
    ["an unfinished one", "error.code ==="],
    ["one that closes the function around it", "}); globalThis.wasRun = true; (function () {"],
    ["one that closes the function and calls it", "}).call(globalThis.wasRun = true); (function () {"],
    ["one that closes the brackets around it", "1); globalThis.wasRun = true; (2"],
    ["one that closes the list around it", "1]; globalThis.wasRun = true; [2"],
    ["an unfinished comment", "true /*"],
    ["sloppy code", "with (outputs) { return build }"],
    ["one nested too deeply", "(".repeat(100_000)],
  ])("refuses %s", (_, code) => {
    expect(checkExpression(code)?.message).toEqual(expect.any(String));
    expect(globalThis).not.toHaveProperty("wasRun");
  });

  test("never runs what it compiles", () => {
    expect(checkExpression("globalThis.wasRun = true")).toBeNull();
    expect(checkExpression("(() => { globalThis.wasRun = true })()")).toBeNull();
    expect(globalThis).not.toHaveProperty("wasRun");
  });
});
