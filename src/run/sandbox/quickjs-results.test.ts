import { afterAll, describe, expect, test } from "vitest";
import { MAX_SCRIPT_BYTES } from "../../core/model/action-traits.js";
import { MAX_EXPRESSION_BYTES } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import { createSandbox } from "./quickjs-sandbox.js";
import type { ExpectedResult } from "./sandbox.js";

const sandbox = createSandbox();
afterAll(() => sandbox.close());

const variables = {
  outputs: { build: { version: 3, files: ["a", "b"] } },
  error: { message: "module not found", stderr: "lint" },
  attempt: 2,
  foreach: null,
};

function evaluate(code: string, expects: ExpectedResult = "json") {
  return sandbox.evaluate({ code, variables, now: 1_234, expects });
}

async function valueFrom(code: string, expects: ExpectedResult = "json"): Promise<Json> {
  const result = await evaluate(code, expects);
  if (!result.ok) throw new Error(`${code}: ${result.code} ${result.reason}`);
  return result.value;
}

async function refusalOf(code: string, expects: ExpectedResult = "json"): Promise<string> {
  const result = await evaluate(code, expects);
  return result.ok ? `value ${JSON.stringify(result.value)}` : `${result.code}: ${result.reason}`;
}

describe("what code may be", () => {
  test.each<[string, Json]>([
    ["outputs.build.version + attempt", 5],
    ["return outputs.build.files.map((file) => file + '!')", ["a!", "b!"]],
    ["const n = attempt * 2; // twice\nreturn n", 4],
    ["{ a: attempt }", { a: 2 }],
    ["attempt // a comment at the end", 2],
    ["/module (\\w+) found/.exec(error.message)[1]", "not"],
    ["const error = 'own'; return error", "own"],
    ["foreach", null],
    ["'\\0\u00e9\u{1f600}' + '\\ud800'", "\0\u00e9\u{1f600}\ud800"],
    ["[...new Set([1, 1, 2])].concat(Math.max(3, 4), JSON.parse('[5]'))", [1, 2, 4, 5]],
  ])("%s", async (code, value) => {
    expect(await valueFrom(code)).toEqual(value);
  });

  test.each([
    "return +* 2",
    "}); globalThis.escaped = 1; (function () {",
    "1); globalThis.escaped = 1; (2",
    "",
  ])("a syntax error is refused: %s", async (code) => {
    expect(await refusalOf(`${code}\n)`)).toMatch(/^EXPRESSION_SYNTAX: /);
  });

  test("code that is too long is refused, and scripts may be longer than expressions", async () => {
    const code = (bytes: number) => `1${" ".repeat(bytes - 1)}`;
    expect(await valueFrom(code(MAX_EXPRESSION_BYTES), "boolean")).toBe(true);
    expect(await refusalOf(code(MAX_EXPRESSION_BYTES + 1), "boolean")).toMatch(/^EXPRESSION_TOO_LONG/);
    expect(await valueFrom(code(MAX_SCRIPT_BYTES))).toBe(1);
    expect(await refusalOf(code(MAX_SCRIPT_BYTES + 1))).toMatch(/^EXPRESSION_TOO_LONG/);
  });

  test.each([
    ["throw new TypeError('no')", "EXPRESSION_THREW: TypeError: no"],
    ["nothing.at.all", "EXPRESSION_THREW: ReferenceError: 'nothing' is not defined"],
    ["throw 'words'", "EXPRESSION_THREW: words"],
    ["throw null", "EXPRESSION_THREW: null"],
    ["throw { a: 1 }", 'EXPRESSION_THREW: {"a":1}'],
    ["throw Symbol('s')", "EXPRESSION_THREW: Symbol(s)"],
    ["throw { get a() { throw 1 } }", "EXPRESSION_THREW: an error that cannot be described"],
    ["throw 'x'.repeat(5000)", `EXPRESSION_THREW: ${"x".repeat(1000)}`],
  ])("what it throws is the reason: %s", async (code, refusal) => {
    expect(await refusalOf(code)).toBe(refusal);
  });
});

