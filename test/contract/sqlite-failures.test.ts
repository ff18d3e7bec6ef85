import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DarumaError } from "../../src/core/errors/errors.js";
import { SCHEMA_VERSION } from "../../src/store/schema-version.js";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { makeFolder } from "./sqlite-folder.js";
import { appendTo, canceledEvent, OWNER, runRow, takeRun } from "./store-fixtures.js";
import { startStoreProcess } from "./store-process.js";

const EVENT_CHARS = 20_000;
const PAGE_BYTES = 4_096;

let folder = "";
let file = "";

beforeEach(() => {
  folder = makeFolder();
  file = join(folder, "daruma.db");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("opening", () => {
  test("makes the missing folders and the file for their owner only", async () => {
    const deep = join(folder, "a", "b", "daruma.db");
    const store = await openSqliteStore({ file: deep });
    await store.reserveRunId();
    const modes = [join(folder, "a"), join(folder, "a", "b"), deep, `${deep}-wal`].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
    await store.close();
  });

  test("refuses a file that is not a database, names it and leaves it alone", async () => {
    writeFileSync(file, "not a database at all\n".repeat(100));
    await expectRefusal("STORE_DAMAGED", "not a database");
    expect(readFileSync(file, "utf8")).toBe("not a database at all\n".repeat(100));
  });

  test("refuses the database of another program and leaves it alone", async () => {
    const other = new DatabaseSync(file);
    other.exec("CREATE TABLE invoices (id INTEGER)");
    other.close();
    const before = readFileSync(file);
    await expectRefusal("STORE_FAILED", "another program");
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test.each([SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])(
    "refuses a database of version %i, and leaves it alone",
    { tags: ["D5"] },
    async (version) => {
      await (await openSqliteStore({ file })).close();
      const db = new DatabaseSync(file);
      db.prepare("UPDATE schema_version SET version = ?").run(version);
      db.close();
      const before = readFileSync(file);
      await expectRefusal("STORE_VERSION", `version ${version}`);
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  test("refuses a path that is a folder", async () => {
    mkdirSync(file);
    await expectRefusal("STORE_FAILED", "not a regular file");
  });

  async function expectRefusal(code: string, word: string): Promise<void> {
    const error: unknown = await openSqliteStore({ file }).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ name: "DarumaError", code });
    expect(String(error)).toContain(file);
    expect(String(error)).toContain(word);
  }
});

test("a damaged database fails with its path", async () => {
  await (await openSqliteStore({ file })).close();
  const bytes = readFileSync(file);
  bytes.fill(0xee, PAGE_BYTES);
  writeFileSync(file, bytes);
  const useIt = async () => {
    const store = await openSqliteStore({ file });
    await store.reserveRunId().finally(() => store.close());
  };
  const error: unknown = await useIt().catch((refusal: unknown) => refusal);
  expect(error).toMatchObject({ code: "STORE_DAMAGED", hint: expect.stringContaining("docs/backup.md") });
  expect(String(error)).toContain(`${file}: the database is damaged`);
  expect((error as DarumaError).hint).not.toContain("nothing recorded is lost");
});

describe("a disk that takes no more", () => {
  /** Writes events until one is refused: what was acknowledged, and the refusal. */
  const WRITE_UNTIL_REFUSED = `
    const store = await open();
    const { fence } = await store.acquireLease({ runId: 1, owner: ${JSON.stringify(OWNER)}, now: 0, expiresAt: 10 });
    const run = ${JSON.stringify(runRow(1))};
    let acknowledged = 0;
    for (;;) {
      const data = JSON.stringify({ type: "run.canceled", reason: "x".repeat(${EVENT_CHARS}) });
      const events = [{ at: 1, type: "run.canceled", data }, { at: 1, type: "run.canceled", data }];
      const append = { runId: 1, fence, firstSeq: acknowledged + 1, events, run, jobs: [], attempts: [], routes: [] };
      try { await store.commit([append]); } catch (error) {
        const after = (await store.readEvents(1)).length;
        return { acknowledged, after, code: error.code, message: error.message };
      }
      acknowledged += 2;
    }`;

  test("fails with the file's name, loses nothing that was acknowledged and writes no half", async () => {
    const limited = await startStoreProcess(file, WRITE_UNTIL_REFUSED, { fileSizeKiB: 2_000 });
    const refusal = (await limited.go()) as {
      acknowledged: number;
      after: number;
      code: string;
      message: string;
    };
    expect(refusal.code).toBe("STORE_FAILED");
    expect(refusal.message).toContain(file);
    expect(refusal.acknowledged).toBeGreaterThan(10);
    expect(refusal.after).toBe(refusal.acknowledged);
    const store = await openSqliteStore({ file });
    expect(await store.readEvents(1)).toHaveLength(refusal.acknowledged);
    await store.close();
  });

  test("a full file system refuses one commit, and goes on once there is room", async ({ skip }) => {
    if (!mountSmallDisk()) skip("only a user who may mount file systems can have a small one");
    try {
      const store = await openSqliteStore({ file: join(folder, "disk", "daruma.db") });
      const run = await takeRun(store);
      await store.commit([appendTo(run, 1)]);
      const ballast = join(folder, "disk", "ballast");
      execFileSync("sh", ["-c", 'cat /dev/zero > "$0" 2>/dev/null || true', ballast]);
      const events = Array.from({ length: 50 }, () => canceledEvent("x".repeat(EVENT_CHARS)));
      await expect(store.commit([appendTo(run, 2, { events })])).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: expect.stringContaining("the disk is full"),
      });
      expect(await store.readEvents(run.runId)).toHaveLength(1);
      rmSync(ballast);
      await store.commit([appendTo(run, 2, { events })]);
      expect(await store.readEvents(run.runId)).toHaveLength(51);
      await store.close();
    } finally {
      execFileSync("umount", [join(folder, "disk")]);
    }
  });

  function mountSmallDisk(): boolean {
    const disk = join(folder, "disk");
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  }
});
