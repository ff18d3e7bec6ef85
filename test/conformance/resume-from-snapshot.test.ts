import { describe, expect, it } from "vitest";
import { loadRun } from "../../src/run/engine/load-run.js";
import { copyRun } from "../../src/run/engine/snapshot/snapshots.js";
import type { Store, StoredSnapshot } from "../../src/store/store.js";
import { snapshotRun } from "../support/run-snapshot.js";
import type { Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

const TEXT = `routing: { max_loops: 6 }
steps:
  list: { exec: make, forEach: true }
  item: { exec: make, depends_on: list, on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 50 } } } }
  join: { exec: make, depends_on: item, fanout: reduce }
  check: { exec: make, depends_on: join, on_fail: { goto: { step: list, max: 1 } } }
  last: { exec: make, depends_on: check }`;
const SCRIPT: Script = {
  list: [{ output: ["a", "b", "c"] }, { output: ["d"], takesMs: 10 }],
  item: ["ok", "fail", "ok", "ok"],
  check: ["fail", "ok"],
  last: [{ output: null, takesMs: 1_000 }],
};

/** A run that has gone back once and is at its last step. */
async function nearlyDone(): Promise<Stage> {
  const stage = await Stage.begin(TEXT, SCRIPT);
  while (!(await stage.statuses("last")).includes("running")) await stage.turn();
  return stage;
}

/** The same store, that writes down from where logs are read. */
function watched(store: Store, snapshot?: StoredSnapshot | null): { store: Store; reads: number[] } {
  const reads: number[] = [];
  const readEvents: Store["readEvents"] = (runId, range) => {
    if (range?.limit !== 1) reads.push(range?.afterSeq ?? 0);
    return store.readEvents(runId, range);
  };
  const readSnapshot = snapshot === undefined ? store.readSnapshot : async () => snapshot;
  return { store: { ...store, readEvents, readSnapshot }, reads };
}

async function snapshotIn(stage: Stage): Promise<StoredSnapshot> {
  const snapshot = await stage.store.readSnapshot(stage.runId);
  if (snapshot === null) throw new Error("there is no snapshot");
  return snapshot;
}

async function toldByLog(stage: Stage, beforeSeq?: number): Promise<unknown> {
  const { store } = watched(stage.store, null);
  return snapshotRun((await loadRun(store, stage.runId, beforeSeq === undefined ? {} : { beforeSeq })).run);
}

describe("a run with a snapshot", () => {
  it("is loaded from it and from the events after it, and is what its whole log tells", async () => {
    const stage = await nearlyDone();
    const { seq } = await snapshotIn(stage);
    const log = await stage.store.readEvents(stage.runId);
    expect(seq).toBeGreaterThan(20);
    const { store, reads } = watched(stage.store);
    const loaded = await loadRun(store, stage.runId);
    expect(reads).toEqual([seq]);
    expect(loaded).toMatchObject({ snapshotSeq: seq, nextSeq: log.length + 1 });
    expect(loaded.run.dirty.size).toBe(0);
    expect(snapshotRun(loaded.run)).toEqual(await toldByLog(stage));
  });

  it("goes on where it was when its engine is killed, to the same end", async () => {
    const [killed, spared] = [await nearlyDone(), await nearlyDone()];
    killed.kill();
    await killed.resume();
    const [after, expected] = [await killed.rest(), await spared.rest()];
    expect(after.run.status).toBe("completed");
    expect(after.order).toEqual([...expected.order, "last"]);
    expect(after.jobs.map(({ step, scope, visit, status }) => [step, scope, visit, status])).toEqual(
      expected.jobs.map(({ step, scope, visit, status }) => [step, scope, visit, status]),
    );
  });

  it("is as it was before an event that the snapshot has already", async () => {
    const stage = await nearlyDone();
    const { seq } = await snapshotIn(stage);
    for (const beforeSeq of [2, seq - 1, seq, seq + 1]) {
      const { run, snapshotSeq } = await loadRun(stage.store, stage.runId, { beforeSeq });
      expect(snapshotSeq).toBe(beforeSeq > seq ? seq : 0);
      expect(snapshotRun(run)).toEqual(await toldByLog(stage, beforeSeq));
    }
  });

  it("has no newer one once it is over", async () => {
    const stage = await nearlyDone();
    await stage.rest();
    const log = await stage.store.readEvents(stage.runId);
    expect((await snapshotIn(stage)).seq).toBeLessThan(log.length);
  });
});

const SPOILT: readonly (readonly [string, (snapshot: StoredSnapshot) => StoredSnapshot])[] = [
  [
    "has a byte that is another",
    (good) => ({ ...good, bytes: good.bytes.map((b, i) => (i === 40 ? b ^ 1 : b)) }),
  ],
  ["ends too soon", (good) => ({ ...good, bytes: good.bytes.slice(0, -9) })],
  ["is empty", (good) => ({ ...good, bytes: new Uint8Array() })],
  ["was made by another version", (good) => ({ ...good, version: "0" })],
  ["is newer than the log", (good) => ({ ...good, seq: 1_000 })],
];

describe("a snapshot that nobody can use", () => {
  it.each(SPOILT)("because it %s is left out: the whole log is read", async (_, spoil) => {
    const stage = await nearlyDone();
    const { store, reads } = watched(stage.store, spoil(await snapshotIn(stage)));
    const { run, snapshotSeq } = await loadRun(store, stage.runId);
    expect([snapshotSeq, reads]).toEqual([0, [0]]);
    expect(snapshotRun(run)).toEqual(await toldByLog(stage));
  });

  it("is not even made of a run that is too large", async () => {
    const stage = await nearlyDone();
    const { run } = await loadRun(stage.store, stage.runId);
    expect(copyRun(run, 1_000)).toBeNull();
    expect(copyRun(run)).not.toBeNull();
  });
});

describe("a snapshot", () => {
  it("is not written for a commit that was refused", async () => {
    const stage = await Stage.begin(TEXT, SCRIPT);
    const before = await snapshotIn(stage);
    stage.store.failNextCommit(new Error("the disk is gone"), { applied: false });
    await stage.turn();
    expect(await snapshotIn(stage)).toEqual(before);
    expect((await stage.store.readEvents(stage.runId)).length).toBeGreaterThanOrEqual(before.seq);
  });

  it("that cannot be written does not disturb its run", async () => {
    const stage = await Stage.begin(TEXT, SCRIPT);
    const before = await snapshotIn(stage);
    let tries = 0;
    stage.store.putSnapshot = async () => {
      tries += 1;
      throw new Error("no room");
    };
    expect((await stage.rest()).run.status).toBe("completed");
    expect(tries).toBeGreaterThan(1);
    expect(await snapshotIn(stage)).toEqual(before);
  });
});
