import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import type { Outcome } from "../../core/model/outcome.js";
import { StopSignals } from "../process/process-host.js";
import { LocalStops } from "./local-worker-options.js";

const SUCCEEDED: Outcome = { kind: "succeeded", output: { kind: "value", value: null } };
const DIED: Outcome = { kind: "failed", facts: { message: "ended", signal: "SIGTERM" } };
const SLURM = { SLURM_JOB_ID: "77" };

function begin(env: { readonly [name: string]: string } = SLURM) {
  const clock = new ManualClock();
  const signals = new StopSignals();
  const engine = new AbortController();
  let roomAt: number | null = null;
  const stops = new LocalStops({ stops: signals }, clock, env);
  const judge = (said: Outcome, ran: Pick<Outcome, "exitedAt"> = { exitedAt: clock.elapsed() }) =>
    stops.judge(
      { ...said, duration_ms: 3, ...ran },
      {
        assignment: { resources: null },
        signal: engine.signal,
        giveRoom: () => {
          roomAt = clock.elapsed();
        },
      },
    );
  return { clock, signals, engine, judge, roomAt: () => roomAt };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("an attempt of the engine's own process, in an allocation", () => {
  it.each([SUCCEEDED, DIED])("is stopped if it ends with all that runs there: %j", async (result) => {
    const { clock, signals, engine, judge } = begin();
    const judged = judge(result);
    clock.advance(400);
    signals.came(clock.elapsed());
    clock.advance(100);
    await settled();
    clock.advance(1_000);
    engine.abort("released");
    expect(await judged).toEqual({ kind: "stopped", duration_ms: 3 });
  });

  it("has ended itself if nothing comes within half a second, and others have its room meanwhile", async () => {
    const { clock, judge, roomAt } = begin();
    const judged = judge(SUCCEEDED);
    expect(roomAt()).toBe(clock.elapsed());
    clock.advance(500);
    expect(await judged).toMatchObject(SUCCEEDED);
  });

  it("has ended itself if the engine alone is told to stop", async () => {
    const { clock, engine, judge } = begin();
    const judged = judge(SUCCEEDED);
    engine.abort("released");
    clock.advance(500);
    expect(await judged).toMatchObject(SUCCEEDED);
  });

  it("has ended itself if the engine goes on", async () => {
    const { clock, signals, judge } = begin();
    signals.came(clock.elapsed());
    const judged = judge(SUCCEEDED);
    clock.advance(500);
    await settled();
    clock.advance(2_000);
    expect(await judged).toMatchObject(SUCCEEDED);
  });

  it("is not judged where it had no process", async () => {
    const { judge, roomAt } = begin();
    expect(await judge(SUCCEEDED, {})).toMatchObject(SUCCEEDED);
    expect(roomAt()).toBe(null);
  });
});

it("outside of an allocation nothing waits", async () => {
  const { clock, signals, judge, roomAt } = begin({});
  signals.came(clock.elapsed());
  expect(await judge(SUCCEEDED)).toMatchObject(SUCCEEDED);
  expect(await judge(DIED)).toMatchObject(DIED);
  expect([roomAt(), clock.fireNext()]).toEqual([null, false]);
});
