import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { threadEntry } from "../thread-entry.js";
import { keepSpareThread, startDatabaseThread, takeSpareThread } from "./database-thread.js";
import { openSqliteStore } from "./sqlite-store.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-spare-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const code = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

test("a store takes the thread that was started for it, once", async () => {
  const thread = startDatabaseThread(threadEntry(import.meta.url, "./sqlite-thread.js"));
  keepSpareThread(thread);
  const ended = once(thread, "exit");
  const store = await openSqliteStore({ file: join(folder, "taken.db") });
  expect(takeSpareThread()).toBeNull();
  expect(await store.reserveRunId()).toBe(1);
  await store.close();
  await ended;
});

test("one that has died meanwhile is forgotten: the store starts its own", async () => {
  const thread = startDatabaseThread(code('throw new Error("out of luck")'));
  keepSpareThread(thread);
  thread.ref();
  await new Promise((resolve) => thread.once("exit", resolve));
  expect(takeSpareThread()).toBeNull();
  const store = await openSqliteStore({ file: join(folder, "own.db") });
  expect(await store.reserveRunId()).toBe(1);
  await store.close();
});
