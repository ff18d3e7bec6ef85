import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Outcome } from "../../core/model/outcome.js";
import { StopSignals } from "../process/process-host.js";
import { StopWindow } from "./stop-window.js";

const SUCCEEDED: Outcome = { kind: "succeeded", output: { kind: "value", value: null } };
const failed = (facts: Partial<FailureFacts>): Outcome => ({
  kind: "failed",
  facts: { message: "it ended", ...facts },
});

/** `dated`: launchers see the signals that go to all processes. */
function begin({ dated = true, inAllocation = true } = {}) {
  const clock = new ManualClock();
  const [told, end] = [new AbortController(), new AbortController()];
  const stops = dated ? new StopSignals() : null;
  const sources = { drain: told.signal, end: end.signal, processes: { stops }, inAllocation };
  const window = new StopWindow(sources, clock);
  /** It ended as it is judged, or so many milliseconds before. */
  const judge = async (ended: Outcome, { isWide = false, ago = 0 } = {}): Promise<Outcome> => {
    const exitedAt = clock.elapsed() - ago;
    const { exitedAt: _, ...judged } = await window.judge({ ...ended, exitedAt }, isWide);
    return judged;
  };
  const signalAll = (): void => {
    stops!.came(clock.elapsed());
    told.abort();
  };
  return { stops, clock, told, end, judge, signalAll };
}

const evicted = (facts: object, message: string) => ({
  kind: "failed",
  facts: { ...facts, evicted: true, message: `${message} while its worker was being stopped` },
});

describe("an attempt whose processes are stopped with all others", () => {
  it.each([
    [SUCCEEDED, { exitCode: 0 }, "exited with 0"],
    [failed({ exitCode: 1 }), { exitCode: 1 }, "exited with 1"],
    [failed({ exitCode: 143 }), { exitCode: 143 }, "ended by SIGTERM"],
    [failed({ signal: "SIGSEGV" }), { signal: "SIGSEGV" }, "ended by SIGSEGV"],
    [failed({ exitCode: 0, code: "OUTPUT_INVALID" }), { exitCode: 0 }, "exited with 0"],
    [failed({ exitCode: 1, declared: { code: "NO_DATA" } }), { exitCode: 1 }, "exited with 1"],
  ])("was interrupted, whatever it exits with: %j", async (result, facts, message) => {
    const { signalAll, clock, judge } = begin();
    signalAll();
    clock.advance(30_000);
    expect(await judge(result)).toMatchObject(evicted(facts, message));
  });

  it("was interrupted too if the signal reached it half a second before the launchers, not earlier", async () => {
    for (const [beforeMs, kind] of [
      [500, "failed"],
      [501, "succeeded"],
    ] as const) {
      const { signalAll, clock, judge } = begin();
      clock.advance(10_000);
      const judged = judge(SUCCEEDED, { ago: beforeMs - 400 });
      clock.advance(400);
      signalAll();
      clock.advance(100);
      expect((await judged).kind).toBe(kind);
    }
  });

  it("has ended before where its exit was collected before, however late it is told", async () => {
    const { signalAll, judge, clock } = begin();
    clock.advance(10_000);
    signalAll();
    expect(await judge(SUCCEEDED, { ago: 1_000 })).toEqual(SUCCEEDED);
  });

  it.each([
    { timeout: "wall", signal: "SIGTERM" },
    { code: "OOM", exitCode: 137 },
    { code: "WALLTIME", exitCode: 152 },
    { evicted: true, signal: "SIGKILL" },
  ] as const)("has ended for a reason of its own: %j", async (facts) => {
    const { signalAll, judge } = begin();
    signalAll();
    expect(await judge(failed(facts))).toEqual(failed(facts));
  });

  it("was stopped where nobody wanted it any more", async () => {
    const { signalAll, judge } = begin();
    signalAll();
    expect(await judge({ kind: "stopped" })).toEqual({ kind: "stopped" });
  });

  it("on several machines may have been reached two seconds before this one", async () => {
    const { signalAll, clock, judge } = begin({ inAllocation: false });
    const judged = judge(SUCCEEDED, { isWide: true });
    clock.advance(2_000 - 1);
    signalAll();
    expect(await judged).toMatchObject(evicted({ exitCode: 0 }, "exited with 0"));
  });
});

