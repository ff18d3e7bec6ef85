import { expect, it } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.js";
import { createMemoryStore } from "../store/memory/memory-store.js";
import type { ServerStore } from "../store/server-rows.js";
import { Heartbeat, type HeartbeatOptions } from "./heartbeat.js";

const HOUR = 3_600_000;
const NONE: HeartbeatOptions["settings"] = {
  ...{ breakers: [], channels: [], clusters: [], notify: [] },
  retention: { runs: null, logs: null, artifacts: null },
};

const clock = () => new ManualClock();
const ownerOf = (engine: string) => ({ host: "h", bootId: "b", pid: 1, processStart: "1", engine });

function beatOf(store: ServerStore, on: ManualClock, changes: Partial<HeartbeatOptions> = {}): Heartbeat {
  return new Heartbeat({
    ...{ store, clock: on, owner: ownerOf("one"), url: () => "http://one", settings: NONE, leaseMs: 30_000 },
    ...changes,
  });
}

it("a server is there for a lease from its last beat on, and has left when it stops", async () => {
  const [store, on] = [createMemoryStore(), clock()];
  const beat = beatOf(store, on);
  await beat.start();
  const shown = async () =>
    (await store.listServers(on.now())).map(({ url, hasLeft, expiresAt }) => [
      ...[url, hasLeft, expiresAt - on.now()],
    ]);
  expect(await shown()).toEqual([["http://one", false, 30_000]]);
  on.advance(9_999);
  expect(await shown()).toEqual([["http://one", false, 20_001]]);
  on.advance(1);
  await new Promise(setImmediate);
  expect(await shown()).toEqual([["http://one", false, 30_000]]);
  await beat.stop();
  expect(await shown()).toEqual([["http://one", true, 30_000]]);
  on.advance(HOUR);
  expect(await shown()).toEqual([["http://one", true, 30_000 - HOUR]]);
});

it("servers are forgotten a day after they were last there", async () => {
  const [store, on] = [createMemoryStore(), clock()];
  await beatOf(store, on, { owner: ownerOf("gone"), url: () => "http://gone" }).stop();
  on.advance(24 * HOUR);
  const urls = async () => (await store.listServers(on.now())).map(({ url }) => url);
  const beat = beatOf(store, on);
  await beat.start();
  expect(await urls()).toEqual(["http://gone", "http://one"]);
  on.advance(30_001);
  await new Promise(setImmediate);
  expect(await urls()).toEqual(["http://one"]);
  await beat.stop();
});

it("a beat that the store did not take is made up for by the next one", async () => {
  const [memory, on] = [createMemoryStore(), clock()];
  let isDown = true;
  const store: ServerStore = {
    ...memory,
    keepServer: (...of) => (isDown ? Promise.reject(new Error("down")) : memory.keepServer(...of)),
  };
  const beat = beatOf(store, on);
  await beat.start();
  expect(await memory.listServers(on.now())).toEqual([]);
  isDown = false;
  on.advance(10_000);
  await new Promise(setImmediate);
  expect(await memory.listServers(on.now())).toHaveLength(1);
  await beat.stop();
});

it("servers have the same hash where their settings say the same, in whatever order they name it", async () => {
  const [store, on] = [createMemoryStore(), clock()];
  const breaker = (name: string, failures: number) => ({
    ...{ name, failures, withinMs: 1, classes: [], probeEveryMs: 1, maxOpenMs: 1, releasePerSecond: 1 },
  });
  const [a, b] = [breaker("a", 1), breaker("b", 1)];
  const hashes: string[] = [];
  for (const breakers of [[a, b], [b, a], [a, breaker("b", 2)], []]) {
    await beatOf(store, on, { settings: { ...NONE, breakers } }).start();
    hashes.push((await store.listServers(on.now()))[0]!.settings);
  }
  expect(hashes[1]).toBe(hashes[0]);
  expect(new Set(hashes).size).toBe(3);
});
