import { expect, it } from "vitest";
import { replayedTrial } from "../../test/support/replayed-trial.js";
import type { Script } from "../../test/support/scripted-worker.js";
import { explain } from "./explain.js";

const FAN = `
name: fan
steps:
  list: { type: noop, forEach: true }
  work: { type: script, content: "return foreach", depends_on: [list] }
`;

async function briefly(script: Script, text = FAN, step?: string): Promise<string[]> {
  const { runAt, log } = await replayedTrial(text, script, {});
  const { id: runId, definition } = runAt();
  return explain({ runId, definition, log }, step === undefined ? {} : { step }).lines;
}

const indexOf = ({ variables }: { readonly variables: { readonly [name: string]: unknown } }): number =>
  (variables.foreach as { index: number }).index;

it("tells items of one step that failed in several ways as one block with its kinds, by their values", async () => {
  const lines = await briefly({
    list: [{ output: ["a.jpg", "b.jpg", "c.jpg", "d.jpg"] }],
    work: (assignment) =>
      [
        { exit: 3, stderr: "no space" } as const,
        { exit: 1, stderr: "corrupt frame 5" } as const,
        { exit: 1, stderr: "corrupt frame 179" } as const,
        "ok" as const,
      ][indexOf(assignment)]!,
  });
  expect(lines).toEqual([
    "Run 1 of fan failed after 0 ms: 2 of 5 steps completed, 3 failures.",
    "",
    "3 items of work failed, in 2 ways:",
    "  2 items (b.jpg, c.jpg), for example work@list[1]:",
    "    Attempt 1 failed after 0 ms: exit code 1 (EXIT_1).",
    '    It printed on stderr: "corrupt frame 5".',
    "    The step failed.",
    "  1 item (a.jpg), for example work@list[0]:",
    "    Attempt 1 failed after 0 ms: exit code 3 (EXIT_3).",
    '    It printed on stderr: "no space".',
    "    The step failed.",
  ]);
});

const SWEEP = `
name: sweep
jobs:
  - { name: "train_{i}", parameters: { i: "1:4" }, command: x }
  - { name: score, command: x }
`;
const NAN = { exit: 3, stderr: "loss is NaN" } as const;
const SCRIPT: Script = {
  ...{ train_1: ["ok"], train_2: [{ exit: 1, stderr: "no file 7" }], train_3: [NAN] },
  ...{ train_4: [{ exit: 1, stderr: "no file 19" }], score: [NAN] },
};

/** What is told of one that failed, after its name. */
const story = (indent: string, code: number, line: string): string[] =>
  [
    `Attempt 1 failed after 0 ms: exit code ${code} (EXIT_${code}).`,
    `It printed on stderr: "${line}".`,
    "- hold: yes, nothing else handles this failure.",
    "The step was held until a decision; what depends on it had to wait.",
  ].map((text) => indent + text);

const FAMILY = [
  "3 items of train_{i} are held, in 2 ways:",
  "  2 items (train_2, train_4), for example train_2:",
  ...story("    ", 1, "no file 7"),
  "  1 item (train_3), for example train_3:",
  ...story("    ", 3, "loss is NaN"),
];

it("tells the jobs that one job of the batch form makes as items of one step, and another that failed alike by itself", async () => {
  expect(await briefly(SCRIPT, SWEEP)).toEqual([
    "Run 1 of sweep is held: 1 of 5 steps completed, 4 failures.",
    "It was held after 0 ms: only held steps were left.",
    ...["", ...FAMILY],
    ...["", "score: held", ...story("  ", 3, "loss is NaN")],
  ]);
});

it("tells all of a family that is asked for by its name, those that failed first", async () => {
  expect(await briefly(SCRIPT, SWEEP, "train_{i}")).toEqual([
    "Run 1 of sweep is held: 1 of 5 steps completed, 4 failures.",
    ...["", ...FAMILY],
    ...["", "train_1: completed", "  Attempt 1 completed in 0 ms."],
  ]);
});
