import { describe, expect, it } from "vitest";
import { replayedTrial } from "../../../test/support/replayed-trial.js";
import type { Run } from "../../core/model/run.js";
import { textWidth } from "./columns.js";
import { ansiPaint, plainPaint } from "./paint.js";
import { pictureOf } from "./run-picture.js";

const FILE = `
name: release
steps:
  slow: { type: noop }
  fetch: { type: noop, on_fail: { retry: { max: 3, backoff: { mode: fixed, delay_ms: 1500 } } } }
  after: { type: noop, depends_on: [slow, fetch] }
`;

async function runWithRetryWaiting(): Promise<Run> {
  const { runAt } = await replayedTrial(FILE, {
    slow: [{ output: 1, takesMs: 9000 }],
    fetch: [{ exit: 1, takesMs: 200 }, "ok"],
  });
  return runAt(({ event }) => event.type === "retry.scheduled");
}

async function wideRun(): Promise<Run> {
  const steps = Array.from({ length: 50 }, (_, n) => `  step-${n}: { type: noop }`).join("\n");
  const { runAt } = await replayedTrial(`name: wide\nsteps:\n${steps}\n`, {}, { capacity: 50 });
  let started = 0;
  return runAt(({ event }) => event.type === "attempt.started" && ++started === 50);
}

describe("the picture of a run", () => {
  it("shows counts, elapsed time, what runs and the countdown of what waits", async () => {
    const run = await runWithRetryWaiting();
    const now = run.startedAt! + 700;
    const [head, ...lines] = pictureOf(run, now, { width: 80, height: 24 }, plainPaint);
    expect(head?.slice(2)).toBe("release #1 · 0.7 s · 0/3 done · 1 running · 1 waiting");
    expect(lines).toEqual(["  ● slow   0.7 s", "  ◌ fetch  retry 1 of 3 in 1.0 s"]);
  });

  it("shows questions with their choices and the time left, and recovery scripts at work", async () => {
    const file = `
name: release
failure_handlers: [{ name: sim, rules: [{ exit_codes: [1], recovery_script: ./fix.sh }] }]
steps:
  ask: { type: human, prompt: "Go on?", timeout_ms: 5000 }
  build: { type: noop, failure_handler: sim }
`;
    const { runAt } = await replayedTrial(file, { build: ["fail", "ok"] });
    const run = runAt(({ event }) => event.type === "recovery.started");
    const [head, ...lines] = pictureOf(run, run.startedAt! + 1000, { width: 80, height: 24 }, plainPaint);
    expect(head?.slice(2)).toBe("release #1 · 1.0 s · 0/2 done · 0 running · 2 waiting");
    expect(lines).toEqual([
      "  ◌ build  recovery script after attempt 1",
      "  ? ask    4.0 s left: Go on? (approve, reject)",
    ]);
  });

  it("says that a run is paused and how many jobs are held", async () => {
    const { runAt } = await replayedTrial("name: r\nunhandled: hold\nsteps: { a: { type: noop } }", {
      a: ["fail"],
    });
    const run = runAt();
    run.paused = { takeover: false };
    const [head] = pictureOf(run, run.startedAt!, { width: 80, height: 24 }, plainPaint);
    expect(head?.slice(2)).toBe("r #1 · 0.0 s · 0/1 done · 0 running · 1 held · paused");
  });

  it("shows a bar and what is left of a run that takes long, and nothing of it where nobody can know", async () => {
    const run = await runWithRetryWaiting();
    const at = (leftMs: number | null, ms: number) =>
      pictureOf(run, run.startedAt! + ms, { width: 100, height: 24 }, plainPaint, leftMs)[0]!.slice(2);
    expect(at(150_000, 4_999)).not.toContain("left");
    expect(at(150_000, 5_000)).toBe(
      "release #1 · 5.0 s · ░░░░░░░░░░░░ 0/3 done · about 3 min left · 1 running · 1 waiting",
    );
    expect(at(null, 5_000)).toBe("release #1 · 5.0 s · ░░░░░░░░░░░░ 0/3 done · 1 running · 1 waiting");
  });

  it("never counts below zero when a retry is due and has not begun", async () => {
    const run = await runWithRetryWaiting();
    expect(pictureOf(run, run.startedAt! + 5_000, { width: 80, height: 24 }, plainPaint).at(-1)).toContain(
      "in 0.0 s",
    );
  });

  it.each([3, 5, 12, 24, 60])(
    "fits a terminal of %i rows and says how much it leaves out",
    async (height) => {
      const run = await wideRun();
      const lines = pictureOf(run, run.startedAt!, { width: 80, height }, plainPaint);
      expect(lines.length).toBeLessThan(height);
      const shown = lines.filter((line) => line.includes("● step-")).length;
      if (lines.length > 1) expect(lines.at(-1)).toBe(`  … and ${50 - shown} more`);
    },
  );

  it("cuts long names, not the countdown, at 40 columns", async () => {
    const name = "compile-and-link-everything-of-the-release";
    const file = FILE.replaceAll("fetch", name);
    const { runAt } = await replayedTrial(file, {
      slow: [{ output: 1, takesMs: 9000 }],
      [name]: ["fail", "ok"],
    });
    const run = runAt(({ event }) => event.type === "retry.scheduled");
    const [head, , waiting] = pictureOf(run, run.startedAt! + 700, { width: 40, height: 24 }, plainPaint);
    expect(head).toMatch(/^. release #1 · 0\.7 s · 0\/3 done/);
    expect(waiting).toBe("  ◌ compile-and…  retry 1 of 3 in 0.8 s");
    expect(textWidth(waiting!)).toBeLessThan(40);
  });

  it("fits the width, colours not counted", async () => {
    const run = await runWithRetryWaiting();
    for (const line of pictureOf(run, run.startedAt!, { width: 20, height: 24 }, ansiPaint))
      expect(textWidth(line)).toBeLessThan(20);
  });
});
