import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cut, MAX_ANSWER_CHARS, withinBudget } from "./answer-budget.js";

const jobs = Array.from({ length: 501 }, (_, at) => ({
  id: at + 1,
  step: `step-${at}`,
  note: "x".repeat(400),
}));

function sizeOf(answer: object): number {
  return JSON.stringify(answer).length;
}

function cutOf(answer: { cut?: unknown }, field: string): Cut | undefined {
  return ((answer.cut ?? []) as Cut[]).find((cut) => cut.field === field);
}

/** All of one part, collected by following its cursors. */
function walk(
  answer: object,
  field: string,
  read: (piece: object) => readonly unknown[] | string,
): unknown[] {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const piece = withinBudget(answer, { cursor, mayAskAgain: true });
    expect(sizeOf(piece)).toBeLessThanOrEqual(MAX_ANSWER_CHARS);
    found.push(...read(piece));
    const next = cutOf(piece, field)?.cursor;
    if (next == null) return found;
    cursor = next;
  }
  throw new Error("the cursors go in circles");
}

describe("an answer to an agent", () => {
  it("that fits is whole, with its plain fields and its summary before its lists", () => {
    const answer = {
      jobs: [1],
      state: { root: null },
      run_id: 3,
      summary: { counts: ["1 failed"] },
      status: "failed",
    };
    const shown = withinBudget(answer, { mayAskAgain: true });
    expect(shown).toEqual(answer);
    expect(Object.keys(shown)).toEqual(["run_id", "status", "summary", "jobs", "state"]);
  });

  it("that is too long says first what was cut, where it goes on and of how many", () => {
    const shown = withinBudget({ run_id: 3, jobs }, { mayAskAgain: true });
    expect(sizeOf(shown)).toBeLessThanOrEqual(MAX_ANSWER_CHARS);
    expect(Object.keys(shown)).toEqual(["cut", "run_id", "jobs"]);
    const { length } = shown.jobs as unknown[];
    expect(length).toBeGreaterThan(20);
    expect(shown.cut).toEqual([
      { field: "jobs", from: 0, shown: length, total: 501, cursor: `jobs@${length}` },
    ]);
  });

  it("gives the part at a cursor alone, with the plain fields that tell whose it is", () => {
    const shown = withinBudget(
      { run_id: 3, jobs, routes: [1, 2] },
      { cursor: "jobs@499", mayAskAgain: true },
    );
    expect(shown).toEqual({
      cut: [{ field: "jobs", from: 499, shown: 2, total: 501, cursor: null }],
      run_id: 3,
      jobs: jobs.slice(499),
    });
  });

  it("cuts lists inside the summary, too, and texts by whole characters", () => {
    const answer = { summary: { failures: jobs }, text: "😀".repeat(20_000) };
    expect(walk(answer, "summary/failures", (piece) => (piece as typeof answer).summary.failures)).toEqual(
      jobs,
    );
    const text = walk(answer, "text", (piece) => [(piece as typeof answer).text]).join("");
    expect(text).toBe(answer.text);
  });

  it("shortens long texts of many items rather than showing few items", () => {
    const long = Array.from({ length: 15 }, (_, at) => ({ id: at, stderr: `begin${"-".repeat(9_000)}end` }));
    const shown = withinBudget({ items: long }, { mayAskAgain: true });
    const items = shown.items as typeof long;
    expect(items).toHaveLength(15);
    for (const { stderr } of items) expect(stderr).toMatch(/^begin-.*-end$/s);
  });

  it("offers no cursor where asking again would do the thing again", () => {
    const shown = withinBudget({ changed: jobs }, { mayAskAgain: false });
    expect(cutOf(shown, "changed")).toMatchObject({ from: 0, total: 501, cursor: null });
  });

  it.each(["", "jobs", "jobs@", "jobs@-1", "nothing@3", "run_id/x@1", "run_id@1", "__proto__@0", "jobs@1e9"])(
    "refuses the cursor %j",
    (cursor) => {
      expect(() => withinBudget({ run_id: 3, jobs }, { cursor, mayAskAgain: true })).toThrow(
        expect.objectContaining({ code: "INVALID_INPUT" }),
      );
    },
  );

  it("loses no item of any list, whatever the sizes", () => {
    const item = fc.record({ id: fc.nat(), note: fc.string({ maxLength: 900 }) });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 120 }), fc.array(item, { maxLength: 120 }), (first, second) => {
        const answer = { run_id: 1, first, "se/co~nd": second };
        expect(walk(answer, "first", (piece) => (piece as typeof answer).first)).toEqual(first);
        expect(walk(answer, "se~1co~0nd", (piece) => (piece as typeof answer)["se/co~nd"] ?? [])).toEqual(
          second,
        );
      }),
      { numRuns: 60 },
    );
  });
});
