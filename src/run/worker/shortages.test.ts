import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { HANG_MS } from "../../../test/support/hang.js";
import { flush } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { assignment } from "../../../test/support/pool-bench.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import type { Action } from "../action/action.js";
import { sharesOfServer, withinOpenFiles } from "../process/open-file-limit.js";
import { LocalWorker } from "./local-worker.js";
import { Shortages } from "./shortages.js";

const disk = vi.hoisted(() => ({ isFull: false }));
/** So often the folder for an attempt's outputs cannot be made for want of a descriptor. */
const scarce = vi.hoisted(() => ({ left: 0 }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const writeFileSync = (...how: Parameters<typeof real.writeFileSync>): void => {
    if (disk.isFull && String(how[0]).includes(".probe-"))
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    real.writeFileSync(...how);
  };
  const mkdtempSync = (prefix: string) => {
    if (scarce.left > 0) {
      scarce.left -= 1;
      throw Object.assign(new Error(`EMFILE: too many open files, mkdtemp '${prefix}'`), { code: "EMFILE" });
    }
    return real.mkdtempSync(prefix);
  };
  return { ...real, writeFileSync, mkdtempSync };
});

const folder = mkdtempSync(join(tmpdir(), "daruma-short-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  disk.isFull = false;
  scarce.left = 0;
});

/** A worker whose one action gives these results, one a try. */
function workerOf(results: readonly Outcome<Json>[]) {
  const clock = new ManualClock();
  const told: string[] = [];
  let tries = 0;
  const action: Action = {
    type: "command",
    run: async () => {
      tries += 1;
      return results[tries - 1]!;
    },
  };
  const tell = (text: string): void => void told.push(text);
  const worker = new LocalWorker({ actions: [action], outputDir: folder, clock, tell });
  const controller = new AbortController();
  const outcome = worker.run(assignment({ timeoutMs: 1_000 }), null, controller.signal);
  return { clock, told, outcome, controller, tries: () => tries };
}

const lacks = (errno: string): Outcome<Json> => ({
  kind: "failed",
  facts: { code: "SPAWN_ERROR", errno, message: `sh: resource temporarily unavailable (${errno})` },
});
const unprepared: Outcome<Json> = {
  kind: "failed",
  facts: { code: "LOG_FAILED", errno: "ENOSPC", message: "what the attempt needs could not be written" },
};
const DONE: Outcome<Json> = { kind: "succeeded", output: "done" };

async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    await vi.waitFor(flush, HANG_MS);
    clock.advance(100);
    for (let round = 0; round < 20; round += 1) await flush();
  }
}

describe("a process that cannot be started for want of something", () => {
  it.each(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"])(
    "is tried again within the same attempt: %s",
    async (errno) => {
      const { clock, told, outcome, tries } = workerOf([lacks(errno), lacks(errno), lacks(errno), DONE]);
      let ended: unknown = null;
      void outcome.then((said) => {
        ended = said;
      });
      while (ended === null) await pass(clock, 100);
      expect(tries()).toBe(4);
      expect(ended).toMatchObject({ kind: "succeeded", output: { value: "done" } });
      expect(told).toEqual([
        expect.stringMatching(
          /^\S+ cannot be started now and will be tried again: sh: resource temporarily unavailable/,
        ),
      ]);
    },
  );

  it("nor prepared, on a full disk, is tried again as well", async () => {
    const { clock, told, outcome, tries } = workerOf([unprepared, unprepared, DONE]);
    let ended: unknown = null;
    void outcome.then((said) => {
      ended = said;
    });
    while (ended === null) await pass(clock, 100);
    expect([tries(), ended]).toMatchObject([3, { kind: "succeeded" }]);
    expect(told).toHaveLength(1);
  });

  it("is not, where it never can be", async () => {
    const { outcome, tries, told } = workerOf([lacks("ENOENT")]);
    expect(await outcome).toMatchObject({ kind: "failed", facts: { errno: "ENOENT" } });
    expect([tries(), told]).toEqual([1, []]);
  });

  it("is given up when nobody wants it any more", async () => {
    const { outcome, controller, tries } = workerOf([lacks("EAGAIN"), DONE]);
    await vi.waitFor(() => expect(tries()).toBe(1), HANG_MS);
    controller.abort("stopped");
    expect(await outcome).toMatchObject({ kind: "stopped" });
    expect(tries()).toBe(1);
  });
});

describe("a worker without a file descriptor to spare", () => {
  it("waits before it begins, and begins once", async () => {
    scarce.left = 3;
    const { clock, told, outcome, tries } = workerOf([DONE]);
    let ended: unknown = null;
    void outcome.then((said) => {
      ended = said;
    });
    while (ended === null) await pass(clock, 100);
    expect([tries(), ended, scarce.left]).toMatchObject([1, { kind: "succeeded" }, 0]);
    expect(told).toEqual([expect.stringMatching(/cannot be started now and will be tried again: .*EMFILE/)]);
  });
});

describe("a full disk", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  const shortagesOf = () => {
    const clock = new ManualClock();
    const told: string[] = [];
    return { clock, told, shortages: new Shortages({ clock, folder, tell: (text) => told.push(text) }) };
  };

  it("is waited for, told once, and told when it is over; its probe leaves nothing", async () => {
    const { clock, told, shortages } = shortagesOf();
    disk.isFull = true;
    for (let i = 0; i < 5; i += 1) shortages.noteUnwritten("the log of a", full);
    let isOver = false;
    const waited = shortages.untilRoom(new AbortController().signal).then(() => {
      isOver = true;
    });
    await pass(clock, 20_000);
    expect(isOver).toBe(false);
    disk.isFull = false;
    await pass(clock, 5_000);
    await waited;
    expect(told).toEqual([
      "the log of a cannot be written: ENOSPC: no space left on device. The attempt waits until that works, and nothing new starts.",
      "Logs can be written again; steps continue.",
    ]);
    expect(readdirSync(folder).filter((name) => name.startsWith(".probe"))).toEqual([]);
  });

  it("lets what could not be written be written later, and other faults through", async () => {
    const { clock, shortages } = shortagesOf();
    const { signal } = new AbortController();
    let tries = 0;
    const written = shortages.untilItWorks(
      "x",
      () => {
        tries += 1;
        if (tries === 1) throw full;
        return "kept";
      },
      signal,
    );
    await pass(clock, 200);
    expect(await written).toBe("kept");
    const broken = () => {
      throw new Error("broken");
    };
    await expect(shortages.untilItWorks("x", broken, signal)).rejects.toThrow("broken");
  });
});

it("as many attempts run at a time as there are files for, and at least one", () => {
  expect([withinOpenFiles(8, null), withinOpenFiles(8, 1_024), withinOpenFiles(0, 256)]).toEqual([8, 8, 0]);
  expect([withinOpenFiles(200, 256), withinOpenFiles(200, 64)]).toEqual([48, 1]);
});

it("the connections of a server leave its attempts the files that they need", () => {
  const shares = (attempts: number, connections: number, limit: number | null) => {
    const kept = sharesOfServer({ attempts, connections }, limit);
    return [kept.attempts, kept.connections];
  };
  expect(shares(2, 4_000, null)).toEqual([2, 4_000]);
  expect(shares(2, 4_000, 1_024)).toEqual([2, 476]);
  expect(shares(2, 0, 1_024)).toEqual([2, 476]);
  expect(shares(2, 100, 1_024)).toEqual([2, 100]);
  expect(shares(500, 4_000, 1_024)).toEqual([120, 240]);
  expect(shares(0, 4_000, 256)).toEqual([0, 96]);
});
