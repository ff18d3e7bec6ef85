import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, summaryOf } from "../../../test/support/workflow-text.js";
import { Findings } from "./problem.js";
import { readSource } from "./source-document.js";
import type { SourceNode } from "./source-tree.js";

const JSON5 = { file: "flow.json5" };

function plain(node: SourceNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plain);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
}

const readValue = (text: string) => plain(readSource(text, "x.json5", new Findings()).root!);

describe("a file that is called JSON", () => {
  it.each([
    '{\n  // the steps\n  "steps": { "a": { "exec": "true" } }\n}',
    '{ "steps": { "a": { "exec": "true" }, // one\n "b": { "exec": "true" } } }',
    '/* all */ { "steps": { "a": { "exec": "true" } } }',
  ])("and has comments should be called .json5: %s", (text) => {
    expect(problemsOf(text, { file: "flow.json" })).toMatchObject([
      { message: "JSON has no comments", hint: expect.stringContaining("`.json5`") },
    ]);
    expect(problemsOf(text, JSON5)).toEqual([]);
  });

  it("may have texts that look like comments", () => {
    const text = '{ "steps": { "a": { "exec": "echo [ // ]" } } }';
    expect(problemsOf(text, { file: "flow.json" })).toEqual([]);
  });
});

describe("JSON5", () => {
  it("is read with comments, bare keys, single quotes and trailing commas", () => {
    const text = `// a sweep
{
  name: 'sweep', /* of one */
  jobs: [
    { name: "a", command: 'echo "hi" \\
there', env: { N: +.5, H: 0x10, },
    },
  ],
}
`;
    expect(definitionOf(text, JSON5)).toMatchObject({
      name: "sweep",
      steps: [{ id: "a", action: { exec: 'echo "hi" there' }, env: { N: "+.5", H: "0x10" } }],
    });
  });

  it.each([
    ["[1, -2.5, .5, 5., 0xff, 1e3, +4, -0x1]", [1, -2.5, 0.5, 5, 255, 1000, 4, -1]],
    ["[Infinity, -Infinity]", [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ["[true, false, null]", [true, false, null]],
    ["{ 'a b': 1, $c: 2, ä: 3, true: 4 }", { "a b": 1, $c: 2, ä: 3, true: 4 }],
    ['"\\x41\\u0042\\n"', "AB\n"],
    ["\uFEFF{ a: 1 }", { a: 1 }],
  ])("has the values of %s", (text, value) => {
    expect(readValue(text)).toEqual(value);
  });

  it.each([
    ["{ jobs: [", "YAML_SYNTAX 1:10 "],
    ["{ jobs: [] } x", "YAML_SYNTAX 1:14 "],
    ["{ jobs: [,] }", "YAML_SYNTAX 1:10 "],
    ["{ jobs: run() }", "YAML_SYNTAX 1:9 "],
    ["{ get jobs() { return 1 } }", "YAML_SYNTAX 1:7 "],
    ["{ jobs: /a/ }", "YAML_SYNTAX 1:9 "],
    ["{ jobs: 'a\nb' }", "YAML_SYNTAX 1:9 "],
    ["{ jobs: '\\u12' }", "YAML_SYNTAX 1:10 "],
    ["{ jobs: 1 2 }", "YAML_SYNTAX 1:11 "],
    ["{ /* jobs: 1 }", "YAML_SYNTAX 1:3 "],
    ["", "YAML_SYNTAX 1:1 "],
    ["{\n  jobs: [{ name: 'a', comand: 'x' }] }", "MISSING_KEY 2:10 jobs[0]"],
    ["{ name: 'a', name: 'b', jobs: [{ name: 'a', command: 'x' }] }", "YAML_SYNTAX 1:14 name"],
    ["[".repeat(200), "YAML_SYNTAX 1:102 "],
  ])("tells at its place what is wrong with %.40s", (text, first) => {
    expect(summaryOf(text, JSON5)[0]).toBe(first);
  });

  it("refuses what is nested far too deeply instead of running out of stack", () => {
    const text = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(problemsOf(text, JSON5).map(({ code }) => code)).toEqual(["YAML_SYNTAX"]);
  });

  it("is not what a file with another ending is read as", () => {
    expect(problemsOf("// no\n{ jobs: [] }")[0]!.code).not.toBe("NO_START");
  });
});

describe("KDL", () => {
  it("is refused with what to do", () => {
    expect(problemsOf('name "x"', { file: "flow.kdl" })).toMatchObject([
      { code: "INVALID_VALUE", message: "Daruma does not read KDL", line: 1 },
    ]);
    expect(problemsOf('name "x"', { file: "flow.kdl" })[0]!.hint).toContain("YAML, JSON or JSON5");
  });
});
