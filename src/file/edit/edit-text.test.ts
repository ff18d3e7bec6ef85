import { describe, expect, it } from "vitest";
import { loadDefinition } from "../load.js";
import { editText, type WorkflowEdit } from "./edit-text.js";

const STEPS = `# Ships it.
name: ship   # not to be confused with boat
steps:
  build: { exec: make }          # fast
  undo:  {exec: "make undo"}
  tell:  {exec: tell}
`;
const IN_LINES = `${STEPS}
# where failures go
transitions:
  - from: build   # the one that fails
    to: undo
    on: failure

  - from: build
    to: tell
    on: success
    when: |
      outputs.build.size > 3
# the end
`;
const IN_BRACES = `${STEPS}transitions:
- { from: build, to: undo, on: failure, priority: 1 } # first
- {from: build, to: tell, on: failure, priority: 2}
env: { A: "1" }
`;

const transitionsOf = (text: string) => {
  const loaded = loadDefinition(text, {
    file: "ship.yaml",
    checkExpression: () => null,
    checkTemplate: () => null,
  });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
  return loaded.definition.transitions.map(({ from, to, on, priority, when }) => ({
    from,
    to,
    on,
    priority,
    when,
  }));
};

/** Lines that are in one of the two only. */
function changesOf(before: string, after: string): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `-${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`),
  ];
}

describe("a transition that is drawn", () => {
  const edge = { from: "build", to: "tell", on: "failure" } as const;

  it("comes to a text that has none, behind all that it has", () => {
    const after = editText(STEPS, { action: "add", keys: edge });
    expect(after).toBe(`${STEPS}transitions:\n  - { from: build, to: tell, on: failure }\n`);
    expect(transitionsOf(after)).toEqual([{ ...edge, priority: 1, when: null }]);
    const unended = editText(STEPS.trimEnd(), { action: "add", keys: edge });
    expect(unended).toBe(after);
  });

  it.each([
    ["transitions:\n", "transitions:\n  - { from: build, to: tell, on: failure }\n"],
    ["transitions:", "transitions:\n  - { from: build, to: tell, on: failure }"],
    ["transitions: []\n", "transitions: [{ from: build, to: tell, on: failure }]\n"],
  ])("fills an empty list %j", (list, filled) => {
    expect(editText(STEPS + list, { action: "add", keys: edge })).toBe(STEPS + filled);
  });

  it("is written like the last of the list, and nothing else changes", () => {
    const inLines = editText(IN_LINES, { action: "add", keys: { ...edge, priority: 5 } });
    expect(inLines).toBe(
      IN_LINES.replace(
        "# the end",
        "  - from: build\n    to: tell\n    on: failure\n    priority: 5\n# the end",
      ),
    );
    const inBraces = editText(IN_BRACES, { action: "add", keys: { ...edge, priority: 5 } });
    expect(changesOf(IN_BRACES, inBraces)).toEqual([
      "+- { from: build, to: tell, on: failure, priority: 5 }",
    ]);
    expect(transitionsOf(inBraces)).toHaveLength(3);
  });

  it("keeps JSON JSON", () => {
    const json = '{\n  "steps": { "a": { "exec": "x" }, "b": { "exec": "y" } }\n}\n';
    const after = editText(json, { action: "add", keys: { from: "a", to: "b", on: "failure" } }, "ship.json");
    expect(JSON.parse(after).transitions).toEqual([{ from: "a", to: "b", on: "failure" }]);
    const more = editText(after, {
      action: "change",
      transition: 1,
      keys: { priority: 3, when: "error.code == 'X'" },
    });
    expect(JSON.parse(more).transitions).toEqual([
      { from: "a", to: "b", on: "failure", priority: 3, when: "error.code == 'X'" },
    ]);
    expect(JSON.parse(editText(more, { action: "remove", transition: 1 })).transitions).toEqual([]);
  });
});

