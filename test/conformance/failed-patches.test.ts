import { describe, expect, it } from "vitest";
import type { EarlierFiles } from "../../src/core/model/files-policy.js";
import { trial } from "../support/harness.js";
import { type Outcome, checkpointed as ok } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const HEALED = `workspace: {}
self_heal: { step_max_attempts: 4, step_no_progress_limit: 2, job_self_heal_max_resets: 1 }
steps:
  edit: { exec: edit }
`;

/** An attempt that fails and leaves these files, and this patch of them. */
const left = (patch: string | null | undefined, changedFiles = ["junk.txt"]): Outcome => ({
  facts: {
    message: "no",
    exitCode: 1,
    diffHash: "d",
    changedFiles,
    ...(patch === undefined ? {} : { patch }),
  },
});

async function seenBy(outcomes: readonly Outcome[], text = HEALED) {
  const seen: (readonly EarlierFiles[] | undefined)[] = [];
  const run = await trial(text, {
    edit: ({ earlierFiles }, nth) => {
      seen.push(earlierFiles);
      return outcomes[Math.min(nth, outcomes.length) - 1]!;
    },
  });
  return { run, seen };
}

describe("the patch of a failed attempt", () => {
  it("stands in its event, and after a hard reset the step is told of the last one", async () => {
    const { run, seen } = await seenBy([left("patches/attempts/1"), left("patches/attempts/2"), ok("edit")]);
    expect(trace(run)).toEqual([
      ...["start edit", "fail edit EXIT_1", "climb edit retry", "retry edit 1/3 +0"],
      ...["start edit", "fail edit EXIT_1", "climb edit reset", "reset edit for no_progress 1/1"],
      ...[
        "rebuild 1 for edit from []",
        "rebuilt 1 ok",
        "start edit",
        "ok edit",
        "promoted 1",
        "run completed",
      ],
    ]);
    expect(run.events("attempt.failed").map(({ patch }) => patch)).toEqual([
      "patches/attempts/1",
      "patches/attempts/2",
    ]);
    expect(seen).toEqual([
      undefined,
      undefined,
      [
        {
          state: "fresh",
          step: null,
          files: ["junk.txt"],
          attempts: [1, 2],
          patch: "patches/attempts/2",
        },
      ],
    ]);
    expect(run.events("rebuild.started")[0]).not.toHaveProperty("leftover");
  });

  it("is told of in the order of the attempts, also after a round of the queue", async () => {
    const text = `${HEALED}queue: { max_attempts: 2, classes: [stuck_no_progress], backoff: { mode: none } }\n`;
    const patches = [1, 2, 3].map((attempt) => left(`patches/attempts/${attempt}`));
    const { run, seen } = await seenBy([...patches, ok("edit")], text);
    expect(trace(run).filter((line) => line.startsWith("climb"))).toEqual([
      "climb edit retry",
      "climb edit reset",
      "climb edit requeue",
    ]);
    expect(trace(run).at(-1)).toBe("run completed");
    expect(seen[3]?.map(({ state, attempts, patch }) => [state, attempts, patch])).toEqual([
      ["fresh", [1, 2], expect.stringContaining("a2")],
      ["set_back", [3], "patches/attempts/3"],
    ]);
  });

  it("is null where it was too large, and missing where nothing was left", async () => {
    const large = await seenBy([left(null), left(null), ok("edit")]);
    expect(large.run.events("attempt.failed").map(({ patch }) => patch)).toEqual([null, null]);
    expect(large.seen[2]).toMatchObject([{ state: "fresh", attempts: [1, 2], patch: null }]);
    const nothing = await seenBy([{ exit: 1 }, { exit: 1 }, ok("edit")]);
    expect(nothing.run.events("attempt.failed")[0]).not.toHaveProperty("patch");
    expect(nothing.seen[2]).toMatchObject([{ state: "fresh", attempts: [], files: [], patch: null }]);
  });

  it("is not there where another server goes on in a folder of its own", async () => {
    const seen: (readonly EarlierFiles[] | undefined)[] = [];
    const outcomes = [left("patches/attempts/1"), ok("edit")];
    const queue = `workspace: {}
queue: { max_attempts: 2, classes: [application], backoff: { mode: fixed, delay_ms: 60000 } }
steps:
  edit: { exec: edit }
`;
    const stage = await Stage.begin(queue, {
      edit: ({ earlierFiles }, nth) => {
        seen.push(earlierFiles);
        return outcomes[nth - 1]!;
      },
    });
    stage.kill();
    stage.workspaces.elsewhere = { path: "/b/trees/1", home: "home-b", host: "b", moved: [] };
    await stage.resume();
    expect((await stage.rest()).run.status).toBe("completed");
    expect(seen[1]).toMatchObject([{ state: "fresh", files: ["junk.txt"], attempts: [1], patch: null }]);
  });

  it("is made of a lost attempt before a reset replaces its tree", async () => {
    const queue = `workspace: {}
max_recoveries: 0
queue: { max_attempts: 2, classes: [infrastructure], backoff: { mode: none } }
steps:
  edit: { exec: edit }
`;
    const { run, seen } = await seenBy([{ facts: { lost: true, message: "gone" } }, ok("edit")], queue);
    const lost = { job: run.job("edit").id, attempt: 1 };
    expect(run.events("rebuild.started")[0]!.leftover).toEqual(lost);
    const patch = `patches/partial/j${lost.job}_a1.patch`;
    expect(run.events("rebuild.finished")[0]!.partial).toEqual({ ...lost, patch, files: 1 });
    expect(seen[1]).toMatchObject([{ state: "fresh", attempts: [1], patch }]);
  });
});
