import { describe, expect, it } from "vitest";
import { loadDefinition } from "../load.js";

interface Mended {
  readonly words: readonly (string | undefined)[];
  readonly text: string;
}

/** Applies every fix once, last first. */
function mend(text: string): Mended {
  const loaded = loadDefinition(text, {
    file: "ship.yaml",
    checkExpression: () => null,
    checkTemplate: () => null,
  });
  if (loaded.ok) return { words: [], text };
  const lines = text.split("\n");
  const starts = lines.map((_, at) => lines.slice(0, at).join("\n").length + (at === 0 ? 0 : 1));
  let mended = text;
  for (const { fix } of loaded.problems.toReversed()) {
    if (fix === undefined) continue;
    const [from, to] = [
      starts[fix.line - 1]! + fix.column - 1,
      starts[fix.end_line - 1]! + fix.end_column - 1,
    ];
    mended = mended.slice(0, from) + fix.text + mended.slice(to);
  }
  return { words: loaded.problems.map(({ fix }) => fix?.words), text: mended };
}

describe("a problem that a program can mend", () => {
  it.each([
    [
      "a misspelt key",
      'steps: { a: { exec: x, on_fail: { retry: { max: 1, "backof": { delay_ms: 5 } } } } }',
      "Rename it to backoff",
      'steps: { a: { exec: x, on_fail: { retry: { max: 1, "backoff": { delay_ms: 5 } } } } }',
    ],
    [
      "a misspelt step",
      "steps:\n  build: { exec: x }\n  test: { exec: y, depends_on: [biuld] }\n",
      "Rename it to build",
      "steps:\n  build: { exec: x }\n  test: { exec: y, depends_on: [build] }\n",
    ],
    [
      "a misspelt word",
      "steps: { a: { exec: x } }\nfailure_policy: fail_fats\n",
      "Rename it to fail_fast",
      "steps: { a: { exec: x } }\nfailure_policy: fail_fast\n",
    ],
    [
      "a priority that is taken",
      "steps: { a: { exec: x }, b: { exec: y }, c: { exec: z } }\ntransitions:\n  - { from: a, to: b, on: failure, priority: 1 }\n  - { from: a, to: c, on: failure, priority: 1 }\n",
      "Make it 2",
      "steps: { a: { exec: x }, b: { exec: y }, c: { exec: z } }\ntransitions:\n  - { from: a, to: b, on: failure, priority: 1 }\n  - { from: a, to: c, on: failure, priority: 2 }\n",
    ],
    [
      "a priority that is taken and not written",
      "steps: { a: { exec: x }, b: { exec: y }, c: { exec: z } }\ntransitions:\n  - { from: a, to: b, on: failure, priority: 2 }\n  - from: a\n    to: c\n    on: failure\n",
      "Give it priority 3",
      "steps: { a: { exec: x }, b: { exec: y }, c: { exec: z } }\ntransitions:\n  - { from: a, to: b, on: failure, priority: 2 }\n  - priority: 3\n    from: a\n    to: c\n    on: failure\n",
    ],
    [
      "a condition on an error after a success",
      "steps: { a: { exec: x }, b: { exec: y } }\ntransitions:\n  - { from: a, to: b, when: { type: exists, field: error.code } }\n",
      "Add on: failure",
      "steps: { a: { exec: x }, b: { exec: y } }\ntransitions:\n  - { from: a, to: b, on: failure, when: { type: exists, field: error.code } }\n",
    ],
  ])("is mended by its fix: %s", (_, text, words, mended) => {
    expect(mend(text)).toEqual({ words: [words], text: mended });
    expect(mend(mended).words).toEqual([]);
  });

  it("has none where the text at its place is not the name, as behind an alias", () => {
    const text = "x-y: &n biuld\nsteps:\n  build: { exec: x }\n  test: { exec: y, depends_on: *n }\n";
    expect(mend(text).text).not.toContain("depends_on: build");
  });
});
