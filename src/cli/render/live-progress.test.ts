import { describe, expect, it } from "vitest";
import { fakeChannel } from "../../../test/support/fake-channel.js";
import { replayedTrial } from "../../../test/support/replayed-trial.js";
import { liveProgress } from "./live-progress.js";
import { LiveRegion } from "./live-region.js";

/** A clock that draws when the test calls it. */
function handClock() {
  let call = (): void => {};
  let stopped = false;
  const time = { now: 1_700_000_000_000 };
  return {
    time,
    clock: {
      now: () => time.now,
      every: (_ms: number, each: () => void) => {
        call = each;
        return () => {
          stopped = true;
        };
      },
    },
    tick: () => call(),
    isStopped: () => stopped,
  };
}

const FILE =
  "name: r\nsteps: { build: { type: noop, on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 1000 } } } } }";

describe("live progress", () => {
  it("draws nothing between frames, however many events come", async () => {
    const { states } = await replayedTrial(FILE, { build: ["fail", "ok"] });
    const channel = fakeChannel({ isTerminal: true });
    const { clock, tick } = handClock();
    const progress = liveProgress(channel, clock);
    for (const { run, logged } of states()) progress.events(run, [logged]);
    expect(channel.writes).toEqual([]);
    tick();
    expect(channel.writes).toHaveLength(1);
  });

  it("keeps failures above the region and leaves nothing of the region at the end", async () => {
    const { states } = await replayedTrial(FILE, { build: ["fail", "ok"] });
    const channel = fakeChannel({ isTerminal: true });
    const { clock, tick, isStopped } = handClock();
    const progress = liveProgress(channel, clock);
    for (const { run, logged } of states()) {
      progress.events(run, [logged]);
      tick();
    }
    progress.end();
    expect(isStopped()).toBe(true);
    expect(screen(channel.text)).toEqual([
      "• run 1 of r started",
      "✗ build attempt 1 failed: exit code 1 (EXIT_1, application) — retry 1 of 1 in 1.0 s",
      "✓ build completed on attempt 2 in 0 ms",
    ]);
  });
});

describe("the estimate", () => {
  it("asks what steps took before, once, and not in a short run", async () => {
    const file =
      "name: r\nsteps: { a: { type: command, exec: x }, b: { type: command, exec: x, depends_on: [a] } }";
    const { runAt, log } = await replayedTrial(file, { a: [{ output: 1, takesMs: 60_000 }] });
    const run = runAt(({ event }) => event.type === "attempt.started");
    const channel = fakeChannel({ isTerminal: true });
    const { clock, tick, time } = handClock();
    let asked = 0;
    const times = new Map(["a", "b"].map((step) => [step, { eachMs: 95_000, wholeMs: 95_000 }]));
    const progress = liveProgress(channel, clock, undefined, async () => {
      asked += 1;
      return times;
    });
    progress.events(run, [log[0]!]);
    time.now = run.startedAt! + 4_000;
    tick();
    expect(asked).toBe(0);
    time.now = run.startedAt! + 5_000;
    tick();
    await Promise.resolve();
    time.now = run.startedAt! + 6_500;
    tick();
    expect(asked).toBe(1);
    expect(screen(channel.text).join("\n")).toContain("6.5 s · ░░░░░░░░░░░░ 0/2 done · about 3 min left");
  });
});

describe("the live region", () => {
  it("erases the rows that a narrower terminal has wrapped", () => {
    const channel = fakeChannel({ width: 40 });
    const region = new LiveRegion(channel);
    region.frame([], ["x".repeat(30), "y"]);
    channel.size.width = 20;
    region.frame([], []);
    expect(channel.writes[1]).toBe("\x1b[3A\r\x1b[0J");
  });

  it("writes nothing when there is nothing to show or to erase", () => {
    const channel = fakeChannel();
    new LiveRegion(channel).frame([], []);
    expect(channel.writes).toEqual([]);
  });
});

const ESCAPE = "\x1b";
const MOVES = new RegExp(`(\\n|\\r|${ESCAPE}\\[\\d+A|${ESCAPE}\\[0J)`);

/** The content of a terminal that understands newline, carriage return, cursor up and erase below. */
function screen(text: string): string[] {
  const rows: string[] = [];
  let row = 0;
  for (const part of text.split(MOVES)) {
    if (part === "\n") row += 1;
    else if (part.endsWith("A") && part.startsWith(ESCAPE)) row -= Number.parseInt(part.slice(2), 10);
    else if (part === `${ESCAPE}[0J`) rows.length = row;
    else if (part !== "\r" && part !== "") rows[row] = (rows[row] ?? "") + part;
  }
  return rows;
}