describe("an attempt whose worker is told alone", () => {
  it.each([SUCCEEDED, failed({ exitCode: 1 }), failed({ signal: "SIGSEGV" })])(
    "has ended itself, even if the worker is then told to hand back: %j",
    async (result) => {
      const { told, end, clock, judge } = begin();
      told.abort();
      const judged = judge(result);
      end.abort();
      clock.advance(500);
      expect(await judged).toEqual(result);
    },
  );

  it("was ended with it if it died of a signal by which workers are stopped", async () => {
    const { told, clock, judge } = begin();
    const judged = judge(failed({ signal: "SIGTERM" }));
    clock.advance(1_999);
    told.abort();
    expect(await judged).toMatchObject(evicted({ signal: "SIGTERM" }, "ended by SIGTERM"));
  });

  it("has died of a signal of its own where the worker is told nothing", async () => {
    const { clock, told, judge } = begin();
    const judged = judge(failed({ signal: "SIGTERM" }));
    clock.advance(2_000);
    told.abort();
    expect(await judged).toEqual(failed({ signal: "SIGTERM" }));
    expect(clock.fireNext()).toBe(false);
  });
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a signal to the launchers", () => {
  it("alone stops no worker, also one that is told to drain later", async () => {
    const { judge, clock, told, stops } = begin();
    stops!.came(clock.elapsed());
    const judged = judge(SUCCEEDED);
    clock.advance(500);
    await settled();
    clock.advance(2_000);
    expect(await judged).toEqual(SUCCEEDED);
    told.abort();
    const later = judge(SUCCEEDED);
    clock.advance(500);
    expect(await later).toEqual(SUCCEEDED);
  });

  it("is waited with for two seconds till the worker hears of it too", async () => {
    const { judge, clock, told, stops } = begin();
    const judged = judge(SUCCEEDED);
    clock.advance(400);
    stops!.came(clock.elapsed());
    clock.advance(100);
    await settled();
    clock.advance(1_400);
    told.abort();
    expect(await judged).toMatchObject(evicted({ exitCode: 0 }, "exited with 0"));
  });

  it("is the one that counts, although another came to them alone before", async () => {
    const { judge, clock, signalAll, stops } = begin();
    stops!.came(clock.elapsed());
    clock.advance(10_000);
    signalAll();
    expect(await judge(SUCCEEDED, { ago: 501 })).toEqual(SUCCEEDED);
    expect(await judge(SUCCEEDED)).toMatchObject(evicted({ exitCode: 0 }, "exited with 0"));
  });

  it("counts as it came first, although the scheduler sends it again", async () => {
    const { judge, clock, signalAll } = begin();
    signalAll();
    clock.advance(60_000);
    signalAll();
    expect(await judge(SUCCEEDED, { ago: 30_000 })).toMatchObject(evicted({ exitCode: 0 }, "exited with 0"));
  });
});

it("outside of allocations nothing is waited for", async () => {
  const { judge, clock } = begin({ inAllocation: false });
  expect(await judge(SUCCEEDED)).toEqual(SUCCEEDED);
  expect(await judge(failed({ exitCode: 1 }))).toEqual(failed({ exitCode: 1 }));
  expect(clock.fireNext()).toBe(false);
});

it("what had no process of its own is not judged", async () => {
  const window = new StopWindow(
    { drain: AbortSignal.abort(), end: AbortSignal.abort(), inAllocation: true },
    new ManualClock(),
  );
  expect(await window.judge(SUCCEEDED)).toBe(SUCCEEDED);
});

describe("where nobody sees the signal", () => {
  it.each([
    [2_000, "failed"],
    [2_001, "succeeded"],
  ] as const)("an exit %i ms before the worker hands back: %s", async (agoMs, kind) => {
    const { end, clock, judge } = begin({ dated: false });
    clock.advance(10_000);
    const judged = judge(SUCCEEDED, { ago: agoMs - 1_900 });
    clock.advance(1_900);
    end.abort();
    clock.advance(100);
    expect((await judged).kind).toBe(kind);
  });

  it("a worker that drains lets its steps end as they like", async () => {
    const { told, clock, judge } = begin({ dated: false, inAllocation: false });
    told.abort();
    const judged = judge(failed({ exitCode: 1 }));
    clock.advance(2_000);
    expect(await judged).toEqual(failed({ exitCode: 1 }));
  });
});
