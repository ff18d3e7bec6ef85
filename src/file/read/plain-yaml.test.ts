import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPlainYaml } from "./plain-yaml.js";
import { Findings } from "./problem.js";
import type { SourceNode } from "./source-tree.js";
import { MAX_NESTING_LEVELS, readAnyYaml, readYaml } from "./yaml-tree.js";

const ROOT = resolve(import.meta.dirname, "../../..");
const CASES = Number(process.env.YAML_CASES ?? 500);

/** Every YAML file of the examples, and every YAML or JSON block of the documents. */
function corpus(): string[] {
  const filesIn = (folder: string, ending: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(ending))
      .map((name) => readFileSync(join(ROOT, folder, name), "utf8"));
  const documents = [...filesIn("docs", ".md"), readFileSync(join(ROOT, "README.md"), "utf8")];
  const blocks = documents.flatMap((text) =>
    [...text.matchAll(/```(?:yaml|json)\n(.*?)```/gs)].map((match) => match[1]!),
  );
  return [...filesIn("examples", ".yaml"), ...blocks];
}

const TEXTS = corpus();

function full(text: string): SourceNode | null {
  return readAnyYaml(text, new Findings()).root;
}

function expectSame(text: string): boolean {
  const plain = readPlainYaml(text, MAX_NESTING_LEVELS);
  if (plain !== null) expect({ text, tree: plain }).toEqual({ text, tree: full(text) });
  return plain !== null;
}

describe("the reader of plain YAML", () => {
  it("reads every file of the corpus as the full parser does, and most of them itself", () => {
    const own = TEXTS.filter(expectSame).length;
    expect(TEXTS.length).toBeGreaterThan(50);
    expect(own / TEXTS.length).toBeGreaterThan(0.85);
  });

  it("reads a file that was damaged anywhere as the full parser does, or leaves it", () => {
    const scrap = fc.oneof(
      fc.constantFrom(
        ..." \n:#-,[]{}'\"|>&*!?%@\\~",
        "- ",
        ": ",
        " #",
        "\n  ",
        "\n- ",
        "---\n",
        "<<",
        "''",
        "\n\n",
      ),
      fc.string({ maxLength: 3 }),
    );
    let own = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...TEXTS),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 4 }), scrap), { minLength: 1, maxLength: 3 }),
        (text, edits) => {
          let damaged = text.slice(0, 2_000);
          for (const [place, removed, added] of edits) {
            const at = place % (damaged.length + 1);
            damaged = damaged.slice(0, at) + added + damaged.slice(at + removed);
          }
          if (expectSame(damaged)) own++;
        },
      ),
      { numRuns: CASES },
    );
    expect(own).toBeGreaterThan(CASES / 10);
  });

  it("reads random short texts as the full parser does, or leaves them", () => {
    const piece = fc.constantFrom(
      ..."ab1 \n:-#,[]{}'\"|.~",
      "  ",
      "\n  ",
      "\n    ",
      "- ",
      ": ",
      "k: ",
      "\nk: ",
      "\n- ",
      "|\n",
      "|-\n  ",
      "0x1f",
      "1e3",
      "true",
      "null",
      '"\\n"',
      "'it''s'",
    );
    let own = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        if (expectSame(pieces.join(""))) own++;
      }),
      { numRuns: CASES * 4 },
    );
    expect(own).toBeGreaterThan(CASES / 25);
  });

  it.each([
    [
      "scalars of every kind",
      "a: 1\nb: 1.50\nc: yes\nd: True\ne: ~\nf: 0o17\ng: 0x1F\nh: -.inf\ni: 1e3\nj: 007\nk: +1\n",
    ],
    ["quoted scalars and keys", "'a b': \"x\\ty\\u00e9\"\n\"c\": 'it''s'\n1: {\"d\":1, e: [x y, 'z']}\n"],
    ["lists without indentation and lists of lists", "a:\n- b\n- - c\n  - d: 1\n    e: 2\nf:\n  - g\n"],
    ["literal texts", "a: |\n  one\n\n    two\n  three   \n\n\nb: |-\n   x\n# c\nc: 1\n"],
    ["a literal text at the end of the file", "a:\n  - |\n   x\n   y"],
    ["comments", "# top\na: 1 # one\n  # odd place\nb: # below\n  c: 'x' # quoted\n  # end\n"],
    ["JSON", '{\n  "steps": {\n    "a": {"run": "echo \\"hi\\"", "needs": []}\n  },\n  "n": -1.5e3\n}\n'],
    ["empty values and repeated keys", "a:\nb: 1\na: 2\nc:\n"],
    ["brackets over several lines", "a: [\n  1,\n  {b: 2,\n    c: 3},\n  ]\nd: x\n"],
  ])("reads %s itself", (_name, text) => {
    expect(expectSame(text)).toBe(true);
  });

  it.each([
    ["an anchor", "a: &x 1\nb: *x\n"],
    ["a merge", "a: 1\n<<: {b: 2}\n"],
    ["a tag", "a: !!str 1\n"],
    ["a folded text", "a: >\n  b\n  c\n"],
    ["a text over two lines", "a: b\n  c\n"],
    ["a tab", "a:\tb\n"],
    ["a document mark", "---\na: 1\n"],
    ["a colon within a value", "a: b: c\n"],
    ["a key without a colon", "a: 1\nb\n"],
    ["a wrong indentation", "a:\n    b: 1\n  c: 2\n"],
    ["brackets that never close", "a: [1, 2\n"],
    ["an empty file", "\n# nothing\n"],
  ])("leaves %s to the full parser", (_name, text) => {
    expect(readPlainYaml(text, MAX_NESTING_LEVELS)).toBeNull();
  });

  it("leaves what is nested too deeply to the full parser, which refuses it", () => {
    const text = `a: ${"[".repeat(200)}${"]".repeat(200)}\n`;
    expect(readPlainYaml(text, MAX_NESTING_LEVELS)).toBeNull();
    const findings = new Findings();
    expect(readYaml(text, findings).root).toBeNull();
    expect(findings.errors[0]?.code).toBe("YAML_SYNTAX");
  });

  it("gives the same lines and columns", () => {
    const text = "steps:\n  a: {run: x}\n  b:\n    run: y\n";
    const read = readYaml(text, new Findings());
    const slow = readAnyYaml(text, new Findings());
    for (let offset = 0; offset <= text.length; offset++)
      expect(read.text.positionOf(offset)).toEqual(slow.text.positionOf(offset));
  });
});
