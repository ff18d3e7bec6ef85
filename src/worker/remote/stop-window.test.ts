import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Report } from "../worker.js";
import { StopWindow } from "./stop-window.js";

function begin() {
  const clock = new ManualClock();
  const told = new AbortController();
  const end = new AbortController();
  const stops = new StopWindow({ drain: told.signal, end: end.signal }, clock);
  const judge = (facts: Partial<FailureFacts>, isWide = false): Promise<Report> =>
    stops.judge(
      { result: { kind: "failed", facts: { message: "it ended", ...facts } }, durationMs: 3 },
      isWide,
    );
  return { clock, told, end, stops, judge };
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

  it.each([
    { exitCode: 0 },
    { signal: "SIGSEGV" },
    { exitCode: 1, code: "OUTPUT_INVALID" },
    { exitCode: 1, declared: { code: "NO_DATA" } },
    {},
  ])("has failed by itself: %j", async (facts) => {
    const { told, end, judge } = begin();
    told.abort();
    end.abort();
    expect(await judge(facts)).toEqual({
      result: { kind: "failed", facts: { message: "it ended", ...facts } },
      durationMs: 3,
    });
  });

  it.each([1, 139])("was ended with it if it has caught the signal and exited with %i", async (exitCode) => {
    const { told, end, clock, judge } = begin();
    told.abort();
    const judged = judge({ exitCode });
    clock.advance(500);
    end.abort();
    expect(await judged).toEqual({
      result: {
        kind: "failed",
        facts: {
          exitCode,
          evicted: true,
          message: `exited with ${exitCode} while its worker was being stopped`,
        },
      },
      durationMs: 3,
    });
  });

  it("has failed by itself where the worker only finishes what it has", async () => {
    const { told, clock, judge } = begin();
    told.abort();
    const judged = judge({ exitCode: 1 });
    clock.advance(2_000);
    expect(await judged).toMatchObject({ result: { facts: { message: "it ended", exitCode: 1 } } });
  });

  it("is not waited with if it exits by itself while nobody stops the worker", async () => {
    const { clock, judge } = begin();
    expect((await judge({ exitCode: 1 })).result).not.toHaveProperty("facts.evicted");
    expect(clock.fireNext()).toBe(false);
  });

  it("was ended with it on several machines, even if the other ones were told first", async () => {
    const { told, end, clock, judge } = begin();
    const judged = judge({ exitCode: 1 }, true);
    clock.advance(1_000);
    told.abort();
    clock.advance(500);
    end.abort();
    expect(await judged).toMatchObject({ result: { facts: { evicted: true, exitCode: 1 } } });
  });

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
