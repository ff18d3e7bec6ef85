import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../../test/support/manual-clock.js";
import { UsageSampler } from "./usage-sampler.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-samples-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const USED = { processes: 2, memoryBytes: 4096, cpuMs: 30, readBytes: 1, writtenBytes: 512 };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A sampler on a clock that the test moves. */
class Trial {
  readonly clock = new ManualClock();
  readonly file = join(folder, "a.csv");
  looked = 0;
  used: typeof USED | null | "fails" = USED;
  readonly sampler: UsageSampler;

  constructor(intervalMs: number, file = this.file) {
    const startedAt = this.clock.now();
    const port = {
      now: () => this.clock.now(),
      elapsed: () => this.clock.now() - startedAt,
      after: (delayMs: number, call: () => void) => this.clock.setTimer(this.clock.now() + delayMs, call),
    };
    this.sampler = new UsageSampler(port, "token", file, intervalMs, async () => {
      this.looked += 1;
      if (this.used === "fails") throw new Error("EMFILE");
      return this.used;
    });
  }

  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      this.clock.fireNext();
      await settled();
    }
  }

  lines(): string[] {
    return readFileSync(this.file, "utf8").trimEnd().split("\n");
  }
}

describe("samples of what an attempt uses", () => {
  it("are lines of CSV, one an interval, from the first interval on", async () => {
    const trial = new Trial(100);
    expect(existsSync(trial.file)).toBe(false);
    await trial.turns(2);
    expect(trial.lines()).toEqual([
      "ms,processes,memory_bytes,cpu_ms,read_bytes,written_bytes",
      "100,2,4096,30,1,512",
      "200,2,4096,30,1,512",
    ]);
  });

  it("come ever more rarely, so that a file of days stays small", async () => {
    const trial = new Trial(10);
    await trial.turns(2_002);
    const times = trial
      .lines()
      .slice(1)
      .map((line) => Number(line.split(",")[0]));
    expect([times[999], times[1_000], times[1_999], times[2_000], times[2_001]]).toEqual([
      10_000, 10_020, 30_000, 30_040, 30_080,
    ]);
  });

  it("end with the attempt, also one that is being looked at", async () => {
    const trial = new Trial(100);
    trial.clock.fireNext();
    trial.sampler.clear();
    await settled();
    expect([trial.looked, existsSync(trial.file), trial.clock.fireNext()]).toEqual([1, false, false]);
  });

  it("leave out moments in which nothing could be seen", async () => {
    const trial = new Trial(100);
    trial.used = "fails";
    await trial.turns(1);
    trial.used = null;
    await trial.turns(1);
    trial.used = { ...USED, processes: 0 };
    await trial.turns(1);
    trial.used = USED;
    await trial.turns(1);
    expect(trial.lines().slice(1)).toEqual(["400,2,4096,30,1,512"]);
  });

  it("that cannot be written are given up", async () => {
    const trial = new Trial(100, join("/dev/null", "missing", "a.csv"));
    await trial.turns(1);
    expect(trial.clock.fireNext()).toBe(false);
  });
});
