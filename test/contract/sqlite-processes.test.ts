import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { makeFolder } from "./sqlite-folder.js";
import { OWNER, putRun } from "./store-fixtures.js";
import { startStoreProcess } from "./store-process.js";

let folder = "";
let file = "";

beforeEach(() => {
  folder = makeFolder();
  file = join(folder, "daruma.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function runTogether(codes: readonly string[]): Promise<unknown[]> {
  const processes = await Promise.all(codes.map((code) => startStoreProcess(file, code)));
  return Promise.all(processes.map((each) => each.go()));
}

test("two processes that open a new file and want the same runs share them without ever both winning one", async () => {
  const takeEach = (engine: string) => `
    const store = await open();
    const owner = { ...${JSON.stringify(OWNER)}, engine: ${JSON.stringify(engine)} };
    const won = [];
    for (let runId = 1; runId <= 40; runId += 1) {
      const answer = await store.acquireLease({ runId, owner, now: 0, expiresAt: 10 });
      if (answer.granted) won.push([runId, answer.fence]);
    }
    await store.close();
    return won;`;
  const won = (await runTogether([takeEach("a"), takeEach("b")])) as [number, number][][];
  const together = won.flat().sort(([a], [b]) => a - b);
  expect(together).toEqual(Array.from({ length: 40 }, (_, i) => [i + 1, 1]));
});

test("two processes that claim runs share them without ever both getting one", async () => {
  const store = await openSqliteStore({ file });
  const runs: number[] = [];
  for (let i = 0; i < 40; i += 1) runs.push(await putRun(store, { managed: true, wanted: true }));
  await store.close();
  const claimAll = (engine: string) => `
    const store = await open();
    const owner = { ...${JSON.stringify(OWNER)}, engine: ${JSON.stringify(engine)} };
    const claimed = [];
    for (let some = [0]; some.length > 0; claimed.push(...some.map(({ runId }) => runId))) {
      some = await store.claimRuns({ owner, now: 0, expiresAt: 10, limit: 3 });
    }
    await store.close();
    return claimed;`;
  const claimed = (await runTogether([claimAll("a"), claimAll("b")])) as number[][];
  expect(claimed.flat().sort((a, b) => a - b)).toEqual(runs);
});

test("run ids that several processes reserve at once are all different", async () => {
  const reserve = `
    const store = await open();
    const ids = [];
    for (let i = 0; i < 50; i += 1) ids.push(await store.reserveRunId());
    await store.close();
    return ids;`;
  const ids = (await runTogether([reserve, reserve, reserve])) as number[][];
  expect(new Set(ids.flat()).size).toBe(150);
});

test("a process that forgets to close its store still ends, and what it wrote is there", async () => {
  const [runId] = await runTogether(["return (await open()).reserveRunId();"]);
  const store = await openSqliteStore({ file });
  expect(await store.reserveRunId()).toBe((runId as number) + 1);
  await store.close();
});