describe("what it may return", () => {
  test.each<[ExpectedResult, string, Json]>([
    ["boolean", "false", false],
    ["boolean", "outputs.build.files.length", true],
    ["boolean", "''", false],
    ["boolean", "null", false],
    ["boolean", "({ valueOf() { return false } })", true],
    ["step_id_or_null", "'setup'", "setup"],
    ["step_id_or_null", "null", null],
    ["step_id_or_null", "undefined", null],
    ["step_ids", "['a', 'b']", ["a", "b"]],
    ["step_ids", "[]", []],
    ["step_ids", "null", []],
    ["json", "undefined", null],
    ["json", "({ a: undefined, b: { toJSON: undefined }, c: [1, , NaN] })", { b: {}, c: [1, null, null] }],
    ["json", "({ get a() { return 1 } })", { a: 1 }],
    ["json", "new Proxy({ a: 1 }, {})", { a: 1 }],
    ["json", "({ toJSON() { return { really: 'this' } } })", { really: "this" }],
    ["json", "Object.prototype.toJSON = () => 'all the same'; return [{}]", "all the same"],
  ])("%s: %s", async (expects, code, value) => {
    expect(await valueFrom(code, expects)).toEqual(value);
  });

  test.each<[ExpectedResult, string, RegExp]>([
    ["boolean", "if (attempt > 5) return true", /: the expression is undefined$/],
    ["boolean", " outputs.tset ", /: the expression is undefined; does `outputs\.tset` exist\?$/],
    ["boolean", "(async () => false)()", /a promise/],
    ["step_id_or_null", "5", /should return a step id or null, but returned number/],
    ["step_id_or_null", "['a']", /but returned a list/],
    ["step_ids", "undefined", /: the expression is undefined$/],
    ["step_ids", "'a'", /should return a list of step ids, but returned string/],
    ["step_ids", "['a', 1]", /a list with something else in it/],
    ["step_ids", "[['a']]", /a list with something else in it/],
    ["step_ids", "({ length: 1, 0: 'a' })", /but returned object/],
    ["json", "() => 1", /a function/],
    ["json", "({ deep: [() => 1] })", /a function/],
    ["json", "({ a: Symbol() })", /a symbol/],
    ["json", "[10n]", /a bigint/],
    ["json", "const o = {}; o.o = o; return o", /circular/],
    ["json", "Promise.resolve(1)", /a promise/],
    ["json", "import('node:fs')", /a promise/],
    ["json", "new Map([[1, 2]])", /a Map/],
    ["json", "new Proxy({}, { ownKeys() { throw new Error('trap') } })", /trap/],
    ["json", "({ toJSON() { throw new Error('no JSON') } })", /no JSON/],
    ["json", '(JSON.parse(\'{"a": {"__proto__": {"polluted": 1}}}\'))', /__proto__/],
    ["json", "JSON.stringify = () => 'forged'; return () => 1", /a function/],
    ["step_id_or_null", "'a'.repeat(70000)", /too large/],
    ["json", "'\u20ac'.repeat(1500000)", /too large/],
    ["json", "'a'.repeat(5000000)", /too large/],
    ["json", "let a = []; for (let i = 0; i < 1000; i++) a = [a]; return a", /nested too deeply/],
  ])("%s refuses %s", async (expects, code, reason) => {
    const refusal = await refusalOf(code, expects);
    expect(refusal).toMatch(/^EXPRESSION_RESULT: /);
    expect(refusal).toMatch(reason);
  });

  test("a script may return more than an expression", async () => {
    expect(await valueFrom("'a'.repeat(1000000)")).toHaveLength(1_000_000);
  });
});