describe("a transition that is changed", () => {
  it("has its value replaced where it stands, with what stands around it", () => {
    const after = editText(IN_LINES, { action: "change", transition: 1, keys: { on: "any", to: "tell" } });
    expect(changesOf(IN_LINES, after)).toEqual(["-    to: undo", "-    on: failure", "+    on: any"]);
    const inBraces = editText(IN_BRACES, { action: "change", transition: 2, keys: { priority: 7 } });
    expect(changesOf(IN_BRACES, inBraces)).toEqual([
      "-- {from: build, to: tell, on: failure, priority: 2}",
      "+- {from: build, to: tell, on: failure, priority: 7}",
    ]);
  });

  it("gets keys that it had not", () => {
    const when = { type: "comparison", left: "error.class", operator: "==", right: "resource" };
    const after = editText(IN_LINES, { action: "change", transition: 1, keys: { when, priority: 4 } });
    expect(changesOf(IN_LINES, after)).toEqual([
      "+    priority: 4",
      '+    when: { type: comparison, left: error.class, operator: "==", right: resource }',
    ]);
    expect(transitionsOf(after)[0]).toMatchObject({ priority: 4, when: { type: "comparison" } });
  });

  it("says what becomes of a failure, and no longer", () => {
    const said = editText(IN_BRACES, { action: "change", transition: 1, keys: { then: "continue" } });
    expect(changesOf(IN_BRACES, said)).toEqual([
      "-- { from: build, to: undo, on: failure, priority: 1 } # first",
      "+- { from: build, to: undo, on: failure, priority: 1, then: continue } # first",
    ]);
    expect(editText(said, { action: "change", transition: 1, keys: { then: null } })).toBe(IN_BRACES);
    expect(editText(IN_BRACES, { action: "change", transition: 1, keys: { then: null } })).toBe(IN_BRACES);
  });

  it("loses a condition of several lines, or gets another", () => {
    const without = editText(IN_LINES, { action: "change", transition: 2, keys: { when: null } });
    expect(changesOf(IN_LINES, without)).toEqual(["-    when: |", "-      outputs.build.size > 3"]);
    const other = editText(IN_LINES, { action: "change", transition: 2, keys: { when: "outputs.build.ok" } });
    expect(other).toContain("    when: outputs.build.ok\n# the end\n");
  });

  it("loses its first key, and the next one follows the dash", () => {
    const text = `${STEPS}transitions:\n  - priority: 3\n    from: build\n    to: undo\n`;
    expect(editText(text, { action: "change", transition: 1, keys: { priority: null } })).toBe(
      `${STEPS}transitions:\n  - from: build\n    to: undo\n`,
    );
  });

  it("keeps the words that its file has for the keys", () => {
    const text = `${STEPS}transitions:\n  - { from_node_id: build, to_node_id: undo, condition: "a" }\n`;
    const keys = { to: "tell", when: "b", on: "failure" } as const;
    expect(editText(text, { action: "change", transition: 1, keys })).toContain(
      "{ from_node_id: build, to_node_id: tell, condition: b, on: failure }",
    );
  });

  it("keeps the line ends that its file has", () => {
    const text = IN_LINES.replaceAll("\n", "\r\n");
    const after = editText(text, { action: "change", transition: 1, keys: { priority: 4 } });
    expect(after).toBe(
      editText(IN_LINES, { action: "change", transition: 1, keys: { priority: 4 } }).replaceAll("\n", "\r\n"),
    );
  });

  it("quotes what would be read as something else", () => {
    const keys = { from: "true", to: "a: b", when: 'x == "y"\n' };
    expect(editText(STEPS, { action: "add", keys })).toContain(
      '- { from: "true", to: "a: b", when: "x == \\"y\\"\\n" }',
    );
  });
});

