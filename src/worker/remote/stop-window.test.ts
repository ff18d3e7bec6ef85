import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Report } from "../worker.js";
import { StopWindow } from "./stop-window.js";

function begin() {
  const clock = new ManualClock();
  const told = new AbortController();
  const stops = new StopWindow(told.signal, clock);
  const judge = (facts: Partial<FailureFacts>): Promise<Report> =>
    stops.judge({ result: { kind: "failed", facts: { message: "it ended", ...facts } }, durationMs: 3 });
  return { clock, told, stops, judge };
}

describe("an attempt that dies while its worker is being stopped", () => {
  it.each([
    [{ signal: "SIGTERM" }, "SIGTERM"],
    [{ signal: "SIGKILL" }, "SIGKILL"],
    [{ signal: "SIGUSR2" }, "SIGUSR2"],
    [{ exitCode: 143 }, "SIGTERM"],
    [{ exitCode: 130 }, "SIGINT"],
    [{ exitCode: 137 }, "SIGKILL"],
  ])("was ended with it: %j", async (facts, signal) => {
    const { told, judge } = begin();
    told.abort();
    expect(await judge(facts)).toEqual({
      result: {
        kind: "failed",
        facts: { ...facts, evicted: true, message: `ended by ${signal} while its worker was being stopped` },
      },
      durationMs: 3,
    });
  });

  it.each([{ exitCode: 1 }, { exitCode: 0 }, { signal: "SIGSEGV" }, { exitCode: 139 }, {}])(
    "has failed by itself: %j",
    async (facts) => {
      const { told, judge } = begin();
      told.abort();
      expect(await judge(facts)).toEqual({
        result: { kind: "failed", facts: { message: "it ended", ...facts } },
        durationMs: 3,
      });
    },
  );

  it.each([
    { timeout: "wall", signal: "SIGTERM" },
    { code: "OOM", exitCode: 137 },
  ] as const)("was ended for a reason of its own: %j", async (facts) => {
    const { told, judge } = begin();
    told.abort();
    expect((await judge(facts)).result).not.toHaveProperty("facts.evicted");
  });

  it("is waited with for two seconds, since the signal may reach the worker after its steps", async () => {
    const { clock, told, judge } = begin();
    const judged = judge({ signal: "SIGTERM" });
    clock.advance(1_999);
    told.abort();
    expect(await judged).toMatchObject({ result: { facts: { evicted: true } } });
  });

  it("has died of a signal of its own where the worker is told nothing", async () => {
    const { clock, told, judge } = begin();
    const judged = judge({ signal: "SIGTERM" });
    clock.advance(2_000);
    told.abort();
    expect((await judged).result).toEqual({
      kind: "failed",
      facts: { message: "it ended", signal: "SIGTERM" },
    });
    expect(clock.fireNext()).toBe(false);
  });

  it("has succeeded if it has", async () => {
    const { told, stops } = begin();
    told.abort();
    const report: Report = { result: { kind: "stopped" }, durationMs: 1 };
    expect(await stops.judge(report)).toBe(report);
  });
});
