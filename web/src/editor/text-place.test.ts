import { describe, expect, it } from "vitest";
import { workflowJsonSchema } from "../../../src/file/json-schema.js";
import { docAt, keysAt, placeAt, type SchemaPart, valuesAt } from "./text-completion.js";

/** `|` marks the cursor. */
function place(text: string) {
  const at = text.indexOf("|");
  const before = text.slice(0, at).split("\n");
  return placeAt(
    (text.slice(0, at) + text.slice(at + 1)).split("\n"),
    before.length - 1,
    before.at(-1)!.length,
  );
}

const schema = workflowJsonSchema() as SchemaPart;

describe("where in a text something is typed", () => {
  it.each([
    ["st|", [], "st", null],
    ["steps:\n  build:\n    on_|", ["steps", "build"], "on_", null],
    ["steps:\n  build:\n    |", ["steps", "build"], "", null],
    ["steps:\n  build: { exec: x }\n  |", ["steps"], "", null],
    ["steps:\n  build:\n    run: |-\n      on_fail: no\n    exec: |", ["steps", "build"], "", "exec"],
    ["steps:\n  a:\n    on_fail: { retry: { ma|", ["steps", "a", "on_fail", "retry"], "ma", null],
    [
      "steps: { a: { on_fail: { retry: { max: 1, backoff: { mode: ex|",
      ["steps", "a", "on_fail", "retry", "backoff"],
      "ex",
      "mode",
    ],
    ["transitions:\n  - from: a\n    o|", ["transitions", 0], "o", null],
    ["transitions:\n- from: a\n- from: b\n  on: f|", ["transitions", 1], "f", "on"],
    ["transitions:\n  - { from: a, on: |", ["transitions", 0], "", "on"],
    ["transitions: [{ from: a }, { t|", ["transitions", 0], "t", null],
    ['steps:\n  "a b":\n    t|', ["steps", "a b"], "t", null],
  ])("%j", (text, path, word, key) => {
    // A literal block needs its own bar.
    const shown = text.includes("run: |-") ? text.replace("run: |-", "run: >-") : text;
    expect(place(shown)).toEqual({ path, word, key });
  });
});

describe("what may stand there", () => {
  it("are the keys of our own schema with what they mean", () => {
    expect(keysAt(schema, []).map(({ key }) => key)).toContain("failure_policy");
    expect(keysAt(schema, ["steps", "build"]).map(({ key }) => key)).toEqual(
      expect.arrayContaining(["depends_on", "on_fail", "exec"]),
    );
    expect(keysAt(schema, ["steps", "build", "on_fail", "retry"]).map(({ key }) => key)).toContain("backoff");
    expect(docAt(schema, ["transitions", 0], "priority")).toContain("Lower numbers are tried first");
  });

  it("are the words that a value may be", () => {
    expect(valuesAt(schema, ["transitions", 0, "on"])).toEqual(["success", "failure", "any"]);
    expect(valuesAt(schema, ["steps", "a", "continue_on_failure"])).toEqual(["true", "false"]);
  });
});
