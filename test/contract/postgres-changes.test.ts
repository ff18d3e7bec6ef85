import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, test, vi } from "vitest";
import { TOLD_TOGETHER_MS } from "../../src/store/postgres/announcements.js";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { freshSchema } from "../support/embedded-postgres.js";
import { HANG_MS } from "../support/hang.js";
import { PostgresServer } from "../support/postgres-server.js";
import { appendTo, type TakenRun, takeRun } from "./store-fixtures.js";

const BURST = 50;
const WAIT = { timeout: HANG_MS, interval: 5 };

let server: PostgresServer;
let schema = "";
let opened: Store[] = [];

beforeAll(async () => {
  server = await PostgresServer.create();
});
afterAll(() => server.remove());
beforeEach(() => {
  schema = freshSchema();
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
});

async function open(): Promise<Store> {
  const store = await openPostgresStore({ url: server.url(), schema, leaseClock: "caller" });
  opened.push(store);
  return store;
}

/** Looks at the log of a run when it is told of a change, and at no other time. */
async function follow(writer: Store, run: TakenRun) {
  const reader = await open();
  const seen = { lastSeq: 0 };
  let isListening = false;
  reader.onChange(({ kind, runId }) => {
    if (kind === "inbox") isListening = true;
    if (kind !== "events" || runId !== run.runId) return;
    void reader.readEvents(runId).then((events) => {
      seen.lastSeq = Math.max(seen.lastSeq, events.at(-1)?.seq ?? 0);
    });
  });
  let key = 0;
  await vi.waitUntil(async () => {
    await writer.sendCommand({ runId: run.runId, key: String(++key), command: "{}", at: 1 });
    return isListening;
  }, WAIT);
  return seen;
}

async function begin() {
  const writer = await open();
  const run = await takeRun(writer);
  const seen = await follow(writer, run);
  return { writer, run, seen };
}

/** How long the commit that waits for a lock has waited; 0: none does. */
async function heldUpMs(): Promise<number> {
  const sql = postgres(server.url(), { max: 1 });
  const [row] = await sql<{ ms: number }[]>`
    SELECT 1000 * extract(epoch FROM clock_timestamp() - query_start)::float AS ms FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE '%commit_appends%'`;
  await sql.end();
  return row?.ms ?? 0;
}

describe("a follower that looks only when it is told", () => {
  test("sees the last of many commits in a row", async () => {
    const { writer, run, seen } = await begin();
    for (let seq = 1; seq <= BURST; seq += 1) await writer.commit([appendTo(run, seq)]);
    await vi.waitUntil(() => seen.lastSeq === BURST, WAIT);
  });

  test("sees a commit that was held up for longer than changes are gathered", async () => {
    const { writer, run, seen } = await begin();
    const neighbour = await takeRun(writer);
    await writer.commit([appendTo(run, 1)]);
    const other = postgres(server.url(), { max: 1, connection: { search_path: schema } });
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let isLocked = false;
    const locking = other.begin(async (sql) => {
      await sql`SELECT FROM lease WHERE run_id = ${run.runId} FOR UPDATE`;
      isLocked = true;
      await held;
    });
    await vi.waitUntil(() => isLocked, WAIT);
    // It is told of with its commit, and what follows at once is not.
    await writer.commit([appendTo(neighbour, 1)]);
    const commit = writer.commit([appendTo(run, 2)]);
    await vi.waitUntil(async () => (await heldUpMs()) > 4 * TOLD_TOGETHER_MS, WAIT);
    letGo();
    await Promise.all([locking, commit]);
    await other.end();
    await vi.waitUntil(() => seen.lastSeq === 2, WAIT);
  });

  test("sees the last commit of a store that is closed at once", async () => {
    const { writer, run, seen } = await begin();
    await writer.commit([appendTo(run, 1)]);
    const last = writer.commit([appendTo(run, 2)]);
    await writer.close();
    await last;
    await vi.waitUntil(() => seen.lastSeq === 2, WAIT);
  });
});
