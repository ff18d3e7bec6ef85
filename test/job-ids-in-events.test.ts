import { describe, expect, it } from "vitest";
import type { Event, EventType } from "../src/core/model/events.js";
import { withJobIds } from "../src/operations/exchange/event-places.js";
import { SHAPES } from "../src/operations/exchange/event-shapes.js";
import { eventText, holdsJobIds } from "../src/report/words/event-text.js";
import { replayedTrial } from "./support/replayed-trial.js";

/** An import gives these fields other ids: one, or a list of them. */
function isRenumbered(type: EventType, field: string): boolean {
  return [7, [7]].some((ids) => {
    const event = { type, [field]: ids } as unknown as Event;
    return JSON.stringify(withJobIds(event, () => 8)) !== JSON.stringify(event);
  });
}

const TYPES = Object.keys(SHAPES) as EventType[];

describe("the ids of jobs in an event", () => {
  it.each(TYPES)("are named by what tells of %s where an import renumbers them", (type) => {
    const fields = Object.keys(SHAPES[type]);
    expect(fields.filter((field) => holdsJobIds(type, field))).toEqual(
      fields.filter((field) => isRenumbered(type, field)),
    );
  });

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
