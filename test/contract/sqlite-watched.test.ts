import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import type { Store } from "../../src/store/store.js";
import { makeFolder } from "./sqlite-folder.js";
import { appendTo, canceledEvent, takeRun } from "./store-fixtures.js";

const PAGE_BYTES = 4_096;

let folder = "";
let file = "";
let store: Store;

beforeEach(async () => {
  folder = makeFolder();
  file = join(folder, "daruma.db");
  store = await openSqliteStore({ file });
});

afterEach(async () => {
  await store.close().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});

/** What may be done to a database in use, with what is told then. */
const MISDEEDS: readonly [string, (path: string) => void, RegExp][] = [
  ["deleted with its log", removeAll, /daruma\.db was deleted/],
  ["deleted alone", (path) => rmSync(path), /daruma\.db was deleted/],
  ["robbed of its log", (path) => rmSync(`${path}-wal`), /daruma\.db-wal was deleted/],
  ["deleted with its folder", (path) => rmSync(join(path, ".."), { recursive: true }), /was deleted/],
  ["replaced by a copy", replaceByCopy, /daruma\.db was replaced by another file/],
  ["emptied", (path) => truncateSync(path, 0), /daruma\.db was cut short/],
  ["cut short", (path) => truncateSync(path, 2 * PAGE_BYTES), /daruma\.db was cut short/],
];

/** So that the file has its pages, not the log alone. */
function checkpoint(): void {
  const other = new DatabaseSync(file);
  other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  other.close();
}

function removeAll(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end);
}

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

describe.each(MISDEEDS)("a database that is %s", (_, misdeed, told) => {
  const refusal = { code: "STORE_GONE", message: expect.stringMatching(told), hint: expect.any(String) };

  test("takes no commit any more, from the first one on", async () => {
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1)]);
    checkpoint();
    await store.ping();
    misdeed(file);
    await expect(store.commit([appendTo(run, 2)])).rejects.toMatchObject(refusal);
    await expect(store.reserveRunId()).rejects.toMatchObject(refusal);
    await expect(store.ping()).rejects.toMatchObject(refusal);
  });

  test("takes none where nobody has written before either", async () => {
    await store.close();
    store = await openSqliteStore({ file });
    misdeed(file);
    await expect(store.reserveRunId()).rejects.toMatchObject(refusal);
  });
});

test("reads notice it within a bounded time", async () => {
  removeAll(file);
  await expect.poll(() => store.listRuns({}).catch(({ code }) => code)).toBe("STORE_GONE");
});

test("several writes that wait together are all refused", async () => {
  removeAll(file);
  const answers = await Promise.allSettled(Array.from({ length: 5 }, () => store.reserveRunId()));
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
});

test("a database that is moved away and back goes on", async () => {
  const away = join(folder, "away");
  mkdirSync(away);
  const move = (from: string, to: string) => {
    for (const end of ["", "-wal", "-shm"])
      renameSync(join(from, `daruma.db${end}`), join(to, `daruma.db${end}`));
  };
  move(folder, away);
  await expect(store.reserveRunId()).rejects.toMatchObject({ code: "STORE_GONE" });
  move(away, folder);
  expect(await store.reserveRunId()).toBe(1);
});

test("a database that another program makes smaller goes on", async () => {
  const run = await takeRun(store);
  const events = Array.from({ length: 50 }, () => canceledEvent("x".repeat(PAGE_BYTES)));
  await store.commit([appendTo(run, 1, { events })]);
  const other = new DatabaseSync(file);
  other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  await store.ping();
  const before = statSync(file).size;
  other.exec("DELETE FROM event; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  other.close();
  expect(statSync(file).size).toBeLessThan(before);
  expect(await store.reserveRunId()).toBe(run.runId + 1);
});

test("a replacement keeps what was written to it while the old database is closed", async () => {
  removeAll(file);
  const next = await openSqliteStore({ file });
  const run = await takeRun(next);
  await next.commit([appendTo(run, 1)]);
  await store.close();
  await next.commit([appendTo(run, 2)]);
  expect(await next.readEvents(run.runId)).toHaveLength(2);
  await next.close();
  store = await openSqliteStore({ file });
  expect(await store.readEvents(run.runId)).toHaveLength(2);
});

describe("a row that is damaged", () => {
  const DAMAGES: readonly [string, string, (runId: number) => Promise<unknown>][] = [
    ["event", "UPDATE event SET data = '{oops' WHERE seq = 2", (id) => store.readEvents(id)],
    ["run", "UPDATE run SET inputs = '{oops'", (id) => store.readRun(id)],
    ["lease", "UPDATE lease SET owner = '{oops'", (id) => store.readLastLeases([id])],
  ];

  test.each(DAMAGES)("in the table %s is named", async (table, damage, read) => {
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1)]);
    await store.commit([appendTo(run, 2)]);
    const other = new DatabaseSync(file);
    other.exec(damage);
    other.close();
    const error: unknown = await read(run.runId).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ code: "STORE_DAMAGED" });
    expect(String(error)).toMatch(new RegExp(`run ${run.runId} in the table ${table} is not valid JSON`));
  });
});

test("a ping tells of a file system that takes no more writes", async ({ skip }) => {
  const disk = join(folder, "disk");
  mkdirSync(disk);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], { stdio: "ignore" });
  } catch {
    skip("only a user who may mount file systems can have a small one");
  }
  const small = await openSqliteStore({ file: join(disk, "daruma.db") });
  try {
    await small.ping();
    execFileSync("sh", ["-c", 'cat /dev/zero > "$0" 2>/dev/null || true', join(disk, "ballast")]);
    await expect(pingUntilRefused(small)).resolves.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("the disk is full"),
    });
    expect(await small.listRuns({})).toEqual([]);
    rmSync(join(disk, "ballast"));
    await small.ping();
  } finally {
    await small.close();
    execFileSync("umount", [disk]);
  }
});

/** The log may have some room left. */
async function pingUntilRefused(pinged: Store): Promise<unknown> {
  for (let count = 0; count < 500; count += 1) {
    const refusal: unknown = await pinged.ping().catch((error: unknown) => error);
    if (refusal !== undefined) return refusal;
  }
  return "never refused";
}

test("a file in the place of the database's folder is told", async () => {
  writeFileSync(join(folder, "plain"), "");
  const inside = openSqliteStore({ file: join(folder, "plain", "daruma.db") });
  await expect(inside).rejects.toMatchObject({
    code: "STORE_FAILED",
    message: expect.stringMatching(/ENOTDIR|EEXIST/),
  });
});
