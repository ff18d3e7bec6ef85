import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { PostgresServer, removeServer } from "./postgres-server.js";

/** The folder in which the processes of one test run meet, and the process with which it ends. */
const FOLDER_VARIABLE = "DARUMA_TEST_POSTGRES";
const OWNER_VARIABLE = "DARUMA_TEST_POSTGRES_OWNER";
const LOCK_POLL_MS = 20;

interface RunningServer {
  readonly url: string;
  readonly pid: number;
}

/** Vitest's global setup: only a place is named; the server starts when the first test asks for it. */
export function setup(): () => Promise<void> {
  const folder = join(tmpdir(), `daruma-postgres-${randomBytes(6).toString("hex")}`);
  process.env[FOLDER_VARIABLE] = folder;
  process.env[OWNER_VARIABLE] = String(process.pid);
  return async () => {
    const running = readRunning(folder);
    if (running !== null) await removeServer(folder, running.pid);
  };
}

/** The address of the PostgreSQL server that all tests of this run share; each takes a schema of its own. */
export async function sharedPostgresUrl(): Promise<string> {
  const folder = process.env[FOLDER_VARIABLE];
  if (folder === undefined) throw new Error(`${FOLDER_VARIABLE} is not set: these tests run under vitest`);
  return (readRunning(folder) ?? (await startOnce(folder))).url;
}

/** Of the processes that come at once, one starts it and the others wait. */
async function startOnce(folder: string): Promise<RunningServer> {
  const lock = `${folder}.lock`;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    await delay(LOCK_POLL_MS);
  }
  try {
    const there = readRunning(folder);
    if (there !== null) return there;
    const ownerPid = Number(process.env[OWNER_VARIABLE]);
    const server = await PostgresServer.create({ folder, ownerPid });
    const running = { url: server.url(), pid: server.pid };
    writeFileSync(join(folder, "running.json"), JSON.stringify(running));
    return running;
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function readRunning(folder: string): RunningServer | null {
  const file = join(folder, "running.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as RunningServer) : null;
}

export function freshSchema(): string {
  return `test_${randomBytes(6).toString("hex")}`;
}

/** A real PostgreSQL store in a schema of its own; its leases go by the times that the test names. */
export async function openInFreshSchema(): Promise<{
  readonly store: Store;
  readonly url: string;
  readonly schema: string;
  reopen(): Promise<Store>;
  empty(): Promise<void>;
  dispose(): Promise<void>;
}> {
  const url = await sharedPostgresUrl();
  const schema = freshSchema();
  const opened = [await openPostgresStore({ url, schema, maxConnections: 4, leaseClock: "caller" })];
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  return {
    store: opened[0] as Store,
    url,
    schema,
    reopen: async () => {
      for (const store of opened) await store.close();
      const again = await openPostgresStore({ url, schema, maxConnections: 4, leaseClock: "caller" });
      opened.push(again);
      return again;
    },
    empty: async () => {
      await sql.unsafe(emptying(schema));
    },
    dispose: async () => {
      for (const store of opened) await store.close();
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
      await sql.end();
    },
  };
}

/** As it was when it was made, which takes longer. Without its triggers, tables can be emptied in any order. */
const emptying = (schema: string): string => `
  DO $$
  DECLARE
    each record;
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR each IN SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' AND tablename <> 'schema_version' LOOP
      EXECUTE format('DELETE FROM ${schema}.%I', each.tablename);
    END LOOP;
    FOR each IN SELECT sequencename FROM pg_sequences WHERE schemaname = '${schema}' LOOP
      EXECUTE format('ALTER SEQUENCE ${schema}.%I RESTART', each.sequencename);
    END LOOP;
  END $$`;
