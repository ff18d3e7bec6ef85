import { describe, expect, it } from "vitest";
import { recoveryWords } from "../../words/recoveries.js";
import type { Drawing, TimelineRow, Told } from "./run-data.js";
import { neverBegun, stepsText, storyLines } from "./story-lines.js";

const row = (step: string, end: number) =>
  ({
    step,
    failed: 0,
    jobs: 1,
    seq: end,
    to_ms: 1,
    spans: [{ outcome: "completed", end_seq: end }],
  }) as unknown as TimelineRow;
const recovery = (step: string, rung: string, to: string, first_seq: number) =>
  ({ number: 1, step, rung, to, first_seq }) as unknown as Told;

describe("the story of a run", () => {
  it("tells what went straight in one line, and a repair with the step that it was for", () => {
    const rows = [row("checkout", 3), row("lint", 9), row("lint-fix", 8), row("types", 7), row("build", 12)];
    const lines = storyLines([recovery("lint", "remediate", "lint-fix", 5)], rows, null);
    expect(
      lines.map((line) => (line.kind === "straight" ? line.steps.join(" ") : line.recovery.step)),
    ).toEqual(["checkout", "lint", "types build"]);
  });

  it("ends with the steps that never began", () => {
    const node = (step: string, status: string, attempts = 0) => ({ step, status, jobs: { attempts } });
    const nodes = [
      node("a", "completed", 1),
      node("b", "skipped"),
      node("c", "skipped"),
      node("d", "canceled", 1),
      node("e", "canceled"),
    ];
    expect(neverBegun({ nodes } as unknown as Drawing)).toEqual(["b, c were skipped.", "e was canceled."]);
    expect(
      stepsText(
        Array.from({ length: 14 }, (_, at) => `s${at}`),
        "completed",
      ),
    ).toMatch(/ s11 and 2 more completed\.$/);
  });

  it("counts the items of a fan-out that came back alike", () => {
    const told = { rung: "retry", to: "test", times: 5, jobs: 5 };
    expect(recoveryWords(told, 40)).toBe("5 of 40 items retried once");
    expect(recoveryWords({ ...told, rung: "edge" }, 5)).toBe("5 items failed for good; test took over");
    expect(recoveryWords({ ...told, times: 2, jobs: 1 }, 1)).toBe("retried twice");
  });
});
