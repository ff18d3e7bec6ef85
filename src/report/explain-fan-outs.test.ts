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

async function briefly(script: Script): Promise<string[]> {
  const { runAt, log } = await replayedTrial(FAN, script, {});
  const { id: runId, definition } = runAt();
  return explain({ runId, definition, log }).lines;
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
    '    Its last line on stderr: "corrupt frame 5".',
    "    The step failed.",
    "  1 item (a.jpg), for example work@list[0]:",
    "    Attempt 1 failed after 0 ms: exit code 3 (EXIT_3).",
    '    Its last line on stderr: "no space".',
    "    The step failed.",
  ]);
});
