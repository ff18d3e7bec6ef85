import { describe, expect, it } from "vitest";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const MODEL = `name: model
unhandled: hold
steps:
  train: { exec: make }
  publish: { exec: make, depends_on: train }
`;
const FAILS_ONCE = { train: [{ exit: 7 }, "ok" as const] };

async function decidedAs(how: "skip" | "complete"): Promise<Stage> {
  const stage = await Stage.begin(MODEL, FAILS_ONCE);
  await stage.rest();
  const items = [{ job: await stage.id("train"), action: how, output: null, items: null }];
  await stage.operate({ type: "holds.resolve", by: "ann", items });
  await stage.resume();
  return stage;
}

describe("a job to which a person's decision put an end", () => {
  it.each(["skip", "complete"] as const)(
    "by %s is recorded with who decided, and is no recovery",
    async (how) => {
      const stage = await decidedAs(how);
      const view = await stage.rest();
      expect(trace(view)).toEqual([
        "start train",
        "fail train EXIT_7",
        "climb train hold",
        "held train EXIT_7",
        "run held",
        `resolved train ${how}`,
        "start publish",
        "ok publish",
        "run completed",
      ]);
      const decided = { how, by: "ann", expired: false };
      expect(view.job("train").decided).toEqual(decided);
      expect(view.job("publish").decided).toBeNull();
      expect(view.run.tally?.decided).toEqual({
        jobs: 1,
        first: { step: "train", scope: "root", ...decided },
      });
      expect(view.run.tally?.recovered).toEqual([]);
    },
  );

  it("is no longer decided once it runs again", async () => {
    const stage = await decidedAs("complete");
    await stage.rest();
    const job = await stage.id("train");
    expect(await stage.operate({ type: "step.resume_from", job, force: true })).toBeNull();
    await stage.resume();
    const view = await stage.rest();
    expect(view.job("train")).toMatchObject({ status: "completed", decided: null });
    expect(view.run.tally?.decided).toBeUndefined();
  });

  it("is no longer decided once its item is past, because the list was made again", async () => {
    const text = `unhandled: hold
steps:
  list: { exec: make, forEach: true }
  work: { exec: "make {{ foreach.index }}", depends_on: list }
  sum: { exec: "make {{ branches }}", depends_on: work, fanout: reduce, join: any, on_fail: { goto: { step: list, max: 1 } } }
`;
    const stage = await Stage.begin(text, {
      list: [{ output: ["x", "y"] }, { output: ["x"] }],
      work: ({ variables }) => ((variables.foreach as { index: number }).index === 1 ? "fail" : "ok"),
      sum: ["fail", "ok"],
    });
    await stage.rest();
    const items = [
      { job: await stage.id("work", "root/list[1]"), action: "skip", output: null, items: null } as const,
    ];
    await stage.operate({ type: "holds.resolve", by: "ann", items });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["list", "work[0]", "work[1]", "sum", "list", "work[0]", "sum"]);
    expect(run.run).toMatchObject({ status: "completed" });
    expect(run.run.tally?.decided).toBeUndefined();
  });

  it("that nobody decided in time says so, and names nobody", async () => {
    const stage = await Stage.begin(
      MODEL.replace("unhandled: hold", "unhandled: hold\nhold: { expires: 1s, then: skip }"),
      FAILS_ONCE,
    );
    await stage.rest();
    stage.clock.advance(1_000);
    await stage.resume();
    const view = await stage.rest();
    expect(view.job("train").decided).toEqual({ how: "skip", by: null, expired: true });
    expect(view.run.status).toBe("completed");
  });
});
