import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { checkpointed as ok, type Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const file = (steps: string, ...keys: string[]): string =>
  `name: loop\nworkspace: { repo: . }\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const no = { exit: 1, stderr: "no" };

describe("a step that a failure has led back to", () => {
  it("keeps the tree also where another way back restores it again meanwhile", async () => {
    const steps = `  fix: { exec: edit }
  review: { exec: review, depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }
  early: { exec: edit }
  again: { type: noop, depends_on: [early], on_success: { goto: { step: early, max: 1 } } }
  gate: { type: noop }
  other: { exec: edit, depends_on: [gate] }`;
    const script: Script = {
      fix: [ok("fix"), ok("second")],
      review: [{ ...no, takesMs: 100 }, ok("review")],
      early: [ok("early"), ok("again")],
      again: [{ output: null, takesMs: 150 }, "ok"],
      gate: [{ output: null, takesMs: 50 }],
      other: [ok("other")],
    };
    const run = await trial(file(steps), script, { rebuilds: [{ takesMs: 100 }, "ok"] });
    expect(trace(run).slice(8)).toEqual([
      ...["fail review EXIT_1", "climb review goto", "goto review -> fix after failure 1/1, loop 1"],
      ...["rebuild 1 for fix from [2]", "ok again", "goto again -> early after success 1/1, loop 2"],
      ...["rebuilt 1 ok", "promoted 1", "again fix review"],
      ...["rebuild 2 for early from []", "rebuilt 2 ok", "promoted 2", "again early again"],
      ...["start fix", "ok fix", "start other", "ok other", "start early", "ok early"],
      ...["start review", "start again", "ok review", "ok again", "run completed"],
    ]);
  });

  it("mends nothing of who failed there before it: that one finds a clean tree again", async () => {
    const steps = `  fix: { exec: edit }
  ask: { type: noop, depends_on: [fix], on_fail: { goto: { step: fix, max: 1, files: keep } } }
  other: { exec: edit }`;
    const script: Script = {
      fix: [ok("fix"), no],
      ask: [{ exit: 1, takesMs: 50 }],
      other: [{ ...no, takesMs: 100 }, ok("other")],
    };
    const stage = await Stage.begin(file(steps, "unhandled: hold"), script);
    await stage.rest();
    const [retried, failed] = [await stage.id("other"), await stage.id("fix")];
    const items = [
      { job: retried, action: "retry" as const, output: null, items: null },
      { job: failed, action: "fail" as const, output: null, items: null },
    ];
    await stage.operate({ type: "holds.resolve", items });
    const run = await (await stage.resume()).rest();
    expect(trace(run).slice(8)).toEqual([
      ...["fail other EXIT_1", "climb other hold", "held other EXIT_1", "set aside other 1 for fix"],
      ...[
        "aside other 1 ok",
        "start fix",
        "fail fix EXIT_1",
        "climb fix hold",
        "held fix EXIT_1",
        "run held",
      ],
      ...["resolved other retry", "retried other", "resolved fix fail", "failed fix EXIT_1"],
      ...["canceled ask DEPENDENCY_FAILED", "set aside fix 2 for other", "aside fix 2 ok"],
      ...["start other", "ok other", "run failed EXIT_1"],
    ]);
  });
});
