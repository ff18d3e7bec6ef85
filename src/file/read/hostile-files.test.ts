import { describe, expect, it } from "vitest";
import { loadDefinition } from "../load.js";
import { MAX_FILE_CHARS } from "./source-document.js";
import { MAX_NESTING_LEVELS } from "./yaml-tree.js";

function load(text: string) {
  return loadDefinition(text, { file: "x.yaml", checkExpression: () => null, checkTemplate: () => null });
}

function summaryOf(text: string): string[] {
  const result = load(text);
  return result.ok
    ? []
    : result.problems.map(({ code, line, column, message }) => `${code} ${line}:${column} ${message}`);
}

const BARE = "text that begins with a template, or stands in `{ }` with one, must be in quotes";
const STEP = "steps: { a: { exec: x } }";

describe("hostile and broken files", () => {
  it.each([
    ["", "MISSING_KEY 1:1 the file is empty"],
    ["# only a comment\n", "MISSING_KEY 1:1 the file is empty"],
    ["- a\n", "WRONG_TYPE 1:1 expected a map, found a list"],
    ["just text", "WRONG_TYPE 1:1 expected a map, found text"],
    ["null", "WRONG_TYPE 1:1 expected a map, found nothing"],
    ["steps:\n\ta: {exec: x}\n", "YAML_SYNTAX 2:1 a tab is used as indentation"],
    ["--- {a: 1}\n--- {b: 1}\n", "YAML_SYNTAX 2:1 the file holds more than one document"],
    ["%YAML 1.1\n---\na: yes\n", "YAML_SYNTAX 1:1 YAML 1.1 is not supported"],
    [`a: !!js/function x\n${STEP}`, "YAML_SYNTAX 1:4 unknown tag tag:yaml.org,2002:js/function"],
    [`? [a]\n: 1\n${STEP}`, "YAML_SYNTAX 1:1 a key must be plain text"],
    ["steps: { a: { exec: echo {{ inputs.x }}, cwd: y } }\n", `YAML_SYNTAX 1:26 ${BARE}`],
    ["steps: { a: { exec: {{ inputs.x }} } }\n", `YAML_SYNTAX 1:21 ${BARE}`],
    ["steps:\n  a:\n    exec: {{ inputs.x }}\n", `YAML_SYNTAX 3:11 ${BARE}`],
    ["steps:\n  a:\n    exec: {{ inputs.x }} --all\n", `YAML_SYNTAX 3:11 ${BARE}`],
    [
      "env: &e { A: x }\nsteps: { a: { exec: x, env: *f } }",
      "YAML_SYNTAX 2:29 the alias `*f` has no anchor before it",
    ],
    [`env: &e { A: *e }\n${STEP}`, "YAML_SYNTAX 1:14 the alias *e is inside its own anchor"],
    ["__proto__: 1\nsteps: { a: { exec: x } }", "UNKNOWN_KEY 1:1 unknown key `__proto__`"],
    [
      "steps: { __proto__: { exec: x } }",
      "INVALID_VALUE 1:10 `__proto__` is reserved and cannot be a step's id",
    ],
    ["steps: { a: { exec: x, __proto__: { forEach: true } } }", "UNKNOWN_KEY 1:24 unknown key `__proto__`"],
    [
      "env: { __proto__: x }\nsteps: { a: { exec: x } }",
      "INVALID_VALUE 1:8 `__proto__` is not allowed as a name",
    ],
    [
      "steps: { a: { type: noop, output: { __proto__: 1 } } }",
      "INVALID_VALUE 1:37 `__proto__` is not allowed as a key",
    ],
    [
      "steps: { a: { type: noop, output: 123456789012345678901 } }",
      "INVALID_VALUE 1:35 the number `123456789012345678901` cannot be represented exactly",
    ],
    [
      "steps: { a: { type: noop, output: [.inf] } }",
      "INVALID_VALUE 1:36 the number `.inf` cannot be represented exactly",
    ],
    [
      "steps: { a: { exec: x, implementaton: {} } }",
      "UNKNOWN_KEY 1:24 unknown key `implementaton`, did you mean `implementation`?",
    ],
    [
      "routing: { max_loops: .nan }\nsteps: { a: { exec: x } }",
      "INVALID_VALUE 1:23 `.nan` is outside what is allowed: a whole number from 0 to 1000000",
    ],
  ])("are refused with one clear problem: %j", (text, summary) => {
    expect(summaryOf(text)).toEqual([summary]);
  });

  it("may begin with a byte order mark, which does not move columns", () => {
    expect(summaryOf(`\uFEFF${STEP}`)).toEqual([]);
    expect(summaryOf(`\uFEFFstpes: 1\n${STEP}`)).toEqual([
      "UNKNOWN_KEY 1:1 unknown key `stpes`, did you mean `steps`?",
    ]);
  });

  it("may have Windows line ends", () => {
    expect(summaryOf("steps:\r\n  a:\r\n    exec: x\r\n    typo: 1\r\n")).toEqual([
      "UNKNOWN_KEY 4:5 unknown key `typo`, did you mean `type`?",
    ]);
  });

  it.each(["[", "{a: ", "- ", "? "])("nested 50,000 deep with %j are refused without a crash", (open) => {
    const close = open === "[" ? "]" : open === "{a: " ? "}" : "";
    const result = load(
      `a: ${open === "- " || open === "? " ? "\n  " : ""}${open.repeat(50_000)}${close.repeat(50_000)}\n${STEP}`,
    );
    expect(result.ok).toBe(false);
    expect(!result.ok && result.problems.every((problem) => problem.code === "YAML_SYNTAX")).toBe(true);
  });

  it("may nest up to the limit and not one level more", () => {
    const nested = (levels: number) =>
      `steps: { a: { type: noop, output: ${"[".repeat(levels)}${"]".repeat(levels)} } }`;
    const levelsAbove = 3;
    expect(summaryOf(nested(MAX_NESTING_LEVELS - levelsAbove + 1))).toEqual([]);
    expect(summaryOf(nested(MAX_NESTING_LEVELS - levelsAbove + 2))).toMatchObject([
      expect.stringContaining("nested more than"),
    ]);
  });

  it("cannot grow without end through aliases", () => {
    let text = "steps: { z: { type: noop, output: 1 } }\nl0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (let level = 1; level < 10; level++)
      text += `l${level}: &l${level} [${`*l${level - 1}, `.repeat(10)}]\n`;
    expect(summaryOf(text)).toMatchObject([expect.stringMatching(/^YAML_SYNTAX .*aliases add more than/)]);
  });

  it("may share values by anchors, aliases and merge keys; own keys win", () => {
    const result = load(`
steps:
  a: &a { exec: one, env: &env { A: "1" }, timeout_ms: 5 }
  b: { <<: *a, exec: two }
  c: { type: noop, <<: [{ env: *env }, { env: { A: "2" } }] }
`);
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    const [, b, c] = result.definition.steps;
    expect(b).toMatchObject({ action: { exec: "two" }, env: { A: "1" }, timeoutMs: 5 });
    expect(c).toMatchObject({ env: { A: "1" } });
    expect(summaryOf(`steps: { a: { exec: x, <<: 5 } }`)).toEqual([
      "YAML_SYNTAX 1:24 `<<` can merge only maps",
    ]);
  });

  it("tells a problem in a shared value once", () => {
    expect(summaryOf("steps:\n  a: { exec: x, env: &e { 1A: x } }\n  b: { exec: x, env: *e }\n")).toEqual([
      "INVALID_VALUE 2:27 `1A` is not allowed as a name",
    ]);
  });

  it("may hold a text of 1 MB, and show a long key only in part", () => {
    const long = "x".repeat(1024 * 1024);
    const result = load(`steps: { a: { exec: x, stdin: ${long} } }`);
    expect(result.ok && result.definition.steps[0]?.action.stdin).toBe(long);
    const [problem] = summaryOf(`${STEP}\n? ${"k".repeat(5_000)}\n: 1\n`);
    expect(problem!.length).toBeLessThan(200);
  });

  it("are refused in time that grows with the number of their unknown keys", () => {
    const keys = Array.from({ length: 80_000 }, (_, place) => `k${place}: 1`);
    expect(summaryOf(keys.join("\n"))).toHaveLength(keys.length + 1);
  });

  it("may not be larger than the limit", () => {
    expect(summaryOf(`#${"x".repeat(MAX_FILE_CHARS)}\n${STEP}`)).toMatchObject([
      expect.stringContaining("more than the"),
    ]);
  });

  it("with control characters in a name do not write them to the terminal", () => {
    expect(summaryOf(`"\\u001b[31mred\\u0007": 1\n${STEP}`)).toEqual([
      "UNKNOWN_KEY 1:1 unknown key `�[31mred�`",
    ]);
  });
});