describe("what it sees", () => {
  test("only the language, its variables, and a clock that stands still", async () => {
    const names = await valueFrom("Object.getOwnPropertyNames(globalThis).sort()");
    expect(names).toEqual(
      [
        ..."undefined NaN Infinity globalThis Object Array String Number Boolean Symbol BigInt Math JSON RegExp".split(
          " ",
        ),
        ..."Map Set WeakMap WeakSet Proxy Reflect Promise Iterator parseInt parseFloat isNaN isFinite".split(
          " ",
        ),
        ..."decodeURI decodeURIComponent encodeURI encodeURIComponent".split(" "),
        ..."Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError".split(
          " ",
        ),
        ..."Date attempt error foreach outputs".split(" "),
      ].sort(),
    );
    expect(await valueFrom("[Date.now(), Object.keys(Date), typeof Date, typeof Math.random]")).toEqual([
      1_234,
      ["now"],
      "object",
      "undefined",
    ]);
  });

  test.each([
    "eval('1')",
    "new Function('return 1')()",
    "(() => {}).constructor('return 1')()",
    "[].map.constructor('return 1')()",
    "outputs.constructor.constructor('return 1')()",
    "Object.getPrototypeOf(async () => {}).constructor('return 1')()",
    "Object.getPrototypeOf(function* () {}).constructor('yield 1')()",
    "Object.getPrototypeOf(async function* () {}).constructor('yield 1')()",
    "Reflect.construct((class {}).constructor, ['return 1'])()",
    "delete Function.prototype.constructor",
    "new Date()",
    "process.exit(1)",
    "require('fs')",
  ])("no way to make code or to get out: %s", async (code) => {
    expect(await refusalOf(code)).toMatch(/^EXPRESSION_THREW: (TypeError|ReferenceError)/);
  });

  test.each([
    "outputs.build.version = 4",
    "outputs.build.files.push('c')",
    "outputs.build.files.length = 0",
    "delete outputs.build",
    "outputs.other = 1",
    "outputs = {}",
    "attempt++",
    "Object.defineProperty(outputs, 'x', { value: 1 })",
    "Object.setPrototypeOf(outputs.build, null)",
    "globalThis.outputs = 1",
    "Date.now = () => 0",
  ])("its variables are frozen: %s", async (code) => {
    expect(await refusalOf(code)).toMatch(/^EXPRESSION_THREW: TypeError/);
    expect(variables.outputs).toEqual({ build: { version: 3, files: ["a", "b"] } });
  });
});

describe("nothing stays", () => {
  test("what one evaluation does to the builtins is gone in the next", async () => {
    const pollute = `
      Array.prototype.map = () => 'polluted';
      Object.prototype.leak = 'polluted';
      globalThis.leak2 = 'polluted';
      Math.max = JSON.parse = String.prototype.includes = () => 'polluted';
      Object.getPrototypeOf(outputs.build.files).leak3 = 'polluted';
      Symbol.for('leak').description;
      Promise.resolve().then(() => { globalThis.later = 'polluted' });
      return 'done'`;
    const look =
      "[[1].map((x) => x), ({}).leak, typeof leak2, typeof later, Math.max(1, 2), [].leak3, 'a'.includes('b')]";
    const results = await Promise.all([pollute, look, pollute, look].map((code) => valueFrom(code)));
    const clean = [[1], null, "undefined", "undefined", 2, null, false];
    expect(results).toEqual(["done", clean, "done", clean]);
    expect(await valueFrom(look)).toEqual(clean);
    expect(({} as { leak?: string }).leak).toBeUndefined();
  });

  test("a thousand evaluations at once each get their own right result", async () => {
    const results = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        sandbox.evaluate({
          code: "globalThis.count = (globalThis.count ?? 0) + 1; return [n * 2, Date.now(), count]",
          variables: { n },
          now: n,
          expects: "json",
        }),
      ),
    );
    expect(results.map((result) => result.ok && result.value)).toEqual(
      Array.from({ length: 1_000 }, (_, n) => [n * 2, n, 1]),
    );
  });
});