describe("a transition that is removed", () => {
  it("goes with its own lines only", () => {
    expect(changesOf(IN_BRACES, editText(IN_BRACES, { action: "remove", transition: 1 }))).toEqual([
      "-- { from: build, to: undo, on: failure, priority: 1 } # first",
    ]);
    const left = editText(IN_LINES, { action: "remove", transition: 1 });
    expect(transitionsOf(left)).toMatchObject([{ to: "tell", priority: 1 }]);
    expect(left).toContain("# where failures go\ntransitions:\n\n  - from: build\n    to: tell\n");
  });

  it("takes the key with it if it was the last", () => {
    const one = `${STEPS}transitions:\n  - from: build\n    to: undo\n# the end\n`;
    expect(editText(one, { action: "remove", transition: 1 })).toBe(`${STEPS}# the end\n`);
  });
});

describe("what no program can edit", () => {
  it.each<[string, string, WorkflowEdit]>([
    ["a text that cannot be read", "steps: [", { action: "remove", transition: 1 }],
    ["a place that is not there", IN_BRACES, { action: "remove", transition: 3 }],
    [
      "an alias",
      `${STEPS}transitions: [&a {from: build, to: undo}, *a]\n`,
      { action: "change", transition: 2, keys: {} },
    ],
    ["a list elsewhere", `x: &a []\n${STEPS}transitions: *a\n`, { action: "add", keys: {} }],
  ])("is refused: %s", (_, text, edit) => {
    expect(() => editText(text, edit)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });
});

describe("a step that waits for another", () => {
  const depend = (text: string, from: string, to: string) => editText(text, { action: "depend", from, to });
  const release = (text: string, from: string, to: string) => editText(text, { action: "release", from, to });

  it("says so in its own words, and no other line changes", () => {
    const once = depend(STEPS, "build", "undo");
    expect(changesOf(STEPS, once)).toEqual([
      '-  undo:  {exec: "make undo"}',
      '+  undo:  {exec: "make undo", depends_on: [build]}',
    ]);
    const twice = depend(once, "tell", "undo");
    expect(twice).toContain("depends_on: [build, tell]");
    expect(release(twice, "build", "undo")).toContain("depends_on: [tell]");
    expect(release(once, "build", "undo")).toBe(STEPS);
  });

  it.each([
    ["    depends_on: a", "    depends_on: [a, b]"],
    ["    depends_on: [a|c] # either", "    depends_on: [a|c, b] # either"],
    ["    depends_on: []", "    depends_on: [b]"],
    ["    depends_on:\n      - a # first", "    depends_on:\n      - a # first\n      - b"],
    ["    depends_on:\n    - a", "    depends_on:\n    - a\n    - b"],
  ])("keeps what it has: %j", (before, after) => {
    const text = (lines: string): string =>
      `steps:\n  d:\n    exec: x\n${lines}\n    retry: 1\n  b: { exec: y }\n`;
    expect(depend(text(before), "b", "d")).toBe(text(after));
    if (!before.includes("[]") && !before.endsWith(": a"))
      expect(release(text(after), "b", "d")).toBe(text(before));
  });

  it("is taken out with its key where it is the last, first or in braces", () => {
    const block = "steps:\n  d:\n    depends_on: b\n    exec: x\n  b: { exec: y }\n";
    expect(release(block, "b", "d")).toBe("steps:\n  d:\n    exec: x\n  b: { exec: y }\n");
    const json = '{ "steps": { "b": { "exec": "y" }, "d": { "exec": "x", "depends_on": ["b"] } } }';
    expect(JSON.parse(release(json, "b", "d")).steps.d).toEqual({ exec: "x" });
    expect(JSON.parse(depend(json, "c", "d")).steps.d.depends_on).toEqual(["b", "c"]);
  });

  it("is refused where a program cannot change it", () => {
    expect(() => depend("steps: { d: { exec: x, depends_on: [b] } }", "b", "d")).toThrow(
      "waits for b already",
    );
    expect(() => release("steps: { d: { exec: x, depends_on: [a|b] } }", "b", "d")).toThrow(
      "does not wait for b",
    );
    expect(() => depend("steps: { b: { exec: x } }", "b", "nowhere")).toThrow(
      "not a step that is written out",
    );
  });
});
