import { describe, expect, it } from "vitest";
import { eventText } from "../src/tell/words/event-text.js";
import { replayedTrial } from "./support/replayed-trial.js";

describe("the ids of jobs in an event", () => {
  it("are shown as the names of their steps", async () => {
    const file = "steps: { a: { type: noop }, b: { type: noop, depends_on: a, on_fail: { goto: a } } }";
    const run = (await replayedTrial(file, { b: ["fail", "ok"] })).runAt();
    const [a, b] = run.jobs.map(({ id }) => id) as [number, number];
    const jump = { barrier: 1, target: a, forced: false, from: b, edge: 1, members: [a, b], merged: [] };
    expect(eventText(run, { type: "barrier.opened", ...jump })).toBe(
      "barrier 1, target a, forced false, from b, edge 1, members a, b",
    );
    const aside = { type: "set_aside.started", job: a, attempt: 1, for: b, rebuild: null, try: 1 } as const;
    expect(eventText(run, aside)).toBe("a, attempt 1, for b, try 1");
  });
});
